#include "os/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstring>
#include <memory>

#include "os/clock.h"
#include "os/error.h"
#include "os/held_process.h"

extern char** environ;

namespace muster::os {
namespace {

constexpr size_t kChildStack = 64 * 1024;

enum class Step {
  kNone,
  kSession,
  kGroup,
  kTty,
  kOom,
  kNice,
  kAffinity,
  kCgroup,
  kFds,
  kLimit,
  kGroups,
  kGid,
  kUid,
  kCwd,
  kDeath,
  kExec
};

// Everything the child needs, as plain pointers and numbers: it shares our memory and must not allocate.
struct Plan {
  const SpawnSpec* spec = nullptr;
  std::vector<const char*> argv, env;
  std::vector<std::string> candidates;  // what to try to execute, in order
  std::vector<const char*> candidate_ptrs;
  std::vector<FdMapping> fds;
  std::vector<int> moved;  // scratch: the duplicates of fds[i].from
  int above_targets = 3;   // first descriptor above every target
  std::vector<unsigned long> cpu_mask;
  char oom_text[16] = {};
  size_t oom_length = 0;
  std::string pid_entry;  // "NAME=" and room for a number, which the child fills in
  size_t pid_digits_at = 0;
  bool switch_user = false;
  void (*failed_in_child)(const Plan&, void*) = nullptr;  // of a forked child: tells, and does not come back
  void* failed_context = nullptr;
  // written by the child
  volatile Step failed = Step::kNone;
  volatile int failed_errno = 0;
  volatile size_t failed_index = 0;
};

// What runs in the child, on a stack of its own in our memory. Sanitizers know neither and would take its stack, and its
// returns that never come, for ours.
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

[[noreturn]] IN_CHILD void give_up(Plan& p, Step step, size_t index = 0) {
  p.failed_errno = errno;
  p.failed_index = index;
  p.failed = step;
  if (p.failed_in_child) p.failed_in_child(p, p.failed_context);
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

IN_CHILD void reset_signals() {
  // The kernel's struct sigaction is at most 32 bytes; zeros mean SIG_DFL. glibc's wrapper would refuse 32
  // and 33.
  unsigned char zeros[64] = {};
  for (int s = 1; s <= 64; ++s)
    if (s != SIGKILL && s != SIGSTOP) syscall(SYS_rt_sigaction, s, zeros, nullptr, 8);
}

IN_CHILD void join_cgroups_and_oom(Plan& p) {
  for (size_t i = 0; i < p.spec->cgroup_procs_fds.size(); ++i)
    if (write(p.spec->cgroup_procs_fds[i], "0", 1) != 1) give_up(p, Step::kCgroup, i);
  if (p.oom_length == 0) return;
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, p.oom_text, p.oom_length) < 0) give_up(p, Step::kOom);
  close(fd);
}

IN_CHILD void place_in_session(Plan& p) {
  const SpawnSpec& s = *p.spec;
  if (s.new_session && syscall(SYS_setsid) < 0) give_up(p, Step::kSession);
  if (s.process_group && !s.new_session && syscall(SYS_setpgid, 0, *s.process_group) < 0)
    give_up(p, Step::kGroup);
  if (s.controlling_tty >= 0 && ioctl(s.controlling_tty, TIOCSCTTY, 0) < 0) give_up(p, Step::kTty);
}

IN_CHILD void place_on_machine(Plan& p) {
  const SpawnSpec& s = *p.spec;
  if (s.nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, *s.nice) < 0) give_up(p, Step::kNice);
  if (!p.cpu_mask.empty() &&
      syscall(SYS_sched_setaffinity, 0, p.cpu_mask.size() * sizeof(unsigned long), p.cpu_mask.data()) < 0)
    give_up(p, Step::kAffinity);
}

// Two passes, so that mappings may swap and overlap: first every source goes above all targets, then down to
// its place.
IN_CHILD void map_descriptors(Plan& p) {
  syscall(SYS_close_range, 3, ~0u,
          CLOSE_RANGE_CLOEXEC);  // before Linux 5.11: our own descriptors have the flag anyway
  for (size_t i = 0; i < p.fds.size(); ++i) {
    p.moved[i] = fcntl(p.fds[i].from, F_DUPFD_CLOEXEC, p.above_targets);
    if (p.moved[i] < 0) give_up(p, Step::kFds, i);
  }
  for (size_t i = 0; i < p.fds.size(); ++i)
    if (syscall(SYS_dup3, p.moved[i], p.fds[i].to, 0) < 0) give_up(p, Step::kFds, i);
}

