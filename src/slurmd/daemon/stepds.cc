#include "slurmd/daemon/stepds.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/notify.h"
#include "os/error.h"
#include "os/private_directory.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "wire/instances.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kSocketPrefix = "step.", kSocketSuffix = ".sock", kMpiPrefix = "mpi.";
constexpr Duration kKillPatience = seconds(5);

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

// Of the step whose socket it is: where its MPI module keeps its files.
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

// With the generation: the last run of a requeued job may still be on its way out.
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

// What steps left whose slurmstepd and slurmd both died.
void Stepds::sweep_directories() {
  std::vector<std::string> kept;
  for (const std::string& socket : entries_of(spool_, kSocketPrefix, kSocketSuffix)) kept.push_back(mpi_directory_of(socket));
  for (const std::string& path : entries_of(spool_, kMpiPrefix, ""))
    if (std::ranges::find(kept, path) == kept.end())
      if (auto ok = os::remove_private_directory(path); !ok) log_.error("{}", ok.error().message());
}

void Stepds::adopt(std::function<void()> done) {
  sweep_directories();
  std::vector<std::string> paths = entries_of(spool_, kSocketPrefix, kSocketSuffix);
  // The last holder of `all` calls done.
  auto all = std::shared_ptr<std::function<void()>>(new std::function<void()>(std::move(done)),
                                                    [this](std::function<void()>* f) {
                                                      loop_.defer(std::move(*f));
                                                      delete f;
                                                    });
  for (const std::string& path : paths) connect_to(path, all);
}

void Stepds::connect_to(const std::string& path, std::shared_ptr<std::function<void()>> done) {
  net::connect_unix(loop_, path, [this, path, done](Result<net::ChannelPtr> c) mutable {
    if (!c) {
      log_.verbose("{}: nobody is there, removed", path);
      if (auto key = key_of(path)) abandoned_.insert(*key);
      ::unlink(path.c_str());
      static_cast<void>(os::remove_private_directory(mpi_directory_of(path)));
      return;
    }
    net::ChannelPtr channel = std::move(*c);
    if (channel->peer().uid.value != ::geteuid()) return log_.error("{} belongs to another user", path);
    // Its first report says which step it is; until then the callback holds the connection.
    net::Channel* raw = channel.get();
    auto held = std::make_shared<net::ChannelPtr>(std::move(channel));
    auto waiting = std::make_shared<decltype(done)>(done);
    raw->on_closed = [this, raw, held, waiting](const Error&) {
      if (*held) {
        loop_.defer([c = std::move(*held)] {});
        waiting->reset();
        return;
      }
      for (const auto& [key, e] : steps_)
        if (e.channel.get() == raw) return lost(key);
    };
    raw->on_request = [this, held, waiting, path](net::Frame f) {
      step_rpc::StepdReport r;
      if (f.message != step_rpc::StepdReport::kNumber || !wire::decode(f.payload, r)) return;
      if (*held) {
        log_.info("found step {} again", step_name(r.job, r.step));
        Entry& e = steps_[{r.job, r.step}];
        e.socket = path;
        e.channel = std::move(*held);
      }
      on_report(r);
      waiting->reset();
    };
  });
}

void Stepds::listen_to(net::ChannelPtr channel, Key key) {
  channel->on_request = [this](net::Frame f) {
    step_rpc::StepdReport r;
    if (f.message == step_rpc::StepdReport::kNumber && wire::decode(f.payload, r)) on_report(r);
  };
  channel->on_closed = [this, key](const Error&) { lost(key); };
  steps_[key].channel = std::move(channel);
}

