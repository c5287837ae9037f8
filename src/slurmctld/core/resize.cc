// A running job gives up nodes (scontrol update NumNodes=, NodeList=). What is left of it goes on; the nodes given up end what
// they run of the job, epilog included, before others get them: until then the job is RESIZING and cannot change again.
// scontrol(1); guide faq, "Can I change my job's size after it has started running?".
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/distribution.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

std::string counted(uint32_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

std::string name_of(const View& v, const NodeShare& share) {
  const Node* n = v.cluster.nodes.find(share.node.value);
  return n ? n->spec->name : "?";
}

Result<> may_shrink(const View& v, const Job& job) {
  if (job.finished()) return fail(Errc::kAlreadyDone);
  if (job.flags & kJobResizing) return fail(Errc::kTransitionStateNoUpdate, {}, "nodes that it gave up before are not free yet");
  if (job.flags & kJobConfiguring) return fail(Errc::kTransitionStateNoUpdate, {}, "its nodes are not ready yet");
  if (job.state != JobState::kRunning) return fail(Errc::kInvalidStateChange, {}, "only a running job gives up nodes");
  if (v.settings.config().scheduler_parameters.has("disable_job_shrink"))
    return fail(Errc::kNotSupportedHere, {}, "SchedulerParameters=disable_job_shrink");
  auto layout = parse_distribution_parts(job.request->distribution);
  if (layout && layout->nodes == Distribution::Nodes::kArbitrary)
    return fail(Errc::kNotSupportedHere, {}, "the nodes of a job with --distribution=arbitrary cannot be changed");
  return {};
}

// Steps that lose a node are ended on those that stay, unless they were started with --no-kill.
void end_torn_steps(const Job& job, const Bitmap& keep, std::vector<Order>& orders) {
  for (const Step& s : job.steps) {
    const bool torn = std::ranges::any_of(s.shares, [&](const StepShare& x) { return !x.done && !keep.test(x.node_index); });
    if (!torn || s.request->no_kill) continue;
    for (const StepShare& x : s.shares) {
      if (x.done || !keep.test(x.node_index)) continue;
      node_rpc::SignalJob kill;
      kill.job = job.id;
      kill.generation = job.restarts;
      kill.has_step = true;
      kill.step = s.id;
      kill.signal = 9;
      orders.push_back({job.allocation->nodes[x.node_index].node, kill});
    }
  }
}

}  // namespace

Result<Bitmap> nodes_to_keep(const View& v, const Job& job, const std::string& list) {
  MUSTER_TRY_VOID(may_shrink(v, job));
  MUSTER_TRY(names, expand_hosts(list));
  Bitmap keep(job.allocation->nodes.size());
  for (const std::string& name : names) {
    auto at = std::ranges::find_if(job.allocation->nodes, [&](const NodeShare& s) { return name_of(v, s) == name; });
    if (at == job.allocation->nodes.end()) return fail(Errc::kInvalidNodeName, {}, name + " is no node of the job; a running job gets no more nodes");
    keep.set(static_cast<size_t>(at - job.allocation->nodes.begin()));
  }
  if (keep.none()) return fail(Errc::kInvalidNodeName, {}, "the list names no node; scancel ends the job");
  if (job.request->kind == JobKind::kBatch && !keep.test(job.batch_index))
    return fail(Errc::kInvalidNodeName, {}, name_of(v, job.batch_share()) + " runs the job's script and has to stay");
  return keep;
}

Result<Bitmap> nodes_to_keep(const View& v, const Job& job, uint32_t count) {
  MUSTER_TRY_VOID(may_shrink(v, job));
  const auto held = static_cast<uint32_t>(job.allocation->nodes.size());
  if (count > held) return fail(Errc::kNotSupportedHere, {}, "the job has " + counted(held, "node") + ", and a running job gets no more");
  if (count < 1) return fail(Errc::kInvalidNodeCount);
  // The first ones, and the one that runs the script.
  Bitmap keep(held);
  keep.set(job.batch_index);
  for (uint32_t i = 0; i < held && keep.count() < count; ++i) keep.set(i);
  return keep;
}

void shrink_job(const View& v, const Job& job, const Bitmap& keep, Events& out, std::vector<Order>& orders) {
  const Allocation& held = *job.allocation;
  if (keep.count() == held.nodes.size()) return;
  auto left = std::make_shared<Allocation>(held);
  left->nodes.clear();
  event::JobShrunk e;
  e.job = job.id;
  e.time = std::max(v.now, job.started);
  e.free_at_once = Bitmap(held.nodes.size());
  for (size_t i = 0; i < held.nodes.size(); ++i) {
    const NodeShare& share = held.nodes[i];
    if (keep.test(i)) {
      left->nodes.push_back(share);
      continue;
    }
    if (!can_be_told(v.cluster.nodes.find(share.node.value))) e.free_at_once.set(i);
    // A job that has leaves for itself keeps them: they are whole only with this node.
    if (!held.fenced.empty()) left->fenced.push_back(share.node.value);
  }
  e.allocation = std::move(left);
  out.push_back(std::move(e));
  end_torn_steps(job, keep, orders);
}

}  // namespace muster::slurmctld
