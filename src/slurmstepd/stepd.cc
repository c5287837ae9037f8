#include "slurmstepd/stepd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/error.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/process.h"
#include "os/pty.h"
#include "wire/instances.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kKillAgain = milliseconds(100);
constexpr Duration kLookForSocket = seconds(5), kSrunSilent = seconds(60);
constexpr Duration kPrologTimeout = seconds(600);

template <class M>
void notify(net::Channel& c, const M& m) {
  std::string bytes;
  wire::encode(m, bytes);
  c.notify(M::kNumber, std::move(bytes));
}

std::vector<os::LimitSetting> settings_of(const std::vector<ResourceLimit>& wanted) {
  std::vector<os::SoftLimit> soft;
  std::span<const os::LimitKind> kinds = os::limit_kinds();
  for (const ResourceLimit& w : wanted)
    for (size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i].name == w.name) soft.push_back({i, w.soft});
  return os::grant_limits(soft).settings;
}

}  // namespace

Stepd::Stepd(int slurmd_fd) {
  loop_.on_signal(SIGCHLD, [this] { on_children(); });
  ::signal(SIGPIPE, SIG_IGN);
  for (int s : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    ::signal(s, SIG_IGN);  // meant for the tasks
  [[maybe_unused]] auto ok = os::become_subreaper();
  net::Peer slurmd;
  slurmd.uid = Uid(::geteuid());
  attend(net::adopt_channel(loop_, slurmd_fd, slurmd));
}

int Stepd::run() {
  loop_.run();
  return 0;
}

// ---- slurmd
void Stepd::attend(net::ChannelPtr channel) {
  net::Channel* raw = channel.get();
  if (raw->peer().uid.value != 0 && raw->peer().uid.value != ::geteuid()) return;  // nobody else may
  channel->on_request = [this, raw](net::Frame f) { on_frame(raw, f); };
  channel->on_closed = [this, raw](const Error&) {
    std::erase_if(channels_, [&](const net::ChannelPtr& c) { return c.get() == raw; });
    if (!launch_) loop_.stop();  // slurmd went before it said what to do
    if (finished_) watch_for_removal();
  };
  if (launch_) notify(*raw, state_);
  channels_.push_back(std::move(channel));
}

void Stepd::report() {
  for (const net::ChannelPtr& c : channels_) notify(*c, state_);
}

void Stepd::on_frame(net::Channel*, const net::Frame& f) {
  if (f.message == step_rpc::StepdLaunch::kNumber && !launch_) {
    step_rpc::StepdLaunch m;
    if (auto ok = wire::decode(f.payload, m); !ok) return loop_.stop();
    on_launch(std::move(m));
  } else if (f.message == step_rpc::StepdSignal::kNumber) {
    step_rpc::StepdSignal m;
    if (!wire::decode(f.payload, m)) return;
    if (m.signal == SIGKILL)
      end(0, {});
    else if (m.all_processes)
      processes_.signal_all(m.signal);
    else
      signal_tasks(m.signal, launch_ && launch_->step == kBatchStep);
  } else if (f.message == step_rpc::StepdEnd::kNumber) {
    step_rpc::StepdEnd m;
    if (wire::decode(f.payload, m)) end(m.kill_wait_seconds, m.message);
  } else if (f.message == step_rpc::StepdRelease::kNumber) {
    released_ = true;
    if (finished_) leave();
  }
}

// ---- start
void Stepd::on_launch(step_rpc::StepdLaunch launch) {
  launch_ = std::make_unique<step_rpc::StepdLaunch>(std::move(launch));
  const auto& l = *launch_;
  state_.job = l.job;
  state_.generation = l.generation;
  state_.step = l.step;
  state_.uid = l.uid;
  state_.pid = ::getpid();
  if (::geteuid() == 0) who_ = os::Credentials{l.uid, l.gid, l.groups};
  files_ = std::make_unique<TaskFiles>(l, who_);
  limits_ = settings_of(l.limits);
  tasks_.resize(l.tasks.size());
  if (auto ok = prepare(); !ok) return launch_failed(ok.error(), true);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    tasks_[i].launch = &l.tasks[i];
    if (auto ok = start_task(tasks_[i]); !ok) {
      if (!stream_) return launch_failed(ok.error(), false);
      // srun is told for this task; the others run.
      tasks_[i].ended = true;
      tasks_[i].status = 2 << 8;
      state_.exit_status = std::max(state_.exit_status, tasks_[i].status);
      step_rpc::TasksEnded m;
      std::string why(ok.error().message());
      if (why.starts_with("execve ")) why.replace(0, 7, "execve(): ");
      stream_->note("slurmstepd: error: " + why);
      m.tasks.push_back({l.tasks[i].rank, tasks_[i].status, {}});
      stream_->tasks_ended(m);
    }
  }
  started_ = true;
  state_.state = step_rpc::StepdState::kRunning;
  report();
  if (running_ == 0) all_tasks_ended();
}

