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

Result<DeviceBinding> bind_devices(const TresBindText& asked, const DeviceBindRequest& request, const std::vector<GresDevices>& node) {
  if (!asked.parsed()) return std::unexpected(asked.parsed().error());
  const TresBind* part = asked->find("gres/" + request.name);
  DeviceBinding out;
  out.devices.resize(request.ranks.size());
  if (!part || part->kind == Kind::kDefault || part->kind == Kind::kNone || request.held.none()) return out;
  const TresBind& bind = *part;
  std::map<std::string, uint32_t> tasks_on;  // single: how many tasks chose among the same devices so far
  Bitmap taken(request.held.size());
  for (size_t index = 0; index < request.ranks.size(); ++index) {
    const Bitmap near = closest(request, request.task_cores.at(index), node);
    Bitmap& mine = out.devices[index];
    switch (bind.kind) {
      case Kind::kClosest: mine = near; break;
      case Kind::kSingle: {
        std::vector<size_t> list = members(near);
        mine = numbers({list[tasks_on[near.to_ranges()]++ / bind.count % list.size()]});
        break;
      }
      case Kind::kPerTask: mine = next_of(bind.count, near, request.held, taken); break;
      default: mine = named(request, bind.list[index % bind.list.size()]); break;
    }
    if (mine.none()) {
      mine = numbers({request.held.first()});
      out.notes.push_back("slurmstepd: error: Bind request " + request.name +
                          " does not specify any devices within the allocation for task " + std::to_string(request.ranks[index]) +
                          ". Binding to the first device in the allocation instead.");
    }
    if (bind.verbose)
      out.notes.push_back(request.name + "-bind: usable_gres=" + hex_mask(mine) + "; bit_alloc=" + hex_mask(request.held) +
                          "; local_inx=" + std::to_string(request.held.count()) + "; task=" + std::to_string(request.ranks[index]));
  }
  return out;
}

}  // namespace muster::slurmd
