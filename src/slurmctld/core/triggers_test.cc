// Triggers: what pulls them, when their programs are due, and whose they are.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/tool_queries.h"

namespace muster::slurmctld {
namespace {

const Caller kUser{Uid(1000), Gid(1000), {}, {}}, kOther{Uid(1001), Gid(1001), {}, {}};

TriggerSpec a_trigger(std::initializer_list<TriggerOn> on, JobId job = {}, const std::string& nodes = "") {
  TriggerSpec t;
  for (TriggerOn one : on) t.on |= bit_of(one);
  t.job = job;
  t.nodes = nodes;
  t.program = "/bin/true";
  return t;
}

Result<uint32_t> set(Bench& b, TriggerSpec spec, const Caller& who = kUser) {
  Result<rpc::TriggerSet> out = fail(Errc::kError);
  b.turn([&] { out = b.core.run(who, rpc::SetTrigger{std::move(spec)}); });
  if (!out) return std::unexpected(out.error());
  return out->id;
}

// The programs that are to be started now: "3:n[0-1]".
std::vector<std::string> started(const Bench& b) {
  std::vector<std::string> out;
  for (const Effect& e : b.effects)
    if (auto* run = std::get_if<RunTrigger>(&e)) out.push_back(std::to_string(run->trigger.id) + ":" + run->trigger.argument);
  return out;
}
using Started = std::vector<std::string>;

JobId running(Bench& b, const std::function<void(JobRequest&)>& change = {}) {
  const JobId job = b.submit(change);
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  return job;
}

size_t left(const Bench& b) { return b.core.cluster().triggers.size(); }

TEST(Triggers, TheEndOfAJob) {
  Bench b;
  const JobId job = running(b), other = running(b);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kFini}, job)));
  b.ends(other);
  EXPECT_EQ(started(b), Started{});
  b.ends(job);
  EXPECT_EQ(started(b), Started{"1:" + std::to_string(job.value)});
  b.wait(seconds(1));
  EXPECT_EQ(started(b), Started{});  // said once
  EXPECT_EQ(left(b), 1u);            // until it runs
  b.turn([&] { b.core.trigger_started(1); });
  EXPECT_EQ(left(b), 0u);
  b.expect_replay_equal();
}

TEST(Triggers, OneThatWasPulledIsSaidAgainAfterARestart) {
  Bench b;
  const JobId job = running(b);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kFini}, job)));
  b.ends(job);
  Core other(b.settings);
  for (const Event& e : b.log) other.replay(e);
  other.begin(b.now);
  other.housekeep();
  other.commit();
  size_t runs = 0;
  for (const Effect& e : other.take_effects(b.now)) runs += std::holds_alternative<RunTrigger>(e);
  EXPECT_EQ(runs, 1u);
}

TEST(Triggers, ARequeuedJobIsNotOver) {
  Bench b;
  const JobId job = running(b);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kFini}, job)));
  b.control(rpc::JobAction::kRequeue, job);
  EXPECT_EQ(started(b), Started{});
  EXPECT_EQ(left(b), 1u);
}

TEST(Triggers, ATimeBeforeTheLimit) {
  Bench b;
  const JobId job = running(b);  // 10 minutes
  TriggerSpec t = a_trigger({TriggerOn::kTime}, job);
  t.offset_seconds = -120;
  ASSERT_TRUE(set(b, t));
  EXPECT_LE(b.core.next_timer(), b.get(job).ends - seconds(120));
  b.wait(minutes(8) - seconds(1));
  EXPECT_EQ(started(b), Started{});
  b.wait(seconds(1));
  EXPECT_EQ(started(b), Started{"1:" + std::to_string(job.value)});
  EXPECT_EQ(b.state(job), JobState::kRunning);
}

TEST(Triggers, TheLimitItselfAndOneThatIsNotReached) {
  Bench b;
  const JobId job = running(b), early = running(b);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kTime}, job)));
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kTime}, early)));
  b.ends(early);
  EXPECT_EQ(left(b), 1u);  // that one can never come
  b.wait(minutes(10));
  EXPECT_EQ(started(b), Started{"1:" + std::to_string(job.value)});
  b.expect_replay_equal();
}

