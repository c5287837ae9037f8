// sattach --layout: which tasks of a step run where. sattach(1).
#pragma once

#include <string>

#include "model/rpc.h"

namespace muster::cli {

std::string layout_text(const rpc::StepCreated& step);

}  // namespace muster::cli
