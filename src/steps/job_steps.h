// What is decided about the steps of one job: whether a step may exist, which part of the job's nodes it gets, what srun is told of it.
// Pure functions of JobSteps, so that whoever manages a job's steps (slurmctld, or the slurmd of its first node) decides the same. Whether
// the caller may ask is judged before, where the caller is known. A decision takes effect only through the record that is returned.
// srun(1).
#pragma once

#include <functional>
#include <optional>

#include "model/cluster.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
#include "steps/step_ports.h"

namespace muster::steps {

struct JobSteps {
  const Cluster& cluster;  // the job's nodes at least, and its partition
  const Job& job;          // running, with its allocation
  Time now{};
  StepBounds bounds;
  StepPorts ports;
  std::function<TopologyAddress(size_t index)> address;  // of a node of the allocation
  // A step over components of a heterogeneous job: no lower number than that of its parts before, and where this part's ranks begin.
  uint32_t least_number = 0, first_rank = 0;
};

struct Made {
  std::optional<Step> record;  // new, or a waiting one that runs now; none: it was asked before, and stands
  rpc::StepCreated answer;
};

// The errors are ones that srun's users know; kNodesBusy and kPortsBusy may pass once other steps end.
Result<Made> create_step(const JobSteps& steps, const rpc::CreateStep& ask);

// The answer for sattach, about a running step, or for sbcast, about the nodes of the job.
Result<rpc::StepCreated> step_or_nodes(const JobSteps& s, const rpc::AskCredential& c);

// What srun is told about a step of the job.
rpc::StepCreated told(const JobSteps& steps, const Step& step);

// Environment and program text travel with srun; the manager of the step keeps only what is shown and accounted. Error: a text is too long.
Result<std::shared_ptr<StepRequest>> without_content(const StepRequest& asked);

// Whether these shares, which another manager decided, are within what the job holds, and the ports within the range kept for it.
Result<> check_claim(const Job& job, const Step& step);

}  // namespace muster::steps
