#include "slurmctld/core/apply.h"

#include <algorithm>
#include <type_traits>

#include "acct/admission.h"
#include "base/check.h"
#include "model/account_directory.h"
#include "slurmctld/core/apply_tools.h"
#include "slurmctld/core/given_up.h"
#include "slurmctld/core/node_use.h"
#include "slurmctld/core/records.h"
#include "slurmctld/core/reservation_state.h"
#include "slurmctld/core/run_parts.h"
#include "slurmctld/core/turns.h"

namespace muster::slurmctld {
namespace {

using namespace event;

class Applier : ToolApplier {
 public:
  Applier(Cluster& c, Indexes& x, Time time) : ToolApplier(c), c_(c), x_(x), time_(time), use_(c) {}
  using ToolApplier::operator();

  void operator()(const ClusterNamed& e) {
    c_.name = e.name;
    if (e.first_job_id.value > 0 && c_.last_job_id.value + 1 < e.first_job_id.value) c_.last_job_id = JobId(e.first_job_id.value - 1);
  }

  // ---- nodes and partitions
  void operator()(const NodeDefined& defined) {
    ++c_.nodes_epoch;
    c_.know_tres(tres_of(*defined.spec));
    if (const Node* old = c_.nodes.find(defined.node.value)) {
      if (old->spec->name != defined.spec->name) rename(defined.node.value, defined.spec->name);
      Node& n = *c_.nodes.edit(defined.node.value);
      if (n.weight == n.spec->weight) n.weight = defined.spec->weight;
      if (n.features_active == n.spec->features) n.features_active = defined.spec->features;
      n.spec = defined.spec;
      n.cpus_used.resize(defined.spec->cpus);
      return;
    }
    Node n;
    n.id = defined.node;
    n.spec = defined.spec;
    n.weight = defined.spec->weight;
    n.features_active = defined.spec->features;
    n.comment = defined.spec->comment;
    n.extra = defined.spec->extra;
    n.cpus_used = Bitmap(defined.spec->cpus);
    n.last_busy = defined.time;
    c_.nodes.set(defined.node.value, std::move(n));
    rename(defined.node.value, defined.spec->name);
  }
  void operator()(const NodeRemoved& e) {
    const Node* n = c_.nodes.find(e.node.value);
    if (!n) return;
    ++c_.nodes_epoch;
    x_.remove_node(*n);
    forget(Node(*n));
    leave_reservations(c_, e.node);
  }
  void operator()(const NodeRegistered& e) {
    if (Node* n = c_.nodes.edit(e.node.value)) {
      ++c_.nodes_epoch;
      n->hardware = e.hardware;
      n->last_response = e.time;
    }
  }
  void operator()(const NodeStateChanged& change) {
    const Node* old = c_.nodes.find(change.node.value);
    if (!old) return;
    ++c_.nodes_epoch;
    ++c_.use_epoch;
    x_.remove_node(*old);
    Node& node = *c_.nodes.edit(change.node.value);
    node.admin = change.admin;
    // COMPLETING and BLOCKED say what jobs do here, which only their own events change.
    constexpr uint32_t kOfJobs = kNodeCompleting | kNodeBlocked;
    node.flags = (change.flags & ~kOfJobs) | (node.flags & kOfJobs);
    const bool stays = node.reason == change.reason && node.reason_uid == change.by;  // as old as it was
    if (!stays) node.reason_time = change.reason.empty() ? kTimeUnset : change.time;
    node.reason = change.reason;
    node.reason_uid = change.by;
    node.resume_deadline = change.resume_deadline;
    node.resume_after = change.resume_after;
    node.next_state = change.next_state;
    node.reboot_issued = change.reboot_issued;
    node.action_drained = change.action_drained;
    node.power_action = change.power_action;
    node.boot_features = change.boot_features;
    x_.add_node(node);
  }
  void operator()(const NodeUpdated& e) {
    if (Node* n = c_.nodes.edit(e.node.value)) {
      ++c_.nodes_epoch;
      n->weight = e.weight;
      n->features_active = e.features_active;
      n->comment = e.comment;
      n->extra = e.extra;
      n->instance_id = e.instance_id;
      n->instance_type = e.instance_type;
      n->topology = e.topology;
    }
  }
  void operator()(const TopologyDefined& e) {
    ++c_.nodes_epoch;
    c_.topologies = e.topologies;
  }
  void operator()(const PartitionDefined& e) {
    ++c_.nodes_epoch;
    if (e.partition) c_.change_partition(e.partition->index, e.partition.get(), e.time);
    relist_partitions();
  }
  void operator()(const PartitionRemoved& e) {
    ++c_.nodes_epoch;
    c_.change_partition(e.index, nullptr, e.time);
    relist_partitions();
  }

