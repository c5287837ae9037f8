// Jobs of crontabs: installed as a whole, come again under one number, and are taken out of the file when they are cancelled.
#include <stdlib.h>
#include <time.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/tool_queries.h"

namespace muster::slurmctld {
namespace {

constexpr char kEnabled[] = "ScronParameters=enable\n";
const Caller kUser{Uid(1000), Gid(1000), {}, {}}, kOther{Uid(1001), Gid(1001), {}, {}};

class Crontabs : public ::testing::Test {
 protected:
  Crontabs() {
    setenv("TZ", "UTC0", 1);
    tzset();
  }

  static CrontabChange::Entry entry(const char* times, uint32_t line, const std::function<void(JobRequest&)>& change = {}) {
    CrontabChange::Entry e;
    e.times = times;
    e.first_line = e.last_line = line;
    e.request = Bench::request(change);
    e.request.name = "line" + std::to_string(line);
    return e;
  }
  static Result<CrontabOutcome> install(Bench& b, std::vector<CrontabChange::Entry> entries, std::string text = "# some text\n",
                                        const Caller& who = kUser, Uid user = Uid(1000)) {
    Result<CrontabOutcome> out = fail(Errc::kError);
    b.turn([&] { out = b.core.run(who, CrontabChange{user, std::move(text), std::move(entries), who}); });
    return out;
  }
  static std::string text(const Bench& b, Uid user = Uid(1000)) {
    const Crontab* file = b.core.cluster().crontabs.find(user.value);
    return file ? file->text : "none";
  }
  // Lets the job's time come and runs it to its end.
  static void run_once(Bench& b, JobId job, int32_t status = 0) {
    b.wait(b.get(job).eligible - b.now);
    ASSERT_EQ(b.plan(), 1u);
    b.started(job);
    b.wait(seconds(5));
    b.ends(job, status);
  }
};

TEST_F(Crontabs, AreOffUnlessTheSiteWantsThem) {
  Bench b;
  EXPECT_EQ(install(b, {}).error().message(), "scrontab is disabled on this cluster");
}

TEST_F(Crontabs, AJobWaitsForItsTimeAndComesAgainUnderItsNumber) {
  Bench b(kEnabled);
  b.now = from_unix(1'700'000'010);  // 22:13:30
  auto done = install(b, {entry("30 * * * *", 1)});
  ASSERT_TRUE(done) << done.error().message();
  const JobId job = done->jobs.at(0);
  EXPECT_EQ(b.get(job).reason, Reason::kBeginTime);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-14T22:30:00");
  EXPECT_EQ(b.plan(), 0u);
  run_once(b, job);
  EXPECT_EQ(b.state(job), JobState::kPending);
  EXPECT_EQ(b.get(job).reason, Reason::kBeginTime);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-14T23:30:00");
  run_once(b, job, 1 << 8);  // a run that fails is no reason not to come again
  EXPECT_EQ(b.state(job), JobState::kPending);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-15T00:30:00");
  EXPECT_EQ(b.get(job).restarts, 2u);
  EXPECT_EQ(text(b), "# some text\n");
  b.expect_replay_equal();
}

// scrontab(1): it starts at 08:20:30 and runs for 35 seconds, so the run of 08:21 is left out.
TEST_F(Crontabs, TimesThatPassWhileItRunsAreLeftOut) {
  Bench b(kEnabled);
  b.now = from_unix(1'700'000'000) - seconds(20);  // 22:13:00
  const JobId job = install(b, {entry("* * * * *", 1)})->jobs.at(0);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-14T22:14:00");
  b.wait(seconds(90));
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.wait(seconds(35));  // 22:15:05
  b.ends(job);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-14T22:16:00");
}

TEST_F(Crontabs, ARequeueHasNoBoundOnHowOften) {
  Bench b(std::string(kEnabled) + "MaxBatchRequeue=2\nJobRequeue=0\n");
  const JobId job = install(b, {entry("* * * * *", 1)})->jobs.at(0);
  for (int i = 0; i < 5; ++i) run_once(b, job);
  EXPECT_EQ(b.state(job), JobState::kPending);
  EXPECT_EQ(b.get(job).reason, Reason::kBeginTime);
}

TEST_F(Crontabs, ACancelledJobIsCommentedOut) {
  Bench b(kEnabled);
  auto first = entry("@hourly", 3);
  first.first_line = 2;
  auto jobs = install(b, {first, entry("@daily", 4)}, "# head\n#SCRON -t 1\n@hourly a\n@daily b\n")->jobs;
  b.cancel(jobs[0]);
  EXPECT_EQ(text(b), "# head\n#DISABLED: #SCRON -t 1\n#DISABLED: @hourly a\n@daily b\n");
  EXPECT_EQ(b.state(jobs[0]), JobState::kCancelled);
  EXPECT_EQ(b.state(jobs[1]), JobState::kPending);
  b.expect_replay_equal();
}

TEST_F(Crontabs, OneThatIsCancelledWhileItRunsDoesNotComeAgain) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("* * * * *", 1)}, "* * * * * a\n")->jobs.at(0);
  b.wait(minutes(1));
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.cancel(job);
  EXPECT_EQ(text(b), "#DISABLED: * * * * * a\n");
  b.gone(job, b.host(job));
  EXPECT_EQ(b.state(job), JobState::kCancelled);
  b.wait(minutes(2));  // forgotten
  EXPECT_FALSE(b.exists(job));
  EXPECT_EQ(b.core.cluster().cron_jobs.size(), 0u);
  b.expect_replay_equal();
}

TEST_F(Crontabs, OneThatIsCancelledWhileItCompletesDoesNotComeAgain) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("* * * * *", 1)}, "* * * * * a\n")->jobs.at(0);
  b.wait(minutes(1));
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.ends(job, 0, false);  // its node cleans up
  EXPECT_EQ(b.state(job), JobState::kCompleted);
  b.cancel(job);
  EXPECT_EQ(text(b), "#DISABLED: * * * * * a\n");
  b.gone(job, b.host(job));
  EXPECT_EQ(b.state(job), JobState::kCompleted);
  b.expect_replay_equal();
}

