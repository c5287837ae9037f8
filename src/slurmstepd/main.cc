// slurmstepd: started by slurmd for each step, with a socket to it as descriptor 3, and for each file that sbcast
// sends. Manual page: slurmstepd(8).
#include "slurmstepd/entry.h"

int main(int argc, char** argv) { return muster::slurmstepd::run_slurmstepd(argc, argv, {}); }