IN_CHILD void become_user(Plan& p) {
  if (!p.switch_user) return;
  const Credentials& c = *p.spec->credentials;
  // Raw calls: glibc's would try to change the credentials of every thread of the process whose memory this
  // is.
  if (syscall(SYS_setgroups, c.groups.size(), c.groups.data()) < 0) give_up(p, Step::kGroups);
  if (syscall(SYS_setresgid, c.gid.value, c.gid.value, c.gid.value) < 0) give_up(p, Step::kGid);
  if (syscall(SYS_setresuid, c.uid.value, c.uid.value, c.uid.value) < 0) give_up(p, Step::kUid);
}

IN_CHILD void write_own_pid(Plan& p) {
  if (p.pid_entry.empty()) return;
  char digits[16];
  size_t n = 0;
  for (auto pid = static_cast<unsigned long>(syscall(SYS_getpid)); pid; pid /= 10)
    digits[n++] = static_cast<char>('0' + pid % 10);
  char* to = p.pid_entry.data() + p.pid_digits_at;
  while (n > 0) *to++ = digits[--n];
  *to = 0;
}

// What root's rights may be needed for.
IN_CHILD void take_place(Plan& p) {
  reset_signals();
  join_cgroups_and_oom(p);
  place_in_session(p);
  place_on_machine(p);
  map_descriptors(p);
}

IN_CHILD void set_limits_and_user(Plan& p) {
  const SpawnSpec& s = *p.spec;
  for (size_t i = 0; i < s.limits.size(); ++i) {
    const uint64_t pair[2] = {s.limits[i].soft, s.limits[i].hard};
    if (syscall(SYS_prlimit64, 0, s.limits[i].resource, pair, nullptr) < 0) give_up(p, Step::kLimit, i);
  }
  become_user(p);
  if (s.umask) syscall(SYS_umask, *s.umask);
  if (!s.cwd.empty() && syscall(SYS_chdir, s.cwd.c_str()) < 0) give_up(p, Step::kCwd);
  if (s.parent_death_signal && prctl(PR_SET_PDEATHSIG, s.parent_death_signal) < 0) give_up(p, Step::kDeath);
}

IN_CHILD void take_signals() {
  const uint64_t no_signals = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, 8);
}

