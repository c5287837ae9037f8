#include "slurmd/daemon/stepds.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "model/step_run.h"
#include "net/notify.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kSocketPrefix = "step.", kSocketSuffix = ".sock", kMpiPrefix = "mpi.", kScriptPrefix = "job";
constexpr Duration kKillPatience = seconds(5), kUseTime = seconds(10), kWithoutCopies = minutes(1);

std::vector<std::string> entries_of(const std::string& directory, std::string_view prefix, std::string_view suffix) {
  std::vector<std::string> out;
  DIR* d = ::opendir(directory.c_str());
  if (!d) return out;
  while (dirent* e = ::readdir(d)) {
    std::string_view name = e->d_name;
    if (name.starts_with(prefix) && name.ends_with(suffix)) out.push_back(directory + "/" + std::string(name));
  }
  ::closedir(d);
  return out;
}

std::optional<StepId> parse_step(std::string_view text) {
  for (StepId named : {kBatchStep, kExternStep, kInteractiveStep})
    if (step_name(JobId(0), named).substr(2) == text) return named;
  auto number = parse_number<uint32_t>(text);
  return number ? std::optional(StepId(*number)) : std::nullopt;
}

// A socket between us and a slurmstepd, ours first. It has room for a long launch.
Result<std::pair<os::Fd, os::Fd>> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) return os::fail_errno("socketpair");
  std::pair<os::Fd, os::Fd> pair{os::Fd(ends[0]), os::Fd(ends[1])};
  const int buffer = 1 << 20;
  ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  return pair;
}

// Where the MPI module of a step keeps its files, by the step's socket.
std::string mpi_directory_of(const std::string& socket) {
  size_t name = socket.rfind('/') + 1;
  std::string_view middle = std::string_view(socket).substr(name + kSocketPrefix.size());
  middle.remove_suffix(kSocketSuffix.size());
  return socket.substr(0, name) + std::string(kMpiPrefix) + std::string(middle);
}

}  // namespace

std::string step_name(JobId job, StepId step) {
  std::string out = std::to_string(job.value) + ".";
  if (step == kBatchStep) return out + "batch";
  if (step == kExternStep) return out + "extern";
  if (step == kInteractiveStep) return out + "interactive";
  return out + std::to_string(step.value);
}

std::string run_name(JobId job, StepId step, uint32_t generation) { return step_name(job, step) + "." + std::to_string(generation); }

// The name has the generation because the last run of a requeued job may still be on its way out.
std::string Stepds::socket_of(Key key, uint32_t generation) const {
  return spool_ + "/step." + step_name(key.first, key.second) + "." + std::to_string(generation) + ".sock";
}

std::optional<Stepds::Key> Stepds::key_of(const std::string& socket) {
  const auto parts = split(std::string_view(socket).substr(socket.rfind('/') + 1), '.');  // "step.12.batch.0.sock"
  if (parts.size() != 5) return std::nullopt;
  auto job = parse_number<uint32_t>(parts[1]);
  auto step = parse_step(parts[2]);
  if (!job || !step) return std::nullopt;
  return Key{JobId(*job), *step};
}

// Sweeps what steps left whose slurmstepd and slurmd both died.
void Stepds::sweep_directories() {
  std::vector<std::string> kept;
  for (const std::string& socket : entries_of(spool_, kSocketPrefix, kSocketSuffix)) {
    kept.push_back(mpi_directory_of(socket));
    if (auto key = key_of(socket)) kept.push_back(script_directory(key->first));
  }
  for (std::string_view prefix : {kMpiPrefix, kScriptPrefix})
    for (const std::string& path : entries_of(spool_, prefix, ""))
      if (std::ranges::find(kept, path) == kept.end()) sweeper_.remove(path);
}

// Sweeps the folders of a step that is over.
void Stepds::sweep(const std::string& socket, Key key) {
  sweeper_.remove(mpi_directory_of(socket));
  if (key.second == kBatchStep && !steps_.contains(key)) sweeper_.remove(script_directory(key.first));
}

