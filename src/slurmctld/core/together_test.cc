// Heterogeneous jobs in the controller: one command submits all components, they start, end and come back together.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/new_claims.h"

namespace muster::slurmctld {
namespace {

struct Het : ::testing::Test {
  explicit Het(const std::string& conf = "") : b(conf) {}
  Bench b;

  Result<rpc::JobSubmitted> ask(std::vector<std::function<void(JobRequest&)>> changes, uint32_t uid = 1000) {
    HetRequest h;
    for (auto& change : changes) h.components.push_back(Bench::request(change));
    for (JobRequest& r : h.components) r.uid = Uid(uid);
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    b.turn([&] { r = b.core.run(Caller{Uid(uid), {}, {}, {}}, h); });
    return r;
  }
  // Components on whole nodes, so many each.
  JobId submit(const std::vector<uint32_t>& nodes) {
    std::vector<std::function<void(JobRequest&)>> changes;
    for (uint32_t n : nodes)
      changes.push_back([n](JobRequest& r) {
        r.min_nodes = r.max_nodes = n;
        r.exclusive = Exclusive::kNode;
      });
    auto r = ask(changes);
    EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message());
    return r ? r->job : JobId{};
  }
  JobId at(JobId leader, uint32_t offset) { return JobId(leader.value + offset); }
  Result<rpc::SignalJobsAnswer> cancel(JobId job, std::optional<uint32_t> offset = {}, Uid uid = Uid(1000)) {
    rpc::SignalJobs c;
    c.filter.jobs.emplace_back().job = job;
    c.filter.jobs.back().het_offset = offset;
    Result<rpc::SignalJobsAnswer> r;
    b.turn([&] { r = b.core.run(Caller{uid, {}, {}, {}}, c); });
    return r;
  }
  // Nothing of the job is left on any of its nodes.
  void all_gone(JobId job) {
    const Job j = b.get(job);
    for (const NodeShare& s : j.allocation->nodes) b.gone(job, s.node.value);
  }
  void control(rpc::JobAction action, JobId job, std::optional<uint32_t> offset = {}) {
    rpc::ControlJobs c;
    c.action = action;
    c.jobs.emplace_back().job = job;
    c.jobs.back().het_offset = offset;
    b.turn([&] {
      auto r = b.core.run(Caller::root(), c);
      b.control_errors = r ? r->errors : std::vector<rpc::PerJobError>{};
    });
  }
};
struct HetWhole : Het {
  HetWhole() : Het("SchedulerParameters=whole_hetjob\n") {}
};

// The node that fails is given up by one component (--no-kill) and ends another, and with it all: the first has that node no more.
TEST_F(Het, AComponentThatGaveUpTheNodeEndsWithTheOthers) {
  const auto on = [](std::string nodes, uint32_t count) {
    return [nodes, count](JobRequest& r) {
      r.required_nodes = nodes;
      r.min_nodes = r.num_tasks = count;
      r.mem_per_node_mb = 100;
      r.no_kill = count > 1;
    };
  };
  auto r = ask({on("n0", 1), on("n[1-2]", 2), on("n1", 1)});
  ASSERT_TRUE(r);
  b.plan();
  for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(b.state(at(r->job, i)), JobState::kRunning);
  b.set_node("n1", "DOWN");
  EXPECT_EQ(b.state(at(r->job, 1)), JobState::kNodeFail);
  EXPECT_EQ(b.get(at(r->job, 1)).allocation->nodes.size(), 1u);
  EXPECT_EQ(b.get(at(r->job, 1)).run->releasing.size(), 1u);
  b.expect_replay_equal();
}

struct HetPreempted : Het {
  HetPreempted()
      : Het("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nPartitionName=urgent Nodes=n[0-3] PriorityTier=9 MaxTime=60\n") {}
};

// Two components are in the way of a job that wants three nodes, and one in that of a job that wants one. guide preempt.
TEST_F(HetPreempted, TheWholeMakesRoom) {
  JobId waits;
  for (const uint32_t wanted : {3u, 1u}) {
    const JobId leader = submit({2, 2});
    b.plan();
    ASSERT_EQ(b.state(leader), JobState::kRunning) << wanted;
    b.wait(seconds(10));
    waits = b.submit([&](JobRequest& r) {
      r.min_nodes = wanted;
      r.exclusive = Exclusive::kNode;
      r.partitions = {"urgent"};
    });
    b.plan();
    ASSERT_TRUE(b.get(waits).turns->claim) << wanted;
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(b.state(at(leader, i)), JobState::kPreempted);
      EXPECT_EQ(b.get(at(leader, i)).run->preempted_by, waits);
      EXPECT_TRUE(b.get(at(leader, i)).flags & kJobRequeued);
    }
    b.expect_replay_equal();
    for (uint32_t i = 0; i < 2; ++i) all_gone(at(leader, i));
    EXPECT_EQ(b.state(leader), JobState::kPending);
    for (JobId id : {leader, waits}) cancel(id);
  }
}

