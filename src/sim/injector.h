// Injector: what goes wrong in the first phase, and when. heal() ends all of it.
#pragma once

#include "base/time.h"

namespace muster::sim {

class World;

class Injector {
 public:
  explicit Injector(World& world) : world_(world) {}
  void schedule(Duration horizon);
  void heal();

 private:
  void strike();
  World& world_;
};

}  // namespace muster::sim
