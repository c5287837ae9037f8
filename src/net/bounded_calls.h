// BoundedCalls: calls into a library that may block for ever (libmunge, while munged is stopped), made on a thread of their own. The
// caller waits for as long as `patience`; while one call is stuck, the next ones are given up at once.
//
// A service that is slow again and again would still take that long of its caller each time, and any local user can make munged slow.
// Where a probe is given, one slow call is enough: from then on every call is given up at once, while the thread probes after pauses
// that grow (net/backoff.h), until a probe was quick. The pauses begin small again after kForgiven without a slow call. So a loop's
// thread loses at most one patience every ten seconds.
//
// May be used from any thread. Cost: two changes of threads for a call, about 20 µs. The thread starts with the first call; a stuck one
// is left behind when the object is destroyed.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"

namespace muster::net {

struct CallFigures {
  Duration patience = seconds(1);
  Duration quick = milliseconds(100);
  Duration first_pause = milliseconds(20), longest_pause = seconds(10);
};

class BoundedCalls {
 public:
  static constexpr Duration kForgiven = seconds(10);

  explicit BoundedCalls(CallFigures figures = {});
  ~BoundedCalls();
  BoundedCalls(const BoundedCalls&) = delete;
  BoundedCalls& operator=(const BoundedCalls&) = delete;

  // Returns true when `call` has run. False: it did not end in time, or will not be begun. It may run on after that, so it must own
  // what it touches. `probe` asks the same service for something of no consequence, any number of times; without one, slowness alone is
  // no reason to give up a call.
  bool run(std::function<void()> call, std::function<void()> probe = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace muster::net
