// Jobs whose first node decides about their steps (--stepmgr): what that node is told, and what becomes of what it says. What it says is a
// claim: a step on what the job does not hold, a number that was given before, or a time before the job's start does not become true.
// Everything else about these steps (squeue, accounting, signals) goes by the events that are made of it here. docs/adr/0011
#include <algorithm>
#include <map>

#include "model/accounting.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/passed_on.h"
#include "slurmctld/core/rows.h"
#include "steps/warrant.h"

namespace muster::slurmctld {
namespace {

// The exit status that Slurm shows for a step that was still running when its job ended.
constexpr int32_t kEndedWithJob = 9;

// Takes the news of one message, one after the other: each is judged by what those before it in the same message have made so.
class NewsTaker {
 public:
  NewsTaker(const View& v, const Job& job, Events& out) : v_(v), job_(job), out_(out), next_step_(job.next_step), steps_(job.steps) {}

  void take(const node_rpc::StepNews& news) {
    if (news.made) made(*news.made);
    else if (news.ended) ended(*news.ended);
    else if (news.used) used(*news.used);
  }
  // Steps that still ran when the job ended were stopped with it.
  void end_rest() {
    for (const Step& s : std::vector<Step>(steps_)) end({s.id, kEndedWithJob, false, job_.ended, nullptr, {}}, JobState::kCancelled);
  }

 private:
  Time within_run(Time t) const {
    return std::clamp(t, std::min(job_.started, v_.now), job_.finished() ? std::max(job_.ended, job_.started) : v_.now);
  }

  bool is_new(StepId id) const {
    if (id == kInteractiveStep) return std::ranges::find(steps_, id, &Step::id) == steps_.end();
    return id.value < kInteractiveStep.value && id.value >= next_step_;
  }
  void made(Step step) {
    auto known = std::ranges::find(steps_, step.id, &Step::id);
    const bool starts = known != steps_.end() && known->state == StepState::kPending && step.state == StepState::kRunning;
    if (!starts && (!is_new(step.id) || steps_.size() >= v_.settings.config().max_step_count)) return;
    if (starts) step.request = known->request;
    if (step.state != StepState::kPending) step.state = StepState::kRunning;
    if (!steps::check_claim(job_, step)) return;
    step.start = within_run(step.start);
    step.exit_status = 0;
    step.out_of_memory = false;
    for (StepShare& s : step.shares) s.done = false;
    if (step.id.value < kInteractiveStep.value) next_step_ = std::max(next_step_, step.id.value + 1);
    if (starts) *known = step;
    else steps_.push_back(step);
    out_.push_back(event::StepCreated{job_.id, std::move(step)});
  }
  void ended(const node_rpc::StepEnd& e) { end(e, JobState::kPending); }
  // The nodes must be ones that have told nothing of the step yet, each of them.
  void used(const StepUse& use) {
    std::vector<NodeId>& untold = untold_of(use.step);
    const auto waited_for = [&](NodeId n) { return std::ranges::find(untold, n) != untold.end(); };
    if (use.nodes.empty() || !std::ranges::all_of(use.nodes, waited_for)) return;
    std::erase_if(untold, [&](NodeId n) { return std::ranges::find(use.nodes, n) != use.nodes.end(); });
    out_.push_back(event::StepUsed{job_.id, use});
  }
  // Of a step that has ended, before this message or in it.
  std::vector<NodeId>& untold_of(StepId step) {
    auto [at, first] = untold_.try_emplace(step);
    const EndedSteps* ended = first ? v_.cluster.ended_steps.find(job_.id.value) : nullptr;
    if (!ended) return at->second;
    for (const EndedStep& s : ended->steps)
      if (s.record->id == step) at->second = s.untold;
    return at->second;
  }
  void end(const node_rpc::StepEnd& e, JobState state) {
    auto known = std::ranges::find(steps_, e.step, &Step::id);
    if (known == steps_.end()) return used({e.step, e.told, e.usage});
    View then = v_;
    then.now = within_run(e.time);
    event::StepEnded end = step_ended(then, job_, *known, e.exit_status, e.out_of_memory);
    if (state != JobState::kPending) end.state = state;
    end.usage = e.usage;
    end.untold = untold_[e.step] = nodes_to_tell(v_, job_, *known, e.told);
    out_.push_back(std::move(end));
    steps_.erase(known);
  }

