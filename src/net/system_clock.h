// SystemClock: the kernel's clocks, for daemons.
#pragma once

#include "base/clock.h"
#include "net/loop.h"

namespace muster::net {

class SystemClock final : public Clock {
 public:
  Time now() const override { return Loop::now(); }
  Duration steady() const override { return Loop::monotonic(); }
};

}  // namespace muster::net
