#include "os/child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include <cstring>

#include "os/error.h"

extern char** environ;

namespace muster::os {
namespace {

[[noreturn]] IN_CHILD void give_up(ChildOrders& o, ChildStep step, long result, size_t index = 0) {
  o.failed_errno = static_cast<int>(-result);
  o.failed_index = index;
  o.failed = step;
  if (o.failed_in_child) o.failed_in_child(o);
  raw_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

// Gives up where a call that must not fail has failed.
IN_CHILD void must(ChildOrders& o, ChildStep step, long result, size_t index = 0) {
  if (result < 0) give_up(o, step, result, index);
}

IN_CHILD void reset_signals() {
  // The kernel's struct sigaction is at most 32 bytes; zeros mean SIG_DFL. glibc's wrapper would refuse 32 and 33.
  volatile unsigned char zeros[64];
  for (size_t i = 0; i < sizeof zeros; ++i) zeros[i] = 0;
  for (int s = 1; s <= 64; ++s)
    if (s != SIGKILL && s != SIGSTOP) raw_call(SYS_rt_sigaction, s, raw_pointer(&zeros[0]), 0, 8);
}

IN_CHILD void join_cgroups(ChildOrders& o) {
  for (size_t i = 0; i < o.cgroup_count; ++i) must(o, ChildStep::kCgroup, raw_call(SYS_write, o.cgroups[i], raw_pointer("0"), 1), i);
}

// While the descriptor is still in its place.
IN_CHILD void join_namespace(ChildOrders& o) {
  if (o.mount_space >= 0) must(o, ChildStep::kNamespace, raw_call(SYS_setns, o.mount_space, CLONE_NEWNS));
}

IN_CHILD void place_in_session(ChildOrders& o) {
  if (o.new_session) must(o, ChildStep::kSession, raw_call(SYS_setsid));
  if (o.set_group && !o.new_session) must(o, ChildStep::kGroup, raw_call(SYS_setpgid, 0, o.group));
  if (o.tty >= 0) must(o, ChildStep::kTty, raw_call(SYS_ioctl, o.tty, TIOCSCTTY, 0));
}

IN_CHILD void place_on_machine(ChildOrders& o) {
  if (o.set_nice) must(o, ChildStep::kNice, raw_call(SYS_setpriority, PRIO_PROCESS, 0, o.nice));
  if (o.cpu_bytes) must(o, ChildStep::kAffinity, raw_call(SYS_sched_setaffinity, 0, static_cast<long>(o.cpu_bytes), raw_pointer(o.cpus)));
}

// Two passes, so that mappings may swap and overlap: first every source goes above all targets, then down to its place. The descriptor that
// tells our parent that we are still here must not be in the way of a target either, nor may one take the place of a namespace that is
// entered later.
IN_CHILD void map_descriptors(ChildOrders& orders) {
  raw_call(SYS_close_range, 3, static_cast<long>(~0u),
           CLOSE_RANGE_CLOEXEC);  // before Linux 5.11: our own descriptors have the flag anyway
  if (orders.still_here >= 0) must(orders, ChildStep::kFds, raw_call(SYS_fcntl, orders.still_here, F_DUPFD_CLOEXEC, orders.above_targets));
  if (orders.user.space >= 0) {
    const long moved = raw_call(SYS_fcntl, orders.user.space, F_DUPFD_CLOEXEC, orders.above_targets);
    must(orders, ChildStep::kUsers, moved);
    orders.user.space = static_cast<int>(moved);
  }
  for (size_t i = 0; i < orders.fd_count; ++i) {
    const long moved = raw_call(SYS_fcntl, orders.fds[i].from, F_DUPFD_CLOEXEC, orders.above_targets);
    must(orders, ChildStep::kFds, moved, i);
    orders.moved[i] = static_cast<int>(moved);
  }
  for (size_t i = 0; i < orders.fd_count; ++i) must(orders, ChildStep::kFds, raw_call(SYS_dup3, orders.moved[i], orders.fds[i].to, 0), i);
}

// Asks the kernel, whatever the calls that changed them returned: after this, paths that the user named are used.
IN_CHILD bool is_user_for_good(const RawUser& who) {
  unsigned int r = 0, e = 0, s = 0;
  if (raw_call(SYS_getresuid, raw_pointer(&r), raw_pointer(&e), raw_pointer(&s)) < 0) return false;
  if (r != who.uid || e != who.uid || s != who.uid) return false;
  if (raw_call(SYS_getresgid, raw_pointer(&r), raw_pointer(&e), raw_pointer(&s)) < 0) return false;
  if (r != who.gid || e != who.gid || s != who.gid) return false;
  return raw_call(SYS_getgroups, 0, 0) == static_cast<long>(who.group_count);
}

IN_CHILD long set_rights(uint64_t rights) {
  const auto low = static_cast<uint32_t>(rights), high = static_cast<uint32_t>(rights >> 32);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct data[2] = {{low, low, 0}, {high, high, 0}};
  return raw_call(SYS_capset, raw_pointer(&header), raw_pointer(&data[0]));
}

// As the user already, so that whoever that is called in there he remains the user that the job is of out here. Entering takes one right of
// root's, and gives all rights in there, which with every user in it are rights on every file: they go before any name is looked at. Whoever
// is root in there has them again with his program.
IN_CHILD long enter_user_space(const RawUser& who) {
  if (long r = set_rights(uint64_t{1} << CAP_SYS_ADMIN); r < 0) return r;
  if (long r = raw_call(SYS_setns, who.space, CLONE_NEWUSER); r < 0) return r;
  raw_call(SYS_prctl, PR_SET_DUMPABLE, 0);
  return who.uid == 0 ? 0 : set_rights(0);
}

std::string_view path_of(const std::vector<const char*>& env) {
  for (const char* e : env)
    if (e && strncmp(e, "PATH=", 5) == 0) return e + 5;
  return "/usr/local/bin:/usr/bin:/bin";
}

void plan_candidates(ChildPlan& plan) {
  const std::string& program = plan.spec->path;
  if (program.find('/') != std::string::npos) {
    plan.candidates.push_back(program);
  } else {
    std::string_view path = path_of(plan.env);
    for (size_t at = 0; at <= path.size() && plan.candidates.size() < 256;) {
      size_t end = std::min(path.find(':', at), path.size());
      std::string dir(path.substr(at, end - at));
      plan.candidates.push_back(dir.empty() ? "./" + program : dir + "/" + program);
      at = end + 1;
    }
  }
  for (const auto& c : plan.candidates) plan.candidate_ptrs.push_back(c.c_str());
}

void plan_environment(const SpawnSpec& spec, ChildPlan& plan) {
  if (spec.env) {
    for (const auto& e : *spec.env) plan.env.push_back(e.c_str());
  } else {
    for (char** e = environ; e && *e; ++e) plan.env.push_back(*e);
  }
  if (!spec.pid_variable.empty()) {
    plan.pid_entry = spec.pid_variable + "=";
    const size_t digits_at = plan.pid_entry.size();
    plan.pid_entry.resize(digits_at + 16, '\0');
    plan.orders.pid_digits = plan.pid_entry.data() + digits_at;
    plan.env.push_back(plan.pid_entry.c_str());
  }
  plan.env.push_back(nullptr);
}

}  // namespace

RawUser raw_user(const Credentials& who) { return {who.uid.value, who.gid.value, who.groups.data(), who.groups.size(), -1}; }

IN_CHILD BecomeUser become_user_for_good(const RawUser& who) {
  // Raw calls: glibc's would try to change the credentials of every thread of the process whose memory this is.
  if (long r = raw_call(SYS_setgroups, static_cast<long>(who.group_count), raw_pointer(who.groups)); r < 0) return {ChildStep::kGroups, r};
  const long gid = static_cast<long>(who.gid), uid = static_cast<long>(who.uid);
  if (long r = raw_call(SYS_setresgid, gid, gid, gid); r < 0) return {ChildStep::kGid, r};
  if (who.space >= 0) raw_call(SYS_prctl, PR_SET_KEEPCAPS, 1);
  if (long r = raw_call(SYS_setresuid, uid, uid, uid); r < 0) return {ChildStep::kUid, r};
  raw_call(SYS_prctl, PR_SET_DUMPABLE, 0);
  if (!is_user_for_good(who)) return {ChildStep::kRights, -EPERM};
  if (who.space < 0) return {};
  if (long r = enter_user_space(who); r < 0) return {ChildStep::kUsers, r};
  return {};
}

IN_CHILD void write_own_pid(ChildOrders& o) {
  if (!o.pid_digits) return;
  char digits[16];
  int n = 0;
  for (auto pid = static_cast<unsigned long>(raw_call(SYS_getpid)); pid; pid /= 10) digits[n++] = static_cast<char>('0' + pid % 10);
  char* to = o.pid_digits;
  while (n > 0) *to++ = digits[--n];
  *to = 0;
}

// The steps that may need root's rights.
IN_CHILD void take_place(ChildOrders& o) {
  reset_signals();
  join_cgroups(o);
  join_namespace(o);
  place_in_session(o);
  place_on_machine(o);
  map_descriptors(o);
}

IN_CHILD void set_limits_and_user(ChildOrders& orders) {
  for (size_t i = 0; i < orders.limit_count; ++i)
    must(orders, ChildStep::kLimit, raw_call(SYS_prlimit64, 0, orders.limits[i].resource, raw_pointer(&orders.limits[i].pair[0]), 0), i);
  if (orders.switch_user) {
    const BecomeUser became = become_user_for_good(orders.user);
    must(orders, became.step, became.result);
  }
  if (orders.set_umask) raw_call(SYS_umask, static_cast<long>(orders.umask));
  if (orders.cwd) must(orders, ChildStep::kCwd, raw_call(SYS_chdir, raw_pointer(orders.cwd)));
  if (!orders.death_signal) return;
  must(orders, ChildStep::kDeath, raw_call(SYS_prctl, PR_SET_PDEATHSIG, orders.death_signal));
  if (orders.parent && raw_call(SYS_getppid) != orders.parent)
    give_up(orders, ChildStep::kDeath, -ESRCH);  // it was too late for the signal
}

IN_CHILD void take_signals() {
  const unsigned long no_signals = 0;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, raw_pointer(&no_signals), 0, 8);
}

[[noreturn]] IN_CHILD void execute(ChildOrders& o) {
  long result = -ENOENT;
  bool denied = false;
  for (size_t i = 0; i < o.candidate_count; ++i) {
    result = raw_call(SYS_execve, raw_pointer(o.candidates[i]), raw_pointer(o.argv), raw_pointer(o.env));
    if (result == -EACCES) denied = true;
    if (result != -ENOENT && result != -ENOTDIR && result != -EACCES) break;
  }
  if (denied && (result == -ENOENT || result == -ENOTDIR)) result = -EACCES;
  give_up(o, ChildStep::kExec, result);
}

std::string describe_failure(const ChildPlan& plan) {
  const SpawnSpec& spec = *plan.spec;
  switch (plan.orders.failed) {
    case ChildStep::kSession: return "setsid";
    case ChildStep::kGroup: return "setpgid " + std::to_string(*spec.process_group);
    case ChildStep::kTty: return "controlling terminal";
    case ChildStep::kNice: return "nice " + std::to_string(*spec.nice);
    case ChildStep::kAffinity: return "CPU affinity " + spec.cpus.to_ranges();
    case ChildStep::kCgroup: return "join cgroup";
    case ChildStep::kNamespace: return "join the job's namespace";
    case ChildStep::kFds: return spec.fds.empty() ? "descriptors" : "descriptor " + std::to_string(spec.fds[plan.orders.failed_index].from);
    case ChildStep::kLimit: return "resource limit " + std::to_string(spec.limits[plan.orders.failed_index].resource);
    case ChildStep::kGroups: return "setgroups";
    case ChildStep::kGid: return "setgid " + std::to_string(spec.credentials->gid.value);
    case ChildStep::kUid: return "setuid " + std::to_string(spec.credentials->uid.value);
    case ChildStep::kRights: return "the rights of user " + std::to_string(spec.credentials->uid.value);
    case ChildStep::kUsers: return "join the job's namespace of users";
    case ChildStep::kCwd: return "chdir " + spec.cwd;
    case ChildStep::kDeath: return "parent death signal";
    default: return "execve " + spec.path;
  }
}

Result<bool> switches_user(const Credentials& who) {
  const uid_t me = geteuid();
  if (me == 0) return true;
  if (who.uid.value == me) return false;
  return fail(Errc::kAccessDenied, "setuid " + std::to_string(who.uid.value) + ": only root may run processes of other users");
}

static Result<> plan_descriptors(const SpawnSpec& s, ChildPlan& p) {
  p.moved.assign(s.fds.size(), -1);
  for (const auto& m : s.fds) {
    if (m.from < 0 || m.to < 0) return fail(Errc::kInvalidArgument, "spawn: a descriptor in the mapping is negative");
    p.orders.above_targets = std::max(p.orders.above_targets, m.to + 1);
  }
  p.orders.fds = s.fds.data();
  p.orders.moved = p.moved.data();
  p.orders.fd_count = s.fds.size();
  return {};
}

static void plan_place(const SpawnSpec& spec, ChildPlan& plan) {
  constexpr size_t kBits = 8 * sizeof(unsigned long);
  spec.cpus.for_each([&](size_t cpu) {
    if (plan.cpu_mask.size() <= cpu / kBits) plan.cpu_mask.resize(cpu / kBits + 1);
    plan.cpu_mask[cpu / kBits] |= 1ul << (cpu % kBits);
  });
  for (const LimitSetting& l : spec.limits) plan.limits.push_back({l.resource, {l.soft, l.hard}});
  ChildOrders& orders = plan.orders;
  orders.cgroups = spec.cgroup_procs_fds.data();
  orders.cgroup_count = spec.cgroup_procs_fds.size();
  orders.mount_space = spec.namespaces.mount;
  orders.new_session = spec.new_session;
  orders.set_group = spec.process_group.has_value();
  orders.group = spec.process_group.value_or(0);
  orders.tty = spec.controlling_tty;
  orders.set_nice = spec.nice.has_value();
  orders.nice = spec.nice.value_or(0);
  orders.cpus = plan.cpu_mask.data();
  orders.cpu_bytes = plan.cpu_mask.size() * sizeof(unsigned long);
  orders.limits = plan.limits.data();
  orders.limit_count = plan.limits.size();
  orders.set_umask = spec.umask.has_value();
  orders.umask = spec.umask.value_or(0);
  orders.cwd = spec.cwd.empty() ? nullptr : spec.cwd.c_str();
  orders.death_signal = spec.parent_death_signal;
  orders.parent = spec.namespaces.pid < 0 ? getpid() : 0;  // from in there nobody sees us
}

Result<> make_plan(const SpawnSpec& spec, ChildPlan& plan) {
  plan.spec = &spec;
  if (spec.path.empty()) return fail(Errc::kInvalidArgument, "execve: no program named");
  if (spec.controlling_tty >= 0 && !spec.new_session)
    return fail(Errc::kInvalidArgument, "spawn: a controlling terminal needs a new session");
  if (spec.argv.empty()) plan.argv.push_back(spec.path.c_str());
  for (const auto& a : spec.argv) plan.argv.push_back(a.c_str());
  plan.argv.push_back(nullptr);
  plan_environment(spec, plan);
  plan_candidates(plan);
  MUSTER_TRY_VOID(plan_descriptors(spec, plan));
  plan_place(spec, plan);
  plan.orders.argv = plan.argv.data();
  plan.orders.env = plan.env.data();
  plan.orders.candidates = plan.candidate_ptrs.data();
  plan.orders.candidate_count = plan.candidate_ptrs.size();
  if (spec.credentials) {
    MUSTER_TRY(switches, switches_user(*spec.credentials));
    plan.orders.switch_user = switches;
    plan.orders.user = raw_user(*spec.credentials);
    plan.orders.user.space = spec.namespaces.user;
  }
  return {};
}

AllSignalsBlocked::AllSignalsBlocked() {
  static_assert(sizeof before_ >= sizeof(sigset_t));
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, reinterpret_cast<sigset_t*>(before_));
}

