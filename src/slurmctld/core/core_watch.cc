// What the core keeps an eye on while time passes: silent nodes, minutes and turns of limits, reservations, allocations that nobody is there for,
// triggers.
#include <algorithm>
#include "base/text.h"
#include "model/without_job.h"
#include "slurmctld/core/accrual.h"
#include "slurmctld/core/completing_hold.h"
#include "slurmctld/core/core.h"
#include "slurmctld/core/new_claims.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {
namespace {
constexpr size_t kReservationsPerTurn = 16;           // each may look at all nodes
constexpr Duration kReservationsAgain = seconds(30);  // those that lack nodes look for others
}  // namespace

void Core::save_power() {
  if (now_ < power_at_) return;
  Events out;
  power_at_ = power_save_.look(own(), *planned_, out);
  take(std::move(out));
}

void Core::resume_nodes() {
  if (now_ < resume_at_) return;
  Events out;
  resume_at_ = resume_queue_.look(own(), out);
  take(std::move(out));
}

// A node that is out of touch is given up after SlurmdTimeout. This is the only timer that the log does not determine.
void Core::watch_silence(const Node& n) {
  auto patience = settings_.config().slurmd_timeout;
  if (patience && !n.connected && n.last_response != kTimeUnset)
    indexes_.set_timer(n.last_response + *patience, TimerKind::kNodeSilent, n.id.value);
}

// Once usage was reset a first time, a boundary that passes while no controller runs is made up for.
void Core::watch_usage_reset() {
  const Time last = cluster_.usage_rule.last_reset;
  usage_reset_at_ = next_usage_reset(settings_.priority.usage_reset, last == Time{} ? now_ : std::min(last, now_));
  if (usage_reset_at_ != kTimeInfinite) indexes_.set_timer(usage_reset_at_, TimerKind::kUsageReset, 0);
}

void Core::watch_accrual() {
  const Duration period = std::max(settings_.priority.period, seconds(1));
  const bool asked = settings_.sched.enforcement.limits || ages_stop_;
  accrual_at_ = asked && settings_.priority.multifactor ? period_start(now_, period) + period : kTimeInfinite;
  if (accrual_at_ != kTimeInfinite) indexes_.set_timer(accrual_at_, TimerKind::kAccrual, 0);
}

void Core::note_minutes(const Event& event) {
  const bool anew = std::holds_alternative<event::DirectoryLearned>(event) || std::holds_alternative<event::UsageReset>(event) ||
                    std::holds_alternative<event::HalfLifeSet>(event) || std::holds_alternative<event::AccountingSet>(event) ||
                    std::holds_alternative<event::PartitionDefined>(event);
  if (anew) minutes_stale_ = turns_stale_ = true;
  if (anew) return;
  if (std::holds_alternative<event::JobRequeued>(event)) turns_stale_ = true;  // its age begins again
  if (!minutes_.on()) return;
  if (auto* s = std::get_if<event::JobStarted>(&event)) moved_.insert(s->task_job ? s->task_job : s->job);
  else if (auto* e = std::get_if<event::JobEnding>(&event)) moved_.insert(e->task_job ? e->task_job : e->job);
  else if (auto* c = std::get_if<event::JobChanged>(&event)) moved_.insert(c->job);
  else if (auto* p = std::get_if<event::JobSuspended>(&event)) moved_.insert(p->job);
  else if (auto* k = std::get_if<event::JobShrunk>(&event)) moved_.insert(k->job);
  else if (auto* reduced = std::get_if<event::JobMemoryReduced>(&event)) moved_.insert(reduced->job);
}

// Says when the minutes of limits are used up next, and ends the jobs that have used them up.
void Core::watch_minutes() {
  if (std::exchange(minutes_stale_, false)) minutes_.rebuild(own());
  else
    for (JobId id : moved_) minutes_.touch(own(), before_.jobs.find(id.value), cluster_.jobs.find(id.value));
  moved_.clear();
  if (const Time next = minutes_.next(); next != kTimeInfinite && next != minutes_at_) {
    minutes_at_ = next;
    indexes_.set_timer(next, TimerKind::kMinutesUsed, 0);
  }
}

void Core::end_those_out_of_minutes() {
  minutes_at_ = kTimeInfinite;
  for (const MinuteWatch::Whom& whom : minutes_.take_due(now_)) {
    Events out;
    end_used_up(own(), whom, out);
    take(std::move(out));
    minutes_.look_again(own(), whom);
  }
}

// Notes the reservations whose nodes may have to be others because of this event.
void Core::note_reservations(const Event& event) {
  if (auto* j = std::get_if<event::JobSubmitted>(&event)) {
    const Job* job = cluster_.jobs.find(j->job.value);
    if (job)
      for (const std::string& name : job->request->reservation->names)
        if (const Reservation* r = cluster_.reservation(name)) unsettled_reservations_.insert(r->id);
  }
  if (auto* set = std::get_if<event::ReservationSet>(&event); set && set->reservation && set->run == event::ReservationProgram::kProlog)
    unsettled_reservations_.insert(set->reservation->id);
  if (indexes_.changing_reservations().empty()) return;
  if (auto* s = std::get_if<event::JobStarted>(&event)) {
    if (s->reservation && indexes_.changing_reservations().contains(s->reservation)) unsettled_reservations_.insert(s->reservation);
    return;
  }
  const auto* node = std::get_if<event::NodeStateChanged>(&event);
  const auto* partition = std::get_if<event::PartitionDefined>(&event);
  const bool removed = std::holds_alternative<event::NodeRemoved>(event);
  if (!node && !partition && !removed) return;
  for (uint32_t id : indexes_.changing_reservations()) {
    const Reservation* r = cluster_.reservations.find(id);
    if (!r) continue;
    const bool concerned = removed || (node && r->nodes.test(node->node.value)) ||
                           (partition && partition->partition && r->has(kResvPartNodes) && r->partition == partition->partition->name);
    if (concerned) unsettled_reservations_.insert(id);
  }
}

