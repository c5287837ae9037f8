// Warrants: what slurmctld lets the slurmd of a job's first node sign, and how every node checks what that slurmd signed. net/credential.h
// makes the signatures; this file says what they are about. Whoever has the private key of a warrant can start steps of that one user, in
// that one run of a job, within what the job holds, until the warrant expires or the run has ended: nothing that the user may not do
// anyway.
#pragma once

#include <string>

#include "base/result.h"
#include "model/cluster.h"
#include "model/step_rpc.h"

namespace muster::steps {

// A warrant is renewed while the job runs. While a job with a time limit runs, it expires at most kAfterJobEnds after that limit.
inline constexpr Duration kWarrantLife = minutes(7 * 24 * 60), kWarrantRenewal = minutes(24 * 60), kAfterJobEnds = minutes(60);

// `key`: the public key of the first node's slurmd. The job must have its allocation.
rpc::StepWarrant make_warrant(const Cluster& cluster, const Job& job, const std::string& key, Time now);

// Whether a node, which belongs to `cluster`, may act on a credential that was signed with the key of `warrant`. Checks both signatures;
// that the job's part is the warrant's to the letter; that each node is one of the job's, with CPUs, devices and memory within what the
// job holds there; and that the credential is for a step of the job, which the batch script is not.
Result<> check_warranted(const rpc::StepCredential& credential, const rpc::StepWarrant& warrant, const std::string& cluster, Time now);

}  // namespace muster::steps