AllSignalsBlocked::~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, reinterpret_cast<sigset_t*>(before_), nullptr); }

ChildrenElsewhere::ChildrenElsewhere(int pid_space) {
  if (pid_space < 0) return;
  ours_.reset(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!ours_ || ::setns(pid_space, CLONE_NEWPID) < 0) {
    ok = fail_errno("join the job's namespace of processes");
    ours_.reset();
  }
}

ChildrenElsewhere::~ChildrenElsewhere() {
  // Cannot fail: we are in it, and have the right that we have just used.
  if (ours_) ::setns(ours_.get(), CLONE_NEWPID);
}

// A fiber of its own, so that the thread sanitizer keeps what the child does apart from what it knows of the calling thread.
pid_t clone_beside(int (*main)(void*), unsigned char* stack, int flags, void* plan, int* pidfd) {
  const auto top = reinterpret_cast<uintptr_t>(stack + kChildStack) & ~uintptr_t{15};
  if (!kChildRunsBeside) flags |= CLONE_VFORK;
#ifdef __SANITIZE_THREAD__
  void *ours = __tsan_get_current_fiber(), *childs = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(childs, 0);
#endif
  const pid_t pid = clone(main, reinterpret_cast<void*>(top), CLONE_VM | flags, plan, pidfd);
#ifdef __SANITIZE_THREAD__
  const int clone_errno = errno;
  __tsan_switch_to_fiber(ours, 0);
  __tsan_destroy_fiber(childs);
  errno = clone_errno;
#endif
  return pid;
}

}  // namespace muster::os
