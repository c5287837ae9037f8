// Stepd, the start of a task: descriptors, task prologs, the process with its CPUs and its memory policy; and
// the task epilogs after its end.
#include <fcntl.h>
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

os::MemoryPolicy policy_of(step_rpc::MemoryPolicy p) {
  switch (p) {
    case step_rpc::MemoryPolicy::kBind:
      return os::MemoryPolicy::kBind;
    case step_rpc::MemoryPolicy::kPrefer:
      return os::MemoryPolicy::kPrefer;
    case step_rpc::MemoryPolicy::kLocal:
      return os::MemoryPolicy::kLocal;
    default:
      return os::MemoryPolicy::kDefault;
  }
}

// What a task writes to `writer` is read from `reader`.
struct Ends {
  os::Fd reader, writer;
};

Result<Ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return os::fail_errno("pipe");
  return Ends{os::Fd(ends[0]), os::Fd(ends[1])};
}

// A program whose output is a terminal does not hold it back.
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

os::SpawnSpec Stepd::spec_of(const step_rpc::TaskLaunch& task) const {
  os::SpawnSpec s;
  s.path = task.argv.empty() ? "" : task.argv.front();
  s.argv = task.argv;
  s.cwd = launch_->work_dir;
  s.credentials = who_;
  s.umask = launch_->umask;
  s.limits = limits_;
  s.cpus = task.os_cpus;
  s.cgroup_procs_fds = processes_.join_fds();
  if (launch_->oom_score_adj) s.oom_score_adj = launch_->oom_score_adj;
  return s;
}

Result<> Stepd::start_task(Task& task) {
  const step_rpc::TaskLaunch& t = *task.launch;
  Environment env(launch_->environment);
  for (const std::string& e : t.environment) env.set(e);
  env.unset("SLURM_TASK_PID");
  if (mpi_)
    for (const std::string& e : mpi_->variables_of(t.rank)) env.set(e);
  std::vector<os::Fd> ours;
  MUSTER_TRY(fds, wire_task(task, ours));
  MUSTER_TRY_VOID(run_task_prologs(t, env));
  os::SpawnSpec s = spec_of(t);
  std::vector<os::Fd> group;
  MUSTER_TRY(join_fds, processes_.join_fds_of(static_cast<size_t>(&t - launch_->tasks.data()), group));
  s.cgroup_procs_fds = std::move(join_fds);
  s.env = env.entries();
  s.pid_variable = "SLURM_TASK_PID";
  s.fds = std::move(fds);
  if (auto socket = mpi_ ? mpi_->socket_of(t.rank) : std::nullopt) s.fds.push_back(*socket);
  if (launch_->pty && t.rank == launch_->tasks.front().rank && pty_master_) {
    s.new_session = true;
    s.controlling_tty = s.fds.front().from;
  } else {
    s.process_group = 0;
  }
  // Inherited by the child, and ours no longer than it takes to start it.
  std::optional<os::ScopedMemoryPolicy> policy;
  if (t.memory.policy != step_rpc::MemoryPolicy::kDefault) {
    MUSTER_TRY(set, os::ScopedMemoryPolicy::set(policy_of(t.memory.policy), t.memory.nodes));
    policy.emplace(std::move(set));
  }
  auto pid = plugins_ ? hold_task(task, s) : os::spawn(s);
  if (!pid && s.cwd.size() > 1 && ::access(s.cwd.c_str(), X_OK) != 0 &&
      pid.error().message().starts_with("chdir")) {
    // As Slurm does: say it, and run in /tmp.
    std::string line = "slurmstepd: error: couldn't chdir to `" + s.cwd +
                       "': " + std::string(pid.error().message().substr(6 + s.cwd.size() + 2)) +
                       ": going to /tmp instead";
    note(line);
    s.cwd = "/tmp";
    pid = os::spawn(s);
  }
  if (!pid) return std::unexpected(pid.error());
  task.pid = *pid;
  ++running_;
  for (const std::string& line : t.notes) note(with_pid(line, *pid));
  tell_of_task(task);
  return {};
}

