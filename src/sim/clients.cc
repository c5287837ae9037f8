#include "sim/clients.h"

#include <algorithm>

#include "sched/queue/pending.h"
#include "sim/world.h"

namespace muster::sim {

namespace {

slurmctld::Caller caller(Uid uid) { return {uid, Gid(100), {}, {}, "u" + std::to_string(uid.value)}; }

std::string outcome_of(const Result<slurmctld::CommandAnswer>& answer) {
  if (!answer) return std::string(answer.error().message());
  return std::visit(
      [](const auto& a) -> std::string {
        if constexpr (requires { a.errors; })
          if (!a.errors.empty()) return a.errors[0].text;
        return "done";
      },
      *answer);
}

}  // namespace

// Sends a command whose answer nobody waits for; its outcome is noted when the answer leaves.
void Clients::send(std::string what, const slurmctld::Caller& who, slurmctld::Command command) {
  Duration delay = world_.span(world_.random.workload, Duration(50), milliseconds(20));
  world_.after(delay, [this, what = std::move(what), who, command = std::move(command)] {
    world_.controller.post({[this, what, who, command](slurmctld::Core& core, store::EventLog&) -> slurmctld::Reply {
                              std::string outcome = outcome_of(core.run(who, command));
                              return [this, what, outcome] { world_.journal.note(what + ": " + outcome); };
                            },
                            [this, what](const Error&) { world_.journal.note(what + ": refused"); }});
  });
}

void Clients::schedule(Duration horizon) {
  for (uint32_t i = 0; i < world_.options.actions; ++i)
    world_.after(world_.span(world_.random.workload, milliseconds(100), horizon), [this] { act(); });
  if (world_.scenario.maintenance) schedule_maintenances(horizon);
}

void Clients::act() {
  Random& r = world_.random.workload;
  uint64_t dice = r.uniform(0, 99);
  if (dice < 48 || known_.empty()) submit();
  else if (dice < 55) submit_together();
  else if (dice < 66) cancel();
  else if (dice < 82) control();
  else if (dice < 94) update_job();
  else if (world_.scenario.reservations && r.chance(0.6)) reserve();
  else admin();
}

void Clients::submit() {
  Random& rng = world_.random.workload;
  JobRequest request = world_.scenario.request(rng, known_, world_.controller.now());
  if (world_.scenario.reservations) name_a_reservation(request);
  slurmctld::Caller who = caller(request.uid);
  Duration delay = world_.span(rng, Duration(50), milliseconds(20));
  world_.after(delay, [this, request, who] {
    world_.controller.post({[this, request, who](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              auto answer = c.run(who, request);
                              return [this, answer] {
                                world_.journal.note("sbatch: " +
                                                    (answer ? std::to_string(answer->job.value) : std::string(answer.error().message())));
                                if (!answer) return;
                                known_.push_back(answer->job);
                                world_.checkers.acknowledged(answer->job);
                              };
                            },
                            [this](const Error& e) { world_.journal.note("sbatch: refused, " + std::string(e.message())); }});
  });
}

// A heterogeneous job of two to four components.
void Clients::submit_together() {
  Random& rng = world_.random.workload;
  slurmctld::HetRequest job;
  for (uint64_t n = rng.uniform(2, 4); n > 0; --n) {
    JobRequest q = world_.scenario.request(rng, known_, world_.controller.now());
    q.array.clear();
    if (!job.components.empty()) {
      const JobRequest& first = job.components.front();
      q.uid = first.uid;
      q.user_name = first.user_name;
      q.kind = first.kind;
      q.dependency = first.dependency;
    }
    job.components.push_back(std::move(q));
  }
  const auto& partitions = world_.scenario.partitions;
  const bool preempts = std::ranges::find(partitions, "urgent") != partitions.end();
  if (preempts && Random(known_.size()).chance(0.6))  // each by itself is rarely in a partition from which it may preempt others
    for (JobRequest& q : job.components) {
      q.partitions = {"urgent"};
      q.time_limit_min = std::min(q.time_limit_min.value_or(20), 20u);
      q.reservation.clear();
      q.dependency.clear();
    }
  slurmctld::Caller who = caller(job.components.front().uid);
  world_.after(world_.span(rng, Duration(50), milliseconds(20)), [this, job, who] {
    world_.controller.post({[this, job, who](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              auto answer = c.run(who, job);
                              return [this, answer, size = job.components.size()] {
                                world_.journal.note("sbatch of components: " +
                                                    (answer ? std::to_string(answer->job.value) : std::string(answer.error().message())));
                                if (!answer) return;
                                known_.push_back(answer->job);
                                for (uint32_t i = 0; i < size; ++i) world_.checkers.acknowledged(JobId(answer->job.value + i));
                              };
                            },
                            [this](const Error& e) { world_.journal.note("sbatch: refused, " + std::string(e.message())); }});
  });
}

JobId Clients::some_job() {
  Random& r = world_.random.workload;
  size_t n = known_.size(), recent = std::min<size_t>(n, 12);
  return r.chance(0.8) ? known_[n - 1 - r.uniform(0, recent - 1)] : r.pick(known_);
}

JobId Clients::wide_running_job() {
  std::vector<JobId> wide;
  world_.checkers.mirror().jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.state == JobState::kRunning && j.allocation && j.allocation->nodes.size() > 1) wide.push_back(JobId(id));
  });
  return wide.empty() ? JobId{} : world_.random.workload.pick(wide);
}

