// The assembly of the controller: configuration, state, threads, sockets, signals. main() and nothing else calls it.
#pragma once

namespace muster::slurmctld {

int run_slurmctld(int argc, char** argv);

}  // namespace muster::slurmctld
