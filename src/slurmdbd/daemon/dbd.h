// The assembly of slurmdbd: configuration, database, sockets, signals. main() and nothing else calls it.
#pragma once

namespace muster::slurmdbd {

int run_slurmdbd(int argc, char** argv);

}  // namespace muster::slurmdbd
