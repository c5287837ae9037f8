// muster: the verbs that Slurm has no command for. They make a cluster on this machine and help its users.
#include "cli/common/command.h"
#include "muster/verbs.h"

int main(int argc, char** argv) { return muster::front::run_verb(muster::cli::arguments_of(argc, argv)); }
