// `scontrol show step`. Cost: about 400 bytes a step, appended.
#pragma once

#include <string>

#include "fields/show.h"

namespace muster::fields {

void show_step(const StepView& v, const ShowOptions& options, std::string& out);

}  // namespace muster::fields
