// Reads the text of -m, --distribution: how tasks go to nodes, and how CPUs within a node go to tasks by sockets and cores. srun(1).
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace muster {

// --distribution in its parts; "" is the default.
struct Distribution {
  enum class Nodes : uint8_t { kDefault, kBlock, kCyclic, kPlane, kArbitrary };
  enum class Cpus : uint8_t { kDefault, kBlock, kCyclic, kFcyclic };
  Nodes nodes = Nodes::kDefault;
  uint32_t plane = 0;
  Cpus sockets = Cpus::kDefault, cores = Cpus::kDefault;
  bool pack = false, no_pack = false;

  // Errors: kInvalidReq, with the part that is wrong.
  static Result<Distribution> parse(std::string_view text);
  bool arbitrary() const { return nodes == Nodes::kArbitrary; }
};

}  // namespace muster
