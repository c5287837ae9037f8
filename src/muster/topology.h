// muster topology: proposes blocks from the NVLink fabrics that nodes tell of, or checks the blocks that there are against them
// (fabric_blocks.h). It asks the controller and changes nothing.
#pragma once

#include <span>
#include <string>

namespace muster::front {

// The verb. Prints topology.yaml, with --conf topology.conf; with --check what contradicts, with --json as JSON. The exit code is 1 where no node tells
// of a fabric, and with --check where there is a contradiction.
int topology_verb(std::span<const std::string> arguments);

}  // namespace muster::front
