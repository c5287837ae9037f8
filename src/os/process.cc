#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "os/clock.h"
#include "os/error.h"

namespace muster::os {

ExitStatus ExitStatus::of(int raw) {
  ExitStatus s;
  s.raw = raw;
  if (WIFEXITED(raw)) s.code = WEXITSTATUS(raw);
  if (WIFSIGNALED(raw)) {
    s.signal = WTERMSIG(raw);
    s.core_dumped = WCOREDUMP(raw);
  }
  return s;
}

Result<Reaped> wait_child(pid_t pid, std::optional<Duration> timeout) {
  if (timeout) {
    MUSTER_TRY(handle, open_pidfd(pid));
    const Time deadline = monotonic_now() + *timeout;
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
      pollfd p{handle.get(), POLLIN, 0};
      const int n = poll(&p, 1, left > 0 ? static_cast<int>(std::min<int64_t>(left, 1 << 30)) : 0);
      if (n > 0) break;
      if (n < 0 && errno != EINTR) return fail_errno("poll");
      if (n == 0 && left <= 0) return fail(Errc::kTimedOut, "process " + std::to_string(pid) + " did not end in time");
    }
  }
  Reaped r;
  int raw = 0;
  while ((r.pid = wait4(pid, &raw, 0, &r.usage)) < 0)
    if (errno != EINTR) return fail_errno("wait for process " + std::to_string(pid));
  r.status = ExitStatus::of(raw);
  return r;
}

std::vector<Reaped> reap_children(const std::function<void(pid_t)>& before) {
  std::vector<Reaped> out;
  Reaped child;
  int raw = 0;
  const auto next = [&before]() -> pid_t {
    siginfo_t info{};
    if (!before) return -1;  // whichever
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return 0;
    before(info.si_pid);
    return info.si_pid;
  };
  for (pid_t which = next(); which != 0 && out.size() < kReapedAtOnce; which = next()) {
    if ((child.pid = wait4(which, &raw, WNOHANG, &child.usage)) <= 0) break;
    child.status = ExitStatus::of(raw);
    out.push_back(child);
  }
  return out;
}

namespace {

// What a program prints on one stream or both, and where it is kept.
struct Printed {
  Fd pipe;
  std::string* kept;
};

// Reads once, what there is. False: the writers are gone.
bool take(const Printed& stream, size_t max_output, bool& truncated) {
  char buffer[16384];
  const ssize_t n = read(stream.pipe.get(), buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  const size_t room = max_output - stream.kept->size();
  if (static_cast<size_t>(n) > room) truncated = true;
  stream.kept->append(buffer, std::min(room, static_cast<size_t>(n)));
  return true;
}

// Reads until the writers are gone or the deadline passes. False on the deadline.
bool drain(std::vector<Printed> streams, Time deadline, size_t max_output, bool& truncated) {
  std::vector<pollfd> waits;
  while (!streams.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
    if (left <= 0) return false;
    waits.clear();
    for (const Printed& stream : streams) waits.push_back({stream.pipe.get(), POLLIN, 0});
    if (poll(waits.data(), waits.size(), static_cast<int>(std::min<int64_t>(left, 1 << 30))) <= 0) continue;
    for (size_t i = streams.size(); i-- > 0;)
      if (waits[i].revents && !take(streams[i], max_output, truncated)) streams.erase(streams.begin() + static_cast<ptrdiff_t>(i));
  }
  return true;
}

Result<Captured> run_and_read(SpawnSpec spec, Duration timeout, size_t max_output, bool apart) {
  Captured out;
  std::vector<Printed> streams;
  std::vector<Fd> writing;
  const auto capture = [&](std::initializer_list<int> numbers, std::string& kept) -> Result<> {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
    streams.push_back({Fd(ends[0]), &kept});
    writing.emplace_back(ends[1]);
    for (int number : numbers) spec.fds.push_back({ends[1], number});
    return {};
  };
  if (apart) {
    MUSTER_TRY_VOID(capture({1}, out.output));
    MUSTER_TRY_VOID(capture({2}, out.errors));
  } else {
    MUSTER_TRY_VOID(capture({1, 2}, out.output));
  }
  if (!spec.new_session) spec.process_group = 0;
  const Time deadline = monotonic_now() + timeout;
  MUSTER_TRY(pid, spawn(spec));
  writing.clear();
  out.timed_out = !drain(std::move(streams), deadline, max_output, out.truncated);
  if (!out.timed_out) {
    // The program may have closed its output and still run.
    auto ended = wait_child(pid, std::max(deadline - monotonic_now(), Duration(0)));
    if (ended) {
      out.status = ended->status;
      return out;
    }
    if (ended.error().code != Errc::kTimedOut) return std::unexpected(ended.error());
    out.timed_out = true;
  }
  kill(-pid, SIGKILL);
  MUSTER_TRY(ended, wait_child(pid));
  out.status = ended.status;
  return out;
}

}  // namespace

Result<Captured> run_captured(SpawnSpec spec, Duration timeout, size_t max_output) {
  return run_and_read(std::move(spec), timeout, max_output, false);
}

Result<Captured> run_captured_apart(SpawnSpec spec, Duration timeout, size_t max_output) {
  return run_and_read(std::move(spec), timeout, max_output, true);
}

Result<Fd> open_pidfd(pid_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return fail_errno("process " + std::to_string(pid));
  return Fd(fd);
}

Result<> signal_pidfd(int pidfd, int signal) {
  if (syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0) return fail_errno("signal " + std::to_string(signal));
  return {};
}

Result<> become_subreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return fail_errno("become subreaper");
  return {};
}

Result<> set_process_name(std::string_view name) {
  char cut[16] = {};
  name.copy(cut, sizeof cut - 1);
  if (prctl(PR_SET_NAME, cut) < 0) return fail_errno("set process name");
  return {};
}

std::string process_name() {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  return name;
}

}  // namespace muster::os