TEST_F(Crontabs, ATimeLimitEndsARunAndNotTheJob) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("@hourly", 1, [](JobRequest& r) { r.time_limit_min = 1; })})->jobs.at(0);
  b.wait(b.get(job).eligible - b.now);
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.wait(minutes(2));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  b.gone(job, b.host(job));
  EXPECT_EQ(b.state(job), JobState::kPending);
}

TEST_F(Crontabs, AnotherFileTakesThePlaceOfTheJobsBefore) {
  Bench b(kEnabled);
  auto before = install(b, {entry("* * * * *", 1), entry("@daily", 2)})->jobs;
  b.wait(minutes(1));
  ASSERT_EQ(b.plan(), 1u);
  b.started(before[0]);
  auto now = install(b, {entry("@hourly", 1)}, "other\n")->jobs;
  EXPECT_EQ(text(b), "other\n");
  EXPECT_EQ(b.state(before[0]), JobState::kRunning);  // it goes on
  EXPECT_EQ(b.state(before[1]), JobState::kCancelled);
  EXPECT_EQ(b.state(now[0]), JobState::kPending);
  b.ends(before[0]);
  EXPECT_EQ(b.state(before[0]), JobState::kCompleted);  // and does not come again
  EXPECT_EQ(text(b), "other\n");
  b.expect_replay_equal();
}

TEST_F(Crontabs, RemovalLeavesNothing) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("@daily", 1)})->jobs.at(0);
  ASSERT_TRUE(install(b, {}, ""));
  EXPECT_EQ(text(b), "none");
  EXPECT_EQ(b.state(job), JobState::kCancelled);
  b.expect_replay_equal();
}

