#include "slurmctld/core/core.h"

#include <algorithm>

#include "base/text.h"
#include "model/without_job.h"
#include "sched/fair_factors.h"
#include "slurmctld/core/accrual.h"
#include "slurmctld/core/completing_hold.h"
#include "slurmctld/core/kept_priorities.h"
#include "slurmctld/core/maintenance.h"
#include "slurmctld/core/new_claims.h"
#include "slurmctld/core/power_calls.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {
namespace {
constexpr size_t kRecordsPerUpload = 1000;

bool was_configuring(const Cluster& before, JobId id) {
  const Job* j = before.jobs.find(id.value);
  return j && (j->flags & kJobConfiguring);
}
constexpr Duration kTimeForTheAnswer = seconds(1);
}  // namespace

Core::Core(Settings settings) : settings_(std::move(settings)), indexes_(settings_.config().min_job_age) { follow_settings(); }

// Sets what the state shows of the configuration without an event.
void Core::follow_settings() {
  auto tracked = std::make_shared<std::set<std::string>>();
  for (const std::string& tres : settings_.config().accounting_storage_tres)
    if (istarts_with(tres, "license/")) tracked->insert(tres.substr(8));
  cluster_.moment.tracked_licenses = std::move(tracked);
  cluster_.moment.billing_method = settings_.billing;
  set_licenses(settings_, cluster_.directory.get(), cluster_.node_names.get());
  const sched::Params& sched = settings_.sched;
  std::vector<std::string> licenses;
  for (size_t i = 0; i + sched.layers < sched.licenses.size(); ++i) licenses.push_back(tres_of_license(sched.licenses[i].first));
  cluster_.know_tres(licenses);
}

void Core::restore(Cluster cluster) {
  cluster_ = std::move(cluster);
  cluster_.recount_licenses();
  cluster_.recount_channels();
  follow_settings();
  cluster_.recount_ledger();
  indexes_ = rebuild_indexes(cluster_, settings_.config().min_job_age);
}

void Core::replay(const Event& event) { apply(cluster_, indexes_, event); }

void Core::configure(Settings settings) {
  const bool again = std::exchange(configured_, true), watched = again && QuarantineWatch::most(settings_.config());
  bool age_changed = settings.config().min_job_age != settings_.config().min_job_age;
  settings_ = std::move(settings);
  follow_settings();
  if (age_changed) rebuild();
  minutes_at_ = kTimeInfinite;
  power_at_ = resume_at_ = now_;
  take(decide_configure(own()));
  set_licenses(settings_, cluster_.directory.get(), cluster_.node_names.get());  // nodes may be others
  feasibility_ = FeasibilityCache();                                             // there may be more of something
  if (!again)
    cluster_.jobs.for_each([&](uint32_t id, const Job& j) {
      ages_stop_ |= j.accrues != kTimeUnset;
      if (j.attended && !j.pending() && !j.finished()) attendance_.nobody_yet(JobId(id), now_);
    });
  if (!again && settings_.priority.only_up)
    cluster_.moment.fair_factors = sched::fair_factors(cluster_, settings_.priority, std::min(last_known_moment(cluster_), now_));
  if (!watched) quarantine_.rebuild(own());
  if (again && !settings_.priority.only_up) cluster_.moment.fair_factors = nullptr;  // the next pass looks at what was used till then
  if (again) take(pull_triggers(own(), TriggerOn::kReconfig));
  watch_usage_reset();
  watch_accrual();
  minutes_stale_ = turns_stale_ = true;
}

// For keys that are changed while the daemon runs; what slurm.conf says of nodes and partitions is not looked at.
void Core::change_settings(Settings settings) {
  settings_ = std::move(settings);
  follow_settings();
  feasibility_ = FeasibilityCache();
  watch_accrual();
  minutes_stale_ = turns_stale_ = true;
}

void Core::rebuild() {
  memory_.clear();  // the timers made anew ask again
  indexes_ = rebuild_indexes(cluster_, settings_.config().min_job_age);
  cluster_.nodes.for_each([&](uint32_t, const Node& n) { watch_silence(n); });
}

