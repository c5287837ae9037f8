// slurmstepd for steps with plugins (libexec/muster/slurmstepd), and, as `slurmstepd spank prolog|epilog`, the process in which
// slurmd calls the plugins beside a job's Prolog and Epilog.
#include <cstring>

#include "slurmstepd/entry.h"
#include "slurmstepd/plugins/job_script.h"
#include "slurmstepd/plugins/spank_step.h"

int main(int argc, char** argv) {
  using namespace muster::slurmstepd;
  if (argc == 5 && !strcmp(argv[1], "spank")) return run_job_script(argv[2], argv[3], argv[4]);
  return run_slurmstepd(argc, argv, make_spank);
}