TEST(Triggers, ALongerLimitMovesIt) {
  Bench b;
  const JobId job = running(b);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kTime}, job)));
  ASSERT_TRUE(b.update(job, "TimeLimit", "20"));
  b.wait(minutes(10));
  EXPECT_EQ(started(b), Started{});
  b.wait(minutes(10));
  EXPECT_EQ(started(b).size(), 1u);
}

TEST(Triggers, NodesThatGoDownAndComeBack) {
  Bench b;
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kDown})));
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kDown}, {}, "n2")));
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kUp})));
  b.set_node("n1", "DOWN");
  EXPECT_EQ(started(b), Started{"1:n1"});
  b.set_node("n1", "DOWN");
  EXPECT_EQ(started(b), Started{});  // it was
  b.set_node("n[1-2]", "RESUME");
  EXPECT_EQ(started(b), Started{"3:n1"});
  b.set_node("n[2-3]", "DOWN");
  EXPECT_EQ(started(b), Started{"2:n2"});
  b.expect_replay_equal();
}

TEST(Triggers, NodesThatGoTogetherAreToldTogether) {
  Bench b;
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kDown})));
  b.set_node("n[0-2]", "DOWN");
  EXPECT_EQ(started(b), Started{"1:n[0-2]"});
}

TEST(Triggers, DrainingDrainedFailAndResume) {
  Bench b;
  const JobId job = running(b, [](JobRequest& r) { r.required_nodes = "n0"; });
  for (TriggerOn on : {TriggerOn::kDraining, TriggerOn::kDrained, TriggerOn::kFail, TriggerOn::kResume})
    ASSERT_TRUE(set(b, a_trigger({on})));
  b.set_node("n0", "DRAIN");
  EXPECT_EQ(started(b), Started{"1:n0"});
  b.ends(job);
  EXPECT_EQ(started(b), Started{"2:n0"});
  b.set_node("n0", "RESUME");
  EXPECT_EQ(started(b), Started{"4:n0"});
  b.set_node("n1", "FAIL");
  EXPECT_EQ(started(b), Started{"3:n1"});
  b.expect_replay_equal();
}

TEST(Triggers, NodesOfAJob) {
  Bench b;
  const JobId job = running(b, [](JobRequest& r) { r.required_nodes = "n2"; });
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kDrained, TriggerOn::kDown}, job)));
  b.set_node("n1", "DOWN");
  EXPECT_EQ(started(b), Started{});
  b.set_node("n2", "DOWN");
  EXPECT_EQ(started(b), Started{"1:n2"});
}

TEST(Triggers, IdleNodes) {
  Bench b;
  const JobId job = running(b, [](JobRequest& r) { r.required_nodes = "n0"; });
  TriggerSpec t = a_trigger({TriggerOn::kIdle}, {}, "n[0-1]");
  t.offset_seconds = 600;
  b.wait(minutes(5));
  ASSERT_TRUE(set(b, t));
  EXPECT_EQ(started(b), Started{});
  b.ends(job);
  b.wait(minutes(5));
  EXPECT_EQ(started(b), Started{"1:n1"});
}

TEST(Triggers, AnOffsetIsWaitedFor) {
  Bench b;
  TriggerSpec t = a_trigger({TriggerOn::kDown});
  t.offset_seconds = 60;
  ASSERT_TRUE(set(b, t));
  b.set_node("n0", "DOWN");
  EXPECT_EQ(started(b), Started{});
  b.wait(seconds(30));
  b.set_node("n1", "DOWN");  // joins it
  b.wait(seconds(29));
  EXPECT_EQ(started(b), Started{});
  b.wait(seconds(1));
  EXPECT_EQ(started(b), Started{"1:n[0-1]"});
}

TEST(Triggers, PermanentOnesStay) {
  Bench b;
  TriggerSpec t = a_trigger({TriggerOn::kDown});
  t.permanent = true;
  ASSERT_TRUE(set(b, t));
  for (const char* node : {"n0", "n1"}) {
    b.set_node(node, "DOWN");
    EXPECT_EQ(started(b), Started{std::string("1:") + node});
    b.turn([&] { b.core.trigger_started(1); });
    EXPECT_EQ(left(b), 1u);
  }
  b.expect_replay_equal();
}

