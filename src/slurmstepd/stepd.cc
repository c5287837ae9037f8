#include "slurmstepd/stepd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "model/step_run.h"
#include "net/notify.h"
#include "os/error.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/process_tree.h"
#include "os/pty.h"
#include "slurmstepd/login_environment.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kFilesSlow = seconds(5), kSweepTime = seconds(10), kLookForSocket = seconds(5);

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
  for (int s : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM, SIGXCPU, SIGXFSZ, SIGPROF})
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
    if (core_.finished()) watch_for_removal();
  };
  if (launch_) net::notify(*raw, shown_state());
  channels_.push_back(std::move(channel));
}

step_rpc::StepdReport Stepd::shown_state() const {
  step_rpc::StepdReport r = core_.state();
  r.job = launch_->job;
  r.generation = launch_->generation;
  r.step = launch_->step;
  r.uid = launch_->uid;
  r.manager = launch_->manager;
  r.pid = ::getpid();
  r.tasks = running_;
  if (use_ && r.state == step_rpc::StepdState::kEnded) r.usage = std::make_shared<const StepUsage>(use_->last_word());
  return r;
}

void Stepd::report(const step_rpc::StepdReport&) {
  const step_rpc::StepdReport state = shown_state();
  for (const net::ChannelPtr& c : channels_) net::notify(*c, state);
}

void Stepd::on_frame(net::Channel* from, const net::Frame& frame) {
  if (frame.message == mpi_rpc::StepMpi::kNumber && !launch_) {
    if (!wire::decode(frame.payload, mpi_setup_.emplace())) return loop_.stop();
    return;
  }
  if (frame.message == step_rpc::StepdRootsIo::kNumber) {
    roots_io_ = true;
    return;
  }
  if (frame.message == step_rpc::StepdOomScore::kNumber && !launch_) {
    step_rpc::StepdOomScore scores;
    if (!wire::decode(frame.payload, scores)) return loop_.stop();
    [[maybe_unused]] auto ok = oom_.raise(scores.own, scores.tasks);  // slurmd has said so when it may not
    return;
  }
  if (frame.message == step_rpc::StepdNamespace::kNumber && !launch_) {
    step_rpc::StepdNamespace own;
    if (!wire::decode(frame.payload, own)) return loop_.stop();
    namespace_ = sides_of(own);
    return;
  }
  if (frame.message == step_rpc::StepdLaunch::kNumber && !launch_) {
    step_rpc::StepdLaunch m;
    if (auto ok = wire::decode(frame.payload, m); !ok) return loop_.stop();
    on_launch(std::move(m));
  } else if (frame.message == step_rpc::StepdSignal::kNumber) {
    step_rpc::StepdSignal m;
    if (!wire::decode(frame.payload, m) || !launch_) return;
    if (m.signal == SIGKILL) core_.end(0, {});
    else if (m.all_processes) processes_.signal_all(m.signal, spared());
    else signal_tasks(m.signal, launch_->step == kBatchStep);
  } else if (frame.message == step_rpc::StepdEnd::kNumber) {
    step_rpc::StepdEnd m;
    if (wire::decode(frame.payload, m)) core_.end(m.kill_wait_seconds, m.message);
  } else if (frame.message == step_rpc::StepdNote::kNumber) {
    step_rpc::StepdNote m;
    if (launch_ && wire::decode(frame.payload, m)) note_of_node(m.text);
  } else if (frame.message == step_rpc::StepdLimit::kNumber) {
    step_rpc::StepdLimit m;
    if (wire::decode(frame.payload, m)) core_.set_limit(m.limit);
  } else if (frame.message == step_rpc::StepdMemory::kNumber) {
    step_rpc::StepdMemory m;
    if (!launch_ || !wire::decode(frame.payload, m)) return;
    if (use_) use_->lower_limit(m.kill_above);
    // The kernel refuses a limit below what it cannot take back; then the old one stays.
    if (auto lowered = processes_.limit_memory(m); !lowered)
      note_of_node("the memory limit stays as it was (--mem-update): " + std::string(lowered.error().message()));
  } else if (frame.message == step_rpc::StepdAttach::kNumber) {
    step_rpc::StepdAttach m;
    const bool named_by_root = std::exchange(roots_io_, false);  // for this message alone, also where it comes too early or too late
    if (wire::decode(frame.payload, m) && stream_ && !core_.finished()) attach(m, named_by_root);
  } else if (frame.message == step_rpc::StepdRelease::kNumber) {
    core_.release();
  } else if (frame.message == wire::number_of<rpc::QueryStepUse>) {
    net::answer(*from, frame, use_ ? use_->told_now() : rpc::StepUseNow());
  }
}

