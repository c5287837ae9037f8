// What the nodes may trust about a step, before it is signed: a part about the job, and a part about the step. Whoever manages the job's
// steps builds it from the same parts. model/step_rpc.h
#pragma once

#include "model/cluster.h"
#include "model/step_rpc.h"

namespace muster::steps {

// A launch that takes longer than this after its step was created is refused by the nodes.
inline constexpr Duration kCredentialLife = minutes(2);

// The part that all steps of this run of the job have in common; `nodes` stays empty.
rpc::StepCredential credential_of_job(const Cluster& cluster, const Job& job);

// Adds what only this step has; `resv_ports`: as text.
void add_step(rpc::StepCredential& credential, const rpc::StepCreated& step, std::string resv_ports, Time now);
// Adds what SPANK plugins may ask about the whole job on the step's nodes.
void add_job_shares(rpc::StepCredential& credential, const Allocation& allocation);

}  // namespace muster::steps
