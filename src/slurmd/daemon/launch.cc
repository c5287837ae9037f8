#include "slurmd/daemon/launch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "config/step_profiles.h"
#include "config/use_gathering.h"
#include "model/file_pattern.h"
#include "os/limits.h"
#include "slurmd/core/cgroup_plan.h"
#include "slurmd/core/frequency_rules.h"
#include "slurmd/core/profile_rules.h"
#include "slurmd/core/task_nice.h"
#include "slurmd/daemon/gres_setup.h"
#include "slurmd/daemon/spank.h"
#include "slurmd/daemon/task_layout.h"

namespace muster::slurmd {
namespace {

constexpr char kDevNull[] = "/dev/null";

// The account of a job on this machine. Rootless: we can only be ourselves.
Result<> set_user(os::UserDirectory& users, Uid uid, Gid gid, const std::string& name, step_rpc::StepdLaunch& launch) {
  launch.uid = uid;
  launch.gid = gid;
  launch.user_name = name;
  if (::geteuid() != 0) {
    if (uid.value != ::geteuid())
      return fail(Errc::kAccessDenied, "this slurmd runs as uid " + std::to_string(::geteuid()) + " and cannot run processes of uid " +
                                           std::to_string(uid.value));
    return {};
  }
  MUSTER_TRY(who, users.credentials(uid));
  launch.groups = who.groups;
  if (gid.value == 0xffffffffu) launch.gid = who.gid;
  return {};
}

struct CgroupShare {
  Bitmap cpus;
  // The job's CPUs and memory; none where the job's group is left as it is, since a step knows only its own part.
  Bitmap job_cpus;
  std::optional<uint64_t> job_mem_mb;
  uint64_t step_mem_mb = 0;
  const std::vector<GresShare>& gres;
};

// Adds what the step may use, as cgroup.conf wants it enforced. Without root the groups are left alone.
void add_cgroup(const Setup& setup, const CgroupShare& share, step_rpc::StepdLaunch& launch) {
  if (!setup.groups) return;
  const config::CgroupConf& conf = setup.loaded->cgroup;
  step_rpc::StepCgroup cgroup;
  const os::CgroupOptions& where = *setup.groups;
  cgroup.mountpoint = where.mountpoint;
  cgroup.prefix = where.prefix;
  cgroup.version = *where.version == os::CgroupVersion::kV1 ? 1 : 2;
  if (!has_task_plugin(setup.config(), "cgroup")) return launch.cgroup.push_back(std::move(cgroup));
  cgroup.required = conf.constrain_cores || conf.constrain_devices || conf.constrain_ram || conf.constrain_swap;
  const uint64_t node_mb = setup.node_config().line->real_memory_mb;
  if (share.job_mem_mb) {
    MemoryPlan job = memory_plan(conf, *share.job_mem_mb, node_mb);
    cgroup.job_memory_bytes = job.hard_bytes;
    cgroup.job_soft_bytes = job.soft_bytes;
    cgroup.job_swap_bytes = job.swap_bytes;
  }
  MemoryPlan step = memory_plan(conf, share.step_mem_mb, node_mb);
  cgroup.step_memory_bytes = step.hard_bytes;
  cgroup.step_soft_bytes = step.soft_bytes;
  cgroup.step_swap_bytes = step.swap_bytes;
  cgroup.limit_swap = step.limit_swap;
  if (conf.memory_swappiness) cgroup.swappiness = static_cast<int32_t>(*conf.memory_swappiness);
  if (conf.constrain_cores && setup.cpus_are_real) {
    cgroup.os_cpus = setup.cpus.to_os(share.cpus);
    cgroup.job_os_cpus = setup.cpus.to_os(share.job_cpus);
    cgroup.limit_cpus = cgroup.os_cpus.any();
  }
  cgroup.limit_devices = conf.constrain_devices;
  if (cgroup.limit_devices) cgroup.denied_devices = denied_files(setup.hardware.gres, share.gres);
  launch.cgroup.push_back(std::move(cgroup));
}

bool has_gather_param(const config::Config& config, std::string_view param) {
  return std::ranges::any_of(config.job_acct_gather_params, [&](const std::string& p) { return iequals(p, param); });
}

// Whether a GPU of the step is one whose use NVIDIA's library tells: of MIG instances it does not.
bool holds_watched_gpu(const Setup& setup, const std::vector<GresShare>& share) {
  if (!setup.asks_nvml) return false;
  const std::vector<std::string>& uuids = setup.context.gpu_uuids;
  return std::ranges::any_of(share, [&](const GresShare& s) {
    if (s.name != "gpu" && s.name != "mps" && s.name != "shard") return false;
    for (size_t i = 0; i < uuids.size(); ++i)
      if (s.devices.test(i) && !uuids[i].starts_with("MIG-")) return true;
    return false;
  });
}

void add_gpus_and_energy(const Setup& setup, const std::vector<GresShare>& gres, step_rpc::StepGather& g) {
  const config::UseGathering use = config::use_gathering(setup.config());
  if (use.gpus() && holds_watched_gpu(setup, gres)) {
    g.gpu_util = use.gpu_util;
    g.gpu_memory = use.gpu_memory;
  }
  g.gpu_energy = use.energy == config::EnergySource::kGpu;
  if (g.gpu_util || g.gpu_memory || g.gpu_energy) g.gpu_samples = setup.gpu_samples();
  if (use.energy == config::EnergySource::kRapl) g.powercap = powercap();
}

// How the use of the step is gathered: as slurm.conf says, as often as the user says. Where memory is watched, a user may only have it
// watched more often.
void add_gather(const Setup& setup, const SampleIntervals& asked, uint64_t mem_mb, const std::vector<GresShare>& gres,
                step_rpc::StepdLaunch& launch) {
  const config::Config& config = setup.config();
  if (!config.gathers_use()) return;
  const auto has = [&](std::string_view param) { return has_gather_param(config, param); };
  const uint32_t configured = config.sample_intervals.task.value_or(30), wanted = asked.task.value_or(configured);
  step_rpc::StepGather& g = launch.gather.emplace();
  g.every_seconds = wanted;
  g.by_cgroup = config.job_acct_gather_type == "jobacct_gather/cgroup" && !launch.cgroup.empty();
  g.pss = has("UsePss");
  g.no_shared = has("NoShared");
  g.no_file_cache = has("no_file_cache") || (g.by_cgroup && launch.cgroup.front().version == 1);  // of version 1, RSS is all there is
  add_gpus_and_energy(setup, gres, g);
  if (!kills_over_memory(config) || mem_mb == 0) return;
  g.kill_above = Bytes(mem_mb << 20);
  if (configured && (wanted == 0 || wanted > configured)) g.every_seconds = configured;
}

// What is not recorded of what was asked for is told in the step's first task.
void add_profile(const Setup& setup, const ProfileText& asked, const SampleIntervals& intervals, uint32_t cpus_per_task,
                 step_rpc::StepdLaunch& launch) {
  const config::StepProfiles site = config::step_profiles(*setup.loaded);
  ProfileRules rules{site.directory, site.defaults};
  if (launch.gather) {
    rules.gathers = true;
    rules.measures_energy = launch.gather->gpu_energy || !launch.gather->powercap.empty();
    rules.task_seconds = launch.gather->every_seconds;
  }
  rules.energy_seconds = intervals.energy.value_or(setup.config().sample_intervals.energy.value_or(0));
  ProfileOrder order = profile_order(asked, rules);
  launch.profile = std::move(order.profile);
  if (launch.profile) launch.profile->cpus_per_task = cpus_per_task;
  if (!order.note.empty() && !launch.tasks.empty()) launch.tasks.front().notes.push_back(std::move(order.note));
}

NodeContext context_for(const Setup& s, const step_rpc::StepdLaunch& l, os::UserDirectory& users) {
  NodeContext c = s.context;
  c.group_name = users.group_name(l.gid);
  return c;
}

// The value of --oom-kill-step, else that of TaskPluginParam.
bool oom_kills_step(const Setup& s, bool asked, bool wanted) {
  if (asked) return wanted;
  return std::ranges::any_of(s.config().task_plugin_param, [](const std::string& p) { return iequals(p, "OOMKillStep"); });
}

std::optional<int32_t> nice_of(const Setup& s, const step_rpc::StepdLaunch& l) {
  return task_nice(s.config().propagate_prio_process, l.environment, ::getpriority(PRIO_PROCESS, 0), l.uid.value == 0);
}

bool devices_hidden(const step_rpc::StepdLaunch& l) { return !l.cgroup.empty() && l.cgroup.front().limit_devices; }

void batch_files(const node_rpc::JobOnNode& job, const JobRequest& r, const FileNames& names, step_rpc::TaskLaunch& t) {
  bool array = job.array_task != kNoArrayTask && job.array_job_id;
  auto path = [&](std::string_view pattern) { return below(r.work_dir, expand_file_pattern(pattern, names)); };
  t.std_in = r.std_in.empty() ? kDevNull : path(r.std_in);
  t.std_out = path(r.std_out.empty() ? default_batch_output(array) : std::string_view(r.std_out));
  t.std_err = r.std_err.empty() ? t.std_out : path(r.std_err);
}

bool append_of(const Setup& s, OpenMode mode) {
  if (mode == OpenMode::kAppend) return true;
  if (mode == OpenMode::kTruncate) return false;
  return s.config().job_file_append;
}

FrequencyRules frequency_rules(const Setup& s, const step_rpc::StepdLaunch& l) {
  bool bound = has_task_plugin(s.config(), "affinity") && s.cpus_are_real;
  return {s.config().cpu_freq_def, s.config().cpu_freq_governors, bound || (!l.cgroup.empty() && l.cgroup.front().limit_cpus)};
}

}  // namespace

bool kills_over_memory(const config::Config& config) { return has_gather_param(config, "OverMemoryKill"); }

Result<step_rpc::StepdLaunch> batch_launch(const Setup& setup, os::UserDirectory& users, const node_rpc::LaunchBatch& order) {
  const node_rpc::JobOnNode& job = order.job;
  if (!job.request) return fail("the launch of job " + std::to_string(job.job.value) + " came without its request");
  if (order.script.empty()) return fail(Errc::kNotBatch, "the batch script is empty");
  const JobRequest& request = *job.request;
  step_rpc::StepdLaunch launch;
  launch.job = job.job;
  launch.generation = job.generation;
  launch.step = kBatchStep;
  launch.node = setup.node;
  MUSTER_TRY_VOID(set_user(users, request.uid, request.gid, request.user_name, launch));
  launch.script = order.script;
  launch.script_path = setup.spool + "/job" + std::to_string(job.job.value) + "/slurm_script";
  launch.work_dir = request.work_dir;
  launch.umask = request.umask;
  launch.limits = request.limits;
  launch.append = append_of(setup, request.open_mode);
  launch.site_task_prolog = setup.config().task_prolog;
  launch.site_task_epilog = setup.config().task_epilog;
  launch.kill_wait_seconds = static_cast<uint32_t>(to_seconds(setup.config().kill_wait));
  add_cgroup(setup, {job.share.cpus, job.share.cpus, job.share.mem_mb, job.share.mem_mb, job.share.gres}, launch);
  add_gather(setup, request.acctg_freq.value(), job.share.mem_mb, job.share.gres, launch);
  launch.oom_kill_step = oom_kills_step(setup, request.oom_kill_step_set, request.oom_kill_step);
  NodeContext context = context_for(setup, launch, users);
  context.devices_constrained = devices_hidden(launch);
  launch.environment = batch_environment(job, order.environment, context);
  launch.nice = nice_of(setup, launch);
  bool login = !request.get_user_env.empty() || request.env_export == EnvExport::kNone || request.env_export == EnvExport::kList;
  if (auto user = login ? users.user(request.uid) : Result<os::User>(fail(Errc::kNotFound))) {
    launch.login_shell = user->shell.empty() ? "/bin/sh" : user->shell;
    launch.login_home = user->home;
  }
  FileNames names;
  names.job = job.job;
  names.array_job = job.array_job_id;
  names.array_task = job.array_task;
  names.node = setup.node;
  names.restarts = job.generation;
  names.sluid = job.sluid;
  names.user = request.user_name;
  names.job_name = request.name;
  step_rpc::TaskLaunch t;
  t.argv.push_back(launch.script_path);
  for (size_t i = 1; i < request.argv.size(); ++i) t.argv.push_back(request.argv[i]);
  if (has_task_plugin(setup.config(), "affinity") && setup.cpus_are_real) t.os_cpus = setup.cpus.to_os(job.share.cpus);
  batch_files(job, request, names, t);
  launch.tasks.push_back(std::move(t));
  add_profile(setup, request.profile, request.acctg_freq.value(), static_cast<uint32_t>(job.share.cpus.count()), launch);
  MUSTER_TRY_VOID(add_spank(setup, job, launch));
  return launch;
}

// Its one task is a process of the user that sleeps.
Result<step_rpc::StepdLaunch> external_launch(const Setup& setup, os::UserDirectory& users, const node_rpc::JobOnNode& job) {
  if (!job.request) return fail("the external step of job " + std::to_string(job.job.value) + " came without the job's request");
  const JobRequest& request = *job.request;
  step_rpc::StepdLaunch launch;
  launch.job = job.job;
  launch.generation = job.generation;
  launch.step = kExternStep;
  launch.node = setup.node;
  launch.node_id = job.node_index;
  MUSTER_TRY_VOID(set_user(users, request.uid, request.gid, request.user_name, launch));
  launch.work_dir = "/";
  launch.kill_wait_seconds = static_cast<uint32_t>(to_seconds(setup.config().kill_wait));
  add_cgroup(setup, {job.share.cpus, job.share.cpus, job.share.mem_mb, job.share.mem_mb, job.share.gres}, launch);
  add_gather(setup, request.acctg_freq.value(), 0, job.share.gres, launch);
  if (launch.gather && !launch.cgroup.empty()) {  // what is adopted descends from nobody here
    launch.gather->by_cgroup = true;
    launch.gather->no_file_cache = launch.gather->no_file_cache || launch.cgroup.front().version == 1;
  }
  launch.environment = external_environment(job, setup.context);
  if (setup.config().launch_parameters.has("ulimit_pam_adopt") && job.share.mem_mb)
    launch.limits.push_back({"RSS", job.share.mem_mb << 20});
  step_rpc::TaskLaunch t;
  t.argv = {"/bin/sleep", "100000000"};
  t.std_in = t.std_out = t.std_err = kDevNull;
  launch.tasks.push_back(std::move(t));
  return launch;
}

Result<step_rpc::StepdLaunch> step_launch(const Setup& setup, os::UserDirectory& users, const rpc::StepCredential& credential,
                                          const rpc::LaunchStep& launch) {
  if (!launch.request) return fail("the launch came without its request");
  const StepRequest& request = *launch.request;
  const auto end = credential.nodes.begin() + static_cast<ptrdiff_t>(credential.nodes_end());
  const auto at = std::find_if(credential.nodes.begin() + static_cast<ptrdiff_t>(credential.first_node), end,
                               [&](const rpc::StepNode& n) { return n.address.name == launch.node; });
  if (at == end) return fail(Errc::kInvalidCredential, "the credential does not name node " + launch.node);
  auto index = static_cast<size_t>(at - credential.nodes.begin());
  step_rpc::StepdLaunch out;
  out.job = credential.job;
  out.generation = credential.generation;
  out.step = credential.step;
  out.node = setup.node;
  out.node_id = static_cast<uint32_t>(index);
  MUSTER_TRY_VOID(set_user(users, credential.uid, credential.gid, credential.user_name, out));
  out.work_dir = request.work_dir;
  out.umask = request.umask;
  out.limits = request.limits;
  out.append = request.open_mode == OpenMode::kAppend;
  out.pty = request.pty && index == 0;
  out.pty_rows = request.pty_rows;
  out.pty_columns = request.pty_columns;
  out.unbuffered = request.unbuffered;
  out.label = request.label;
  for (const rpc::StepNode& n : credential.nodes) out.num_tasks += static_cast<uint32_t>(n.ranks.size());
  out.site_task_prolog = setup.config().task_prolog;
  out.site_task_epilog = setup.config().task_epilog;
  out.task_prolog = request.task_prolog;
  out.task_epilog = request.task_epilog;
  out.wait_for_children = request.wait_for_children;
  out.time_limit_min = request.time_limit_min.value_or(kUnlimited32);
  out.warn = request.warn;
  out.debug_level = std::max(2u, request.slurmd_debug);
  out.io = launch.io;
  out.kill_wait_seconds = static_cast<uint32_t>(to_seconds(setup.config().kill_wait));
  Bitmap cpus;
  if (!Bitmap::parse_ranges(at->cpu_list, cpus) && !at->cpu_list.empty())
    return fail(Errc::kInvalidCredential, "the credential's CPU list cannot be read");
  add_cgroup(setup, {cpus, {}, {}, at->mem_mb, at->gres}, out);
  add_gather(setup, request.acctg_freq.value(), at->mem_mb, at->gres, out);
  out.oom_kill_step = oom_kills_step(setup, request.oom_kill_step_set, request.oom_kill_step);
  NodeContext context = context_for(setup, out, users);
  context.devices_constrained = devices_hidden(out);
  out.environment = step_environment(credential, index, launch, context);
  out.nice = nice_of(setup, out);
  MUSTER_TRY(tasks, lay_out_tasks(setup, credential, index, request, cpus, context));
  out.tasks = std::move(tasks);
  add_profile(setup, request.profile, request.acctg_freq.value(), credential.cpus_per_task, out);
  MUSTER_TRY_VOID(add_spank(setup, credential, index, request, out));
  FrequencyOrder frequency = frequency_order(request.cpu_freq, frequency_rules(setup, out));
  out.cpu_freq = std::move(frequency.wish);
  if (!frequency.note.empty() && !out.tasks.empty()) out.tasks.front().notes.push_back(std::move(frequency.note));
  return out;
}

std::string end_message(JobId job, StepId step, const std::string& node, JobState state, Time time) {
  std::string why;
  switch (state) {
    case JobState::kTimeout: why = " DUE TO TIME LIMIT"; break;
    case JobState::kPreempted: why = " DUE TO PREEMPTION"; break;
    case JobState::kNodeFail: why = " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"; break;
    case JobState::kDeadline: why = " DUE TO JOB DEADLINE"; break;
    case JobState::kOutOfMemory: why = " DUE TO OUT OF MEMORY"; break;
    case JobState::kPending:  // back into the queue
      why = " DUE TO JOB REQUEUE";
      break;
    case JobState::kCancelled: break;
    default: return {};
  }
  std::string what = "JOB " + std::to_string(job.value);
  if (step != kBatchStep) what = "STEP " + std::to_string(job.value) + "." + std::to_string(step.value);
  return "*** " + what + " ON " + node + " CANCELLED AT " + format_time(time) + why + " ***";
}

}  // namespace muster::slurmd
