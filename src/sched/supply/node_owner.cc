#include "sched/supply/node_owner.h"

namespace muster::sched {

bool admits(const NodeOwner& owner, const Newcomer& job) {
  const bool of_user = owner.user != NodeOwner::kAnyone, of_label = !owner.label.empty();
  if ((of_user && owner.user != job.user) || (of_label && owner.label != job.label)) return false;
  return (of_user || !job.keeps_user) && (of_label || !job.keeps_label);
}

NodeOwner owner_of(const Node& node) { return {node.exclusive_user ? node.exclusive_uid : NodeOwner::kAnyone, node.mcs_label}; }

}  // namespace muster::sched
