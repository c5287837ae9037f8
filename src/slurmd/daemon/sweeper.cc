#include "slurmd/daemon/sweeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/step_run.h"

namespace muster::slurmd {
namespace {

constexpr size_t kMostAtOnce = 4;
constexpr Duration kPatience = minutes(10);

}  // namespace

void Sweeper::remove(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return;  // mostly it is empty
  std::string aside = path;
  if (!path.ends_with(step_rpc::kAsideSuffix)) {
    aside += "." + std::to_string(net::Loop::monotonic().count()) + std::string(step_rpc::kAsideSuffix);
    if (::rename(path.c_str(), aside.c_str()) < 0) return log_.error("{} stays: {}", path, strerror(errno));
  }
  waiting_.push_back(std::move(aside));
  next();
}

void Sweeper::next() {
  while (!waiting_.empty() && running_.size() < kMostAtOnce) {
    std::string path = std::move(waiting_.front());
    waiting_.pop_front();
    start(path);
  }
}

void Sweeper::start(const std::string& path) {
  struct stat st;
  if (::lstat(path.c_str(), &st) < 0) return;
  const os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  os::SpawnSpec spec;
  spec.path = program_;
  spec.argv = {program_, "sweep", path};
  spec.cwd = "/";
  spec.env = std::vector<std::string>{};
  spec.process_group = 0;
  spec.fds = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}};
  if (::geteuid() == 0 && st.st_uid != 0) spec.credentials = os::Credentials{Uid(st.st_uid), Gid(st.st_gid), {}};
  auto launch = os::Launch::start(std::move(spec));
  if (!launch) return log_.error("{}: {}", path, launch.error().message());
  const pid_t pid = launch->pid();
  Sweep& sweep = running_[pid];
  sweep.path = path;
  sweep.launch = std::make_unique<os::Launch>(std::move(*launch));
  sweep.timer = loop_.after(kPatience, [pid] { ::kill(pid, SIGKILL); });  // not reaped
}

bool Sweeper::reaped(pid_t pid) {
  auto at = running_.find(pid);
  if (at == running_.end()) return false;
  const std::string path = std::move(at->second.path);
  running_.erase(at);
  remove_empty(path);
  next();
  return true;
}

// A path that is no directory in the end (the owner of a directory in /tmp may have seen to that) is not ours to remove.
void Sweeper::remove_empty(const std::string& path) {
  if (::rmdir(path.c_str()) < 0 && errno != ENOENT) log_.error("{} stays: {}", path, strerror(errno));
}

}  // namespace muster::slurmd
