#include "model/node.h"

#include <algorithm>

#include "base/equal_fields.h"

namespace muster {

Bitmap specialized_cores(uint32_t sockets, uint32_t cores_per_socket, uint32_t count, bool first) {
  Bitmap out(static_cast<size_t>(sockets) * cores_per_socket);
  for (uint32_t core = 0; core < cores_per_socket; ++core)
    for (uint32_t socket = 0; socket < sockets && count > 0; ++socket, --count) {
      const uint32_t s = first ? socket : sockets - 1 - socket;
      const uint32_t c = first ? core : cores_per_socket - 1 - core;
      out.set(static_cast<size_t>(s) * cores_per_socket + c);
    }
  return out;
}

bool is_consumed(const NodeSpec& spec, const GresShare& share) {
  for (const GresDevices& g : spec.gres)
    if (g.name == share.name && g.type == share.type) return !(g.flags & kGresNoConsume);
  return true;
}

NodeState Node::state() const {
  if (admin != NodeState::kIdle) return admin;
  if (whole_node_jobs > 0) return NodeState::kAllocated;
  const size_t used = cpus_used.count();
  // A job may hold memory or GRES here and no CPU (suspended, --overcommit): then the node is not idle either.
  if (used == 0) return jobs_running + jobs_off > 0 ? NodeState::kMixed : NodeState::kIdle;
  if (!spec) return NodeState::kMixed;
  const size_t specialized = spec->specialized_cpus.count();
  const size_t usable = spec->cpus > specialized ? spec->cpus - specialized : 0;
  return cpus_allocated() >= usable ? NodeState::kAllocated : NodeState::kMixed;
}

uint32_t Node::cpus_allocated() const {
  return static_cast<uint32_t>(cpus_used.count() - (spec ? cpus_used.count_and(spec->specialized_cpus) : 0));
}

void hold_cpus(Bitmap& used, std::vector<Bitmap>& shared, const Bitmap& cpus) {
  Bitmap more = cpus & used;  // those that somebody has already go one level up
  used |= cpus;
  for (size_t level = 0; more.any(); ++level) {
    if (level == shared.size()) shared.emplace_back(used.size());
    const Bitmap next = more & shared[level];
    shared[level] |= more;
    more = next;
  }
}

void free_cpus(Bitmap& used, std::vector<Bitmap>& shared, const Bitmap& cpus) {
  Bitmap left = cpus;
  for (size_t level = shared.size(); level-- > 0;) {
    const Bitmap here = left & shared[level];
    shared[level] -= here;
    left -= here;
  }
  used -= left;
  while (!shared.empty() && shared.back().none()) shared.pop_back();
}

namespace {

auto entry_of(auto& list, uint32_t partition) {
  return std::find_if(list.begin(), list.end(), [&](const PartitionUse& u) { return u.partition == partition; });
}

}  // namespace

const PartitionUse* use_of_partition(const std::vector<PartitionUse>& list, uint32_t partition) {
  auto at = entry_of(list, partition);
  return at == list.end() ? nullptr : &*at;
}

void hold_cpus_of(std::vector<PartitionUse>& list, uint32_t partition, const Bitmap& cpus) {
  auto at = entry_of(list, partition);
  if (at == list.end()) {
    if (cpus.any()) list.push_back({partition, cpus, {}});
    return;
  }
  hold_cpus(at->cpus, at->cpus_shared, cpus);
}

void free_cpus_of(std::vector<PartitionUse>& list, uint32_t partition, const Bitmap& cpus) {
  auto at = entry_of(list, partition);
  if (at == list.end()) return;
  free_cpus(at->cpus, at->cpus_shared, cpus);
  if (at->cpus.none()) list.erase(at);
}

bool Node::operator==(const Node& o) const { return equal_fields(*this, o); }

}  // namespace muster
