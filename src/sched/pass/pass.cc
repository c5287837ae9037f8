#include "sched/pass/pass.h"

#include <algorithm>

#include "sched/fair_factors.h"
#include "sched/pass/held_back.h"
#include "sched/pass/over_others.h"
#include "sched/pass/within_layers.h"
#include "sched/place/gang.h"
#include "sched/qos_flags.h"
#include "sched/request/least_wanted.h"
#include "sched/rules/eligibility.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

// The names of its nodes, as a host list. Most jobs want one node.
std::string names_in(const Profile::Spot& spot, const Cluster& cluster) {
  const Node* only = spot.parts.size() == 1 ? cluster.nodes.find(spot.parts[0].node) : nullptr;
  if (only && only->spec) return only->spec->name;
  Bitmap nodes;
  for (const auto& part : spot.parts) nodes.set(part.node);
  return node_list(cluster, nodes);
}

constexpr std::string_view kBeyondLayers = "the layers of the hierarchical resources that it asks for would be too small if all were free";

}  // namespace

bool PlanPass::Head::operator<(const Head& o) const {
  if (reserved != o.reserved) return !reserved;
  if (first != o.first) return o.first;
  if (tier != o.tier) return tier < o.tier;
  if (priority != o.priority) return priority < o.priority;
  if (key.id != o.key.id) return key.id > o.key.id;
  return class_id > o.class_id;
}

PlanPass::PlanPass(const Cluster& cluster, const Params& params, Time now, Pass kind, Availability& nodes, Pending& pending,
                   ProfileMemory* memory)
    : cluster_(cluster),
      params_(params),
      now_(now),
      full_(kind == Pass::kFull),
      nodes_(nodes),
      pending_(pending),
      rule_(cluster, params.priority, now, fair_factors(cluster, params.priority, now)),
      held_(cluster, params),
      stopped_(params.stop_at_association),
      limits_(params.bf, now),
      preempt_rule_(cluster, params.preempt, now),
      claims_(cluster, pending, now),
      yielding_(claims_.yielding()),
      memory_(full_ ? memory : nullptr),
      gate_(Gate::make(cluster, params, now, rule_.fair_factors())) {
  if (!held_.counts()) return;
  nodes.reserved().forget_use();
  for (const auto& [id, r] : pending.running()) {
    if (r.finished) continue;
    held_.add({*r.allocation});
    nodes.reserved().use(r.reservation, r.allocation->licenses);
  }
}

PlanPass::~PlanPass() = default;

Plan PlanPass::run() {
  plan_.position = cluster_.position;
  plan_.fair_factors = rule_.fair_factors();
  plan_.classes = pending_.classes_in_use();
  state_.resize(pending_.classes().size());
  nodes_.owned().for_each([&](size_t id) { owners_.insert(nodes_.owner(static_cast<uint32_t>(id)).value); });
  if (full_) planned_ = std::make_shared<PlannedNodes>();
  settle_claims();
  walk();
  if (full_) say_parked();
  plan_.planned = std::move(planned_);
  if (profile_) plan_.horizon = profile_->time_of(profile_->horizon()) - now_;
  return std::move(plan_);
}

// Merges the classes' queues; a class that can do no more leaves the heap in a quick pass.
void PlanPass::walk() {
  struct Cursor {
    std::set<QueueKey>::const_iterator at;
    WaitingClass::Common common;
    bool first = false;
  };
  std::vector<Cursor> cursors(pending_.classes().size());
  std::vector<Head> heap;
  for (uint32_t c = 0; c < pending_.classes().size(); ++c) {
    const WaitingClass& w = *pending_.classes()[c];
    if (w.jobs.empty()) continue;
    cursors[c].at = w.jobs.begin();
    cursors[c].common = w.common(rule_);
    cursors[c].first = preempt_rule_.goes_first(*w.request);
    heap.push_back({w.named, cursors[c].first, cluster_.partitions.at(w.shape.partition).priority_tier,
                    w.priority_at(*cursors[c].at, rule_, cursors[c].common), *cursors[c].at, c});
  }
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    Head head = heap.back();
    heap.pop_back();
    priority_ = head.priority;
    tier_ = head.tier;
    if (head.class_id == kTogether) {
      start_together(cluster_.jobs.at(head.key.id));
      continue;
    }
    const bool go_on = job(head.key.id) || full_;
    if (!full_ && params_.quick_starts && plan_.starts.size() >= params_.quick_starts) return;
    for (const Head& due : std::exchange(due_, {})) {
      heap.push_back(due);
      std::push_heap(heap.begin(), heap.end());
    }
    const WaitingClass& w = *pending_.classes()[head.class_id];
    if (!go_on || ++cursors[head.class_id].at == w.jobs.end()) continue;
    head.key = *cursors[head.class_id].at;
    head.priority = w.priority_at(head.key, rule_, cursors[head.class_id].common);
    heap.push_back(head);
    std::push_heap(heap.begin(), heap.end());
  }
}

