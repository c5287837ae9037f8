// Invariants of our own code. A failed check ends the process with file, line and text: going on would act on a state nobody designed.
// Input from outside is never checked this way; it gives a Result.
#pragma once

namespace muster {
[[noreturn]] void check_failed(const char* file, int line, const char* what);
}

#define MUSTER_CHECK(cond) ((cond) ? static_cast<void>(0) : ::muster::check_failed(__FILE__, __LINE__, #cond))
