// The part of a pass in which jobs make room for others: claims of earlier passes first, then whoever finds no room at its turn.
#include <algorithm>

#include "sched/pass/over_others.h"
#include "sched/pass/pass.h"
#include "sched/pass/room_together.h"
#include "sched/pass/within_layers.h"
#include "sched/preempt/license_victims.h"

namespace muster::sched {
namespace {

constexpr std::string_view kMakeRoom = "jobs are ending to make room for it";

// What is held for a job counts against limits as if it ran there: others must not take what the limits leave to it.
void count_claim(Gate* gate, const Cluster& cluster, const Claims::Part& part, bool held) {
  const Partition* partition = cluster.partitions.find(part.partition);
  if (!gate || !partition) return;
  if (held) gate->started(part.job->request, *partition, part.allocation, part.job->time_limit_min);
  else gate->taken_back(part.job->request, *partition, part.allocation, part.job->time_limit_min);
}

}  // namespace

// Those whose victims are gone start before anybody is looked at: what was freed was freed for them.
void PlanPass::settle_claims() {
  if (claims_.empty()) return;
  for (const Allocation& kept : claims_.kept_licenses()) held_.add({kept});
  claims_.each_part([&](const Claims::Part& part) { count_claim(gate_.get(), cluster_, part, true); });
  std::vector<Profile::Held> held = claims_.lay(nodes_);
  started_.insert(started_.end(), std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
  for (uint32_t id : claims_.ready()) settle_claim(id);
}

void PlanPass::settle_claim(uint32_t id) {
  const Job* job = cluster_.jobs.find(id);
  claims_.each_part(id, [&](const Claims::Part& part) { count_claim(gate_.get(), cluster_, part, false); });
  claims_.lift(id, nodes_);
  claims_.forget(id);
  if (!job) return;
  if (job->het) return RoomTogether::settle(*this, *job);
  const std::vector<uint32_t> classes = pending_.classes_of(id);  // none: it was held, or waits for something else
  priority_ = rule_.of(*job);
  Try got = Try::kNoRoom;
  if (not_in_turn(*job, now_).reason == Reason::kNone)
    for (uint32_t c : classes) {
      Wait why;
      got = try_class(*job, c, kNoArrayTask, why);
      if (got == Try::kStarted || got == Try::kClaimed) break;
    }
  if (got == Try::kClaimed) waits_for_room(*job);
  if (got == Try::kStarted || got == Try::kClaimed) done_.insert(id);
  if (got != Try::kStarted) plan_.released_claims.push_back(job->id);  // before it is to have another one
}

// Of a heterogeneous job its leader stands for all components.
bool PlanPass::waits_for_room(const Job& job) {
  const Time made = claims_.made_by(job.id.value);
  for (uint32_t i = 0; i < std::max<uint32_t>(job.het.size, 1); ++i)
    if (const Job* one = job.het ? cluster_.jobs.find(job.het.component(i).value) : &job)
      say(*one, Reason::kResources, std::string(kMakeRoom), made > now_ ? made : Time{});
  return true;
}

PlanPass::Try PlanPass::make_room(const Job& job, uint32_t class_id, uint32_t array_task, Wait& why, const NodeFilter* filter, Grant grant,
                                  bool lacks_licenses) {
  RequestClass& wanted = pending_.classes()[class_id]->shape;
  const Partition& partition = cluster_.partitions.at(wanted.partition);
  if (wanted.never || claims_.has(job.id.value) || !preempt_rule_.preempts(partition, *job.request)) return Try::kNoRoom;
  if (lacks_licenses && !params_.preempt.reclaim_licenses) return Try::kNoRoom;
  const Asked asked{class_id, job.request->uid.value, priority_, job.request->qos};
  if (no_room_made_.contains(asked)) return Try::kNoRoom;
  if (!occupants_) occupants_ = std::make_unique<Occupants>(cluster_, preempt_rule_, pending_, nodes_.size(), now_);
  const Preemptor who{*job.request, partition, priority_, wanted.shape.exclusive_user};
  std::optional<std::vector<uint32_t>> givers(std::in_place);  // of licences
  if (lacks_licenses) {
    const auto enough = [&](const std::vector<uint32_t>& some) {
      Held have = held_.held();
      for (uint32_t v : some) have.licenses.give_back(occupants_->at(v).job->allocation->licenses);
      grant = {};
      const ClassState& state = state_[class_id];
      return !held_back(state.rules & foreseen_, *job.request, wanted, {class_id, &state.least}, grant, &have);
    };
    givers = license_victims(*occupants_, preempt_rule_, who, wanted.shape.licenses, enough);
    if (givers && !enough(*givers)) givers.reset();  // what it gets is of these, not of those that were tried last
  }
  std::optional<MadeRoom> room;
  const WithinLayers within(wanted, grant.layers);
  if (givers)
    room = VictimSearch(nodes_, wanted, params_, filter, *occupants_, preempt_rule_, who, now_ - job.eligible, std::move(*givers)).run();
  if (room) room->allocation = with_grant(room->allocation, std::move(grant), partition);
  if (!room || !room->allocation) {
    no_room_made_.insert(asked);
    return Try::kNoRoom;
  }
  if (Bar bar = over_limit(job, class_id, wanted.time_limit_min, *room->allocation); bar.reason != Reason::kNone) {
    why = {bar.reason, std::move(bar.detail), true};
    stopped_.note(wanted.partition, why.reason);
    return Try::kBarred;
  }
  std::vector<uint32_t> ending;
  std::ranges::copy_if(room->victims, std::back_inserter(ending),
                       [&](uint32_t v) { return occupants_->at(v).how != PreemptHow::kSuspend; });
  if (!ending.empty()) {
    hold_for({job.id, array_task, wanted.partition, room->allocation, {}, priority_, job.request, {}, wanted.reservation},
             {{&job, wanted.partition, wanted.time_limit_min, room->allocation}}, ending);
    return Try::kClaimed;
  }
  started_over(job, class_id, array_task, *room);
  return Try::kStarted;
}

std::optional<Planner::Forecast> PlanPass::OverOthers::forecast(PlanPass& pass, const RequestBody& request, const RequestClass& asked) {
  const Partition& partition = pass.cluster_.partitions.at(asked.partition);
  const PreemptRule& rule = pass.preempt_rule_;
  if (asked.never || !rule.preempts(partition, request)) return std::nullopt;
  std::unique_ptr<Occupants>& there = pass.occupants_;
  if (!there) there = std::make_unique<Occupants>(pass.cluster_, rule, pass.pending_, pass.nodes_.size(), pass.now_);
  const Preemptor who{request, partition, 0, asked.shape.exclusive_user};
  const std::optional<MadeRoom> room = VictimSearch(pass.nodes_, asked, pass.params_, pass.filter(), *there, rule, who, {}).run();
  if (!room || !room->allocation) return std::nullopt;
  Time start = pass.now_;
  for (uint32_t v : room->victims)
    if (there->at(v).how != PreemptHow::kSuspend) start = std::max(start, pass.now_ + rule.grace(*there->at(v).job));
  return Planner::Forecast{start, asked.partition, room->allocation};
}

// The job starts at once; those whose CPUs it takes are suspended.
void PlanPass::started_over(const Job& job, uint32_t class_id, uint32_t array_task, const MadeRoom& room) {
  const RequestClass& c = pending_.classes()[class_id]->shape;
  began(job, class_id, array_task, c.time_limit_min, room.allocation);
  StartItem& item = plan_.starts.back();
  for (uint32_t v : room.victims) {
    item.over.push_back(occupants_->at(v).job->id);
    occupants_->set_aside(v);
  }
}

// Others end first. Until then their place is the job's already, and what they hold beyond it nobody's.
void PlanPass::hold_for(PreemptItem item, const std::vector<Claimed>& parts, const std::vector<uint32_t>& ending) {
  if (gate_)
    for (const Claimed& p : parts) gate_->started(p.job->request, cluster_.partitions.at(p.partition), p.allocation, p.limit_min);
  std::vector<const Allocation*> taken, allocations;
  for (const Claimed& p : parts) taken.push_back(p.allocation.get());
  const Allocation all = held_together(taken);
  uint32_t last = 1;
  for (uint32_t v : ending) {
    const Occupant& o = occupants_->at(v);
    item.victims.push_back(o.job->id);
    allocations.push_back(o.job->allocation.get());
    last = std::max(last, static_cast<uint32_t>(to_seconds(preempt_rule_.grace(*o.job)) / 60 + 1));
    occupants_->lift(v, nodes_);
    occupants_->take(v);
    yielding_.insert(o.job->id.value);
  }
  auto rest = std::make_shared<Allocation>(*allocations.front());
  rest->fenced.clear();
  rest->licenses = licenses_beyond(licenses_of(allocations), all.licenses);
  rest->nodes = beyond_claim(allocations, all);
  Allocation kept;  // the victims have the others still
  kept.licenses = licenses_beyond(all.licenses, licenses_of(allocations));
  if (held_.counts()) held_.add({kept});
  for (const Claimed& p : parts) {
    for (const NodeShare& share : p.allocation->nodes) nodes_.consume(share, *p.allocation, p.job->request->uid, p.partition);
    if (profile_) profile_->started(*p.allocation, p.limit_min, p.partition);
    else started_.push_back({p.allocation, p.limit_min, p.partition});
  }
  for (const NodeShare& share : rest->nodes)
    if (nodes_.known().test(share.node.value)) nodes_.consume(share, *rest, item.request->uid, item.partition);
  if (!profile_) started_.push_back({std::move(rest), last, item.partition});
  plan_.preemptions.push_back(std::move(item));
}

}  // namespace muster::sched
