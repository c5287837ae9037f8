#include "slurmctld/core/feasibility.h"

#include "base/hash.h"

namespace muster::slurmctld {
namespace {

uint64_t shape_hash(const RequestBody& r, uint32_t partition) { return mix64(partition + 1) ^ describe_hash(r); }

}  // namespace

Result<> FeasibilityCache::check(const Cluster& cluster, const sched::Params& params, const RequestBody& request, uint32_t partition) {
  if (epoch_ != cluster.nodes_epoch || known_.size() >= kBound) {
    known_.clear();
    epoch_ = cluster.nodes_epoch;
  }
  auto [at, fresh] = known_.try_emplace(shape_hash(request, partition));
  if (fresh) at->second = sched::can_ever_run(cluster, params, request, partition);
  return at->second;
}

}  // namespace muster::slurmctld
