// The lines of `strigger --get`. strigger(1).
#pragma once

#include <functional>
#include <string>

#include "model/trigger.h"

namespace muster::cli {

std::string trigger_header();
std::string trigger_line(const Trigger& trigger, const std::function<std::string(Uid)>& user_name);

}  // namespace muster::cli