void Core::begin(Time now) {
  now_ = now;  // may be before the last turn's: decisions see to it that ends do not come before starts
  before_ = cluster_;
  events_.clear();
  orders_.clear();
  mails_.clear();
  abandoned_.clear();
  links_.clear();
}

void Core::take(Events events) {
  const size_t first = events_.size();
  if (first == 0 && events.size() > events_.capacity()) events_ = std::move(events);  // there may be a million of them
  else std::move(events.begin(), events.end(), std::back_inserter(events_));
  for (size_t i = first; i < events_.size(); ++i) {
    apply(cluster_, indexes_, events_[i]);
    follow_up(events_[i]);
  }
}

void Core::take(std::vector<Order> orders) { std::move(orders.begin(), orders.end(), std::back_inserter(orders_)); }

// Remembers what housekeep() has to look at because of this event.
void Core::follow_up(const Event& event) {
  for (SendMail& m : mails_for(before_, cluster_, event)) mails_.push_back(std::move(m));
  if (!cluster_.triggers.empty() && may_pull_triggers(event)) happened_.push_back(event);
  note_managed(event);
  note_minutes(event);
  if (settings_.sched.preempt.modes.gang) note_turns(event);
  note_reservations(event);
  if (moves_maintenances(event)) maintenance_at_ = Time{};
  if (auto* e = std::get_if<event::JobEnding>(&event)) {
    JobId id = e->task_job ? e->task_job : e->job;
    if (ended_.empty() || ended_.back() != id) ended_.push_back(id);  // tasks without records of their own end by the thousand
    if (const Job* j = cluster_.jobs.find(id.value); j && j->het) readied_.push_back(id);  // others may have waited for its nodes
    if (e->array_task != kNoArrayTask && !e->task_job) return;                             // cancelled before it started
    if (e->releasing.none()) released_.push_back(id);
    if (const Job* j = cluster_.jobs.find(id.value)) quarantine_.ended(own(), *j);
    if (const Job* j = before_.jobs.find(id.value); j && j->prolog_due) abandoned_.push_back({id, j->restarts});
    note_idle_nodes(id);
  } else if (auto* r = std::get_if<event::JobNodesReleased>(&event)) {
    if (const Job* j = cluster_.jobs.find(r->job.value); j && j->all_released()) released_.push_back(r->job);
    note_idle_nodes(r->job);
    if (PowerSave::on(settings_.config())) power_at_ = std::min(power_at_, now_ + seconds(1));
  } else if (auto* l = std::get_if<event::JobNodeLeft>(&event)) {
    if (const Job* j = cluster_.jobs.find(l->job.value); j && j->finished() && j->all_released()) released_.push_back(l->job);
    note_idle_node(l->node);
  } else if (auto* s = std::get_if<event::JobShrunk>(&event)) {
    if (const Job* j = before_.jobs.find(s->job.value); j && j->allocation)
      for (const NodeShare& share : j->allocation->nodes) note_idle_node(share.node);
    readied_.push_back(s->job);  // it may have waited for that node
  } else if (auto* c = std::get_if<event::JobSubmitted>(&event)) {
    const bool by_task = c->array_tasks && c->dependencies;  // aftercorr: what it waits for may be over for some of its tasks
    if (by_task || c->reason == Reason::kDependencyNeverSatisfied) unsettled_.push_back(c->job);
  } else if (auto* g = std::get_if<event::JobChanged>(&event)) {
    // It was to be requeued and is cancelled instead: only now those who wait for its end learn how it ended.
    if (const Job* j = cluster_.jobs.find(g->job.value); j && j->finished()) ended_.push_back(g->job);
    if (g->array_task == kNoArrayTask && g->array_tasks && g->dependencies) unsettled_.push_back(g->job);
  } else if (auto* d = std::get_if<event::DirectoryLearned>(&event)) {
    if (d->changes && !(d->changes->licenses.empty() && d->changes->removed_licenses.empty())) {
      follow_settings();
      feasibility_ = FeasibilityCache();
    }
  } else if (auto* q = std::get_if<event::JobRequeued>(&event)) {
    unsettled_.push_back(q->job);  // what it waited for may be over by now
  } else if (auto* s = std::get_if<event::JobStarted>(&event)) {
    ended_.push_back(s->task_job ? s->task_job : s->job);  // "after" dependencies wait for starts
    if (const Job* j = cluster_.jobs.find(s->job.value); j && j->attended) attendance_.nobody_yet(s->job, now_);
  } else if (auto* p = std::get_if<event::JobProgramEnded>(&event)) {
    (p->epilog ? released_ : readied_).push_back(p->job);
  } else if (auto* p = std::get_if<event::JobNodesPrepared>(&event)) {
    readied_.push_back(p->job);
  } else if (auto* n = std::get_if<event::NodeStateChanged>(&event)) {
    for (JobId id : indexes_.jobs_on(n->node))
      if (const Job* j = cluster_.jobs.find(id.value); j && (j->flags & kJobConfiguring)) readied_.push_back(id);
    if (const Node* node = cluster_.nodes.find(n->node.value); node && ResumeQueue::waits(*node)) resume_at_ = now_;
  }
}

