#include "slurmd/core/gres_bind.h"

#include <map>

#include "base/hex_mask.h"

namespace muster::slurmd {
namespace {

using Kind = TresBind::Kind;

Bitmap numbers(const std::vector<size_t>& list) {
  Bitmap out;
  for (size_t i : list) out.set(i);
  return out;
}

std::vector<size_t> members(const Bitmap& set) {
  std::vector<size_t> out;
  set.for_each([&](size_t i) { out.push_back(i); });
  return out;
}

// The devices of `held` whose cores meet `cores`; those without a known affinity are near everything. When none is near, all of `held`.
Bitmap closest(const DeviceBindRequest& r, const Bitmap& cores, const std::vector<GresDevices>& node) {
  Bitmap near;
  for (const GresDevices& d : node) {
    if (d.name != r.name || (d.cores.any() && !d.cores.intersects(cores))) continue;
    for (uint64_t i = d.first_index; i < d.first_index + d.count; ++i)
      if (r.held.test(i)) near.set(i);
  }
  return near.any() ? near : r.held;
}

// The devices that a list names: by their numbers on the node, or by their places among the step's.
Bitmap named(const DeviceBindRequest& r, const Bitmap& entry) {
  if (!r.relative) return entry & r.held;
  std::vector<size_t> held = members(r.held);
  Bitmap out;
  entry.for_each([&](size_t i) {
    if (i < held.size()) out.set(held[i]);
  });
  return out;
}

// For per_task: takes near devices that nobody has yet, then others that nobody has, then starts again.
Bitmap next_of(uint32_t count, const Bitmap& near, const Bitmap& held, Bitmap& taken) {
  Bitmap out;
  for (uint32_t i = 0; i < count && out.count() < held.count(); ++i) {
    if ((held - taken).none()) taken.clear();
    size_t device = (near - taken - out).first();
    if (device == Bitmap::npos) device = (held - taken - out).first();
    if (device == Bitmap::npos) device = (held - out).first();
    out.set(device);
    taken.set(device);
  }
  return out;
}

}  // namespace

Result<DeviceBinding> bind_devices(const TresBindText& asked, const DeviceBindRequest& r, const std::vector<GresDevices>& node) {
  if (!asked.parsed()) return std::unexpected(asked.parsed().error());
  const TresBind* part = asked->find("gres/" + r.name);
  DeviceBinding out;
  out.devices.resize(r.ranks.size());
  if (!part || part->kind == Kind::kDefault || part->kind == Kind::kNone || r.held.none()) return out;
  const TresBind& b = *part;
  std::map<std::string, uint32_t> tasks_on;  // single: how many tasks chose among the same devices so far
  Bitmap taken(r.held.size());
  for (size_t i = 0; i < r.ranks.size(); ++i) {
    const Bitmap near = closest(r, r.task_cores.at(i), node);
    Bitmap& mine = out.devices[i];
    switch (b.kind) {
      case Kind::kClosest: mine = near; break;
      case Kind::kSingle: {
        std::vector<size_t> list = members(near);
        mine = numbers({list[tasks_on[near.to_ranges()]++ / b.count % list.size()]});
        break;
      }
      case Kind::kPerTask: mine = next_of(b.count, near, r.held, taken); break;
      default: mine = named(r, b.list[i % b.list.size()]); break;
    }
    if (mine.none()) {
      mine = numbers({r.held.first()});
      out.notes.push_back("slurmstepd: error: Bind request " + r.name + " does not specify any devices within the allocation for task " +
                          std::to_string(r.ranks[i]) + ". Binding to the first device in the allocation instead.");
    }
    if (b.verbose)
      out.notes.push_back(r.name + "-bind: usable_gres=" + hex_mask(mine) + "; bit_alloc=" + hex_mask(r.held) +
                          "; local_inx=" + std::to_string(r.held.count()) + "; task=" + std::to_string(r.ranks[i]));
  }
  return out;
}

}  // namespace muster::slurmd