bool PlanPass::job(uint32_t id) {
  if (done_.contains(id)) return true;
  const Job* job = cluster_.jobs.find(id);
  if (!job) return true;
  ++plan_.jobs_considered;
  if (job->het) {
    meet_component(*job);
    return true;
  }
  return start_tasks(*job, pending_.classes_of(id));
}

bool PlanPass::start_tasks(const Job& job, const std::vector<uint32_t>& classes) {
  if (classes.size() > 1) done_.insert(job.id.value);  // its other partitions are looked at here and now
  if (const Verdict v = not_in_turn(job, now_); v.reason != Reason::kNone) {
    say(job, v.reason);
    return true;
  }
  const bool behind = backfills() && any_closed(classes);
  if (behind)
    if (std::string why = limits_.kept_from(job.request->uid, job.association, partitions(classes)); !why.empty()) {
      say(job, Reason::kPriority, "backfill looks at no more jobs in a pass: " + why);
      return true;
    }
  const ArrayLimit limit = ArrayLimit::of(cluster_, job);
  uint32_t* started_here = limit.concerns() ? &array_started_[limit.array] : nullptr;
  size_t task = Bitmap::npos;
  if (job.array_tasks) {
    task = job.array_tasks->pending.first();
    if (task == Bitmap::npos) return true;
  }
  while (true) {
    if (started_here && limit.left(*started_here) == 0) {
      wait_for_own_tasks(job, classes, limit);
      return true;
    }
    Wait why;
    bool started = false, claimed = false, room_wanted = false, told = false;
    for (uint32_t c : classes) {
      Wait this_why;
      const Try got = try_class(job, c, task == Bitmap::npos ? kNoArrayTask : static_cast<uint32_t>(task), this_why);
      started = got == Try::kStarted || got == Try::kClaimed;
      claimed = got == Try::kClaimed;
      if (started && behind) limits_.started();
      if (started) break;
      room_wanted |= got == Try::kNoRoom;
      if (pending_.classes()[c]->draws_in()) continue;  // it never asked to be there, so it does not wait for that
      if (!told || got == Try::kNoRoom) why = std::move(this_why);
      told = true;
    }
    if ((claimed && task == Bitmap::npos) || (!started && claims_.has(job.id.value))) return waits_for_room(job);
    if (!started) {
      if (!room_wanted) {
        say(job, why.reason, why.detail);
        return true;
      }
      uint32_t tasks = 1;
      if (task != Bitmap::npos) {
        tasks = static_cast<uint32_t>(std::min<size_t>(job.array_tasks->pending.count(), params_.bf.array_tasks));
        tasks = std::min(tasks, limit.left(*started_here));
      }
      wait(job, classes, why, tasks);
      return false;
    }
    if (started_here) ++*started_here;
    if (task == Bitmap::npos) return true;
    task = job.array_tasks->pending.next(task + 1);
    if (task == Bitmap::npos) return true;
  }
}

Hold PlanPass::held_back(RuleSet rules, const RequestBody& request, const RequestClass& c, const ClassQuestion& of, Grant& grant,
                         const Held* have) const {
  if (!rules) return {};
  const Partition& p = cluster_.partitions.at(c.partition);
  return first_to_hold(rules, {cluster_, params_, p, request, c, profile_.get(), gate_.get(), of.least, of.id, &nodes_.reserved()},
                       have       ? *have
                       : if_gone_ ? *if_gone_
                                  : held_.held(),
                       grant);
}

