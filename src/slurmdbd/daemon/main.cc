// slurmdbd: the accounting daemon. Its flags and signals are those of slurmdbd(8).
#include "slurmdbd/daemon/dbd.h"

int main(int argc, char** argv) { return muster::slurmdbd::run_slurmdbd(argc, argv); }
