// What accounting learns of jobs and steps: each change is uploaded until it is acknowledged, across restarts, and bounded.
#include "slurmctld/core/records.h"

#include "sched/queue/priority.h"
#include "slurmctld/core/records_testing.h"
#include "slurmctld/core/waits.h"

namespace muster::slurmctld {
namespace {

TEST(Records, AWaitingJobHasThePriorityThatItHasNow) {
  RecordBench b("PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n");
  b.submit([](JobRequest& r) { r.num_tasks = 16; });
  b.connect();
  for (const Effect& e : b.effects)
    if (auto* u = std::get_if<UploadRecords>(&e)) {
      const sched::PriorityRule rule(b.core.cluster(), b.settings.priority, b.now);
      const auto told = make_upload(b.core.cluster(), *u, {}, &rule);
      ASSERT_EQ(told.jobs.size(), 1u);
      EXPECT_GT(told.jobs[0].priority, 100u);
      return;
    }
  FAIL() << "nothing was told";
}

TEST(Records, WhoAsksWaitsForWhatHappenedBefore) {
  RecordBench b("PrivateData=jobs\n");
  b.connect();
  const JobId first = b.submit();
  b.drain();
  const Privacy all;
  auto awaited = [&](const Privacy& privacy, const std::vector<JobId>& jobs) {
    return records_awaited(b.core.cluster(), b.core.indexes(), privacy, jobs);
  };
  EXPECT_EQ(awaited(all, {}), 0u);
  EXPECT_EQ(awaited(all, {first}), 0u);
  const JobId second = b.submit();
  const uint64_t after_second = b.core.indexes().unrecorded().rbegin()->position;
  EXPECT_EQ(awaited(all, {}), after_second);
  EXPECT_EQ(awaited(all, {first}), 0u);
  EXPECT_EQ(awaited(all, {first, second}), after_second);
  b.submit();
  const uint64_t newest = b.core.indexes().unrecorded().rbegin()->position;
  ASSERT_GT(newest, after_second);
  EXPECT_EQ(awaited(all, {second}), after_second);
  EXPECT_EQ(awaited(all, {}), newest);
  // A job that is gone may have left a record; one that may not be seen looks the same.
  const Privacy hiding(b.settings, b.core.cluster().directory, Caller{Uid(4242), {}, {}, {}});
  ASSERT_FALSE(hiding.shows(b.get(first)));
  EXPECT_EQ(awaited(all, {JobId(99999)}), newest);
  EXPECT_EQ(awaited(hiding, {first}), newest);
}

TEST(Records, OffKeepsNothing) {
  Bench b;
  b.turn([&] { b.core.records_stored(0); });
  JobId id = b.submit();
  b.plan();
  EXPECT_EQ(b.get(id).record_position, 0u);
  EXPECT_TRUE(b.core.indexes().unrecorded().empty());
  EXPECT_TRUE(b.core.cluster().kept_records.empty());
}

TEST(Records, NamesOfTheDatabaseAreInLowerCase) {
  RecordBench b;
  const JobId id = b.submit([](JobRequest& r) {
    r.account = "MY_Acct";
    r.wckey = "Grant-7";
  });
  const Job& job = b.core.cluster().jobs.at(id.value);
  EXPECT_EQ(job.request->account, "my_acct");
  EXPECT_EQ(job.request->wckey, "grant-7");
}

TEST(Records, AJobThatWasCancelledDidNotFailThoughItsScriptWasKilled) {
  RecordBench b;
  b.connect();
  const JobId id = b.submit();
  b.plan();
  b.started(id);
  b.cancel(id);
  b.ends(id, 15);
  b.drain();
  EXPECT_EQ(b.record(id)->state, JobState::kCancelled);
  EXPECT_EQ(b.record(id)->exit_status, 0);
  ASSERT_TRUE(b.step(id, kBatchStep));
  EXPECT_EQ(b.step(id, kBatchStep)->exit_status, 15);
}

TEST(Records, AJobFromSubmissionToItsEnd) {
  RecordBench b;
  b.connect();
  JobId id = b.submit([](JobRequest& r) { r.account = "team-a"; });
  b.drain();
  ASSERT_TRUE(b.record(id));
  EXPECT_EQ(b.record(id)->state, JobState::kPending);
  EXPECT_EQ(b.record(id)->account, "team-a");
  EXPECT_EQ(b.record(id)->cluster, "c");
  b.plan();
  b.started(id);
  b.drain();
  EXPECT_EQ(b.record(id)->state, JobState::kRunning);
  EXPECT_EQ(b.record(id)->node_list, "n0");
  ASSERT_TRUE(b.step(id, kBatchStep));
  EXPECT_EQ(b.step(id, kBatchStep)->state, JobState::kRunning);
  b.now += minutes(2);
  b.ends(id, 3 << 8);
  b.drain();
  EXPECT_EQ(b.record(id)->state, JobState::kFailed);
  EXPECT_EQ(b.record(id)->exit_status, 3 << 8);
  EXPECT_EQ(b.record(id)->ended - b.record(id)->started, minutes(2));
  EXPECT_EQ(b.step(id, kBatchStep)->state, JobState::kFailed);
  EXPECT_EQ(b.jobs.size(), 1u);
  EXPECT_TRUE(b.core.indexes().unrecorded().empty());
  b.expect_replay_equal();
}

TEST(Records, AmountsOfTres) {
  RecordBench b;
  b.connect();
  const JobId plain = b.submit(), id = b.submit([](JobRequest&r) {
    r.num_tasks = 2;
    r.mem_per_cpu_mb = 512;
  });
  b.plan();
  b.started(id);
  b.drain();
  ASSERT_TRUE(b.record(plain) && b.record(id) && b.step(id, kBatchStep));
  EXPECT_EQ(tres_text(b.record(plain)->tres_requested), "cpu=1,node=1,billing=1");
  EXPECT_EQ(b.record(plain)->requested_mem, "");
  EXPECT_EQ(tres_text(b.record(id)->tres_requested), "cpu=2,mem=1G,node=1,billing=2");
  EXPECT_EQ(b.record(id)->requested_mem, "1G");
  EXPECT_EQ(tres_text(b.record(id)->tres_allocated), "cpu=2,mem=1G,node=1,billing=2");
  EXPECT_EQ(tres_text(b.step(id, kBatchStep)->tres_allocated), "cpu=2,mem=1G,node=1");
}

TEST(Records, TheClusterIsRegisteredWithTheTresThatAreTracked) {
  const Bench b(std::string(kOn) + "NodeName=g[0-1] CPUs=8 RealMemory=2000 Gres=gpu:a100:2,nic:1\n");
  config::Config c;
  c.accounting_storage_tres = {"gres/gpu"};
  EXPECT_EQ(tres_text(make_registration(b.core.cluster(), c).cluster.tres), "cpu=32,mem=20000M,node=6,billing=32,gres/gpu=4");
  c.accounting_storage_tres.push_back("license/matlab");
  c.licenses = {{"matlab", 10}, {"ansys", 2}};
  EXPECT_EQ(tres_text(make_registration(b.core.cluster(), c).cluster.tres),
            "cpu=32,mem=20000M,node=6,billing=32,gres/gpu=4,license/matlab=10");
}

TEST(Records, AJobThatGaveUpNodesIsRecordedWithTheRest) {
  RecordBench b;
  b.connect();
  JobId id = b.submit([](JobRequest& r) { r.min_nodes = r.max_nodes = 2; });
  b.plan();
  b.started(id);
  b.drain();
  ASSERT_TRUE(b.record(id));
  EXPECT_EQ(b.record(id)->node_list, "n[0-1]");
  ASSERT_TRUE(b.update(id, "NumNodes", "1"));
  b.drain();
  EXPECT_EQ(b.record(id)->node_list, "n0");
  EXPECT_EQ(b.record(id)->nodes, 1u);
}

TEST(Records, AScriptOfWhichOnlyTheEndIsKnownWasAStepToo) {
  RecordBench b;
  b.connect();
  JobId id = b.submit(), other = b.submit();
  b.plan();
  b.ends(id);
  b.cancel(other);
  b.drain();
  ASSERT_TRUE(b.step(id, kBatchStep));
  EXPECT_EQ(b.step(id, kBatchStep)->state, JobState::kCompleted);
  EXPECT_FALSE(b.step(other, kBatchStep));
}

TEST(Records, NothingLeavesTwiceWhileOneIsOnItsWay) {
  RecordBench b;
  b.connect();
  b.submit();
  auto first = b.upload();
  ASSERT_TRUE(first);
  JobId second = b.submit();
  EXPECT_FALSE(b.upload());
  b.turn([&] { b.core.records_stored(first->position); });
  auto next = b.upload();
  ASSERT_TRUE(next);
  ASSERT_EQ(next->jobs.size(), 1u);
  EXPECT_EQ(next->jobs[0].key.id, second);
}

TEST(Records, WhatChangesWhileItIsOnItsWayLeavesAgain) {
  RecordBench b;
  b.connect();
  JobId id = b.submit();
  auto first = b.upload();
  ASSERT_TRUE(first);
  b.plan();
  b.turn([&] { b.core.records_stored(first->position); });
  auto again = b.upload();
  ASSERT_TRUE(again);
  ASSERT_EQ(again->jobs.size(), 1u);
  EXPECT_EQ(again->jobs[0].key.id, id);
  EXPECT_EQ(again->jobs[0].state, JobState::kRunning);
  EXPECT_GT(again->jobs[0].position, first->jobs[0].position);
}

TEST(Records, ARestartUploadsWhatWasNotAcknowledged) {
  RecordBench b;
  b.connect();
  JobId id = b.submit();
  b.plan();
  ASSERT_TRUE(b.effects.size());
  // The controller dies with the upload on its way; the next one knows only the log.
  Core next(b.settings);
  for (const Event& e : b.log) next.replay(e);
  next.begin(b.now);
  next.records_stored(0);
  next.commit();
  bool uploaded = false;
  for (const Effect& e : next.take_effects(b.now))
    if (auto* u = std::get_if<UploadRecords>(&e)) {
      auto m = make_upload(next.cluster(), *u);
      ASSERT_EQ(m.jobs.size(), 1u);
      EXPECT_EQ(m.jobs[0].key.id, id);
      uploaded = true;
    }
  EXPECT_TRUE(uploaded);
}

// AccountingStorageEnforce=nosteps, nojobs: slurm.conf(5).
TEST(Records, WhatTheSiteDoesNotWantRecordedStaysHere) {
  for (const std::string word : {"nosteps", "nojobs"}) {
    RecordBench b("AccountingStorageEnforce=" + word + "\n");
    b.connect();
    const JobId id = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
    b.plan();
    make_step(b, id);
    b.cancel(id);
    b.drain();
    EXPECT_TRUE(b.steps.empty()) << word;
    EXPECT_EQ(b.jobs.size(), word == "nojobs" ? 0u : 1u) << word;
    EXPECT_TRUE(b.core.indexes().unrecorded().empty()) << "and nothing is left to be sent";
  }
}

TEST(Records, StepsAreKeptUntilTheyAreStored) {
  RecordBench b;
  JobId id = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  b.plan();
  StepId first = make_step(b, id);
  rpc::FinishStep f{id, first, 1 << 8};
  b.turn([&] { (void)b.core.run(Caller{Uid(1000), {}, {}, {}}, f); });
  StepId second = make_step(b, id);
  b.cancel(id);
  EXPECT_EQ(b.core.cluster().kept_records.size(), 2u);
  b.connect();
  b.drain();
  ASSERT_TRUE(b.step(id, first));
  EXPECT_EQ(b.step(id, first)->state, JobState::kFailed);
  EXPECT_EQ(b.step(id, first)->exit_status, 1 << 8);
  EXPECT_EQ(b.step(id, first)->name, "work");
  ASSERT_TRUE(b.step(id, second));
  EXPECT_EQ(b.step(id, second)->state, JobState::kCancelled);
  EXPECT_EQ(b.record(id)->state, JobState::kCancelled);
  EXPECT_TRUE(b.core.cluster().kept_records.empty());
  b.expect_replay_equal();
}

TEST(Records, ARequeuedJobLeavesARecordOfEachRun) {
  RecordBench b;
  b.connect();
  JobId id = b.submit([](JobRequest& r) { r.requeue = TriState::kYes; });
  b.plan();
  b.started(id);
  b.now += minutes(1);
  b.control(rpc::JobAction::kRequeue, id);
  b.gone(id, b.host(id));
  EXPECT_TRUE(b.get(id).pending());
  b.drain();
  ASSERT_TRUE(b.record(id, 0));
  ASSERT_TRUE(b.record(id, 1));
  EXPECT_TRUE(is_finished(b.record(id, 0)->state));
  EXPECT_EQ(b.record(id, 0)->node_list, "n0");
  EXPECT_EQ(b.record(id, 1)->state, JobState::kPending);
  b.expect_replay_equal();
}

// AccountingStoreFlags.
TEST(Records, WhatOfAJobIsRecorded) {
  auto recorded = [](const std::string& flags) {
    RecordBench b(flags.empty() ? "" : "AccountingStoreFlags=" + flags + "\n");
    b.connect();
    const JobId id = b.submit([](JobRequest& r) {
      r.comment = "why";
      r.extra = "more";
      r.std_out = "out";
      r.script_hash = "script";
      r.environment_hash = "env";
    });
    b.plan();
    b.started(id);
    b.drain();
    const JobRecord* r = b.record(id);
    EXPECT_TRUE(r && b.step(id, kBatchStep));
    return r ? r->comment + "|" + r->extra + "|" + r->std_out + b.step(id, kBatchStep)->std_out + "|" + r->script_hash + "|" +
                   r->environment_hash
             : "";
  };
  EXPECT_EQ(recorded(""), "||outout||");
  EXPECT_EQ(recorded("job_comment,job_extra,no_stdio"), "why|more|||");
  EXPECT_EQ(recorded("JOB_SCRIPT,job_env"), "||outout|script|env");
}

// The controller has a script as long as slurmdbd may ask for it.
TEST(Records, TheScriptOfAPurgedJobStaysUntilItIsRecorded) {
  RecordBench b("MinJobAge=2\nAccountingStoreFlags=job_script\n");
  const JobId id = b.submit([](JobRequest& r) { r.script_hash = "script"; });
  b.cancel(id);
  b.wait(seconds(5));
  ASSERT_FALSE(b.exists(id));
  EXPECT_TRUE(b.core.indexes().blob_used("script"));
  EXPECT_TRUE(b.core.take_unused_blobs().empty());
  b.expect_replay_equal();
  b.connect();
  ASSERT_TRUE(b.upload());
  EXPECT_EQ(b.upload()->jobs.at(0).script_hash, "script");
  EXPECT_TRUE(b.core.indexes().blob_used("script")) << "it is on its way";
  b.drain();
  EXPECT_FALSE(b.core.indexes().blob_used("script"));
  EXPECT_EQ(b.core.take_unused_blobs(), std::vector<std::string>{"script"});
  b.expect_replay_equal();
}

TEST(Records, APurgedJobIsStillRecorded) {
  RecordBench b;
  JobId id = b.submit();
  b.plan();
  b.started(id);
  b.ends(id);
  b.wait(minutes(10));
  ASSERT_FALSE(b.exists(id));
  b.connect();
  b.drain();
  ASSERT_TRUE(b.record(id));
  EXPECT_EQ(b.record(id)->state, JobState::kCompleted);
  ASSERT_TRUE(b.step(id, kBatchStep));
  EXPECT_TRUE(b.core.cluster().kept_records.empty());
  b.expect_replay_equal();
}

TEST(Records, TasksOfAnArrayHaveTheirOwn) {
  RecordBench b;
  b.connect();
  JobId id = b.submit([](JobRequest& r) {
    r.array = "0-7";
    r.num_tasks = 4;
  });
  b.plan();
  b.drain();
  ASSERT_TRUE(b.record(id));
  EXPECT_EQ(b.record(id)->array_tasks, "4-7");
  size_t running = 0;
  for (const auto& [key, r] : b.jobs) running += r.state == JobState::kRunning && r.array_job_id == id;
  EXPECT_EQ(running, 4u);
  b.expect_replay_equal();
}

TEST(Records, SwitchedOffTheyAreForgottenAndSwitchedOnAllAreSent) {
  RecordBench b;
  JobId id = b.submit();
  EXPECT_FALSE(b.core.indexes().unrecorded().empty());
  b.turn([&] { b.core.configure(settings_of("")); });
  EXPECT_TRUE(b.core.indexes().unrecorded().empty());
  b.turn([&] { b.core.configure(settings_of(kOn)); });
  b.connect();
  b.drain();
  EXPECT_TRUE(b.record(id));
  b.expect_replay_equal();
}

TEST(Records, AFailedAppendLosesNothing) {
  RecordBench b;
  b.connect();
  JobId id = b.submit();
  auto first = b.upload();
  ASSERT_TRUE(first);
  b.failing_turn([&] { b.core.records_stored(first->position); });
  b.turn([] {});
  auto again = b.upload();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->jobs[0].key.id, id);
}

TEST(Records, StepsGoFirstWhenTooManyWait) {
  RecordBench b("MaxDBDMsgs=10000\nMaxStepCount=20000\n");
  JobId id = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  b.plan();
  b.turn([&] {
    for (int i = 0; i < 10'050; ++i) {
      rpc::CreateStep c;
      c.job = id;
      auto r = b.core.run(Caller::root(), c);
      ASSERT_TRUE(r.has_value());
      (void)b.core.run(Caller::root(), rpc::FinishStep{id, r->step, 0});
    }
  });
  EXPECT_LT(b.core.indexes().unrecorded().size(), 10'000u);
  EXPECT_GT(b.core.indexes().unrecorded().size(), 8'000u);
  b.connect();
  b.drain();
  EXPECT_TRUE(b.record(id));
  EXPECT_FALSE(b.step(id, StepId(0)));
  EXPECT_TRUE(b.step(id, StepId(10'049)));
  EXPECT_GT(b.uploads, 5u);
}

}  // namespace
}  // namespace muster::slurmctld
