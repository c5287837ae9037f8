// Whom the jobs on a node keep it for, and who may come beside them. A node is kept from its first job on until the last has gone: a job
// that wants it kept starts on an idle node, or on one that is kept that way already.
#pragma once

#include <string>
#include <string_view>

#include "model/node.h"

namespace muster::sched {

// A user (--exclusive=user), an MCS label (--exclusive=mcs), both, or nobody.
struct NodeOwner {
  static constexpr Uid kAnyone{0xffffffffu};
  Uid user = kAnyone;
  std::string label;
  bool kept() const { return user != kAnyone || !label.empty(); }
  bool operator==(const NodeOwner&) const = default;
};

// A job that might come to a node that others use.
struct Newcomer {
  Uid user{};
  std::string_view label;
  bool keeps_user = false, keeps_label = false;  // wants the node kept for its user, for its label
};

// Whether the node is kept for the newcomer, and is kept in all the ways in which the newcomer wants it kept.
bool admits(const NodeOwner& owner, const Newcomer& job);
NodeOwner owner_of(const Node& node);

}  // namespace muster::sched
