#include "slurmctld/core/feasibility.h"

#include "base/hash.h"

namespace muster::slurmctld {
namespace {

// The request without what cannot decide where it may run: name, script … submit_line, alloc_sid.
struct ShapeVisitor {
  uint64_t h;
  template <class T>
  void operator()(unsigned number, const char* name, const T& field) {
    if (number == 8 || (number >= 94 && number <= 110) || number == 112) return;
    hash_detail::Visitor v;
    v(number, name, field);
    h ^= v.h;
  }
};

uint64_t shape_hash(const JobRequest& r, uint32_t partition) {
  ShapeVisitor visitor{mix64(partition + 1)};
  JobRequest::describe(r, visitor);
  return visitor.h;
}

}  // namespace

Result<> FeasibilityCache::check(const Cluster& cluster, const sched::Params& params, const JobRequest& request, uint32_t partition) {
  if (epoch_ != cluster.nodes_epoch || known_.size() >= kBound) {
    known_.clear();
    epoch_ = cluster.nodes_epoch;
  }
  auto [at, fresh] = known_.try_emplace(shape_hash(request, partition));
  if (fresh) at->second = sched::can_ever_run(cluster, params, request, partition);
  return at->second;
}

}  // namespace muster::slurmctld
