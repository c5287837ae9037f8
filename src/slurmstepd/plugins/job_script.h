// Runs the plugins beside Prolog and Epilog (spank(8), job_script), in a process for each of the two, so that a plugin that crashes takes
// nothing along. Errors go to standard error.
#pragma once

namespace muster::slurmstepd {

// `which`: "prolog" or "epilog". The environment, which is that of Prolog and Epilog, says which job it is: SLURM_JOB_ID, …, and options of
// plugins as SPANK__SLURM_SPANK_OPTION_…. Returns the exit code: 0, or 1 where a required plugin failed.
int run_job_script(const char* which, const char* plugstack, const char* plugin_dir);

}  // namespace muster::slurmstepd
