// sinfo --states: which nodes a list of states means. sinfo(1) -t.
//
// In "idle,drain&alloc,~down" a node must match any of the comma-separated terms, and in a term all parts joined by '+' or '&'; '~' or '!'
// before a part inverts it. The name of a base state looks only at the base state: "idle" finds a drained node whose base state is idle,
// "alloc" finds mixed nodes, as Slurm does. Any case of letters. Errors: kError with Slurm's first line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/rows.h"

namespace muster::fields {

class NodeStateFilter {
 public:
  // `terms`: the pieces between commas. An empty list matches every node.
  static Result<NodeStateFilter> parse(std::span<const std::string> terms);
  bool matches(const NodeRow& node) const;
  bool empty() const { return terms_.empty(); }

 private:
  struct Part {
    bool (*test)(const NodeRow&) = nullptr;
    bool inverted = false;
  };
  std::vector<std::vector<Part>> terms_;
};

bool lists_reason(const NodeRow& node);   // -R without -t: down, drained, draining, fail, failing
bool is_responding(const NodeRow& node);  // -r; -d is its opposite

}  // namespace muster::fields