void Core::note_managed(JobId id) {
  const Job* j = cluster_.jobs.find(id.value);
  if (j && j->managed && !j->finished()) managed_.insert(id);
}
void Core::note_managed_by(NodeId node) {
  for (JobId id : indexes_.jobs_on(node))
    if (const Job* j = cluster_.jobs.find(id.value); j && is_managed_by(*j, node)) note_managed(id);
}
// Notes the jobs of which the manager of their steps has to be told something new.
void Core::note_managed(const Event& event) {
  if (auto* s = std::get_if<event::JobStarted>(&event)) note_managed(s->task_job ? s->task_job : s->job);
  else if (auto* c = std::get_if<event::JobChanged>(&event)) note_managed(c->task_job ? c->task_job : c->job);
  else if (auto* l = std::get_if<event::JobLaunched>(&event); l && was_configuring(before_, l->job)) note_managed(l->job);
  else if (auto* k = std::get_if<event::JobShrunk>(&event)) note_managed(k->job);
  else if (auto* p = std::get_if<event::JobSuspended>(&event)) note_managed(p->job);
}

// These leave before the orders of obligations: the script that a node starts may ask for a step at once.
std::vector<Effect> Core::orders_to_managers(Time now) {
  std::vector<Effect> out;
  for (JobId id : std::exchange(managed_, {})) {
    const Job* j = cluster_.jobs.find(id.value);
    if (!j || !j->managed || j->finished() || !j->allocation) continue;
    const Node* n = cluster_.nodes.find(j->allocation->nodes.front().node.value);
    if (!n || !n->connected) continue;  // told when it registers
    if (auto order = manage_order(cluster_, settings_, *j, now)) out.push_back(Order{n->id, std::move(*order)});
  }
  return out;
}

// Notes the nodes of the job that wait to be idle, for a reboot or to be powered down.
void Core::note_idle_nodes(JobId id) {
  const Job* j = cluster_.jobs.find(id.value);
  if (!j || !j->allocation) return;
  for (const NodeShare& s : j->allocation->nodes) note_idle_node(s.node);
}
void Core::note_idle_node(NodeId id) {
  const Node* n = cluster_.nodes.find(id.value);
  if (n && (n->flags & (kNodeRebootRequested | kNodePowerDownRequested))) idled_.push_back(id);
}

Result<CommandAnswer> Core::run(const Caller& who, const Command& command) {
  return std::visit([&](const auto& c) -> Result<CommandAnswer> { return run(who, c); }, command);
}

// The requeue may have been asked for by a task of the job itself: it gets its answer, and time to act on it, before it is ended.
void Core::finish(const rpc::ControlJobs& c, Decision<rpc::Messages>&, size_t first) {
  if (c.action != rpc::JobAction::kRequeue && c.action != rpc::JobAction::kRequeueHold) return;
  for (size_t i = first; i < events_.size(); ++i)
    if (auto* e = std::get_if<event::JobEnding>(&events_[i]))
      indexes_.hold_back(e->task_job ? e->task_job : e->job, now_ + kTimeForTheAnswer);
}