Result<> Stepd::prepare() {
  auto listener =
      net::listen_unix(loop_, launch_->socket_path, [this](net::ChannelPtr c) { attend(std::move(c)); });
  if (!listener) return std::unexpected(listener.error());
  listener_ = std::move(*listener);
  ::chmod(launch_->socket_path.c_str(), 0600);
  MUSTER_TRY_VOID(processes_.prepare(*launch_));
  if (!launch_->script.empty()) MUSTER_TRY_VOID(write_script());
  if (launch_->io.host.empty() && launch_->io.path.empty()) return {};
  SrunStream::Events events;
  events.signal = [this](const step_rpc::IoSignal& m) {
    if (m.end || m.signal == SIGKILL)
      end(m.end ? m.kill_wait_seconds : 0, {});
    else
      signal_tasks(m.signal, false);
  };
  events.window = [this](const step_rpc::IoWindow& m) {
    [[maybe_unused]] auto ok = os::set_window_size(pty_master_.get(), {m.rows, m.columns});
  };
  events.lost = [this] {
    if (tasks_over_)
      finish_when_quiet();
    else
      end(launch_->kill_wait_seconds, {});
  };
  events.output_ended = [this] {
    if (tasks_over_) finish_when_quiet();
  };
  stream_ = std::make_unique<SrunStream>(loop_, std::move(events));
  return stream_->connect(*launch_);
}

// The script lies in a directory of the user's below the spool directory, written with the user's rights.
Result<> Stepd::write_script() {
  std::string directory = launch_->script_path.substr(0, launch_->script_path.rfind('/'));
  if (::mkdir(directory.c_str(), 0700) < 0 && errno != EEXIST) return os::fail_errno(directory);
  if (who_ && ::chown(directory.c_str(), who_->uid.value, who_->gid.value) < 0)
    return os::fail_errno(directory);
  os::OpenOutput how;
  how.mode = 0700;
  ::unlink(launch_->script_path.c_str());
  MUSTER_TRY(fd, os::open_output(launch_->script_path, how, who_));
  MUSTER_TRY_VOID(os::write_all(fd.get(), launch_->script, launch_->script_path));
  launch_->script.clear();
  launch_->script.shrink_to_fit();
  return {};
}