// A class's own rules and nodes are worked out when the first of its jobs is looked at.
PlanPass::ClassState& PlanPass::look_at(uint32_t class_id) {
  ClassState& state = state_[class_id];
  if (state.seen) return state;
  state.seen = true;
  WaitingClass& w = *pending_.classes()[class_id];
  const Partition& p = cluster_.partitions.at(w.shape.partition);
  const RuleSet rules = rules_concerning(w.shape, p, params_);
  state.barred = first_to_hold_class(rules, {cluster_, params_, p, *w.request, w.shape});
  state.rules = rules_left(rules, state.barred);
  if (gate_) state.least = least_wanted(w.shape.shape, cluster_.partitions.at(w.shape.partition), cluster_);
  if (!w.shape.never) resolve(w.shape, cluster_, nodes_, p);
  return state;
}

PlanPass::Try PlanPass::try_class(const Job& job, uint32_t class_id, uint32_t array_task, Wait& why) {
  ClassState& state = look_at(class_id);
  RequestClass& asked = pending_.classes()[class_id]->shape;
  Grant grant;
  auto holds = [&](RuleSet rules) {
    Hold hold = held_back(state.rules & rules, *job.request, asked, {class_id, &state.least}, grant);
    if (hold) why = {hold.reason, std::move(hold.detail), true};
    return why.ruled;
  };
  if (stopped_.has(asked.partition)) {
    why.reason = Reason::kPriority;
    return Try::kBarred;
  }
  if (holds(~foreseen_)) {
    stopped_.note(asked.partition, why.reason);
    return Try::kBarred;
  }
  if (is_closed(asked) && !backfills()) {
    why.reason = Reason::kPriority;
    return Try::kNoRoom;
  }
  if (holds(foreseen_)) return make_room(job, class_id, array_task, why, filter(), {}, true);
  const WithinLayers within(asked, grant.layers);
  const bool layered = grant.layers != nullptr;  // what is left of layers changes without the nodes
  // A user who holds nodes with --exclusive=user may find room where the other jobs of the class find none.
  const Uid user = job.request->uid;
  const bool owner = asked.uid == RequestClass::kAnyone && owners_.contains(user.value);
  const bool full = owner ? owner_full_.contains({class_id, user.value}) : state.full;
  const NodeFilter* filter = this->filter();
  if (!full && (owner || layered || asked.bound_by_time() || !asked.known_not_to_fit(nodes_, filter))) {
    uint32_t limit = asked.time_limit_min;
    Placement got = place_class(job, class_id, filter, limit);
    const AllocationPtr* allocation = placed(got);
    if (const AllocationPtr all = allocation ? with_grant(*allocation, grant, cluster_.partitions.at(asked.partition)) : nullptr) {
      if (Bar bar = over_limit(job, class_id, limit, *all); bar.reason != Reason::kNone) {
        why = {bar.reason, std::move(bar.detail), true};
        stopped_.note(asked.partition, why.reason);
        return Try::kBarred;
      }
      began(job, class_id, array_task, limit, all);
      return Try::kStarted;
    }
    WaitingClass& w = *pending_.classes()[class_id];
    w.why = {};
    if (Later* later = std::get_if<Later>(&got)) w.why = std::move(*later);
    if (owner) owner_full_.insert({class_id, user.value});
    if (!filter && !layered && !nodes_.room_is_kept() && (asked.monotone || !owner)) asked.blocked_at = asked.version(nodes_);
  }
  // Others of the class have waited for longer.
  const bool waits_to_boot = asked.unchanged && now_ - job.eligible < asked.shape.delay_boot;
  if (!waits_to_boot) state.full = true;
  if (Try made = make_room(job, class_id, array_task, why, filter, std::move(grant), false); made != Try::kNoRoom) return made;
  const Later& last = pending_.classes()[class_id]->why;
  why = {last.reason, last.detail, last.reason == Reason::kLicenses};
  return why.reason == Reason::kReqNodeNotAvail ? Try::kBarred : Try::kNoRoom;
}

