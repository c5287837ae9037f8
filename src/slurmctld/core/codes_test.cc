// Every state, flag and reason of the guides job_state_codes and job_reason_codes, and of our own table: which can occur here, with the
// test that shows it, and what the others wait for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "acct/limit_rows.h"
#include "base/documented_test.h"
#include "model/enums.h"

namespace muster {
namespace {

constexpr const char* kLife = "src/slurmctld/core/joblife_test.cc";
constexpr const char* kWaiting = "src/slurmctld/core/waiting_test.cc";
constexpr const char* kPlan = "src/sched/pass/planner_test.cc";

struct Shown {
  std::string_view code;
  const char* file;  // nullptr: cannot occur yet
  const char* text;  // what stands in that file; else the feature it waits for
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
    {"PREEMPTED", "src/slurmctld/core/preempt_test.cc", "JobState::kPreempted"},
    {"RUNNING", "test/cluster/test_job_life.py", "RUNNING"},
    {"SUSPENDED", "test/cluster/test_job_life.py", "SUSPENDED"},
    {"TIMEOUT", kLife, "JobState::kTimeout"},
    // flags
    {"COMPLETING", kLife, "kJobCompleting"},
    {"CONFIGURING", kLife, "kJobConfiguring"},
    {"EXPEDITING", "src/slurmctld/core/preempt_test.cc", "kJobExpediting"},
    {"LAUNCH_FAILED", kLife, "kJobLaunchFailed"},
    {"POWER_UP_NODE", kLife, "kJobPowerUpNode"},
    {"RECONFIG_FAIL", nullptr, "changeable node features"},
    {"REQUEUED", "src/slurmctld/core/jobs_test.cc", "kJobRequeued"},
    {"REQUEUE_FED", nullptr, "federations"},
    {"REQUEUE_HOLD", kLife, "HoldsTheJobForItsOwner"},
    {"RESIZING", "src/slurmctld/core/resize_test.cc", "kJobResizing"},
    {"RESV_DEL_HOLD", "src/slurmctld/core/reservations_test.cc", "kJobResvDelHold"},
    {"REVOKED", nullptr, "federations"},
    {"SIGNALING", nullptr, "nothing: a signal is an order, not a state"},
    {"SPECIAL_EXIT", kLife, "kJobSpecialExit"},
    {"STAGE_OUT", nullptr, "burst buffers"},
    {"STOPPED", kLife, "kJobStopped"},
    {"UPDATE_DB", nullptr, "nothing: records leave by a queue of their own"},
};

constexpr Shown kReasons[] = {
    {"AccountingPolicy", nullptr, "nothing: the reason of the limit says which"},
    {"AccountNotAllowed", kWaiting, "Reason::kAccountNotAllowed"},
    {"BadConstraints", "src/sched/pass/backfill_test.cc", "Reason::kBadConstraints"},
    {"BeginTime", "src/slurmctld/core/waiting_test.cc", "Reason::kBeginTime"},
    {"Cleaning", "src/sched/rules/eligibility.cc", "Reason::kCleaning"},
    {"Constraints", nullptr, "nothing: BadConstraints or ReqNodeNotAvail says which"},
    {"DeadLine", kLife, "Reason::kDeadLine"},
    {"Dependency", "test/cluster/test_submit.py", "\"Dependency\""},
    {"DependencyNeverSatisfied", "src/slurmctld/core/waiting_test.cc", "Reason::kDependencyNeverSatisfied"},
    {"FedJobLock", nullptr, "federations"},
    {"InactiveLimit", "src/slurmctld/core/triggers_test.cc", "Reason::kInactiveLimit"},
    {"InvalidAccount", "src/slurmctld/core/accounts_test.cc", "Reason::kInvalidAccount"},
    {"InvalidQOS", "src/slurmctld/core/accounts_test.cc", "Reason::kInvalidQOS"},
    {"JobArrayTaskLimit", kPlan, "Reason::kJobArrayTaskLimit"},
    {"JobHeldAdmin", "src/slurmctld/core/waiting_test.cc", "Reason::kJobHeldAdmin"},
    {"JobHeldUser", "src/slurmctld/core/waiting_test.cc", "Reason::kJobHeldUser"},
    {"JobHoldMaxRequeue", kLife, "Reason::kJobHoldMaxRequeue"},
    {"JobLaunchFailure", kLife, "Reason::kJobLaunchFailure"},
    {"Licenses", "test/golden/licenses.expected", "later b: Licenses"},
    {"MaxMemPerLimit", "src/slurmctld/core/jobs_test.cc", "Reason::kMaxMemPerLimit"},
    {"No_suitable_topology_unit_found", "test/golden/block-sizes.expected", "later five: No_suitable_topology_unit_found"},
    {"NodeDown", kLife, "Reason::kNodeDown"},
    {"NonZeroExitCode", kLife, "Reason::kNonZeroExitCode"},
    {"None", "src/slurmctld/core/waiting_test.cc", "Reason::kNone"},
    {"OutOfMemory", kLife, "Reason::kOutOfMemory"},
    {"PartitionConfig", kPlan, "Reason::kPartitionConfig"},
    {"PartitionDown", kPlan, "Reason::kPartitionDown"},
    {"PartitionInactive", kPlan, "Reason::kPartitionInactive"},
    {"PartitionNodeLimit", kPlan, "Reason::kPartitionNodeLimit"},
    {"PartitionTimeLimit", kPlan, "Reason::kPartitionTimeLimit"},
    {"Priority", kPlan, "Reason::kPriority"},
    {"Prolog", "src/slurmctld/core/programs_test.cc", "Reason::kProlog"},
    {"QOSUsageThreshold", "src/slurmctld/core/account_rules_test.cc", "Reason::kQOSUsageThreshold"},
    {"RaisedSignal", kLife, "Reason::kFailedSignal"},
    {"ReqNodeNotAvail", kPlan, "Reason::kReqNodeNotAvail"},
    {"QOSNotAllowed", kWaiting, "Reason::kQOSNotAllowed"},
    {"Requeued", nullptr, "nothing: a job that was put back says what it waits for now"},
    {"Reservation", "src/slurmctld/core/reservations_test.cc", "Reason::kReservation"},
    {"ReservationDeleted", "src/slurmctld/core/reservations_test.cc", "Reason::kReservationDeleted"},
    {"Resources", kPlan, "Reason::kResources"},
    {"SchedDefer", "src/sched/rules/rules_test.cc", "Reason::kSchedDefer"},
    {"SystemFailure", nullptr, "nothing: NodeDown or JobLaunchFailure says which"},
    {"TimeLimit", kLife, "Reason::kTimeLimit"},
    {"launch_failed_requeued_held", kLife, "Reason::kLaunchFailedHeld"},
};

// Whole families of reasons that wait for one feature, or that another word stands for.
constexpr struct {
  const char* pattern;
  const char* needs;
} kFamilies[] = {{"BurstBuffer.*|.*BB.*", "burst buffers"},
                 {".*Energy.*", "nothing: energy has no limit that a job could wait for"},
                 {"Association(Job|Resource|Time)Limit", "nothing: the reason of the limit says which"},
                 {"QOS(Job|Resource|Time)Limit", "nothing: the reason of the limit says which"}};

// Reasons of limits of accounts. limit_codes_test.cc runs a job into each of them.
std::set<std::string> of_limits() {
  std::set<std::string> out;
  for (const acct::LimitRow& row : acct::limit_rows())
    for (Reason r :
         {row.reasons.any, row.reasons.cpu, row.reasons.mem, row.reasons.node, row.reasons.billing, row.reasons.gres, row.reasons.license})
      if (r != Reason::kNone) out.insert(std::string(reason_name(r)));
  return out;
}

// What a pattern's first group matches in a guide.
std::vector<std::string> codes_of(const std::string& topic, const std::string& pattern) {
  return documented_names(topic, "guides/" + topic + ".txt", [&](const std::string& text) {
    const std::regex row(pattern);
    std::vector<std::string> out;
    for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) out.push_back((*it)[1]);
    return out;
  });
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
    if (text.empty()) text = contents_of(r.file);
    EXPECT_NE(text.find(r.text), std::string::npos) << r.code << ": " << r.file << " has no " << r.text;
  }
}

