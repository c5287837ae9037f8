#include "slurmstepd/stepd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "net/notify.h"
#include "os/error.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/pty.h"
#include "slurmstepd/login_environment.h"
#include "wire/instances.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kKillAgain = milliseconds(100), kModuleEnds = seconds(5);
constexpr Duration kLookForSocket = seconds(5), kSrunSilent = seconds(60), kAttachedSilent = seconds(2);

std::vector<os::LimitSetting> settings_of(const std::vector<ResourceLimit>& wanted) {
  std::vector<os::SoftLimit> soft;
  std::span<const os::LimitKind> kinds = os::limit_kinds();
  for (const ResourceLimit& w : wanted)
    for (size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i].name == w.name) soft.push_back({i, w.soft});
  return os::grant_limits(soft).settings;
}

}  // namespace

Stepd::Stepd(int slurmd_fd, MakePlugins make_plugins) : make_plugins_(std::move(make_plugins)) {
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
  if (launch_) net::notify(*raw, state_);
  channels_.push_back(std::move(channel));
}

void Stepd::report() {
  for (const net::ChannelPtr& c : channels_) net::notify(*c, state_);
}

void Stepd::on_frame(net::Channel*, const net::Frame& f) {
  if (f.message == mpi_rpc::StepMpi::kNumber && !launch_) {
    if (!wire::decode(f.payload, mpi_setup_.emplace())) return loop_.stop();
    return;
  }
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
  } else if (f.message == step_rpc::StepdNote::kNumber) {
    step_rpc::StepdNote m;
    if (launch_ && wire::decode(f.payload, m)) note("slurmstepd-" + launch_->node + ": error: " + m.text);
  } else if (f.message == step_rpc::StepdLimit::kNumber) {
    step_rpc::StepdLimit m;
    if (!wire::decode(f.payload, m)) return;
    limit_ = m.limit;
    if (started_) watch_limit();
  } else if (f.message == step_rpc::StepdAttach::kNumber) {
    step_rpc::StepdAttach m;
    if (wire::decode(f.payload, m) && stream_ && !finished_) attach(m.io);
  } else if (f.message == step_rpc::StepdRelease::kNumber) {
    released_ = true;
    if (finished_) leave();
  }
}

// A reader that cannot be reached has gone already: nobody is left to be told.
void Stepd::attach(const rpc::StepIo& io) {
  step_rpc::TasksEnded over;
  for (const Task& t : tasks_)
    if (t.ended) over.tasks.push_back({t.launch->rank, t.status, {}});
  [[maybe_unused]] auto ok = stream_->attach(*launch_, io, over);
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
  if (l.time_limit_min != kUnlimited32) limit_ = minutes(l.time_limit_min);
  tasks_.resize(l.tasks.size());
  if (!l.login_shell.empty())
    if (auto ok = add_login_environment(launch_->environment, {l.user_name, l.login_home, l.login_shell}, who_); !ok)
      state_.text = ok.error().message();   // told below, when there is somewhere to tell it
  if (auto ok = prepare(); !ok) return launch_failed(ok.error(), true);
  tell_of_start();
  set_frequency();
  for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i].launch = &l.tasks[i];
  mpi_setup_ ? start_module() : start_tasks();
}