// Four nodes with a job each, and a job of two components, of one node and of two.
struct HetPreempts : HetPreempted {
  std::vector<JobId> low;
  JobId leader;
  void fill() {
    for (int i = 0; i < 4; ++i) low.push_back(b.submit([](JobRequest& r) { r.exclusive = Exclusive::kNode; }));
    EXPECT_EQ(b.plan(), 4u);
    for (JobId id : low) b.started(id);
    b.wait(seconds(10));
    auto urgent = [](uint32_t nodes) {
      return [nodes](JobRequest& r) {
        r.min_nodes = r.max_nodes = nodes;
        r.exclusive = Exclusive::kNode;
        r.partitions = {"urgent"};
      };
    };
    leader = ask({urgent(1), urgent(2)})->job;
  }
  std::vector<JobId> victims() {
    std::vector<JobId> out;
    for (JobId id : low)
      if (b.get(id).is_preempted()) out.push_back(id);
    return out;
  }
};

TEST_F(HetPreempts, AllComponentsHaveOneClaimAndStartTogether) {
  fill();
  b.plan();
  const std::vector<JobId> gone = victims();
  ASSERT_EQ(gone.size(), 3u);
  ASSERT_TRUE(b.get(leader).turns->claim);
  EXPECT_FALSE(b.get(at(leader, 1)).turns->claim);
  const Claim claim = *b.get(leader).turns->claim;
  EXPECT_EQ(claim.victims, gone);
  ASSERT_EQ(claim.parts.size(), 2u);
  EXPECT_EQ(claim.parts[1].job, at(leader, 1));
  EXPECT_EQ(claim.allocation->nodes.size(), 3u);
  for (JobId id : gone) EXPECT_EQ(b.get(id).run->preempted_by, leader);
  b.expect_replay_equal();
  for (size_t i = 0; i < 2; ++i) all_gone(gone[i]);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(victims().size(), 1u) << "nobody else has to go";
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(b.state(at(leader, i)), JobState::kPending);
  all_gone(gone[2]);
  EXPECT_EQ(b.plan(), 1u);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(b.state(at(leader, i)), JobState::kRunning);
  EXPECT_FALSE(b.get(leader).turns->claim);
  b.expect_replay_equal();
}

// What was planned is asked about again: by then one component is held, or the node of one is gone. Nobody ends for the other.
TEST_F(HetPreempts, NobodyEndsWhereOneComponentWouldNotStart) {
  fill();
  for (const bool held : {true, false}) {
    const sched::Plan plan = sched::Planner().plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
    ASSERT_EQ(plan.preemptions.size(), 1u);
    if (held) {
      control(rpc::JobAction::kHold, at(leader, 1));
    } else {
      const NodeId node = plan.preemptions[0].components.at(0).allocation->nodes[0].node;
      b.set_node("n" + std::to_string(node.value), "DRAIN");
    }
    b.turn([&] { b.core.carry_out(plan); });
    EXPECT_TRUE(victims().empty());
    EXPECT_FALSE(b.get(leader).turns->claim);
    if (held) control(rpc::JobAction::kRelease, at(leader, 1));
  }
}

