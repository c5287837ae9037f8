#include "sched/rules/held_devices.h"

#include "sched/supply/availability.h"

namespace muster::sched {
namespace {

// Whether each GPU has the wanted shares, and they are not held; a GPU that is held in another form has none.
bool shares_fit(const Node& node, const GresShare& want) {
  bool ok = want.devices.count() == want.shares.size();
  want.devices.for_each([&](size_t device) {
    uint64_t there = 0, taken = 0;
    bool one = false;
    for (const GresDevices& g : node.spec->gres)
      if (g.shared && g.name == want.name && g.type == want.type && g.first_index == device) {
        there += g.count;
        one |= shares_one_gpu(g);
      }
    for (const GresShare& u : node.gres_used) {
      if (one && u.name == want.name && u.devices.any() && !(u.devices == want.devices)) there = 0;
      if (u.name == want.name) taken += u.shares_on(device);
      else if ((u.name == "gpu" || is_shared_gres(u.name)) && u.devices.test(device)) there = 0;
    }
    ok = ok && taken <= there && want.shares_on(device) <= there - taken;
  });
  return ok;
}

}  // namespace

bool devices_fit(const Node& node, const GresShare& want) {
  if (is_shared_gres(want.name)) return shares_fit(node, want);
  if (!is_consumed(*node.spec, want)) return true;
  uint64_t there = 0, taken = 0;
  bool counted = false;
  Bitmap devices;
  for (const GresDevices& g : node.spec->gres) {
    if (g.name != want.name || g.type != want.type) continue;
    there += g.count;
    counted |= g.count_only;
    if (!g.count_only) devices.set_range(g.first_index, g.first_index + g.count);
  }
  for (const GresShare& u : node.gres_used) {
    if (want.name == "gpu" && is_shared_gres(u.name) && u.devices.intersects(want.devices)) return false;
    if (u.name != want.name) continue;
    if (u.type == want.type) taken += u.count;
    if (u.devices.intersects(want.devices)) return false;
  }
  if (want.count > there || taken > there - want.count) return false;
  return counted || (devices.contains(want.devices) && want.devices.count() == want.count);
}

}  // namespace muster::sched