[[noreturn]] IN_CHILD void execute(Plan& p) {
  int denied = 0;
  for (const char* candidate : p.candidate_ptrs) {
    syscall(SYS_execve, candidate, p.argv.data(), p.env.data());
    if (errno == EACCES) denied = EACCES;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  if (denied && (errno == ENOENT || errno == ENOTDIR)) errno = denied;
  give_up(p, Step::kExec);
}

IN_CHILD int child_main(void* arg) {
  Plan& p = *static_cast<Plan*>(arg);
  take_place(p);
  set_limits_and_user(p);
  write_own_pid(p);
  take_signals();
  execute(p);
}

#undef IN_CHILD

std::string describe_failure(const Plan& p) {
  const SpawnSpec& s = *p.spec;
  switch (p.failed) {
    case Step::kSession:
      return "setsid";
    case Step::kGroup:
      return "setpgid " + std::to_string(*s.process_group);
    case Step::kTty:
      return "controlling terminal";
    case Step::kOom:
      return "oom_score_adj " + std::to_string(*s.oom_score_adj);
    case Step::kNice:
      return "nice " + std::to_string(*s.nice);
    case Step::kAffinity:
      return "CPU affinity " + s.cpus.to_ranges();
    case Step::kCgroup:
      return "join cgroup";
    case Step::kFds:
      return "descriptor " + std::to_string(p.fds[p.failed_index].from);
    case Step::kLimit:
      return "resource limit " + std::to_string(s.limits[p.failed_index].resource);
    case Step::kGroups:
      return "setgroups";
    case Step::kGid:
      return "setgid " + std::to_string(s.credentials->gid.value);
    case Step::kUid:
      return "setuid " + std::to_string(s.credentials->uid.value);
    case Step::kCwd:
      return "chdir " + s.cwd;
    case Step::kDeath:
      return "parent death signal";
    default:
      return "execve " + s.path;
  }
}

std::string_view path_of(const std::vector<const char*>& env) {
  for (const char* e : env)
    if (e && strncmp(e, "PATH=", 5) == 0) return e + 5;
  return "/usr/local/bin:/usr/bin:/bin";
}

void plan_candidates(Plan& p) {
  const std::string& program = p.spec->path;
  if (program.find('/') != std::string::npos) {
    p.candidates.push_back(program);
  } else {
    std::string_view path = path_of(p.env);
    for (size_t at = 0; at <= path.size() && p.candidates.size() < 256;) {
      size_t end = std::min(path.find(':', at), path.size());
      std::string dir(path.substr(at, end - at));
      p.candidates.push_back(dir.empty() ? "./" + program : dir + "/" + program);
      at = end + 1;
    }
  }
  for (const auto& c : p.candidates) p.candidate_ptrs.push_back(c.c_str());
}

Result<> make_plan(const SpawnSpec& s, Plan& p) {
  p.spec = &s;
  if (s.path.empty()) return fail(Errc::kInvalidArgument, "execve: no program named");
  if (s.controlling_tty >= 0 && !s.new_session)
    return fail(Errc::kInvalidArgument, "spawn: a controlling terminal needs a new session");
  if (s.argv.empty()) p.argv.push_back(s.path.c_str());
  for (const auto& a : s.argv) p.argv.push_back(a.c_str());
  p.argv.push_back(nullptr);
  if (s.env) {
    for (const auto& e : *s.env) p.env.push_back(e.c_str());
  } else {
    for (char** e = environ; e && *e; ++e) p.env.push_back(*e);
  }
  if (!s.pid_variable.empty()) {
    p.pid_entry = s.pid_variable + "=";
    p.pid_digits_at = p.pid_entry.size();
    p.pid_entry.resize(p.pid_entry.size() + 16, '\0');
    p.env.push_back(p.pid_entry.c_str());
  }
  p.env.push_back(nullptr);
  plan_candidates(p);
  p.fds = s.fds;
  p.moved.assign(p.fds.size(), -1);
  for (const auto& m : p.fds) {
    if (m.from < 0 || m.to < 0)
      return fail(Errc::kInvalidArgument, "spawn: a descriptor in the mapping is negative");
    p.above_targets = std::max(p.above_targets, m.to + 1);
  }
  constexpr size_t kBits = 8 * sizeof(unsigned long);
  s.cpus.for_each([&](size_t cpu) {
    if (p.cpu_mask.size() <= cpu / kBits) p.cpu_mask.resize(cpu / kBits + 1);
    p.cpu_mask[cpu / kBits] |= 1ul << (cpu % kBits);
  });
  if (s.oom_score_adj)
    p.oom_length = static_cast<size_t>(snprintf(p.oom_text, sizeof p.oom_text, "%d", *s.oom_score_adj));
  if (s.credentials) {
    const uid_t me = geteuid();
    if (me == 0) {
      p.switch_user = true;
    } else if (s.credentials->uid.value != me) {
      return fail(Errc::kAccessDenied, "setuid " + std::to_string(s.credentials->uid.value) +
                                           ": only root may run processes of other users");
    }
  }
  return {};
}

}  // namespace

// The thread sanitizer keeps what it knows of a thread apart from what the child does in its place.
static pid_t clone_apart(void* top, Plan& plan) {
#ifdef __SANITIZE_THREAD__
  void *ours = __tsan_get_current_fiber(), *childs = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(childs, 0);
#endif
  const pid_t pid = clone(child_main, top, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
#ifdef __SANITIZE_THREAD__
  const int clone_errno = errno;
  __tsan_switch_to_fiber(ours, 0);
  __tsan_destroy_fiber(childs);
  errno = clone_errno;
#endif
  return pid;
}

Result<pid_t> spawn(const SpawnSpec& spec) {
  Plan plan;
  MUSTER_TRY_VOID(make_plan(spec, plan));
  auto stack = std::make_unique_for_overwrite<unsigned char[]>(kChildStack);
  auto top = reinterpret_cast<uintptr_t>(stack.get() + kChildStack) & ~uintptr_t{15};
  // No handler of ours may run in the child while it uses our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = clone_apart(reinterpret_cast<void*>(top), plan);
  const int clone_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail_errno("clone", clone_errno);
  if (plan.failed != Step::kNone) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail_errno(describe_failure(plan), plan.failed_errno);
  }
  return pid;
}

