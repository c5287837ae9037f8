// Slurmd: how a batch script, an external step and a step of srun's come to run: what each waits for, and what becomes of one that cannot.
#include <algorithm>

#include "slurmd/daemon/launch.h"
#include "slurmd/daemon/mpi_launch.h"
#include "slurmd/daemon/slurmd.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kNamespacePatience = minutes(24 * 60);  // the programs that make it have their own time

// "" removes the variable, even where the job was submitted from inside a job that has it.
void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& e) { return e.starts_with(name + "="); });
  if (!value.empty()) environment.push_back(name + "=" + value);
}

JobNamespaces::Owner owner_of(const node_rpc::JobOnNode& job) {
  const JobRequest* request = job.request.get();
  return {job.job, job.generation, request ? request->uid : Uid{}, request ? request->user_name : std::string(), job.sluid};
}

}  // namespace

Result<step_rpc::StepdLaunch> Slurmd::batch_launch_of(const node_rpc::LaunchBatch& order) {
  const JobRequestPtr& request = order.job.request;
  MUSTER_TRY(users, users_.with(request ? request->uid : Uid{0}, request ? request->gid : Gid{0}));
  return batch_launch(setup_, *users, order);
}

// Reads from the spool what the order names by hash.
Result<> Slurmd::read_content(node_rpc::LaunchBatch& order) {
  auto read = [&](const std::string& hash, std::string& to) -> Result<> {
    if (hash.empty()) return {};
    MUSTER_TRY(bytes, contents_.read(hash));
    to = std::move(bytes);
    return {};
  };
  MUSTER_TRY_VOID(read(order.script_hash, order.script));
  return read(order.environment_hash, order.environment);
}

// Whether the start waits for the user database; then it is carried out again, at last even if there is still no answer.
template <class Start>
bool Slurmd::comes_later(const Start& start, JobId job, StepId step, Uid uid, Gid gid) {
  if (!users_.with(uid, gid) && late_.wait({job, step}, [this, start] {
        carry_out(start);
        settle();
      }))
    return true;
  late_.over({job, step});
  return false;
}

// The same for the job's namespace. Error: it cannot be made, so nothing of the job may run here.
template <class Start>
Result<bool> Slurmd::namespace_comes_later(const Start& start, StepId step, const JobNamespaces::Owner& owner) {
  if (!namespaces_.on()) return false;
  const JobId job = owner.job;
  ProgramContext& context = contexts_[job];
  context.job = job;
  MUSTER_TRY(ready, namespaces_.ready(owner, program_environment(context, setup_.context, false)));
  if (ready) {
    late_.over({job, step});
    return false;
  }
  return late_.wait(
      {job, step},
      [this, start] {
        carry_out(start);
        settle();
      },
      kNamespacePatience);
}

// Ends a launch that was still waiting when its step was told to end.
void Slurmd::end_late(JobId job, uint32_t generation, StepId step) {
  const std::string why = "it was told to end before it was started";
  carry_out(RefuseStep{job, generation, step, why});
  core_.on_event(StepFailed{job, generation, step, false, why});
}

void Slurmd::carry_out(const StartBatch& start) {
  const node_rpc::JobOnNode& job = start.launch->job;
  if (job.request && comes_later(start, job.job, kBatchStep, job.request->uid, job.request->gid)) return;
  if (job.request) {
    const auto later = namespace_comes_later(start, kBatchStep, owner_of(job));
    if (!later) return core_.on_event(StepFailed{job.job, job.generation, kBatchStep, true, std::string(later.error().message())});
    if (*later) return;
  }
  node_rpc::LaunchBatch whole = *start.launch;
  if (Result<> here = read_content(whole); !here) {
    log_.error("batch job {}: {}", job.job.value, here.error().message());
    return core_.on_event(ContentLost{start.launch, std::string(here.error().message())});
  }
  // Its content is let go of when slurmstepd has it, or when nobody will ever take it. The loop may have ended before.
  const std::shared_ptr<void> content(nullptr, [this, id = job.job, generation = job.generation](void*) {
    loop_.defer([this, id, generation] { contents_.let_go(id, generation); });
  });
  auto launch = batch_launch_of(whole);
  if (launch) set_clocks(job.request->tres_freq, job.share.gres, *launch);
  if (launch) set_variable(launch->environment, "SLURM_STEPMGR", managed_.manages(job.job) ? setup_.node : "");
  const Result<> opened = launch ? open_channel(job.share.channel, *launch) : Result<>();
  Result<pid_t> pid = !opened  ? std::unexpected(opened.error())
                      : launch ? start_stepd(std::move(*launch))
                               : std::unexpected(launch.error());
  if (pid) {
    stepds_.when_taken(job.job, kBatchStep, [content] {});
    log_.debug("launching batch job {} for uid {}", job.job.value, job.request ? job.request->uid.value : 0);
    return;
  }
  clocks_.end(run_name(job.job, kBatchStep, job.generation));
  log_.error("batch job {}: {}", job.job.value, pid.error().message());
  const bool node_fault = launch.has_value() || launch.error().code == Errc::kConfig;
  core_.on_event(StepFailed{job.job, job.generation, kBatchStep, node_fault, std::string(pid.error().message())});
}