// A plan made before the claim knows nothing of it: neither a component of another job nor a job starts on what is claimed.
TEST_F(HetPreempts, WhatAnyComponentHasClaimedIsKept) {
  fill();
  b.plan();
  const Claim claim = *b.get(leader).turns->claim;
  const NewClaims claims(b.core.cluster(), b.core.indexes(), 0);
  auto on = [&](const NodeShare& share) {
    auto a = std::make_shared<Allocation>();
    a->nodes.push_back(share);
    return sched::StartItem{.job = JobId(900), .allocation = a};
  };
  for (const NodeShare& share : claim.allocation->nodes) EXPECT_TRUE(claims.keep_from(on(share)));
  NodeShare elsewhere;
  for (uint32_t i = 0; i < 4; ++i)
    if (std::ranges::find(claim.allocation->nodes, NodeId(i), &NodeShare::node) == claim.allocation->nodes.end())
      elsewhere.node = NodeId(i);
  sched::StartItem whole = on(elsewhere);
  EXPECT_FALSE(claims.keep_from(whole));
  whole.together.push_back(on(claim.allocation->nodes[1]));
  whole.together[0].job = JobId(901);
  EXPECT_TRUE(claims.keep_from(whole));
  whole.job = leader;
  EXPECT_FALSE(claims.keep_from(whole)) << "it is its own";
}

TEST_F(Het, IdsFollowOneAnotherAndTheFirstLeads) {
  const JobId id = submit({1, 2});
  EXPECT_EQ(b.get(id).het, (HetPart{id, 0, 2}));
  EXPECT_EQ(b.get(at(id, 1)).het, (HetPart{id, 1, 2}));
  EXPECT_EQ(b.get(id).request->kind, JobKind::kBatch);
  EXPECT_EQ(b.get(at(id, 1)).request->kind, JobKind::kAllocation);
  EXPECT_EQ(job_name_for_users(b.get(at(id, 1))), std::to_string(id.value) + "+1");
  EXPECT_EQ(component_ids(b.get(id).het), std::to_string(id.value) + "-" + std::to_string(id.value + 1));
  b.expect_replay_equal();
}

TEST_F(Het, AllAreAcceptedOrNone) {
  const size_t before = b.core.cluster().jobs.size();
  auto r = ask({[](JobRequest& q) { q.min_nodes = 1; }, [](JobRequest& q) { q.min_nodes = 40; }});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().hint.find("component 1"), std::string::npos) << r.error().hint;
  EXPECT_EQ(b.core.cluster().jobs.size(), before);
  EXPECT_TRUE(b.last_events.empty());
}

TEST_F(Het, WhatComponentsMayNotAskFor) {
  EXPECT_EQ(ask({[](JobRequest& q) { q.array = "1-2"; }, [](JobRequest&) {}}).error().code, Errc::kInvalidArray);
  EXPECT_EQ(ask({[](JobRequest&) {}, [](JobRequest& q) { q.array = "1-2"; }}).error().code, Errc::kInvalidArray);
  EXPECT_EQ(ask({[](JobRequest&) {}, [](JobRequest& q) { q.licenses = std::string("a"); }}).error().code, Errc::kLicenses);
  std::vector<std::function<void(JobRequest&)>> many(kMostComponents + 1, [](JobRequest&) {});
  EXPECT_EQ(ask(many).error().code, Errc::kInvalidReq);
  EXPECT_EQ(ask({}).error().code, Errc::kInvalidReq);
  HetRequest others;
  others.components = {Bench::request(), Bench::request([](JobRequest& q) { q.uid = Uid(0); })};
  Result<rpc::JobSubmitted> r;
  b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, others); });
  EXPECT_FALSE(r);
}

