// The components of a heterogeneous job, which start together or not at all: in one item of the plan. Its turn comes once, for all
// components, wherever the first of them is met (bf_hetjob_prio may make it later). Now they may share nodes, beside promises, too. A place in
// the future is one where they stand on nodes apart, as the guide says; where there is none, places are kept one after the other from the moment
// on at which each could start by itself, and the last of them is when the job is expected to start. guide heterogeneous_jobs; slurm.conf(5).
//
// What is looked for is a first fit (base/first_fit.h): a component takes its nodes, and those after it take theirs of what is left. Where
// they still find nothing for now and the plan has a place for each now, those are taken.
//
// Cost: for a job that waits as much as for its components one by one; a start places each twice, and once more for each component that had
// to go first. A search for places apart is begun anew when a component pushes the start back, at most kTries times.
#include <algorithm>

#include "base/first_fit.h"
#include "sched/pass/apart.h"
#include "sched/pass/pass.h"
#include "sched/pass/room_together.h"
#include "sched/pass/within_layers.h"
#include "sched/place/gang.h"
#include "sched/qos_flags.h"
#include "sched/request/least_wanted.h"
#include "sched/rules/eligibility.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

constexpr uint32_t kTries = 64;
constexpr const char* kNotInSight = "no start within sight for all components together";
constexpr const char* kNotWhenIdle = "the components together would not fit if all nodes were idle";
constexpr Slot kFirst = 1;                       // the first moment that the plan looks at
constexpr uint32_t kNotAlike = Gate::kNotAlike;  // limits are asked with other components counted

template <class Components>
std::vector<ComponentAsked> asked_of(const Components& all, Pending& pending) {
  std::vector<ComponentAsked> out;
  for (const auto& one : all) {
    out.push_back({one.job->request.get(), {}});
    for (uint32_t id : *one.classes) out.back().classes.push_back(&pending.classes()[id]->shape);
  }
  return out;
}

}  // namespace

// All components in their order; true where one is not in the queue, and then every one that is has been told why it waits.
bool PlanPass::lacks_component(const Job& leader, std::vector<Component>& all) {
  const Job* other = nullptr;
  Verdict why;
  for (uint32_t index = 0; index < leader.het.size; ++index) {
    const Job* j = cluster_.jobs.find(leader.het.component(index).value);
    const bool ours = j && j->het.leader == leader.het.leader && j->pending();
    const std::vector<uint32_t>* classes = ours ? &pending_.classes_of(j->id.value) : nullptr;
    if (ours) all.push_back({j, classes});
    if (classes && !classes->empty()) {
      if (!other && why.reason == Reason::kNone) why = not_in_turn(*j, now_);
      continue;
    }
    if (!other && ours) other = j;
    if (ours) why = not_eligible(*j, now_);
    if (why.reason == Reason::kNone) why.reason = Reason::kDependency;
  }
  if (why.reason == Reason::kNone && all.size() == leader.het.size) return false;
  if (why.reason == Reason::kNone) why.reason = Reason::kDependency;
  const std::string detail = other ? "component " + component_name(other->id, other->het) + " of the job waits" : std::string();
  for (const Component& c : all)
    if (c.job != other && !c.classes->empty()) say(*c.job, why.reason, detail, why.expected_start);
  return true;
}

// bf_hetjob_prio: whether the job's turn comes later than now.
bool PlanPass::defer_turn(const std::vector<Component>& all) {
  if (params_.bf.het_turn == BackfillRules::HetTurn::kMax) return false;
  uint64_t sum = 0;
  std::pair<uint32_t, uint32_t> least{tier_, priority_};
  for (const Component& c : all) {
    const uint32_t priority = rule_.of(*c.job);
    sum += priority;
    for (uint32_t id : *c.classes)
      least = std::min(least, std::pair(cluster_.partitions.at(pending_.classes()[id]->shape.partition).priority_tier, priority));
  }
  const bool mean = params_.bf.het_turn == BackfillRules::HetTurn::kAvg;
  const auto [tier, priority] = mean ? std::pair(tier_, static_cast<uint32_t>(sum / all.size())) : least;
  if (tier == tier_ && priority >= priority_) return false;
  due_.push_back({false, false, tier, priority, {0, all.front().job->id.value}, kTogether});
  return true;
}

