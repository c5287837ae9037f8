// Which events change accounting records, and what they take away that still has to be recorded.
#include <algorithm>
#include <functional>

#include "slurmctld/core/records.h"
#include "slurmctld/core/run_parts.h"

namespace muster::slurmctld {
namespace {

using namespace event;

// Keeps what an event takes away; called before the event is applied.
class Keeper {
 public:
  Keeper(Cluster& c, Indexes& x) : c_(c), x_(x) {}

  template <class E>
  void operator()(const E&) {}
  void operator()(const StepEnded& e) {
    const Job* j = c_.jobs.find(e.job.value);
    if (!j) return;
    for (const Step& s : j->steps)
      if (s.id == e.step) remember(*j, keep_step(*j, s, state_of(e), e.exit_status, e.time, Uid(), e.usage), e.untold);
  }
  void operator()(const JobEnding& e) {
    const Job* j = c_.jobs.find(e.job.value);
    if (!j) return;
    // Steps that still ran when their job ended were stopped.
    for (const Step& s : j->steps) {
      const JobState state = e.state == JobState::kNodeFail ? e.state : JobState::kCancelled;
      remember(*j, keep_step(*j, s, state, s.exit_status, e.time, e.by), still_there(*j, s));
    }
  }
  // The record of a step that has ended is kept again once all of its nodes have told what it used there, or are gone.
  void operator()(const StepUsed& e) {
    change_ended(e.job, [&](EndedStep& s) {
      if (s.record->id != e.use.step) return;
      if (e.use.usage) {
        auto record = std::make_shared<StepRecord>(*s.record);
        record->usage = merged(record->usage, e.use.usage);
        s.record = std::move(record);
        s.recorded = false;
      }
      std::erase_if(s.untold, [&](NodeId n) { return std::ranges::find(e.use.nodes, n) != e.use.nodes.end(); });
    });
  }
  void operator()(const JobNodesReleased& e) {
    const Job* j = c_.jobs.find(e.job.value);
    if (!j || !j->allocation) return;
    change_ended(e.job, [&](EndedStep& s) {
      std::erase_if(s.untold, [&](NodeId node) {
        auto at = std::ranges::find(j->allocation->nodes, node, &NodeShare::node);
        return at == j->allocation->nodes.end() || e.nodes.test(static_cast<size_t>(at - j->allocation->nodes.begin()));
      });
    });
  }
  // The part of the run that ends here. A step goes with the last of its nodes.
  void operator()(const JobShrunk& e) {
    const Job* j = c_.jobs.find(e.job.value);
    if (!j || !j->allocation || !e.allocation) return;
    if (begins_part(*j, e.time)) keep_job(make_part_record(c_, *j, e.time));
    auto gone = [&](const StepShare& x) {
      const NodeId node = j->allocation->nodes[x.node_index].node;
      return std::ranges::find(e.allocation->nodes, node, &NodeShare::node) == e.allocation->nodes.end();
    };
    for (const Step& s : j->steps)
      if (!s.shares.empty() && std::ranges::all_of(s.shares, gone)) keep_step(*j, s, lost_state(*j, s), s.exit_status, e.time, Uid());
  }
  void operator()(const JobRequeued& e) {
    wait_no_longer(e.job);
    if (const Job* j = c_.jobs.find(e.job.value)) keep_job(*j);
  }
  void operator()(const ReservationRemoved& e) {
    const Reservation* old = c_.reservations.find(e.id);
    if (!old || old->floats()) return;
    ReservationRecord r = make_reservation_record(c_, *old);
    r.ended = std::max(r.started, std::min(r.ended, e.time));
    add({.reservation = std::make_shared<const ReservationRecord>(std::move(r))});
  }
  void operator()(const JobsPurged& e) {
    for (JobId id : e.jobs) wait_no_longer(id);
    for (JobId id : e.jobs)
      if (const Job* j = c_.jobs.find(id.value); j && j->record_position > c_.recorded_position) keep_job(*j);
  }

