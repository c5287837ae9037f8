#include "slurmstepd/mpi_module.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "net/notify.h"
#include "os/error.h"
#include "os/private_directory.h"
#include "wire/codec.h"

namespace muster::slurmstepd {
namespace {

constexpr int kOurSocket = 3;                                             // where the module finds it; the tasks' follow
constexpr size_t kMostVariables = 1024, kMostVariableBytes = 256u << 10;  // of one task

bool fits(const std::vector<std::string>& variables) {
  size_t bytes = 0;
  for (const std::string& v : variables) bytes += v.size();
  return variables.size() <= kMostVariables && bytes <= kMostVariableBytes;
}

}  // namespace

Result<VariablesByRank> variables_by_rank(mpi_rpc::ModuleReady ready, const std::vector<uint32_t>& ranks_here) {
  auto refuse = [](uint32_t rank, const char* why) {
    return fail(Errc::kMpiPluginPrelaunchFailed, "the module has variables for task " + std::to_string(rank) + why);
  };
  const std::set<uint32_t> here(ranks_here.begin(), ranks_here.end());
  VariablesByRank out;
  for (mpi_rpc::TaskVariables& t : ready.tasks) {
    if (!here.contains(t.rank)) return refuse(t.rank, ", which is not on this node");
    if (!fits(t.environment)) return refuse(t.rank, ": at most 1024 variables of 256 KiB");
    if (!out.emplace(t.rank, std::move(t.environment)).second) return refuse(t.rank, " twice");
  }
  return out;
}

bool may_be_sent(const mpi_rpc::NodeLetter& letter, size_t nodes) {
  return letter.content.size() <= mpi_rpc::kMaxLetter && letter.to.size() <= nodes;
}

template <class M>
void MpiModule::tell(const M& m) {
  if (channel_) net::notify(*channel_, m);
}

Result<> MpiModule::start(const step_rpc::StepdLaunch& launch, os::SpawnSpec spec) {
  MUSTER_TRY_VOID(os::make_private_directory(setup_.directory, spec.credentials));
  if (launch.node_id < setup_.nodes.size()) ranks_here_ = setup_.nodes[launch.node_id].ranks;
  bool apart = !setup_.task_directory.empty();
  if (!apart) setup_.task_directory = setup_.directory;
  if (apart) {  // in a folder that may be everybody's
    MUSTER_TRY(fresh, os::make_fresh_directory(setup_.task_directory + ".", spec.credentials));
    setup_.task_directory = std::move(fresh);
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) return os::fail_errno("socketpair");
  os::Fd ours(ends[0]), theirs(ends[1]);
  spec.path = setup_.program;
  spec.argv = {setup_.program, setup_.directory};
  spec.cwd = "/";
  spec.env = std::vector<std::string>{"PATH=/usr/bin:/bin", "TMPDIR=" + setup_.directory};
  spec.env->insert(spec.env->end(), setup_.environment.begin(), setup_.environment.end());
  std::vector<os::Fd> tasks;
  MUSTER_TRY_VOID(make_sockets(launch.node_id, tasks));
  spec.fds = {{theirs.get(), kOurSocket}};
  for (const os::Fd& fd : tasks) spec.fds.push_back({fd.get(), kOurSocket + static_cast<int>(spec.fds.size())});
  const os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return os::fail_errno("/dev/null");
  for (int standard : {0, 1, 2}) spec.fds.push_back({null.get(), standard});
  MUSTER_TRY(started, os::Launch::start(std::move(spec)));
  pid_ = started.pid();
  launch_.emplace(std::move(started));
  socket_ = os::Fd(::dup(ours.get()));
  ::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  channel_ = net::adopt_channel(loop_, ours.release(), net::Peer{});
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this](const Error&) {
    loop_.defer([c = std::move(channel_)] {});
    channel_ = nullptr;
    socket_ = {};
    gone();
  };
  mpi_rpc::ModuleStart m;
  m.job = setup_.whole_job ? setup_.whole_job : launch.job;
  m.step = launch.step;
  m.uid = launch.uid;
  m.gid = launch.gid;
  m.node_id = launch.node_id;
  m.setup = setup_;
  tell(m);
  return {};
}

