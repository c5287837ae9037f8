// Jobs that make room for others (slurm.conf(5) PreemptMode, GraceTime), and jobs that take turns on the same CPUs (GANG). Who is chosen,
// and who runs, is decided in sched/preempt; here each choice is checked against the state of the moment.
#include <signal.h>

#include <algorithm>

#include "sched/preempt/claims.h"
#include "sched/preempt/preempt_rule.h"
#include "sched/preempt/time_slicer.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/node_use.h"

namespace muster::slurmctld {
namespace {

// The cluster without what these jobs would give back.
Cluster without(const View& v, const std::vector<JobId>& jobs, bool cpus_only) {
  Cluster out = v.cluster;
  NodeUse use(out);
  for (JobId id : jobs) {
    const Job& j = v.cluster.jobs.at(id.value);
    if (cpus_only) use.leave_cpus(j, v.now);
    else
      for (const NodeShare& share : j.allocation->nodes) use.release(j, share, false, v.now);
    if (!cpus_only) out.count_licenses(j, false);
  }
  return out;
}

std::vector<const sched::StartItem*> parts_of(const sched::StartItem& item) {
  std::vector<const sched::StartItem*> out{&item};
  for (const sched::StartItem& other : item.together) out.push_back(&other);
  return out;
}

bool takes_cpus_of(const sched::StartItem& item, const Job& victim) {
  return std::ranges::any_of(item.allocation->nodes, [&](const NodeShare& share) {
    const auto at = std::ranges::find(victim.allocation->nodes, share.node, &NodeShare::node);
    return at != victim.allocation->nodes.end() && at->cpus.intersects(share.cpus);
  });
}

// For a heterogeneous job somebody may be ended by one component and not by another, which may not have their place then.
bool may_go_for(const View& v, const sched::PreemptRule& rule, const sched::StartItem& item, const Job& victim) {
  bool some = false;
  for (const sched::StartItem* part : parts_of(item)) {
    const Job& j = v.cluster.jobs.at(part->job.value);
    const bool may = rule.may(
        {*j.request, v.cluster.partitions.at(part->partition), part->priority, part->allocation->exclusive_user, static_cast<bool>(j.het)},
        victim);
    if (!may && takes_cpus_of(*part, victim)) return false;
    some |= may;
  }
  return some;
}

Result<> all_may_go(const View& v, const sched::StartItem& item, const std::vector<JobId>& victims, bool suspended) {
  const sched::PreemptRule rule(v.cluster, v.settings.sched.preempt, v.now);
  for (JobId id : victims) {
    const Job* victim = v.cluster.jobs.find(id.value);
    if (!victim || !victim->allocation || !may_go_for(v, rule, item, *victim)) return fail(Errc::kInvalidStateChange);
    if ((rule.how(*victim) == PreemptHow::kSuspend) != suspended) return fail(Errc::kInvalidStateChange);
  }
  return {};
}

// Whether the job, or all components of a heterogeneous one, could start in such a cluster.
Result<> fits_in(const View& v, const Cluster& cluster, const sched::StartItem& item) {
  const Job& j = v.cluster.jobs.at(item.job.value);
  if (!j.het) return sched::still_fits(cluster, v.settings.sched, *j.request, item, v.now, j.time_limit_min);
  const View there{cluster, v.indexes, v.settings, v.feasibility, v.now, v.caller, v.of_job};
  MUSTER_TRY(events, start_together(there, item));
  return events.empty() ? fail(Errc::kInvalidStateChange) : Result<>();
}

std::shared_ptr<const Claim> claim_of(const View& view, const sched::StartItem& item, const std::vector<JobId>& victims) {
  auto claim = std::make_shared<Claim>();
  claim->since = view.now;
  claim->position = view.cluster.position;
  claim->partition = item.partition;
  claim->allocation = item.allocation;
  claim->victims = victims;
  if (item.together.empty()) return claim;
  std::vector<const Allocation*> all;
  for (const sched::StartItem* part : parts_of(item)) {
    claim->parts.push_back({part->job, part->partition, part->allocation});
    all.push_back(part->allocation.get());
  }
  claim->allocation = std::make_shared<const Allocation>(sched::held_together(all));
  return claim;
}

void signal_job(const Job& j, uint16_t signal, bool batch_only, std::vector<Order>& orders) {
  node_rpc::SignalJob order;
  order.job = j.id;
  order.generation = j.restarts;
  order.signal = signal;
  order.batch_only = batch_only;
  if (batch_only) return orders.push_back({j.batch_share().node, order});
  for (const NodeShare& share : j.allocation->nodes) orders.push_back({share.node, order});
}

// PreemptParameters=send_user_signal: the signal of --signal, if the job has not had it yet.
bool send_user_signal(const View& v, const Job& j, Events& out, std::vector<Order>& orders) {
  const WarnSignal& w = j.request->warn;
  if (!v.settings.sched.preempt.send_user_signal || !w.signal || (j.run->time_warned & kWarnedSignal)) return false;
  out.push_back(event::JobWarned{j.id, kWarnedSignal});
  signal_job(j, w.signal, w.batch_shell_only, orders);
  return true;
}

// The job is told that it makes room, and may go on for its GraceTime. True: it has none.
bool tell(const View& view, const Job& victim, JobId by, Events& out, std::vector<Order>& orders) {
  const sched::PreemptRule rule(view.cluster, view.settings.sched.preempt, view.now);
  event::JobPreempted e{victim.id, by, rule.how(victim), view.now, {}};
  const Duration grace = rule.grace(victim);
  if (grace > Duration::zero()) e.ends = view.now + grace;
  out.push_back(e);
  const bool told = send_user_signal(view, victim, out, orders);
  if (grace <= Duration::zero()) return true;
  if (told) return false;
  signal_job(victim, SIGCONT, false, orders);
  signal_job(victim, SIGTERM, false, orders);
  return false;
}

// Of a heterogeneous job all components make room, each with its own signal and GraceTime. guide preempt.
void preempt(const View& v, const Job& victim, JobId by, Events& out, std::vector<Order>& orders) {
  const PreemptHow how = sched::PreemptRule(v.cluster, v.settings.sched.preempt, v.now).how(victim);
  std::vector<const Job*> over;
  for (const Job* j : victim.het ? components_of(v.cluster, victim.het) : std::vector<const Job*>{&victim})
    if (!j->finished() && tell(v, *j, by, out, orders)) over.push_back(j);
  for (const Job* j : over) end_preempted(v, *j, by, how, out);
}

// One of each whole: the victims of a heterogeneous job may be several of its components.
std::vector<const Job*> wholes(const View& v, const std::vector<JobId>& victims) {
  std::vector<const Job*> out;
  std::set<JobId> seen;
  for (JobId id : victims) {
    const Job& j = v.cluster.jobs.at(id.value);
    if (seen.insert(j.het ? j.het.leader : id).second) out.push_back(&j);
  }
  return out;
}

std::vector<const Job*> take_turns_with(const View& v, const std::set<NodeId>& touched) {
  std::set<JobId> ids = v.indexes.waiting_turns();
  std::set<NodeId> nodes = touched;
  for (JobId id : ids)
    if (const Job* j = v.cluster.jobs.find(id.value))
      for (const NodeShare& share : j->allocation->nodes) nodes.insert(share.node);
  for (NodeId node : nodes) ids.insert(v.indexes.jobs_on(node).begin(), v.indexes.jobs_on(node).end());
  std::vector<const Job*> out;
  for (JobId id : ids)
    if (const Job* j = v.cluster.jobs.find(id.value); j && sched::takes_turns(*j)) out.push_back(j);
  return out;
}

}  // namespace

void end_preempted(const View& v, const Job& job, JobId by, PreemptHow how, Events& out) {
  Ending e;
  e.state = JobState::kPreempted;
  e.detail = "by job " + std::to_string(by.value);
  if (how == PreemptHow::kRequeue) e.flags = kJobRequeued;
  end_job(v, job, e, out);
}

Result<Events> decide_preempt(const View& view, const sched::PreemptItem& item, std::vector<Order>& orders) {
  const sched::StartItem start{.job = item.job,
                               .array_task = item.array_task,
                               .partition = item.partition,
                               .allocation = item.allocation,
                               .priority = item.priority,
                               .reservation = item.reservation,
                               .request = item.request,
                               .together = item.components};
  for (const sched::StartItem* part : parts_of(start)) MUSTER_TRY_VOID(may_start(view, *part));
  const Job& claimer = view.cluster.jobs.at(item.job.value);
  if (claimer.turns->claim || item.victims.empty()) return fail(Errc::kInvalidStateChange);
  MUSTER_TRY_VOID(all_may_go(view, start, item.victims, false));
  if (fits_in(view, view.cluster, start)) return fail(Errc::kInvalidStateChange);  // nobody has to go any more
  MUSTER_TRY_VOID(fits_over(view, start, item.victims, false));
  event::JobClaimed e{claimer.id, item.array_task, task_record(view, claimer, item.array_task), claim_of(view, start, item.victims)};
  const JobId by = e.task_job ? e.task_job : claimer.id;
  Events out{std::move(e)};
  for (const Job* victim : wholes(view, item.victims)) preempt(view, *victim, by, out, orders);
  return out;
}

Result<> fits_over(const View& v, const sched::StartItem& item, const std::vector<JobId>& victims, bool suspended) {
  return fits_in(v, without(v, victims, suspended), item);
}

Result<> may_start_over(const View& v, const sched::StartItem& item) {
  MUSTER_TRY_VOID(all_may_go(v, item, item.over, true));
  return fits_over(v, item, item.over, true);
}

void suspend_for(const View& v, const std::vector<JobId>& jobs, JobId by, Events& out) {
  for (JobId id : jobs)
    if (const Job* j = v.cluster.jobs.find(id.value); j && j->state == JobState::kRunning)
      out.push_back(event::JobSuspended{id, false, v.now, SuspendCause::kPreempted, by});
}

void release_claim(const View& v, JobId id, Events& out) {
  if (const Job* j = v.cluster.jobs.find(id.value); j && j->pending() && j->turns->claim)
    out.push_back(event::JobClaimed{id, kNoArrayTask, {}, nullptr});
}

void take_turns(const View& v, const std::set<NodeId>& touched, bool next_slice, Events& out) {
  if (!v.settings.sched.preempt.modes.gang) return;
  const std::vector<const Job*> jobs = take_turns_with(v, touched);
  for (const sched::Shift& s : sched::shifts(v.cluster, jobs, next_slice))
    out.push_back(event::JobSuspended{s.job, s.resume, v.now, s.cause, s.by});
}

}  // namespace muster::slurmctld
