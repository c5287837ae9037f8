#include "sched/pass/room_together.h"

#include <algorithm>

#include "base/first_fit.h"
#include "sched/pass/within_layers.h"

namespace muster::sched {

PlanPass::RoomTogether::Outcome PlanPass::RoomTogether::start_or_make_room() {
  Outcome out;
  for (const Component& one : all_) {  // first each by itself: most jobs that wait are found out here, and nothing is laid out in vain
    Chosen alone;
    if (!out.which && !p_.choose_one(one, {}, nullptr, alone, out.why, out.room_wanted)) out.which = &one;
  }
  std::vector<Chosen> chosen(all_.size());
  const auto failed = out.which ? std::nullopt : p_.choose_together(all_, chosen, out.why, out.room_wanted);
  if (failed && (out.why.ruled || !p_.choose_in_plan(all_, chosen))) out.which = &all_[*failed];
  if (!out.which) {
    p_.begin_together(all_, std::move(chosen));
    out.what = Try::kStarted;
  } else if (!out.why.ruled && out.room_wanted && make_room()) {
    out.what = Try::kClaimed;
  }
  return out;
}

void PlanPass::RoomTogether::settle(PlanPass& pass, const Job& leader) {
  std::vector<Component> all;
  for (uint32_t i = 0; i < leader.het.size; ++i) pass.done_.insert(leader.het.component(i).value);
  if (!pass.lacks_component(leader, all)) {
    const Try got = RoomTogether(pass, all).start_or_make_room().what;
    if (got == Try::kStarted) return;
    if (got == Try::kClaimed) pass.waits_for_room(leader);
    for (const Component& one : all)
      if (got == Try::kNoRoom) pass.done_.erase(one.job->id.value);
  }
  pass.plan_.released_claims.push_back(leader.id);
}

bool PlanPass::RoomTogether::make_room() {
  const bool preempts = std::ranges::any_of(all_, [&](const Component& one) {
    return std::ranges::any_of(*one.classes, [&](uint32_t id) {
      const Partition& partition = p_.cluster_.partitions.at(p_.pending_.classes()[id]->shape.partition);
      return p_.preempt_rule_.preempts(partition, *one.job->request);
    });
  });
  if (!preempts) return false;
  if (!p_.occupants_) p_.occupants_ = std::make_unique<Occupants>(p_.cluster_, p_.preempt_rule_, p_.pending_, p_.nodes_.size(), p_.now_);
  Victims victims;
  std::vector<Chosen> chosen;
  if (!find_victims(victims) || victims.empty() || !choose_without(victims, chosen)) return false;
  drop_needless(victims, chosen);
  if (victims.empty()) return false;
  claim(chosen, victims);
  return true;
}

bool PlanPass::RoomTogether::find_victims(Victims& victims) {
  return first_fit(all_.size(), [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    std::vector<Chosen> chosen(all_.size());
    std::optional<size_t> failed;
    victims.clear();
    for (size_t i = 0; i < order.size() && !failed; ++i) {
      const size_t at = order[i];
      if (!find_victims_of(all_[at], chosen, chosen[at], victims)) failed = i;
      else p_.lay_out(all_[at], chosen[at]);
    }
    p_.take_back(all_, chosen);
    return failed;
  });
}

// Adds to the victims so far those whom the component needs beyond them.
bool PlanPass::RoomTogether::find_victims_of(const Component& one, const std::vector<Chosen>& others, Chosen& chosen, Victims& victims) {
  Apart apart(p_.filter(), p_.profile_.get(), p_.nodes_.size());
  for (const Chosen& other : others)
    if (other.allocation) apart.has_chosen(*other.allocation, p_.pending_.classes()[other.class_id]->shape.partition);
  for (uint32_t id : *one.classes) {
    ClassState& state = p_.look_at(id);
    RequestClass& asked = p_.pending_.classes()[id]->shape;
    if (asked.never || state.barred || p_.stopped_.has(asked.partition)) continue;
    if (p_.closed_.test(asked.partition) && !p_.backfills()) continue;
    Grant grant;
    if (p_.held_back(state.rules, *one.job->request, asked, {Gate::kNotAlike, &state.least}, grant)) continue;
    const WithinLayers within(asked, grant.layers);
    const Partition& partition = p_.cluster_.partitions.at(asked.partition);
    const Preemptor who{*one.job->request, partition, p_.rule_.of(*one.job), asked.shape.exclusive_user, true};
    const std::optional<MadeRoom> room = VictimSearch(p_.nodes_, asked, p_.params_, &apart, *p_.occupants_, p_.preempt_rule_, who,
                                                      p_.now_ - one.job->eligible, those_it_may_end(one, asked, victims))
                                             .run();
    if (!room) continue;
    chosen = {id, room->allocation};
    for (uint32_t v : room->victims)
      if (std::ranges::find(victims, v) == victims.end()) victims.push_back(v);
    return true;
  }
  return false;
}

PlanPass::RoomTogether::Victims PlanPass::RoomTogether::those_it_may_end(const Component& one, const RequestClass& asked,
                                                                         const Victims& some) const {
  const Partition& partition = p_.cluster_.partitions.at(asked.partition);
  const Preemptor who{*one.job->request, partition, p_.rule_.of(*one.job), asked.shape.exclusive_user, true};
  Victims out;
  std::ranges::copy_if(some, std::back_inserter(out), [&](uint32_t v) { return p_.preempt_rule_.may(who, *p_.occupants_->at(v).job); });
  return out;
}

// Where the component stands when those of them have gone whom it may end. What the class remembers of fuller nodes means nothing then, and
// where it would rather be is not worth anybody's place.
Placement PlanPass::RoomTogether::place_without(const Component& one, const RequestClass& asked, const Apart& apart, const Victims& gone) {
  RequestClass anew = asked;
  anew.preferred = nullptr;
  anew.blocked_at = anew.too_full_at = 0;
  anew.too_full = Bitmap();
  const Victims lifted = those_it_may_end(one, asked, gone);
  for (uint32_t v : lifted) p_.occupants_->lift(v, p_.nodes_);
  Placement got = place(p_.nodes_, anew, p_.params_, &apart, p_.now_ - one.job->eligible, one.job->request->uid);
  for (uint32_t v : lifted) p_.occupants_->put_back(v, p_.nodes_);
  return got;
}

bool PlanPass::RoomTogether::choose_without(const Victims& gone, std::vector<Chosen>& chosen) {
  return first_fit(all_.size(), [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    chosen.assign(all_.size(), {});
    std::optional<size_t> failed;
    for (size_t i = 0; i < order.size() && !failed; ++i) {
      const Component& one = all_[order[i]];
      Chosen& here = chosen[order[i]];
      Wait why;
      bool room_wanted = false;
      const PlaceAs without = [&](const RequestClass& asked, const Apart& apart) { return place_without(one, asked, apart, gone); };
      if (!p_.choose_one(one, chosen, nullptr, here, why, room_wanted, without)) failed = i;
      else p_.lay_out(one, here);
    }
    p_.take_back(all_, chosen);
    return failed;
  });
}

void PlanPass::RoomTogether::drop_needless(Victims& victims, std::vector<Chosen>& chosen) {
  Victims dearest_first = victims;
  std::ranges::sort(dearest_first, [&](uint32_t a, uint32_t b) {
    const Occupant &x = p_.occupants_->at(a), &y = p_.occupants_->at(b);
    return x.rank != y.rank ? x.rank > y.rank : x.cost != y.cost ? x.cost > y.cost : a > b;
  });
  for (uint32_t v : dearest_first) {
    Victims fewer = victims;
    std::erase(fewer, v);
    std::vector<Chosen> there;
    if (!choose_without(fewer, there)) continue;
    victims = std::move(fewer);
    chosen = std::move(there);
  }
  std::ranges::sort(victims);
}

void PlanPass::RoomTogether::claim(const std::vector<Chosen>& chosen, const Victims& victims) {
  std::vector<StartItem> items;
  std::vector<Claimed> parts;
  for (size_t at = 0; at < all_.size(); ++at) {
    const Job& job = *all_[at].job;
    const RequestClass& asked = p_.pending_.classes()[chosen[at].class_id]->shape;
    parts.push_back({&job, asked.partition, asked.time_limit_min, chosen[at].allocation});
    StartItem item{job.id, kNoArrayTask, asked.partition, chosen[at].allocation};
    item.priority = p_.rule_.of(job);
    item.request = job.request;
    items.push_back(std::move(item));
  }
  const StartItem first = items.front();
  items.erase(items.begin());
  p_.hold_for({first.job, kNoArrayTask, first.partition, first.allocation, {}, first.priority, first.request, std::move(items)}, parts,
              victims);
}

}  // namespace muster::sched
