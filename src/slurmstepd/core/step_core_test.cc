#include "slurmstepd/core/step_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "slurmstepd/core/step_core_testing.h"

namespace muster::slurmstepd {
namespace {

using step_rpc::StepdState;
using testing::ElementsAre;
using testing::IsEmpty;

StepPlan a_step(size_t tasks) {
  StepPlan p;
  p.tasks = tasks;
  p.to_srun = true;
  p.kill_wait_seconds = 30;
  return p;
}
StepPlan a_script() {
  StepPlan p;
  p.tasks = 1;
  p.batch = true;
  p.kill_wait_seconds = 30;
  return p;
}

struct Node : TestHost {
  // To where its tasks run.
  void run(StepPlan plan) {
    const bool srun = plan.to_srun;
    const size_t tasks = plan.tasks;
    core.begin(std::move(plan), {});
    if (srun) {
      connected = true;
      core.connected({});
    }
    core.files_open();
    for (size_t i = 0; i < tasks; ++i) core.started(i);
    done.clear();
  }
  void close() {
    core.written();
    if (connected) {
      connected = false;
      core.srun_lost();
    }
  }
};

TEST(StepCore, AScriptFromItsLaunchToItsResult) {
  Node n;
  n.core.begin(a_script(), {});
  EXPECT_THAT(n.done, ElementsAre("prepared", "open"));
  n.core.files_open();
  n.core.started(0);
  EXPECT_EQ(n.core.phase(), StepPhase::kRunning);
  EXPECT_EQ(n.reports.back().state, StepdState::kRunning);
  n.exits(0, 3 << 8);
  EXPECT_TRUE(n.did("over 0 with epilog"));
  n.core.written();
  EXPECT_EQ(n.reports.back().state, StepdState::kEnded);
  EXPECT_EQ(n.reports.back().exit_status, 3 << 8);
  EXPECT_EQ(n.done.back(), "wait to leave");
  n.core.release();
  EXPECT_EQ(n.done.back(), "leave");
}

TEST(StepCore, WhatCannotBePreparedIsTheNodesFault) {
  Node n;
  n.core.begin(a_script(), fail("no cgroup"));
  n.core.written();
  EXPECT_EQ(n.reports.back().state, StepdState::kLaunchFailed);
  EXPECT_TRUE(n.reports.back().node_fault);
}

TEST(StepCore, SrunThatCannotBeReachedIsNot) {
  Node n;
  n.core.begin(a_step(2), {});
  n.core.connected(fail("refused"));
  n.core.written();
  EXPECT_EQ(n.reports.back().state, StepdState::kLaunchFailed);
  EXPECT_FALSE(n.reports.back().node_fault);
  EXPECT_FALSE(n.did("launch"));
}

TEST(StepCore, WithoutALoginEnvironmentItStartsAndSaysSo) {
  Node n;
  StepPlan p = a_script();
  p.login_environment = true;
  n.core.begin(p, {});
  EXPECT_THAT(n.done, ElementsAre("login environment"));
  n.core.login_environment(fail("the shell hangs"));
  n.core.files_open();
  n.core.started(0);
  EXPECT_TRUE(n.did("all run: the shell hangs"));
}

TEST(StepCore, PrologsComeOneAfterTheOther) {
  Node n;
  StepPlan p = a_step(2);
  p.site_prolog = p.prolog = true;
  n.core.begin(p, {});
  n.core.connected({});
  n.core.files_open();
  EXPECT_THAT(n.done, ElementsAre("connect", "prepared", "open", "wire 0", "site prolog 0"));
  n.done.clear();
  --n.programs;
  n.core.prolog_ended(0, true, std::nullopt);
  EXPECT_EQ(n.done.front(), "prolog 0");
  --n.programs;
  n.core.prolog_ended(0, false, std::nullopt);
  EXPECT_TRUE(n.did("launch 0"));
}

TEST(StepCore, ATaskWhosePrologFailsIsToldAndTheOthersRun) {
  Node n;
  StepPlan p = a_step(2);
  p.prolog = true;
  n.core.begin(p, {});
  n.core.connected({});
  n.core.files_open();
  n.core.prolog_ended(0, false, Error(Errc::kError, "TaskProlog x failed"));
  EXPECT_TRUE(n.did("to srun slurmstepd: error: TaskProlog x failed"));
  EXPECT_TRUE(n.did("ended 0 512"));
  n.core.prolog_ended(1, false, std::nullopt);
  n.core.started(1);
  EXPECT_EQ(n.core.phase(), StepPhase::kRunning);
}

TEST(StepCore, AScriptThatCannotBeExecutedFailsTheLaunch) {
  Node n;
  n.core.begin(a_script(), {});
  n.core.files_open();
  n.alive.clear();
  n.processes = 0;
  n.core.not_started(0, Error(Errc::kError, "execve /x: No such file"), false);
  n.core.written();
  EXPECT_EQ(n.reports.back().state, StepdState::kLaunchFailed);
}

TEST(StepCore, ATaskThatCannotEnterItsDirectoryRunsInTmpOnce) {
  Node n;
  n.core.begin(a_script(), {});
  n.core.files_open();
  n.core.not_started(0, Error(Errc::kError, "chdir /gone: No such file"), true);
  EXPECT_TRUE(n.did("to /tmp 0"));
  n.core.launch_again(0);
  EXPECT_TRUE(n.did("launch 0 in /tmp"));
  n.core.started(0);
  EXPECT_EQ(n.core.phase(), StepPhase::kRunning);
}

TEST(StepCore, AnEndIsTermThenKillUntilNothingIsLeft) {
  Node n;
  n.stubborn = {1};
  n.run(a_step(2));
  n.core.end(30, "CANCELLED");
  EXPECT_THAT(n.done, ElementsAre("note slurmstepd: error: CANCELLED", "all get 18", "all get 15"));
  n.reap();
  EXPECT_EQ(n.core.phase(), StepPhase::kRunning);
  n.dies = false;  // it forks while it is killed
  n.pass();
  EXPECT_EQ(n.clock, seconds(30));
  n.dies = true;
  n.pass();
  EXPECT_EQ(n.clock, seconds(30) + milliseconds(100));
  n.close();
  EXPECT_EQ(n.reports.back().state, StepdState::kEnded);
  EXPECT_EQ(n.reports.back().exit_status, 15);
}

TEST(StepCore, AnEndBeforeTheTasksRunHasTheWordForIt) {
  Node n;
  n.core.begin(a_step(2), {});
  n.core.connected({});
  n.core.end(0, {});
  EXPECT_TRUE(n.did("ended 0 9"));
  EXPECT_TRUE(n.did("ended 1 9"));
  n.core.files_open();  // too late
  EXPECT_FALSE(n.did("wire"));
  n.core.written();
  EXPECT_EQ(n.reports.back().state, StepdState::kEnded);
  EXPECT_EQ(n.reports.back().exit_status, 9);
}

TEST(StepCore, ATaskOnItsWayGetsTermBeforeItIsKilled) {
  Node n;
  n.stubborn = {0};
  n.core.begin(a_step(1), {});
  n.core.connected({});
  n.core.files_open();
  n.done.clear();
  n.core.end(30, {});
  EXPECT_THAT(n.done, ElementsAre("all get 18", "all get 15", "give up start"));
  n.pass();
  EXPECT_EQ(n.clock, seconds(30));
  EXPECT_TRUE(n.did("kill"));
}

TEST(StepCore, WhatTasksLeaveBehindGoesWithThem) {
  Node n;
  n.run(a_step(1));
  ++n.processes;  // a child
  n.exits(0, 0);
  EXPECT_TRUE(n.did("kill"));
  EXPECT_EQ(n.core.phase(), StepPhase::kClosing);
}

TEST(StepCore, WithWaitForChildrenItsLastProcessEndsAStep) {
  Node n;
  StepPlan p = a_step(1);
  p.wait_for_children = true;
  n.run(p);
  ++n.processes;
  n.exits(0, 0);
  EXPECT_EQ(n.core.phase(), StepPhase::kLingering);
  EXPECT_FALSE(n.did("kill"));
  n.processes = 0;
  n.reap();
  EXPECT_EQ(n.core.phase(), StepPhase::kClosing);
}

TEST(StepCore, OutOfMemoryIsToldAndEndsAStepThatWantsSo) {
  Node n;
  StepPlan p = a_step(2);
  p.oom_kill_step = true;
  n.run(p);
  n.kills = 2;
  n.exits(0, 9);
  EXPECT_TRUE(n.did("oom kills 2"));
  EXPECT_TRUE(n.did("ended 0 9 oom"));
  n.close();
  EXPECT_TRUE(n.reports.back().out_of_memory);
  EXPECT_TRUE(n.reports.back().ends_step);
}

TEST(StepCore, TooMuchMemoryEndsItOnAllNodes) {
  Node n;
  n.run(a_step(1));
  n.core.over_memory(Bytes(300), Bytes(100), "StepId=7.0");
  EXPECT_TRUE(n.did("note slurmstepd: error: StepId=7.0 exceeded memory limit (300 > 100), being killed"));
  EXPECT_TRUE(n.did("kill"));
  n.close();
  EXPECT_TRUE(n.reports.back().out_of_memory && n.reports.back().ends_step);
}

TEST(StepCore, ItsOwnLimitWarnsAndEndsIt) {
  Node n;
  StepPlan p = a_step(1);
  p.limit = minutes(2);
  p.warn.signal = 10;
  p.warn.seconds_before_end = 30;
  n.run(p);
  n.pass();
  EXPECT_EQ(n.clock, seconds(90));
  EXPECT_THAT(n.done, ElementsAre("tasks get 10"));
  n.core.set_limit(minutes(5));
  n.pass();
  EXPECT_EQ(n.clock, minutes(5));
  EXPECT_TRUE(n.did("note slurmstepd: error: TIME LIMIT"));
}

TEST(StepCore, AModuleIsAwaitedAndNotForEver) {
  Node n;
  StepPlan p = a_step(1);
  p.module = true;
  n.core.begin(p, {});
  n.core.connected({});
  EXPECT_EQ(n.core.phase(), StepPhase::kModule);
  n.pass();
  EXPECT_EQ(n.clock, seconds(60));
  EXPECT_EQ(n.core.state().text, "mpi/x: the module is not ready after 60 s");
  n.core.module_ready();  // too late
  EXPECT_FALSE(n.did("open"));
}

TEST(StepCore, AModulesLastLettersAreAwaited) {
  Node n;
  StepPlan p = a_step(1);
  p.module = true;
  n.core.begin(p, {});
  n.connected = true;
  n.core.connected({});
  n.core.module_ready();
  n.core.files_open();
  n.core.started(0);
  n.exits(0, 0);
  EXPECT_TRUE(n.did("finish module"));
  EXPECT_EQ(n.core.phase(), StepPhase::kRunning);
  n.module = false;
  n.core.reaped({{}, Error(Errc::kError, "ended")});
  EXPECT_TRUE(n.did("sweep"));
  n.close();
  EXPECT_EQ(n.reports.back().state, StepdState::kEnded);
}

TEST(StepCore, ATaskThatAbortsEndsBeforeTheStepIsToldTo) {
  Node n;
  n.run(a_step(2));
  n.core.module_wants_abort("task 0 aborts");
  EXPECT_FALSE(n.did("abort everywhere"));
  n.exits(0, 6);
  EXPECT_TRUE(n.did("abort everywhere"));
}

TEST(StepCore, PluginsThatFailBlameTheNodeForAScriptUnlessItIsTheJob) {
  for (bool blames_job : {false, true}) {
    Node n;
    n.plugin_error = Error(Errc::kError, "x.so");
    n.blames_job = blames_job;
    n.core.begin(a_script(), {});
    n.core.written();
    EXPECT_EQ(n.reports.back().node_fault, !blames_job);
    EXPECT_TRUE(n.did("note slurmstepd: error: spank: x.so"));
  }
}

TEST(StepCore, SrunGoneEndsItAndSrunThatReadsNothingIsLeftBehind) {
  Node n;
  n.run(a_step(1));
  n.connected = false;
  n.core.srun_lost();
  EXPECT_TRUE(n.did("all get 15"));

  Node slow;
  slow.run(a_step(1));
  slow.exits(0, 0);
  slow.core.written();
  EXPECT_TRUE(slow.did("end to srun"));
  slow.pass();
  EXPECT_EQ(slow.clock, seconds(60));
  EXPECT_TRUE(slow.core.finished());
}

// What may happen to a step, in whatever order it may.
struct AnyLife {
  Random random;
  Node n;
  size_t tasks;
  std::vector<bool> on_its_way;