void Stepd::start_tasks() {
  const auto& l = *launch_;
  if (auto ok = begin_plugins(); !ok) return plugins_failed(ok.error());
  for (size_t i = 0; i < tasks_.size(); ++i) {
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
  if (auto ok = release_tasks(); !ok) return plugins_failed(ok.error());
  started_ = true;
  if (mpi_) mpi_->close_sockets();
  if (!state_.text.empty()) files_->note("slurmstepd: error: " + std::exchange(state_.text, {}));
  state_.state = step_rpc::StepdState::kRunning;
  for (const Task& t : tasks_)
    if (t.pid > 0) state_.tasks.push_back({t.launch->rank, t.pid});
  report();
  began_ = net::Loop::monotonic();
  watch_limit();
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
  events.output_ended = events.detached = [this] {
    if (tasks_over_) finish_when_quiet();
  };
  events.letter = [this](const mpi_rpc::NodeLetter& m) {
    if (mpi_) mpi_->deliver(m);
  };
  events.nodes_lost = [this](const mpi_rpc::NodesLost& m) {
    if (mpi_) mpi_->nodes_lost(m);
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

// --cpu-freq, on the CPUs that the step's tasks may use. What cannot be set is told, and the step runs.
void Stepd::set_frequency() {
  if (launch_->cpu_freq.empty()) return;
  Result<CpuFrequencyWish> wish = parse_cpu_frequency(launch_->cpu_freq);
  if (!wish) return;
  Bitmap cpus = launch_->cgroup.empty() ? Bitmap() : launch_->cgroup.front().os_cpus;
  for (const step_rpc::TaskLaunch& t : launch_->tasks) cpus |= t.os_cpus;
  frequency_.emplace(*wish, cpus);
  for (const std::string& fault : frequency_->faults()) note("slurmstepd: error: --cpu-freq=" + launch_->cpu_freq + ": " + fault);
}

void Stepd::launch_failed(const Error& error, bool node_fault) {
  state_.state = step_rpc::StepdState::kLaunchFailed;
  state_.node_fault = node_fault;
  state_.text = error.message();
  if (stream_) {
    step_rpc::TasksEnded m;
    for (const auto& t : launch_->tasks) m.tasks.push_back({t.rank, 1 << 8, state_.text});
    stream_->tasks_ended(m);
    stream_->abort_step();  // on other nodes tasks may wait for ours
  }
  ending_ = true;
  tasks_over_ = true;
  if (running_ > 0 || processes_.any_left())
    kill_now();
  else
    finish_when_quiet();
}

// ---- life and end
// A step's own limit (srun --time in a job, scontrol update step) and the signal before it.
void Stepd::watch_limit() {
  limit_timer_.reset();
  warn_timer_.reset();
  if (!limit_) return;
  const Duration left = std::max(*limit_ - (net::Loop::monotonic() - began_), Duration::zero());
  limit_timer_ = loop_.after(left, [this] { out_of_time(); });
  const WarnSignal& w = launch_->warn;
  if (!w.signal || warned_) return;
  warn_timer_ = loop_.after(std::max(left - seconds(w.seconds_before_end), Duration::zero()), [this] {
    warned_ = true;
    signal_tasks(launch_->warn.signal, false);
  });
}

void Stepd::out_of_time() {
  Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  end(launch_->kill_wait_seconds, "*** STEP " + std::to_string(launch_->job.value) + "." + std::to_string(launch_->step.value) + " ON " +
                                      launch_->node + " CANCELLED AT " + format_time(now) + " DUE TO TIME LIMIT ***");
}

void Stepd::on_children() {
  step_rpc::TasksEnded told;
  std::optional<int32_t> module;
  for (const os::Reaped& r : os::reap_children()) {
    if (mpi_ && mpi_->is_ended(r.pid)) module = r.status.raw;
    for (Task& t : tasks_) {
      if (t.pid != r.pid || t.ended) continue;
      task_ended(t, r.status.raw);
      told.tasks.push_back({t.launch->rank, t.status, {}});
    }
  }
  if (module) module_ended(*module);
  if (!told.tasks.empty()) {
    look_for_oom_kills();
    told.out_of_memory = state_.out_of_memory;
    if (stream_) stream_->tasks_ended(told);
    if (abort_timer_) abort_step();
  }
  if ((module || !told.tasks.empty()) && running_ == 0 && started_ && !tasks_over_) return all_tasks_ended();
  if (lingering_ && !processes_.any_left()) all_tasks_ended();
  if (tasks_over_ && !finished_ && !processes_.any_left()) finish_when_quiet();
}

void Stepd::look_for_oom_kills() {
  const uint64_t kills = processes_.oom_kills();
  if (kills <= oom_kills_) return;
  state_.out_of_memory = true;
  note("slurmstepd: error: Detected " + std::to_string(kills - std::exchange(oom_kills_, kills)) +
       " oom_kill event" + (kills == 1 ? "" : "s") + " in " + step_name() +
       ". Some of the step tasks have been OOM Killed.");
  if (launch_->oom_kill_step) end(0, {});
}

// "StepId=12.0", "StepId=12.batch"
std::string Stepd::step_name() const {
  std::string step = std::to_string(launch_->step.value);
  if (launch_->step == kBatchStep) step = "batch";
  if (launch_->step == kExternStep) step = "extern";
  if (launch_->step == kInteractiveStep) step = "interactive";
  return "StepId=" + std::to_string(launch_->job.value) + "." + step;
}

void Stepd::task_ended(Task& t, int32_t status) {
  t.ended = true;
  t.status = status;
  --running_;
  state_.exit_status = std::max(state_.exit_status, status);
  tell_of_end(t);
  if (plugins_) plugins_->task_ended(static_cast<size_t>(&t - tasks_.data()), status);
  if (stream_) stream_->drop_input(t.launch->rank);
  if (mpi_) mpi_->task_gone(t.launch->rank, status);
  if (!launch_->task_epilog.empty() || !launch_->site_task_epilog.empty())
    run_task_epilogs(*t.launch, status);
}

void Stepd::signal_tasks(int signal, bool leaders_only) {
  for (const Task& t : tasks_)
    if (t.pid > 0 && !t.ended) ::kill(leaders_only ? t.pid : -t.pid, signal);
}

void Stepd::note(const std::string& line) {
  if (!files_) return;
  files_->note(line);
  if (stream_) stream_->note(line);
}

void Stepd::end(uint32_t kill_wait_seconds, const std::string& message) {
  if (!launch_ || tasks_over_) return;
  if (!ending_ && !message.empty()) note("slurmstepd: error: " + message);
  bool again = std::exchange(ending_, true);
  if (mpi_ && !started_) mpi_->kill();
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
  else if (lingering_)
    all_tasks_ended();
}

// What tasks left behind goes with them.
void Stepd::all_tasks_ended() {
  if (mpi_ && mpi_->running()) {
    // Its last letters are waited for; its end calls again.
    mpi_->finish();
    module_timer_ = loop_.after(kModuleEnds, [this] { mpi_->kill(); });
    return;
  }
  // --wait-for-children: their last process ends a step, not their first.
  lingering_ = launch_->wait_for_children && !ending_ && processes_.any_left();
  if (lingering_) return;
  tasks_over_ = true;
  if (processes_.any_left()) kill_now();
  if (!finished_ && !processes_.any_left()) finish_when_quiet();
}

// The last output must be with srun before the connection closes.
void Stepd::finish_when_quiet() {
  if (finished_ || running_ > 0 || processes_.any_left()) return;
  end_plugins();   // what they say still finds its way
  if (stream_ && (stream_->connected() || stream_->attached())) {
    if (stream_->outputs_open()) return;  // output_ended calls again
    // srun closes when it has everything; one that does not is left behind. The step waits less for others.
    bool srun = stream_->connected();
    if (!flushing_) stream_->say_end();
    if (!std::exchange(flushing_, true) || (!srun && !std::exchange(hurrying_, true))) {
      quiet_timer_ = loop_.after(srun ? kSrunSilent : kAttachedSilent, [this] {
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
  frequency_.reset();
  kill_timer_.reset();
  quiet_timer_.reset();
  if (state_.state != step_rpc::StepdState::kLaunchFailed) state_.state = step_rpc::StepdState::kEnded;
  if (stream_) {
    stream_->close_outputs();
    stream_->close();
  }
  relay_.finish();
  files_->close_all();
  processes_.remove();
  if (mpi_) mpi_->remove_files();
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