// A run without a job is numbered by the clock: a core that is started again gives no number that may still be in use.
void Core::finish(const rpc::RunWithoutJob&, Decision<rpc::StepCreated>& d, size_t) {
  const auto milliseconds = static_cast<uint64_t>(now_.time_since_epoch() / muster::milliseconds(1));
  last_without_job_ = std::max(last_without_job_ + 1, milliseconds);
  d.reply.job = number_without_job(last_without_job_);
}

void Core::finish(const rpc::UpdateConfig&, ConfigDecision& d, size_t) {
  if (d.loaded) change_settings(make_settings(d.loaded, settings_.slurm_user, settings_.rootless));
}

void Core::report(NodeId node, const NodeReport& report) {
  if (Node* n = cluster_.nodes.edit(node.value)) {
    n->last_response = now_;
    if (auto* load = std::get_if<node_rpc::Load>(&report)) {
      n->cpu_load = load->cpu_load;
      n->free_mem_mb = load->free_mem_mb;
      n->energy = load->energy;
      return;
    }
  }
  if (auto* measured = std::get_if<node_rpc::JobMeasured>(&report)) return memory_measured(node, *measured);
  if (auto* tested = std::get_if<node_rpc::NodeTested>(&report)) {
    Events out;
    quarantine_.tested(own(), node, *tested, out);
    return take(std::move(out));
  }
  Decision<rpc::Empty> decision = decide_report(own(), node, report);
  take(std::move(decision.events));
  take(std::move(decision.orders));
  if (std::holds_alternative<node_rpc::Register>(report)) {
    note_managed_by(node);
    quarantine_.registered(node);
  }
  if (auto* r = std::get_if<node_rpc::StepsOfJob>(&report); r && r->renew) {
    const Job* j = cluster_.jobs.find(r->job.value);
    if (j && is_managed_by(*j, node)) note_managed(r->job);
  }
}

size_t Core::carry_out(const sched::Plan& plan) {
  size_t started = 0;
  cluster_.moment.last_pass = now_;
  if (plan.fair_factors) cluster_.moment.fair_factors = plan.fair_factors;  // null where fair share has no weight
  if (plan.planned) planned_ = plan.planned;
  for (JobId id : plan.released_claims) {
    Events out;
    release_claim(own(), id, out);
    take(std::move(out));
  }
  const CompletingHold hold(own());
  const NewClaims claims(cluster_, indexes_, plan.position);
  for (const sched::StartItem& item : plan.starts) {
    if (hold.keeps_back(item) || claims.keep_from(item)) continue;
    auto events = decide_start(own(), item);
    if (!events) continue;  // no longer fits: the next plan knows better
    take(std::move(*events));
    ++started;
  }
  make_room(plan);
  // Most verdicts of a pass are those of the one before: a leaf that is set anew is copied for whoever holds a snapshot.
  for (const auto& [job, verdict] : plan.verdicts) {
    const Job* j = cluster_.jobs.find(job.value);
    if (!j || !j->pending()) continue;
    const Verdict* known = cluster_.moment.verdicts.find(job.value);
    if (is_of_partition_limit(known ? known->reason : Reason::kNone) != is_of_partition_limit(verdict.reason))
      turns_stale_ = ages_stop_ = true;
    if (!known || *known != verdict) cluster_.moment.verdicts.set(job.value, verdict);
  }
  if (ages_stop_ && accrual_at_ == kTimeInfinite) watch_accrual();
  return started;
}

void Core::make_room(const sched::Plan& plan) {
  const NewClaims claims(cluster_, indexes_, plan.position);
  for (const sched::PreemptItem& item : plan.preemptions) {
    if (claims.keep_from({.job = item.job, .allocation = item.allocation, .together = item.components})) continue;
    std::vector<Order> orders;
    auto events = decide_preempt(own(), item, orders);
    if (!events) continue;
    take(std::move(*events));
    take(std::move(orders));
  }
}

