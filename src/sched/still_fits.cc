// still_fits: a plan's item against the cluster of this moment.
#include "sched/availability.h"
#include "sched/planner.h"

namespace muster::sched {
namespace {

std::unexpected<Error> busy(const Node& node, const char* what) {
  return fail(Errc::kNodesBusy, {}, node.spec->name + ": " + what);
}

bool gres_fits(const Node& node, const GresShare& want) {
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
    if (u.name != want.name) continue;
    if (u.type == want.type) taken += u.count;
    if (u.devices.intersects(want.devices)) return false;
  }
  if (want.count > there || taken > there - want.count) return false;
  return counted || (devices.contains(want.devices) && want.devices.count() == want.count);
}

Result<> node_fits(const Node& node, const Params& params, const JobRequest& request, const Allocation& a,
                   const NodeShare& share, uint32_t oversubscribe_count) {
  if (!node_usable(node)) return busy(node, "not available");
  const NodeSpec& spec = *node.spec;
  if (share.cpus.intersects(spec.specialized_cpus)) return busy(node, "CPUs are reserved for the system");
  if (share.cpus.none()) return busy(node, "no CPUs in the plan");
  size_t last = 0;
  share.cpus.for_each([&](size_t cpu) { last = cpu; });
  if (last >= spec.cpus) return busy(node, "has fewer CPUs than planned");
  if (node.whole_node_jobs > 0) return busy(node, "held whole by another job");
  if (a.whole_nodes && (node.jobs_running > 0 || node.jobs_completing > 0)) return busy(node, "not idle");
  if (node.exclusive_user && node.exclusive_uid != request.uid) return busy(node, "held by another user");
  if (a.exclusive_user && node.jobs_running > 0 && !node.exclusive_user)
    return busy(node, "used by other users");
  if (share.cpus.intersects(node.cpus_used)) {
    const bool may_share =
        a.oversubscribe && node.shared_jobs >= node.jobs_running && node.shared_jobs < oversubscribe_count;
    if (!may_share) return busy(node, "CPUs are in use");
  }
  if (params.memory_consumable) {
    const uint64_t all =
        spec.real_memory_mb > spec.specialized_mem_mb ? spec.real_memory_mb - spec.specialized_mem_mb : 0;
    if (share.mem_mb > all || node.mem_used_mb > all - share.mem_mb) return busy(node, "memory is in use");
  }
  for (const GresShare& g : share.gres)
    if (!gres_fits(node, g)) return busy(node, ("gres/" + g.name + " is in use").c_str());
  return {};
}

}  // namespace

Result<> still_fits(const Cluster& cluster, const Params& params, const JobRequest& request,
                    const StartItem& item) {
  const Partition* p = cluster.partitions.find(item.partition);
  if (!p) return fail(Errc::kInvalidPartition);
  if (p->state == PartitionState::kDown || p->state == PartitionState::kInactive)
    return fail(Errc::kPartitionNotAvailable);
  if (!item.allocation || item.allocation->nodes.empty()) return fail(Errc::kNodesBusy);
  Bitmap seen;
  for (const NodeShare& share : item.allocation->nodes) {
    const Node* node = cluster.nodes.find(share.node.value);
    if (!node || !node->spec) return fail(Errc::kInvalidNodeName);
    if (seen.test(share.node.value)) return busy(*node, "twice in the plan");
    seen.set(share.node.value);
    if (!p->nodes.test(share.node.value)) return busy(*node, "no longer in the partition");
    MUSTER_TRY_VOID(node_fits(*node, params, request, *item.allocation, share, p->oversubscribe_count));
  }
  return {};
}

}  // namespace muster::sched
