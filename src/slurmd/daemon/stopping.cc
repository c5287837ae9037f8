#include "slurmd/daemon/stopping.h"

#include <signal.h>

namespace muster::slurmd {

void JobStopper::carry_out(const StopSteps& e) {
  if (e.stop && soon_.contains(e.job)) return;  // the order was repeated
  soon_.erase(e.job);
  if (!e.stop || e.grace_seconds == 0) return now(e, false);
  signal_(e.job, SIGTSTP);
  soon_[e.job] = loop_.after(seconds(e.grace_seconds), [this, e] {
    const auto timer = std::move(soon_[e.job]);
    soon_.erase(e.job);
    now(e, true);
  });
}

void JobStopper::now(const StopSteps& e, bool later) {
  signal_(e.job, e.stop ? SIGSTOP : SIGCONT);
  done_(e, later);
}

}  // namespace muster::slurmd
