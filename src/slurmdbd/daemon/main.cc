// slurmdbd: the accounting daemon. Flags and signals of slurmdbd(8).
#include "slurmdbd/daemon/dbd.h"

int main(int argc, char** argv) { return muster::slurmdbd::run_slurmdbd(argc, argv); }