  explicit AnyLife(uint64_t seed) : random(seed), tasks(1 + random.uniform(0, 2)), on_its_way(tasks, true) {
    StepPlan p = a_step(tasks);
    p.to_srun = random.chance(0.7);
    p.module = p.to_srun && random.chance(0.3);
    p.prolog = random.chance(0.3);
    p.wait_for_children = random.chance(0.2);
    p.login_environment = random.chance(0.2);
    p.kill_wait_seconds = static_cast<uint32_t>(random.uniform(0, 2));
    if (random.chance(0.3)) p.limit = seconds(static_cast<int64_t>(random.uniform(0, 100)));
    n.held = random.chance(0.2);
    n.core.begin(p, random.chance(0.05) ? Result<>(fail("no cgroup")) : Result<>());
  }

  void the_start_goes_on() {
    switch (n.core.phase()) {
      case StepPhase::kConnecting:
        n.connected = random.chance(0.9);
        return n.core.connected(n.connected ? Result<>() : Result<>(fail("refused")));
      case StepPhase::kPreparing: return n.core.login_environment({});
      case StepPhase::kModule: return n.core.module_ready();
      case StepPhase::kOpening: return n.core.files_open();
      default: return;
    }
  }
  void a_prolog_ends() {
    if (n.prologs.empty()) return;
    const size_t task = n.prologs.back();
    n.prologs.pop_back();
    --n.programs;
    n.core.prolog_ended(task, false, random.chance(0.2) ? std::optional(Error(Errc::kError, "failed")) : std::nullopt);
  }
  void a_task_comes_to_its_program(size_t task) {
    if (n.held || !n.alive.contains(task) || !on_its_way[task]) return;
    on_its_way[task] = false;
    n.core.started(task);
  }
  void a_task_ends(size_t task) {
    if (!on_its_way[task]) n.exits(task, static_cast<int32_t>(random.uniform(0, 2)) << 8);
  }
  void srun_goes() {
    if (!n.connected) return;
    n.connected = false;
    n.core.srun_lost();
  }
  void the_module_goes() {
    if (!n.module) return;
    n.module = false;
    n.core.module_gone();
    n.core.reaped({{}, Error(Errc::kError, "the module ended")});
  }
  void a_child_comes_or_goes() {
    if (n.processes > static_cast<int>(n.alive.size())) --n.processes;
    else ++n.processes;
    n.reap();
  }