TEST_F(Het, TheyStartTogether) {
  const JobId id = submit({1, 2});
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(id), JobState::kRunning);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kRunning);
  const auto launches = b.orders<node_rpc::LaunchBatch>();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].job.job, id);
  ASSERT_EQ(launches[0].job.het.size(), 2u);
  EXPECT_EQ(launches[0].job.het[1].job, at(id, 1));
  EXPECT_EQ(launches[0].job.het[1].cpus_per_node, (std::vector<uint32_t>{4, 4}));
  b.expect_replay_equal();
}

TEST_F(Het, NoneStartsWhenThePlanNoLongerFitsForOne) {
  const JobId id = submit({1, 2});
  const auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  b.set_node("n" + std::to_string(plan.starts[0].together[0].allocation->nodes[0].node.value), "drain");
  size_t started = 1;
  b.turn([&] { started = b.core.carry_out(plan); });
  EXPECT_EQ(started, 0u);
  EXPECT_EQ(b.state(id), JobState::kPending);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kPending);
  // Nor does a plan that has lost some of the components, or has them twice.
  auto wrong = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(wrong.starts.size(), 1u);
  auto less = wrong, twice = wrong;
  less.starts[0].together.clear();
  twice.starts[0].together[0].allocation = twice.starts[0].allocation;
  b.turn([&] { started = b.core.carry_out(less) + b.core.carry_out(twice); });
  EXPECT_EQ(started, 0u);
  EXPECT_EQ(b.plan(), 1u);
}

TEST_F(Het, WithTheScriptEndsTheWhole) {
  const JobId id = submit({1, 2});
  b.plan();
  b.started(id);
  b.ends(id, 3 << 8);
  for (JobId one : {id, at(id, 1)}) {
    EXPECT_EQ(b.state(one), JobState::kFailed);
    EXPECT_EQ(b.get(one).exit_status, 3 << 8);
    EXPECT_EQ(b.get(one).reason, Reason::kNonZeroExitCode);
  }
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 2u);  // of the other component's nodes
  b.expect_replay_equal();
}

TEST_F(Het, OnlyTheWholeIsCancelledWhileItWaits) {
  const JobId blocker = b.submit([](JobRequest& r) {
    r.min_nodes = r.max_nodes = 4;
    r.exclusive = Exclusive::kNode;
  });
  b.plan();
  ASSERT_EQ(b.state(blocker), JobState::kRunning);
  const JobId id = submit({1, 1});
  for (auto [job, offset] :
       {std::pair(id, std::optional(1u)), std::pair(id, std::optional(0u)), std::pair(at(id, 1), std::optional<uint32_t>())}) {
    auto r = cancel(job, offset);
    ASSERT_TRUE(r && r->errors.size() == 1);
    EXPECT_EQ(r->errors[0].code, errc_number(Errc::kNotWholeHetJob));
  }
  EXPECT_EQ(b.state(id), JobState::kPending);
  auto r = cancel(id);
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->errors.empty());
  EXPECT_EQ(b.state(id), JobState::kCancelled);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kCancelled);
  b.expect_replay_equal();
}

TEST_F(Het, AComponentThatRunsIsCancelledByItself) {
  const JobId id = submit({1, 1, 1});
  b.plan();
  EXPECT_TRUE(cancel(id, 1)->errors.empty());
  EXPECT_EQ(b.state(at(id, 1)), JobState::kCancelled);
  EXPECT_EQ(b.state(id), JobState::kRunning);
  EXPECT_TRUE(cancel(at(id, 2))->errors.empty());
  EXPECT_EQ(b.state(at(id, 2)), JobState::kCancelled);
  EXPECT_EQ(b.state(id), JobState::kRunning);
  cancel(id);
  EXPECT_EQ(b.state(id), JobState::kCancelled);
}