TEST(Codes, WhatCanOccurIsShownByATest) {
  if (contents_of(kLife).empty()) GTEST_SKIP() << "not started in the repository's root";
  expect_shown(kStates);
  expect_shown(kReasons);
}

bool of_family(const std::string& code) {
  return std::ranges::any_of(kFamilies, [&](const auto& f) { return std::regex_match(code, std::regex(f.pattern)); });
}

bool cannot_occur(const std::string& code) {
  const Shown* row = find(kReasons, code);
  return row ? !row->file : of_family(code) && !of_limits().contains(code);
}

// "RESV_DEL_HOLD" is kJobResvDelHold.
std::string flag_constant(std::string_view code) {
  std::string out = "kJob";
  bool first = true;
  for (char c : code) {
    if (c != '_') out += first ? c : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    first = c == '_';
  }
  return out;
}

// And what is said not to occur is given by no code, asked for by no other test and stands in no golden file.
TEST(Codes, WhatCannotOccurIsNotThere) {
  if (contents_of(kLife).empty()) GTEST_SKIP() << "not started in the repository's root";
  std::set<std::string> named;  // as a constant
  const std::regex constant("(?:Reason::k|\\b(?=kJob))([A-Za-z]+)");
  for (const char* root : {"src/acct", "src/sched", "src/slurmctld", "src/slurmd", "src/steps"})
    for (const auto& e : std::filesystem::recursive_directory_iterator(root)) {
      if (e.path().extension() != ".cc" && e.path().extension() != ".h") continue;
      const std::string code = contents_of(e.path());
      for (std::sregex_iterator it(code.begin(), code.end(), constant), end; it != end; ++it) named.insert((*it)[1]);
    }
  std::set<std::string> golden;
  const std::regex word("[A-Za-z]+");
  for (const auto& e : std::filesystem::directory_iterator("test/golden")) {
    if (e.path().extension() != ".expected") continue;
    const std::string text = contents_of(e.path());
    for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) golden.insert(it->str());
  }
  for (const Shown& row : kStates)
    if (!row.file) EXPECT_FALSE(named.contains(flag_constant(row.code))) << row.code << " is given by the code, or a test shows it";