void PlanPass::meet_component(const Job& met) {
  std::vector<Component> all;
  const Job* leader = cluster_.jobs.find(met.het.leader.value);
  if (!leader || leader->het.leader != met.het.leader) leader = &met;
  for (uint32_t i = 0; i < met.het.size; ++i) done_.insert(met.het.component(i).value);
  if (lacks_component(*leader, all) || defer_turn(all)) return;
  start_together(*leader);
}

void PlanPass::start_together(const Job& leader) {
  std::vector<Component> all;
  if (lacks_component(leader, all)) return;
  if (claims_.has(leader.id.value)) {
    waits_for_room(leader);
    return;
  }
  bool behind = false;
  for (const Component& one : all) {
    if (!backfills() || !any_closed(*one.classes)) continue;
    behind = true;
    std::string kept = limits_.kept_from(one.job->request->uid, one.job->association, partitions(*one.classes));
    if (kept.empty()) break;  // one job, however many components
    for (const Component& c : all) say(*c.job, Reason::kPriority, "backfill looks at no more jobs in a pass: " + kept);
    return;
  }
  const RoomTogether::Outcome got = RoomTogether(*this, all).start_or_make_room();
  if (got.what == Try::kNoRoom) return wait_together(all, *got.which, got.why, got.room_wanted);
  if (behind) limits_.started();
  if (got.what == Try::kClaimed) waits_for_room(leader);
}

// Chooses a class and nodes for a component, beside what was chosen for others; of `only` where that is given. `place_as`: how it is
// placed where that is not among what is free now.
bool PlanPass::choose_one(const Component& one, const std::vector<Chosen>& others, const Bitmap* only, Chosen& chosen, Wait& why,
                          bool& room_wanted, const PlaceAs& place_as) {
  Apart apart(filter(), profile_.get(), nodes_.size());
  for (const Chosen& other : others)
    if (other.allocation) apart.has_chosen(*other.allocation, pending_.classes()[other.class_id]->shape.partition);
  for (uint32_t id : *one.classes) {
    ClassState& state = look_at(id);
    RequestClass& asked = pending_.classes()[id]->shape;
    Grant grant;
    Wait this_why;
    auto holds = [&](RuleSet rules) {
      Hold hold = held_back(state.rules & rules, *one.job->request, asked, {kNotAlike, &state.least}, grant);
      if (hold) this_why = {hold.reason, std::move(hold.detail), true};
      return this_why.ruled;
    };
    bool room = false;
    if (stopped_.has(asked.partition)) {
      this_why.reason = Reason::kPriority;
    } else if (state.barred) {
      this_why = {state.barred.reason, state.barred.detail, true};
    } else if (!holds(~foreseen_)) {
      room = true;
      if (closed_.test(asked.partition) && !backfills()) {
        this_why.reason = Reason::kPriority;
      } else if (!holds(foreseen_)) {
        Placement got = Later{};
        const WithinLayers layered(asked, grant.layers);
        RequestClass within;
        if (only) (within = asked).feasible &= *only;
        if (place_as) got = place_as(asked, apart);
        else if (!state.full) got = place(nodes_, only ? within : asked, params_, &apart, now_ - one.job->eligible, one.job->request->uid);
        const Partition& partition = cluster_.partitions.at(asked.partition);
        const AllocationPtr* allocation = placed(got);
        if (AllocationPtr all = allocation ? with_grant(*allocation, std::move(grant), partition) : nullptr) {
          Chosen here{id, std::move(all)};
          Bar bar = gate_ ? gate_->bars({*one.job->request, partition, asked.time_limit_min, kNotAlike}, *here.allocation) : Bar();
          if (bar.reason == Reason::kNone) {
            chosen = std::move(here);
            return true;
          }
          this_why = {bar.reason, std::move(bar.detail), true};
          room = false;
        } else if (Later* later = std::get_if<Later>(&got)) {
          this_why = {later->reason, later->detail};
          room = later->reason != Reason::kReqNodeNotAvail;
        }  // else never: the search for a place says why
      }
    }
    room_wanted |= room;
    if (id == one.classes->front() || room) why = std::move(this_why);
  }
  return false;
}

