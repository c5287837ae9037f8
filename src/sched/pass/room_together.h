// RoomTogether: others make room for all components of a heterogeneous job, or for none. guides preempt, heterogeneous_jobs; slurm.conf(5)
// PreemptMode.
//
//   components in a pass → whether they start now, wait for others to end (one claim for all of them in the plan), or find no room
//
// Each component looks for its victims beside what those before it have chosen; who has been chosen by then costs it nothing. Then each of all
// victims, the dearest first, is put back for a trial, and stays where all components still fit: nobody ends who is not needed, and nobody ends
// unless all of them fit when the victims have gone. A component may stand in the place of those alone whom it may end itself: its partition
// and its QOS say so, whatever the others' say; for it the rest are there, with what nobody has taken in their place. While a trial lasts, its victims
// are off the supply, and what is laid on it is taken off again in the opposite order: devices are sets, of which only that is undone exactly.
// Nobody is suspended for such a job. With reclaim_licenses its victims' licences are given back with the rest, and a component that lacks
// licences has victims for them first (preempt/license_victims.h).
//
// Cost: a search for each component (preempt/victims.h) and a placement of each for every victim; at most once for each component that had to
// go first (base/first_fit.h). In a pass once for all jobs of equal components that find no room. Nothing where no component may preempt anybody.
#pragma once

#include "sched/pass/pass.h"

namespace muster::sched {

class PlanPass::RoomTogether {
 public:
  // `all`: the components of a job, all of them in the queue.
  RoomTogether(PlanPass& pass, const std::vector<Component>& all) : p_(pass), all_(all) {}

  struct Outcome {
    Try what = Try::kNoRoom;           // kStarted, kClaimed or kNoRoom
    const Component* which = nullptr;  // for kNoRoom: the one that has none, and why
    Wait why;
    bool room_wanted = false;
  };
  Outcome start_or_make_room();
  // The same for a job whose victims are gone. Where it finds no room all the same, its turn comes again when it is met.
  static void settle(PlanPass& pass, const Job& leader);

 private:
  class Lifted;
  using Victims = std::vector<uint32_t>;  // indexes of occupants
  bool room_would_help(const Outcome& out) const;
  bool make_room();
  bool search_room();
  std::vector<Asked> asked() const;
  bool find_victims(Victims& victims);
  bool find_victims_of(const Component& one, const std::vector<Chosen>& others, Chosen& chosen, Victims& victims);
  std::optional<Victims> givers_of(const Component& one, const RequestClass& asked, const Preemptor& who, const ClassState& of,
                                   const Victims& lifted, Grant& grant);
  bool may_end(const Component& one, const RequestClass& asked, uint32_t victim) const;
  Placement place_without(const Component& one, const RequestClass& asked, const Apart& apart, const Victims& gone);
  bool choose_without(const Victims& gone, std::vector<Chosen>& chosen);
  void drop_needless(Victims& victims, std::vector<Chosen>& chosen);
  void claim(const std::vector<Chosen>& chosen, const Victims& victims);

  PlanPass& p_;
  const std::vector<Component>& all_;
};

}  // namespace muster::sched
