// The assembly of slurmdbd: configuration, database, sockets, signals. Only main() calls it.
#pragma once

namespace muster::slurmdbd {

int run_slurmdbd(int argc, char** argv);

}  // namespace muster::slurmdbd
