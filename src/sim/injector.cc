#include "sim/injector.h"

#include "sim/world.h"

namespace muster::sim {

void Injector::schedule(Duration horizon) {
  Random& r = world_.random.faults;
  // Some worlds are quiet, some are not.
  uint64_t strikes = r.chance(0.15) ? 0 : r.uniform(2, 30);
  for (uint64_t i = 0; i < strikes; ++i) world_.after(world_.span(r, seconds(5), horizon), [this] { strike(); });
}

void Injector::strike() {
  if (world_.calm()) return;
  Random& rng = world_.random.faults;
  uint32_t node = static_cast<uint32_t>(rng.uniform(0, world_.nodes.size() - 1));
  NodeHost& host = *world_.nodes[node];
  Duration pause = rng.chance(0.6) ? world_.span(rng, milliseconds(100), seconds(20)) : world_.span(rng, seconds(20), seconds(600));
  uint32_t kind = 1u << rng.uniform(0, 8);
  if (!(kind & world_.options.faults)) return;
  switch (kind) {
    case kFaultNetwork:
      if (rng.chance(0.5)) {
        for (uint64_t n = rng.uniform(1, 3); n > 0; --n)
          world_.after(world_.span(rng, Duration(1), seconds(10)), [this, node] { world_.network.cut(node, "a fault"); });
        return;
      }
      world_.network.set_partitioned(node, true);
      return world_.after(pause, [this, node] { world_.network.set_partitioned(node, false); });
    case kFaultReboot: host.power_off(); return world_.after(pause, [&host] { host.power_on(); });
    case kFaultSlurmd: host.stop_slurmd(); return world_.after(pause, [&host] { host.start_slurmd(); });
    case kFaultController: return world_.controller.crash("killed");
    case kFaultDisk:
      world_.journal.note("the disk is full");
      world_.controller.set_disk_full(true);
      return world_.after(world_.span(rng, milliseconds(10), seconds(30)), [this] { world_.controller.set_disk_full(false); });
    case kFaultClock: {
      int64_t by = static_cast<int64_t>(rng.uniform(0, 2400)) - 1200;
      world_.journal.note("the controller's clock steps by " + std::to_string(by) + " s");
      return world_.controller.step_clock(seconds(by));
    }
    case kFaultHardware: host.set_degraded(true); return world_.after(pause, [&host] { host.set_degraded(false); });
    default: return;  // admin and programs: drawn where they act
  }
}

void Injector::heal() {
  world_.controller.set_disk_full(false);
  for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
    world_.network.set_partitioned(i, false);
    world_.nodes[i]->power_on();
    world_.nodes[i]->set_degraded(false);
    world_.nodes[i]->start_slurmd();
  }
}

}  // namespace muster::sim
