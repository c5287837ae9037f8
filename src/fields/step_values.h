// Facts about a step that several printers need.
#pragma once

#include <string>
#include <string_view>

#include "fields/environment.h"

namespace muster::fields {

void put_step_id(std::string& out, const StepRow& row);  // "12.0", "12_3.batch", "12.extern"
std::string_view step_state_name(StepState s);           // "RUNNING"

}  // namespace muster::fields
