// What MailProg is called with: the subject of a mail about a job and the variables in the program's environment, as Slurm
// words them. Pure. slurm.conf(5) MailProg, sbatch(1) --mail-type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurmctld/core/core.h"
#include "slurmctld/daemon/job_variables.h"

namespace muster::slurmctld {

// "Slurm Job_id=7 Name=train Ended, Run time 00:10:02, COMPLETED, ExitCode 0". `now`: for the run time of a running job.
std::string mail_subject(const SendMail& mail, Time now);

std::vector<std::string> mail_environment(const SendMail& mail, const JobNames& names, Time now);

}  // namespace muster::slurmctld