void Stepd::launch_failed(const Error& error, bool node_fault) {
  state_.state = step_rpc::StepdState::kLaunchFailed;
  state_.node_fault = node_fault;
  state_.text = error.message();
  if (stream_) {
    step_rpc::TasksEnded m;
    for (const auto& t : launch_->tasks) m.tasks.push_back({t.rank, 1 << 8, state_.text});
    stream_->tasks_ended(m);
  }
  ending_ = true;
  tasks_over_ = true;
  if (running_ > 0 || processes_.any_left())
    kill_now();
  else
    finish_when_quiet();
}

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
  std::vector<os::Fd> ours;
  MUSTER_TRY(fds, wire_task(task, ours));
  MUSTER_TRY_VOID(run_task_prologs(t, env));
  os::SpawnSpec s = spec_of(t);
  s.env = env.entries();
  s.pid_variable = "SLURM_TASK_PID";
  s.fds = std::move(fds);
  if (launch_->pty && t.rank == launch_->tasks.front().rank && pty_master_) {
    s.new_session = true;
    s.controlling_tty = s.fds.front().from;
  } else {
    s.process_group = 0;
  }
  auto pid = os::spawn(s);
  if (!pid && s.cwd.size() > 1 && ::access(s.cwd.c_str(), X_OK) != 0 &&
      pid.error().message().starts_with("chdir")) {
    // As Slurm does: say it, and run in /tmp.
    std::string line = "slurmstepd: error: couldn't chdir to `" + s.cwd +
                       "': " + std::string(pid.error().message().substr(6 + s.cwd.size() + 2)) +
                       ": going to /tmp instead";
    files_->note(line);
    if (stream_) stream_->note(line);
    s.cwd = "/tmp";
    pid = os::spawn(s);
  }
  if (!pid) return std::unexpected(pid.error());
  task.pid = *pid;
  ++running_;
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
  auto pipe_of = [&](bool child_reads, int target, uint8_t stream) -> Result<> {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return os::fail_errno("pipe");
    ours.emplace_back(ends[child_reads ? 0 : 1]);
    os::Fd other(ends[child_reads ? 1 : 0]);
    if (child_reads)
      stream_->add_input(t.rank, std::move(other));
    else
      stream_->add_output(t.rank, stream, std::move(other));
    fds.push_back({ours.back().get(), target});
    return {};
  };
  auto add = [&](Result<int> fd, int target) -> Result<> {
    if (!fd) return std::unexpected(fd.error());
    fds.push_back({*fd, target});
    return {};
  };
  if (!t.std_in.empty())
    MUSTER_TRY_VOID(add(files_->input(t.std_in), 0));
  else if (stream_)
    MUSTER_TRY_VOID(pipe_of(true, 0, 0));
  else
    MUSTER_TRY_VOID(add(files_->null(), 0));
  for (int target : {1, 2}) {
    const std::string& path = target == 1 ? t.std_out : t.std_err;
    if (path.empty() && stream_) {
      MUSTER_TRY_VOID(pipe_of(false, target, static_cast<uint8_t>(target)));
      continue;
    }
    MUSTER_TRY_VOID(add(path.empty() ? files_->null() : files_->output(path), target));
    if (target == 2) files_->used_for_errors(fds.back().from);
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
      stream_->note(printed.substr(0, printed.size() - 1));
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

// ---- life and end
void Stepd::on_children() {
  step_rpc::TasksEnded told;
  for (const os::Reaped& r : os::reap_children()) {
    for (Task& t : tasks_) {
      if (t.pid != r.pid || t.ended) continue;
      task_ended(t, r.status.raw);
      told.tasks.push_back({t.launch->rank, t.status, {}});
    }
  }
  if (!told.tasks.empty()) {
    if (uint64_t kills = processes_.oom_kills()) state_.out_of_memory = kills > 0;
    told.out_of_memory = state_.out_of_memory;
    if (stream_) stream_->tasks_ended(told);
    if (running_ == 0 && started_ && !tasks_over_) return all_tasks_ended();
  }
  if (tasks_over_ && !finished_ && !processes_.any_left()) finish_when_quiet();
}

void Stepd::task_ended(Task& t, int32_t status) {
  t.ended = true;
  t.status = status;
  --running_;
  state_.exit_status = std::max(state_.exit_status, status);
  if (stream_) stream_->drop_input(t.launch->rank);
  if (!launch_->task_epilog.empty() || !launch_->site_task_epilog.empty())
    run_task_epilogs(*t.launch, status);
}

void Stepd::signal_tasks(int signal, bool leaders_only) {
  for (const Task& t : tasks_)
    if (t.pid > 0 && !t.ended) ::kill(leaders_only ? t.pid : -t.pid, signal);
}

void Stepd::end(uint32_t kill_wait_seconds, const std::string& message) {
  if (!launch_ || tasks_over_) return;
  if (!ending_ && !message.empty()) {
    std::string line = "slurmstepd: error: " + message;
    files_->note(line);
    if (stream_) stream_->note(line);
  }
  bool again = std::exchange(ending_, true);
  if (kill_wait_seconds == 0) return kill_now();
  if (again) return;
  processes_.signal_all(SIGCONT);
  processes_.signal_all(SIGTERM);
  kill_timer_ = loop_.after(seconds(kill_wait_seconds), [this] { kill_now(); });
}

// Again and again until none is left: what forks while it is being killed is caught by the next round.
void Stepd::kill_now() {
  if (finished_) return;
  processes_.signal_all(SIGKILL);
  ++kill_rounds_;
  on_children();
  if (!finished_ && (running_ > 0 || processes_.any_left()))
    kill_timer_ = loop_.after(kKillAgain, [this] { kill_now(); });
}

// What tasks left behind goes with them.
void Stepd::all_tasks_ended() {
  tasks_over_ = true;
  if (processes_.any_left()) kill_now();
  if (!finished_ && !processes_.any_left()) finish_when_quiet();
}

// The last output must be with srun before the connection closes.
void Stepd::finish_when_quiet() {
  if (finished_ || running_ > 0 || processes_.any_left()) return;
  if (stream_ && stream_->connected()) {
    if (stream_->outputs_open()) return;  // output_ended calls again
    // srun closes when it has everything; one that does not is left behind.
    if (!std::exchange(flushing_, true)) {
      stream_->say_end();
      quiet_timer_ = loop_.after(kSrunSilent, [this] {
        stream_->close();
        finish_when_quiet();
      });
    }
    return;
  }
  finished();
}

void Stepd::finished() {
  finished_ = true;
  kill_timer_.reset();
  quiet_timer_.reset();
  if (state_.state != step_rpc::StepdState::kLaunchFailed) state_.state = step_rpc::StepdState::kEnded;
  if (stream_) {
    stream_->close_outputs();
    stream_->close();
  }
  files_->close_all();
  processes_.remove();
  if (!launch_->script_path.empty()) {
    ::unlink(launch_->script_path.c_str());
    ::rmdir(launch_->script_path.substr(0, launch_->script_path.rfind('/')).c_str());
  }
  report();
  if (released_)
    leave();
  else
    watch_for_removal();
}

// A result waits for slurmd as long as its socket is in the spool; with the spool removed nobody can come for
// it.
void Stepd::watch_for_removal() {
  if (!channels_.empty()) return;
  if (::access(launch_->socket_path.c_str(), F_OK) != 0) return leave();
  quiet_timer_ = loop_.after(kLookForSocket, [this] { watch_for_removal(); });
}

void Stepd::leave() {
  listener_.reset();  // removes the socket
  for (const net::ChannelPtr& c : channels_) c->close();
  loop_.stop();
}

}  // namespace muster::slurmstepd
