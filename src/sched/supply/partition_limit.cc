#include "sched/supply/partition_limit.h"

#include <algorithm>

namespace muster::sched {
namespace {

// Calls f(number of the bitmap's CPUs on the socket) for each socket.
template <class F>
void each_socket(uint32_t sockets, uint32_t cpus, const Bitmap& of, F&& f) {
  const uint32_t each = std::max(cpus / std::max(sockets, 1u), 1u);
  for (uint32_t socket = 0; socket < sockets; ++socket) {
    uint64_t n = 0;
    for (size_t cpu = of.next(size_t{socket} * each); cpu != Bitmap::npos && cpu < size_t{socket + 1} * each; cpu = of.next(cpu + 1)) ++n;
    f(n);
  }
}

}  // namespace

uint64_t PartitionLimit::left(uint32_t sockets, uint32_t cpus, const Bitmap& held) const {
  uint64_t out = cpus;
  if (per_socket != kUnlimited32) {
    out = 0;
    each_socket(sockets, cpus, held, [&](uint64_t n) { out += per_socket - std::min<uint64_t>(n, per_socket); });
  }
  if (per_node == kUnlimited32) return out;
  return std::min(out, per_node - std::min<uint64_t>(held.count(), per_node));
}

bool PartitionLimit::allows(uint32_t sockets, uint32_t cpus, const Bitmap& held, const Bitmap& more) const {
  const Bitmap all = held | more;
  if (per_node != kUnlimited32 && all.count() > per_node) return false;
  bool ok = true;
  if (per_socket != kUnlimited32) each_socket(sockets, cpus, all, [&](uint64_t n) { ok = ok && n <= per_socket; });
  return ok;
}

std::string PartitionLimit::text() const {
  std::string out;
  if (per_node != kUnlimited32) out = "MaxCPUsPerNode=" + std::to_string(per_node);
  if (per_socket != kUnlimited32) out += (out.empty() ? "" : ", ") + std::string("MaxCPUsPerSocket=") + std::to_string(per_socket);
  return out + " of the partition counts all of its jobs";
}

}  // namespace muster::sched
