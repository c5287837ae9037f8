#include "cli/srun/launch_plan.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_environment.h"
#include "cli/salloc/allocation_environment.h"
#include "cli/sbcast/send_file.h"
#include "os/process.h"

namespace muster::cli {
namespace {

int own_nice() {
  errno = 0;
  int nice = ::getpriority(PRIO_PROCESS, 0);
  return errno ? 0 : nice;
}

std::vector<std::string> task_environment_of(const JobOptions& o, const rpc::Allocated& a, const ClientConf& conf, Place place,
                                             const std::vector<rpc::Allocated>& all) {
  VariableList v(exported(o, own_environment()));
  add_option_variables(o, v);
  if (o.preserve_env)
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
      if (const char* value = ::getenv(name)) v.set(name, value);
  if (place != Place::kInJob) add_submit_variables(o, conf, current_directory(), own_nice(), v);
  if (place == Place::kInJobOfItsOwn) add_allocation_variables(a, conf, v);
  add_component_variables(all, v);
  v.set("SRUN_DEBUG", std::to_string(3 + o.verbose));
  v.set("SLURM_UMASK", [&] {
    char text[8];
    snprintf(text, sizeof text, "%04o", o.request.umask);
    return std::string(text);
  }());
  return v.list();
}

// --bcast: sends the program to the nodes of the step, where it is then started.
Result<> send_program(Session& session, const JobOptions& o, const rpc::StepCreated& step, const NodeDialer& dialer, StepRequest& request) {
  rpc::AskCredential ask;
  ask.job = step.job;
  ask.has_step = true;
  ask.step = step.step;
  ask.purpose = rpc::CredentialPurpose::kSendFile;
  MUSTER_TRY(targets, nodes_of_job(session, ask));
  FileToSend file;
  file.source = below(request.work_dir, found_in_path(request.argv[0]));
  std::string name = "slurm_bcast_" + std::to_string(step.job.value) + "." + std::to_string(step.step.value);
  std::string place = o.bcast_path.empty() ? name : o.bcast_path.ends_with('/') ? o.bcast_path + name : o.bcast_path;
  file.destination = destination_of(file.source, place, session.conf(), request.work_dir);
  file.force = true;
  file.preserve = true;
  file.lz4 = wants_lz4(o.compress, session.conf());
  file.fanout = o.treewidth.value_or(session.conf().tree_width);
  MUSTER_TRY_VOID(send_file(dialer, targets, file));
  request.argv[0] = file.destination;
  if (!request.send_libs) return {};
  MUSTER_TRY(directory, send_libraries(dialer, targets, file, o.bcast_exclude.empty() ? session.conf().bcast_exclude : o.bcast_exclude));
  if (directory.empty()) return {};
  VariableList v(request.environment);
  const char* before = ::getenv("LD_LIBRARY_PATH");
  v.set("LD_LIBRARY_PATH", directory + (before && *before ? ":" + std::string(before) : ""));
  request.environment = v.list();
  return {};
}

}  // namespace

bool may_run(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = ::getenv("PATH");
  for (std::string_view directory : split(path ? path : "/usr/bin:/bin", ':')) {
    std::string whole = std::string(directory.empty() ? "." : directory) + "/" + program;
    if (may_run(whole)) return whole;
  }
  return program;
}

bool run_program(const std::string& program, const char* what, const std::vector<std::string>& environment, const os::CliLog& log) {
  if (program.empty() || program == "none") return true;
  os::SpawnSpec s;
  s.path = program;
  s.env = environment;
  auto pid = os::spawn(s);
  auto ended = pid ? os::wait_child(*pid) : Result<os::Reaped>(std::unexpected(pid.error()));
  if (ended && ended->status.ok()) return true;
  log.error("srun {} {} failed", what, program);
  return false;
}

LaunchPlan launch_plan(const JobOptions& o, const rpc::Allocated& a, const ClientConf& conf, Place place,
                       const std::vector<rpc::Allocated>& all) {
  LaunchPlan plan;
  plan.request = o.step;
  plan.request.environment = task_environment_of(o, a, conf, place, all);
  plan.dialer.slurmd_pid_file = conf.slurmd_pid_file;
  plan.dialer.security = client_options(conf, Patience::kNone).security;
  plan.ports = conf.srun_ports;
  plan.kill_wait_seconds = conf.kill_wait_seconds;
  plan.wait_seconds = o.step.wait_seconds.value_or(conf.wait_seconds);
  plan.kill_on_bad_exit =
      o.step.kill_on_bad_exit == KillOnBadExit::kDefault ? conf.kill_on_bad_exit : o.step.kill_on_bad_exit == KillOnBadExit::kYes;
  if (o.msg_timeout_seconds) plan.launch_timeout = plan.dialer.connect_timeout = seconds(*o.msg_timeout_seconds);
  plan.reduce_exit_messages = o.reduce_task_exit_msg;
  plan.async = o.async;
  plan.threads = o.threads;
  plan.job_name = a.request.name;
  plan.user_name = a.request.user_name;
  plan.array_job = a.job.array_job_id;
  plan.array_task = a.job.array_task;
  plan.disable_status = o.disable_status;
  plan.quit_on_interrupt = o.quit_on_interrupt;
  for (uint8_t s : o.ignore_signals) plan.ignored_signals.insert(s);
  return plan;
}

void finish_step(Session& session, const rpc::StepCreated& step, int32_t status, bool out_of_memory) {
  static_cast<void>(session.call_again(rpc::FinishStep{step.job, step.step, status, out_of_memory}));
}

Result<> prepare(Session& session, const JobOptions& o, const rpc::StepCreated& step, const NodeDialer& dialer, StepRequest& request,
                 SpankHost& plugins) {
  if (o.bcast) {
    if (Result<> sent = send_program(session, o, step, dialer, request); !sent)
      return fail(sent.error().code,
                  "Failed to broadcast '" + o.step.argv[0] + "'. Step launch aborted: " + std::string(sent.error().message()),
                  sent.error().hint);
  }
  return plugins.before_launch(step);
}

void fill_whole_nodes(const JobOptions& o, const rpc::Allocated& a, StepRequest& s) {
  const bool counted = s.num_tasks || s.ntasks_per_node || s.ntasks_per_gpu || s.overcommit;
  if (counted || !s.cpus_per_task || o.request.exclusive != Exclusive::kNode) return;
  for (uint32_t cpus : a.cpus_per_node) s.num_tasks += cpus / s.cpus_per_task;
}

void say_distribution(const JobOptions& o, const rpc::StepCreated& step, StepRequest& s) {
  if (!o.request.distribution.empty()) return;
  VariableList v(std::move(s.environment));
  v.set("SLURM_DISTRIBUTION", step.num_tasks <= step.nodes.size() ? "cyclic" : "block");
  s.environment = v.list();
}

}  // namespace muster::cli
