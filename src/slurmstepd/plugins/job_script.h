// The plugins beside Prolog and Epilog (spank(8), job_script): a process of its own for each, so that one that crashes takes
// nothing along. What is wrong goes to standard error.
#pragma once

namespace muster::slurmstepd {

// `which`: "prolog" or "epilog". The job is what the environment says that Prolog and Epilog get: SLURM_JOB_ID, …, and
// options of plugins as SPANK__SLURM_SPANK_OPTION_…. The exit code: 0, or 1 where a required plugin failed.
int run_job_script(const char* which, const char* plugstack, const char* plugin_dir);

}  // namespace muster::slurmstepd
