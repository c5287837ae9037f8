#include "slurmd/core/environment.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/without_job.h"
#include "slurmd/core/device_environment.h"

namespace muster::slurmd {
namespace {

void append(std::vector<std::string> what, std::vector<std::string>& out) {
  for (std::string& e : what) out.push_back(std::move(e));
}

class List {
 public:
  explicit List(std::vector<std::string>& out) : out_(out) {}
  void set(std::string_view name, std::string_view value) {
    std::string e(name);
    e += '=';
    e += value;
    out_.push_back(std::move(e));
  }
  void set(std::string_view name, uint64_t value) { set(name, std::to_string(value)); }
  void if_any(std::string_view name, std::string_view value) {
    if (!value.empty()) set(name, value);
  }
  void if_any(std::string_view name, uint64_t value) {
    if (value) set(name, value);
  }

 private:
  std::vector<std::string>& out_;
};

// The part of a TRES list that asks for one kind of GRES: "a100:8" of "gres/gpu:a100:8,gres/nic:1".
std::string asked_of(const TresText& list, std::string_view name) {
  std::string out;
  for (const Tres& t : list->items()) {
    if (!t.is_gres() || t.name != name) continue;
    if (!out.empty()) out += ',';
    out += (t.type.empty() ? "" : t.type + ":") + std::to_string(t.count);
  }
  return out;
}

void limits_and_memory(List& e, const JobRequest& r) {
  if (r.mem_per_cpu_mb) e.set("SLURM_MEM_PER_CPU", *r.mem_per_cpu_mb);
  else if (r.mem_per_gpu_mb) e.set("SLURM_MEM_PER_GPU", *r.mem_per_gpu_mb);
  else if (r.mem_per_node_mb) e.set("SLURM_MEM_PER_NODE", *r.mem_per_node_mb);
}

void what_was_asked(List& list, const node_rpc::JobOnNode& job, const JobRequest& request) {
  bool tasks_asked =
      request.num_tasks || request.ntasks_per_node || request.ntasks_per_socket || request.ntasks_per_core || request.ntasks_per_gpu;
  if (tasks_asked) {
    uint32_t tasks = job.num_tasks ? job.num_tasks : request.num_tasks;
    list.set("SLURM_NTASKS", tasks);
    list.set("SLURM_NPROCS", tasks);
  }
  list.if_any("SLURM_NTASKS_PER_NODE", request.ntasks_per_node);
  list.if_any("SLURM_NTASKS_PER_SOCKET", request.ntasks_per_socket);
  list.if_any("SLURM_NTASKS_PER_CORE", request.ntasks_per_core);
  list.if_any("SLURM_NTASKS_PER_GPU", request.ntasks_per_gpu);
  list.if_any("SLURM_NTASKS_PER_TRES", request.ntasks_per_gpu);
  list.if_any("SLURM_CPUS_PER_TASK", request.cpus_per_task);
  list.if_any("SLURM_CPUS_PER_GPU", request.cpus_per_gpu);
  list.if_any("SLURM_THREADS_PER_CORE", request.threads_per_core);
  // SLURM_GPUS_PER_NODE is set by sbatch, since --gres and --gpus-per-node have become one text here.
  list.if_any("SLURM_GPUS", asked_of(request.tres_per_job, "gpu"));
  list.if_any("SLURM_GPUS_PER_SOCKET", asked_of(request.tres_per_socket, "gpu"));
  list.if_any("SLURM_GPUS_PER_TASK", asked_of(request.tres_per_task, "gpu"));
  // SLURM_TRES_PER_TASK is set by sbatch, too.
  limits_and_memory(list, request);
  if (request.overcommit) list.set("SLURM_OVERCOMMIT", "1");
  list.if_any("SLURM_DISTRIBUTION", request.distribution->plane ? "plane" : request.distribution.text());
  list.if_any("SLURM_DIST_PLANESIZE", request.distribution->plane);
  list.if_any("SLURM_JOB_DEPENDENCY", request.dependency);
  list.if_any("SLURM_JOB_LICENSES", request.licenses.text());
  list.if_any("SLURM_NETWORK", request.network.text());
  list.if_any("SLURM_PROFILE", request.profile.text());
  list.if_any("SLURM_CONTAINER", request.container);
  list.if_any("SLURM_CONTAINER_ID", request.container_id);
  list.if_any("SLURM_JOB_SEGMENT_SIZE", request.segment);
  if (request.oom_kill_step_set) list.set("SLURM_OOMKILLSTEP", request.oom_kill_step ? "1" : "0");
}

void times(List& e, Time started, Time ends) {
  if (started != kTimeUnset) e.set("SLURM_JOB_START_TIME", static_cast<uint64_t>(unix_seconds(started)));
  if (ends != kTimeUnset && ends != kTimeInfinite) e.set("SLURM_JOB_END_TIME", static_cast<uint64_t>(unix_seconds(ends)));
}

// False: the job is no task of an array.
bool array_ids(List& e, JobId array, uint32_t task) {
  if (task == kNoArrayTask || !array) return false;
  e.set("SLURM_ARRAY_JOB_ID", array.value);
  e.set("SLURM_ARRAY_TASK_ID", task);
  return true;
}

void array_part(List& e, const node_rpc::JobOnNode& job) {
  if (!array_ids(e, job.array_job_id, job.array_task)) return;
  e.set("SLURM_ARRAY_TASK_COUNT", job.array_task_count);
  e.set("SLURM_ARRAY_TASK_MIN", job.array_task_min);
  e.set("SLURM_ARRAY_TASK_MAX", job.array_task_max);
  e.set("SLURM_ARRAY_TASK_STEP", job.array_task_step);
}

}  // namespace

std::string repeat_counts(const std::vector<uint32_t>& counts) {
  std::string out;
  for (size_t i = 0; i < counts.size();) {
    size_t end = i + 1;
    while (end < counts.size() && counts[end] == counts[i]) ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(counts[i]);
    if (end - i > 1) out += "(x" + std::to_string(end - i) + ")";
    i = end;
  }
  return out;
}

std::vector<std::string> split_environment(std::string_view blob) {
  std::vector<std::string> out;
  for (std::string_view e : split(blob, '\0')) out.emplace_back(e);
  return out;
}

std::vector<std::string> external_environment(const node_rpc::JobOnNode& job, const NodeContext& node) {
  std::vector<std::string> out;
  List list(out);
  list.set("PATH", "/usr/bin:/bin");
  list.set("SLURM_JOB_ID", job.job.value);
  list.set("SLURM_JOBID", job.job.value);
  list.set("SLURM_STEP_ID", kExternStep.value);
  list.set("SLURMD_NODENAME", node.node);
  list.if_any("SLURM_CONF", node.conf_path);
  return out;
}

std::vector<std::string> batch_environment(const node_rpc::JobOnNode& job, std::string_view blob, const NodeContext& node) {
  static const JobRequest kNothing;
  const JobRequest& request = job.request ? *job.request : kNothing;
  std::vector<std::string> out = split_environment(blob);
  if (node.gpus_configured) drop_device_variables(out);
  const std::vector<std::string> given = out;
  auto has = [&](const std::string& name) {
    return std::ranges::any_of(given, [&](const std::string& x) { return x.starts_with(name + "="); });
  };
  List list(out);
  if (!has("TMPDIR")) list.set("TMPDIR", "/tmp");
  list.set("SLURM_JOB_ID", job.job.value);
  list.set("SLURM_JOBID", job.job.value);
  list.set("SLURM_JOB_NAME", request.name);
  list.set("SLURM_JOB_NODELIST", job.node_list);
  list.set("SLURM_NODELIST", job.node_list);
  list.set("SLURM_JOB_NUM_NODES", job.cpus_per_node.size());
  list.set("SLURM_NNODES", job.cpus_per_node.size());
  list.set("SLURM_TASKS_PER_NODE", repeat_counts(job.tasks_per_node));
  list.set("SLURM_JOB_CPUS_PER_NODE", repeat_counts(job.cpus_per_node));
  list.set("SLURM_CPUS_ON_NODE", job.share.cpus.count());
  what_was_asked(list, job, request);
  array_part(list, job);
  if (!has("SLURM_SUBMIT_DIR")) list.if_any("SLURM_SUBMIT_DIR", request.work_dir);
  if (!has("SLURM_SUBMIT_HOST")) list.if_any("SLURM_SUBMIT_HOST", request.alloc_node);
  list.if_any("SLURM_JOB_PARTITION", job.partition);
  list.if_any("SLURM_JOB_ACCOUNT", request.account);
  list.if_any("SLURM_JOB_QOS", request.qos);
  list.if_any("SLURM_JOB_RESERVATION", request.reservation.text());
  list.if_any("SLURM_JOB_EXCLUSIVE", job.exclusive);
  list.if_any("SLURM_JOB_OVERSUBSCRIBE", job.oversubscribe);
  list.set("SLURM_JOB_UID", request.uid.value);
  list.set("SLURM_JOB_GID", request.gid.value);
  list.if_any("SLURM_JOB_USER", request.user_name);
  list.if_any("SLURM_JOB_GROUP", node.group_name);
  list.if_any("SLURM_CLUSTER_NAME", job.cluster.empty() ? node.cluster : job.cluster);
  times(list, job.started, job.ends);
  if (job.sluid) list.set("SLURM_JOB_SLUID", sluid_text(job.sluid));
  if (job.generation) list.set("SLURM_RESTART_COUNT", job.generation);
  list.if_any("MUSTER_RESTART_REASON", job.restart);
  if (request.env_export == EnvExport::kNone || request.env_export == EnvExport::kNil) list.set("SLURM_EXPORT_ENV", "NONE");
  list.set("SLURMD_NODENAME", node.node);
  list.set("SLURM_TOPOLOGY_ADDR", job.topology_address.empty() ? node.node : job.topology_address);
  list.set("SLURM_TOPOLOGY_ADDR_PATTERN", job.topology_address.empty() ? "node" : job.topology_pattern);
  list.set("HOSTNAME", node.host);
  list.if_any("SLURM_CONF", node.conf_path);
  list.set("SLURM_NODEID", "0");
  list.set("SLURM_PROCID", "0");
  list.set("SLURM_LOCALID", "0");
  list.set("SLURM_GTIDS", "0");
  list.set("ENVIRONMENT", "BATCH");
  append(device_environment(node, job.share.gres, "SLURM_JOB_GPUS"), out);
  append(het_variables(job.het), out);
  return out;
}

namespace {

void job_of_step(List& list, const rpc::StepCredential& step) {
  if (!is_without_job(step.job)) {  // else they stay those of the job that srun was called in, if any
    const JobId known = step.het_leader ? step.het_leader : step.job;
    list.set("SLURM_JOB_ID", known.value);
    list.set("SLURM_JOBID", known.value);
  }
  list.set("SLURM_STEP_ID", step.step.value);
  list.set("SLURM_STEPID", step.step.value);
  list.if_any("SLURM_JOB_NODELIST", step.job_node_list.text());
  list.if_any("SLURM_JOB_QOS", step.qos);
  list.if_any("SLURM_JOB_RESERVATION", step.reservation);
  list.if_any("SLURM_JOB_EXCLUSIVE", step.exclusive);
  list.if_any("SLURM_JOB_OVERSUBSCRIBE", step.oversubscribe);
  list.if_any("SLURM_JOB_LICENSES", step.licenses);
  times(list, step.started, step.ends);
  array_ids(list, step.array_job, step.array_task);
}

void owner_of_step(List& e, const rpc::StepCredential& step) {
  e.if_any("SLURM_JOB_PARTITION", step.partition);
  e.if_any("SLURM_JOB_ACCOUNT", step.account);
  e.if_any("SLURM_JOB_NAME", step.job_name);
  e.if_any("SLURM_JOB_USER", step.user_name);
  e.set("SLURM_JOB_UID", step.uid.value);
  e.set("SLURM_JOB_GID", step.gid.value);
}

// Sets the step's nodes and tasks, and the job's number of nodes.
void shape_of_step(List& list, const rpc::StepCredential& step, const StepRequest& request) {
  std::vector<std::string> names;
  std::vector<uint32_t> tasks;
  for (const rpc::StepNode& n : step.nodes) {
    names.push_back(n.address.name);
    tasks.push_back(static_cast<uint32_t>(n.ranks.size()));
  }
  const std::string nodes = compress_hosts(names), per_node = repeat_counts(tasks);
  const size_t job_nodes = step.job_node_list->count();
  list.set("SLURM_NODELIST", step.job_node_list.empty() ? nodes : step.job_node_list.text());
  list.set("SLURM_STEP_NODELIST", nodes);
  list.set("SLURM_STEP_NUM_NODES", step.nodes.size());
  if (!request.preserve_env) {
    list.set("SLURM_NNODES", step.nodes.size());
    list.if_any("SLURM_JOB_NUM_NODES", job_nodes);
    list.set("SLURM_NTASKS", step.num_tasks);
    list.set("SLURM_NPROCS", step.num_tasks);
  }
  list.if_any("SLURM_JOB_NODES", job_nodes);
  list.set("SLURM_STEP_NUM_TASKS", step.num_tasks);
  list.set("SLURM_TASKS_PER_NODE", per_node);
  list.set("SLURM_STEP_TASKS_PER_NODE", per_node);
  list.if_any("SLURM_CPUS_PER_TASK", request.cpus_per_task);
}

void launcher_of_step(List& e, const rpc::LaunchStep& launch) {
  const std::string host = launch.io.host.empty() ? "127.0.0.1" : launch.io.host;
  e.set("SLURM_LAUNCH_NODE_IPADDR", host);
  e.set("SLURM_SRUN_COMM_HOST", host);
  e.set("SLURM_SRUN_COMM_PORT", launch.io.port);  // 0: srun is on this host and needs none
  e.set("SLURM_STEP_LAUNCHER_PORT", launch.io.port);
}

void node_of_step(List& e, const rpc::StepNode& here, size_t node_index, const NodeContext& node) {
  e.set("SLURM_NODEID", node_index);
  e.set("SLURMD_NODENAME", node.node);
  e.if_any("SLURM_CONF", node.conf_path);
  e.set("SLURM_TOPOLOGY_ADDR", here.topology_address.empty() ? node.node : here.topology_address);
  e.set("SLURM_TOPOLOGY_ADDR_PATTERN", here.topology_address.empty() ? "node" : here.topology_pattern);
  Bitmap cpus;
  if (Bitmap::parse_ranges(here.cpu_list, cpus)) e.set("SLURM_CPUS_ON_NODE", cpus.count());
  std::string ranks;
  for (uint32_t r : here.ranks) ranks += (ranks.empty() ? "" : ",") + std::to_string(r);
  e.set("SLURM_GTIDS", ranks);
}

}  // namespace

std::vector<std::string> step_environment(const rpc::StepCredential& step, size_t node_index, const rpc::LaunchStep& launch,
                                          const NodeContext& node) {
  std::vector<std::string> out = launch.request->environment;
  List e(out);
  job_of_step(e, step);
  shape_of_step(e, step, *launch.request);
  owner_of_step(e, step);
  e.if_any("SLURM_CLUSTER_NAME", node.cluster);
  launcher_of_step(e, launch);
  e.if_any("SLURM_STEP_RESV_PORTS", step.resv_ports);
  node_of_step(e, step.nodes[node_index], node_index, node);
  append(device_environment(node, step.nodes[node_index].gres, "SLURM_STEP_GPUS"), out);
  return out;
}

std::vector<std::string> task_environment(uint32_t rank, uint32_t local_id) {
  return {"SLURM_PROCID=" + std::to_string(rank), "SLURM_LOCALID=" + std::to_string(local_id)};
}

ProgramContext program_context(const node_rpc::JobOnNode& job) {
  ProgramContext context;
  context.job = job.job;
  context.array_job = job.array_job_id;
  context.array_task = job.array_task;
  context.partition = job.partition;
  context.node_list = job.node_list;
  context.gres = job.share.gres;
  context.cpus_per_node = job.cpus_per_node;
  context.restarts = job.generation;
  context.started = job.started;
  context.ends = job.ends;
  if (!job.request) return context;
  const JobRequest& request = *job.request;
  context.uid = request.uid;
  context.gid = request.gid;
  context.user_name = request.user_name;
  context.account = request.account;
  context.job_name = request.name;
  context.work_dir = request.work_dir;
  context.std_in = request.std_in;
  context.std_out = request.std_out;
  context.std_err = request.std_err;
  context.comment = request.comment;
  context.constraints = request.features.text();
  context.extra = request.extra;
  context.licenses = request.licenses.text();
  context.qos = request.qos;
  context.reservation = request.reservation.text();
  context.spank_env = request.spank_env;
  return context;
}

std::vector<std::string> program_environment(const ProgramContext& job, const NodeContext& node, bool epilog) {
  std::vector<std::string> out;
  List list(out);
  list.set("SLURM_JOB_ID", job.job.value);
  list.set("SLURM_JOBID", job.job.value);
  array_ids(list, job.array_job, job.array_task);
  list.set("SLURM_JOB_UID", job.uid.value);
  list.set("SLURM_UID", job.uid.value);
  list.set("SLURM_JOB_GID", job.gid.value);
  list.if_any("SLURM_JOB_USER", job.user_name);
  list.if_any("SLURM_JOB_PARTITION", job.partition);
  list.if_any("SLURM_JOB_ACCOUNT", job.account);
  list.if_any("SLURM_JOB_NAME", job.job_name);
  list.if_any("SLURM_JOB_NODELIST", job.node_list);
  list.if_any("SLURM_JOB_WORK_DIR", job.work_dir);
  list.if_any("SLURM_WORKING_DIR", job.work_dir);
  list.if_any("SLURM_JOB_STDIN", job.std_in);
  list.if_any("SLURM_JOB_STDOUT", job.std_out);
  list.if_any("SLURM_JOB_STDERR", job.std_err);
  list.if_any("SLURM_JOB_COMMENT", job.comment);
  list.if_any("SLURM_JOB_CONSTRAINTS", job.constraints);
  list.if_any("SLURM_JOB_EXTRA", job.extra);
  list.if_any("SLURM_JOB_LICENSES", job.licenses);
  list.if_any("SLURM_JOB_QOS", job.qos);
  list.if_any("SLURM_JOB_RESERVATION", job.reservation);
  if (!job.cpus_per_node.empty()) {
    list.set("SLURM_JOB_CPUS_PER_NODE", repeat_counts(job.cpus_per_node));
    list.set("SLURM_JOB_NUM_NODES", job.cpus_per_node.size());
    list.set("SLURM_JOB_RESTART_COUNT", job.restarts);
  }
  if (job.started != kTimeUnset) list.set("SLURM_JOB_START_TIME", static_cast<uint64_t>(unix_seconds(job.started)));
  if (job.ends != kTimeUnset && job.ends != kTimeInfinite) list.set("SLURM_JOB_END_TIME", static_cast<uint64_t>(unix_seconds(job.ends)));
  list.if_any("SLURM_CLUSTER_NAME", node.cluster);
  list.set("SLURMD_NODENAME", node.node);
  list.if_any("SLURM_CONF", node.conf_path);
  list.set("SLURM_SCRIPT_CONTEXT", epilog ? "epilog_slurmd" : "prolog_slurmd");
  if (epilog) {
    bool signaled = (job.exit_status & 0x7f) != 0;
    int code = signaled ? 0 : job.exit_status >> 8 & 0xff;
    list.set("SLURM_JOB_EXIT_CODE", std::to_string(job.exit_status));
    list.set("SLURM_JOB_EXIT_CODE2", std::to_string(code) + ":" + std::to_string(job.exit_status & 0x7f));
  }
  for (const std::string& entry : job.spank_env) out.push_back("SPANK_" + entry);
  NodeContext outside = node;  // programs run outside of the job's cgroup
  outside.devices_constrained = false;
  append(device_environment(outside, job.gres, "SLURM_JOB_GPUS"), out);
  return out;
}

}  // namespace muster::slurmd