#define MUSTER_REASON(constant, text)                                                                                      \
  if (cannot_occur(text)) {                                                                                                \
    EXPECT_FALSE(named.contains(std::string(#constant).substr(1))) << text << " is given by the code, or a test shows it"; \
    EXPECT_FALSE(golden.contains(text)) << text << " stands in a golden file";                                             \
  }
#include "model/reason.def"
#undef MUSTER_REASON
}

// Each reason that squeue could print is one of those above.
TEST(Codes, EveryReasonOfOursIsAccountedFor) {
  const std::set<std::string> limits = of_limits();
#define MUSTER_REASON(constant, text) \
  EXPECT_EQ((find(kReasons, text) != nullptr) + limits.contains(text) + (of_family(text) && !limits.contains(text)), 1) << text;
#include "model/reason.def"
#undef MUSTER_REASON
}

TEST(Codes, EveryStateAndFlagOfTheGuideHasARow) {
  const auto codes = codes_of("job_state_codes", "\\n([A-Z_]{4,}) +[a-z]");
  for (const std::string& code : codes) EXPECT_TRUE(find(kStates, code)) << code;
  EXPECT_GE(codes.size(), 25u);
}

TEST(Codes, EveryReasonOfTheGuideHasARow) {
  const auto codes = codes_of("job_reason_codes", "• ([A-Za-z]+) —");
  for (const std::string& code : codes) {
    EXPECT_TRUE(find(kReasons, code) || of_limits().contains(code) || of_family(code)) << code;
    EXPECT_TRUE(parse_reason(code)) << code << " is no reason that squeue knows";
  }
  EXPECT_GE(codes.size(), 150u);
}

}  // namespace
}  // namespace muster