void Stepd::attach(const step_rpc::StepdAttach& where, bool named_by_root) {
  stream_->attach(*launch_, where.io, named_by_root, [this] {
    step_rpc::TasksEnded over;
    for (size_t i = 0; i < tasks_.size(); ++i)
      if (core_.is_ended(i)) over.tasks.push_back({tasks_[i].launch->rank, core_.status_of(i), {}});
    return over;
  });
}

// ---- the start
void Stepd::on_launch(step_rpc::StepdLaunch launch) {
  launch_ = std::make_unique<step_rpc::StepdLaunch>(std::move(launch));
  const auto& order = *launch_;
  if (::geteuid() == 0) who_ = os::Credentials{order.uid, order.gid, order.groups};
  openings_ = std::make_unique<Errands>(loop_, who_, namespace_ ? &*namespace_ : nullptr);
  writings_ = std::make_unique<Errands>(loop_, who_, namespace_ ? &*namespace_ : nullptr);
  files_ = std::make_unique<TaskFiles>(*openings_, *writings_, order);
  relay_ = std::make_unique<OutputRelay>(loop_, *writings_);
  programs_.on_idle = [this] { core_.programs_idle(); };
  limits_ = settings_of(order.limits);
  tasks_.resize(order.tasks.size());
  for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i].launch = &order.tasks[i];
  // What is of no task: errands, prologs and epilogs (each leads a group), the MPI module.
  const auto helpers = [this] {
    const StepProcesses::Spared ours = spared();
    std::vector<pid_t> out = ours.processes;
    std::ranges::copy(ours.groups, std::back_inserter(out));
    if (mpi_) out.push_back(mpi_->pid());
    return out;
  };
  profiler_ = StepProfiler::make(order, {*openings_, *files_, [this](const std::string& line) { note(line); }});
  use_ = UseWatch::make(loop_, order,
                        {[this](size_t task) { return processes_.group_of(task); }, helpers,
                         [this](Bytes has) { core_.over_memory(has, use_->kill_above(), step_name()); }, profiler_.get()});
  StepPlan plan = plan_of(order, mpi_setup_.has_value());
  if (plan.to_srun) make_stream();
  core_.begin(std::move(plan), prepare());
}

void Stepd::connect_to_srun() {
  stream_->connect(*launch_, std::exchange(roots_io_, false), [this](const Result<>& connected) { core_.connected(connected); });
}

void Stepd::load_login_environment() {
  const auto& l = *launch_;
  login_environment(programs_, {l.user_name, l.login_home, l.login_shell}, spec_of({}), [this](Result<std::vector<std::string>> found) {
    if (!found) return core_.login_environment(std::unexpected(found.error()));
    add_missing(launch_->environment, std::move(*found));
    core_.login_environment({});
  });
}

void Stepd::prepared() {
  tell_of_start();
  set_frequency();
  if (profiler_) profiler_->open();
}

void Stepd::open_files() {
  files_->open(launch_->tasks, [this] { core_.files_open(); });
}

Result<> Stepd::prepare() {
  if (!namespace_) return std::unexpected(namespace_.error());
  net::Limits limits;
  limits.owner_only = true;
  auto listener = net::listen_unix(
      loop_, launch_->socket_path, [this](net::ChannelPtr c) { attend(std::move(c)); }, limits);
  if (!listener) return std::unexpected(listener.error());
  listener_ = std::move(*listener);
  MUSTER_TRY_VOID(write_run_file());
  MUSTER_TRY_VOID(processes_.prepare(*launch_));
  if (!launch_->script.empty()) MUSTER_TRY_VOID(write_script());
  return {};
}