// Places the job now: with the class's own time limit or, where only promises to others stand in the way, with the longest limit that
// --time-min allows.
Placement PlanPass::place_class(const Job& job, uint32_t class_id, const NodeFilter* filter, uint32_t& limit_min) {
  WaitingClass& waiting = *pending_.classes()[class_id];
  RequestClass& asked = waiting.shape;
  const Duration waited = now_ - job.eligible;
  const Uid user = job.request->uid;
  Placement got = place(nodes_, asked, params_, filter, waited, user);
  if (placed(got) || !profile_ || waiting.lowered == WaitingClass::kNone) return got;
  // A shorter job fits better, so halving finds the longest limit.
  const uint32_t full = asked.time_limit_min;
  uint32_t fits = 0, too_long = full;
  for (uint32_t limit = asked.shape.time_min_min; limit > fits && limit < too_long;) {
    asked.time_limit_min = limit;
    Placement shorter = place(nodes_, asked, params_, filter, waited, user);
    if (placed(shorter)) {
      got = std::move(shorter);
      limit_min = fits = limit;
    } else {
      too_long = limit;
    }
    if (fits == 0) break;
    limit = fits + (too_long - fits) / 2;
  }
  asked.time_limit_min = full;
  return got;
}

// With what it gets beside nodes, and with its bill where the partition has weights. Null: layers have too little for it on these nodes.
AllocationPtr PlanPass::with_grant(const AllocationPtr& allocation, Grant grant, const Partition& partition) const {
  const bool weighs = !partition.tres_billing_weights.empty();
  if (grant.layers) {
    const auto shares = grant.layers->shares(*allocation);
    if (!shares) return nullptr;
    grant.licenses.insert(grant.licenses.end(), shares->begin(), shares->end());
  }
  if (grant.licenses.empty() && !weighs) return allocation;
  auto with = std::make_shared<Allocation>(*allocation);
  with->licenses = std::move(grant.licenses);
  if (weighs) with->billing = billing_of(partition.tres_billing_weights, cluster_.billing(), held_by(*with));
  return with;
}

// With whole cores or nodes a job may get more than it asks for, so its limits are asked again about the allocation.
Bar PlanPass::over_limit(const Job& job, uint32_t class_id, uint32_t limit_min, const Allocation& allocation) {
  if (!gate_) return {};
  const Partition& p = cluster_.partitions.at(pending_.classes()[class_id]->shape.partition);
  return gate_->bars({*job.request, p, limit_min, class_id}, allocation);
}

void PlanPass::began(const Job& job, uint32_t class_id, uint32_t array_task, uint32_t limit_min, AllocationPtr allocation) {
  const RequestClass& asked = pending_.classes()[class_id]->shape;
  if (held_.counts()) {
    held_.add({*allocation});
    nodes_.reserved().use(asked.reservation, allocation->licenses);
  }
  if (gate_) gate_->started(job.request, cluster_.partitions.at(asked.partition), allocation, limit_min);
  bool asleep = false;
  for (const NodeShare& share : allocation->nodes) {
    asleep |= nodes_.asleep().test(share.node.value);
    nodes_.consume(share, *allocation, job.request->uid, asked.partition);
  }
  for (uint32_t id : allocation->fenced) nodes_.fence(id);
  if (allocation->exclusive_user) owners_.insert(job.request->uid.value);
  const uint32_t within = limit_within(asked, limit_min);
  if (profile_) profile_->started(*allocation, within, asked.partition);
  else started_.push_back({allocation, within, asked.partition});
  if (array_ends_ && job.array_job_id)
    (*array_ends_)[job.array_job_id.value].push_back(limit_min == kUnlimited32 ? kTimeInfinite : now_ + minutes(limit_min));
  StartItem item{job.id, array_task, asked.partition, std::move(allocation)};
  item.needs_power_up = asleep;
  item.by_full_pass = full_;
  item.priority = priority_;
  item.reservation = asked.reservation;
  if (limit_min != asked.time_limit_min) item.time_limit_min = limit_min;
  item.request = job.request;
  plan_.starts.push_back(std::move(item));
}

const NodeFilter* PlanPass::filter() const {
  return profile_ ? static_cast<const NodeFilter*>(profile_.get()) : static_cast<const NodeFilter*>(held_back_.get());
}

bool PlanPass::any_closed(const std::vector<uint32_t>& classes) const {
  return std::any_of(classes.begin(), classes.end(), [&](uint32_t c) { return is_closed(pending_.classes()[c]->shape); });
}

