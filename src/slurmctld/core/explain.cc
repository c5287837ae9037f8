#include "slurmctld/core/explain.h"

#include "base/text.h"
#include "sched/explain/explain.h"
#include "slurmctld/core/maintenance.h"

namespace muster::slurmctld {
namespace {

// The record that a selector means. For a task of an array it is the task's own once it started or ended, else the one that holds the
// pending tasks.
const Job* find_job(const Cluster& cluster, const rpc::JobSelector& selector) {
  if (selector.array_task == kNoArrayTask) {
    const Job* j = cluster.jobs.find(selector.job.value);
    return j && selector.means_run(j->sluid()) ? j : nullptr;
  }
  const Job* found = nullptr;
  cluster.jobs.for_each(
      [&](uint32_t, const Job& j) {
        if (found || (j.array_job_id != selector.job && j.id != selector.job)) return;
        if (j.array_task == selector.array_task || (j.array_tasks && j.array_tasks->pending.test(selector.array_task))) found = &j;
      },
      selector.job.value);
  return found;
}

void leave_out_hidden(const Cluster& cluster, const Privacy& privacy, std::vector<JobBrief>& jobs) {
  std::erase_if(jobs, [&](const JobBrief& b) {
    const Job* j = cluster.jobs.find(b.id.value);
    return j && !privacy.shows(*j);
  });
}

void leave_out_hidden(const Cluster& cluster, const Privacy& privacy, JobExplanation& e) {
  leave_out_hidden(cluster, privacy, e.ahead);
  leave_out_hidden(cluster, privacy, e.holders);
  leave_out_hidden(cluster, privacy, e.victims);
  for (LimitView& limit : e.limits) leave_out_hidden(cluster, privacy, limit.holders);
  if (privacy.may_ask_for_nodes()) return;
  for (PartitionView& p : e.partitions)
    for (NodesLeftOut& left : p.causes) left.nodes = left.detail = "";
}

}  // namespace

Result<JobExplanation> explain_job(const Cluster& cluster, const Settings& settings, Time now, const rpc::ExplainJob& query,
                                   const Privacy& privacy) {
  const Job* job = find_job(cluster, query.job);
  if (job && !privacy.shows(*job)) return fail(Errc::kInvalidJobId);
  if (!job)
    return fail(Errc::kInvalidJobId, {},
                !cluster.was_given(query.job.job)
                    ? "no job has had that number yet; the last was " + std::to_string(cluster.last_job_id.value)
                    : "the job ended more than MinJobAge=" + std::to_string(to_seconds(settings.config().min_job_age)) +
                          " s ago and was forgotten");
  JobExplanation out = sched::explain_job(cluster, settings.sched, now, *job);
  leave_out_hidden(cluster, privacy, out);
  return out;
}

Result<NodeExplanation> explain_node(const Snapshot& cluster, const Settings& settings, Time now, const rpc::ExplainNode& query,
                                     const Privacy& privacy) {
  MUSTER_TRY_VOID(privacy.may_ask_for_nodes());
  if (const Node* node = cluster.node(query.node); node && privacy.shows(*node)) {
    NodeExplanation out = sched::explain_node(cluster, settings.sched, now, *node, cluster.planned.get());
    leave_out_hidden(cluster, privacy, out.jobs);
    out.maintenance = maintenance_of(cluster, node->id);
    return out;
  }
  std::vector<std::string_view> names;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    if (names.size() < 4096) names.push_back(n.spec->name);
  });
  std::string_view near = did_you_mean(query.node, names);
  return fail(Errc::kInvalidNodeName, {}, near.empty() ? "sinfo -N lists the nodes" : "did you mean " + std::string(near) + "?");
}

}  // namespace muster::slurmctld
