// What a topology means for the future: --switches, and leaves that --exclusive=topo keeps empty.
#include "sched/future/profile.h"

namespace muster::sched {

bool Profile::exceeds_switches(const RequestClass& c, const Spot& spot) const {
  if (!c.shape.switches || c.topology->kind() != TopologyKind::kTree) return false;
  Bitmap used(nodes_.size());
  for (const Spot::Part& part : spot.parts) used.set(part.node);
  return c.topology->leaves_of(used) > c.shape.switches;
}

// Those of the free nodes whose leaf has only free nodes among those that are up.
Bitmap Profile::leaves_free(const RequestClass& c, const Bitmap& free) const {
  Bitmap busy(nodes_.size());
  for (uint32_t id = 0; id < lines_.size(); ++id)
    if (lines_[id].started() && !free.test(id)) busy.set(id);
  return free - c.topology->leaf_mates(busy);
}

// Everything a node has, as one job that holds it whole.
Amounts Profile::all_of(uint32_t id) const {
  const Kind& k = nodes_.kind(id);
  Amounts out{.units = k.units, .open = open_units(k), .jobs = 1, .mem_mb = k.mem_mb, .gres = {}, .sharing = {0, 1}};
  for (const GresDevices& g : k.gres) out.gres.push_back(g.count);
  partitions_.add_all(k, out.gres);
  return out;
}

// Takes all of these nodes, and adds them to `ids`.
void Profile::take_whole(const std::vector<uint32_t>& nodes, Slot from, Slot end, std::vector<uint32_t>& ids) {
  for (uint32_t id : nodes) {
    if (id >= lines_.size() || !lines_[id].started()) continue;
    Amounts all = all_of(id);
    all.gres.resize(nodes_.kind(id).gres.size());  // of no partition
    lines_[id].take(from, end, all);
    ids.push_back(id);
  }
}

// Also promises the other nodes of the leaves in which a job with --exclusive=topo will stand.
void Profile::promise_leaves(const RequestClass& c, Slot from, Slot end, std::vector<uint32_t>& ids) {
  Bitmap used(nodes_.size());
  for (uint32_t id : ids) used.set(id);
  std::vector<uint32_t> rest;
  c.topology->leaf_mates(used).for_each([&](size_t id) { rest.push_back(static_cast<uint32_t>(id)); });
  for (uint32_t id : rest) promised_.set(id);
  take_whole(rest, from, end, ids);
}

}  // namespace muster::sched
