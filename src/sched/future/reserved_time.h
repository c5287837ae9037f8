// What reservations keep from a class (supply/reserved.h), in the slots of a profile. A stretch is rounded so that it is never shorter than it
// is. Where a reservation has cores or devices of a node, all of them count as kept though its own jobs may hold some: a job may start
// sooner.
//
// Cost: O(stretches of the node + its rows).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sched/future/site_line.h"
#include "sched/future/timeline.h"
#include "sched/supply/reserved.h"

namespace muster::sched {

class ReservedTime {
 public:
  ReservedTime(Time now, int64_t resolution, int64_t base) : now_(now), resolution_(resolution), base_(base) {}
  Slot floor(Time t) const;
  Slot ceiling(Time t) const;

  // Takes out of the windows the time in which the node is closed to the side.
  void cut_closed(const ReservedSide& side, uint32_t node, std::vector<Window>& windows) const;
  // Within the stretches in which parts of the node are kept, leaves only the time in which the job fits beside them.
  void cut_parts(const std::vector<KeptPart>& parts, const NodeLine& line, const std::function<bool(Slot)>& fits,
                 std::vector<Window>& windows) const;
  // f(part) for what is kept at some moment of [first, end).
  void each_part(const std::vector<KeptPart>& parts, Slot first, Slot end, const std::function<void(const NodeShare&)>& f) const;
  std::vector<SiteLine::Kept> amounts(const ReservedSide& side, const SiteAmounts& of, const Params& params) const;
  // A job that is confined starts before its reservation ends; how long it would like to run does not matter.
  Slot last_start(const RequestClass& c) const;

 private:
  Time now_;
  int64_t resolution_, base_;
};

// What is left of these amounts beside what is kept.
void lessen(Amounts& least, const Amounts& kept);

}  // namespace muster::sched