// Makes the spool again where somebody has tidied it away, and removes what is left of an earlier run.
Result<> Stepds::make_room(const step_rpc::StepdLaunch& launch) {
  if (::access(spool_.c_str(), F_OK) != 0) {
    log_.error("{} was gone; it is made again", spool_);
    MUSTER_TRY_VOID(os::make_dirs(spool_, 0755));
  }
  if (launch.script.empty() || ::rmdir(script_directory(launch.job).c_str()) == 0 || errno == ENOENT) return {};
  sweeper_.remove(script_directory(launch.job));
  return {};
}

void Stepds::adopt(std::function<void()> done) {
  sweep_directories();
  std::vector<std::string> paths = entries_of(spool_, kSocketPrefix, kSocketSuffix);
  // The last holder of `all` calls done.
  auto all = std::shared_ptr<std::function<void()>>(new std::function<void()>(std::move(done)), [this](std::function<void()>* f) {
    loop_.defer(std::move(*f));
    delete f;
  });
  for (const std::string& path : paths) connect_to(path, all);
}

void Stepds::connect_to(const std::string& path, std::shared_ptr<std::function<void()>> done) {
  net::connect_unix(loop_, path, [this, path, done](Result<net::ChannelPtr> opened) mutable {
    if (!opened) return found_dead(path, std::move(done));
    net::ChannelPtr channel = std::move(*opened);
    if (channel->peer().uid.value != ::geteuid()) return log_.error("{} belongs to another user", path);
    // Its first report says which step it is; until then the callback holds the connection.
    net::Channel* raw = channel.get();
    auto held = std::make_shared<net::ChannelPtr>(std::move(channel));
    auto waiting = std::make_shared<decltype(done)>(done);
    raw->on_closed = [this, raw, held, waiting, path](const Error&) {
      if (*held) {
        loop_.defer([opened = std::move(*held)] {});
        return found_dead(path, std::exchange(*waiting, nullptr));
      }
      for (const auto& [key, e] : steps_)
        if (e.channel.get() == raw) return lost(key);
    };
    raw->on_request = [this, held, waiting, path](const net::Frame& frame) {
      step_rpc::StepdReport report;
      if (frame.message != step_rpc::StepdReport::kNumber || !wire::decode(frame.payload, report)) return;
      if (*held) {
        log_.info("found step {} again", step_name(report.job, report.step));
        Entry& e = steps_[{report.job, report.step}];
        e.socket = path;
        e.channel = std::move(*held);
      }
      // What follows from the report may replace this very function, and with it all that it has captured.
      const auto last = std::exchange(*waiting, nullptr);
      on_report(report);
    };
  });
}

void Stepds::listen_to(net::ChannelPtr channel, Key key) {
  channel->on_request = [this](const net::Frame& f) {
    step_rpc::StepdReport r;
    if (f.message == step_rpc::StepdReport::kNumber && wire::decode(f.payload, r)) on_report(r);
  };
  // The end may have been noticed already when a successor took the place: then it is told afterwards, and is not the successor's.
  channel->on_closed = [this, key, raw = channel.get()](const Error&) {
    auto at = steps_.find(key);
    if (at != steps_.end() && at->second.channel.get() == raw) lost(key);
  };
  steps_[key].channel = std::move(channel);
}

// Our terminal is nothing for the programs of users, and neither is our environment.
os::SpawnSpec Stepds::spec_of(const std::string& program, std::vector<std::string> argv) {
  os::SpawnSpec spec;
  spec.path = program;
  spec.argv = std::move(argv);
  spec.env = std::vector<std::string>{};
  spec.cwd = "/";
  spec.new_session = true;
  return spec;
}

Result<Stepds::Begun> Stepds::begin(const std::string& title, bool plugins) {
  if (plugins || os::monotonic_now() < no_copies_until_) return begin_by_itself(title, plugins);
  auto copy = begin_as_copy(title);
  if (copy) return copy;
  log_.error("slurmstepd cannot be copied; each is started by itself for a minute: {}", copy.error().message());
  no_copies_until_ = os::monotonic_now() + kWithoutCopies;
  return begin_by_itself(title, plugins);
}