// Holds what was chosen until take_back().
void PlanPass::lay_out(const Component& one, const Chosen& chosen) {
  const RequestClass& c = pending_.classes()[chosen.class_id]->shape;
  if (gate_) gate_->started(one.job->request, cluster_.partitions.at(c.partition), chosen.allocation, c.time_limit_min);
  for (const NodeShare& share : chosen.allocation->nodes) nodes_.consume(share, *chosen.allocation, one.job->request->uid, c.partition);
}

void PlanPass::take_back(const std::vector<Component>& all, const std::vector<Chosen>& chosen) {
  for (size_t i = chosen.size(); i-- > 0;) {
    if (!chosen[i].allocation) continue;
    const RequestClass& c = pending_.classes()[chosen[i].class_id]->shape;
    const Allocation& a = *chosen[i].allocation;
    for (const NodeShare& share : a.nodes) nodes_.give_back(share, a, c.partition);
    if (gate_) gate_->taken_back(all[i].job->request, cluster_.partitions.at(c.partition), chosen[i].allocation, c.time_limit_min);
  }
}

// Chooses for all of them, each beside the ones before it, in that of their orders that a first fit finds. Where none is found: the component
// that found nothing, in the order that they have.
std::optional<size_t> PlanPass::choose_together(const std::vector<Component>& all, std::vector<Chosen>& chosen, Wait& why,
                                                bool& room_wanted) {
  std::optional<size_t> first_failed;
  const bool found = first_fit(all.size(), [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    chosen.assign(all.size(), {});
    std::optional<size_t> failed;
    Wait this_why;
    for (size_t i = 0; i < order.size() && !failed; ++i) {
      const size_t at = order[i];
      if (!choose_one(all[at], chosen, nullptr, chosen[at], this_why, room_wanted)) failed = i;
      else lay_out(all[at], chosen[at]);
    }
    take_back(all, chosen);
    if (failed && !first_failed) {
      first_failed = order[*failed];
      why = std::move(this_why);
    }
    return failed;
  });
  return found ? std::nullopt : first_failed;
}

// Where the plan has nodes apart for each of them now, those. What is chosen for now and for later is not always the same, and a job that has
// a place must not wait for another.
bool PlanPass::choose_in_plan(const std::vector<Component>& all, std::vector<Chosen>& chosen) {
  if (!backfills()) return false;
  const Places places = places_apart(all);
  if (places.slot > kFirst) return false;
  chosen.assign(all.size(), {});
  bool found = true;
  for (size_t i = 0; i < all.size() && found; ++i) {
    Bitmap nodes(nodes_.size());
    for (const auto& part : places.of[i].second.parts) nodes.set(part.node);
    Wait why;
    bool room_wanted = false;
    found = choose_one(all[i], chosen, &nodes, chosen[i], why, room_wanted);
    if (found) lay_out(all[i], chosen[i]);
  }
  take_back(all, chosen);
  return found;
}

void PlanPass::begin_together(const std::vector<Component>& all, std::vector<Chosen> chosen) {
  const size_t first = plan_.starts.size();
  for (size_t i = 0; i < all.size(); ++i) {
    priority_ = rule_.of(*all[i].job);
    const uint32_t limit = pending_.classes()[chosen[i].class_id]->shape.time_limit_min;
    began(*all[i].job, chosen[i].class_id, kNoArrayTask, limit, std::move(chosen[i].allocation));
  }
  StartItem whole = std::move(plan_.starts[first]);
  for (size_t i = first + 1; i < plan_.starts.size(); ++i) whole.together.push_back(std::move(plan_.starts[i]));
  plan_.starts.resize(first);
  plan_.starts.push_back(std::move(whole));
}

