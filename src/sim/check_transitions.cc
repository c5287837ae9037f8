// A job's states follow one another as documented, and its times are in order.
#include <algorithm>
#include <cstdio>

#include "model/dependency.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

struct Transition {
  const Cluster& c;
  std::string problem;

  const Job* find(JobId id) {
    const Job* j = c.jobs.find(id.value);
    if (!j && problem.empty()) problem = "no such job";
    return j;
  }
  void expect(bool ok, const char* what) {
    if (!ok && problem.empty()) problem = what;
  }
  // Tasks that leave their array's record may do so for one that others have left it for before.
  bool joins(const Job& j, const event::JobChanged& e) const {
    const Job* o = c.jobs.find(e.task_job.value);
    return e.array_tasks && o && o->pending() && o->array_job_id == j.array_job_id &&
           j.array_tasks->pending.contains(e.array_tasks->pending);
  }
  // A task whose only condition is aftercorr does not start after the task of its number has failed.
  void expect_correspondence(const Job& j, const event::JobStarted& e) {
    const auto asked = parse_dependencies(j.own.get(&RequestOwn::dependency));
    if (!asked || asked->list.size() != 1 || asked->list[0].type != DependencyType::kAfterCorr || e.array_task == kNoArrayTask) return;
    c.jobs.for_each([&](uint32_t, const Job& o) {
      const bool corresponds = o.array_job_id == asked->list[0].job && o.array_task == e.array_task && o.array_job_id;
      if (corresponds && o.restarts == 0 && j.restarts == 0)
        expect(o.state == JobState::kCompleted || !o.finished(), "its corresponding task failed");
      if (corresponds && o.restarts == 0 && j.restarts == 0) expect(!o.pending(), "its corresponding task has not run");
      return true;
    });
  }
  template <class E>
  void operator()(const E&) {}
  void operator()(const event::JobSubmitted& e) {
    expect(!c.jobs.contains(e.job.value), "its id is in use");
    expect(!c.arrays.contains(e.job.value), "its id is an array's");
    expect(c.requests.contains(e.request.value), "its request is not stored");
  }
  void operator()(const event::JobChanged& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(c.requests.contains(e.request.value), "its new request is not stored");
    expect(j->pending() || j->finished() || !e.array_tasks, "an array record that runs");
    if (e.array_task != kNoArrayTask)
      expect(j->pending() && j->array_tasks && j->array_tasks->pending.test(e.array_task) &&
                 (e.task_job == e.job || !c.jobs.contains(e.task_job.value) || joins(*j, e)),
             "a record for an array task that is not pending, or under an id in use");
  }
  void operator()(const event::JobStarted& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(j->pending(), "started, but not pending");
    expect(j->priority > 0, "started while held");
    expect(!j->dependencies, "started with dependencies");
    expect_correspondence(*j, e);
    if (e.array_task == kNoArrayTask) return expect(!j->array_tasks, "an array record started as a whole");
    expect(j->array_tasks && j->array_tasks->pending.test(e.array_task), "started an array task that is not pending");
    expect(e.task_job == e.job || !c.jobs.contains(e.task_job.value), "the task's own id is in use");
  }
  void operator()(const event::JobLaunched& e) {
    const Job* j = find(e.job);
    if (j) expect(j->state == JobState::kRunning || j->state == JobState::kSuspended, "launched, but not running");
  }
  void operator()(const event::JobEnding& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(is_finished(e.state), "ends in a state that is no end");
    expect(!j->finished(), "ended twice");
    expect(j->started == kTimeUnset || j->pending() || e.time >= j->started, "ended before it started");
    if (e.array_task != kNoArrayTask)
      expect(j->array_tasks && j->array_tasks->pending.test(e.array_task) && (e.task_job == e.job || !c.jobs.contains(e.task_job.value)),
             "ended an array task that is not pending, or under an id in use");
    if (j->pending()) expect(e.releasing.none(), "a pending job releases nodes");
  }
  void operator()(const event::JobNodesReleased& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(j->finished(), "released before it ended");
    expect(j->run->releasing.contains(e.nodes), "released nodes that it does not hold");
  }
  void operator()(const event::JobShrunk& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(!j->pending() && !j->finished(), "shrunk, but it has no nodes");
    expect(j->run->leaving.empty() || j->request->no_kill, "shrunk while it still is");  // a node may be lost at any time
    expect(e.allocation && !e.allocation->nodes.empty() && j->allocation && e.allocation->nodes.size() < j->allocation->nodes.size(),
           "shrunk to nothing, or not at all");
  }
  void operator()(const event::JobMemoryReduced& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(j->state == JobState::kRunning && j->allocation, "its memory is reduced, and it does not run");
    expect(j->run->memory_due != kTimeUnset && j->run->memory_due <= e.time, "its memory is reduced before that is due, or twice in a run");
    const uint64_t most = j->allocation ? std::ranges::max(j->allocation->nodes, {}, &NodeShare::mem_mb).mem_mb : 0;
    expect(e.mem_mb <= most && e.mem_mb * 10 >= most, "its memory grows, or less than a tenth is left");
  }
  void operator()(const event::JobNodeLeft& e) {
    const Job* j = find(e.job);
    if (j) expect(j->is_leaving(e.node), "left a node that it did not give up");
  }
  void operator()(const event::JobRequeued& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(j->finished() && j->all_released(), "requeued while it holds nodes or runs");
    expect((e.priority == 0) == ((e.flags & (kJobHeldByUser | kJobHeldByAdmin)) != 0), "requeued: held and priority disagree");
  }
  void operator()(const event::JobSuspended& e) {
    const Job* j = find(e.job);
    if (j) expect(j->state == (e.resumed ? JobState::kSuspended : JobState::kRunning), "suspended or resumed in the wrong state");
  }
  void operator()(const event::JobPreempted& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(!j->pending() && !j->finished(), "chosen to make room, but it holds nothing");
    expect(!j->is_preempted(), "chosen to make room twice");
    expect(e.how == PreemptHow::kCancel || e.how == PreemptHow::kRequeue, "chosen to make room without an end");
    const Job* by = find(e.by);
    if (by) expect(by->pending() && by->turns->claim != nullptr, "makes room for a job that claims nothing");
  }
  void operator()(const event::JobClaimed& e) {
    const Job* j = find(e.job);
    if (!j) return;
    expect(j->pending(), "claims the place of others, but is not pending");
    if (e.claim) expect(!j->turns->claim, "claims a second place");
    else expect(j->turns->claim != nullptr, "gives up a claim that it has not");
  }
  void operator()(const event::JobNodesSettled& e) {
    const Job* j = find(e.job);
    if (j) expect(j->run->settling.contains(e.nodes), "nodes confirm what they were not asked for");
  }
  void operator()(const event::JobsPurged& e) {
    for (JobId id : e.jobs) {
      const Job* j = find(id);
      if (j) expect(j->finished() && j->all_released(), "purged before its end");
      if (j) expect(!(j->flags & (kJobRequeued | kJobRequeueHold)), "purged instead of requeued");
    }
  }
};

