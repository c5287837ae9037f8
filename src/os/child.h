// What a child does between its beginning and its program, for spawn() (process.h), HeldProcess and Errand. Internal to os/.
//
// ChildOrders are made beforehand: plain pointers and numbers, since the child may share our memory and must neither allocate nor
// call into libraries. What they point to (the SpawnSpec too) stays where it is until the child has left our memory.
#pragma once

#include <string>
#include <vector>

#include "os/fd.h"
#include "os/process.h"
#include "os/raw_calls.h"

namespace muster::os {

enum class ChildStep {
  kNone,
  kSession,
  kGroup,
  kTty,
  kNice,
  kAffinity,
  kCgroup,
  kNamespace,
  kFds,
  kLimit,
  kGroups,
  kGid,
  kUid,
  kRights,
  kUsers,
  kCwd,
  kDeath,
  kExec
};

struct RawLimit {
  long resource;
  unsigned long pair[2];  // soft, hard
};
// The user that a child becomes.
struct RawUser {
  unsigned int uid = 0, gid = 0;
  const uint32_t* groups = nullptr;
  size_t group_count = 0;
  int space = -1;  // an open namespace of users that the user is in
};

struct ChildOrders {
  const int* cgroups = nullptr;  // open cgroup.procs files
  size_t cgroup_count = 0;
  bool new_session = false, set_group = false, set_nice = false, set_umask = false, switch_user = false;
  int mount_space = -1;  // an open namespace of mounts
  int group = 0, tty = -1, nice = 0, death_signal = 0, parent = 0;
  const unsigned long* cpus = nullptr;
  size_t cpu_bytes = 0;
  const FdMapping* fds = nullptr;
  int* moved = nullptr;  // scratch: the duplicates of fds[i].from
  size_t fd_count = 0;
  int above_targets = 3;  // first descriptor above every target
  int still_here = -1;    // close-on-exec: its end tells that the child has left our memory
  const RawLimit* limits = nullptr;
  size_t limit_count = 0;
  RawUser user;
  unsigned int umask = 0;
  const char* cwd = nullptr;
  char* pid_digits = nullptr;               // where the child writes its number
  const char* const* candidates = nullptr;  // what to try to execute, in order
  size_t candidate_count = 0;
  const char* const* argv = nullptr;
  const char* const* env = nullptr;
  void (*failed_in_child)(ChildOrders&) = nullptr;  // for a forked child: reports the failure and does not return
  void* failed_context = nullptr;
  // written by the child
  volatile ChildStep failed = ChildStep::kNone;
  volatile int failed_errno = 0;
  volatile size_t failed_index = 0;
};

// The orders with all that they point to, but for the spec.
struct ChildPlan {
  ChildOrders orders;
  const SpawnSpec* spec = nullptr;
  std::vector<const char*> argv, env;
  std::vector<std::string> candidates;
  std::vector<const char*> candidate_ptrs;
  std::vector<int> moved;
  std::vector<unsigned long> cpu_mask;
  std::vector<RawLimit> limits;
  std::string pid_entry;  // "NAME=" and room for a number
};

Result<> make_plan(const SpawnSpec& spec, ChildPlan& plan);
// Names the step that failed: "chdir /data".
std::string describe_failure(const ChildPlan& plan);
// Whether we have to, and may, act as `who`. Error: another user, and we are not root.
Result<bool> switches_user(const Credentials& who);

// To be called in the child, in this order. What needs root's rights comes first; after set_limits_and_user() the child is the user for
// good: all three user and group numbers and the groups, as the kernel confirms.
IN_CHILD void take_place(ChildOrders& orders);
IN_CHILD void set_limits_and_user(ChildOrders& orders);
IN_CHILD void write_own_pid(ChildOrders& orders);
IN_CHILD void take_signals();
[[noreturn]] IN_CHILD void execute(ChildOrders& orders);

// What become_user_for_good() returns: 0, or a negative error number with the step that failed. Nobody can trace a child that has become
// the user, or have it dump core, because our memory is in it. (The kernel forgets that when the child executes a program.)
struct BecomeUser {
  ChildStep step = ChildStep::kNone;
  long result = 0;
};
IN_CHILD BecomeUser become_user_for_good(const RawUser& who);
RawUser raw_user(const Credentials& who);  // points into `who`, which must outlive it

// Blocks all signals while it lives: no handler of ours may run in a child that uses our memory.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked();
  ~AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  unsigned char before_[128];
};

// While it lives, this thread's children are made in that namespace of processes (-1: in ours). It stays where it is itself, and knows them by
// the numbers that they have here.
class ChildrenElsewhere {
 public:
  explicit ChildrenElsewhere(int pid_space);
  ~ChildrenElsewhere();
  ChildrenElsewhere(const ChildrenElsewhere&) = delete;
  ChildrenElsewhere& operator=(const ChildrenElsewhere&) = delete;
  Result<> ok;

 private:
  Fd ours_;
};

// clone(2) with our memory, on `stack`; -1 with errno on failure. `flags` are given without CLONE_VM; `pidfd` goes with CLONE_PIDFD.
inline constexpr size_t kChildStack = 64 * 1024;
pid_t clone_beside(int (*main)(void*), unsigned char* stack, int flags, void* plan, int* pidfd = nullptr);

}  // namespace muster::os