// ---- held_process.h
namespace {

constexpr int kHookFailed = 1;

// The whole program of a forked child: it has memory of its own, so it may do what it likes.
[[noreturn]] void held_main(SpawnSpec s, const StartHooks& hooks, int gate) {
  auto failed = [](const Plan& p, void* context) {
    static_cast<const StartHooks*>(context)->failed(describe_failure(p) + ": " + strerror(p.failed_errno));
  };
  auto watched = [&](Plan& p) {
    p.failed_in_child = failed;
    p.failed_context = const_cast<StartHooks*>(&hooks);
  };
  Plan before;
  if (!make_plan(s, before)) _exit(kHookFailed);  // was made once already by our parent
  watched(before);
  // Where the program's descriptors go may be where the gate happens to be.
  gate = fcntl(gate, F_DUPFD_CLOEXEC, before.above_targets);
  if (gate < 0) hooks.failed(std::string("gate: ") + strerror(errno));
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would ever open the gate
  take_place(before);
  take_signals();
  if (hooks.as_root && !hooks.as_root()) _exit(kHookFailed);
  char go = 0;
  while (read(gate, &go, 1) < 0 && errno == EINTR) {
  }
  if (!go) _exit(kHookFailed);
  close(gate);
  prctl(PR_SET_PDEATHSIG, 0);
  set_limits_and_user(before);
  if (hooks.as_user && !hooks.as_user(s)) _exit(kHookFailed);
  Plan after;  // the hook may have changed the environment, and with it where programs are
  if (!make_plan(s, after)) _exit(kHookFailed);
  watched(after);
  execute(after);
}

}  // namespace

Result<HeldProcess> HeldProcess::start(const SpawnSpec& spec, const StartHooks& hooks) {
  Plan plan;
  MUSTER_TRY_VOID(make_plan(spec, plan));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
  Fd gate(ends[0]);
  HeldProcess out;
  out.gate_.reset(ends[1]);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  out.pid_ = fork();
  if (out.pid_ == 0) {
    out.gate_.reset();
    held_main(spec, hooks, gate.get());
  }
  const int fork_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (out.pid_ < 0) return fail_errno("fork", fork_errno);
  return out;
}

void HeldProcess::release() {
  [[maybe_unused]] ssize_t n = write(gate_.get(), "g", 1);
  gate_.reset();
}

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
      if (n == 0 && left <= 0)
        return fail(Errc::kTimedOut, "process " + std::to_string(pid) + " did not end in time");
    }
  }
  Reaped r;
  int raw = 0;
  while ((r.pid = wait4(pid, &raw, 0, &r.usage)) < 0)
    if (errno != EINTR) return fail_errno("wait for process " + std::to_string(pid));
  r.status = ExitStatus::of(raw);
  return r;
}

std::vector<Reaped> reap_children() {
  std::vector<Reaped> out;
  Reaped r;
  int raw = 0;
  while ((r.pid = wait4(-1, &raw, WNOHANG, &r.usage)) > 0) {
    r.status = ExitStatus::of(raw);
    out.push_back(r);
  }
  return out;
}

namespace {

// Reads until the writers are gone or the deadline passes. False on the deadline.
bool drain(int fd, Time deadline, size_t max_output, Captured& out) {
  char buffer[16384];
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
    if (left <= 0) return false;
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30))) <= 0) continue;
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    const size_t room = max_output - out.output.size();
    if (static_cast<size_t>(n) > room) out.truncated = true;
    out.output.append(buffer, std::min(room, static_cast<size_t>(n)));
  }
}

}  // namespace

Result<Captured> run_captured(SpawnSpec spec, Duration timeout, size_t max_output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
  Fd reading(ends[0]), writing(ends[1]);
  spec.fds.push_back({writing.get(), 1});
  spec.fds.push_back({writing.get(), 2});
  if (!spec.new_session) spec.process_group = 0;
  const Time deadline = monotonic_now() + timeout;
  MUSTER_TRY(pid, spawn(spec));
  writing.reset();
  Captured out;
  out.timed_out = !drain(reading.get(), deadline, max_output, out);
  if (!out.timed_out) {
    // It may have closed its output and still run.
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

Result<Fd> open_pidfd(pid_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return fail_errno("process " + std::to_string(pid));
  return Fd(fd);
}

Result<> signal_pidfd(int pidfd, int signal) {
  if (syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0)
    return fail_errno("signal " + std::to_string(signal));
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