void Slurmd::carry_out(const StartExternal& start) {
  const node_rpc::JobOnNode& job = *start.job;
  const auto [uid, gid] = job.request ? std::pair(job.request->uid, job.request->gid) : std::pair<Uid, Gid>();
  if (comes_later(start, job.job, kExternStep, uid, gid)) return;
  const auto later = namespace_comes_later(start, kExternStep, owner_of(job));
  if (!later) return core_.on_event(StepFailed{job.job, job.generation, kExternStep, true, std::string(later.error().message())});
  if (*later) return;
  auto users = users_.with(uid, gid);
  auto launch = users ? external_launch(setup_, **users, job) : std::unexpected(users.error());
  const Result<> opened = launch ? open_channel(job.share.channel, *launch) : Result<>();
  Result<pid_t> pid = !opened  ? std::unexpected(opened.error())
                      : launch ? start_stepd(std::move(*launch))
                               : std::unexpected(launch.error());
  if (pid) return;
  log_.error("external step of job {}: {}", job.job.value, pid.error().message());
  const bool node_fault = launch.has_value() || launch.error().code == Errc::kConfig;
  core_.on_event(StepFailed{job.job, job.generation, kExternStep, node_fault, std::string(pid.error().message())});
}

// The job's IMEX channel can be opened by its user, and where devices are closed to jobs by this step alone of those that run here.
Result<> Slurmd::open_channel(std::optional<uint32_t> channel, step_rpc::StepdLaunch& launch) {
  if (!launch.cgroup.empty() && launch.cgroup.front().limit_devices) {
    launch.cgroup.front().channel_driver = channels_.driver();
    launch.cgroup.front().channel = channel;
  }
  return channels_.give(launch.job, launch.generation, channel, launch.uid);
}

Result<pid_t> Slurmd::launch_step(const AskedStep& asked) {
  MUSTER_TRY(mpi, step_mpi(setup_, asked.credential, asked.launch));
  const rpc::StepCredential& c = asked.credential;
  MUSTER_TRY(users, users_.with(c.uid, c.gid));
  MUSTER_TRY(launch, step_launch(setup_, *users, c, asked.launch));
  launch.manager = asked.credential.manager;
  set_variable(launch.environment, "SLURM_STEPMGR", launch.manager);
  MUSTER_TRY_VOID(open_channel(c.nodes[launch.node_id].channel, launch));
  set_clocks(asked.launch.request->tres_freq, c.nodes[launch.node_id].gres, launch);
  auto pid = start_stepd(std::move(launch), std::move(mpi), asked.by_root);
  if (!pid) clocks_.end(run_name(c.job, c.step, c.generation));
  return pid;
}

void Slurmd::carry_out(const StartStep& start) {
  auto at = asked_.find({start.job, start.step});
  if (at == asked_.end()) return;
  if (comes_later(start, start.job, start.step, at->second.credential.uid, at->second.credential.gid)) return;
  const rpc::StepCredential& credential = at->second.credential;
  const auto later =
      namespace_comes_later(start, start.step, {start.job, start.generation, credential.uid, credential.user_name, credential.sluid});
  if (later && *later) return;
  AskedStep asked = std::move(at->second);
  asked_.erase(at);
  Result<pid_t> pid = later ? launch_step(asked) : std::unexpected(later.error());
  if (!pid) {
    log_.error("step {}: {}", step_name(start.job, start.step), pid.error().message());
    if (auto channel = asked.channel.lock()) channel->answer_error(asked.id, pid.error());
    core_.on_event(StepFailed{start.job, start.generation, start.step, false, std::string(pid.error().message())});
    return;
  }
  starting_[{start.job, start.step}] = Asker{asked.channel, asked.id, asked.message};
}

// srun learns what became of its launch with slurmstepd's first word.
void Slurmd::answer_launch(const step_rpc::StepdReport& r) {
  auto at = starting_.find({r.job, r.step});
  if (at == starting_.end() || r.state == step_rpc::StepdState::kStarting) return;
  Asker asker = at->second;
  starting_.erase(at);
  auto channel = asker.channel.lock();
  if (!channel) return;
  if (r.state == step_rpc::StepdState::kLaunchFailed) return channel->answer_error(asker.id, Error(Errc::kError, r.text));
  channel->answer(asker.id, asker.message, wire::encoded(rpc::StepLaunched{r.pid}));
}

}  // namespace muster::slurmd
