// GangRoom: which of the open nodes may be in one gang together, where that is not all of them: layers of hierarchical resources leave room for so
// many of their nodes (request/layers.h), and so many powered-down nodes may be woken (SlurmctldParameters=max_powered_nodes).
//
// Cost: O(nodes / 64) to ask, and that of LayerRoom::take() to choose.
#pragma once

#include <functional>
#include <span>

#include "sched/fit/request_class.h"
#include "sched/place/gang_chooser.h"

namespace muster::sched {

class GangRoom {
 public:
  // `layers`: null: the job asks for none. Borrows both.
  GangRoom(const LayerRoom* layers, const Availability& nodes) : layers_(layers), nodes_(nodes) {}

  bool has_room_for(const Bitmap& nodes) const { return (!layers_ || layers_->has_room_for(nodes)) && nodes_.may_wake(nodes); }
  // Of the nodes, taken in this order, those for which there is room together. Where both bound them there may be sets with more.
  Bitmap take(std::span<const uint32_t> in_order) const;
  // Tries sets of the candidates for which there is room: those of the list's order first, then those that take the most tasks, then, where there
  // is a topology, whole leaves, the one with the most candidates first. Returns whether one will do. A gang that also has to be --contiguous may
  // be missed, and in a topology one that needs parts of several leaves.
  bool within(const RequestClass& asked, Candidates list, const std::function<bool(const Bitmap&)>& will_do) const;

 private:
  const LayerRoom* layers_;
  const Availability& nodes_;
};

}  // namespace muster::sched
