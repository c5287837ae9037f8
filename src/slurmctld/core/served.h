// What the daemon serves without a turn of the core: from a snapshot, about itself, or with the node that manages a job's steps. Each
// function judges who may have the answer (rights.def, privacy.h) and says what it is; rows and explanations have files of their own
// (row_query.h, explain.h).
#pragma once

#include <optional>
#include <string>

#include "model/rpc.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// For srun inside a job and srun --jobid. Errors: kInvalidJobId, kAccessDenied, kAlreadyDone, kJobPending.
Result<rpc::Allocated> attach_allocation(const Cluster& cluster, const Privacy& privacy, const Rights& rights,
                                         const rpc::AttachAllocation& request);

// Which text a QueryText asks for: one that the daemon writes, or the content of a job, by the hash under which it is kept.
struct TextWanted {
  enum class Source : uint8_t { kShownConfig, kWrittenConfig, kContent } source{};
  bool passwords = false;  // of the written configuration
  std::string hash;        // of the content
};
Result<TextWanted> text_wanted(const Cluster& cluster, const Privacy& privacy, const Rights& rights, const rpc::QueryText& request);

// Whether a node may fetch this content: it may only for jobs that it has a part in.
Result<> may_fetch(const Cluster& cluster, NodeId node, const rpc::FetchContent& what);

Result<> may_query(const Rights& rights, const rpc::QueryStatistics& request);

// The node that decides about the steps of this job (docs/adr/0011), where there is one and the caller has that right to the job. For a
// caller whom the core would refuse no node is asked: the core refuses.
std::optional<NodeId> manager_to_ask(const Cluster& cluster, const Settings& settings, const Caller& who, Right right, JobId id);

}  // namespace muster::slurmctld