// Writes down who we are, for a slurmd that finds nobody at our socket: by that it knows what we left running.
Result<> Stepd::write_run_file() {
  MUSTER_TRY(self, os::read_process(::getpid()));
  os::Fd fd(::open(step_rpc::run_file_of(launch_->socket_path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return os::fail_errno(launch_->socket_path);
  return os::write_all(fd.get(),
                       std::to_string(self.pid) + " " + std::to_string(self.start_ticks) + " " + std::to_string(launch_->uid.value) + "\n",
                       launch_->socket_path);
}

void Stepd::make_stream() {
  SrunStream::Events events;
  events.signal = [this](const step_rpc::IoSignal& m) {
    if (m.end || m.signal == SIGKILL) core_.end(m.end ? m.kill_wait_seconds : 0, {});
    else signal_tasks(m.signal, false);
  };
  events.window = [this](const step_rpc::IoWindow& m) {
    [[maybe_unused]] auto ok = os::set_window_size(pty_master_.get(), {m.rows, m.columns});
  };
  events.lost = [this] { core_.srun_lost(); };
  events.output_ended = events.detached = [this] { core_.readers_changed(); };
  events.takes_letters = [this] { return mpi_setup_ || mpi_; };
  events.letter = [this](const mpi_rpc::NodeLetter& m) {
    if (mpi_) mpi_->deliver(m);
  };
  events.nodes_lost = [this](const mpi_rpc::NodesLost& m) {
    if (mpi_) mpi_->nodes_lost(m);
  };
  stream_ = std::make_unique<SrunStream>(loop_, *openings_, std::move(events));
}

// The script lies in a directory of the user's below the spool directory. Before that directory is given to the user nobody else can be in
// it: one that is left from an earlier run is moved aside, for slurmd to sweep.
Result<> Stepd::write_script() {
  const std::string directory = launch_->script_path.substr(0, launch_->script_path.rfind('/'));
  if (::mkdir(directory.c_str(), 0700) < 0) {
    if (errno != EEXIST) return os::fail_errno(directory);
    const std::string aside = directory + "." + std::to_string(::getpid()) + std::string(step_rpc::kAsideSuffix);
    if (::rename(directory.c_str(), aside.c_str()) < 0 || ::mkdir(directory.c_str(), 0700) < 0) return os::fail_errno(directory);
  }
  os::Fd fd(::open(launch_->script_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700));
  if (!fd) return os::fail_errno(launch_->script_path);
  MUSTER_TRY_VOID(os::write_all(fd.get(), launch_->script, launch_->script_path));
  if (who_ &&
      (::fchown(fd.get(), who_->uid.value, who_->gid.value) < 0 || ::chown(directory.c_str(), who_->uid.value, who_->gid.value) < 0))
    return os::fail_errno(directory);
  launch_->script.clear();
  launch_->script.shrink_to_fit();
  return {};
}

// Sets --cpu-freq on the CPUs that the step's tasks may use. What cannot be set is told, and the step runs.
void Stepd::set_frequency() {
  if (launch_->cpu_freq.empty() || !launch_->cpu_freq.parsed()) return;
  Bitmap cpus = launch_->cgroup.empty() ? Bitmap() : launch_->cgroup.front().os_cpus;
  for (const step_rpc::TaskLaunch& t : launch_->tasks) cpus |= t.os_cpus;
  frequency_.emplace(launch_->cpu_freq.value(), cpus);
  for (const std::string& fault : frequency_->faults()) note("slurmstepd: error: --cpu-freq=" + launch_->cpu_freq.text() + ": " + fault);
}

// ---- life and end
void Stepd::set_timer(StepTimer timer, Duration delay) {
  timers_[static_cast<size_t>(timer)] = loop_.after(delay, [this, timer] { core_.fired(timer); });
}

std::string Stepd::out_of_time() {
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  return "*** STEP " + std::to_string(launch_->job.value) + "." + std::to_string(launch_->step.value) + " ON " + launch_->node +
         " CANCELLED AT " + format_time(now) + " DUE TO TIME LIMIT ***";
}

void Stepd::on_children() {
  StepCore::Reaped what;
  const std::vector<os::Reaped> ended = use_ ? os::reap_children([this](pid_t pid) { use_->about_to_end(pid); }) : os::reap_children();
  if (ended.size() == os::kReapedAtOnce) loop_.defer([this] { on_children(); });
  for (const os::Reaped& r : ended) {
    if (use_) use_->has_ended(r);
    if (programs_.reaped(r.pid, r.status.raw)) continue;
    if (mpi_ && mpi_->is_ended(r.pid)) what.module = end_of_module(r.status.raw);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].pid != r.pid || core_.is_ended(i)) continue;
      settle(i);  // its end may be seen before its beginning
      if (tasks_[i].pid != r.pid) break;
      core_.task_ended(i, r.status.raw);
      what.tasks.push_back({i, r.status.raw, {}});
    }
  }
  core_.reaped(what);
}

void Stepd::note_oom_kills(uint64_t more) {
  note("slurmstepd: error: Detected " + std::to_string(more) + " oom_kill event" + (more == 1 ? "" : "s") + " in " + step_name() +
       ". Some of the step tasks have been OOM Killed.");
}

