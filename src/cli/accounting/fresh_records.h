// Reading what was just written: a command that shows accounting records first lets slurmdbd hear of what slurmctld has acknowledged.
#pragma once

#include "cli/common/client_conf.h"
#include "model/accounting.h"

namespace muster::cli {

// Returns when slurmdbd has heard of all that the controller of this cluster has acknowledged of the jobs that `filter` names (where it
// names none: of any), or after a second in all, however many endpoints took it. A filter of other clusters asks nobody; a controller that
// does not answer delays nobody, and
// what is recorded is shown then. Cost: a connection and a question.
void wait_for_records(const ClientConf& conf, const rpc::JobRecordFilter& filter);

}  // namespace muster::cli