Result<Stepds::Begun> Stepds::begin_as_copy(const std::string& title) {
  MUSTER_TRY(ends, socket_pair());
  MUSTER_TRY(started, copies_.start(title, ends.second));
  return Begun{started.pid, std::move(started.process), std::move(ends.first)};
}

Result<Stepds::Begun> Stepds::begin_by_itself(const std::string& title, bool plugins) {
  MUSTER_TRY(ends, socket_pair());
  os::SpawnSpec spec = spec_of(plugins ? with_plugins_ : program_, {title});
  if (plugins) spec.env.reset();  // plugins start programs, which need a PATH: they get ours
  const os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return os::fail_errno("/dev/null");
  spec.fds = {{null.get(), 0}, {ends.second.get(), 3}};
  MUSTER_TRY(pid, os::spawn(spec));
  Begun begun{pid, {}, std::move(ends.first)};
  if (auto process = os::open_pidfd(pid)) begun.process = std::move(*process);
  return begun;
}

Result<pid_t> Stepds::start(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi, bool io_by_root,
                            const std::optional<step_rpc::StepdNamespace>& name_space) {
  Key key{launch.job, launch.step};
  launch.socket_path = socket_of(key, launch.generation);
  MUSTER_TRY_VOID(make_room(launch));
  MUSTER_TRY(begun, begin("slurmstepd: [" + step_name(launch.job, launch.step) + "]", !launch.spank.empty()));
  const pid_t pid = begun.pid;
  Entry& entry = steps_[key];
  if (entry.channel) let_go(std::move(entry.channel));
  entry = {};
  entry.socket = launch.socket_path;
  entry.last.job = launch.job;
  entry.last.generation = launch.generation;
  entry.last.step = launch.step;
  entry.last.uid = launch.uid;
  entry.last.pid = pid;
  entry.process = std::move(begun.process);
  entry.plugins = !launch.spank.empty();
  net::Peer peer;
  peer.uid = Uid(::geteuid());
  peer.pid = pid;
  listen_to(net::adopt_channel(loop_, begun.ours.release(), peer), key);
  if (mpi) {
    mpi->directory = mpi_directory_of(launch.socket_path);
    net::notify(*steps_[key].channel, *mpi);
  }
  if (io_by_root) net::notify(*steps_[key].channel, step_rpc::StepdRootsIo{});
  if (oom_scores_) net::notify(*steps_[key].channel, *oom_scores_);
  if (name_space) net::notify(*steps_[key].channel, *name_space);
  net::notify(*steps_[key].channel, launch);
  return pid;
}

void Stepds::when_taken(JobId job, StepId step, std::function<void()> f) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) at->second.channel->when_writable(std::move(f));
}

// Keeps the connection to a slurmstepd that was released and has a successor: what we said to it must still reach it.
void Stepds::let_go(net::ChannelPtr channel) {
  net::Channel* raw = channel.get();
  if (raw->closed()) return loop_.defer([c = std::move(channel)] {});
  channel->on_request = [](const net::Frame&) {};
  channel->on_closed = [this, raw](const Error&) {
    auto at = std::ranges::find(leaving_, raw, [](const net::ChannelPtr& c) { return c.get(); });
    if (at == leaving_.end()) return;
    loop_.defer([c = std::move(*at)] {});  // it goes after its own callback
    leaving_.erase(at);
  };
  leaving_.push_back(std::move(channel));
}

void Stepds::on_report(const step_rpc::StepdReport& r) {
  auto at = steps_.find({r.job, r.step});
  if (at == steps_.end()) return;
  at->second.last = r;
  at->second.reported = true;
  ports_.report(r);
}

// The connection ended. After a release that is how slurmstepd ends; before, somebody killed it, and its processes are ended too.
void Stepds::lost(Key key) {
  auto at = steps_.find(key);
  if (at == steps_.end()) return;
  Entry e = std::move(at->second);
  steps_.erase(at);
  bool ended = e.last.state == step_rpc::StepdState::kEnded || e.last.state == step_rpc::StepdState::kLaunchFailed;
  if (e.released || ended) return sweep(e.socket, key);
  log_.error("slurmstepd of step {} (process {}) died; its processes are killed", step_name(key.first, key.second), e.last.pid);
  end_what_is_left(key, std::move(e), nullptr);
}