void Core::node_connected(NodeId node) {
  if (Node* n = cluster_.nodes.edit(node.value)) {
    n->connected = true;
    n->last_response = now_;
    links_.emplace_back(node, true);
    indexes_.node_connected(node);
  }
}

void Core::node_caught_up(NodeId node) {
  indexes_.node_connected(node);
  note_managed_by(node);
}

void Core::node_disconnected(NodeId node) {
  Node* n = cluster_.nodes.edit(node.value);
  if (!n) return;
  n->connected = false;
  n->last_response = now_;
  links_.emplace_back(node, false);
  watch_silence(*n);
  if (!(n->flags & kNodePoweredDown)) return;
  Events out;  // its machine outlived the order to power down, and is gone now
  end_jobs_of(own(), Node(*n), out);
  take(std::move(out));
}

void Core::records_stored(uint64_t position) {
  may_upload_ = true;
  if (position > cluster_.recorded_position) take(Events{event::RecordsStored{position, {}}});
}

void Core::program_ended(const JobProgramEnd& end) { take(decide_program_ended(own(), end)); }
void Core::trigger_started(uint32_t trigger) { take(Events{event::TriggerStarted{trigger}}); }
void Core::controller_operates() { take(pull_triggers(own(), TriggerOn::kControllerOperates)); }
void Core::slurmdbd_reached(bool now) { take(pull_triggers(own(), now ? TriggerOn::kSlurmdbdOperates : TriggerOn::kSlurmdbdFailure)); }
void Core::learn_directory(const rpc::Entities& fetched) { take(decide_learn(own(), fetched)); }
void Core::records_link_lost() { may_upload_ = false; }

void Core::fire_timers() {
  Indexes::Timer timer;
  while (indexes_.pop_due(now_, timer)) {
    Events out;
    std::vector<Order> orders;
    if (timer.kind == TimerKind::kTimeSlice) {
      if (timer.at == slice_ends_) take_turns(true);
      continue;
    }
    if (timer.kind == TimerKind::kJobMemory) {
      ask_for_memory(JobId(timer.id));
      continue;
    }
    if (timer.kind == TimerKind::kUsageReset) {
      if (timer.at == usage_reset_at_) out.push_back(event::UsageReset{0, {}, now_});
    } else if (timer.kind == TimerKind::kMinutesUsed) {
      end_those_out_of_minutes();
    } else if (timer.kind == TimerKind::kAccrual) {
      const bool limited = settings_.sched.enforcement.limits && takes_turns(cluster_);
      if (timer.at == accrual_at_ && (limited || std::exchange(turns_stale_, false))) out = decide_accrual(own());
    } else if (timer.kind == TimerKind::kReservation) reservation_timer(own(), timer.id, out);
    else if (timer.kind >= TimerKind::kNodeSilent) node_timer(own(), NodeId(timer.id), timer.kind, out);
    else job_timer(own(), JobId(timer.id), timer.kind, out, orders);
    take(std::move(out));
    take(std::move(orders));
    if (timer.kind == TimerKind::kUsageReset && timer.at == usage_reset_at_) watch_usage_reset();
    if (timer.kind == TimerKind::kAccrual && timer.at == accrual_at_) watch_accrual();
    if (timer.kind != TimerKind::kJobLimit) continue;
    const Job* j = cluster_.jobs.find(timer.id);  // within its OverTimeLimit
    if (j && j->state == JobState::kRunning && j->ends <= now_ && limit_time(own(), *j) > now_ && limit_time(own(), *j) != kTimeInfinite)
      indexes_.set_timer(limit_time(own(), *j), TimerKind::kJobLimit, timer.id);
  }
}

void Core::drop_excess_records() {
  if (!cluster_.accounting) return;
  if (auto excess = excess_records(cluster_, indexes_, settings_.config()); !excess.empty())
    take(Events{event::RecordsStored{cluster_.recorded_position, std::move(excess)}});
}

void Core::settle(NodeId id) {
  Events out;
  std::vector<Order> orders;
  if (const Node* n = cluster_.nodes.find(id.value)) settle_node(own(), *n, out, orders);
  take(std::move(out));
  take(std::move(orders));
}

