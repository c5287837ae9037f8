// Launch, and spawn() of process.h.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <memory>

#include "os/child.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/launch.h"
#include "os/oom_shield.h"

namespace muster::os {
namespace {

constexpr Duration kKilledLeaves = seconds(1);

IN_CHILD int child_main(void* arg) {
  ChildOrders& o = *static_cast<ChildOrders*>(arg);
  take_place(o);
  set_limits_and_user(o);
  write_own_pid(o);
  take_signals();
  execute(o);
}

int poll_milliseconds(Duration d) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(d).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 1 << 30));
}

}  // namespace

// The child works on this until it has left our memory.
struct Launch::State {
  SpawnSpec spec;
  ChildPlan plan;
  std::unique_ptr<unsigned char[]> stack;
  Fd still_here;  // reads its end when the child has left our memory
  pid_t pid = 0;
  std::optional<Result<>> outcome;
  std::optional<ShieldDown> shield;  // until the child has left our memory

  bool child_left(int wait_ms) const {
    pollfd p{still_here.get(), POLLIN, 0};
    int n;
    while ((n = poll(&p, 1, wait_ms)) < 0 && errno == EINTR && wait_ms == 0) {
    }
    return n > 0;
  }
};

Launch::Launch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Launch::Launch(Launch&&) noexcept = default;

Launch& Launch::operator=(Launch&& o) noexcept {
  if (this != &o) {
    leave();
    state_ = std::move(o.state_);
  }
  return *this;
}

Launch::~Launch() { leave(); }

void Launch::leave() {
  if (!state_ || state_->outcome || state_->child_left(0)) return state_.reset();
  ::kill(state_->pid, SIGKILL);  // it has not been reaped: it has not even ended
  // A child that not even SIGKILL ends (a device that does not answer) keeps the memory it works on.
  if (!state_->child_left(poll_milliseconds(kKilledLeaves))) static_cast<void>(state_.release());
  state_.reset();
}

Result<Launch> Launch::start(SpawnSpec spec) {
  auto state = std::make_unique<State>();
  state->spec = std::move(spec);
  MUSTER_TRY_VOID(make_plan(state->spec, state->plan));
  state->stack = std::make_unique_for_overwrite<unsigned char[]>(kChildStack);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
  state->still_here.reset(ends[0]);
  const Fd childs(ends[1]);
  state->plan.orders.still_here = childs.get();
  state->shield.emplace(state->spec.oom_shield);
  int clone_errno;
  {
    const ChildrenElsewhere there(state->spec.namespaces.pid);
    MUSTER_TRY_VOID(there.ok);
    AllSignalsBlocked blocked;
    state->pid = clone_beside(child_main, state->stack.get(), SIGCHLD, &state->plan.orders);
    clone_errno = errno;
  }
  if (state->pid < 0) return fail_errno("clone", clone_errno);
  return Launch(std::move(state));
}

pid_t Launch::pid() const { return state_->pid; }
int Launch::fd() const { return state_->still_here.get(); }
bool Launch::failed_at_directory() const { return state_->outcome && state_->plan.orders.failed == ChildStep::kCwd; }

std::optional<Result<>> Launch::settled() { return settled_within(Duration{}); }

std::optional<Result<>> Launch::settled_within(Duration timeout) {
  State& s = *state_;
  if (s.outcome) return s.outcome;
  const Time deadline = monotonic_now() + timeout;
  while (!s.child_left(poll_milliseconds(timeout)))
    if (timeout = deadline - monotonic_now(); timeout <= Duration{}) return std::nullopt;
  if (s.plan.orders.failed != ChildStep::kNone) s.outcome = fail_errno(describe_failure(s.plan), s.plan.orders.failed_errno);
  else s.outcome = Result<>{};
  s.stack.reset();
  s.shield.reset();
  return s.outcome;
}

Result<pid_t> spawn(const SpawnSpec& spec) {
  MUSTER_TRY(launch, Launch::start(spec));
  const pid_t pid = launch.pid();
  auto outcome = launch.settled_within(kSpawnPatience);
  if (outcome && *outcome) return pid;
  if (!outcome) ::kill(pid, SIGKILL);
  static_cast<void>(wait_child(pid, kKilledLeaves));
  if (outcome) return std::unexpected(outcome->error());
  return fail(Errc::kTimedOut, "process " + std::to_string(pid) + " did not get to its program in time and was killed");
}

}  // namespace muster::os
