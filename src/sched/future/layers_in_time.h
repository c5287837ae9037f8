// Hierarchical resources in the future: what their layers leave to a class from slot to slot (request/layers.h). The amounts stand in the line
// of the licences, whatever running jobs, promises and reservations take of them.
//
// Cost: that of request/layers.h, and O(rows of the line).
#pragma once

#include <optional>
#include <vector>

#include "sched/future/reserved_time.h"
#include "sched/future/site_line.h"
#include "sched/future/spot.h"

namespace muster::sched {

class LayersInTime {
 public:
  // Borrows all of them.
  LayersInTime(const Params& params, std::vector<SiteLine>& lines, const ReservedTime& reserved)
      : params_(params), lines_(lines), reserved_(reserved) {}

  bool concern(const RequestClass& c) const { return line_of(c) != nullptr; }
  // What is left throughout a stretch of time, but for what reservations keep at some moment of it; nothing: the class asks for none.
  std::optional<LayerRoom> room(const RequestClass& asked, Slot first, Slot end) const;
  // The first slot after this one at which a layer may have more.
  Slot next_gain(const RequestClass& asked, Slot after) const;
  // Takes out what the class takes on these nodes.
  void promise(const RequestClass& asked, const Spot& spot, Slot end);

 private:
  SiteLine* line_of(const RequestClass& c) const;
  const Params& params_;
  std::vector<SiteLine>& lines_;
  const ReservedTime& reserved_;
};

}  // namespace muster::sched
