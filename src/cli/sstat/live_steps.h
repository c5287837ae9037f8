// Which running steps sstat was asked about, and what their nodes say that those have used until now. The controller says which steps run
// and gives a credential to watch one; the nodes are asked beside each other. sstat(1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/common/session.h"
#include "model/step_usage.h"

namespace muster::cli {

// The job's steps that are shown: the named one; all, the batch script first; or the lowest numbered one. kInvalidJobId where the job is
// none or is not the caller's, kNotFound where the named step does not run, kAlreadyDone where none of a job's does.
Result<std::vector<StepRow>> steps_to_show(Session& session, const rpc::JobSelector& named, bool all);

struct NodeUse {
  std::string node;
  std::vector<int32_t> pids;
};
struct LiveStep {
  Sluid sluid{};
  StepUsagePtr usage;  // of all nodes; null: nothing is gathered
  std::vector<NodeUse> nodes;
  std::vector<std::string> silent;  // what nodes that do not answer are, and why: "n2: Unable to contact …"
};
Result<LiveStep> ask_nodes(Session& session, const StepRow& step);

}  // namespace muster::cli
