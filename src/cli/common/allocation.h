// How a command (salloc, srun) ends an allocation that it asked for itself.
#pragma once

#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// Ends the job with `wait_status`; it is no error if the job was over before.
void give_back(Session& session, JobId job, int32_t wait_status, const os::CliLog& log);

// Cancels a job that waits for its nodes. Uses another session, because the first one is waiting for its answer.
void cancel(const ClientConf& conf, JobId job);

// Cancels a job that was made, but whose grant will not arrive because the connection ended with `error`: it would wait, and then run, for
// nobody. Does nothing for other errors, which the controller gave after it was done with the job.
void cancel_unanswered(const ClientConf& conf, JobId job, const Error& error);

// Says what holds a waiting job back, if it is more than other jobs being first: "Partition in DOWN state". "" if there is nothing to tell.
// Uses another session, too.
std::string notice_of(const ClientConf& conf, JobId job);

}  // namespace muster::cli