void PlanPass::close_partitions(const std::vector<uint32_t>& classes) {
  for (uint32_t c : classes) {
    const uint32_t p = pending_.classes()[c]->shape.partition;
    if (close_reservation(pending_.classes()[c]->shape) || closed_.test(p)) continue;
    closed_.set(p);
    if (backfills()) continue;
    if (!held_back_) held_back_ = std::make_unique<HeldBack>(nodes_.size());
    held_back_->add(cluster_.partitions.at(p).nodes);
  }
}

// The job does not start now. `tasks`: for an array, how many of its tasks are promised a place.
void PlanPass::wait(const Job& job, const std::vector<uint32_t>& classes, const Wait& why, uint32_t tasks) {
  // Asked once a pass of a class: whether what it asks of hierarchical resources is more than there is.
  const auto beyond_layers = [&](uint32_t id) {
    const WaitingClass& w = *pending_.classes()[id];
    std::optional<bool>& known = state_[id].beyond_layers;
    if (!known) known = never_within_layers(cluster_, params_, *w.request, w.shape);
    return *known;
  };
  if (std::ranges::all_of(classes, beyond_layers))
    return say(job, Reason::kBadConstraints, std::string(kBeyondLayers));  // and nobody waits behind it
  const Reason reason = why.ruled ? why.reason : any_closed(classes) ? Reason::kPriority : awaited(classes);
  const PlaceByQos as = place_by_qos(cluster_, job.request->qos);
  const bool kept = as.may && limits_.keeps_place(job.eligible, priority_, partitions(classes), as.least_priority);
  // A job that a rule holds back keeps others from nodes only by the place promised to it.
  if (!why.ruled && kept) close_partitions(classes);
  RareText said = said_of(why, reason, classes);
  if (backfills()) promise(job, classes, Verdict{reason, {}, {}, std::move(said)}, tasks, kept ? Place::kKept : Place::kTold);
  else say(job, reason, std::move(said));
  if (!why.ruled && kept && wants_power(nodes_, pending_, classes)) nodes_.keep_room_to_wake();
}

// Why the job waits for nodes: the first name that a rule has for it in any of its classes, else Resources.
Reason PlanPass::awaited(const std::vector<uint32_t>& classes) const {
  for (uint32_t id : classes) {
    const RequestClass& c = pending_.classes()[id]->shape;
    if (state_[id].barred) continue;
    if (const Reason reason = nodes_awaited({nodes_, c}); reason != Reason::kResources) return reason;
  }
  return Reason::kResources;
}

std::vector<uint32_t> PlanPass::partitions(const std::vector<uint32_t>& classes) const {
  std::vector<uint32_t> out;
  for (uint32_t c : classes) out.push_back(pending_.classes()[c]->shape.partition);
  return out;
}

// When so few tasks of the array will run that one more may start; kTimeInfinite: nobody knows.
Time PlanPass::array_has_room(uint32_t array, uint32_t limit) {
  if (!array_ends_) {
    array_ends_.emplace();
    for (const auto& [id, r] : pending_.running())
      if (const Job* j = cluster_.jobs.find(id); j && j->array_job_id && !r.finished)
        (*array_ends_)[j->array_job_id.value].push_back(r.expected_end(now_));
    for (const StartItem& s : plan_.starts) {
      const Job& j = cluster_.jobs.at(s.job.value);
      const uint32_t minutes_at_most = s.time_limit_min.value_or(j.time_limit_min);
      if (j.array_job_id)
        (*array_ends_)[j.array_job_id.value].push_back(minutes_at_most == kUnlimited32 ? kTimeInfinite : now_ + minutes(minutes_at_most));
    }
  }
  std::vector<Time> ends = (*array_ends_)[array];
  if (limit == 0 || ends.size() < limit) return kTimeInfinite;
  const auto nth = ends.begin() + static_cast<ptrdiff_t>(ends.size() - limit);
  std::nth_element(ends.begin(), nth, ends.end());
  return *nth;
}