TEST_F(Crontabs, OneMistakeRefusesAll) {
  Bench b(kEnabled);
  const JobId before = install(b, {entry("@daily", 1)})->jobs.at(0);
  const size_t events = b.log.size();
  auto refused = install(b, {entry("@hourly", 1), entry("@daily", 7, [](JobRequest& r) { r.partitions = {"nowhere"}; })}, "x\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "line 7: invalid partition specified: nowhere");
  EXPECT_EQ(b.log.size(), events);
  EXPECT_EQ(b.state(before), JobState::kPending);
  for (auto wrong : {entry("61 * * * *", 1), entry("", 1), entry("@daily", 0), entry("@daily", 1, [](JobRequest& r) { r.array = "0-3"; }),
                     entry("@daily", 1, [](JobRequest& r) { r.deadline = from_unix(2'000'000'000); }),
                     entry("@daily", 1, [](JobRequest& r) { r.uid = Uid(1001); })})
    EXPECT_FALSE(install(b, {wrong}));
  EXPECT_FALSE(install(b, {entry("@daily", 1)}, ""));
  EXPECT_FALSE(install(b, {}, std::string(Crontab::kMostBytes + 1, 'x')));
  EXPECT_FALSE(install(b, {}, "# \x1b[2J\n"));
  EXPECT_FALSE(install(b, std::vector(Crontab::kMostEntries + 1, entry("@daily", 1))));
  EXPECT_EQ(b.log.size(), events);
}

TEST_F(Crontabs, WhatALimitStopsHalfwayIsTakenBack) {
  Bench b(std::string(kEnabled) + "MaxJobCount=3\n");
  const JobId before = install(b, {entry("@daily", 1)})->jobs.at(0);
  auto refused = install(b, {entry("@hourly", 1), entry("@hourly", 2), entry("@hourly", 3)}, "x\n");
  ASSERT_FALSE(refused && !refused->refused);
  EXPECT_EQ(text(b), "# some text\n");
  EXPECT_EQ(b.state(before), JobState::kPending);
  size_t pending = 0;
  b.core.cluster().jobs.for_each([&](uint32_t, const Job& j) { pending += j.pending(); });
  EXPECT_EQ(pending, 1u);
  b.expect_replay_equal();
}

// Limits count the new jobs in the place of the old ones, not both.
TEST_F(Crontabs, TheOldJobsGoBeforeTheNewOnesCome) {
  Bench b(std::string(kEnabled) + "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n");
  ADirectory d;
  d.qos("normal").account("root").account("team").user("alice", "team").association("alice", "team", {"normal"});
  d.entities().associations[2].limits = {{LimitKind::kMaxSubmitJobs, "", 2}};
  b.turn([&] { b.core.learn_directory(d.entities()); });
  auto of_alice = [](uint32_t line) { return entry("@daily", line, [](JobRequest& r) { r.user_name = "alice"; }); };
  const auto before = install(b, {of_alice(1), of_alice(2)})->jobs;
  auto refused = install(b, {of_alice(1), of_alice(2), of_alice(3)}, "three\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kAccountingPolicy);
  EXPECT_TRUE(refused.error().message().starts_with("line 3: ")) << refused.error().message();
  EXPECT_EQ(b.state(before[1]), JobState::kPending) << "they stay until all of the new ones are let in";
  auto done = install(b, {of_alice(1), of_alice(2)}, "other\n");
  ASSERT_TRUE(done && !done->refused);
  EXPECT_EQ(text(b), "other\n");
  EXPECT_EQ(b.state(before[0]), JobState::kCancelled);
  EXPECT_EQ(b.state(done->jobs.at(1)), JobState::kPending);
  b.expect_replay_equal();
}

TEST_F(Crontabs, AreTheirUsersAndRootsToChange) {
  Bench b(kEnabled);
  EXPECT_EQ(install(b, {entry("@daily", 1)}, "x\n", kOther).error().code, Errc::kAccessDenied);
  EXPECT_EQ(install(b, {}, "", kOther).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(install(b, {entry("@daily", 1)}, "x\n", Caller::root()));
  const Rights none(b.settings, nullptr, kOther), own(b.settings, nullptr, kUser), root(b.settings, nullptr, Caller::root());
  rpc::QueryCrontab ask;
  ask.user = Uid(1000);
  EXPECT_EQ(query_crontab(b.core.cluster(), none, kOther, ask).error().code, Errc::kAccessDenied);
  EXPECT_EQ(query_crontab(b.core.cluster(), own, kUser, ask)->crontab, "x\n");
  EXPECT_TRUE(query_crontab(b.core.cluster(), root, Caller::root(), ask)->there);
  ask.user = Uid(1001);
  EXPECT_FALSE(query_crontab(b.core.cluster(), own, kOther, ask)->there);
}

TEST_F(Crontabs, RequeueOfOneThatWaitsLeavesOutTheNextRun) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("0 * * * *", 1)})->jobs.at(0);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-14T23:00:00");
  b.control(rpc::JobAction::kRequeue, job);
  EXPECT_TRUE(b.control_errors.empty());
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-15T00:00:00");
  EXPECT_EQ(b.get(job).reason, Reason::kBeginTime);
}

TEST_F(Crontabs, RequeueOfOneThatRunsWaitsForTheNextTime) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("0 * * * *", 1)})->jobs.at(0);
  b.wait(b.get(job).eligible - b.now);
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.control(rpc::JobAction::kRequeue, job);
  b.gone(job, b.host(job));
  EXPECT_EQ(b.state(job), JobState::kPending);
  EXPECT_EQ(format_time(b.get(job).eligible), "2023-11-15T00:00:00");
  EXPECT_EQ(text(b), "# some text\n");
}

