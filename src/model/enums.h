// States, flags and reasons of jobs and nodes, with the names that users see. Guides: job_state_codes, job_reason_codes; node states:
// sinfo(1). The numbers are in the event log, so they are append-only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// ---- jobs
enum class JobState : uint8_t {
  kPending,
  kRunning,
  kSuspended,
  kCompleted,
  kCancelled,
  kFailed,
  kTimeout,
  kNodeFail,
  kPreempted,
  kBootFail,
  kDeadline,
  kOutOfMemory,
};
inline constexpr int kJobStateCount = 12;

// Flags set beside the base state; some are shown instead of it, as job_state_codes says.
enum JobFlag : uint32_t {
  kJobCompleting = 1u << 0,   // processes or epilogs remain on some node
  kJobConfiguring = 1u << 1,  // nodes boot or the prolog runs
  kJobLaunchFailed = 1u << 2,
  kJobRequeued = 1u << 3,  // ends now, will be pending again once its nodes are released
  kJobRequeueHold = 1u << 4,
  kJobResizing = 1u << 5,
  kJobReconfigFail = 1u << 6,
  kJobRevoked = 1u << 7,
  kJobSpecialExit = 1u << 8,
  kJobSignaling = 1u << 9,
  kJobStageOut = 1u << 10,
  kJobStopped = 1u << 11,
  kJobPowerUpNode = 1u << 12,
  kJobResvDelHold = 1u << 13,
  kJobExpediting = 1u << 14,
  kJobHeldByUser = 1u << 15,  // Muster's own: who may release a held job
  kJobHeldByAdmin = 1u << 16,
  kJobPriorityFixed = 1u << 18,  // by --priority or scontrol: it does not move with time
  kJobNeverCancelled = 1u << 17,
};

constexpr bool is_finished(JobState s) { return s >= JobState::kCompleted; }
std::string_view job_state_name(JobState s);  // "PENDING"
std::string_view job_state_code(JobState s);  // "PD"
// What squeue shows: COMPLETING, CONFIGURING, REQUEUED … take the place of the base state.
std::string_view job_state_shown(JobState s, uint32_t flags);
std::string_view job_state_shown_code(JobState s, uint32_t flags);
// Reads a name or code of a base state or a flag, in any letter case ("pd", "PENDING", "CG"). For filters.
struct JobStateFilter {
  uint32_t states = 0;  // bit per JobState
  uint32_t flags = 0;   // JobFlag bits
};
std::optional<JobStateFilter> parse_job_state(std::string_view name);

enum class Reason : uint16_t {
#define MUSTER_REASON(name, text) name,
#include "model/reason.def"
#undef MUSTER_REASON
};
std::string_view reason_name(Reason r);
std::optional<Reason> parse_reason(std::string_view name);

// ---- nodes
enum class NodeState : uint8_t { kUnknown, kDown, kIdle, kAllocated, kError, kMixed, kFuture };

enum NodeFlag : uint32_t {
  kNodeDrain = 1u << 0,
  kNodeFail = 1u << 1,
  kNodeCompleting = 1u << 2,
  kNodeNoRespond = 1u << 3,
  kNodePoweredDown = 1u << 4,         // ~
  kNodePoweringUp = 1u << 5,          // #
  kNodePoweringDown = 1u << 6,        // %
  kNodePowerDownRequested = 1u << 7,  // !
  kNodePowerSave = 1u << 8,           // under power management (CLOUD)
  kNodeMaint = 1u << 9,               // $
  kNodeRebootRequested = 1u << 10,    // @
  kNodeRebootIssued = 1u << 11,       // ^
  kNodePlanned = 1u << 12,            // -
  kNodeReserved = 1u << 13,
  kNodeCloud = 1u << 14,
  kNodeDynamicNorm = 1u << 15,
  kNodeDynamicFuture = 1u << 16,
  kNodeInvalid = 1u << 17,  // INVALID_REG
  kNodeBlocked = 1u << 18,
  kNodeExternal = 1u << 19,
};

struct NodeStateText {
  std::string_view base;  // "idle", "mixed", "draining" … lower case, without suffix
  std::string_view code;  // the short form: "idle", "mix", "drng"
  char suffix = 0;        // one of *~#!%$@^- or 0
};
// The one word that sinfo shows for a state (drained, draining, fail, inval, comp …) and its suffix.
NodeStateText node_state_text(NodeState base, uint32_t flags, bool has_jobs);
// scontrol's form: "IDLE+CLOUD+POWERED_DOWN", "MIXED+DRAIN", "DOWN+DRAIN+NOT_RESPONDING".
std::string node_state_long(NodeState base, uint32_t flags);

enum class PartitionState : uint8_t { kUp, kDown, kDrain, kInactive };
std::string_view partition_state_name(PartitionState s);  // "UP"

}  // namespace muster