// The job does not start now, because of component `which`.
void PlanPass::wait_together(const std::vector<Component>& all, const Component& which, const Wait& why, bool room_wanted) {
  bool behind = false;
  for (const Component& c : all) behind |= any_closed(*c.classes);
  if (why.ruled) stopped_.note(pending_.classes()[which.classes->front()]->shape.partition, why.reason);
  const Reason reason = why.ruled || !room_wanted ? why.reason : behind ? Reason::kPriority : awaited(*which.classes);
  std::string detail = why.detail;
  if (!detail.empty()) detail = "component " + component_name(which.job->id, which.job->het) + ": " + detail;
  const bool kept = room_wanted && std::ranges::all_of(all, [&](const Component& c) {
                      const PlaceByQos as = place_by_qos(cluster_, c.job->request->qos);
                      return as.may && limits_.keeps_place(c.job->eligible, priority_, partitions(*c.classes), as.least_priority);
                    });
  // Without backfill nobody passes a job that waits, so one that has no room beside itself must not be waited for.
  if (room_wanted && !why.ruled && !params_.backfill && !fit_together(cluster_, params_, asked_of(all, pending_), deserted()))
    return say_no_room_together(all, reason);
  if (kept && !why.ruled)
    for (const Component& c : all) close_partitions(*c.classes);
  if (room_wanted && backfills()) promise_together(all, reason, kept ? Place::kKept : Place::kTold);
  else
    for (const Component& c : all) say(*c.job, reason, c.job == which.job ? why.detail : detail);
  const auto waits = [&](const Component& c) { return wants_power(nodes_, pending_, *c.classes); };
  if (kept && !why.ruled && std::ranges::any_of(all, waits)) nodes_.keep_room_to_wake();
}

// There is no room for all of them on the nodes that are up, or on any.
void PlanPass::say_no_room_together(const std::vector<Component>& all, Reason reason) {
  const bool possible = fit_on_all_nodes(all);
  for (const Component& c : all) say(*c.job, possible ? reason : Reason::kBadConstraints, possible ? kNotInSight : kNotWhenIdle);
}

// The earliest start of one component at `from` or later, on nodes that are not in `without`; in the class of it that can be first.
Profile::Spot PlanPass::earliest_component(const Component& one, const Bitmap& without, Slot from, uint32_t first_id, RequestClass& of) {
  Profile::Spot best;
  uint32_t id = first_id;
  for (uint32_t class_id : *one.classes) {
    const uint32_t own = id++;
    look_at(class_id);
    const RequestClass& known = pending_.classes()[class_id]->shape;
    if (known.never || state_[class_id].barred) continue;
    RequestClass c = known;
    c.feasible -= without;
    if (c.required.intersects(without)) continue;
    Profile::Spot spot = profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + own, pending_.families() + own, c, from);
    if (spot.slot >= best.slot) continue;
    best = std::move(spot);
    of = std::move(c);
  }
  return best;
}

// The first moment at which all of them have room, each on nodes of its own.
PlanPass::Places PlanPass::places_apart(const std::vector<Component>& all) {
  Places out;
  Slot at = kFirst;
  const uint32_t first = forecasts_;
  for (const Component& c : all) forecasts_ += static_cast<uint32_t>(c.classes->size());
  for (uint32_t tries = 0; tries < kTries; ++tries) {
    out.of.clear();
    Bitmap used(nodes_.size());
    uint32_t id = first;
    Slot latest = at;
    for (const Component& one : all) {
      RequestClass of;
      Profile::Spot spot = earliest_component(one, used, at, id, of);
      id += static_cast<uint32_t>(one.classes->size());
      if (spot.slot == kNever) return {};
      latest = std::max(latest, spot.slot);
      if (latest > at) break;
      for (const auto& part : spot.parts) used.set(part.node);
      out.of.emplace_back(std::move(of), std::move(spot));
    }
    out.slot = at;
    if (latest == at) return out;
    at = latest;
  }
  return {};
}