// Calls `decide` for each of these jobs that is still there; each call sees what the ones before decided.
template <class F>
void Core::for_each_job(const std::vector<JobId>& ids, F decide) {
  for (JobId id : ids) {
    const Job* j = cluster_.jobs.find(id.value);
    if (!j) continue;
    Events out;
    decide(*j, out);
    take(std::move(out));
  }
}

// Works out the consequences of what happened in this turn and of time having passed, until nothing new follows. That is bounded: every
// round either ends or starts something, and each job does so at most once a turn.
void Core::housekeep() {
  fire_timers();
  end_inactive();
  save_power();
  resume_nodes();
  drop_excess_records();
  while (!ended_.empty() || !released_.empty() || !readied_.empty() || !unsettled_.empty() || !idled_.empty() || !turned_.empty() ||
         now_ >= maintenance_at_) {
    if (now_ >= maintenance_at_) {
      maintenance_at_ = next_maintenance_time(own());
      Decision<rpc::Empty> moves = keep_maintenances(own());
      take(std::move(moves.events));
      take(std::move(moves.orders));
    }
    if (!turned_.empty()) take_turns(false);
    for (NodeId id : std::exchange(idled_, {})) settle(id);
    for_each_job(std::exchange(unsettled_, {}), [&](const Job& j, Events& out) { settle_dependencies(own(), j, out); });
    const std::vector<JobId> ended = std::exchange(ended_, {}), released = std::exchange(released_, {}),
                             readied = std::exchange(readied_, {});
    for_each_job(ended, [&](const Job& j, Events& out) {
      settle_crontab(own(), j, out);
      resolve_dependents(own(), j, out);
    });
    for_each_job(released, [&](const Job& j, Events& out) {
      if (j.finished()) after_release(own(), j, out);
    });
    for_each_job(readied, [&](const Job& j, Events& out) { settle_start(own(), j, out); });
  }
  Decision<rpc::Empty> quarantined;
  quarantine_at_ = quarantine_.look(own(), quarantined.events, quarantined.orders);
  take(std::move(quarantined.events));
  take(std::move(quarantined.orders));
  settle_reservations();
  take(decide_kept_priorities(before_, own()));
  watch_minutes();
  watch_slices();
  pull_and_watch_triggers();
}

void Core::commit() { before_ = Cluster(); }

void Core::rollback() {
  cluster_ = std::move(before_);
  before_ = Cluster();
  follow_settings();
  feasibility_ = FeasibilityCache();  // its epoch may come again with another content
  for (auto [node, connected] : std::exchange(links_, {})) {
    Node* n = cluster_.nodes.edit(node.value);  // connections are as they are, whatever the disk says
    if (!n) continue;
    n->connected = connected;
    n->last_response = now_;
  }
  rebuild();
  watch_usage_reset();
  watch_accrual();
  minutes_stale_ = turns_stale_ = true;
  minutes_at_ = kTimeInfinite;
  if (minutes_.on()) indexes_.set_timer(now_, TimerKind::kMinutesUsed, 0);  // the next turn makes the watch anew
  moved_.clear();
  triggers_at_ = next_trigger_time(own());
  events_.clear();
  orders_.clear();
  mails_.clear();
  abandoned_.clear();
  ended_.clear();
  released_.clear();
  readied_.clear();
  unsettled_.clear();
  idled_.clear();
  managed_.clear();
  turned_.clear();
  slice_ends_ = kTimeInfinite;
  watch_slices();
  unsettled_reservations_.clear();
  happened_.clear();
  resume_at_ = maintenance_at_ = now_ + seconds(1);
  quarantine_.rebuild(own());
}

std::shared_ptr<const Snapshot> Core::snapshot() const {
  return std::make_shared<const Snapshot>(cluster_, indexes_.state_counts(), planned_);
}