template <class E>
std::string about(const E& e) {
  std::string out = E::kName;
  if constexpr (requires { e.job; }) out += " " + std::to_string(e.job.value);
  if constexpr (requires { e.task_job; }) out += e.task_job ? " as " + std::to_string(e.task_job.value) : "";
  if constexpr (requires { e.releasing; }) out += " " + std::string(job_state_name(e.state)) + " releasing " + e.releasing.to_ranges();
  if constexpr (requires { e.jobs; })
    for (JobId id : e.jobs) out += " " + std::to_string(id.value);
  return out;
}

}  // namespace

void Checkers::check_transition(const Event& event) {
  Transition transition{mirror_, {}};
  std::visit(transition, event);
  if (world_.options.verbose)
    std::printf("           log %llu: %s\n", static_cast<unsigned long long>(position_),
                std::visit([](const auto& e) { return about(e); }, event).c_str());
  if (auto* put = std::get_if<event::NodeQuarantined>(&event); put && put->quarantine.holds()) {
    uint32_t held = 1;
    mirror_.quarantines.for_each(
        [&](uint32_t node, const Quarantine& one) { held += one.holds() && NodeId(node) != put->quarantine.node; });
    const uint32_t most = slurmctld::QuarantineWatch::most(world_.scenario.settings.config());
    if (held > most) fail("transitions", std::to_string(held) + " nodes are in quarantine; " + std::to_string(most) + " may be");
  }
  if (!transition.problem.empty())
    fail("transitions", std::visit([](const auto& e) { return about(e); }, event) + ": " + transition.problem);
}

}  // namespace muster::sim
