// While it lives, jobs of the class are placed within what hierarchical resources leave to them (RequestClass::layers).
#pragma once

#include <utility>

#include "sched/fit/request_class.h"
#include "sched/params.h"

namespace muster::sched {

class WithinLayers {
 public:
  WithinLayers(RequestClass& c, LayerRoomPtr room) : c_(c) { set(std::move(room)); }
  ~WithinLayers() { set(nullptr); }
  WithinLayers(const WithinLayers&) = delete;
  WithinLayers& operator=(const WithinLayers&) = delete;

 private:
  void set(LayerRoomPtr room) {
    if (c_.preferred) c_.preferred->layers = room;
    if (c_.unchanged) c_.unchanged->layers = room;
    c_.layers = std::move(room);
  }
  RequestClass& c_;
};

// Whether the layers of the hierarchical resources that it asks for are too small for it though all nodes are up and idle and nobody holds
// anything. Cost: that of a placement on all nodes.
bool never_within_layers(const Cluster& cluster, const Params& params, const RequestBody& request, const RequestClass& of);

}  // namespace muster::sched
