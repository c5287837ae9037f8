// NodeNames: a list of nodes as requests and updates name them, parsed but neither expanded nor looked up.
//
//   n[1-3],gpu7      hosts, as host_range.h has them
//   n1*2             the same one twice: places of an arbitrary distribution (srun(1) --nodelist, --distribution)
//   block{b1}        a function: what it means depends on the cluster (guide topology); sched/fit/node_names.cc knows them
//
// Errors: kInvalidNodeName, with the part that is wrong. Bounds: kMaxHosts names with their repeats, kMostFunctions functions.
// Cost: O(text).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hostlist/host_range.h"

namespace muster {

struct NodeNames {
  struct Part {
    std::string text;            // as written
    HostRange hosts;             // neighbours in the list that are not repeated are one part; none for a function
    uint32_t repeat = 1;         // how often each of them is named
    std::string function, unit;  // "block", "b1"; "" for hosts
    bool is_function() const { return !function.empty(); }
  };
  static constexpr size_t kMostFunctions = 64;  // each is looked up among all nodes

  std::vector<Part> parts;

  static Result<NodeNames> parse(std::string_view text);

  bool has_functions() const;
  // How many names, with repeats; the nodes that functions stand for are not known here and do not count.
  size_t count() const;
  // All names in the order written, with repeats.
  std::vector<std::string> names() const;
};

}  // namespace muster
