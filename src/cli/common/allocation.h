// The end of an allocation that its command (salloc, srun) asked for itself.
#pragma once

#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// The job ends with `wait_status`; one that was over before is no error.
void give_back(Session& session, JobId job, int32_t wait_status, const os::CliLog& log);

// While it waits for its nodes. Another session: the first is waiting for its answer.
void cancel(const ClientConf& conf, JobId job);

}  // namespace muster::cli
