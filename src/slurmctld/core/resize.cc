// A running job gives up nodes (scontrol update NumNodes=, NodeList=), or loses one and goes on (--no-kill). What is left of the job goes
// on, also the tasks that its steps have there. The nodes given up end what they run of the job, epilog included, before others get them;
// until then the job is RESIZING and cannot change again.
// scontrol(1); sbatch(1) --no-kill; guide faq, "Can I change my job's size after it has started running?".
#include <algorithm>

#include "base/text.h"
#include "model/tres_amounts.h"
#include "sched/request/layers.h"
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
  if (job.request->distribution->arbitrary())
    return fail(Errc::kNotSupportedHere, {}, "the nodes of a job with --distribution=arbitrary cannot be changed");
  return {};
}

// No earlier than what the job has done so far, if the clock was set back: what began before stays in its part of the run.
Time moment_of_resize(const View& view, const Job& job) {
  Time at = std::max({view.now, job.started, job.run->resized});
  for (const Step& step : job.steps) at = std::max(at, step.start);
  return at;
}

// `held` without the nodes that `keep` leaves out.
AllocationPtr what_is_left(const View& view, const Job& job, const Allocation& held, const Bitmap& keep) {
  auto left = std::make_shared<Allocation>(held);
  left->nodes.clear();
  for (size_t i = 0; i < held.nodes.size(); ++i) {
    const NodeShare& share = held.nodes[i];
    if (keep.test(i)) left->nodes.push_back(share);
    // A job that has whole leaves of the topology to itself keeps them: they are whole only with this node.
    else if (!held.fenced.empty()) left->fenced.push_back(share.node.value);
  }
  if (view.settings.sched.hierarchies) {
    Bitmap nodes;
    for (const NodeShare& share : left->nodes) nodes.set(share.node.value);
    left->licenses = sched::layers_left(view.settings.sched, held, nodes);
  }
  left->billing = billed_anew(view, job, *left);
  return left;
}

}  // namespace

std::optional<uint64_t> billed_anew(const View& view, const Job& job, const Allocation& left) {
  const Partition* partition = view.cluster.partitions.find(job.partition);
  if (!left.billing || !partition) return left.billing;
  return billing_of(partition->tres_billing_weights, view.cluster.billing(), held_by(left));
}

Result<Bitmap> nodes_to_keep(const View& view, const Job& job, const NodeNames& list) {
  MUSTER_TRY_VOID(may_shrink(view, job));
  Bitmap keep(job.allocation->nodes.size());
  for (const std::string& name : list.names()) {
    auto at = std::ranges::find_if(job.allocation->nodes, [&](const NodeShare& s) { return name_of(view, s) == name; });
    if (at == job.allocation->nodes.end())
      return fail(Errc::kInvalidNodeName, {}, name + " is no node of the job; a running job gets no more nodes");
    keep.set(static_cast<size_t>(at - job.allocation->nodes.begin()));
  }
  if (keep.none()) return fail(Errc::kInvalidNodeName, {}, "the list names no node; scancel ends the job");
  if (job.request->kind == JobKind::kBatch && !keep.test(job.run->batch_index))
    return fail(Errc::kInvalidNodeName, {}, name_of(view, job.batch_share()) + " runs the job's script and has to stay");
  if (job.managed && !keep.test(0))
    return fail(Errc::kInvalidNodeName, {}, name_of(view, job.allocation->nodes.front()) + " manages the job's steps and has to stay");
  return keep;
}

Result<Bitmap> nodes_to_keep(const View& view, const Job& job, uint32_t count) {
  MUSTER_TRY_VOID(may_shrink(view, job));
  const auto held = static_cast<uint32_t>(job.allocation->nodes.size());
  if (count > held) return fail(Errc::kNotSupportedHere, {}, "the job has " + counted(held, "node") + ", and a running job gets no more");
  if (count < 1) return fail(Errc::kInvalidNodeCount);
  // The first nodes stay, and the one that runs the script.
  Bitmap keep(held);
  keep.set(job.run->batch_index);
  if (job.managed && count > keep.count()) keep.set(0);
  if (job.managed && !keep.test(0))
    return fail(Errc::kInvalidNodeCount, {}, "the nodes that run the job's script and manage its steps have to stay");
  for (uint32_t i = 0; i < held && keep.count() < count; ++i) keep.set(i);
  return keep;
}

// Steps go on with their tasks on the nodes that stay.
void shrink_job(const View& v, const Job& job, const Bitmap& keep, Events& out) {
  const Allocation& held = *job.allocation;
  if (keep.count() == held.nodes.size()) return;
  event::JobShrunk e;
  e.job = job.id;
  e.time = moment_of_resize(v, job);
  e.free_at_once = Bitmap(held.nodes.size());
  for (size_t i = 0; i < held.nodes.size(); ++i)
    if (!keep.test(i) && !can_be_told(v.cluster.nodes.find(held.nodes[i].node.value))) e.free_at_once.set(i);
  e.allocation = what_is_left(v, job, held, keep);
  out.push_back(std::move(e));
}

bool outlives(const Job& job, NodeId node, const Events& out) {
  return job.request->no_kill && !job.runs_script_on(node) && nodes_left(job, out).nodes.size() > 1;
}

const Allocation& nodes_left(const Job& job, const Events& out) {
  for (auto e = out.rbegin(); e != out.rend(); ++e)
    if (auto* shrunk = std::get_if<event::JobShrunk>(&*e); shrunk && shrunk->job == job.id) return *shrunk->allocation;
  return *job.allocation;
}

void lose_node(const View& view, const Job& job, NodeId node, bool at_once, Events& out) {
  const Allocation& held = nodes_left(job, out);
  Bitmap keep(held.nodes.size()), lost(held.nodes.size());
  for (size_t i = 0; i < held.nodes.size(); ++i) (held.nodes[i].node == node ? lost : keep).set(i);
  event::JobShrunk e;
  e.job = job.id;
  e.time = moment_of_resize(view, job);
  e.allocation = what_is_left(view, job, held, keep);
  if (job.managed && lost.test(0)) e.next_step = first_step_of_next_manager(view, job);
  if (at_once) e.free_at_once = std::move(lost);
  else e.free_at_once = Bitmap(held.nodes.size());
  out.push_back(std::move(e));
}

}  // namespace muster::slurmctld
