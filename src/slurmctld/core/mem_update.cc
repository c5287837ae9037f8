// --mem-update: after a while a running job is held to the memory that it uses then, and a margin. sbatch(1) --mem-update. Its nodes are
// asked in core_watch.cc.
#include <algorithm>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

uint64_t most_on_a_node(const Allocation& held) { return std::ranges::max(held.nodes, {}, &NodeShare::mem_mb).mem_mb; }

}  // namespace

Result<> check_mem_update(const View& view, const JobRequest& request) {
  if (!request.mem_update.parsed())
    return fail(Errc::kInvalidReq, {}, "--mem-update: " + std::string(request.mem_update.parsed().error().message()));
  if (request.mem_update.empty() || view.settings.config().gathers_use()) return {};
  return fail(
      Errc::kNotSupportedHere, {},
      "--mem-update=" + request.mem_update.text() + ": JobAcctGatherType is not set in slurm.conf, so nobody measures what a job uses");
}

bool is_memory_due(const Job& job, Time now) {
  return job.state == JobState::kRunning && job.run->memory_due != kTimeUnset && job.run->memory_due <= now;
}

void reduce_memory(const View& view, const Job& job, std::optional<Bytes> used, Events& out) {
  const Allocation& held = *job.allocation;
  const uint64_t most = most_on_a_node(held);
  event::JobMemoryReduced reduced;
  reduced.job = job.id;
  reduced.time = std::max(view.now, job.started);
  reduced.mem_mb = used ? reduced_memory_mb(job.request->mem_update.value(), *used, most) : most;
  Allocation left = held;
  for (NodeShare& share : left.nodes) share.mem_mb = std::min(share.mem_mb, reduced.mem_mb);
  reduced.billing = billed_anew(view, job, left);
  out.push_back(reduced);
}

void tell_memory(const View& view, const Job& job, NodeId node, std::vector<Order>& out) {
  const bool settled = !job.request->mem_update.empty() && job.launched && !job.finished() && job.run->memory_due == kTimeUnset;
  const Node* there = view.cluster.nodes.find(node.value);
  if (!settled || !there || !there->connected) return;
  for (const NodeShare& share : job.allocation->nodes)
    if (share.node == node && share.mem_mb) out.push_back({node, node_rpc::LimitMemory{job.id, job.restarts, share.mem_mb}});
}

void tell_memory_again(const View& view, NodeId node, std::vector<Order>& out) {
  for (JobId id : view.indexes.jobs_on(node))
    if (const Job* job = view.cluster.jobs.find(id.value); job && job->allocation) tell_memory(view, *job, node, out);
}

}  // namespace muster::slurmctld
