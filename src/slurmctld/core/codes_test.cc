// Every state, flag and reason of the guides job_state_codes and job_reason_codes: which can occur here, with the test that
// shows it, and what the others wait for. The guides are in $MUSTER_REFERENCE or beside the repository; without them only the
// named tests are looked for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "model/enums.h"

namespace muster {
namespace {

constexpr const char* kLife = "src/slurmctld/core/joblife_test.cc";
constexpr const char* kPlan = "src/sched/planner_test.cc";

struct Shown {
  std::string_view code;
  const char* file;   // nullptr: cannot occur yet
  const char* text;   // what stands in that file; else the feature it waits for
};

constexpr Shown kStates[] = {
    {"BOOT_FAIL", kLife, "JobState::kBootFail"},
    {"CANCELLED", "src/slurmctld/core/jobs_test.cc", "JobState::kCancelled"},
    {"COMPLETED", "src/slurmctld/core/jobs_test.cc", "JobState::kCompleted"},
    {"DEADLINE", kLife, "JobState::kDeadline"},
    {"FAILED", kLife, "JobState::kFailed"},
    {"NODE_FAIL", kLife, "JobState::kNodeFail"},
    {"OUT_OF_MEMORY", kLife, "JobState::kOutOfMemory"},
    {"PENDING", kLife, "JobState::kPending"},
    {"PREEMPTED", nullptr, "preemption"},
    {"RUNNING", "test/cluster/test_job_life.py", "RUNNING"},
    {"SUSPENDED", "test/cluster/test_job_life.py", "SUSPENDED"},
    {"TIMEOUT", kLife, "JobState::kTimeout"},
    // flags
    {"COMPLETING", kLife, "kJobCompleting"},
    {"CONFIGURING", kLife, "kJobConfiguring"},
    {"EXPEDITING", nullptr, "expedited requeue"},
    {"LAUNCH_FAILED", kLife, "kJobLaunchFailed"},
    {"POWER_UP_NODE", kLife, "kJobPowerUpNode"},
    {"RECONFIG_FAIL", nullptr, "changeable node features"},
    {"REQUEUED", "src/slurmctld/core/jobs_test.cc", "kJobRequeued"},
    {"REQUEUE_FED", nullptr, "federations"},
    {"REQUEUE_HOLD", kLife, "HoldsTheJobForItsOwner"},
    {"RESIZING", "src/slurmctld/core/resize_test.cc", "kJobResizing"},
    {"RESV_DEL_HOLD", nullptr, "reservations"},
    {"REVOKED", nullptr, "federations"},
    {"SIGNALING", nullptr, "nothing: a signal is an order, not a state"},
    {"SPECIAL_EXIT", kLife, "kJobSpecialExit"},
    {"STAGE_OUT", nullptr, "burst buffers"},
    {"STOPPED", nullptr, "nothing: scancel --signal=STOP leaves the job RUNNING"},
    {"UPDATE_DB", nullptr, "accounting"},
};

constexpr Shown kReasons[] = {
    {"AccountingPolicy", nullptr, "accounting"},
    {"AccountNotAllowed", nullptr, "accounting"},
    {"BadConstraints", "src/sched/backfill_test.cc", "Reason::kBadConstraints"},
    {"BeginTime", "src/slurmctld/core/waiting_test.cc", "Reason::kBeginTime"},
    {"Cleaning", "src/sched/pending.cc", "Reason::kCleaning"},
    {"Constraints", nullptr, "nothing: BadConstraints or ReqNodeNotAvail says which"},
    {"DeadLine", kLife, "Reason::kDeadLine"},
    {"Dependency", "test/cluster/test_submit.py", "\"Dependency\""},
    {"DependencyNeverSatisfied", "src/slurmctld/core/waiting_test.cc", "Reason::kDependencyNeverSatisfied"},
    {"FedJobLock", nullptr, "federations"},
    {"InactiveLimit", nullptr, "watching for allocations whose command is gone"},
    {"InvalidAccount", nullptr, "accounting"},
    {"InvalidQOS", nullptr, "accounting"},
    {"JobArrayTaskLimit", kPlan, "Reason::kJobArrayTaskLimit"},
    {"JobHeldAdmin", "src/slurmctld/core/waiting_test.cc", "Reason::kJobHeldAdmin"},
    {"JobHeldUser", "src/slurmctld/core/waiting_test.cc", "Reason::kJobHeldUser"},
    {"JobHoldMaxRequeue", kLife, "Reason::kJobHoldMaxRequeue"},
    {"JobLaunchFailure", kLife, "Reason::kJobLaunchFailure"},
    {"Licenses", nullptr, "licences"},
    {"NodeDown", kLife, "Reason::kNodeDown"},
    {"NonZeroExitCode", kLife, "Reason::kNonZeroExitCode"},
    {"None", "src/slurmctld/core/waiting_test.cc", "Reason::kNone"},
    {"OutOfMemory", kLife, "Reason::kOutOfMemory"},
    {"PartitionConfig", nullptr, "nothing: PartitionNodeLimit or PartitionTimeLimit says which"},
    {"PartitionDown", kPlan, "Reason::kPartitionDown"},
    {"PartitionInactive", kPlan, "Reason::kPartitionInactive"},
    {"PartitionNodeLimit", kPlan, "Reason::kPartitionNodeLimit"},
    {"PartitionTimeLimit", kPlan, "Reason::kPartitionTimeLimit"},
    {"Priority", kPlan, "Reason::kPriority"},
    {"Prolog", "src/slurmctld/core/programs_test.cc", "Reason::kProlog"},
    {"ReqNodeNotAvail", kPlan, "Reason::kReqNodeNotAvail"},
    {"Reservation", nullptr, "reservations"},
    {"ReservationDeleted", nullptr, "reservations"},
    {"Resources", kPlan, "Reason::kResources"},
    {"SchedDefer", nullptr, "SchedulerParameters=defer"},
    {"SystemFailure", nullptr, "nothing: NodeDown or JobLaunchFailure says which"},
    {"TimeLimit", kLife, "Reason::kTimeLimit"},
};

// Whole families of reasons that wait for one feature.
constexpr struct {
  const char* pattern;
  const char* needs;
} kFamilies[] = {{"(Assoc|QOS).*", "accounting"}, {"Max.*(Per|Limit).*", "accounting"}, {"BurstBuffer.*", "burst buffers"}, {"Association.*", "accounting"}};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string guide(const std::string& name) {
  const char* env = std::getenv("MUSTER_REFERENCE");
  for (std::string root : {std::string(env ? env : ""), std::string("../shared/reference")})
    if (std::string text = contents(root + "/guides/" + name); !text.empty()) return text;
  return {};
}

template <size_t N>
const Shown* find(const Shown (&rows)[N], std::string_view code) {
  for (const Shown& r : rows)
    if (r.code == code) return &r;
  return nullptr;
}

template <size_t N>
void expect_shown(const Shown (&rows)[N]) {
  std::map<std::string, std::string> files;
  for (const Shown& r : rows) {
    if (!r.file) continue;
    std::string& text = files[r.file];
    if (text.empty()) text = contents(r.file);
    EXPECT_NE(text.find(r.text), std::string::npos) << r.code << ": " << r.file << " has no " << r.text;
  }
}

TEST(Codes, WhatCanOccurIsShownByATest) {
  if (contents(kLife).empty()) GTEST_SKIP() << "not started in the repository's root";
  expect_shown(kStates);
  expect_shown(kReasons);
}

TEST(Codes, EveryStateAndFlagOfTheGuideHasARow) {
  std::string text = guide("job_state_codes.txt");
  if (text.empty()) GTEST_SKIP() << "no reference guides";
  std::regex row("\\n([A-Z_]{4,}) +[a-z]");
  size_t found = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it, ++found)
    EXPECT_TRUE(find(kStates, (*it)[1].str())) << (*it)[1];
  EXPECT_GE(found, 25u);
}

TEST(Codes, EveryReasonOfTheGuideHasARow) {
  std::string text = guide("job_reason_codes.txt");
  if (text.empty()) GTEST_SKIP() << "no reference guides";
  std::regex row("• ([A-Za-z]+) —");
  size_t found = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it, ++found) {
    std::string code = (*it)[1];
    bool family = false;
    for (const auto& f : kFamilies) family = family || std::regex_match(code, std::regex(f.pattern));
    EXPECT_TRUE(find(kReasons, code) || family) << code;
    EXPECT_TRUE(parse_reason(code)) << code << " is no reason that squeue knows";
  }
  EXPECT_GE(found, 150u);
}

}  // namespace
}  // namespace muster