  const View& v_;
  const Job& job_;
  Events& out_;
  uint32_t next_step_;
  std::vector<Step> steps_;
  std::map<StepId, std::vector<NodeId>> untold_;
};

// The topology's blocks that the job has nodes in, each with the job's nodes alone.
std::vector<TopologyUnit> blocks_of(const Cluster& cluster, const Job& job) {
  std::vector<TopologyUnit> out;
  const Partition* partition = cluster.partitions.find(job.partition);
  const Topology* t = partition && cluster.topologies ? cluster.topologies->of(*partition) : nullptr;
  if (!t || t->kind != TopologyKind::kBlock) return out;
  Bitmap held;
  for (const NodeShare& s : job.allocation->nodes) held.set(s.node.value);
  for (const TopologyUnit& unit : t->units) {
    TopologyUnit part;
    part.name = unit.name;
    std::ranges::copy_if(unit.nodes, std::back_inserter(part.nodes), [&](uint32_t node) { return held.test(node); });
    if (!part.nodes.empty()) out.push_back(std::move(part));
  }
  return out;
}

}  // namespace

// A node that has registered without a key is of a version that manages nothing. A node that has yet to boot may: nothing is known of it.
bool may_be_managed(const View& v, const Job& job, const Allocation& allocation) {
  const Node* first = v.cluster.nodes.find(allocation.nodes.front().node.value);
  return job.request->stepmgr && !job.het && first && (!first->hardware || !first->hardware->step_key.empty());
}

bool is_managed_by(const Job& job, NodeId node) {
  return job.managed && job.allocation && !job.allocation->nodes.empty() && job.allocation->nodes.front().node == node;
}

std::optional<node_rpc::ManageSteps> manage_order(const Cluster& cluster, const Settings& settings, const Job& job, Time now) {
  const Node* first = cluster.nodes.find(job.allocation->nodes.front().node.value);
  if (!first || !first->hardware || first->hardware->step_key.empty()) return std::nullopt;
  node_rpc::ManageSteps order;
  order.job = job;
  order.request = std::make_shared<const JobRequest>(job.whole_request());
  order.warrant = steps::make_warrant(cluster, job, first->hardware->step_key, now);
  order.warrant.job.by_key_alone = by_key_alone(cluster, settings, job, job.request->uid);
  for (size_t i = 0; i < job.allocation->nodes.size(); ++i) {
    node_rpc::ManagedNode& n = order.nodes.emplace_back();
    n.id = job.allocation->nodes[i].node;
    if (const Node* node = cluster.nodes.find(n.id.value)) {
      n.spec = node->spec;
      n.hardware = node->hardware;
      n.features = node->features_active;
    }
    n.topology_address = order.warrant.job.nodes[i].topology_address;
    n.topology_pattern = order.warrant.job.nodes[i].topology_pattern;
  }
  order.blocks = blocks_of(cluster, job);
  order.bounds = step_bounds(settings);
  order.ports_named = settings.config().mpi_ports.first != 0;
  order.allocated = make_allocated(cluster, job);
  return order;
}

uint32_t first_step_of_next_manager(const View& v, const Job& job) {
  return job.next_step + std::min(kStepsUntold, v.settings.config().max_step_count / 4);
}

void take_news(const View& view, NodeId node, const node_rpc::StepsOfJob& report, Decision<rpc::Empty>& out) {
  const uint64_t last = report.first + report.news.size() - 1;
  // This is said even where nothing was new here: the node need not repeat it.
  if (!report.news.empty() && report.first > 0) out.orders.push_back({node, node_rpc::StepsTaken{report.job, report.generation, last}});
  const Job* j = view.cluster.jobs.find(report.job.value);
  if (!j || j->restarts != report.generation || !is_managed_by(*j, node) || j->pending() || report.first == 0 || report.news.empty() ||
      last <= j->run->step_news)
    return;
  NewsTaker taker(view, *j, out.events);
  for (uint64_t i = 0; i < report.news.size(); ++i)
    if (report.first + i > j->run->step_news) taker.take(report.news[i]);
  if (j->finished()) taker.end_rest();
  out.events.push_back(event::StepsTold{j->id, last});
}

void end_management(const View& v, NodeId node, const node_rpc::Register& r, std::vector<Order>& out) {
  for (const node_rpc::ManagedJob& m : r.managed) {
    const Job* j = v.cluster.jobs.find(m.job.value);
    const bool still = j && j->restarts == m.generation && is_managed_by(*j, node) && !j->finished();
    if (!still) out.push_back({node, node_rpc::EndManagement{m.job, m.generation}});
  }
}

}  // namespace muster::slurmctld