slurmctld::Caller Clients::someone(JobId job) {
  Random& r = world_.random.workload;
  if (r.chance(0.3)) return slurmctld::Caller::root();
  const Job* j = world_.checkers.mirror().jobs.find(job.value);
  return caller(j && r.chance(0.9) ? j->request->uid : Uid(1001));
}

rpc::JobSelector Clients::select(JobId job) {
  rpc::JobSelector s;
  s.job = job;
  Random& r = world_.random.workload;
  if (world_.checkers.mirror().arrays.contains(job.value)) {
    if (r.chance(0.3)) s.array_task = static_cast<uint32_t>(r.uniform(0, 9));
    else if (r.chance(0.3)) s.array_tasks = std::to_string(r.uniform(0, 4)) + "-" + std::to_string(r.uniform(5, 9));
  }
  if (const Job* j = world_.checkers.mirror().jobs.find(job.value); j && j->het && r.chance(0.4))
    s.het_offset = static_cast<uint32_t>(r.uniform(0, j->het.size));
  return s;
}

void Clients::cancel() {
  Random& r = world_.random.workload;
  JobId job = some_job();
  rpc::SignalJobs c;
  c.filter.jobs.push_back(select(job));
  if (r.chance(0.2)) {
    const uint16_t signals[] = {2, 9, 10, 15, 18, 19};
    c.signal = signals[r.uniform(0, 5)];
    c.scope = static_cast<rpc::SignalScope>(r.uniform(0, 2));
  }
  auto who = someone(job);
  send("scancel " + std::to_string(job.value) + " signal " + std::to_string(c.signal), who, c);
}

void Clients::control() {
  static constexpr const char* kNames[] = {"hold", "uhold", "release", "requeue", "requeuehold", "suspend", "resume", "top"};
  JobId job = some_job();
  rpc::ControlJobs c;
  c.action = static_cast<rpc::JobAction>(world_.random.workload.uniform(0, 7));
  c.jobs.push_back(select(job));
  auto who = someone(job);
  send(std::string("scontrol ") + kNames[static_cast<int>(c.action)] + " " + std::to_string(job.value), who, c);
}