// As many tasks of the array run as may: the next task has its place when one of them has ended.
void PlanPass::wait_for_own_tasks(const Job& job, const std::vector<uint32_t>& classes, const ArrayLimit& limit) {
  const Time room = backfills() ? array_has_room(limit.array, limit.most) : kTimeInfinite;
  if (room == kTimeInfinite) return say(job, Reason::kJobArrayTaskLimit);
  Verdict verdict{Reason::kJobArrayTaskLimit, {}, {}, {}};
  RequestClass& c = pending_.classes()[classes.front()]->shape;
  if (look_at(classes.front()).barred || c.never) return say(job, verdict.reason);
  const uint32_t extra = forecasts_++;
  Profile::Spot spot = profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + extra, pending_.families() + extra, c,
                                          profile().slot_of(room), true);
  if (spot.slot == kNever) return say(job, verdict.reason);
  keep_or_tell(job.id, c, spot, Place::kKept, verdict);
  plan_.verdicts.push_back({job.id, std::move(verdict)});
}

void PlanPass::keep_or_tell(JobId job, const RequestClass& asked, const Profile::Spot& spot, Place place, Verdict& verdict) {
  const Time start = profile().time_of(spot.slot);
  if (place == Place::kKept && !limits_.beyond_window(start)) {
    profile().promise(asked, spot);
    if (planned_) {
      std::vector<uint32_t> nodes;
      for (const auto& part : spot.parts) nodes.push_back(part.node);
      planned_->add(job, start, nodes);
    }
  }
  if (verdict.expected_start != Time{}) return;  // of an array the first task's
  verdict.expected_start = start;
  verdict.expected_nodes = names_in(spot, cluster_);
}

Profile& PlanPass::profile() {
  if (!profile_)
    profile_ =
        std::make_unique<Profile>(cluster_, params_, now_, nodes_, pending_, started_, pending_.classes().size(), yielding_, memory_);
  return *profile_;
}

// With --switches: the earliest start within so many leaf switches, or anywhere once the job has waited long enough.
Profile::Spot PlanPass::earliest(uint32_t class_id, uint32_t family, RequestClass& c, Time eligible) {
  const bool tree = c.topology && c.topology->kind() == TopologyKind::kTree;
  const bool lasting = class_id < pending_.classes().size();
  if (!c.shape.switches || !tree) return profile().earliest(class_id, family, c, 1, lasting);
  Profile::Spot within = profile().earliest(class_id, family, c, 1, lasting);
  RequestClass anywhere = c;
  anywhere.shape.switches = 0;
  const uint32_t extra = forecasts_++;
  Profile::Spot then = profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + extra, pending_.families() + extra, anywhere,
                                          profile().slot_of(eligible + patience(c.shape, params_)));
  return then.slot < within.slot ? then : within;
}

Profile::Spot PlanPass::earliest_of_class(uint32_t class_id, Time eligible, const RequestClass*& of) {
  WaitingClass& w = *pending_.classes()[class_id];
  of = &w.shape;
  Profile::Spot full = earliest(class_id, w.family, w.shape, eligible);
  if (w.lowered == WaitingClass::kNone) return full;
  WaitingClass& l = *pending_.classes()[w.lowered];
  resolve(l.shape, cluster_, nodes_, cluster_.partitions.at(l.shape.partition));
  Profile::Spot sooner = earliest(w.lowered, l.family, l.shape, eligible);
  if (sooner.slot >= full.slot) return full;
  of = &l.shape;
  return sooner;
}

// No start is within sight: says whether that is because of nodes that are down, or would be so even with all of them idle.
void PlanPass::say_why_never(const std::vector<uint32_t>& classes, Verdict& verdict) const {
  Reason barred = Reason::kBadConstraints;
  auto awaited = [&](const RequestClass& asked) -> std::string {
    if (asked.never) return {};
    if (waits_for_power({nodes_, asked})) return nodes_.said_of_room_to_wake();
    return has_room_when_idle(asked) ? "too few of its nodes are up" : std::string(change_awaited(asked));
  };
  for (uint32_t id : classes) {
    if (state_[id].barred) {
      barred = state_[id].barred.reason;
    } else if (const std::string what = awaited(pending_.classes()[id]->shape); !what.empty()) {
      verdict.detail = "no start within sight: " + what;
      return;
    }
  }
  verdict.reason = barred;
  verdict.detail = "it would not fit on the nodes of its partitions if all were idle";
}

std::string_view PlanPass::never_in_sight(const RequestClass& c) const {
  const std::string_view awaited = has_room_when_idle(c) ? std::string_view() : change_awaited(c);
  return awaited.empty() ? "too few of the nodes it could use are up" : awaited;
}

