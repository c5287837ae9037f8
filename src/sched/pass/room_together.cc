#include "sched/pass/room_together.h"

#include <algorithm>

#include "base/first_fit.h"
#include "sched/pass/within_layers.h"
#include "sched/preempt/license_victims.h"

namespace muster::sched {
namespace {

// Jobs that are lifted, laid on again as long as this lives, but for what others have been given in their place since.
class There {
 public:
  explicit There(Availability& nodes) : nodes_(nodes) {}
  ~There() {
    for (size_t i = laid_.size(); i-- > 0;) nodes_.give_back(laid_[i].share, *laid_[i].job->allocation, laid_[i].job->partition);
  }
  There(const There&) = delete;
  There& operator=(const There&) = delete;
  void add(const Occupant& occupant) {
    for (NodeShare share : occupant.shares) {
      if (!nodes_.known().test(share.node.value)) continue;
      const NodeUse use = nodes_.use(share.node.value);
      share.cpus -= use.cpus;
      for (GresShare& kept : share.gres) {
        if (kept.devices.none()) continue;
        for (const GresShare& held : use.gres)
          if (held.name == kept.name && held.shares.empty()) kept.devices -= held.devices;
        if (kept.shares.empty()) kept.count = kept.devices.count();
      }
      std::erase_if(share.gres, [](const GresShare& g) { return g.count == 0; });
      nodes_.consume(share, *occupant.job->allocation, occupant.job->request->uid, occupant.job->partition);
      laid_.push_back({std::move(share), occupant.job});
    }
  }

 private:
  struct Laid {
    NodeShare share;
    const Job* job;
  };
  Availability& nodes_;
  std::vector<Laid> laid_;
};

void give_back_licenses(Held& held, const Occupant& o) { held.licenses.give_back(o.job->allocation->licenses); }

}  // namespace

// Jobs that are off the supply as long as this lives, and do not hold their licences where these may be reclaimed.
class PlanPass::RoomTogether::Lifted {
 public:
  explicit Lifted(PlanPass& pass) : p_(pass), held_(pass.held_.held()) {
    if (p_.params_.preempt.reclaim_licenses) p_.if_gone_ = &held_;
  }
  ~Lifted() {
    for (size_t i = gone_.size(); i-- > 0;) p_.occupants_->put_back(gone_[i], p_.nodes_);
    p_.if_gone_ = nullptr;
  }
  Lifted(const Lifted&) = delete;
  Lifted& operator=(const Lifted&) = delete;
  void add(uint32_t index) {
    if (std::ranges::find(gone_, index) != gone_.end()) return;
    p_.occupants_->lift(index, p_.nodes_);
    give_back_licenses(held_, p_.occupants_->at(index));
    gone_.push_back(index);
  }

 private:
  PlanPass& p_;
  Held held_;
  std::vector<uint32_t> gone_;
};

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
  } else if (room_would_help(out) && make_room()) {
    out.what = Try::kClaimed;
  }
  return out;
}

// What a rule holds back others cannot change by ending, but for the licences that they hold.
bool PlanPass::RoomTogether::room_would_help(const Outcome& out) const {
  const bool lacks_licenses = out.why.reason == Reason::kLicenses && p_.params_.preempt.reclaim_licenses;
  return out.room_wanted && (!out.why.ruled || lacks_licenses);
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
  std::vector<Asked> like_it = asked();
  if (p_.no_room_made_together_.contains(like_it)) return false;
  if (search_room()) return true;
  p_.no_room_made_together_.insert(std::move(like_it));
  return false;
}

// What is the same for jobs that find the same room.
std::vector<PlanPass::Asked> PlanPass::RoomTogether::asked() const {
  std::vector<Asked> out;
  for (const Component& one : all_) {
    for (uint32_t id : *one.classes) out.push_back({id, one.job->request->uid.value, p_.rule_.of(*one.job), one.job->request->qos});
    out.push_back({kTogether, 0, 0, {}});  // where its classes end
  }
  return out;
}

bool PlanPass::RoomTogether::search_room() {
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
    Lifted lifted(p_);
    for (size_t i = 0; i < order.size() && !failed; ++i) {
      const size_t at = order[i];
      if (!find_victims_of(all_[at], chosen, chosen[at], victims)) {
        failed = i;
        continue;
      }
      for (uint32_t v : victims) lifted.add(v);
      p_.lay_out(all_[at], chosen[at]);
    }
    p_.take_back(all_, chosen);
    return failed;
  });
}

