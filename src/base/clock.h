// Clock: whom a shell asks what time it is. Code that decides never asks: it is given `now` (DESIGN 2). The daemons have the kernel's clock
// (net/loop.h), the simulator one of its own that jumps, and is set back, as its seed says.
#pragma once

#include "base/time.h"

namespace muster {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;         // the wall clock: somebody may set it back
  virtual Duration steady() const = 0;  // since some start; it never steps
};

}  // namespace muster
