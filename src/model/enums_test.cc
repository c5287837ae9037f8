#include "model/enums.h"

#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace {

TEST(JobStateNames, AreThoseOfTheManualPage) {
  EXPECT_EQ(job_state_name(JobState::kPending), "PENDING");
  EXPECT_EQ(job_state_code(JobState::kPending), "PD");
  EXPECT_EQ(job_state_name(JobState::kOutOfMemory), "OUT_OF_MEMORY");
  EXPECT_EQ(job_state_code(JobState::kOutOfMemory), "OOM");
  EXPECT_EQ(job_state_code(JobState::kNodeFail), "NF");
  EXPECT_EQ(job_state_name(static_cast<JobState>(200)), "?");
}

TEST(JobStateNames, FlagsTakeThePlaceOfTheBaseState) {
  EXPECT_EQ(job_state_shown(JobState::kRunning, 0), "RUNNING");
  EXPECT_EQ(job_state_shown(JobState::kCompleted, kJobCompleting), "COMPLETING");
  EXPECT_EQ(job_state_shown_code(JobState::kRunning, kJobConfiguring), "CF");
  EXPECT_EQ(job_state_shown_code(JobState::kCancelled, kJobCompleting | kJobRequeued), "CG");
  EXPECT_EQ(job_state_shown_code(JobState::kPending, kJobSpecialExit), "SE");
  EXPECT_EQ(job_state_shown_code(JobState::kFailed, kJobLaunchFailed),
            "F");  // a flag that squeue does not show
  EXPECT_EQ(job_state_shown(JobState::kPending, kJobHeldByUser), "PENDING");
}

TEST(JobStateNames, FiltersTakeNamesAndCodesInAnyCase) {
  EXPECT_EQ(parse_job_state("pd")->states, 1u << static_cast<int>(JobState::kPending));
  EXPECT_EQ(parse_job_state("Out_Of_Memory")->states, 1u << static_cast<int>(JobState::kOutOfMemory));
  EXPECT_EQ(parse_job_state("CG")->flags, kJobCompleting);
  EXPECT_EQ(parse_job_state("completing")->states, 0u);
  EXPECT_EQ(parse_job_state("special_exit")->flags, kJobSpecialExit);
  EXPECT_EQ(parse_job_state("launch_failed")->flags, kJobLaunchFailed);
  EXPECT_FALSE(parse_job_state("XX"));
  EXPECT_FALSE(parse_job_state(""));
}

TEST(JobStateNames, EveryStateIsFoundByItsNameAndCode) {
  std::set<std::string_view> seen;
  for (int i = 0; i < kJobStateCount; ++i) {
    auto s = static_cast<JobState>(i);
    EXPECT_TRUE(seen.insert(job_state_code(s)).second);
    EXPECT_EQ(parse_job_state(job_state_name(s))->states, 1u << i);
    EXPECT_EQ(parse_job_state(job_state_code(s))->states, 1u << i);
  }
}

TEST(ReasonNames, AreFoundAgainAndUnique) {
  std::set<std::string_view> seen;
  int count = 0;
  for (; reason_name(static_cast<Reason>(count)) != "?"; ++count) {
    std::string_view name = reason_name(static_cast<Reason>(count));
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(parse_reason(name), static_cast<Reason>(count));
  }
  EXPECT_GT(count, 150);
  EXPECT_EQ(reason_name(Reason::kNone), "None");
  EXPECT_EQ(parse_reason("resources"), Reason::kResources);
  EXPECT_FALSE(parse_reason("Nonsense"));
}

struct Shown {
  NodeState base;
  uint32_t flags;
  bool jobs;
  std::string_view word, code;
  char suffix;
};

class NodeStateShown : public testing::TestWithParam<Shown> {};

TEST_P(NodeStateShown, IsSinfosWord) {
  const Shown& p = GetParam();
  NodeStateText text = node_state_text(p.base, p.flags, p.jobs);
  EXPECT_EQ(text.base, p.word);
  EXPECT_EQ(text.code, p.code);
  EXPECT_EQ(text.suffix, p.suffix);
}

