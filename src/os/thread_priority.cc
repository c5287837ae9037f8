#include "os/thread_priority.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace muster::os {

bool step_back(int by) {
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  if (now == -1 && errno != 0) return false;
  return ::setpriority(PRIO_PROCESS, 0, std::min(now + by, 19)) == 0;
}

}  // namespace muster::os
