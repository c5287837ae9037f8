// `slurmstepd namespace …`: what slurmd has done to a job's namespace, in a process of its own since it may take long: scripts of the site,
// and all that users leave. What goes wrong is said on standard error, with exit code 1. job_container.conf(5)
//
//   namespace make BASE JOB UID DIRS SHARED INIT SCRIPT SECONDS   DIRS separated by commas; SHARED 0 or 1; INIT and SCRIPT may be ""
//   namespace close BASE JOB EPILOG SECONDS
//   namespace sweep BASE
#pragma once

namespace muster::slurmstepd {

int namespace_program(int argc, char** argv);  // without the two words

}  // namespace muster::slurmstepd