// The nodes as they are when all jobs have gone; those that are down stay so.
const Availability& PlanPass::deserted() {
  if (deserted_) return *deserted_;
  deserted_ = std::make_unique<Availability>(nodes_);
  auto leave = [&](const Allocation& a, uint32_t partition) {
    for (const NodeShare& share : a.nodes)
      if (deserted_->known().test(share.node.value)) deserted_->give_back(share, a, partition);
  };
  for (const auto& [id, r] : pending_.running())
    if (!r.finished) leave(*r.allocation, r.partition);
  for (const StartItem& s : plan_.starts) {
    leave(*s.allocation, s.partition);
    for (const StartItem& other : s.together) leave(*other.allocation, other.partition);
  }
  return *deserted_;
}

bool PlanPass::fit_on_all_nodes(const std::vector<Component>& all) const {
  Availability ideal;
  ideal.update(cluster_.nodes, params_, true);
  return fit_together(cluster_, params_, asked_of(all, pending_), ideal);
}

// Places one after the other, none before the moment at which each could start by itself. They are promised as they are found.
PlanPass::Places PlanPass::places_in_turn(const std::vector<Component>& all) {
  Places out;
  const Bitmap nobody(nodes_.size());
  Slot at = kFirst;
  for (int round = 0; round < 2; ++round)
    for (const Component& one : all) {
      RequestClass of;
      const uint32_t id = std::exchange(forecasts_, forecasts_ + static_cast<uint32_t>(one.classes->size()));
      Profile::Spot spot = earliest_component(one, nobody, at, id, of);
      if (spot.slot == kNever) return {};
      if (round == 0) {
        at = std::max(at, spot.slot);
        continue;
      }
      Verdict here;  // the whole job's is another
      keep_or_tell(one.job->id, of, spot, Place::kKept, here);
      out.slot = out.of.empty() ? spot.slot : std::max(out.slot, spot.slot);
      out.of.emplace_back(std::move(of), std::move(spot));
    }
  return out;
}

void PlanPass::promise_together(const std::vector<Component>& all, Reason reason, Place place) {
  Places found = places_apart(all);
  // Nodes that are idle already, and still they did not start: the plan counts, and what it counted could not be laid out. To keep those nodes
  // would keep them for ever.
  const bool idle = std::ranges::all_of(found.of, [&](const auto& place) {
    return std::ranges::all_of(place.second.parts, [&](const auto& part) { return nodes_.idle().test(part.node); });
  });
  if (found.slot == kFirst && idle) found = {};
  const bool apart = found.slot != kNever;
  const bool in_turn = !apart && place == Place::kKept && fit_together(cluster_, params_, asked_of(all, pending_), deserted());
  if (in_turn) found = places_in_turn(all);
  const bool possible = apart || in_turn || fit_on_all_nodes(all);
  for (size_t index = 0; index < all.size(); ++index) {
    Verdict verdict;
    verdict.reason = reason;
    if (found.slot == kNever) {
      RequestClass of;
      const uint32_t id = std::exchange(forecasts_, forecasts_ + static_cast<uint32_t>(all[index].classes->size()));
      if (earliest_component(all[index], Bitmap(nodes_.size()), kFirst, id, of).slot == kNever) say_why_never(*all[index].classes, verdict);
      else verdict.detail = kNotInSight;
      if (!possible && verdict.reason != Reason::kBadConstraints) {
        verdict.reason = Reason::kBadConstraints;
        verdict.detail = kNotWhenIdle;
      }
    } else {
      const auto& [of, spot] = found.of[index];
      keep_or_tell(all[index].job->id, of, spot, apart ? place : Place::kTold, verdict);
      verdict.expected_start = profile().time_of(found.slot);
    }
    plan_.verdicts.push_back({all[index].job->id, std::move(verdict)});
  }
}

}  // namespace muster::sched
