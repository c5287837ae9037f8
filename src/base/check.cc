#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "fatal: %s:%d: invariant does not hold: %s\n", file, line, what);
  std::abort();
}

}  // namespace muster
