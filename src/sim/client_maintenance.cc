// Administrators who have nodes rebooted a few at a time (muster maintenance): begun, paused, continued and cancelled in the first phase; in the
// second each comes to its end. Draws of their own: the worlds of seeds without maintenances stay as they are.
#include <algorithm>

#include "base/hash.h"
#include "sim/clients.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

rpc::StartMaintenance some_maintenance(Random& rng, const std::vector<std::string>& nodes, const std::string& name) {
  rpc::StartMaintenance out;
  out.name = name;
  out.at_once = static_cast<uint32_t>(rng.uniform(1, 3));
  out.stop_after = static_cast<uint32_t>(rng.uniform(1, 3));
  std::string some;
  for (const std::string& node : nodes)
    if (rng.chance(0.6)) some += (some.empty() ? "" : ",") + node;
  out.nodes = Parsed<NodeNames>(some.empty() || rng.chance(0.3) ? std::string("ALL") : some);
  return out;
}

}  // namespace

void Clients::schedule_maintenances(Duration horizon) {
  Random rng(mix64(world_.options.seed ^ 0x6d61696e));
  for (uint64_t n = rng.uniform(1, 3); n > 0; --n) {
    const std::string name = "m" + std::to_string(n);
    const Duration begin = world_.span(rng, minutes(1), horizon);
    world_.after(begin, [this, request = some_maintenance(rng, world_.scenario.nodes, name)] {
      send("muster maintenance start " + request.name, slurmctld::Caller::root(), request);
    });
    for (uint64_t orders = rng.uniform(0, 4); orders > 0; --orders) {
      const rpc::MaintenanceOrder order = static_cast<rpc::MaintenanceOrder>(rng.chance(0.1) ? 2 : rng.uniform(0, 1));
      world_.after(begin + world_.span(rng, seconds(1), minutes(20)), [this, name, order] { order_maintenance(name, order); });
    }
  }
}

void Clients::order_maintenance(const std::string& name, rpc::MaintenanceOrder order) {
  const char* words[] = {"pause ", "continue ", "cancel "};
  send("muster maintenance " + std::string(words[static_cast<size_t>(order)]) + name, slurmctld::Caller::root(),
       rpc::ControlMaintenance{name, order});
}

// Whether the node is left to a maintenance, which returns it by itself.
bool Clients::is_in_maintenance(NodeId node) const {
  bool out = false;
  world_.checkers.mirror().maintenances.for_each([&](uint32_t, const Maintenance& m) {
    out = out || std::ranges::any_of(m.nodes, [&](const MaintenanceNode& n) { return n.node == node && is_held(n.step); });
  });
  return out;
}

void Clients::end_maintenances() {
  world_.checkers.mirror().maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (m.state == MaintenanceState::kPaused) order_maintenance(m.name, rpc::MaintenanceOrder::kContinue);
  });
}

}  // namespace muster::sim