TEST_F(Crontabs, HeldAndReleasedItStillWaitsForItsTime) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("0 * * * *", 1)})->jobs.at(0);
  b.control(rpc::JobAction::kUserHold, job);
  b.wait(minutes(100));
  EXPECT_EQ(b.plan(), 0u);
  b.control(rpc::JobAction::kRelease, job);
  EXPECT_EQ(b.state(job), JobState::kPending);
}

TEST_F(Crontabs, ScontrolDoesNotChangeThem) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("@daily", 1)})->jobs.at(0);
  EXPECT_EQ(b.update(job, "TimeLimit", "5").error().code, Errc::kCanNotModifyCronJob);
}

TEST_F(Crontabs, ExplicitScancelWantsTheFlag) {
  Bench b("ScronParameters=enable,explicit_scancel\n");
  const JobId job = install(b, {entry("@daily", 1)})->jobs.at(0);
  const auto cancel = [&](bool cron, bool named) {
    rpc::SignalJobs c;
    if (named) c.filter.jobs.emplace_back().job = job;
    else c.filter.users = {Uid(1000)};
    c.cron = cron;
    Result<rpc::SignalJobsAnswer> out;
    b.turn([&] { out = b.core.run(kUser, c); });
    return out ? out->errors : std::vector<rpc::PerJobError>{};
  };
  for (bool named : {true, false}) {
    auto errors = cancel(false, named);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].text, "Cannot cancel scrontab jobs without --cron flag.");
    EXPECT_EQ(b.state(job), JobState::kPending);
  }
  EXPECT_TRUE(cancel(true, true).empty());
  EXPECT_EQ(b.state(job), JobState::kCancelled);
}

TEST_F(Crontabs, ARestartKeepsThem) {
  Bench b(kEnabled);
  const JobId job = install(b, {entry("@hourly", 1)}, "mine\n")->jobs.at(0);
  Core other(b.settings);
  for (const Event& e : b.log) other.replay(e);
  EXPECT_EQ(other.cluster().crontabs.at(1000).text, "mine\n");
  EXPECT_EQ(other.cluster().cron_jobs.at(job.value), b.core.cluster().cron_jobs.at(job.value));
}

}  // namespace
}  // namespace muster::slurmctld