bool PlanPass::has_room_when_idle(const RequestClass& asked) const {
  if (asked.feasible.count() < std::max(asked.shape.min_nodes, 1u)) return false;
  if (!asked.shape.num_tasks || asked.shape.overcommit) return true;
  std::vector<std::pair<uint32_t, size_t>> room;  // tasks per node, nodes
  for (uint32_t k = 0; k < asked.idle_tasks.size(); ++k)
    if (asked.idle_tasks[k] != kNoTasks) room.push_back({asked.idle_tasks[k], asked.feasible.count_and(nodes_.of_kind(k))});
  std::sort(room.rbegin(), room.rend());
  uint64_t tasks = 0, nodes = asked.shape.max_nodes;
  for (const auto& [each, count] : room) {
    const uint64_t n = std::min<uint64_t>(count, nodes);
    tasks += n * each;
    nodes -= n;
  }
  return tasks >= asked.shape.num_tasks;
}

void PlanPass::promise(const Job& job, const std::vector<uint32_t>& classes, Verdict verdict, uint32_t tasks, Place place) {
  for (uint32_t index = 0; index < std::max(tasks, 1u); ++index) {
    if (index >= tasks) place = Place::kTold;
    Profile::Spot best;
    const RequestClass* of = nullptr;
    for (uint32_t id : classes) {
      RequestClass& c = pending_.classes()[id]->shape;
      if (c.never || state_[id].barred) continue;
      const RequestClass* which = &c;
      Profile::Spot spot = earliest_of_class(id, job.eligible, which);
      if (spot.slot >= best.slot) continue;
      best = std::move(spot);
      of = which;
    }
    if (!of) break;
    keep_or_tell(job.id, *of, best, place, verdict);
    if (place == Place::kTold) break;
  }
  if (verdict.expected_start == Time{} && !say_never_within(classes, verdict)) say_why_never(classes, verdict);
  plan_.verdicts.push_back({job.id, std::move(verdict)});
}

Result<Planner::Forecast> PlanPass::forecast(const RequestBody& request, RequestClass asked) {
  const Partition& partition = cluster_.partitions.at(asked.partition);
  resolve(asked, cluster_, nodes_, partition);
  Grant grant;
  Placement now = Later{};
  profile();
  std::optional<Planner::Forecast> over_others;
  if (!held_back(rules_concerning(asked, partition, params_) & foreseen_, request, asked, {}, grant)) {
    const WithinLayers within(asked, grant.layers);
    now = place(nodes_, asked, params_, &profile(), {});
    if (!placed(now)) over_others = OverOthers::forecast(*this, request, asked);
  }
  if (const AllocationPtr* allocation = placed(now)) return Planner::Forecast{now_, asked.partition, *allocation};
  const uint32_t extra = forecasts_++;
  Profile::Spot spot = earliest(static_cast<uint32_t>(pending_.classes().size()) + extra, pending_.families() + extra, asked, now_);
  if (over_others && (spot.slot == kNever || over_others->start <= profile().time_of(spot.slot))) return *over_others;
  if (spot.slot == kNever) return fail(Errc::kRequestedPartConfigUnavailable, {}, std::string(never_in_sight(asked)));
  auto allocation = std::make_shared<Allocation>();
  allocation->whole_nodes = asked.shape.whole;
  for (const auto& part : spot.parts) {
    auto share = choose_on_node(asked.shape, nodes_.kind(part.node), NodeId(part.node), {}, part.tasks, part.job_gres);
    if (!share) return fail(Errc::kRequestedNodeConfigUnavailable);
    allocation->nodes.push_back(std::move(*share));
  }
  return Planner::Forecast{profile().time_of(spot.slot), asked.partition, std::move(allocation)};
}

void PlanPass::say(const Job& job, Reason reason, RareText detail, Time start, RareText nodes) {
  plan_.verdicts.push_back({job.id, Verdict{reason, start, std::move(nodes), std::move(detail)}});
}

void PlanPass::say_parked() {
  pending_.each_parked(now_, [&](JobId id, Verdict verdict) { plan_.verdicts.push_back({id, std::move(verdict)}); });
}

}  // namespace muster::sched
