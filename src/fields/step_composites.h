// What is printed of a step and made of several of its values, so that no kind (kinds.h) spells it. The rows of step_fields.cc name these
// functions; they live with the form that they belong to: scontrol's in show_step.cc, documents' in json_step.cc.
#pragma once

#include <string>
#include <string_view>

#include "fields/environment.h"
#include "fields/json_values.h"

namespace muster::fields {

void show_srun(const StepView& view, std::string& out);  // host:pid

void json_step_hosts(const StepView& view, std::string_view key, Members& members);
void json_step_tres(const StepView& view, std::string_view key, Members& members);
// What is known at a step's end, or measured: the shape of it, with nothing in it.
void json_no_cpu_time(const StepView& view, std::string_view key, Members& members);
void json_no_exit_code(const StepView& view, std::string_view key, Members& members);
void json_no_frequencies(const StepView& view, std::string_view key, Members& members);
void json_no_statistics(const StepView& view, std::string_view key, Members& members);

}  // namespace muster::fields
