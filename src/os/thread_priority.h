// Priorities among a daemon's threads.
#pragma once

namespace muster::os {

// The calling thread lets others go first where processors are short, as nice(1) does for processes: `by` steps of nice, at most to 19.
// Returns false where the system does not allow it; then nothing has changed. setpriority(2) is by thread on Linux.
bool step_back(int by);

}  // namespace muster::os