std::vector<Effect> Core::take_effects(Time now) {
  std::vector<Effect> out;
  PowerCalls power;
  for (const Event& e : events_) {
    if (auto* set = std::get_if<event::ReservationSet>(&e); set && set->run != event::ReservationProgram::kNone)
      out.push_back(RunReservationProgram{set->reservation->name, set->run == event::ReservationProgram::kEpilog});
    if (auto* over = std::get_if<event::ReservationRemoved>(&e); over && over->run != event::ReservationProgram::kNone)
      out.push_back(RunReservationProgram{over->name, true});
    if (auto* gone = std::get_if<event::NodeRemoved>(&e)) out.push_back(DropNode{gone->node});
    auto* n = std::get_if<event::NodeStateChanged>(&e);
    if (n && n->admin == NodeState::kFuture) out.push_back(DropNode{n->node});
    if (n) power.add(*n);
  }
  power.take(cluster_, indexes_, settings_.config(), out);
  events_.clear();
  for (SendMail& m : mails_) out.push_back(std::move(m));
  mails_.clear();
  for (const AbandonProlog& a : std::exchange(abandoned_, {})) out.push_back(a);
  for (std::string& line : quarantine_.take_lines()) out.push_back(LogLine{std::move(line)});
  run_triggers(now, out);
  std::ranges::move(orders_to_managers(now), std::back_inserter(out));
  for (Order& o : orders_) out.push_back(std::move(o));
  orders_.clear();
  DescribedJob described;
  for (const Obligation& o : indexes_.take_due(now, seconds(15))) {
    if (o.duty == Duty::kProlog || o.duty == Duty::kEpilog) {
      out.push_back(RunJobProgram{cluster_.jobs.at(o.job.value), o.duty == Duty::kEpilog});
      continue;
    }
    const Node* n = cluster_.nodes.find(o.node.value);
    if (!n || !n->connected) continue;  // due again when it connects
    if (auto order = order_for(o, described)) out.push_back(Order{o.node, std::move(*order)});
  }
  if (may_upload_ && !indexes_.unrecorded().empty()) {
    may_upload_ = false;  // until this one is answered
    out.push_back(next_upload(indexes_, kRecordsPerUpload));
  }
  return out;
}

std::optional<NodeOrder> Core::order_for(const Obligation& obligation, DescribedJob& described) const {
  const Job* job = cluster_.jobs.find(obligation.job.value);
  if (!job || !job->allocation) return std::nullopt;
  if (obligation.duty == Duty::kLaunchBatch) {
    node_rpc::LaunchBatch launch;
    launch.job = job_on_node(cluster_, *job, job->run->batch_index);
    return launch;
  }
  const auto& nodes = job->allocation->nodes;
  const auto at = std::ranges::find(nodes, obligation.node, &NodeShare::node);
  if (obligation.duty == Duty::kPrepare) {
    if (at == nodes.end()) return std::nullopt;
    node_rpc::PrepareJob p{described.of(cluster_, *job)};
    place_on_node(cluster_, *job, static_cast<size_t>(at - nodes.begin()), p.job);
    return p;
  }
  if (obligation.duty == Duty::kSettle) {
    node_rpc::SuspendJob s;
    s.job = obligation.job;
    s.generation = job->restarts;
    s.suspend = job->state == JobState::kSuspended;
    s.grace_seconds = static_cast<uint32_t>(to_seconds(settings_.sched.preempt.suspend_grace));
    return s;
  }
  node_rpc::TerminateJob terminate;
  terminate.job = obligation.job;
  terminate.generation = job->restarts;
  terminate.forget = true;
  terminate.kill_wait_seconds = static_cast<uint32_t>(to_seconds(settings_.config().kill_wait));
  terminate.state = job->flags & (kJobRequeued | kJobRequeueHold) ? JobState::kPending : job->state;
  terminate.time = job->ended;
  if (job->is_leaving(obligation.node)) {
    terminate.state = JobState::kCancelled;
    terminate.time = job->run->resized;
  }
  terminate.about = described.of(cluster_, *job);
  terminate.about->cpus_per_node.clear();  // the one thing that grows with the job: it would make the orders of a large one quadratic
  if (at != nodes.end()) place_on_node(cluster_, *job, static_cast<size_t>(at - nodes.begin()), *terminate.about);
  return terminate;
}

}  // namespace muster::slurmctld
