#include "model/node.h"

#include "model/same.h"

namespace muster {

NodeState Node::state() const {
  if (admin != NodeState::kIdle) return admin;
  if (whole_node_jobs > 0) return NodeState::kAllocated;
  const size_t used = cpus_used.count();
  // A job may hold memory or GRES and no CPU here (suspended, --overcommit): then the node is not idle
  // either.
  if (used == 0) return jobs_running > 0 ? NodeState::kMixed : NodeState::kIdle;
  if (!spec) return NodeState::kMixed;
  const size_t specialized = spec->specialized_cpus.count();
  const size_t usable = spec->cpus > specialized ? spec->cpus - specialized : 0;
  return used - cpus_used.count_and(spec->specialized_cpus) >= usable ? NodeState::kAllocated
                                                                      : NodeState::kMixed;
}

bool Node::operator==(const Node& o) const {
  return id == o.id && same(spec, o.spec) && same(hardware, o.hardware) && admin == o.admin &&
         flags == o.flags && reason == o.reason && reason_uid == o.reason_uid &&
         reason_time == o.reason_time && cpus_used == o.cpus_used && mem_used_mb == o.mem_used_mb &&
         gres_used == o.gres_used && jobs_running == o.jobs_running && jobs_completing == o.jobs_completing &&
         whole_node_jobs == o.whole_node_jobs && shared_jobs == o.shared_jobs &&
         exclusive_uid == o.exclusive_uid && exclusive_user == o.exclusive_user && weight == o.weight &&
         features_active == o.features_active && comment == o.comment && extra == o.extra &&
         suspend_count == o.suspend_count && last_busy == o.last_busy &&
         resume_deadline == o.resume_deadline && resume_after == o.resume_after;
}

}  // namespace muster
