// slurmctld: the controller daemon. Flags and signals of slurmctld(8).
#include "slurmctld/daemon/controller.h"

int main(int argc, char** argv) { return muster::slurmctld::run_slurmctld(argc, argv); }