  void operator()(const ReservationSet& e) { set_reservation(c_, x_, e.reservation.get()); }
  void operator()(const ReservationRemoved& e) { remove_reservation(c_, x_, e.id); }
  // ---- jobs
  void operator()(const RequestStored& e) {
    c_.requests.set(e.id.value, SharedRequest{x_.share(*e.request), PackedOwn(*e.request), 0});
    c_.last_request_id = std::max(c_.last_request_id, e.id);
    x_.add_request(e.id, c_.requests.at(e.id.value));
  }
  void operator()(const JobSubmitted& submitted) {
    const SharedRequest* shared = c_.requests.find(submitted.request.value);
    if (!shared) return;
    Job job;
    job.id = submitted.job;
    job.request_id = submitted.request;
    job.asked_for(shared->body, shared->own);
    job.submitted = submitted.time;
    job.eligible = submitted.eligible;
    job.priority = submitted.priority;
    job.flags = submitted.flags;
    job.reason = submitted.reason;
    job.time_limit_min = submitted.time_limit_min;
    job.partition = submitted.partition;
    job.array_tasks = submitted.array_tasks;
    job.dependencies = submitted.dependencies;
    job.association = submitted.association;
    job.accrues = submitted.accrues;
    job.het = submitted.het;
    if (job.array_tasks) {
      job.array_job_id = submitted.job;
      ArrayGroup g;
      g.total = static_cast<uint32_t>(job.array_tasks->pending.count());
      g.max_running = job.array_tasks->max_running;
      c_.arrays.set(submitted.job.value, g);
    }
    c_.give(submitted.job);
    insert(std::move(job));
  }
  void operator()(const JobChanged& changed) {
    const bool together = changed.array_task != kNoArrayTask && changed.array_tasks;
    change(together ? divide(changed) : split(changed.job, changed.array_task, changed.task_job), [&](Job& job) {
      if (changed.request != job.request_id) relink(job, changed.request);
      job.priority = changed.priority;
      job.flags = changed.flags;
      job.reason = changed.reason;
      job.time_limit_min = changed.time_limit_min;
      job.partition = changed.partition;
      job.association = changed.association;
      job.eligible = changed.eligible;
      job.ends = changed.ends;
      if (!together) job.array_tasks = changed.array_tasks;
      if (ArrayGroup* g = job.array_tasks ? group(job) : nullptr) g->max_running = job.array_tasks->max_running;
      job.dependencies = changed.dependencies;
      job.detail = changed.detail;
      const bool began = job.state == JobState::kRunning && !(job.flags & kJobConfiguring) && job.request->kind == JobKind::kAllocation;
      if (began && !std::exchange(job.launched, true)) set_memory_due(job, std::max(changed.time, job.started));
    });
  }
  void operator()(const JobStarted& e) {
    JobId id = split(e.job, e.array_task, e.task_job);
    if (!c_.jobs.contains(id.value)) return;
    change(id, [&](Job& j) {
      record_start(c_, j, e);
      if (ArrayGroup* g = group(j)) ++g->running;
    });
    c_.moment.verdicts.erase(id.value);
  }
  void operator()(const JobLaunched& e) {
    change(e.job, [&](Job& j) {
      j.launched = true;
      set_memory_due(j, e.time);
      j.flags &= ~(kJobConfiguring | kJobPowerUpNode);
      if (j.reason == Reason::kProlog) j.reason = Reason::kNone;
      if (e.ends != kTimeUnset) j.ends = e.ends;
    });
  }
  void operator()(const JobEnding& ending) {
    if (ending.array_task != kNoArrayTask && !ending.task_job) return drop_task(ending);
    JobId id = split(ending.job, ending.array_task, ending.task_job);
    if (!c_.jobs.contains(id.value)) return;
    change(id, [&](Job& job) {
      const bool held = job.allocation && !job.finished();
      if (ArrayGroup* g = group(job)) {
        if (held && g->running) --g->running;
        uint32_t tasks = job.array_tasks ? static_cast<uint32_t>(job.array_tasks->pending.count()) : 1;
        uint32_t code = static_cast<uint32_t>(ending.exit_status) >> 8 & 0xff;
        g->lowest_exit = g->ended_ok + g->ended_bad == 0 ? code : std::min(g->lowest_exit, code);
        g->highest_exit = std::max(g->highest_exit, code);
        (ending.state == JobState::kCompleted ? g->ended_ok : g->ended_bad) += tasks;
      }
      if (job.state == JobState::kSuspended) job.run.edit().suspended_total = suspended_by(job, ending.time);
      job.state = ending.state;
      job.reason = ending.reason;
      job.detail = ending.detail;
      job.exit_status = ending.exit_status;
      job.ended = ending.time;
      job.cancelled_by = ending.by;
      job.cancel_asked = ending.asked;
      job.flags = (job.flags & ~(kJobConfiguring | kJobPowerUpNode | kJobStopped)) | ending.flags;
      job.steps.clear();
      drop_claim(job);
      if (ending.has_node) job.run.edit().failed_node = ending.node, job.run.edit().has_failed_node = true;
      if (job.started == kTimeUnset) job.started = ending.time;
      job.prolog_due = false;
      if (job.run.is_there()) job.run.edit().settling = job.run.edit().preparing = Bitmap();
      if (!held) return;
      c_.count_licenses(job, false);
      job.run.edit().releasing = ending.releasing;
      job.epilog_due = ending.epilog;
      if (!job.cleaned_up()) job.flags |= kJobCompleting;
      use_.end(job, ending.time);
      if (job.all_released()) use_.lift_fences(job);
      note_use(c_, x_, job.run->reservation, ending.time);
    });
    c_.moment.verdicts.erase(id.value);
  }
  void operator()(const JobNodesReleased& released) {
    const Job* old = c_.jobs.find(released.job.value);
    if (!old || !old->allocation) return;
    Bitmap now = old->run->releasing & released.nodes;
    if (now.none()) return;
    bool last = !(old->run->releasing - now).any() && old->run->leaving.empty();
    if (last) x_.remove(*old), c_.count_channels(*old, false);
    Job& j = *c_.jobs.edit(released.job.value);
    now.for_each([&](size_t i) {
      use_.release(j, j.allocation->nodes[i], true, released.time);
      if (!last) x_.node_released(j, j.allocation->nodes[i].node);
    });
    j.run.edit().releasing -= now;
    if (!last) return;
    if (j.cleaned_up()) j.flags &= ~kJobCompleting;
    use_.lift_fences(j);
    x_.add(j);
  }
  void operator()(const JobShrunk& shrunk) {
    change(shrunk.job, [&](Job& job) {
      c_.count_licenses(job, false);
      const AllocationPtr before = std::exchange(job.allocation, shrunk.allocation);
      c_.count_licenses(job, true);
      std::vector<uint32_t> place(before->nodes.size(), kGivenUp);  // the index before → the index now
      for (uint32_t i = 0, kept = 0; i < before->nodes.size(); ++i) {
        const NodeShare& share = before->nodes[i];
        if (kept < job.allocation->nodes.size() && job.allocation->nodes[kept].node == share.node) place[i] = kept++;
        else use_.give_up(job, share, shrunk.free_at_once.test(i), shrunk.time);
      }
      for (size_t i = before->fenced.size(); i < job.allocation->fenced.size(); ++i) use_.fence(job.allocation->fenced[i]);
      move_steps(job, place);
      JobRun& run = job.run.edit();
      if (begins_part(job, shrunk.time)) run.resizes.push_back({shrunk.time, suspended_by(job, shrunk.time)});
      run.batch_index = place[run.batch_index] == kGivenUp ? 0 : place[run.batch_index];
      run.releasing = Bitmap(job.allocation->nodes.size());
      run.settling = moved(run.settling, place);
      run.preparing = moved(run.preparing, place);
      run.resized = shrunk.time;
      if (shrunk.next_step) job.next_step = shrunk.next_step;
      if (!run.leaving.empty()) job.flags |= kJobResizing;
    });
  }
  void operator()(const JobNodeLeft& left) {
    const Job* old = c_.jobs.find(left.job.value);
    if (!old || !old->is_leaving(left.node)) return;
    change(left.job, [&](Job& j) {
      std::vector<NodeShare>& leaving = j.run.edit().leaving;
      auto at = std::ranges::find(leaving, left.node, &NodeShare::node);
      use_.release(j, *at, true, left.time);
      leaving.erase(at);
      if (!leaving.empty()) return;
      j.flags &= ~kJobResizing;
      if (!j.finished() || j.run->releasing.any()) return;
      if (j.cleaned_up()) j.flags &= ~kJobCompleting;
      use_.lift_fences(j);
    });
  }
  void operator()(const JobMemoryReduced& reduced) {
    const Job* old = c_.jobs.find(reduced.job.value);
    if (!old || !old->allocation || old->finished()) return;
    change(reduced.job, [&](Job& job) {
      job.run.edit().memory_due = kTimeUnset;
      auto left = std::make_shared<Allocation>(*job.allocation);
      for (NodeShare& share : left->nodes) cut_memory(share, reduced.mem_mb);
      left->billing = reduced.billing;
      job.allocation = std::move(left);
      for (Step& step : job.steps)
        for (StepShare& share : step.shares) share.mem_mb = std::min(share.mem_mb, reduced.mem_mb);
    });
  }
  void operator()(const JobProgramEnded& e) {
    change(e.job, [&](Job& j) {
      (e.epilog ? j.epilog_due : j.prolog_due) = false;
      if (j.finished() && j.cleaned_up()) j.flags &= ~kJobCompleting;
    });
  }
  void operator()(const JobNodesPrepared& e) {
    change(e.job, [&](Job& j) { j.run.edit().preparing -= e.nodes; });
  }
  void operator()(const JobRequeued& e) {
    change(e.job, [&](Job& j) {
      if (ArrayGroup* g = group(j)) {
        uint32_t& ended = j.state == JobState::kCompleted ? g->ended_ok : g->ended_bad;
        if (ended) --ended;
      }
      record(j, e);
    });
  }
  void operator()(const JobSuspended& e) {
    change(e.job, [&](Job& j) { record(j, e, use_); });
  }
  void operator()(const JobPreempted& e) {
    change(e.job, [&](Job& j) { record(j, e); });
  }
  void operator()(const JobClaimed& e) {
    change(split(e.job, e.array_task, e.task_job), [&](Job& j) { record(j, e); });
  }
  void operator()(const JobsPurged& purged) {
    for (JobId id : purged.jobs) {
      const Job* job = c_.jobs.find(id.value);
      if (!job) continue;
      x_.remove(*job);
      c_.count_channels(*job, false);
      c_.recharge(Charge::of(*job, c_.partitions), {}, time_);
      RequestId request = job->request_id;
      JobId array = job->array_job_id;
      c_.jobs.erase(id.value);
      c_.moment.verdicts.erase(id.value);
      c_.cron_jobs.erase(id.value);
      drop_request(request);
      if (array && --array_records(array) == 0) c_.arrays.erase(array.value);
    }
  }