  void one() {
    const size_t task = random.uniform(0, tasks - 1);
    switch (random.uniform(0, 13)) {
      case 0:
      case 1:
      case 2: return the_start_goes_on();
      case 3: return a_prolog_ends();
      case 4:
      case 5: return a_task_comes_to_its_program(task);
      case 6: return a_task_ends(task);
      case 7: return random.chance(0.2) ? n.core.end(static_cast<uint32_t>(random.uniform(0, 1)), "CANCELLED") : void();
      case 8: return random.chance(0.2) ? srun_goes() : n.core.readers_changed();
      case 9: return n.did("write") ? n.core.written() : void();
      case 10: return n.timers.empty() ? void() : n.pass();
      case 11: return random.chance(0.3) ? the_module_goes() : void();
      case 12: return random.chance(0.1) ? n.core.release() : void();
      default: return a_child_comes_or_goes();
    }
  }
  // Everybody lets go.
  void end() {
    n.core.end(0, {});
    for (int round = 0; round < 50 && !n.core.finished(); ++round) {
      n.programs = 0;
      n.connected = n.attached = n.module = false;
      n.reap();
      n.core.programs_idle();
      n.core.srun_lost();
      if (n.did("write")) n.core.written();
      if (!n.core.finished() && !n.timers.empty()) n.pass();
    }
  }
};

TEST(StepCore, EveryLifeHasOneEnd) {
  int ran = 0, failed = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    AnyLife life(seed);
    for (int i = 0; i < 60 && !life.n.core.finished(); ++i) life.one();
    life.end();
    const Node& n = life.n;
    ran += n.did("all run");
    failed += n.core.state().state == StepdState::kLaunchFailed;
    ASSERT_TRUE(n.core.finished()) << "seed " << seed << " stays in phase " << static_cast<int>(n.core.phase());
    EXPECT_THAT(n.timers, IsEmpty());
    EXPECT_EQ(std::ranges::count(n.done, "clean up"), 1) << seed;
    EXPECT_EQ(std::ranges::count_if(n.reports, [](const auto& r) { return r.state >= StepdState::kEnded; }), 1) << seed;
  }
  EXPECT_GT(ran, 300);
  EXPECT_GT(failed, 300);
}

}  // namespace
}  // namespace muster::slurmstepd
