#include "os/node/step_scope.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"
#include "os/node/cgroup_backend.h"
#include "os/process.h"

namespace muster::os {
namespace {

constexpr timespec kPause{0, 5'000'000};
constexpr size_t kMaxSaid = 2000;

std::vector<pid_t> members(const std::string& directory) {
  std::vector<pid_t> out;
  auto text = read_file(directory + "/cgroup.procs", 1 << 20);
  if (!text) return out;
  for (std::string_view line : split(*text, '\n'))
    if (auto pid = parse_number<pid_t>(line, 1)) out.push_back(*pid);
  return out;
}

bool holds(const std::string& directory, pid_t pid) {
  const std::vector<pid_t> all = members(directory);
  return std::ranges::find(all, pid) != all.end();
}

bool populated(const std::string& directory) {
  auto text = read_file(directory + "/cgroup.events", 4096);
  return text && stat_value(*text, "populated") == 1;
}

// systemd-run puts itself into the new scope and becomes the keeper. It needs no message bus when root calls.
Result<pid_t> start_keeper(const StepScope& scope, int output) {
  SpawnSpec spec;
  spec.path = "systemd-run";
  spec.argv = {"systemd-run",
               "--scope",
               "--quiet",
               "--collect",
               "--unit=" + scope.name,
               "--slice=" + scope.slice,
               "--property=Delegate=yes",
               "--property=TasksMax=infinity",
               "--description=Steps of jobs (slurmstepd)",
               "--",
               scope.keeper,
               "infinity"};
  spec.cwd = "/";
  spec.new_session = true;
  spec.fds = {{output, 1}, {output, 2}};
  return spawn(spec);
}

std::string what_it_said(int fd) {
  std::string out(kMaxSaid, '\0');
  const ssize_t n = ::read(fd, out.data(), out.size());
  out.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return std::string(trim(out));
}

// Processes may only be in leaves, or no controller can be handed down to the groups of jobs.
Result<> move_into_leaf(const std::string& scope) {
  const std::string leaf = scope + "/" + kStepDaemonsGroup;
  MUSTER_TRY_VOID(make_directory(leaf));
  for (pid_t pid : members(scope)) {
    auto moved = write_value(leaf + "/cgroup.procs", std::to_string(pid));
    if (!moved && holds(scope, pid)) return moved;  // else it has ended
  }
  return {};
}

}  // namespace

std::string slice_path(std::string_view slice) {
  std::string_view name = slice;
  if (name.ends_with(".slice")) name.remove_suffix(6);
  std::string out;
  for (size_t dash = name.find('-'); dash != std::string_view::npos; dash = name.find('-', dash + 1))
    out += std::string(name.substr(0, dash)) + ".slice/";
  return out + std::string(name) + ".slice";
}

std::string scope_path(const StepScope& scope) { return slice_path(scope.slice) + "/" + scope.name; }

Result<bool> open_step_scope(const StepScope& scope) {
  const std::string directory = scope.mountpoint + "/" + scope_path(scope);
  if (populated(directory)) {  // an earlier slurmd may have ended before it had moved the keeper
    MUSTER_TRY_VOID(move_into_leaf(directory));
    return false;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return fail_errno("pipe");
  Fd reading(ends[0]), writing(ends[1]);
  MUSTER_TRY(keeper, start_keeper(scope, writing.get()));
  writing.reset();
  const Time deadline = monotonic_now() + scope.timeout;
  while (!holds(directory, keeper)) {
    if (::waitpid(keeper, nullptr, WNOHANG) == keeper)
      return fail(Errc::kError, "systemd makes no scope " + scope.name + ": " + what_it_said(reading.get()));
    if (monotonic_now() >= deadline) {
      ::kill(keeper, SIGKILL);
      ::waitpid(keeper, nullptr, 0);
      return fail(Errc::kTimedOut, "systemd has not made the scope " + scope.name + " within " +
                                       std::to_string(scope.timeout / milliseconds(1)) + " ms (cgroup.conf SystemdTimeout)");
    }
    nanosleep(&kPause, nullptr);
  }
  MUSTER_TRY_VOID(move_into_leaf(directory));
  return true;
}

}  // namespace muster::os
