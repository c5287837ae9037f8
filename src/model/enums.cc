#include "model/enums.h"

#include "base/text.h"

namespace muster {
namespace {

struct StateName {
  std::string_view name, code;
};
constexpr StateName kStates[kJobStateCount] = {
    {"PENDING", "PD"}, {"RUNNING", "R"},    {"SUSPENDED", "S"},  {"COMPLETED", "CD"}, {"CANCELLED", "CA"}, {"FAILED", "F"},
    {"TIMEOUT", "TO"}, {"NODE_FAIL", "NF"}, {"PREEMPTED", "PR"}, {"BOOT_FAIL", "BF"}, {"DEADLINE", "DL"},  {"OUT_OF_MEMORY", "OOM"},
};

struct FlagName {
  uint32_t flag;
  std::string_view name, code;
};
// Flags that squeue and sacct show in place of the base state. The first one that is set wins.
constexpr FlagName kShownFlags[] = {
    {kJobCompleting, "COMPLETING", "CG"},     {kJobStageOut, "STAGE_OUT", "SO"},  {kJobConfiguring, "CONFIGURING", "CF"},
    {kJobResizing, "RESIZING", "RS"},         {kJobRequeued, "REQUEUED", "RQ"},   {kJobRequeueHold, "REQUEUE_HOLD", "RH"},
    {kJobSpecialExit, "SPECIAL_EXIT", "SE"},  {kJobStopped, "STOPPED", "ST"},     {kJobRevoked, "REVOKED", "RV"},
    {kJobResvDelHold, "RESV_DEL_HOLD", "RD"}, {kJobSignaling, "SIGNALING", "SI"},
};
// Flags known to filters and to the REST interface, but never shown in place of the base state.
constexpr FlagName kOtherFlags[] = {
    {kJobLaunchFailed, "LAUNCH_FAILED", ""},
    {kJobReconfigFail, "RECONFIG_FAIL", ""},
    {kJobPowerUpNode, "POWER_UP_NODE", ""},
    {kJobExpediting, "EXPEDITING", ""},
};

const FlagName* shown_flag(uint32_t flags) {
  for (const FlagName& f : kShownFlags)
    if (flags & f.flag) return &f;
  return nullptr;
}

constexpr std::string_view kReasons[] = {
#define MUSTER_REASON(name, text) text,
#include "model/reason.def"
#undef MUSTER_REASON
};

bool named(std::string_view word, std::string_view name, std::string_view code) {
  return iequals(word, name) || (!code.empty() && iequals(word, code));
}

}  // namespace

std::string_view job_state_name(JobState s) {
  auto i = static_cast<size_t>(s);
  return i < kJobStateCount ? kStates[i].name : std::string_view("?");
}

std::string_view job_state_code(JobState s) {
  auto i = static_cast<size_t>(s);
  return i < kJobStateCount ? kStates[i].code : std::string_view("?");
}

std::string_view job_state_shown(JobState s, uint32_t flags) {
  const FlagName* f = shown_flag(flags);
  return f ? f->name : job_state_name(s);
}

std::string_view job_state_shown_code(JobState s, uint32_t flags) {
  const FlagName* f = shown_flag(flags);
  return f ? f->code : job_state_code(s);
}

std::optional<JobStateFilter> parse_job_state(std::string_view name) {
  for (int i = 0; i < kJobStateCount; ++i)
    if (named(name, kStates[i].name, kStates[i].code)) return JobStateFilter{.states = 1u << i};
  for (const FlagName& f : kShownFlags)
    if (named(name, f.name, f.code)) return JobStateFilter{.flags = f.flag};
  for (const FlagName& f : kOtherFlags)
    if (named(name, f.name, f.code)) return JobStateFilter{.flags = f.flag};
  return std::nullopt;
}

std::string_view reason_name(Reason r) {
  auto i = static_cast<size_t>(r);
  return i < std::size(kReasons) ? kReasons[i] : std::string_view("?");
}

std::optional<Reason> parse_reason(std::string_view name) {
  for (size_t i = 0; i < std::size(kReasons); ++i)
    if (iequals(name, kReasons[i])) return static_cast<Reason>(i);
  return std::nullopt;
}

std::string_view partition_state_name(PartitionState s) {
  switch (s) {
    case PartitionState::kUp: return "UP";
    case PartitionState::kDown: return "DOWN";
    case PartitionState::kDrain: return "DRAIN";
    case PartitionState::kInactive: return "INACTIVE";
  }
  return "?";
}

}  // namespace muster