 private:
  static JobState state_of(const StepEnded& e) {
    if (e.state != JobState::kPending) return e.state;
    return e.exit_status == 0 ? JobState::kCompleted : JobState::kFailed;
  }
  // The state of a step that lost its nodes: NODE_FAIL if one of them failed, else they were given up.
  JobState lost_state(const Job& j, const Step& s) const {
    auto down = [&](const StepShare& x) {
      const Node* n = c_.nodes.find(j.allocation->nodes[x.node_index].node.value);
      return !n || n->admin == NodeState::kDown;
    };
    return std::ranges::any_of(s.shares, down) ? JobState::kNodeFail : JobState::kCancelled;
  }
  std::shared_ptr<const StepRecord> keep_step(const Job& j, const Step& s, JobState state, int32_t exit_status, Time ended, Uid by,
                                              const StepUsagePtr& last_used = nullptr) {
    StepRecord r = make_step_record(c_, j, s);
    r.usage = merged(r.usage, last_used);
    r.state = state;
    r.exit_status = std::max(exit_status, s.exit_status);
    r.ended = ended;
    r.suspended = kTimeUnset;
    r.suspended_total = suspended_since(j, s.suspended_before, ended);
    r.cancelled_by = by;
    return keep(std::move(r));
  }
  static std::vector<NodeId> still_there(const Job& j, const Step& s) {
    std::vector<NodeId> out;
    for (const StepShare& x : s.shares)
      if (!x.done && s.state != StepState::kPending) out.push_back(j.allocation->nodes[x.node_index].node);
    return out;
  }
  void remember(const Job& j, std::shared_ptr<const StepRecord> record, std::vector<NodeId> untold) {
    if (untold.empty()) return;
    EndedSteps ended;
    if (const EndedSteps* known = c_.ended_steps.find(j.id.value)) ended = *known;
    ended.job = j.id;
    ended.steps.push_back({std::move(record), std::move(untold)});
    if (ended.steps.size() > EndedSteps::kMost) ended.steps.erase(ended.steps.begin());
    c_.ended_steps.set(j.id.value, std::move(ended));
  }
  // Changes each of the job's steps that are waited for; one that no node is waited for any more is kept as it is now.
  void change_ended(JobId job, const std::function<void(EndedStep&)>& change) {
    const EndedSteps* known = c_.ended_steps.find(job.value);
    if (!known) return;
    EndedSteps ended = *known;
    for (EndedStep& s : ended.steps) {
      change(s);
      if (s.untold.empty() && !s.recorded) keep(*s.record);
    }
    std::erase_if(ended.steps, [](const EndedStep& s) { return s.untold.empty(); });
    if (ended.steps.empty()) c_.ended_steps.erase(job.value);
    else c_.ended_steps.set(job.value, std::move(ended));
  }
  void wait_no_longer(JobId job) {
    change_ended(job, [](EndedStep& s) { s.untold.clear(); });
  }
  void keep_job(const Job& j) {
    if (has_batch_record(j)) keep(make_batch_record(c_, j));
    if (has_external_record(j)) keep(make_external_record(c_, j));
    keep_job(make_job_record(c_, j));
  }
  void keep_job(JobRecord r) {
    r.position = c_.position;
    add({.job = std::make_shared<const JobRecord>(std::move(r))});
  }
  std::shared_ptr<const StepRecord> keep(StepRecord r) {
    r.position = c_.position;
    auto kept = std::make_shared<const StepRecord>(std::move(r));
    add({.step = kept});
    return kept;
  }
  void add(KeptRecord r) { keep_record(c_, x_, std::move(r)); }

  Cluster& c_;
  Indexes& x_;
};

// Marks the jobs whose records an event changes; called after the event is applied.
struct Marker {
  Cluster& c;
  Indexes& x;

  void mark(JobId id) { mark_record(c, x, id); }
  void mark_with_task(JobId job, JobId task_job) {
    mark(job);
    if (task_job && task_job != job) mark(task_job);
  }
  template <class E>
  void operator()(const E&) {}
  void operator()(const JobSubmitted& e) { mark(e.job); }
  void operator()(const JobChanged& e) { mark_with_task(e.job, e.task_job); }
  void operator()(const JobStarted& e) { mark_with_task(e.job, e.task_job); }
  void operator()(const JobLaunched& e) { mark(e.job); }
  void operator()(const JobEnding& e) { mark_with_task(e.job, e.task_job); }
  void operator()(const JobRequeued& e) { mark(e.job); }
  void operator()(const JobSuspended& e) { mark(e.job); }
  void operator()(const JobScriptEnded& e) { mark(e.job); }
  void operator()(const JobShrunk& e) { mark(e.job); }
  void operator()(const JobMemoryReduced& e) { mark(e.job); }
  void operator()(const StepCreated& e) { mark(e.job); }
  void operator()(const ReservationSet& e) {
    if (e.reservation && !e.reservation->floats())
      keep_record(c, x, {.reservation = std::make_shared<const ReservationRecord>(make_reservation_record(c, *e.reservation))});
  }
  void operator()(const StepUsed& e) {
    if (e.use.step == kBatchStep || e.use.step == kExternStep) mark(e.job);  // their records are made from the job
  }
};

}  // namespace

void mark_record(Cluster& c, Indexes& x, JobId id) {
  Job* j = c.jobs.edit(id.value);
  if (!j || j->record_position == c.position) return;
  x.remove_unrecorded({j->record_position, false, id.value});
  j->record_position = c.position;
  x.add_unrecorded({c.position, false, id.value});
}

void keep_record(Cluster& c, Indexes& x, KeptRecord r) {
  const uint32_t number = ++c.last_kept_record;
  r.position = c.position;
  if (r.job) x.hold_blobs(*r.job);
  c.kept_records.set(number, std::move(r));
  x.add_unrecorded({c.position, true, number});
}

void forget_record(Cluster& c, Indexes& x, uint32_t number) {
  const KeptRecord* r = c.kept_records.find(number);
  if (!r) return;
  if (r->job) x.let_go_of_blobs(*r->job);
  c.kept_records.erase(number);
}

void forget_all_records(Cluster& c, Indexes& x) {
  c.kept_records.for_each([&](uint32_t, const KeptRecord& r) {
    if (r.job) x.let_go_of_blobs(*r.job);
  });
  c.kept_records = {};
}

void keep_records(Cluster& c, Indexes& x, const Event& event) { std::visit(Keeper(c, x), event); }
void mark_records(Cluster& c, Indexes& x, const Event& event) { std::visit(Marker{c, x}, event); }

}  // namespace muster::slurmctld
