#include "os/held_process.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstring>

#include "os/child.h"
#include "os/error.h"
#include "os/files.h"
#include "os/oom_shield.h"

namespace muster::os {
namespace {

constexpr int kHookFailed = 1;

// What a child that cannot go on needs to report that through its hook.
struct Teller {
  const ChildPlan& plan;
  const StartHooks& hooks;
};

void tell_failure(ChildOrders& o) {
  const Teller& t = *static_cast<const Teller*>(o.failed_context);
  t.hooks.failed(describe_failure(t.plan) + ": " + strerror(o.failed_errno));
}

void watch(ChildPlan& plan, Teller& teller) {
  plan.orders.parent = 0;  // not us
  plan.orders.failed_in_child = tell_failure;
  plan.orders.failed_context = &teller;
}

void wait_at(int gate) {
  char go = 0;
  while (read(gate, &go, 1) < 0 && errno == EINTR) {
  }
  if (!go) _exit(kHookFailed);
  close(gate);
}

// The whole program of a forked child: it has memory of its own, so it may do what it likes.
[[noreturn]] void held_main(SpawnSpec spec, const StartHooks& hooks, int gate) {
  ChildPlan before;
  if (!make_plan(spec, before)) _exit(kHookFailed);  // was made once already by our parent
  Teller teller{before, hooks};
  watch(before, teller);
  // The gate's number may be one that the program's descriptors go to.
  gate = fcntl(gate, F_DUPFD_CLOEXEC, before.orders.above_targets);
  if (gate < 0) hooks.failed(std::string("gate: ") + strerror(errno));
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would ever open the gate
  take_place(before.orders);
  take_signals();
  if (hooks.as_root && !hooks.as_root()) _exit(kHookFailed);
  wait_at(gate);
  prctl(PR_SET_PDEATHSIG, 0);
  set_limits_and_user(before.orders);
  if (hooks.as_user && !hooks.as_user(spec)) _exit(kHookFailed);
  ChildPlan after;  // the hook may have changed the environment, and with it where programs are
  if (!make_plan(spec, after)) _exit(kHookFailed);
  Teller then{after, hooks};
  watch(after, then);
  execute(after.orders);
}

}  // namespace

Result<HeldProcess> HeldProcess::start(const SpawnSpec& spec, const StartHooks& hooks) {
  ChildPlan plan;
  MUSTER_TRY_VOID(make_plan(spec, plan));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return fail_errno("socketpair");
  Fd gate(ends[0]);
  HeldProcess out;
  out.gate_.reset(ends[1]);
  int fork_errno;
  {
    const ShieldDown down(spec.oom_shield);  // the child has memory, and so a score, of its own
    const ChildrenElsewhere there(spec.namespaces.pid);
    MUSTER_TRY_VOID(there.ok);
    AllSignalsBlocked blocked;
    out.pid_ = fork();
    if (out.pid_ == 0) {
      out.gate_.reset();
      held_main(spec, hooks, gate.get());
    }
    fork_errno = errno;
  }
  if (out.pid_ < 0) return fail_errno("fork", fork_errno);
  return out;
}

void HeldProcess::release() {
  // The child may have ended already; that must not send us a SIGPIPE.
  [[maybe_unused]] ssize_t n = send(gate_.get(), "g", 1, MSG_NOSIGNAL);
  gate_.reset();
}

}  // namespace muster::os
