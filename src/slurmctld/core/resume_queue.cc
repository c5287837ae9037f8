#include "slurmctld/core/resume_queue.h"

#include <algorithm>
#include <map>

namespace muster::slurmctld {
namespace {

using Start = std::pair<Time, JobId>;  // when a job started, and which

// The first of the jobs that the node comes up for; none where they are all over.
std::optional<Start> first_job(const View& view, const Node& node) {
  std::optional<Start> first;
  for (const JobId id : view.indexes.jobs_on(node.id)) {
    const Job* job = view.cluster.jobs.find(id.value);
    if (!job || job->finished()) continue;
    const Start start(job->started, id);
    if (!first || start < *first) first = start;
  }
  return first;
}

void tell(const View& view, const Node& node, Events& out) {
  event::NodeStateChanged change = state_of(node, view.now);
  change.resume_deadline = resume_deadline(view, node);
  change.run = event::PowerProgram::kResume;
  change.power_action.clear();
  out.push_back(std::move(change));
}

void stay_down(const View& view, const Node& node, Events& out) {
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags = (change.flags & ~kNodePoweringUp) | kNodePoweredDown;
  out.push_back(std::move(change));
}

}  // namespace

Time ResumeQueue::look(const View& view, Events& out) {
  std::map<Start, std::vector<const Node*>> gangs;
  view.cluster.nodes.for_each([&](uint32_t, const Node& node) {
    if (!waits(node)) return;
    if (const auto start = first_job(view, node)) gangs[*start].push_back(&node);
    else stay_down(view, node, out);
  });
  const uint32_t rate = view.settings.config().resume_rate;
  for (const auto& [start, nodes] : gangs) {
    const size_t count = rate == 0 ? nodes.size() : std::min<size_t>(nodes.size(), rate);
    if (rate_.room(view.now, rate) < count) return rate_.when(view.now, rate, count);
    for (size_t i = 0; i < count; ++i) tell(view, *nodes[i], out);
    if (rate != 0) rate_.take(view.now, count);
    if (count < nodes.size()) return rate_.when(view.now, rate, std::min<size_t>(nodes.size() - count, rate));
  }
  return kTimeInfinite;
}

}  // namespace muster::slurmctld