void Clients::update_job() {
  Random& rng = world_.random.workload;
  JobId job = some_job();
  rpc::UpdateJob request;
  request.job = select(job);
  auto number = [&](uint64_t low, uint64_t high) { return std::to_string(rng.uniform(low, high)); };
  switch (rng.uniform(0, 10)) {
    case 0: request.changes.push_back({"TimeLimit", "=", number(1, 40)}); break;
    case 1: request.changes.push_back({"TimeLimit", rng.chance(0.5) ? "+=" : "-=", number(1, 5)}); break;
    case 2: request.changes.push_back({"Nice", "=", number(0, 200)}); break;
    case 3: request.changes.push_back({"Priority", "=", number(0, 2) == "0" ? "0" : number(1, 5000)}); break;
    case 4: request.changes.push_back({"ArrayTaskThrottle", "=", number(0, 4)}); break;
    case 5:
      if (JobId wide = rng.chance(0.7) ? wide_running_job() : JobId{}) request.job = select(job = wide);
      request.changes.push_back({"NumNodes", "=", number(1, 3)});
      break;
    case 6: request.changes.push_back({"Partition", "=", rng.pick(world_.scenario.partitions)}); break;
    case 7: request.changes.push_back({"StartTime", "=", "now+" + number(1, 600)}); break;
    case 8:
      request.changes.push_back({"Dependency", "=", rng.chance(0.4) ? std::string() : "afterany:" + std::to_string(some_job().value)});
      break;
    case 9: request.changes.push_back({"Requeue", "=", number(0, 1)}); break;
    default: request.changes.push_back({"Comment", "=", "note " + number(0, 9)}); break;
  }
  auto who = someone(job);
  send("scontrol update job " + std::to_string(job.value) + " " + request.changes[0].key + request.changes[0].op + request.changes[0].value,
       who, request);
}

void Clients::update_node(const std::string& nodes, const std::string& state) {
  rpc::UpdateNode c;
  c.nodes = nodes;
  c.changes.push_back({"State", "=", state});
  c.changes.push_back({"Reason", "=", state == "resume" ? "" : "admin"});
  send("scontrol update node " + nodes + " " + state, slurmctld::Caller::root(), c);
}

void Clients::update_partition(const std::string& name, const std::string& state) {
  rpc::UpdatePartition c;
  c.name = name;
  c.changes.push_back({"State", "=", state});
  send("scontrol update partition " + name + " " + state, slurmctld::Caller::root(), c);
}

void Clients::admin() {
  Random& r = world_.random.workload;
  if (!(world_.options.faults & kFaultAdmin)) return;
  const char* states[] = {"drain", "resume", "resume", "down", "fail", "undrain"};
  const char* partition_states[] = {"UP", "UP", "DOWN", "DRAIN", "INACTIVE"};
  if (r.chance(0.7)) update_node(r.pick(world_.scenario.nodes), states[r.uniform(0, 5)]);
  else update_partition(r.pick(world_.scenario.partitions), partition_states[r.uniform(0, 4)]);
}

// ---- inside jobs
void Clients::job_started(JobId id) {
  const Job* j = world_.checkers.mirror().jobs.find(id.value);
  if (!j) return;
  uint32_t generation = j->restarts;
  if (j->request->kind == JobKind::kAllocation && j->het.offset == 0)
    world_.after(world_.scenario.runtime(id, generation, world_.calm()), [this, id, generation] { finish_allocation(id, generation); });
  Random& r = world_.random.workload;
  for (uint64_t n = r.chance(0.4) ? r.uniform(1, 3) : 0; n > 0; --n)
    world_.after(world_.span(r, milliseconds(50), seconds(60)), [this, id, generation] { create_step(id, generation); });
}

// salloc tries until it knows that the allocation is gone.
void Clients::finish_allocation(JobId id, uint32_t generation) {
  const Job* j = world_.checkers.mirror().jobs.find(id.value);
  if (!j || j->finished() || j->restarts != generation) return;
  rpc::FinishAllocation c{id, world_.scenario.exit_status(id, generation, world_.calm())};
  send("salloc of " + std::to_string(id.value) + " ends", slurmctld::Caller::root(), c);
  world_.after(seconds(10), [this, id, generation] { finish_allocation(id, generation); });
}