TEST_F(HetWhole, OneIdMeansTheWholeWhereTheSiteSaysSo) {
  const JobId id = submit({1, 1});
  b.control(rpc::JobAction::kHold, at(id, 1));
  EXPECT_EQ(b.get(id).priority, 0u);
  b.control(rpc::JobAction::kRelease, at(id, 1));
  EXPECT_NE(b.get(id).priority, 0u);
  EXPECT_TRUE(cancel(at(id, 1))->errors.empty());
  EXPECT_EQ(b.state(id), JobState::kCancelled);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kCancelled);
}

TEST_F(Het, AHeldComponentHoldsTheOthersBack) {
  const JobId id = submit({1, 1});
  b.control(rpc::JobAction::kHold, at(id, 1));
  EXPECT_NE(b.get(id).priority, 0u);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(reason_shown(b.core.cluster(), b.get(id)), Reason::kJobHeldAdmin);
  b.control(rpc::JobAction::kRelease, id);
  EXPECT_EQ(b.plan(), 1u);
}

TEST_F(Het, OnlyTheWholeIsRequeuedAndSuspended) {
  const JobId id = submit({1, 1});
  b.plan();
  b.started(id);
  control(rpc::JobAction::kRequeue, id, 1);
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kNotHetJobLeader));
  control(rpc::JobAction::kSuspend, at(id, 1));
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kNotWholeHetJob));
  control(rpc::JobAction::kSuspend, id);
  EXPECT_TRUE(b.control_errors.empty());
  EXPECT_EQ(b.state(id), JobState::kSuspended);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kSuspended);
  control(rpc::JobAction::kResume, id);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kRunning);
}

TEST_F(Het, TheWholeComesBackWhenNothingOfAnyIsLeft) {
  const JobId id = submit({1, 2});
  b.plan();
  b.started(id);
  cancel(id, 1);
  all_gone(at(id, 1));
  EXPECT_EQ(b.state(at(id, 1)), JobState::kCancelled);
  control(rpc::JobAction::kRequeue, id);
  EXPECT_TRUE(b.control_errors.empty());
  EXPECT_EQ(b.plan(), 0u);
  all_gone(id);
  for (JobId one : {id, at(id, 1)}) {
    EXPECT_EQ(b.state(one), JobState::kPending);
    EXPECT_EQ(b.get(one).restarts, 1u);
  }
  b.wait(seconds(200));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(at(id, 1)), JobState::kRunning);
  // One that is over comes back, too.
  b.started(id);
  b.ends(id, 0);
  all_gone(at(id, 1));
  EXPECT_EQ(b.state(id), JobState::kCompleted);
  control(rpc::JobAction::kRequeue, id);
  EXPECT_EQ(b.state(id), JobState::kPending);
  EXPECT_EQ(b.get(at(id, 1)).restarts, 2u);
  b.expect_replay_equal();
}

TEST_F(Het, ALostNodeOfAnyComponentRequeuesTheWhole) {
  const JobId id = submit({1, 2});
  b.plan();
  b.started(id);
  b.set_node("n" + std::to_string(b.get(at(id, 1)).allocation->nodes[0].node.value), "down");
  for (JobId one : {id, at(id, 1)}) EXPECT_TRUE(b.get(one).pending() || (b.get(one).flags & kJobRequeued)) << one.value;
  b.expect_replay_equal();
}

