// While it lives, jobs of the class are placed within what hierarchical resources leave to them (RequestClass::layers).
#pragma once

#include <utility>

#include "sched/fit/request_class.h"

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
    c_.layers = std::move(room);
  }
  RequestClass& c_;
};

}  // namespace muster::sched
