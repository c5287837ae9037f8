#include "slurmctld/core/passed_on.h"

#include <algorithm>

namespace muster::slurmctld {
namespace {

bool has_job_on(const Cluster& cluster, const Caller& who) {
  if (!who.through_node) return false;
  const Node* node = cluster.nodes.find(who.through_node->value);
  if (!node || !node->has_jobs()) return false;
  bool found = false;
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    found = job.request->uid == who.uid && job.holds_nodes() &&
            std::ranges::any_of(job.allocation->nodes, [&](const NodeShare& s) { return s.node == *who.through_node; });
    return !found;
  });
  return found;
}

bool is_privileged(const Settings& settings, const std::shared_ptr<const AccountDirectory>& directory, const Caller& who) {
  Caller direct = who;
  direct.through = {};
  if (Rights(settings, directory, direct).is_privileged()) return true;
  return directory && who.name.empty();  // nobody can say now that he is not
}

}  // namespace

Result<Caller> passed_on(const Cluster& cluster, const Settings& settings, std::shared_ptr<const AccountDirectory> directory,
                         const CommandRow& row, Caller who) {
  const bool privileged = is_privileged(settings, directory, who);
  if (!privileged && (who.through.kind == SubjectKind::kLogin || has_job_on(cluster, who))) return who;
  if (row.kind == CommandKind::kChange || row.number == number_of<rpc::AskDatabase>)
    return fail(Errc::kAccessDenied, {},
                privileged ? who.through.text() + " has no cluster key: root, SlurmUser, operators and administrators use a host that has"
                           : who.through.text() + " has no cluster key, and its word for a user who has no job there does not count");
  who.uid = kNobody;
  who.gid = Gid{kNobody.value};
  who.name.clear();
  who.groups.clear();
  return who;
}

}  // namespace muster::slurmctld