TEST(Triggers, Daemons) {
  Bench b;
  for (TriggerOn on : {TriggerOn::kReconfig, TriggerOn::kControllerOperates, TriggerOn::kSlurmdbdFailure, TriggerOn::kSlurmdbdOperates})
    ASSERT_TRUE(set(b, a_trigger({on})));
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_EQ(started(b), Started{"1:*"});
  b.turn([&] { b.core.controller_operates(); });
  EXPECT_EQ(started(b), Started{"2:*"});
  b.turn([&] { b.core.slurmdbd_reached(false); });
  EXPECT_EQ(started(b), Started{"3:*"});
  b.turn([&] { b.core.slurmdbd_reached(true); });
  EXPECT_EQ(started(b), Started{"4:*"});
  b.expect_replay_equal();
}

TEST(Triggers, WhatCannotHappenHereIsRefused) {
  Bench b;
  for (const TriggerInfo& t : kTriggers) {
    if (!t.refusal) continue;
    auto refused = set(b, a_trigger({t.on}));
    ASSERT_FALSE(refused) << t.word;
    EXPECT_NE(refused.error().hint.find(t.refusal), std::string::npos);
  }
}

TEST(Triggers, WhatMakesNoSenseIsRefused) {
  Bench b;
  const JobId job = running(b);
  TriggerSpec far = a_trigger({TriggerOn::kDown}), relative = far, escape = far, forever = a_trigger({TriggerOn::kIdle});
  far.offset_seconds = 32001;
  relative.program = "true";
  escape.program = "/bin/true\n/bin/false";
  forever.permanent = true;
  const std::vector<std::pair<TriggerSpec, Errc>> cases = {
      {a_trigger({}), Errc::kInvalidArgument},
      {a_trigger({TriggerOn::kFini}), Errc::kInvalidJobId},
      {a_trigger({TriggerOn::kFini}, JobId(999)), Errc::kInvalidJobId},
      {a_trigger({TriggerOn::kDown}, job, "n1"), Errc::kInvalidArgument},
      {a_trigger({TriggerOn::kDown}, {}, "n9"), Errc::kInvalidNodeName},
      {a_trigger({TriggerOn::kDown}, {}, "n[1-"), Errc::kInvalidNodeName},
      {a_trigger({TriggerOn::kDown, TriggerOn::kSlurmdbdFailure}), Errc::kInvalidArgument},
      {a_trigger({TriggerOn::kSlurmdbdFailure}, job), Errc::kInvalidArgument},
      {a_trigger({TriggerOn::kIdle}, job), Errc::kInvalidArgument},
      {far, Errc::kInvalidArgument},
      {relative, Errc::kInvalidArgument},
      {escape, Errc::kInvalidArgument},
      {forever, Errc::kInvalidArgument}};
  for (size_t i = 0; i < cases.size(); ++i) {
    auto refused = set(b, cases[i].first);
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, cases[i].second) << i << " " << refused.error().hint;
  }
  TriggerSpec unknown = a_trigger({TriggerOn::kDown});
  unknown.on |= 1u << 31;
  EXPECT_FALSE(set(b, unknown));
  b.ends(job);
  EXPECT_EQ(set(b, a_trigger({TriggerOn::kFini}, job)).error().code, Errc::kAlreadyDone);
}

TEST(Triggers, AreTheirUsersAndBounded) {
  Bench b;
  TriggerSpec t = a_trigger({TriggerOn::kDown});
  ASSERT_TRUE(set(b, t));
  EXPECT_EQ(set(b, t).error().code, Errc::kTriggerDuplicate);
  EXPECT_TRUE(set(b, t, kOther));
  rpc::ClearTriggers clear;
  clear.filter.id = 1;
  b.turn([&] { EXPECT_EQ(b.core.run(kOther, clear).error().code, Errc::kAccessDenied); });
  clear.filter.id = 9;
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, clear).error().message(), "No such process"); });
  clear.filter.id = 0;
  b.turn([&] { EXPECT_FALSE(b.core.run(kUser, clear)); });
  clear.filter.user = 1000;
  b.turn([&] { EXPECT_EQ(b.core.run(Caller::root(), clear)->count, 1u); });
  for (size_t i = 0; i < Trigger::kMostOfUser; ++i) {
    t.offset_seconds = static_cast<int32_t>(i);
    ASSERT_TRUE(set(b, t));
  }
  t.offset_seconds = 30000;
  EXPECT_EQ(set(b, t).error().code, Errc::kTryAgainLater);
  EXPECT_TRUE(set(b, t, kOther));
  b.expect_replay_equal();
}

