// What several subjects ask about one job: why it waits, whether it could ever run, whether it may be queued again, which priority it
// starts with.
#include <algorithm>

#include "model/array_spec.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

constexpr int64_t kFirstPriority = 4294901760;  // of job 1; each later one gets one less

}  // namespace

const Verdict* deciding_verdict(const Cluster& cluster, const Job& j) {
  const Verdict* verdict = cluster.moment.verdicts.find(j.id.value);
  const bool own = j.priority == 0 || j.dependencies || j.reason == Reason::kBeginTime;
  return own || !verdict || verdict->reason == Reason::kNone ? nullptr : verdict;
}

Reason reason_shown(const Cluster& cluster, const Job& j) {
  const Verdict* verdict = deciding_verdict(cluster, j);
  return verdict ? verdict->reason : j.reason;
}

std::string why_restarted(const Cluster& cluster, const Job& j) {
  const Restart& r = j.turns->restart;
  const Node* node = r.has_node ? cluster.nodes.find(r.node.value) : nullptr;
  return restart_text(r, node ? std::string_view(node->spec->name) : "?");
}

bool can_be_told(const Node* n) {
  const bool in_touch = n && (n->admin != NodeState::kDown || n->connected);
  return in_touch && !(n->flags & (kNodePoweredDown | kNodePoweringUp | kNodeRebootIssued));
}

Result<> check_ever_runs(const View& v, const JobRequest& request, uint32_t partition) {
  std::vector<uint32_t> partitions{partition};
  for (const std::string& name : request.partitions)
    if (const Partition* p = v.cluster.partition(name)) partitions.push_back(p->index);
  Result<> ever;
  for (uint32_t p : partitions) {
    ever = v.feasibility.check(v.cluster, v.settings.sched, request, p);
    if (ever || ever.error().code != Errc::kRequestedNodeConfigUnavailable) return {};
  }
  return fail(Errc::kRequestedPartConfigUnavailable, {}, std::string(ever.error().hint));
}

void mark_held(const View& v, const Job& job, bool as_user, event::JobChanged& e) {
  if ((job.flags & kJobHeldByAdmin) && !v.may(Right::kAdminHold)) return;
  const bool own = as_user || !v.may(Right::kAdminHold);
  e.reason = own ? Reason::kJobHeldUser : Reason::kJobHeldAdmin;
  e.flags = (e.flags & ~(kJobHeldByUser | kJobHeldByAdmin)) | (own ? kJobHeldByUser : kJobHeldByAdmin);
  const bool by_time = e.eligible > v.now || v.cluster.cron_jobs.contains(job.id.value);
  if (job.pending() && !e.dependencies && !by_time) e.eligible = kTimeUnset;  // set anew when it is released: its age does not grow
}

bool requeue_allowed(const View& v, const Job& job) {
  const Job* leader = job.het.offset ? v.cluster.jobs.find(job.het.leader.value) : nullptr;
  if (leader && leader->het.leader == job.het.leader) return requeue_allowed(v, *leader);  // the script is the first component's
  if (job.request->kind != JobKind::kBatch) return false;
  if (job.request->requeue != TriState::kDefault) return job.request->requeue == TriState::kYes;
  return v.settings.config().job_requeue;
}

uint32_t basic_priority(JobId id, int32_t nice) {
  return static_cast<uint32_t>(std::clamp<int64_t>(kFirstPriority - (id.value - 1) - nice, 1, kUnlimited32 - 1));
}

uint32_t default_priority(const View& v, JobId id, int32_t nice) { return v.settings.priority.multifactor ? 1 : basic_priority(id, nice); }

RequestId store_request(const View& v, JobRequest request, Events& out) {
  if (RequestId known = v.indexes.find_request(request, v.cluster)) return known;
  RequestId id(v.cluster.last_request_id.value + 1);
  for (const Event& e : out) {
    auto* s = std::get_if<event::RequestStored>(&e);
    if (!s) continue;
    if (*s->request == request) return s->id;
    id = RequestId(std::max(id.value, s->id.value + 1));
  }
  out.push_back(event::RequestStored{id, std::make_shared<const JobRequest>(std::move(request))});
  return id;
}

std::string job_name_for_users(const Job& job) {
  if (job.het) return component_name(job.id, job.het);
  if (job.array_task != kNoArrayTask) return std::to_string(job.array_job_id.value) + "_" + std::to_string(job.array_task);
  if (job.array_tasks) return std::to_string(job.array_job_id.value) + "_[" + format_array_tasks(*job.array_tasks) + "]";
  return std::to_string(job.id.value);
}

event::JobChanged changed(const Job& job) {
  event::JobChanged change;
  change.job = job.id;
  change.request = job.request_id;
  change.priority = job.priority;
  change.flags = job.flags;
  change.reason = job.reason;
  change.time_limit_min = job.time_limit_min;
  change.partition = job.partition;
  change.association = job.association;
  change.eligible = job.eligible;
  change.ends = job.ends;
  change.array_tasks = job.array_tasks;
  change.dependencies = job.dependencies;
  change.detail = job.detail;
  return change;
}

}  // namespace muster::slurmctld