// Nobody is at the socket of an earlier slurmd's step: the step died with its slurmstepd, or goes on without it.
void Stepds::found_dead(const std::string& socket, std::shared_ptr<std::function<void()>> done) {
  auto key = key_of(socket);
  const std::string run_file = step_rpc::run_file_of(socket);
  if (!key || steps_.contains(*key)) {
    ::unlink(socket.c_str());
    ::unlink(run_file.c_str());
    return;
  }
  log_.error("slurmstepd of step {} died while no slurmd ran", step_name(key->first, key->second));
  abandoned_.insert(*key);
  Entry e;
  e.socket = socket;
  e.reported = true;  // it may have run: it is not run again as one that never did
  e.last.job = key->first;
  e.last.step = key->second;
  const auto parts = split(std::string_view(socket).substr(socket.rfind('/') + 1), '.');
  e.last.generation = parse_number<uint32_t>(parts[3]).value_or(0);
  end_what_is_left(*key, std::move(e), std::move(done));
}

// Reads what slurmstepd wrote of itself before it started anything. Without that file nothing was started.
void Stepds::read_run_file(Entry& e) {
  auto line = os::read_line(step_rpc::run_file_of(e.socket));
  const auto words = line ? split(*line, ' ') : std::vector<std::string_view>();
  if (words.size() != 3) return;
  e.last.pid = parse_number<int32_t>(words[0], 1).value_or(0);
  e.start_ticks = parse_number<uint64_t>(words[1]).value_or(0);
  e.last.uid = Uid(parse_number<uint32_t>(words[2]).value_or(0));
}

// What a step left is known by its session, as long as nobody else's has that number, and by the environment, where a process made a
// session of its own. Another step that lives has its own processes, whatever their environment says.
os::ProcessSet Stepds::left_by(Key key, const Entry& step) const {
  os::ProcessSet left;
  if (step.start_ticks) {
    auto leader = os::read_process(step.last.pid);
    if (!leader || leader->start_ticks == step.start_ticks) left.session = step.last.pid;
  }
  left.not_before = step.start_ticks;
  if (step.last.uid.value != 0 && ::geteuid() == 0) left.only_of = step.last.uid;
  left.env_marker = "SLURM_JOB_ID=" + std::to_string(key.first.value);
  left.env_also = {"SLURMD_NODENAME=" + node_};
  if (key.second != kBatchStep) left.env_also.push_back("SLURM_STEP_ID=" + std::to_string(key.second.value));
  for (const auto& [other, entry] : steps_)
    if (entry.last.pid > 0) left.except_trees.push_back(entry.last.pid);
  return left;
}

// slurmstepd may still be there and only have lost us.
void Stepds::end_daemon(const Entry& e) {
  if (e.process) {
    static_cast<void>(os::signal_pidfd(e.process.get(), SIGKILL));
  } else if (auto p = os::read_process(e.last.pid); p && e.start_ticks && p->start_ticks == e.start_ticks) {
    os::signal_process(*p, SIGKILL);
  }
}

void Stepds::end_what_is_left(Key key, Entry step, std::shared_ptr<std::function<void()>> done) {
  dying_.erase(key);
  read_run_file(step);
  end_daemon(step);
  auto entry = std::make_shared<Entry>(std::move(step));
  dying_.try_emplace(key, loop_, kKillPatience, [this, key, entry, done = std::move(done)](bool last) {
    auto killed = os::kill_processes(left_by(key, *entry), Duration{});
    if (!killed && !last) return false;
    if (!killed) {
      log_.error("{}", killed.error().message());
      ports_.survives(entry->last);
    }
    const auto e = entry;  // this function's own go with it  NOLINT(performance-unnecessary-copy-initialization)
    dying_.erase(key);
    told_dead(key, std::move(*e));
    return true;
  });
}