Result<pid_t> Stepds::start(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi) {
  Key key{launch.job, launch.step};
  launch.socket_path = socket_of(key, launch.generation);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
    return os::fail_errno("socketpair");
  os::Fd ours(ends[0]), theirs(ends[1]);
  int buffer = 1 << 20;
  ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  os::SpawnSpec s;
  s.path = launch.spank.empty() ? program_ : with_plugins_;
  s.argv = {"slurmstepd: [" + step_name(launch.job, launch.step) + "]"};
  if (launch.spank.empty()) s.env = std::vector<std::string>{};  // plugins start programs, which need a PATH: they get ours
  s.cwd = "/";
  s.new_session = true;
  s.fds = {{theirs.get(), 3}};
  MUSTER_TRY(pid, os::spawn(s));
  Entry& e = steps_[key];
  if (e.channel) let_go(std::move(e.channel));
  e = {};
  e.socket = launch.socket_path;
  e.last.job = launch.job;
  e.last.generation = launch.generation;
  e.last.step = launch.step;
  e.last.uid = launch.uid;
  e.last.pid = pid;
  e.plugins = !launch.spank.empty();
  net::Peer peer;
  peer.uid = Uid(::geteuid());
  peer.pid = pid;
  listen_to(net::adopt_channel(loop_, ours.release(), peer), key);
  if (mpi) {
    mpi->directory = mpi_directory_of(launch.socket_path);
    net::notify(*steps_[key].channel, *mpi);
  }
  net::notify(*steps_[key].channel, launch);
  return pid;
}

// One that was released and is replaced by its successor: what we said to it must still reach it.
void Stepds::let_go(net::ChannelPtr channel) {
  net::Channel* raw = channel.get();
  channel->on_request = [](net::Frame) {};
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

// The connection ended. After release that is its end; before, somebody killed it: its processes go too.
void Stepds::lost(Key key) {
  auto at = steps_.find(key);
  if (at == steps_.end()) return;
  Entry e = std::move(at->second);
  steps_.erase(at);
  bool ended =
      e.last.state == step_rpc::StepdState::kEnded || e.last.state == step_rpc::StepdState::kLaunchFailed;
  if (e.released || ended) return;
  log_.error("slurmstepd of step {} died; its processes are killed", step_name(key.first, key.second));
  dying_.erase(key);
  auto entry = std::make_shared<Entry>(std::move(e));
  dying_.try_emplace(key, loop_, kKillPatience, [this, key, entry](bool last) {
    os::ProcessSet left;
    left.session = entry->last.pid;
    auto killed = os::kill_processes(left, Duration{});
    if (!killed && !last) return false;
    if (!killed) log_.error("{}", killed.error().message());
    dying_.erase(key);
    told_dead(key, std::move(*entry));
    return true;
  });
}

// Its processes are gone, or cannot be killed.
void Stepds::told_dead(Key key, Entry e) {
  ports_.died(key.first, key.second);
  ::unlink(e.socket.c_str());
  if (auto ok = os::remove_private_directory(mpi_directory_of(e.socket)); !ok) log_.error("{}", ok.error().message());
  if (e.reported) {
    e.last.state = step_rpc::StepdState::kEnded;
    e.last.exit_status = SIGKILL;
  } else {
    e.last.state = step_rpc::StepdState::kLaunchFailed;
    e.last.text = "slurmstepd ended before the tasks were started";
  }
  ports_.report(e.last);
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

void Stepds::attach(JobId job, StepId step, const step_rpc::StepdAttach& m) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) net::notify(*at->second.channel, m);
}

void Stepds::limit(JobId job, StepId step, const step_rpc::StepdLimit& m) {
  auto at = steps_.find({job, step});
  if (at != steps_.end() && at->second.channel) net::notify(*at->second.channel, m);
}

void Stepds::for_each(JobId job, const std::function<void(StepId)>& f) const {
  for (auto at = steps_.lower_bound({job, StepId(0)}); at != steps_.end() && at->first.first == job; ++at)
    f(at->first.second);
}

void Stepds::end_all(JobId job, const std::function<step_rpc::StepdEnd(StepId)>& how) {
  for_each(job, [&](StepId step) {
    end(steps_.at({job, step}), how(step));
  });
}

void Stepds::end(JobId job, StepId step, const step_rpc::StepdEnd& how) {
  auto at = steps_.find({job, step});
  if (at != steps_.end()) end(at->second, how);
}

// A plugin may take its time before there are tasks: then slurmstepd is ended with what the plugin started (lost()).
void Stepds::end(const Entry& e, const step_rpc::StepdEnd& how) {
  if (e.plugins && !e.reported)
    ::kill(e.last.pid, SIGKILL);
  else if (e.channel)
    net::notify(*e.channel, how);
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
