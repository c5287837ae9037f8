#include "muster/explain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::front {
namespace {

const Time kNow = from_unix(1'000'000);

std::string nobody(Uid uid) { return "user" + std::to_string(uid.value); }

JobBrief a_job(uint32_t id, std::string user, std::string name) {
  JobBrief b;
  b.id = JobId(id);
  b.user = std::move(user);
  b.name = std::move(name);
  b.partition = "main";
  b.nodes = 2;
  return b;
}

JobExplanation a_waiting_job() {
  JobExplanation e;
  e.now = kNow;
  e.job = a_job(42, "ann", "train");
  e.asks = "4 nodes, gpu:8 per node, 8:00:00";
  e.submitted = kNow - minutes(90);
  e.reason = Reason::kResources;
  PartitionView p;
  p.name = "main";
  p.nodes = 16;
  p.needed = 4;
  p.tasks_needed = 8;
  p.tasks_free = 3;
  p.causes = {{NodeCause::kDrained, 2, "n[3,7]", "bad GPU; memtest", {}, {}},
              {NodeCause::kDevicesInUse, 5, "n[8-12]", "", kNow + minutes(60), kNow + minutes(180)},
              {NodeCause::kNotIdle, 1, "n13", "", kTimeInfinite, kTimeInfinite},
              {NodeCause::kFree, 1, "n14", "", {}, {}}};
  e.partitions = {p};
  JobBrief holder = a_job(12, "bob", "sweep");
  holder.state = JobState::kRunning;
  holder.cpus = 32;
  holder.gres = "gpu:h100:16";
  holder.end = kNow + minutes(60);
  e.holder_count = 3;
  e.holders = {holder};
  e.ahead_count = 1;
  e.ahead = {a_job(41, "eve", "first")};
  e.ahead[0].start = kNow + minutes(60);
  e.forecast = true;
  e.expected_start = kNow + minutes(180);
  e.expected_nodes = "n[8-11]";
  e.alternatives = {{"--time=1:00:00 instead of 8:00:00", "scontrol update JobId=42 TimeLimit=1:00:00", kNow, true},
                    {"without --exclusive", "", kNow + minutes(60), false}};
  e.alternatives_tried = 9;
  return e;
}

TEST(ExplainText, AWaitingJob) {
  setenv("TZ", "UTC", 1);
  EXPECT_EQ(to_text(a_waiting_job(), nobody),
            R"(Job 42 "train" of ann waits: Resources
  It is the next of its kind; what it needs is in use.
  It asks for 4 nodes, gpu:8 per node, 8:00:00; it has waited since 1970-01-12T12:16:40 (1:30:00 ago).

Partition main: 16 nodes, 4 needed for 8 tasks
       2  drained or draining: bad GPU; memtest  n[3,7]
       5  devices (GPUs …) in use, the first until 1970-01-12T14:46:40 (in 1:00:00), the last until 1970-01-12T16:46:40  n[8-12]
       1  not idle, and it wants whole nodes by jobs without a time limit  n13
       1  could take it now, with room for 3 tasks  n14

What it waits for is held by 3 jobs, the first to end first:
  12       bob        sweep            2 nodes   32 CPUs gpu:h100:16  until 1970-01-12T14:46:40 (in 1:00:00)
  and 2 more

1 job ahead of it on the same nodes:
  41       eve        first            2 nodes    expected 1970-01-12T14:46:40

Expected start: 1970-01-12T16:46:40 (in 3:00:00) on n[8-11]

What would start it sooner:
  --time=1:00:00 instead of 8:00:00            at once
      scontrol update JobId=42 TimeLimit=1:00:00
  without --exclusive                          1970-01-12T14:46:40 (in 1:00:00)
)");
}

TEST(ExplainText, WhyAJobIsSuspended) {
  setenv("TZ", "UTC", 1);
  JobExplanation e;
  e.now = kNow;
  e.job = a_job(43, "ann", "train");
  e.job.state = JobState::kSuspended;
  e.job.start = kNow - minutes(30);
  e.detail = "its turn comes again (time slice)";
  const std::string text = to_text(e, nobody);
  EXPECT_NE(text.find(" is SUSPENDED: its turn comes again (time slice); it began 1970-01-12T13:16:40 ("), text.npos) << text;
  EXPECT_EQ(text.find("time slice", text.find("time slice") + 1), text.npos) << text;
}

TEST(ExplainText, HowJobsEnded) {
  JobExplanation e;
  e.now = kNow;
  e.job = a_job(7, "ann", "x");
  e.node_list = "n[1-2]";
  e.time_limit_min = 60;
  e.job.start = kNow - minutes(30);
  e.job.end = kNow - minutes(10);
  auto ended = [&](JobState state, int32_t status, std::string detail = "") {
    e.job.state = state;
    e.exit_status = status;
    e.detail = std::move(detail);
    std::string text = to_text(e, nobody);
    text = text.substr(text.find('\n') + 3);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(ended(JobState::kFailed, 3 << 8), "Its script: exit code 3.");
  EXPECT_EQ(ended(JobState::kFailed, 11), "Its script: ended by signal 11 (SIGSEGV).");
  EXPECT_EQ(ended(JobState::kFailed, 137 << 8), "Its script: exit code 137, which shells give for signal 9 (SIGKILL).");
  EXPECT_EQ(ended(JobState::kCancelled, 0), "It was cancelled.");
  e.cancelled_by = 12;
  EXPECT_EQ(ended(JobState::kCancelled, 0, "by uid 13"), "It was cancelled by user12.") << "words do not decide";
  EXPECT_EQ(ended(JobState::kTimeout, 0), "It reached its time limit of 1:00:00.");
  EXPECT_EQ(ended(JobState::kCompleted, 0), "Its script ended well (exit code 0).");
  EXPECT_NE(to_text(e, nobody).find("It ran for 20:00 on n[1-2]; its limit was 1:00:00."), std::string::npos);
}

TEST(ExplainText, ANode) {
  NodeExplanation e;
  e.now = kNow;
  e.name = "n3";
  e.state = "MIXED+DRAIN";
  e.reason = "bad GPU";
  e.reason_uid = Uid(0);
  e.reason_time = kNow - minutes(60);
  e.registered = true;
  e.partitions = "main,short";
  e.cpus = 64;
  e.cpus_free = 32;
  e.mem_mb = 1024 * 64;
  e.mem_free_mb = 1024;
  e.gres = "gpu:h100:8";
  e.gres_free = "gpu:h100:5";
  e.job_count = 1;
  e.jobs = {a_job(9, "ann", "x")};
  e.jobs[0].state = JobState::kRunning;
  e.jobs[0].end = e.idle_at = kNow + minutes(30);
  EXPECT_EQ(to_text(e, nobody),
            R"(Node n3 is MIXED+DRAIN: no job starts there.
  Reason: bad GPU, set by user0 1970-01-12T12:46:40 (1:00:00 ago)
  scontrol update NodeName=n3 State=RESUME brings it back into service.
  Partitions: main,short
  Free: 32 of 64 CPUs, 1G of 64G, gpu:h100:5 of gpu:h100:8
1 job there, the first to end first:
  9        ann        x                until 1970-01-12T14:16:40 (in 30:00)
Idle by 1970-01-12T14:16:40 (in 30:00) at the latest.
)");
}

TEST(ExplainText, ANodeInQuarantine) {
  const auto said = [](QuarantinePhase phase) {
    NodeExplanation e;
    e.now = kNow;
    e.name = "n3";
    e.state = "IDLE+DRAIN";
    e.registered = true;
    e.quarantine = phase;
    e.quarantine_since = kNow - minutes(2);
    e.quarantine_returned = kNow - minutes(60);
    std::string json;
    to_tree(e, nobody, *fields::make_tree_sink(fields::TreeForm::kJson, true, json));
    return to_text(e, nobody) + json;
  };
  using testing::HasSubstr;
  EXPECT_THAT(said(QuarantinePhase::kEmptying),
              HasSubstr("In quarantine since 1970-01-12T13:44:40 (2:00 ago): it is tested when its jobs are "
                        "over, and returns by itself if it passes."));
  EXPECT_THAT(said(QuarantinePhase::kEmptying), HasSubstr(R"("quarantine":"emptying","quarantine_since":999880)"));
  EXPECT_THAT(said(QuarantinePhase::kTesting), HasSubstr("its test is under way"));
  EXPECT_THAT(said(QuarantinePhase::kFailed), HasSubstr("its test failed. It stays out of service until somebody returns it."));
  EXPECT_THAT(said(QuarantinePhase::kAgain), HasSubstr("again after it had passed a test 1970-01-12T12:46:40 (1:00:00 ago)"));
  EXPECT_THAT(said(QuarantinePhase::kReturned), HasSubstr("It returned from quarantine 1970-01-12T12:46:40 (1:00:00 ago)."));
  EXPECT_THAT(said(QuarantinePhase::kLifted), testing::Not(HasSubstr("In quarantine")));
}

// A job that waits is not there: the node is kept for it.
TEST(ExplainText, ANodeThatIsKept) {
  NodeExplanation e;
  e.now = kNow;
  e.name = "n3";
  e.state = "IDLE+PLANNED";
  e.usable = e.registered = true;
  e.cpus = e.cpus_free = 64;
  e.jobs = {a_job(9, "ann", "x")};
  e.jobs[0].start = kNow + minutes(30);
  EXPECT_EQ(to_text(e, nobody),
            R"(Node n3 is IDLE+PLANNED: jobs may start there.
  Partitions: none
  Free: 64 of 64 CPUs, 0 of 0
  Planned for job 9 of ann, which is expected to start 1970-01-12T14:16:40 (in 30:00).
  No job is there.
)");
  std::string out;
  to_tree(e, nobody, *fields::make_tree_sink(fields::TreeForm::kJson, true, out));
  EXPECT_NE(out.find(R"("jobs":[],"planned_for":[{"job_id":9,)"), std::string::npos) << out;
}

TEST(ExplainText, AsJson) {
  std::string out;
  to_tree(a_waiting_job(), *fields::make_tree_sink(fields::TreeForm::kJson, true, out));
  for (std::string_view part : {R"("job_id":42)", R"("reason":"Resources")", R"("cause":"devices_in_use","count":5,"nodes":"n[8-12]")",
                                R"("last":null)", R"("at_once":true)", R"("expected_start":1010800)"})
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
}

// A reason that the scheduler gives has a sentence.
TEST(ExplainText, EveryReasonOfTheSchedulerIsExplained) {
  for (Reason r : {Reason::kResources, Reason::kPriority, Reason::kDependency, Reason::kDependencyNeverSatisfied, Reason::kBeginTime,
                   Reason::kJobHeldUser, Reason::kJobHeldAdmin, Reason::kCleaning, Reason::kPartitionDown, Reason::kPartitionInactive,
                   Reason::kPartitionNodeLimit, Reason::kPartitionTimeLimit, Reason::kReqNodeNotAvail, Reason::kBadConstraints,
                   Reason::kQOSMaxCpuPerUserLimit, Reason::kJobArrayTaskLimit, Reason::kDeadLine})
    EXPECT_FALSE(sentence_of(r).empty()) << reason_name(r);
}

}  // namespace
}  // namespace muster::front