// Adds to the victims so far, who are lifted, those whom the component needs beyond them.
bool PlanPass::RoomTogether::find_victims_of(const Component& one, const std::vector<Chosen>& others, Chosen& chosen, Victims& victims) {
  Apart apart(p_.filter(), p_.profile_.get(), p_.nodes_.size());
  for (const Chosen& other : others)
    if (other.allocation) apart.has_chosen(*other.allocation, p_.pending_.classes()[other.class_id]->shape.partition);
  for (uint32_t id : *one.classes) {
    ClassState& state = p_.look_at(id);
    RequestClass& asked = p_.pending_.classes()[id]->shape;
    if (asked.never || state.barred || p_.stopped_.has(asked.partition)) continue;
    if (p_.closed_.test(asked.partition) && !p_.backfills()) continue;
    const Partition& partition = p_.cluster_.partitions.at(asked.partition);
    const Preemptor who{*one.job->request, partition, p_.rule_.of(*one.job), asked.shape.exclusive_user, true};
    Grant grant;
    std::optional<Victims> givers = givers_of(one, asked, who, state, victims, grant);
    if (!givers) continue;
    const WithinLayers within(asked, grant.layers);
    Victims gone;
    There there(p_.nodes_);
    for (uint32_t v : victims) {
      if (may_end(one, asked, v)) gone.push_back(v);
      else there.add(p_.occupants_->at(v));
    }
    VictimSearch search(p_.nodes_, asked, p_.params_, &apart, *p_.occupants_, p_.preempt_rule_, who, p_.now_ - one.job->eligible,
                        std::move(*givers));
    search.without(gone);
    const std::optional<MadeRoom> room = search.run();
    if (!room) continue;
    chosen = {id, room->allocation};
    for (uint32_t v : room->victims)
      if (std::ranges::find(victims, v) == victims.end()) victims.push_back(v);
    return true;
  }
  return false;
}

// Who has to give up licences beyond those that are lifted, and what the component gets then; nothing: it is held back whoever does.
std::optional<PlanPass::RoomTogether::Victims> PlanPass::RoomTogether::givers_of(const Component& one, const RequestClass& asked,
                                                                                 const Preemptor& who, const ClassState& of,
                                                                                 const Victims& lifted, Grant& grant) {
  const auto free_with = [&](RuleSet rules, const Victims& more) {
    Held have = p_.if_gone_ ? *p_.if_gone_ : p_.held_.held();
    for (uint32_t v : more)
      if (std::ranges::find(lifted, v) == lifted.end()) give_back_licenses(have, p_.occupants_->at(v));
    grant = {};
    return !p_.held_back(rules, *one.job->request, asked, {Gate::kNotAlike, &of.least}, grant, &have);
  };
  const RuleSet foreseen = of.rules & p_.foreseen_;
  if (!free_with(of.rules & ~p_.foreseen_, {})) return std::nullopt;
  if (free_with(foreseen, {})) return Victims{};
  if (!p_.params_.preempt.reclaim_licenses) return std::nullopt;
  const auto enough = [&](const Victims& some) { return free_with(foreseen, some); };
  std::optional<Victims> givers = license_victims(*p_.occupants_, p_.preempt_rule_, who, asked.shape.licenses, enough);
  if (givers && !enough(*givers)) givers.reset();  // what it gets is of these, not of those that were tried last
  return givers;
}

bool PlanPass::RoomTogether::may_end(const Component& one, const RequestClass& asked, uint32_t victim) const {
  const Partition& partition = p_.cluster_.partitions.at(asked.partition);
  const Preemptor who{*one.job->request, partition, p_.rule_.of(*one.job), asked.shape.exclusive_user, true};
  return p_.preempt_rule_.may(who, *p_.occupants_->at(victim).job);
}

// Where the component stands when they have gone, who are lifted. What the class remembers of fuller nodes means nothing then, and where it
// would rather be is not worth anybody's place.
Placement PlanPass::RoomTogether::place_without(const Component& one, const RequestClass& asked, const Apart& apart, const Victims& gone) {
  RequestClass anew = asked.unchanged ? *asked.unchanged : asked;  // nor is a reboot
  anew.preferred = nullptr;
  anew.blocked_at = anew.too_full_at = 0;
  anew.too_full = Bitmap();
  There there(p_.nodes_);
  for (uint32_t v : gone)
    if (!may_end(one, asked, v)) there.add(p_.occupants_->at(v));
  return place(p_.nodes_, anew, p_.params_, &apart, p_.now_ - one.job->eligible, one.job->request->uid);
}

bool PlanPass::RoomTogether::choose_without(const Victims& gone, std::vector<Chosen>& chosen) {
  Lifted lifted(p_);
  for (uint32_t v : gone) lifted.add(v);
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
    item.reservation = asked.reservation;
    items.push_back(std::move(item));
  }
  const StartItem first = items.front();
  items.erase(items.begin());
  p_.hold_for(
      {first.job, kNoArrayTask, first.partition, first.allocation, {}, first.priority, first.request, std::move(items), first.reservation},
      parts, victims);
}

}  // namespace muster::sched
