// The end of an allocation that its command (salloc, srun) asked for itself.
#pragma once

#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// The job ends with `wait_status`; one that was over before is no error.
void give_back(Session& session, JobId job, int32_t wait_status, const os::CliLog& log);

// While it waits for its nodes. Another session: the first is waiting for its answer.
void cancel(const ClientConf& conf, JobId job);

// A job that was made, and whose grant will not be heard of because of `error`, the connection's end: it would wait, and then run,
// for nobody. Does nothing at an error of another kind, which the controller gave after it was done with the job.
void cancel_unanswered(const ClientConf& conf, JobId job, const Error& error);

// What holds a waiting job back, if it is more than others being first: "Partition in DOWN state". "": nothing to tell. Another
// session here too.
std::string notice_of(const ClientConf& conf, JobId job);

}  // namespace muster::cli
