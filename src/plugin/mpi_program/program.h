// What every MPI module's program begins and ends with (src/plugin/mpi/README.md).
#pragma once

#include <functional>
#include <string>

#include "net/loop.h"

namespace muster::mpi {

// Checks how the program was started, leaves signals to the tasks, runs `serve` with the socket to slurmstepd until that stops the loop,
// and empties the directory that it was given. Returns the exit status; does not wait for threads.
int run_module(int argc, char** argv, const std::function<void(net::Loop& loop, int fd)>& serve);

}  // namespace muster::mpi