// Makes one socket pair for each task here; `theirs` gets the module's ends in the order of ranks.
Result<> MpiModule::make_sockets(uint32_t node_id, std::vector<os::Fd>& theirs) {
  if (setup_.task_descriptor == 0 || node_id >= setup_.nodes.size()) return {};
  for (uint32_t rank : setup_.nodes[node_id].ranks) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return os::fail_errno("socketpair");
    sockets_[rank] = os::Fd(ends[0]);
    theirs.emplace_back(ends[1]);
  }
  return {};
}

std::optional<os::FdMapping> MpiModule::socket_of(uint32_t rank) const {
  auto at = sockets_.find(rank);
  if (at == sockets_.end()) return std::nullopt;
  return os::FdMapping{at->second.get(), static_cast<int>(setup_.task_descriptor)};
}

void MpiModule::on_frame(const net::Frame& frame) {
  if (frame.message == mpi_rpc::ModuleReady::kNumber) {
    on_ready(frame);
  } else if (frame.message == mpi_rpc::ModuleFailed::kNumber) {
    on_failed(frame);
  } else if (frame.message == mpi_rpc::NodeLetter::kNumber) {
    mpi_rpc::NodeLetter m;
    if (wire::decode(frame.payload, m) && may_be_sent(m, setup_.nodes.size())) events_.letter(m);
  } else if (frame.message == mpi_rpc::ModuleEnd::kNumber) {
    kill();
  } else if (frame.message == mpi_rpc::ModuleAbort::kNumber) {
    mpi_rpc::ModuleAbort m;
    if (wire::decode(frame.payload, m)) events_.abort(m.text);
  } else if (frame.message == mpi_rpc::ModuleNote::kNumber) {
    mpi_rpc::ModuleNote m;
    if (wire::decode(frame.payload, m)) events_.note(m.text);
  }
}

// Only the first answer counts: tasks may have started with it, and no module of ours sends a second.
void MpiModule::on_ready(const net::Frame& f) {
  if (std::exchange(answered_, true)) return;
  mpi_rpc::ModuleReady m;
  if (!wire::decode(f.payload, m)) return events_.failed(Error(Errc::kMpiPluginPrelaunchFailed));
  auto variables = variables_by_rank(std::move(m), ranks_here_);
  if (!variables) return events_.failed(variables.error());
  variables_ = std::move(*variables);
  events_.ready();
}

void MpiModule::on_failed(const net::Frame& f) {
  if (std::exchange(answered_, true)) return;
  mpi_rpc::ModuleFailed m;
  if (!wire::decode(f.payload, m)) m.text = "it failed without a word";
  events_.failed(Error(Errc::kMpiPluginPrelaunchFailed, "mpi/" + setup_.type + ": " + m.text));
}

bool MpiModule::is_ended(pid_t pid) {
  if (pid_ == 0 || pid != pid_) return false;
  pid_ = 0;
  if (auto settled = launch_->settled(); settled && !*settled) why_not_started_ = settled->error().message();
  gone();
  return true;
}

// Its socket and its process end at about the same time; whichever is seen first is told.
void MpiModule::gone() {
  if (!std::exchange(over_, true)) events_.gone();
}

void MpiModule::finish() { tell(mpi_rpc::ModuleEnd{}); }

void MpiModule::kill() {
  if (pid_ <= 0) return;
  // Tasks that noticed the module's end may themselves have ended before our loop came to it.
  pollfd socket{socket_.get(), POLLRDHUP, 0};
  if (channel_ && ::poll(&socket, 1, 0) == 1 && (socket.revents & (POLLRDHUP | POLLHUP))) gone();
  over_ = true;
  ::kill(pid_, SIGKILL);
}

std::vector<std::string> MpiModule::directories() const {
  std::vector<std::string> out = {setup_.directory};
  if (!setup_.task_directory.empty() && setup_.task_directory != setup_.directory) out.push_back(setup_.task_directory);
  return out;
}

std::vector<std::string> MpiModule::variables_of(uint32_t rank) const {
  std::vector<std::string> out = setup_.environment;
  if (auto at = variables_.find(rank); at != variables_.end()) out.insert(out.end(), at->second.begin(), at->second.end());
  return out;
}

void MpiModule::deliver(const mpi_rpc::NodeLetter& m) { tell(m); }
void MpiModule::nodes_lost(const mpi_rpc::NodesLost& m) { tell(m); }
void MpiModule::task_gone(uint32_t rank, int32_t status) { tell(mpi_rpc::TaskGone{rank, status}); }

}  // namespace muster::slurmstepd