constexpr auto I = NodeState::kIdle, M = NodeState::kMixed, A = NodeState::kAllocated, D = NodeState::kDown;
INSTANTIATE_TEST_SUITE_P(
    AsObserved, NodeStateShown,
    testing::Values(Shown{I, 0, false, "idle", "idle", 0}, Shown{M, 0, true, "mixed", "mix", 0}, Shown{A, 0, true, "allocated", "alloc", 0},
                    Shown{I, kNodeDrain, false, "drained", "drain", 0}, Shown{M, kNodeDrain, true, "draining", "drng", 0},
                    Shown{A, kNodeDrain, true, "draining", "drng", 0}, Shown{A, kNodeFail, true, "failing", "failg", 0},
                    Shown{I, kNodeFail | kNodeNoRespond, false, "fail", "fail", '*'}, Shown{D, kNodeNoRespond, false, "down", "down", '*'},
                    Shown{D, kNodeDrain | kNodeNoRespond, false, "drained", "drain", '*'},
                    Shown{NodeState::kUnknown, kNodeNoRespond, false, "unknown", "unk", '*'},
                    Shown{NodeState::kUnknown, kNodeDrain | kNodeInvalid, false, "inval", "inval", 0},
                    Shown{NodeState::kFuture, 0, false, "future", "futr", 0}, Shown{I, kNodeCompleting, false, "completing", "comp", 0},
                    Shown{I, kNodeReserved, false, "reserved", "resv", 0}, Shown{I, kNodeMaint | kNodeReserved, false, "maint", "maint", 0},
                    Shown{I, kNodeDrain | kNodeMaint | kNodeReserved, false, "drained", "drain", '$'},
                    Shown{A, kNodeMaint | kNodeReserved | kNodePoweringUp, true, "allocated", "alloc", '$'},
                    Shown{A, kNodePowerDownRequested | kNodeNoRespond | kNodePoweringUp, true, "allocated", "alloc", '#'},
                    Shown{I, kNodeCloud | kNodeNoRespond | kNodePoweringUp, false, "idle", "idle", '#'},
                    Shown{I, kNodeCloud | kNodePoweredDown, false, "idle", "idle", '~'},
                    Shown{I, kNodePoweringDown, false, "idle", "idle", '%'}, Shown{I, kNodePowerDownRequested, false, "idle", "idle", '!'},
                    Shown{I, kNodeDrain | kNodePowerDownRequested, false, "drained", "drain", '!'},
                    Shown{A, kNodeRebootRequested | kNodeNoRespond | kNodePoweringUp, true, "allocated", "alloc", '@'},
                    Shown{A, kNodeDrain | kNodeRebootRequested, true, "draining", "drng", '@'},
                    Shown{D, kNodeDrain | kNodeRebootIssued, false, "reboot", "boot", '^'},
                    Shown{I, kNodePlanned, false, "planned", "plnd", 0}, Shown{M, kNodePlanned, true, "mixed", "mix", '-'}));

TEST(NodeStateLong, ListsAllThatHoldsInScontrolsOrder) {
  EXPECT_EQ(node_state_long(I, 0), "IDLE");
  EXPECT_EQ(node_state_long(I, kNodeFail | kNodeNoRespond), "IDLE+FAIL+NOT_RESPONDING");
  EXPECT_EQ(node_state_long(D, kNodeDrain | kNodeNoRespond), "DOWN+DRAIN+NOT_RESPONDING");
  EXPECT_EQ(node_state_long(NodeState::kUnknown, kNodeDrain | kNodeInvalid), "UNKNOWN+DRAIN+INVALID_REG");
  EXPECT_EQ(node_state_long(I, kNodeDrain | kNodeMaint | kNodeReserved), "IDLE+DRAIN+MAINTENANCE+RESERVED");
  EXPECT_EQ(node_state_long(I, kNodeCloud | kNodeNoRespond | kNodePoweringUp), "IDLE+CLOUD+NOT_RESPONDING+POWERING_UP");
  EXPECT_EQ(node_state_long(A, kNodePowerDownRequested | kNodeNoRespond | kNodePoweringUp),
            "ALLOCATED+POWER_DOWN+NOT_RESPONDING+POWERING_UP");
  EXPECT_EQ(node_state_long(A, kNodeRebootRequested | kNodeNoRespond | kNodePoweringUp),
            "ALLOCATED+REBOOT_REQUESTED+NOT_RESPONDING+POWERING_UP");
  EXPECT_EQ(node_state_long(I, kNodePowerSave), "IDLE");  // being under power management is no state
}

TEST(PartitionStateNames, AreUpperCase) {
  EXPECT_EQ(partition_state_name(PartitionState::kUp), "UP");
  EXPECT_EQ(partition_state_name(PartitionState::kInactive), "INACTIVE");
}

}  // namespace
}  // namespace muster