void Clients::create_step(JobId id, uint32_t generation) {
  const Job* job = world_.checkers.mirror().jobs.find(id.value);
  if (!job || job->finished() || job->pending() || job->restarts != generation) return;
  Random& rng = world_.random.workload;
  rpc::CreateStep ask;
  ask.job = id;
  ask.srun_host = "login";
  ask.request.num_tasks = rng.chance(0.5) ? 0 : static_cast<uint32_t>(rng.uniform(1, 4));
  ask.request.overlap = rng.chance(0.3);
  ask.request.exact = rng.chance(0.3);
  world_.controller.post({[this, ask, generation](slurmctld::Core& core, store::EventLog&) -> slurmctld::Reply {
                            auto step = core.run(slurmctld::Caller::root(), ask);
                            return [this, step, generation] {
                              if (step) launch_step(*step, generation);
                            };
                          },
                          {}});
}

void Clients::launch_step(const rpc::StepCreated& step, uint32_t generation) {
  Random& rng = world_.random.workload;
  Duration runtime = world_.calm() ? milliseconds(20) : world_.span(rng, milliseconds(1), seconds(120));
  for (const rpc::StepNode& node : step.nodes) {
    const uint32_t* index = nullptr;
    const auto& names = *world_.checkers.mirror().node_names;
    if (auto at = names.find(node.address.name); at != names.end()) index = &at->second;
    if (!index) continue;
    NodeShare share;
    share.node = NodeId(*index);
    Bitmap::parse_ranges(node.cpu_list, share.cpus, 1u << 16);
    share.mem_mb = node.mem_mb;
    share.gres = node.gres;
    world_.after(world_.span(rng, Duration(100), milliseconds(40)), [this, share, job = step.job, id = step.step, generation, runtime] {
      world_.nodes[share.node.value]->ask_step(job, generation, id, share, runtime);
    });
  }
  rpc::FinishStep f{step.job, step.step, 0};
  if (rng.chance(0.8))
    world_.after(runtime + seconds(1), [this, f] {
      send("srun of " + std::to_string(f.job.value) + "." + std::to_string(f.step.value) + " ends", slurmctld::Caller::root(), f);
    });
}

// ---- the second phase
namespace {

// Reasons for which an admin who sees them in squeue gives a job up: a dependency that failed, a request beyond the partition's limits.
bool never_reason(Reason r) {
  return r == Reason::kDependencyNeverSatisfied || r == Reason::kPartitionNodeLimit || r == Reason::kPartitionTimeLimit ||
         r == Reason::kPartitionConfig || r == Reason::kBadConstraints || r == Reason::kReservationDeleted;
}

}  // namespace

void Clients::tidy() {
  auto never_runs = [&](const Job& j) {
    const Verdict* v = world_.controller.core().cluster().moment.verdicts.find(j.id.value);
    return never_reason(j.reason) || (v && never_reason(v->reason));
  };
  const Cluster& cluster = world_.checkers.mirror();
  // A held job that nothing could ever run is not released: it was like that when it was submitted, or became so while it ran.
  auto hopeless = [&](const Job& j) {
    const std::vector<uint32_t> partitions = sched::partitions_of(cluster, j);
    return std::ranges::none_of(
        partitions, [&](uint32_t p) { return sched::can_ever_run(cluster, world_.scenario.settings.sched, *j.request, p).has_value(); });
  };
  cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (p.state != PartitionState::kUp) update_partition(p.name, "UP");
  });
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    if (is_in_maintenance(n.id)) return;
    if (n.admin != NodeState::kIdle || (n.flags & (kNodeDrain | kNodeFail | kNodeInvalid))) update_node(n.spec->name, "resume");
  });
  end_reservations();
  end_maintenances();
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    rpc::ControlJobs act;
    rpc::JobSelector self;
    self.job = job.het ? job.het.leader : job.id;
    act.jobs.push_back(self);
    if (job.state == JobState::kSuspended) act.action = rpc::JobAction::kResume;
    else if (job.pending() && job.priority == 0 && !hopeless(job)) act.action = rpc::JobAction::kRelease;
    else if (job.pending() && (job.priority == 0 || never_runs(job))) {
      rpc::SignalJobs cancel;
      cancel.filter.jobs.push_back(self);
      return send("tidy: scancel " + std::to_string(job.id.value), slurmctld::Caller::root(), cancel);
    } else {
      return;
    }
    send("tidy: " + std::to_string(job.id.value), slurmctld::Caller::root(), act);
  });
}

}  // namespace muster::sim
