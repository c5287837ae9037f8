// `scontrol show node`. scontrol(1) NODES - SPECIFICATIONS FOR SHOW. Cost: about 1 KiB a node, appended.
#pragma once

#include <string>

#include "fields/show.h"

namespace muster::fields {

void show_node(const NodeRow& node, const Environment& env, const ShowOptions& options, std::string& out);

}  // namespace muster::fields