TEST(Triggers, WhereSlurmctldIsNotRootTheyAreSlurmUsersAlone) {
  Bench b;
  Settings rootless = b.settings;
  rootless.rootless = true;
  b.turn([&] { b.core.configure(rootless); });
  EXPECT_EQ(set(b, a_trigger({TriggerOn::kDown})).error().code, Errc::kAccessDenied);
  EXPECT_EQ(set(b, a_trigger({TriggerOn::kDown}), Caller::root()).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(set(b, a_trigger({TriggerOn::kDown}), Caller{rootless.slurm_user, {}, {}, {}}));
}

TEST(Triggers, OfHiddenJobsAreNotSetOrShown) {
  Bench b("PrivateData=jobs,users\n");
  const JobId job = running(b);
  EXPECT_EQ(set(b, a_trigger({TriggerOn::kFini}, job), kOther).error().code, Errc::kInvalidJobId);
  ASSERT_TRUE(set(b, a_trigger({TriggerOn::kFini}, job)));
  const auto seen = [&](const Caller& who) {
    return query_triggers(b.core.cluster(), Privacy(b.settings, nullptr, who), who, {}).triggers.size();
  };
  EXPECT_EQ(seen(kOther), 0u);
  EXPECT_EQ(seen(kUser), 1u);
  EXPECT_EQ(seen(Caller::root()), 1u);
}

TEST(Attendance, AnAllocationThatNobodyIsThereForEnds) {
  Bench b("InactiveLimit=60\n");
  const JobId job = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  ASSERT_EQ(b.plan(), 1u);
  b.turn([&] { b.core.attend(job); });
  b.wait(seconds(200));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.turn([&] { b.core.leave(job); });
  b.wait(seconds(30));
  b.turn([&] { b.core.attend(job); });  // salloc is back
  b.turn([&] { b.core.leave(job); });
  EXPECT_LE(b.core.next_timer(), b.now + seconds(60));
  b.wait(seconds(59));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(seconds(1));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  EXPECT_EQ(b.get(job).reason, Reason::kInactiveLimit);
  b.expect_replay_equal();
}

TEST(Attendance, AfterARestartTheTimeBeginsAnew) {
  Bench b("InactiveLimit=60\n");
  const JobId job = b.submit([](JobRequest&r) { r.kind = JobKind::kAllocation; }), batch = b.submit();
  const JobId unattended = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });  // salloc --no-shell
  ASSERT_EQ(b.plan(), 3u);
  b.turn([&] { b.core.attend(job); });
  Core other(b.settings);
  for (const Event& e : b.log) other.replay(e);
  const auto turn = [&](Time now) {
    other.begin(now);
    other.housekeep();
    other.commit();
  };
  other.begin(b.now);
  other.configure(b.settings);
  other.housekeep();
  other.commit();
  turn(b.now + seconds(59));
  EXPECT_EQ(other.cluster().jobs.at(job.value).state, JobState::kRunning);
  turn(b.now + seconds(61));
  EXPECT_EQ(other.cluster().jobs.at(job.value).state, JobState::kTimeout);
  EXPECT_EQ(other.cluster().jobs.at(batch.value).state, JobState::kRunning);
  EXPECT_EQ(other.cluster().jobs.at(unattended.value).state, JobState::kRunning);
}

TEST(Attendance, OneWhoseCommandGoesBeforeItStartsEnds) {
  Bench b("InactiveLimit=60\n");
  const JobId job = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  b.turn([&] { b.core.attend(job); });
  b.turn([&] { b.core.leave(job); });
  b.wait(seconds(200));
  EXPECT_EQ(b.state(job), JobState::kPending);
  ASSERT_EQ(b.plan(), 1u);
  b.wait(seconds(59));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(seconds(1));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  EXPECT_EQ(b.get(job).reason, Reason::kInactiveLimit);
  b.expect_replay_equal();
}

TEST(Attendance, MeansNothingWithoutALimit) {
  Bench b;
  const JobId job = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  ASSERT_EQ(b.plan(), 1u);
  b.turn([&] { b.core.attend(job); });
  b.turn([&] { b.core.leave(job); });
  b.wait(minutes(9));
  EXPECT_EQ(b.state(job), JobState::kRunning);
}

}  // namespace
}  // namespace muster::slurmctld
