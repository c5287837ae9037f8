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

std::vector<std::string> task_environment_of(const JobOptions& options, const rpc::Allocated& allocated, const ClientConf& conf,
                                             Place place, const std::vector<rpc::Allocated>& all) {
  VariableList variables(exported(options, own_environment()));
  add_option_variables(options, variables);
  if (options.preserve_env)
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
      if (const char* value = ::getenv(name)) variables.set(name, value);
  if (place != Place::kInJob) add_submit_variables(options, conf, current_directory(), own_nice(), variables);
  if (place == Place::kInJobOfItsOwn) add_allocation_variables(allocated, conf, variables);
  add_component_variables(all, variables);
  variables.set("SRUN_DEBUG", std::to_string(3 + options.verbose));
  variables.set("SLURM_UMASK", [&] {
    char text[8];
    snprintf(text, sizeof text, "%04o", options.request.umask);
    return std::string(text);
  }());
  return variables.list();
}

// --bcast: sends the program to the nodes of the step, where it is then started.
Result<> send_program(Session& session, const JobOptions& options, const rpc::StepCreated& step, const NodeDialer& dialer,
                      StepRequest& request) {
  rpc::AskCredential ask;
  ask.job = step.job;
  ask.has_step = true;
  ask.step = step.step;
  ask.purpose = rpc::CredentialPurpose::kSendFile;
  MUSTER_TRY(targets, nodes_of_job(session, ask));
  FileToSend file;
  file.source = below(request.work_dir, found_in_path(request.argv[0]));
  std::string name = "slurm_bcast_" + std::to_string(step.job.value) + "." + std::to_string(step.step.value);
  std::string place = options.bcast_path.empty()          ? name
                      : options.bcast_path.ends_with('/') ? options.bcast_path + name
                                                          : options.bcast_path;
  file.destination = destination_of(file.source, place, session.conf(), request.work_dir);
  file.force = true;
  file.preserve = true;
  file.lz4 = wants_lz4(options.compress, session.conf());
  file.fanout = options.treewidth.value_or(session.conf().tree_width);
  MUSTER_TRY_VOID(send_file(dialer, targets, file));
  request.argv[0] = file.destination;
  if (!request.send_libs) return {};
  MUSTER_TRY(directory,
             send_libraries(dialer, targets, file, options.bcast_exclude.empty() ? session.conf().bcast_exclude : options.bcast_exclude));
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

LaunchPlan launch_plan(const JobOptions& options, const rpc::Allocated& allocated, const ClientConf& conf, Place place,
                       const std::vector<rpc::Allocated>& all) {
  LaunchPlan plan;
  plan.request = options.step;
  plan.request.environment = task_environment_of(options, allocated, conf, place, all);
  plan.dialer = NodeDialer::of(conf);
  plan.ports = conf.srun_ports;
  plan.kill_wait_seconds = conf.kill_wait_seconds;
  plan.wait_seconds = options.step.wait_seconds.value_or(conf.wait_seconds);
  plan.kill_on_bad_exit = options.step.kill_on_bad_exit == KillOnBadExit::kDefault ? conf.kill_on_bad_exit
                                                                                   : options.step.kill_on_bad_exit == KillOnBadExit::kYes;
  if (options.msg_timeout_seconds) plan.launch_timeout = plan.dialer.connect_timeout = seconds(*options.msg_timeout_seconds);
  plan.reduce_exit_messages = options.reduce_task_exit_msg;
  plan.async = options.async;
  plan.threads = options.threads;
  plan.job_name = allocated.request.name;
  plan.user_name = allocated.request.user_name;
  plan.array_job = allocated.job.array_job_id;
  plan.array_task = allocated.job.array_task;
  plan.disable_status = options.disable_status;
  plan.quit_on_interrupt = options.quit_on_interrupt;
  for (uint8_t s : options.ignore_signals) plan.ignored_signals.insert(s);
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
