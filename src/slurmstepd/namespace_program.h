// `slurmstepd namespace …`: what slurmd has done to a job's namespaces, in a process of its own since it may take long: scripts of the site,
// and all that users leave. What goes wrong is said on standard error, with exit code 1. job_container.conf(5), namespace.yaml(5)
//
//   namespace make BASE JOB UID KINDS INIT USERS SCRIPT SECONDS [PATH BASE OPTIONS TMPFS]…
//       KINDS of shared, pid and user, separated by commas; INIT, USERS and SCRIPT may be "", as the BASE and the OPTIONS of a directory;
//       TMPFS 0 or 1
//   namespace close JOB EPILOG SECONDS BASE…
//   namespace sweep BASE
//   namespace first      the first process of a job's namespace of processes: waits for orphans until it is killed
#pragma once

namespace muster::slurmstepd {

int namespace_program(int argc, char** argv);  // without the two words

}  // namespace muster::slurmstepd
