// Stepd, the start of a task: descriptors, task prologs, the process with its CPUs and its memory policy; and the task epilogs after its
// end. Nothing here waits: a task's prolog, its way into its directory and its program belong to the user, who may hold them up, and orders
// must be heard meanwhile.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/line_holder.h"
#include "os/error.h"
#include "os/files.h"
#include "os/node/affinity.h"
#include "os/process.h"
#include "os/pty.h"
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kPrologTimeout = seconds(600);
constexpr Duration kEpilogTimeout = seconds(5), kEpilogLeftBehind = seconds(1);  // srun(1) --task-epilog: "a few seconds"

os::MemoryPolicy policy_of(step_rpc::MemoryPolicy p) {
  switch (p) {
    case step_rpc::MemoryPolicy::kBind: return os::MemoryPolicy::kBind;
    case step_rpc::MemoryPolicy::kPrefer: return os::MemoryPolicy::kPrefer;
    case step_rpc::MemoryPolicy::kLocal: return os::MemoryPolicy::kLocal;
    default: return os::MemoryPolicy::kDefault;
  }
}

// A task writes to `writer`, and we read that from `reader`.
struct Ends {
  os::Fd reader, writer;
};

Result<Ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return os::fail_errno("pipe");
  return Ends{os::Fd(ends[0]), os::Fd(ends[1])};
}

// A terminal, since a program whose output is one does not hold its output back.
Result<Ends> make_terminal(const std::optional<os::Credentials>& who) {
  MUSTER_TRY(pty, os::open_pty(std::nullopt, who ? std::optional(who->uid) : std::nullopt));
  MUSTER_TRY_VOID(os::pass_output_unchanged(pty));
  return Ends{std::move(pty.master), std::move(pty.slave)};
}

std::string with_pid(std::string line, pid_t pid) {
  if (size_t at = line.find("%p"); at != line.npos) line.replace(at, 2, std::to_string(pid));
  return line;
}

}  // namespace

os::SpawnSpec Stepd::spec_of(const step_rpc::TaskLaunch& task) {
  os::SpawnSpec spec;
  spec.path = task.argv.empty() ? "" : task.argv.front();
  spec.argv = task.argv;
  spec.cwd = launch_->work_dir;
  spec.credentials = who_;
  spec.umask = launch_->umask;
  spec.limits = limits_;
  spec.nice = launch_->nice;
  spec.cpus = task.os_cpus;
  spec.cgroup_procs_fds = processes_.join_fds();
  spec.namespaces = namespace_->inside.fds();
  spec.oom_shield = &oom_;
  return spec;
}

Result<> Stepd::wire(size_t index) {
  Task& task = tasks_[index];
  const step_rpc::TaskLaunch& t = *task.launch;
  task.start = std::make_unique<TaskStart>(launch_->environment);
  Environment& env = task.start->env;
  for (const std::string& e : t.environment) env.set(e);
  env.unset("SLURM_TASK_PID");
  if (mpi_)
    for (const std::string& e : mpi_->variables_of(t.rank)) env.set(e);
  if (launch_->pty && stream_ && index == 0) return wire_terminal(t, *task.start);
  return wire_files(t, *task.start);
}

void Stepd::run_prolog(size_t index, bool of_site) {
  const Task& task = tasks_[index];
  os::SpawnSpec s = spec_of(*task.launch);
  s.path = of_site ? launch_->site_task_prolog : launch_->task_prolog;
  s.argv = {s.path};
  s.env = task.start->env.entries();
  s.pid_variable = "SLURM_TASK_PID";
  programs_.run(std::move(s), {kPrologTimeout, std::nullopt}, [this, index, of_site](const UserPrograms::Outcome& outcome) {
    if (!core_.over()) prolog_done(index, of_site, outcome);
  });
}

// What the prolog printed is in the task's variables, and with the user, before anything else happens to the task.
void Stepd::prolog_done(size_t index, bool of_site, const UserPrograms::Outcome& outcome) {
  const step_rpc::TaskLaunch& task = *tasks_[index].launch;
  if (!outcome.ok()) {
    const std::string& program = of_site ? launch_->site_task_prolog : launch_->task_prolog;
    return core_.prolog_ended(index, of_site,
                              outcome.not_started ? *outcome.not_started : Error(Errc::kError, "TaskProlog " + program + " failed"));
  }
  auto next = [this, index, of_site] { core_.prolog_ended(index, of_site, std::nullopt); };
  const std::string printed = tasks_[index].start->env.apply_prolog_output(outcome.output);
  if (printed.empty()) return next();
  if (task.std_out.empty() && stream_) {
    stream_->say(task.rank, printed);
    return next();
  }
  if (auto fd = files_->output(task.std_out)) files_->write(*fd, printed);
  files_->when_quiet(std::move(next));
}

