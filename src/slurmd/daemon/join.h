// slurmd -Z and -F: which node this is says slurmctld (model/join_rpc.h), before anything else of slurmd begins, for spool, pid file and log are
// named after the node. slurmd(8), guide dynamic_nodes.
#pragma once

#include "base/result.h"
#include "config/slurm_conf.h"
#include "model/join_rpc.h"
#include "slurmd/daemon/arguments.h"

namespace muster::slurmd {

// Fills in node_name, node_line, detect_gpus and notes. Waits for a slurmctld that does not answer, and says so once. With -G nobody is asked.
// Errors: the files, this machine, and what slurmctld refuses.
Result<> join_cluster(Arguments& arguments);

// What -F says of this machine, also to be let in by a token, when there may be no configuration yet: `config` is null then, and of what
// SlurmdParameters say of sockets only --parameters counts.
Result<rpc::JoinNode> future_request(const Arguments& arguments, const config::Config* config);

}  // namespace muster::slurmd