TEST_F(Het, ADependencyOnTheFirstIsOnAll) {
  const JobId id = submit({1, 1});
  const JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterok:" + std::to_string(id.value); });
  const JobId bad = b.submit([&](JobRequest& r) { r.dependency = "afternotok:" + std::to_string(id.value); });
  const JobId one = b.submit([&](JobRequest& r) { r.dependency = "afterany:" + std::to_string(id.value + 1); });
  b.plan();
  b.started(id);
  cancel(id, 1);
  EXPECT_EQ(b.get(one).dependencies, nullptr);
  EXPECT_NE(b.get(after).dependencies, nullptr);
  b.ends(id, 0);
  EXPECT_EQ(b.get(after).reason, Reason::kDependencyNeverSatisfied);
  EXPECT_EQ(b.get(bad).dependencies, nullptr);
  // Singletons of one job do not wait for one another.
  auto r = ask({[](JobRequest& q) { q.dependency = "singleton"; }, [](JobRequest& q) { q.dependency = "singleton"; }});
  ASSERT_TRUE(r);
  b.cancel(bad);
  b.cancel(one);
  b.cancel(after);
  b.turn([] {});
  EXPECT_EQ(b.get(at(r->job, 1)).dependencies, b.get(r->job).dependencies);
}

TEST_F(Het, TheyAreForgottenTogether) {
  const JobId id = submit({1, 1});
  b.plan();
  b.started(id);
  cancel(id, 1);
  all_gone(at(id, 1));
  b.wait(seconds(150));
  EXPECT_TRUE(b.exists(at(id, 1)));
  b.ends(id, 0);
  b.wait(seconds(150));
  EXPECT_FALSE(b.exists(id));
  EXPECT_FALSE(b.exists(at(id, 1)));
}

TEST_F(Het, AStepRunsInAllComponentsOrInNone) {
  const JobId id = submit({1, 2});
  b.plan();
  b.started(id);
  auto ask_for = [&](std::vector<uint32_t> components, uint32_t tasks, Uid uid = Uid(1000)) {
    rpc::CreateHetStep c;
    for (uint32_t i : components) {
      rpc::CreateStep& one = c.components.emplace_back();
      one.job = at(id, i);
      one.request.num_tasks = tasks;
      one.srun_host = "h";
      one.srun_pid = tasks;
    }
    Result<rpc::HetStepCreated> r;
    b.turn([&] { r = b.core.run(Caller{uid, {}, {}, {}}, c); });
    return r;
  };
  auto r = ask_for({0, 1}, 2);
  ASSERT_TRUE(r.has_value()) << r.error().message();
  ASSERT_EQ(r->components.size(), 2u);
  const rpc::StepCreated &first = r->components[0], &second = r->components[1];
  EXPECT_EQ(first.step, second.step);
  EXPECT_EQ(first.num_tasks, 4u);
  EXPECT_EQ(second.nodes.size(), first.nodes.size());
  EXPECT_EQ(first.own_nodes, 1u);
  EXPECT_EQ(second.first_node, 1u);
  std::vector<uint32_t> ranks;
  for (const rpc::StepNode& n : second.nodes) ranks.insert(ranks.end(), n.ranks.begin(), n.ranks.end());
  EXPECT_EQ(ranks, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(b.get(at(id, 1)).steps.size(), 1u);
  // Asked again, because the answer was lost: the same step.
  EXPECT_EQ(ask_for({0, 1}, 2)->components[1].nodes.size(), first.nodes.size());
  EXPECT_EQ(b.get(at(id, 1)).steps.size(), 1u);
  // No room in one of them: a step in none.
  EXPECT_EQ(ask_for({0, 1}, 4).error().code, Errc::kNodesBusy);
  EXPECT_EQ(b.get(id).steps.size(), 1u);
  EXPECT_EQ(ask_for({1, 0}, 1).error().code, Errc::kInvalidReq);
  EXPECT_EQ(ask_for({0, 0}, 1).error().code, Errc::kInvalidReq);
  EXPECT_EQ(ask_for({}, 1).error().code, Errc::kInvalidReq);
  EXPECT_FALSE(ask_for({0, 1}, 1, Uid(1001)));
  // The next number is free in all of them.
  const JobId other = b.submit();
  EXPECT_FALSE(ask_for({0, other.value - id.value}, 1));
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