Result<os::SpawnSpec> Stepd::task_spec(const Task& task, bool in_tmp, std::vector<os::Fd>& groups) {
  const step_rpc::TaskLaunch& launch = *task.launch;
  os::SpawnSpec spec = spec_of(launch);
  MUSTER_TRY(join_fds, processes_.join_fds_of(place_of(task), groups));
  spec.cgroup_procs_fds = std::move(join_fds);
  if (in_tmp) spec.cwd = "/tmp";
  spec.env = task.start->env.entries();
  spec.pid_variable = "SLURM_TASK_PID";
  spec.fds = task.start->fds;
  if (auto socket = mpi_ ? mpi_->socket_of(launch.rank) : std::nullopt) spec.fds.push_back(*socket);
  if (launch_->pty && launch.rank == launch_->tasks.front().rank && pty_master_) {
    spec.new_session = true;
    spec.controlling_tty = spec.fds.front().from;
  } else {
    spec.process_group = 0;
  }
  return spec;
}

Result<StepHost::Launched> Stepd::launch(size_t index, bool in_tmp) {
  Task& task = tasks_[index];
  const step_rpc::TaskLaunch& launch = *task.launch;
  TaskStart& start = *task.start;
  start.watch.reset();
  start.launch.reset();  // of the attempt before
  std::vector<os::Fd> groups;
  MUSTER_TRY(spec, task_spec(task, in_tmp, groups));
  // The child inherits it; it is ours for no longer than it takes to start the child.
  std::optional<os::ScopedMemoryPolicy> policy;
  if (launch.memory.policy != step_rpc::MemoryPolicy::kDefault) {
    MUSTER_TRY(set, os::ScopedMemoryPolicy::set(policy_of(launch.memory.policy), launch.memory.nodes));
    policy.emplace(std::move(set));
  }
  if (plugins_) {
    MUSTER_TRY(pid, hold_task(task, spec));
    task.pid = pid;
    if (use_) use_->begins(index, pid);
    return Launched::kHeld;
  }
  MUSTER_TRY(launched, os::Launch::start(std::move(spec)));
  for (os::Fd& fd : groups) start.ours.push_back(std::move(fd));
  task.pid = launched.pid();
  if (use_) use_->begins(index, task.pid);
  start.launch.emplace(std::move(launched));
  start.watch = loop_.watch(start.launch->fd(), [this, index] { settle(index); });
  return Launched::kOnItsWay;
}

// The task now runs its program, or says why it cannot. A child that failed is reaped as a process of no task.
void Stepd::settle(size_t index) {
  Task& task = tasks_[index];
  if (!task.start || !task.start->launch) return;
  auto outcome = task.start->launch->settled();
  if (!outcome) return;
  task.start->watch.reset();
  if (*outcome) return core_.started(index);
  task.pid = 0;
  if (use_) use_->begins(index, 0);
  core_.not_started(index, outcome->error(), task.start->launch->failed_at_directory());
}

// Does as Slurm does: says it, and runs in /tmp.
void Stepd::go_to_tmp(size_t index, const Error& why) {
  const std::string& directory = launch_->work_dir;
  note("slurmstepd: error: couldn't chdir to `" + directory + "': " + std::string(why.message().substr(6 + directory.size() + 2)) +
       ": going to /tmp instead");
  files_->when_quiet([this, index] { core_.launch_again(index); });
}

void Stepd::has_started(size_t index) {
  Task& task = tasks_[index];
  const std::unique_ptr<TaskStart> over = std::move(task.start);
  for (const std::string& line : task.launch->notes) note(with_pid(line, task.pid));
  tell_of_task(task);
}

void Stepd::all_run(const std::string& word) {
  if (mpi_) mpi_->close_sockets();
  if (!word.empty()) files_->note("slurmstepd: error: " + word);
  for (const Task& t : tasks_)
    if (t.pid > 0) running_.push_back({t.launch->rank, t.pid});
  if (use_) use_->begin_looking();
}

