#include "slurmd/daemon/launch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "model/file_pattern.h"
#include "os/limits.h"
#include "slurmd/core/cgroup_plan.h"
#include "slurmd/core/frequency_rules.h"
#include "slurmd/core/task_nice.h"
#include "slurmd/daemon/spank.h"
#include "slurmd/daemon/task_layout.h"

namespace muster::slurmd {
namespace {

constexpr char kDevNull[] = "/dev/null";

// The account of a job on this machine. Rootless: we can only be ourselves.
Result<> set_user(os::UserDirectory& users, Uid uid, Gid gid, const std::string& name, step_rpc::StepdLaunch& l) {
  l.uid = uid;
  l.gid = gid;
  l.user_name = name;
  if (::geteuid() != 0) {
    if (uid.value != ::geteuid())
      return fail(Errc::kAccessDenied, "this slurmd runs as uid " + std::to_string(::geteuid()) + " and cannot run processes of uid " +
                                           std::to_string(uid.value));
    return {};
  }
  MUSTER_TRY(who, users.credentials(uid));
  l.groups = who.groups;
  if (gid.value == 0xffffffffu) l.gid = who.gid;
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
void add_cgroup(const Setup& s, const CgroupShare& share, step_rpc::StepdLaunch& l) {
  if (!s.groups) return;
  const config::CgroupConf& c = s.loaded->cgroup;
  step_rpc::StepCgroup g;
  const os::CgroupOptions& where = *s.groups;
  g.mountpoint = where.mountpoint;
  g.prefix = where.prefix;
  g.version = *where.version == os::CgroupVersion::kV1 ? 1 : 2;
  if (!has_task_plugin(s.config(), "cgroup")) return l.cgroup.push_back(std::move(g));
  g.required = c.constrain_cores || c.constrain_devices || c.constrain_ram || c.constrain_swap;
  const uint64_t node_mb = s.node_config().line->real_memory_mb;
  if (share.job_mem_mb) {
    MemoryPlan job = memory_plan(c, *share.job_mem_mb, node_mb);
    g.job_memory_bytes = job.hard_bytes;
    g.job_soft_bytes = job.soft_bytes;
    g.job_swap_bytes = job.swap_bytes;
  }
  MemoryPlan step = memory_plan(c, share.step_mem_mb, node_mb);
  g.step_memory_bytes = step.hard_bytes;
  g.step_soft_bytes = step.soft_bytes;
  g.step_swap_bytes = step.swap_bytes;
  g.limit_swap = step.limit_swap;
  if (c.memory_swappiness) g.swappiness = static_cast<int32_t>(*c.memory_swappiness);
  if (c.constrain_cores && s.cpus_are_real) {
    g.os_cpus = s.cpus.to_os(share.cpus);
    g.job_os_cpus = s.cpus.to_os(share.job_cpus);
    g.limit_cpus = g.os_cpus.any();
  }
  g.limit_devices = c.constrain_devices;
  if (g.limit_devices) g.denied_devices = denied_files(s.hardware.gres, share.gres);
  l.cgroup.push_back(std::move(g));
}

// How the use of the step is gathered: as slurm.conf says, as often as the user says. Where memory is watched, a user may only have it
// watched more often.
void add_gather(const Setup& setup, const SampleIntervals& asked, uint64_t mem_mb, step_rpc::StepdLaunch& launch) {
  const config::Config& config = setup.config();
  if (!config.gathers_use()) return;
  const auto has = [&](std::string_view param) {
    return std::ranges::any_of(config.job_acct_gather_params, [&](const std::string& p) { return iequals(p, param); });
  };
  const uint32_t configured = config.sample_intervals.task.value_or(30), wanted = asked.task.value_or(configured);
  step_rpc::StepGather& g = launch.gather.emplace();
  g.every_seconds = wanted;
  g.by_cgroup = config.job_acct_gather_type == "jobacct_gather/cgroup" && !launch.cgroup.empty();
  g.pss = has("UsePss");
  g.no_shared = has("NoShared");
  g.no_file_cache = has("no_file_cache") || (g.by_cgroup && launch.cgroup.front().version == 1);  // of version 1, RSS is all there is
  if (!has("OverMemoryKill") || mem_mb == 0) return;
  g.kill_above = Bytes(mem_mb << 20);
  if (configured && (wanted == 0 || wanted > configured)) g.every_seconds = configured;
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

Result<step_rpc::StepdLaunch> batch_launch(const Setup& s, os::UserDirectory& users, const node_rpc::LaunchBatch& order) {
  const node_rpc::JobOnNode& job = order.job;
  if (!job.request) return fail("the launch of job " + std::to_string(job.job.value) + " came without its request");
  if (order.script.empty()) return fail(Errc::kNotBatch, "the batch script is empty");
  const JobRequest& r = *job.request;
  step_rpc::StepdLaunch l;
  l.job = job.job;
  l.generation = job.generation;
  l.step = kBatchStep;
  l.node = s.node;
  MUSTER_TRY_VOID(set_user(users, r.uid, r.gid, r.user_name, l));
  l.script = order.script;
  l.script_path = s.spool + "/job" + std::to_string(job.job.value) + "/slurm_script";
  l.work_dir = r.work_dir;
  l.umask = r.umask;
  l.limits = r.limits;
  l.append = append_of(s, r.open_mode);
  l.site_task_prolog = s.config().task_prolog;
  l.site_task_epilog = s.config().task_epilog;
  l.kill_wait_seconds = static_cast<uint32_t>(to_seconds(s.config().kill_wait));
  add_cgroup(s, {job.share.cpus, job.share.cpus, job.share.mem_mb, job.share.mem_mb, job.share.gres}, l);
  add_gather(s, r.acctg_freq.value(), job.share.mem_mb, l);
  l.oom_kill_step = oom_kills_step(s, r.oom_kill_step_set, r.oom_kill_step);
  NodeContext context = context_for(s, l, users);
  context.devices_constrained = devices_hidden(l);
  l.environment = batch_environment(job, order.environment, context);
  l.nice = nice_of(s, l);
  bool login = !r.get_user_env.empty() || r.env_export == EnvExport::kNone || r.env_export == EnvExport::kList;
  if (auto user = login ? users.user(r.uid) : Result<os::User>(fail(Errc::kNotFound))) {
    l.login_shell = user->shell.empty() ? "/bin/sh" : user->shell;
    l.login_home = user->home;
  }
  FileNames names;
  names.job = job.job;
  names.array_job = job.array_job_id;
  names.array_task = job.array_task;
  names.node = s.node;
  names.restarts = job.generation;
  names.sluid = job.sluid;
  names.user = r.user_name;
  names.job_name = r.name;
  step_rpc::TaskLaunch t;
  t.argv.push_back(l.script_path);
  for (size_t i = 1; i < r.argv.size(); ++i) t.argv.push_back(r.argv[i]);
  if (has_task_plugin(s.config(), "affinity") && s.cpus_are_real) t.os_cpus = s.cpus.to_os(job.share.cpus);
  batch_files(job, r, names, t);
  l.tasks.push_back(std::move(t));
  MUSTER_TRY_VOID(add_spank(s, job, l));
  return l;
}

Result<step_rpc::StepdLaunch> step_launch(const Setup& s, os::UserDirectory& users, const rpc::StepCredential& c,
                                          const rpc::LaunchStep& launch) {
  if (!launch.request) return fail("the launch came without its request");
  const StepRequest& r = *launch.request;
  const auto end = c.nodes.begin() + static_cast<ptrdiff_t>(c.nodes_end());
  const auto at = std::find_if(c.nodes.begin() + static_cast<ptrdiff_t>(c.first_node), end,
                               [&](const rpc::StepNode& n) { return n.address.name == launch.node; });
  if (at == end) return fail(Errc::kInvalidCredential, "the credential does not name node " + launch.node);
  auto index = static_cast<size_t>(at - c.nodes.begin());
  step_rpc::StepdLaunch l;
  l.job = c.job;
  l.generation = c.generation;
  l.step = c.step;
  l.node = s.node;
  l.node_id = static_cast<uint32_t>(index);
  MUSTER_TRY_VOID(set_user(users, c.uid, c.gid, c.user_name, l));
  l.work_dir = r.work_dir;
  l.umask = r.umask;
  l.limits = r.limits;
  l.append = r.open_mode == OpenMode::kAppend;
  l.pty = r.pty && index == 0;
  l.pty_rows = r.pty_rows;
  l.pty_columns = r.pty_columns;
  l.unbuffered = r.unbuffered;
  l.label = r.label;
  for (const rpc::StepNode& n : c.nodes) l.num_tasks += static_cast<uint32_t>(n.ranks.size());
  l.site_task_prolog = s.config().task_prolog;
  l.site_task_epilog = s.config().task_epilog;
  l.task_prolog = r.task_prolog;
  l.task_epilog = r.task_epilog;
  l.wait_for_children = r.wait_for_children;
  l.time_limit_min = r.time_limit_min.value_or(kUnlimited32);
  l.warn = r.warn;
  l.debug_level = std::max(2u, r.slurmd_debug);
  l.io = launch.io;
  l.kill_wait_seconds = static_cast<uint32_t>(to_seconds(s.config().kill_wait));
  Bitmap cpus;
  if (!Bitmap::parse_ranges(at->cpu_list, cpus) && !at->cpu_list.empty())
    return fail(Errc::kInvalidCredential, "the credential's CPU list cannot be read");
  add_cgroup(s, {cpus, {}, {}, at->mem_mb, at->gres}, l);
  add_gather(s, r.acctg_freq.value(), at->mem_mb, l);
  l.oom_kill_step = oom_kills_step(s, r.oom_kill_step_set, r.oom_kill_step);
  NodeContext context = context_for(s, l, users);
  context.devices_constrained = devices_hidden(l);
  l.environment = step_environment(c, index, launch, context);
  l.nice = nice_of(s, l);
  MUSTER_TRY(tasks, lay_out_tasks(s, c, index, r, cpus, context));
  l.tasks = std::move(tasks);
  MUSTER_TRY_VOID(add_spank(s, c, index, r, l));
  FrequencyOrder frequency = frequency_order(r.cpu_freq, frequency_rules(s, l));
  l.cpu_freq = std::move(frequency.wish);
  if (!frequency.note.empty() && !l.tasks.empty()) l.tasks.front().notes.push_back(std::move(frequency.note));
  return l;
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
