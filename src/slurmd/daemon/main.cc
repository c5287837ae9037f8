// slurmd: the node daemon. Flags and signals of slurmd(8).
#include "slurmd/daemon/slurmd.h"

int main(int argc, char** argv) { return muster::slurmd::run_slurmd(argc, argv); }