// "StepId=12.0", "StepId=12.batch"
std::string Stepd::step_name() const {
  std::string step = std::to_string(launch_->step.value);
  if (launch_->step == kBatchStep) step = "batch";
  if (launch_->step == kExternStep) step = "extern";
  if (launch_->step == kInteractiveStep) step = "interactive";
  return "StepId=" + std::to_string(launch_->job.value) + "." + step;
}

void Stepd::signal_tasks(int signal, bool leaders_only) {
  for (const Task& t : tasks_)
    if (runs(t)) ::kill(leaders_only ? t.pid : -t.pid, signal);
}

void Stepd::note(const std::string& line) {
  if (!files_) return;
  files_->note(line);
  if (stream_) stream_->note(line);
}

void Stepd::note_to_srun(const std::string& line) {
  if (stream_) stream_->note(line);
}

void Stepd::note_of_node(const std::string& text) { note("slurmstepd-" + launch_->node + ": error: " + text); }

void Stepd::tell_ended(const std::vector<EndedTask>& tasks, bool out_of_memory) {
  if (!stream_) return;
  step_rpc::TasksEnded m;
  for (const EndedTask& t : tasks) m.tasks.push_back({tasks_[t.task].launch->rank, t.status, t.text});
  m.out_of_memory = out_of_memory;
  stream_->tasks_ended(m);
}

void Stepd::abort_on_all_nodes() {
  if (stream_) stream_->abort_step();
}

// What signals to the step leave alone: errands and task epilogs have time limits of their own.
StepProcesses::Spared Stepd::spared() const {
  StepProcesses::Spared out{openings_->pids(), programs_.groups()};
  std::ranges::copy(writings_->pids(), std::back_inserter(out.processes));
  return out;
}

void Stepd::signal_everything(int signal) {
  processes_.signal_all(signal, spared());
  for (const Task& t : tasks_)
    if (t.start && t.pid > 0) ::kill(t.pid, signal);  // on its way to its program, and not in the step's group yet
}

void Stepd::kill_everything() {
  processes_.signal_all(SIGKILL, spared());
  for (const Task& t : tasks_)
    if (runs(t)) ::kill(t.pid, SIGKILL);  // one that has not come to its group yet; it is not reaped either
}

void Stepd::give_up_start() {
  held_.clear();  // with the gate closed, those that were not released end
  openings_->end_all();
  programs_.end_all();
}

void Stepd::close_stream() {
  stream_->close_outputs();
  stream_->close();
}

// A process of the user's empties the MPI module's directories; what cannot be removed stays on the node.
void Stepd::sweep() {
  for (const std::string& directory : mpi_->directories()) {
    os::SpawnSpec s;
    s.path = "/proc/self/exe";
    s.argv = {"slurmstepd", "sweep", directory};
    s.env = std::vector<std::string>{};
    s.cwd = "/";
    s.credentials = who_;
    programs_.run(std::move(s), {kSweepTime, Duration{}}, [directory](const UserPrograms::Outcome&) { ::rmdir(directory.c_str()); });
  }
}

// Writes the output that goes to files through us. A file that takes nothing does not keep the step.
void Stepd::write_the_rest() {
  const auto written = [this] { files_->when_quiet([this] { core_.written(); }); };
  relay_->finish(kFilesSlow, [this, written] { profiler_ ? profiler_->when_open(written) : written(); });
}

void Stepd::clean_up() {
  frequency_.reset();
  if (stream_) close_stream();
  openings_->end_all();
  writings_->end_all();
  files_->close_all();
  processes_.remove();
  if (launch_->script_path.empty()) return;
  ::unlink(launch_->script_path.c_str());
  ::rmdir(launch_->script_path.substr(0, launch_->script_path.rfind('/')).c_str());
}

// A result waits for slurmd as long as its socket is in the spool; with the spool removed nobody can come for it.
void Stepd::watch_for_removal() {
  if (!channels_.empty()) return;
  if (::access(launch_->socket_path.c_str(), F_OK) != 0) return leave();
  removal_timer_ = loop_.after(kLookForSocket, [this] { watch_for_removal(); });
}

void Stepd::leave() {
  listener_.reset();  // removes the socket
  if (launch_) ::unlink(step_rpc::run_file_of(launch_->socket_path).c_str());
  for (const net::ChannelPtr& c : channels_) c->close();
  loop_.stop();
}

}  // namespace muster::slurmstepd
