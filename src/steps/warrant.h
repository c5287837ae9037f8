// Warrants: what slurmctld lets the slurmd of a job's first node sign, and how every node checks what that slurmd signed. Signatures
// are net/credential.h's; here is what they are about. Who has the private key of a warrant can start steps of that one user, in
// that one run of a job, within what the job holds, until the warrant expires or the run has ended: what the user may do anyway.
#pragma once

#include <string>

#include "base/result.h"
#include "model/cluster.h"
#include "model/step_rpc.h"

namespace muster::steps {

// It is renewed while the job runs; a job with a limit has none that lasts much longer.
inline constexpr Duration kWarrantLife = minutes(7 * 24 * 60), kWarrantRenewal = minutes(24 * 60), kAfterJobEnds = minutes(60);

// `key`: the public key of its first node's slurmd. The job has its allocation.
rpc::StepWarrant make_warrant(const Cluster& cluster, const Job& job, const std::string& key, Time now);

// Whether a node, which belongs to `cluster`, may act on a credential that was signed with the key of `w`. Both signatures are
// checked. What stands in the job's part is the warrant's to the letter; each node is one of the job's, with CPUs, devices and memory
// within what the job holds there; and it is for a step of the job, which the batch script is not.
Result<> check_warranted(const rpc::StepCredential& c, const rpc::StepWarrant& w, const std::string& cluster, Time now);

}  // namespace muster::steps