  // ---- steps
  void operator()(const StepCreated& e) {
    if (Job* j = c_.jobs.edit(e.job.value)) {
      j->next_step = std::max(j->next_step, e.step.id.value < kInteractiveStep.value ? e.step.id.value + 1 : 0);
      auto waiting = std::ranges::find(j->steps, e.step.id, &Step::id);
      Step& step = waiting == j->steps.end() ? j->steps.emplace_back() : *waiting;
      step = e.step;
      step.suspended_before = suspended_by(*j, step.start);
    }
  }
  void operator()(const StepNodesDone& e) {
    Job* j = c_.jobs.edit(e.job.value);
    if (!j) return;
    for (Step& s : j->steps) {
      if (s.id != e.step) continue;
      s.exit_status = std::max(s.exit_status, e.exit_status);
      s.out_of_memory = s.out_of_memory || e.out_of_memory;
      s.usage = merged(s.usage, e.usage);
      for (StepShare& share : s.shares)
        if (e.nodes.test(share.node_index)) share.done = true;
    }
  }
  void operator()(const StepEnded& e) {
    Job* j = c_.jobs.edit(e.job.value);
    if (!j) return;
    for (size_t i = 0; i < j->steps.size(); ++i) {
      if (j->steps[i].id != e.step) continue;
      j->derived_exit_status = std::max(j->derived_exit_status, e.exit_status);
      j->steps.erase(j->steps.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
  void operator()(const StepUsed& e) {
    if (e.use.step != kBatchStep && e.use.step != kExternStep) return;  // of others, the accounting records know
    Job* j = c_.jobs.edit(e.job.value);
    if (!j) return;
    if (e.use.step == kBatchStep) j->run.edit().batch_usage = e.use.usage;
    else j->run.edit().external_usage = merged(j->run->external_usage, e.use.usage);
  }
  void operator()(const StepsTold& e) {
    if (Job* j = c_.jobs.edit(e.job.value)) j->run.edit().step_news = e.news;
  }
  void operator()(const StepUpdated& e) {
    Job* j = c_.jobs.edit(e.job.value);
    if (!j) return;
    for (Step& s : j->steps)
      if (s.id == e.step) s.time_limit_min = e.time_limit_min;
  }
  void operator()(const JobWarned& e) {
    change(e.job, [&](Job& j) { j.run.edit().time_warned |= e.what ? e.what : static_cast<uint32_t>(kWarnedSignal); });
  }
  void operator()(const JobScriptEnded& e) {
    if (Job* j = c_.jobs.edit(e.job.value)) j->exit_status = e.exit_status;
  }
  // ---- accounting
  void operator()(const AccountingSet& accounting) {
    c_.accounting = accounting.on;
    if (accounting.on) {
      std::vector<JobId> all;
      c_.jobs.for_each([&](uint32_t id, const Job&) { all.push_back(JobId(id)); });
      for (JobId id : all) mark_record(c_, x_, id);
    } else {
      forget_all_records(c_, x_);
      c_.ended_steps = {};
      c_.forget_accounts();
      recorded(c_.position);
    }
  }
  void operator()(const DirectoryLearned& e) {
    c_.learn_accounts(e.changes ? *e.changes : AccountChanges(), e.time);
    for (const auto& [id, association] : acct::associations_found(c_)) change(id, [&](Job& j) { j.association = association; });
    ++c_.jobs_epoch;  // jobs that waited for want of an account may start
  }
  void operator()(const HalfLifeSet& e) { c_.set_half_life(e.half_life, e.time); }
  void operator()(const UsageReset& e) {
    ++c_.jobs_epoch;  // a limit on what was used holds nobody back any more
    if (e.association) c_.reset_usage_of_association(e.association, e.time);
    else if (!e.qos.empty()) c_.reset_usage_of_qos(e.qos, e.time);
    else c_.reset_usage(e.time);
  }
  void operator()(const JobsAccrue& e) {
    for (JobId id : e.jobs) change(id, [&](Job& j) { j.accrues = e.of_each ? j.eligible : e.since; });
  }
  void operator()(const PrioritiesKept& e) {
    for (size_t i = 0; i < std::min(e.jobs.size(), e.priorities.size()); ++i)
      if (const Job* job = c_.jobs.find(e.jobs[i].value); job && job->pending() && job->priority != 0)
        change(e.jobs[i], [&](Job& j) { j.priority = e.priorities[i]; });
  }
  void operator()(const RecordsStored& stored) {
    for (const Indexes::Unrecorded& r : x_.unrecorded()) {
      if (r.position > stored.position) break;
      if (r.kept) forget_record(c_, x_, r.id);
    }
    recorded(stored.position);
    for (uint32_t number : stored.dropped) {
      const KeptRecord* r = c_.kept_records.find(number);
      if (!r) continue;
      x_.remove_unrecorded({r->position, true, number});
      forget_record(c_, x_, number);
    }
  }
  void operator()(const JobNodesSettled& e) {
    change(e.job, [&](Job& j) {
      if (e.suspended == (j.state == JobState::kSuspended)) j.run.edit().settling -= e.nodes;
    });
  }

 private:
  void recorded(uint64_t position) {
    c_.recorded_position = std::max(c_.recorded_position, position);
    x_.recorded(c_.recorded_position);
  }
  template <class F>
  void change(JobId id, F&& edit) {
    const Job* old = c_.jobs.find(id.value);
    if (!old) return;
    ++c_.jobs_epoch;
    x_.remove(*old);
    c_.count_channels(*old, false);
    const Charge was = Charge::of(*old, c_.partitions);
    Job& job = *c_.jobs.edit(id.value);
    edit(job);
    x_.add(job);
    c_.count_channels(job, true);
    c_.recharge(was, Charge::of(job, c_.partitions), time_);
  }
  void insert(Job j) {
    ++c_.jobs_epoch;
    ++c_.requests.edit(j.request_id.value)->jobs;
    x_.add(j);
    c_.recharge({}, Charge::of(j, c_.partitions), time_);
    uint32_t id = j.id.value;
    if (j.array_job_id) ++array_records(j.array_job_id);
    c_.jobs.set(id, std::move(j));
  }
  void relink(Job& j, RequestId to) {
    SharedRequest* r = c_.requests.edit(to.value);
    if (!r) return;
    ++r->jobs;
    drop_request(j.request_id);
    j.request_id = to;
    j.asked_for(r->body, r->own);
  }
  void drop_request(RequestId id) {
    SharedRequest* r = c_.requests.edit(id.value);
    if (!r || --r->jobs > 0) return;
    x_.remove_request(id, *r);
    c_.requests.erase(id.value);
  }
  ArrayGroup* group(const Job& j) { return j.array_job_id ? c_.arrays.edit(j.array_job_id.value) : nullptr; }
  uint32_t& array_records(JobId array) { return c_.arrays.edit(array.value)->records; }

  void cut_memory(NodeShare& share, uint64_t most_mb) {
    if (share.mem_mb <= most_mb) return;
    ++c_.use_epoch;
    if (Node* node = c_.nodes.edit(share.node.value)) node->mem_used_mb -= std::min(node->mem_used_mb, share.mem_mb - most_mb);
    share.mem_mb = most_mb;
  }

  // Many tasks may go in one turn: while nobody else looks at what is left, it is changed in place.
  static Bitmap& waiting_tasks(Job& j) {
    if (j.array_tasks.use_count() > 1) j.array_tasks = std::make_shared<const ArrayTasks>(*j.array_tasks);
    return const_cast<ArrayTasks&>(*j.array_tasks).pending;
  }
  static void without_task(Job& j, uint32_t task) { waiting_tasks(j).reset(task); }

  // A task is cancelled before it started: it is taken out of the array's record, and that is all. The last one ends the record.
  void drop_task(const JobEnding& ending) {
    const Job* old = c_.jobs.find(ending.job.value);
    if (!old || !old->array_tasks || old->finished() || !old->array_tasks->pending.test(ending.array_task)) return;
    if (old->array_tasks->pending.count() == 1) {
      JobEnding whole = ending;
      whole.array_task = kNoArrayTask;
      return (*this)(whole);
    }
    change(ending.job, [&](Job& j) {
      without_task(j, ending.array_task);
      if (ArrayGroup* g = group(j)) {
        ++g->ended_bad;
        g->dropped.set(ending.array_task);
      }
    });
  }
  // Takes one pending task out of an array record; the last one keeps that record. Returns the task's record; none for a task that is not
  // there (any more).
  JobId split(JobId job, uint32_t task, JobId task_job) {
    const Job* old = c_.jobs.find(job.value);
    if (task == kNoArrayTask || !old) return job;
    if (!old->array_tasks || !old->array_tasks->pending.test(task)) return JobId{};
    if (task_job == job || old->array_tasks->pending.count() == 1) {
      change(job, [&](Job& j) {
        j.array_tasks = nullptr;
        j.array_task = task;
      });
      return job;
    }
    Job own = c_.jobs.at(job.value);
    own.array_tasks = nullptr;
    change(job, [&](Job& j) { without_task(j, task); });
    own.id = task_job;
    own.array_task = task;
    c_.give(task_job);
    insert(std::move(own));
    return task_job;
  }

  // Takes several pending tasks out of an array record, for one record of theirs. Where that is there already, they join it and become what
  // it is: then there is nothing more to change.
  JobId divide(const JobChanged& part) {
    const Job* old = c_.jobs.find(part.job.value);
    if (!old || !old->array_tasks || !old->array_tasks->pending.contains(part.array_tasks->pending)) return JobId{};
    Job own = *old;
    change(part.job, [&](Job& j) { waiting_tasks(j) -= part.array_tasks->pending; });
    if (!c_.jobs.contains(part.task_job.value)) {
      own.id = part.task_job;
      own.array_tasks = part.array_tasks;
      c_.give(part.task_job);
      insert(std::move(own));
      return part.task_job;
    }
    change(part.task_job, [&](Job& j) {
      if (!j.array_tasks) j.array_tasks = std::make_shared<const ArrayTasks>(ArrayTasks{{}, part.array_tasks->max_running});
      if (j.array_task != kNoArrayTask) waiting_tasks(j).set(std::exchange(j.array_task, kNoArrayTask));
      waiting_tasks(j) |= part.array_tasks->pending;
    });
    return JobId{};
  }

  Cluster& c_;
  Indexes& x_;
  Time time_;  // of the event; unset where it has none, and then it changes nothing that time matters for
  NodeUse use_;
};

}  // namespace

void apply(Cluster& cluster, Indexes& indexes, const Event& event) {
  ++cluster.position;
  const std::vector<NodeBefore> nodes = nodes_before(cluster, event);
  if (cluster.accounting) keep_records(cluster, indexes, event);
  std::visit(Applier(cluster, indexes, time_of(event)), event);
  if (cluster.accounting) mark_records(cluster, indexes, event);
  keep_node_records(cluster, indexes, nodes, time_of(event));
}

}  // namespace muster::slurmctld