void Core::settle_reservations() {
  if (!indexes_.changing_reservations().empty() && now_ - reservations_settled_ >= kReservationsAgain) {
    reservations_settled_ = now_;
    unsettled_reservations_.insert(indexes_.changing_reservations().begin(), indexes_.changing_reservations().end());
  }
  std::set<uint32_t> now = std::exchange(unsettled_reservations_, {});
  for (size_t settled = 0; !now.empty() && settled < kReservationsPerTurn; ++settled) {
    Events out;
    settle_reservation(own(), now.extract(now.begin()).value(), out);
    take(std::move(out));
  }
  unsettled_reservations_.merge(now);  // for the next turn
}

void Core::learn_members(GroupMembers found) { take(decide_members(own(), std::move(found))); }

void Core::attend(JobId id) {
  const Job* j = cluster_.jobs.find(id.value);
  if (!j || j->finished() || j->request->kind != JobKind::kAllocation) return;
  attendance_.came(id);
  if (!j->attended) take(Events{event::AllocationAttended{id}});
}

// InactiveLimit: ends allocations whose salloc or srun is gone. Partitions that are root's only are left out, as documented.
void Core::end_inactive() {
  const Duration limit = settings_.config().inactive_limit;
  inactive_at_ = kTimeInfinite;
  if (limit <= Duration::zero()) return;
  for (JobId id : attendance_.due(now_, limit)) {
    const Job* j = cluster_.jobs.find(id.value);
    if (!j || j->finished() || j->pending()) continue;
    const Partition* p = cluster_.partitions.find(j->partition);
    if (p && p->root_only) continue;
    Ending ending;
    ending.state = JobState::kTimeout;
    ending.reason = Reason::kInactiveLimit;
    Events out;
    end_job(own(), *j, ending, out);
    take(std::move(out));
  }
  inactive_at_ = attendance_.next(limit);
}

// What happened to nodes comes first: it may be what ended a job, with which the triggers on the job's nodes go.
void Core::pull_and_watch_triggers() {
  Events happened = std::exchange(happened_, {});
  for (bool of_nodes : {true, false})
    for (const Event& e : happened)
      if (std::holds_alternative<event::NodeStateChanged>(e) == of_nodes) take(pull_triggers(own(), before_, e));
  if (cluster_.triggers.size() > 0 && triggers_at_ <= now_) take(pull_timed_triggers(own()));
  triggers_at_ = cluster_.triggers.size() > 0 ? next_trigger_time(own()) : kTimeInfinite;
}

// Programs of pulled triggers that are due and not on their way yet.
void Core::run_triggers(Time now, std::vector<Effect>& out) {
  if (cluster_.triggers.size() == 0 && started_triggers_.empty()) return;
  std::set<uint32_t> there;
  cluster_.triggers.for_each([&](uint32_t id, const Trigger& t) {
    if (t.due == kTimeUnset || t.due > now) return;
    there.insert(id);
    if (!started_triggers_.contains(id)) out.push_back(RunTrigger{t});
  });
  started_triggers_ = std::move(there);
}

// --mem-update: called when the job's time has come, and again until its nodes have answered.
void Core::ask_for_memory(JobId id) {
  const Job* job = cluster_.jobs.find(id.value);
  if (!job || !is_memory_due(*job, now_)) return memory_.forget(id);
  if (memory_.told_by_all(*job)) return settle_memory(*job);  // those that had not are no nodes of the job any more
  if (!memory_.ask(*job, now_)) return;
  std::vector<Order> orders;
  for (const NodeShare& share : job->allocation->nodes) {
    const Node* node = cluster_.nodes.find(share.node.value);
    if (node && node->connected && !memory_.has_told(id, share.node))
      orders.push_back({share.node, node_rpc::MeasureJob{id, job->restarts}});
  }
  take(std::move(orders));
  indexes_.set_timer(now_ + MemoryAnswers::kAskAgain, TimerKind::kJobMemory, id.value);
}

void Core::memory_measured(NodeId node, const node_rpc::JobMeasured& report) {
  const Job* job = cluster_.jobs.find(report.job.value);
  if (!job || job->restarts != report.generation || !is_memory_due(*job, now_)) return;
  if (std::ranges::find(job->allocation->nodes, node, &NodeShare::node) == job->allocation->nodes.end()) return;
  memory_.told(*job, node, report.resident);
  if (memory_.told_by_all(*job)) settle_memory(*job);
}

// The nodes hear of the new limit when the log has it.
void Core::settle_memory(const Job& job) {
  const JobId id = job.id;
  Events out;
  reduce_memory(own(), job, memory_.most_used(job), out);
  memory_.forget(id);
  take(std::move(out));
  std::vector<Order> orders;
  for (const NodeShare& share : cluster_.jobs.at(id.value).allocation->nodes)
    tell_memory(own(), cluster_.jobs.at(id.value), share.node, orders);
  take(std::move(orders));
}

}  // namespace muster::slurmctld