void Stepd::is_over(const EndedTask& ended, bool epilog) {
  const step_rpc::TaskLaunch& t = *tasks_[ended.task].launch;
  tell_of_end(ended);
  if (plugins_) plugins_->task_ended(ended.task, ended.status);
  if (stream_) stream_->drop_input(t.rank);
  if (mpi_) mpi_->task_gone(t.rank, ended.status);
  if (epilog) run_task_epilog(t, false);
}

// Wires the child's descriptors 0-2 to a terminal. Our copies of what it gets are closed after the start.
Result<> Stepd::wire_terminal(const step_rpc::TaskLaunch& t, TaskStart& start) {
  MUSTER_TRY(pty, os::open_pty(os::WindowSize{launch_->pty_rows, launch_->pty_columns}, who_ ? std::optional(who_->uid) : std::nullopt));
  pty_master_ = os::Fd(::dup(pty.master.get()));
  stream_->add_input(t.rank, os::Fd(::dup(pty.master.get())));
  stream_->add_output(t.rank, 1, std::move(pty.master), true);
  const int slave = pty.slave.get();
  start.ours.push_back(std::move(pty.slave));
  start.fds = {{slave, 0}, {slave, 1}, {slave, 2}};
  return {};
}

Result<> Stepd::wire_files(const step_rpc::TaskLaunch& task, TaskStart& start) {
  std::vector<os::FdMapping>& fds = start.fds;
  std::vector<os::Fd>& ours = start.ours;
  auto give = [&](os::Fd fd, int target) {
    fds.push_back({fd.get(), target});
    ours.push_back(std::move(fd));
  };
  auto add = [&](Result<int> fd, int target) -> Result<> {
    if (!fd) return std::unexpected(fd.error());
    fds.push_back({*fd, target});
    return {};
  };
  if (!task.std_in.empty()) {
    MUSTER_TRY_VOID(add(files_->input(task), 0));
  } else if (stream_) {
    MUSTER_TRY(ends, make_pipe());
    give(std::move(ends.reader), 0);
    stream_->add_input(task.rank, std::move(ends.writer));
  } else {
    MUSTER_TRY_VOID(add(files_->null(), 0));
  }
  for (int target : {1, 2}) {
    const std::string& path = target == 1 ? task.std_out : task.std_err;
    const bool to_srun = path.empty() && stream_;
    const bool to_file = !path.empty() && path != "/dev/null";
    if (!to_srun && !(to_file && (launch_->label || launch_->unbuffered))) {
      MUSTER_TRY_VOID(add(path.empty() ? files_->null() : files_->output(path), target));
      if (target == 2) files_->used_for_errors(fds.back().from);
      continue;
    }
    MUSTER_TRY(ends, launch_->unbuffered && target == 1 ? make_terminal(who_) : make_pipe());
    give(std::move(ends.writer), target);
    if (to_srun) {
      stream_->add_output(task.rank, static_cast<uint8_t>(target), std::move(ends.reader));
      continue;
    }
    MUSTER_TRY(file, files_->output(path));
    if (target == 2) files_->used_for_errors(file);
    MUSTER_TRY_VOID(relay_->add(std::move(ends.reader), file, launch_->label ? task_label(task.rank, launch_->num_tasks) : ""));
  }
  return {};
}

// Runs the user's task epilog, then the site's. The step is not over before they are.
void Stepd::run_task_epilog(const step_rpc::TaskLaunch& task, bool of_site) {
  const std::string& program = of_site ? launch_->site_task_epilog : launch_->task_epilog;
  if (program.empty()) {
    if (!of_site) run_task_epilog(task, true);
    return;
  }
  Environment env(launch_->environment);
  for (const std::string& e : task.environment) env.set(e);
  os::SpawnSpec s = spec_of(task);
  s.path = program;
  s.argv = {program};
  s.env = env.entries();
  programs_.run(std::move(s), {kEpilogTimeout, kEpilogLeftBehind}, [this, &task, of_site, program](UserPrograms::Outcome outcome) {
    if (!outcome.ok()) files_->note("slurmstepd: error: TaskEpilog " + program + " failed");
    if (!of_site) run_task_epilog(task, true);
  });
}

}  // namespace muster::slurmstepd
