// What the nodes may trust about a step, before it is signed: the job's part, and the step's. Whoever manages the job's steps makes
// it of the same parts. model/step_rpc.h
#pragma once

#include "model/cluster.h"
#include "model/step_rpc.h"

namespace muster::steps {

// A launch that takes longer than this after its step was created is refused by the nodes.
inline constexpr Duration kCredentialLife = minutes(2);

// Of all steps of this run of the job. Of `nodes` nothing.
rpc::StepCredential credential_of_job(const Cluster& cluster, const Job& job);

// `resv_ports`: as text. `job_shares`: what SPANK plugins may ask about the whole job on the step's nodes goes along.
void add_step(rpc::StepCredential& c, const rpc::StepCreated& step, std::string resv_ports, Time now);
void add_job_shares(rpc::StepCredential& c, const Allocation& allocation);

}  // namespace muster::steps