// The child's descriptors 0-2. What it gets of us goes to `ours` and is closed after the start.
Result<std::vector<os::FdMapping>> Stepd::wire_task(Task& task, std::vector<os::Fd>& ours) {
  const step_rpc::TaskLaunch& t = *task.launch;
  if (launch_->pty && stream_ && &t == &launch_->tasks.front()) {
    MUSTER_TRY(pty, os::open_pty(os::WindowSize{launch_->pty_rows, launch_->pty_columns},
                                 who_ ? std::optional(who_->uid) : std::nullopt));
    pty_master_ = os::Fd(::dup(pty.master.get()));
    stream_->add_input(t.rank, os::Fd(::dup(pty.master.get())));
    stream_->add_output(t.rank, 1, std::move(pty.master), true);
    int slave = pty.slave.get();
    ours.push_back(std::move(pty.slave));
    return std::vector<os::FdMapping>{{slave, 0}, {slave, 1}, {slave, 2}};
  }
  std::vector<os::FdMapping> fds;
  auto give = [&](os::Fd fd, int target) {
    fds.push_back({fd.get(), target});
    ours.push_back(std::move(fd));
  };
  auto add = [&](Result<int> fd, int target) -> Result<> {
    if (!fd) return std::unexpected(fd.error());
    fds.push_back({*fd, target});
    return {};
  };
  if (!t.std_in.empty()) {
    MUSTER_TRY_VOID(add(files_->input(t.std_in), 0));
  } else if (stream_) {
    MUSTER_TRY(ends, make_pipe());
    give(std::move(ends.reader), 0);
    stream_->add_input(t.rank, std::move(ends.writer));
  } else {
    MUSTER_TRY_VOID(add(files_->null(), 0));
  }
  for (int target : {1, 2}) {
    const std::string& path = target == 1 ? t.std_out : t.std_err;
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
      stream_->add_output(t.rank, static_cast<uint8_t>(target), std::move(ends.reader));
      continue;
    }
    MUSTER_TRY(file, files_->output(path));
    if (target == 2) files_->used_for_errors(file);
    relay_.add(std::move(ends.reader), file, launch_->label ? task_label(t.rank, launch_->num_tasks) : "");
  }
  return fds;
}

Result<> Stepd::run_task_prologs(const step_rpc::TaskLaunch& t, Environment& env) {
  for (const std::string* program : {&launch_->site_task_prolog, &launch_->task_prolog}) {
    if (program->empty()) continue;
    os::SpawnSpec s = spec_of(t);
    s.path = *program;
    s.argv = {*program};
    s.env = env.entries();
    s.pid_variable = "SLURM_TASK_PID";
    MUSTER_TRY(done, os::run_captured(std::move(s), kPrologTimeout));
    if (!done.status.ok()) return fail("TaskProlog " + *program + " failed");
    std::string printed = env.apply_prolog_output(done.output);
    if (printed.empty()) continue;
    if (t.std_out.empty() && stream_) {
      stream_->say(t.rank, printed);
    } else if (auto fd = files_->output(t.std_out)) {
      [[maybe_unused]] auto ok = os::write_all(*fd, printed);
    }
  }
  return {};
}

void Stepd::run_task_epilogs(const step_rpc::TaskLaunch& t, int32_t) {
  for (const std::string* program : {&launch_->task_epilog, &launch_->site_task_epilog}) {
    if (program->empty()) continue;
    Environment env(launch_->environment);
    for (const std::string& e : t.environment) env.set(e);
    os::SpawnSpec s = spec_of(t);
    s.path = *program;
    s.argv = {*program};
    s.env = env.entries();
    auto done = os::run_captured(std::move(s), kPrologTimeout);
    if (!done || !done->status.ok()) files_->note("slurmstepd: error: TaskEpilog " + *program + " failed");
  }
}

}  // namespace muster::slurmstepd
