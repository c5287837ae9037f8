// What is decided about the steps of one job: whether a step may be, which part of the job's nodes it gets, what srun is told of
// it. Pure functions of JobSteps, so that whoever manages a job's steps (slurmctld, or the slurmd of its first node) decides the
// same. Who may ask is judged before, by those who know the caller; what is decided becomes true by the record that comes back.
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
  uint32_t most_steps = 0;  // MaxStepCount
  StepPorts ports;
  std::function<TopologyAddress(size_t index)> address;  // of a node of the allocation
};

struct Made {
  std::optional<Step> record;  // new, or a waiting one that runs now; none: it was asked before, and stands
  rpc::StepCreated answer;
};

// Errors: those that srun's users know; kNodesBusy and kPortsBusy may be over once other steps end.
Result<Made> create_step(const JobSteps& s, const rpc::CreateStep& c);

// A running step as sattach needs it, or the nodes of the job as sbcast does.
Result<rpc::StepCreated> step_or_nodes(const JobSteps& s, const rpc::AskCredential& c);

// What srun is told about a step of the job.
rpc::StepCreated told(const JobSteps& s, const Step& step);

// Environment and program text travel with srun; who manages the step keeps what is shown and accounted. Error: a text is too long.
Result<std::shared_ptr<StepRequest>> without_content(const StepRequest& asked);

// Whether these shares, which somebody else decided about, are within what the job holds. `used`: ports of the range kept for it.
Result<> check_claim(const Job& job, const Step& step);

}  // namespace muster::steps
