// still_fits: a plan's item against the cluster of this moment.
#include <algorithm>

#include "sched/availability.h"
#include "sched/planner.h"
#include "sched/request_shape.h"

namespace muster::sched {
namespace {

std::unexpected<Error> busy(const Node& node, const char* what) {
  return fail(Errc::kNodesBusy, {}, node.spec->name + ": " + what);
}

// Of each GPU the shares that are there and not held; none where it is held in another form.
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
      if (u.name == want.name)
        taken += u.shares_on(device);
      else if ((u.name == "gpu" || is_shared_gres(u.name)) && u.devices.test(device))
        there = 0;
    }
    ok = ok && taken <= there && want.shares_on(device) <= there - taken;
  });
  return ok;
}

bool gres_fits(const Node& node, const GresShare& want) {
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

Result<> node_fits(const Node& node, const Params& params, const RequestBody& request, const Allocation& a,
                   const NodeShare& share, uint32_t oversubscribe_count, bool memory) {
  if (!node_usable(node)) return busy(node, "not available");
  const NodeSpec& spec = *node.spec;
  const bool own_spec = a.whole_nodes && params.job_core_spec && request.core_spec > 0;
  if (!own_spec && share.cpus.intersects(spec.specialized_cpus)) return busy(node, "CPUs are reserved for the system");
  if (share.cpus.none()) return busy(node, "no CPUs in the plan");
  size_t last = 0;
  share.cpus.for_each([&](size_t cpu) { last = cpu; });
  if (last >= spec.cpus) return busy(node, "has fewer CPUs than planned");
  if (node.whole_node_jobs > 0) return busy(node, "held whole by another job");
  if (a.whole_nodes && (node.jobs_running > 0 || node.jobs_completing > 0)) return busy(node, "not idle");
  if (!admits(owner_of(node), {request.uid, request.mcs_label, false, false}))
    return busy(node, "kept for another user or label");
  const Newcomer comes{request.uid, request.mcs_label, a.exclusive_user, !a.mcs_label.empty()};
  if (node.jobs_running > 0 && !admits(owner_of(node), comes)) return busy(node, "used by other users or labels");
  if (share.cpus.intersects(node.cpus_used)) {
    // Shared by so many jobs at most: none of the CPUs has as many already.
    const bool sharing = a.oversubscribe && node.shared_jobs >= node.jobs_running && oversubscribe_count > 1;
    const size_t top = oversubscribe_count - 2;  // level at which CPUs have all the jobs they may
    if (!sharing || (top < node.cpus_shared.size() && share.cpus.intersects(node.cpus_shared[top])))
      return busy(node, "CPUs are in use");
  }
  if (memory) {
    const uint64_t all =
        spec.real_memory_mb > spec.specialized_mem_mb ? spec.real_memory_mb - spec.specialized_mem_mb : 0;
    if (share.mem_mb > all || node.mem_used_mb > all - share.mem_mb) return busy(node, "memory is in use");
  }
  for (const GresShare& g : share.gres)
    if (!gres_fits(node, g)) return busy(node, ("gres/" + g.name + " is in use").c_str());
  return {};
}

}  // namespace

Result<> still_fits(const Cluster& cluster, const Params& params, const RequestBody& request,
                    const StartItem& item) {
  const Partition* p = cluster.partitions.find(item.partition);
  if (!p) return fail(Errc::kInvalidPartition);
  if (p->state == PartitionState::kDown || p->state == PartitionState::kInactive)
    return fail(Errc::kPartitionNotAvailable);
  if (!item.allocation || item.allocation->nodes.empty()) return fail(Errc::kNodesBusy);
  for (const LicenseShare& l : item.allocation->licenses) {
    auto it = std::find_if(params.licenses.begin(), params.licenses.end(),
                           [&](const auto& have) { return have.first == l.name; });
    const uint64_t all = it == params.licenses.end() ? 0 : it->second, used = cluster.license_used(l.name);
    if (used > all || l.count > all - used) return fail(Errc::kNodesBusy, {}, "licence " + l.name + " is in use");
  }
  Bitmap seen;
  const bool memory = handed_out(*p, params).memory;
  for (const NodeShare& share : item.allocation->nodes) {
    const Node* node = cluster.nodes.find(share.node.value);
    if (!node || !node->spec) return fail(Errc::kInvalidNodeName);
    if (seen.test(share.node.value)) return busy(*node, "twice in the plan");
    seen.set(share.node.value);
    if (!p->nodes.test(share.node.value)) return busy(*node, "no longer in the partition");
    MUSTER_TRY_VOID(node_fits(*node, params, request, *item.allocation, share, p->oversubscribe_count, memory));
  }
  for (uint32_t id : item.allocation->fenced)
    if (const Node* node = cluster.nodes.find(id))
      if (node->jobs_running + node->jobs_completing + node->fences > 0)
        return busy(*node, "in use, and the job wants its leaf for itself");
  return {};
}

}  // namespace muster::sched