// Called when its processes are gone, or cannot be killed.
void Stepds::told_dead(Key key, Entry entry) {
  ports_.died(key.first, key.second);
  ::unlink(entry.socket.c_str());
  ::unlink(step_rpc::run_file_of(entry.socket).c_str());
  sweep(entry.socket, key);
  if (entry.reported) {
    entry.last.state = step_rpc::StepdState::kEnded;
    entry.last.exit_status = SIGKILL;
  } else {
    entry.last.state = step_rpc::StepdState::kLaunchFailed;
    entry.last.text = "slurmstepd ended before the tasks were started";
  }
  ports_.report(entry.last);
}

void Stepds::signal(JobId job, StepId step, const step_rpc::StepdSignal& m) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) net::notify(*at->second.channel, m);
}

void Stepds::note(JobId job, StepId step, const std::string& text) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) net::notify(*at->second.channel, step_rpc::StepdNote{text});
}

void Stepds::for_each_step(const std::function<void(const step_rpc::StepdReport&)>& f) const {
  for (const auto& [key, e] : steps_) f(e.last);
}

void Stepds::attach(JobId job, StepId step, const step_rpc::StepdAttach& m, bool io_by_root) {
  auto at = steps_.find({job, step});
  if (at == steps_.end() || !at->second.channel) return;
  if (io_by_root) net::notify(*at->second.channel, step_rpc::StepdRootsIo{});
  net::notify(*at->second.channel, m);
}

void Stepds::limit(JobId job, StepId step, const step_rpc::StepdLimit& m) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) net::notify(*at->second.channel, m);
}

void Stepds::limit_memory(JobId job, const step_rpc::StepdMemory& m) {
  for_each(job, [&](StepId step) {
    if (const net::ChannelPtr& channel = steps_.at({job, step}).channel) net::notify(*channel, m);
  });
}

void Stepds::ask_use(JobId job, StepId step, std::function<void(Result<rpc::StepUseNow>)> answered) {
  auto at = steps_.find({job, step});
  if (at == steps_.end() || !at->second.channel || at->second.last.state > step_rpc::StepdState::kRunning)
    return answered(fail(Errc::kInvalidJobId, "the step has no tasks on node " + node_));
  at->second.channel->request(wire::number_of<rpc::QueryStepUse>, wire::encoded(rpc::QueryStepUse{}), kUseTime,
                              [answered = std::move(answered)](const Result<net::Frame>& f) {
                                if (!f) return answered(std::unexpected(f.error()));
                                rpc::StepUseNow use;
                                auto ok = wire::decode(f->payload, use);
                                answered(ok ? Result<rpc::StepUseNow>(std::move(use)) : std::unexpected(ok.error()));
                              });
}

void Stepds::for_each(JobId job, const std::function<void(StepId)>& f) const {
  for (auto at = steps_.lower_bound({job, StepId(0)}); at != steps_.end() && at->first.first == job; ++at) f(at->first.second);
}

void Stepds::end_all(JobId job, const std::function<step_rpc::StepdEnd(StepId)>& how) {
  for_each(job, [&](StepId step) {
    if (step != kExternStep) end(steps_.at({job, step}), how(step));
  });
}

void Stepds::end(JobId job, StepId step, const step_rpc::StepdEnd& how) {
  auto at = steps_.find({job, step});
  if (at != steps_.end()) end(at->second, how);
}

// Plugins may take long before there are tasks: then slurmstepd is killed, with what the plugins started (lost()).
void Stepds::end(const Entry& e, const step_rpc::StepdEnd& how) {
  if (e.plugins && !e.reported && e.process) static_cast<void>(os::signal_pidfd(e.process.get(), SIGKILL));
  else if (e.channel) net::notify(*e.channel, how);
}

void Stepds::release(JobId job, StepId step) {
  auto at = steps_.find({job, step});
  if (at == steps_.end()) return;
  at->second.released = true;
  if (at->second.channel) net::notify(*at->second.channel, step_rpc::StepdRelease{});
}

const step_rpc::StepdReport* Stepds::find(JobId job, StepId step) const {
  auto at = steps_.find({job, step});
  return at == steps_.end() ? nullptr : &at->second.last;
}

}  // namespace muster::slurmd
