// Jobs whose first node decides about their steps: what it is told, and what of its claims becomes true.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const Caller kOwner{Uid(1000), {}, {}, {}};

struct Managed : Bench {
  JobId job;
  explicit Managed(const std::string& conf = "", const std::function<void(JobRequest&)>& more = {}) : Bench(conf, false) {
    for (uint32_t i = 0; i < 4; ++i) register_with_key(i);
    job = submit([&](JobRequest& r) {
      r.stepmgr = true;
      r.min_nodes = r.max_nodes = 2;
      r.num_tasks = 4;
      if (more) more(r);
    });
    plan();
    started_orders = orders<node_rpc::ManageSteps>();
    started(job);
  }
  void register_with_key(uint32_t node, std::vector<node_rpc::ManagedJob> managed = {}) {
    node_rpc::Register r;
    r.node = "n" + std::to_string(node);
    r.hardware.cpus = r.hardware.sockets = 4;
    r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
    r.hardware.real_memory_mb = 4000;
    r.hardware.boot_id = "boot1";
    r.hardware.step_key = "key of n" + std::to_string(node);
    r.managed = std::move(managed);
    if (job && get(job).allocation) r.jobs.push_back({.job = job, .generation = get(job).restarts, .batch = true});
    turn([&] {
      core.node_connected(NodeId(node));
      core.report(NodeId(node), r);
    });
  }
  static Step step(uint32_t id, const NodeShare& held, uint32_t index = 0) {
    Step s;
    s.id = StepId(id);
    StepRequest r;
    r.name = "s" + std::to_string(id);
    s.request = std::make_shared<const StepRequest>(r);
    s.shares.push_back({.node_index = index, .task_count = 1, .cpus = held.cpus, .mem_mb = held.mem_mb, .gres = held.gres});
    return s;
  }
  Step own_step(uint32_t id) const { return step(id, get(job).allocation->nodes[0]); }
  static node_rpc::StepNews made(Step s) {
    node_rpc::StepNews n;
    n.made = std::move(s);
    return n;
  }
  static node_rpc::StepNews ended(uint32_t id, int32_t status, Time when = kTimeUnset) {
    node_rpc::StepNews n;
    n.ended = node_rpc::StepEnd{StepId(id), status, false, when};
    return n;
  }
  void tell(uint64_t first, std::vector<node_rpc::StepNews> news, std::optional<uint32_t> node = {}, uint32_t generation = 0) {
    report(node.value_or(host(job)), node_rpc::StepsOfJob{job, generation, first, std::move(news), false});
  }
  size_t events_of_steps() const {
    return static_cast<size_t>(std::ranges::count_if(last_events, [](const Event& e) {
      return std::holds_alternative<event::StepCreated>(e) || std::holds_alternative<event::StepEnded>(e);
    }));
  }
  std::vector<node_rpc::ManageSteps> started_orders;
};

TEST(ManagedSteps, TheFirstNodeIsToldBeforeItsScriptStarts) {
  Managed b;
  ASSERT_TRUE(b.get(b.job).managed);
  ASSERT_EQ(b.started_orders.size(), 1u);
  const node_rpc::ManageSteps& o = b.started_orders[0];
  EXPECT_EQ(o.job.id, b.job);
  EXPECT_EQ(o.nodes.size(), 2u);
  EXPECT_EQ(o.warrant.node, "n0");
  EXPECT_EQ(o.warrant.key, "key of n0");
  EXPECT_EQ(o.allocated.job.id, b.job);
  Managed again;
  bool before = false;
  again.job = again.submit([](JobRequest& r) { r.stepmgr = true; });
  again.plan();
  for (const Effect& e : again.effects) {
    auto* order = std::get_if<Order>(&e);
    if (order && std::holds_alternative<node_rpc::ManageSteps>(order->order)) before = true;
    if (order && std::holds_alternative<node_rpc::LaunchBatch>(order->order)) {
      EXPECT_TRUE(before);
    }
  }
  EXPECT_TRUE(before);
  b.expect_replay_equal();
}

TEST(ManagedSteps, IsInTheRecordAndNotInTheConfiguration) {
  Managed b("SlurmctldParameters=enable_stepmgr\n", [](JobRequest& r) { r.stepmgr = false; });
  ASSERT_TRUE(b.get(b.job).managed) << "the site asks for it";
  b.turn([&] { b.core.configure(settings_of("")); });
  EXPECT_TRUE(b.get(b.job).managed);
  Bench old;  // its nodes have no keys: an earlier version
  JobId job = old.submit([](JobRequest& r) { r.stepmgr = true; });
  old.plan();
  EXPECT_FALSE(old.get(job).managed);
}

TEST(ManagedSteps, SlurmctldDecidesNothingAboutThem) {
  Managed b;
  rpc::CreateStep c;
  c.job = b.job;
  Result<rpc::StepCreated> r;
  b.turn([&] { r = b.core.run(kOwner, c); });
  EXPECT_EQ(r.error().code, Errc::kNodesBusy);
  b.turn([&] { r = b.core.run(Caller{Uid(2000), {}, {}, {}}, c); });
  EXPECT_EQ(r.error().code, Errc::kAccessDenied);
}

TEST(ManagedSteps, NewsBecomeStepsAndAreTakenOnce) {
  Managed b;
  b.tell(1, {b.made(b.own_step(0)), b.made(b.own_step(1)), b.ended(0, 3 << 8)});
  ASSERT_EQ(b.get(b.job).steps.size(), 1u);
  EXPECT_EQ(b.get(b.job).steps[0].id, StepId(1));
  EXPECT_EQ(b.get(b.job).derived_exit_status, 3 << 8);
  EXPECT_EQ(b.get(b.job).next_step, 2u);
  auto taken = b.orders<node_rpc::StepsTaken>();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].news, 3u);
  // The answer was lost: the same again, and one more.
  b.tell(1, {b.made(b.own_step(0)), b.made(b.own_step(1)), b.ended(0, 3 << 8), b.ended(1, 0)});
  EXPECT_EQ(b.events_of_steps(), 1u);
  EXPECT_TRUE(b.get(b.job).steps.empty());
  b.tell(1, {b.made(b.own_step(0))});
  EXPECT_EQ(b.events_of_steps(), 0u);
  EXPECT_EQ(b.orders<node_rpc::StepsTaken>().size(), 1u) << "whoever repeats it has to hear that it is known";
  b.expect_replay_equal();
}

TEST(ManagedSteps, AWaitingStepStarts) {
  Managed b;
  Step waits = b.own_step(0);
  waits.state = StepState::kPending;
  waits.shares.clear();
  b.tell(1, {b.made(waits)});
  ASSERT_EQ(b.get(b.job).steps[0].state, StepState::kPending);
  b.tell(2, {b.made(b.own_step(0))});
  ASSERT_EQ(b.get(b.job).steps.size(), 1u);
  EXPECT_EQ(b.get(b.job).steps[0].state, StepState::kRunning);
  b.tell(3, {b.made(waits)});
  EXPECT_EQ(b.get(b.job).steps[0].state, StepState::kRunning) << "none goes back";
}

TEST(ManagedSteps, AClaimIsOfTheManagerAndWithinTheJob) {
  Managed b;
  b.tell(1, {b.made(b.own_step(0))}, 1);
  EXPECT_EQ(b.events_of_steps(), 0u) << "the job's other node";
  b.tell(1, {b.made(b.own_step(0))}, 3);
  EXPECT_EQ(b.events_of_steps(), 0u) << "no node of the job";
  b.tell(1, {b.made(b.own_step(0))}, {}, 1);
  EXPECT_EQ(b.events_of_steps(), 0u) << "another run";
  Step more = b.own_step(0);
  more.shares[0].cpus.set(99);
  Step elsewhere = b.own_step(1);
  elsewhere.shares[0].node_index = 7;
  Step text = b.own_step(2);
  StepRequest long_name;
  long_name.name = std::string(100000, 'x');
  text.request = std::make_shared<const StepRequest>(long_name);
  Step batch = b.own_step(kBatchStep.value);
  Step past = b.own_step(3);
  past.start = from_unix(5);
  Step again = b.own_step(3);
  b.tell(1, {b.made(more), b.made(elsewhere), b.made(text), b.made(batch), b.made(past), b.made(again), b.ended(77, 0)});
  EXPECT_EQ(b.events_of_steps(), 1u);
  ASSERT_EQ(b.get(b.job).steps.size(), 1u);
  EXPECT_EQ(b.get(b.job).steps[0].start, b.get(b.job).started) << "not before the job's";
  b.tell(8, {b.ended(3, 0, b.now + seconds(5000))});
  for (const Event& e : b.last_events)
    if (auto* end = std::get_if<event::StepEnded>(&e)) {
      EXPECT_EQ(end->time, b.now);
    }
  EXPECT_TRUE(b.get(b.job).steps.empty());
  b.tell(0, {b.made(b.own_step(9))});
  EXPECT_EQ(b.events_of_steps(), 0u) << "news are numbered from 1";
  b.expect_replay_equal();
}

TEST(ManagedSteps, NewsThatComeAfterTheJobsEndAreTakenAndNothingGoesOn) {
  Managed b("", [](JobRequest& r) { r.kind = JobKind::kAllocation; });
  b.turn([&] { EXPECT_TRUE(b.core.run(kOwner, rpc::FinishAllocation{b.job, 0})); });
  ASSERT_TRUE(b.get(b.job).finished());
  b.tell(1, {b.made(b.own_step(0)), b.ended(0, 0), b.made(b.own_step(1))});
  EXPECT_EQ(b.events_of_steps(), 4u);
  EXPECT_TRUE(b.get(b.job).steps.empty());
  b.expect_replay_equal();
}

TEST(ManagedSteps, ThePartOfAStepThatEndedIsToldToTheManager) {
  Managed b;
  b.tell(1, {b.made(b.own_step(0))});
  b.report(1, node_rpc::StepGone{b.job, 0, StepId(0), 9, false, true});
  auto passed = b.orders<node_rpc::PartOfStepEnded>();
  ASSERT_EQ(passed.size(), 1u);
  EXPECT_EQ(passed[0].part.node, "n1");
  EXPECT_TRUE(passed[0].part.ends_step);
  EXPECT_EQ(b.get(b.job).steps.size(), 1u) << "what it means for the step the manager knows";
}

TEST(ManagedSteps, TheManagerIsToldAgainWhenItRegistersAndForgetsWhatIsOver) {
  Managed b;
  b.register_with_key(b.host(b.job), {{b.job, 0}, {b.job, 7}, {JobId(999), 0}});
  ASSERT_EQ(b.orders<node_rpc::ManageSteps>().size(), 1u);
  auto over = b.orders<node_rpc::EndManagement>();
  ASSERT_EQ(over.size(), 2u);
  EXPECT_EQ(over[0].generation, 7u);
  EXPECT_EQ(over[1].job, JobId(999));
  b.register_with_key(1, {{b.job, 0}});
  EXPECT_EQ(b.orders<node_rpc::EndManagement>().size(), 1u) << "another node's";
  EXPECT_TRUE(b.orders<node_rpc::ManageSteps>().empty());
}

TEST(ManagedSteps, ALostManagerIsFollowedByTheNextNodeWithNumbersOfItsOwn) {
  Managed b("", [](JobRequest& r) {
    r.kind = JobKind::kAllocation;
    r.no_kill = true;
  });
  b.tell(1, {b.made(b.own_step(0)), b.made(b.step(1, b.get(b.job).allocation->nodes[1], 1))});
  b.turn([&] { b.core.node_disconnected(NodeId(0)); });
  b.set_node("n0", "DOWN");
  auto told = b.orders<node_rpc::ManageSteps>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].warrant.node, "n1");
  EXPECT_EQ(told[0].job.next_step, 2u + kStepsUntold);
  EXPECT_EQ(told[0].job.run->step_news, 2u);
  ASSERT_EQ(told[0].job.steps.size(), 1u);
  EXPECT_EQ(told[0].job.steps[0].id, StepId(1));
  b.tell(3, {b.made(b.own_step(5))}, 0);
  EXPECT_EQ(b.events_of_steps(), 0u) << "it is not the manager any more";
  b.tell(3, {b.made(b.own_step(2 + kStepsUntold))}, 1);
  EXPECT_EQ(b.events_of_steps(), 1u);
  b.expect_replay_equal();
}

TEST(ManagedSteps, OfALostManagerWithoutNoKillTheJobEnds) {
  Managed b;
  b.turn([&] { b.core.node_disconnected(NodeId(0)); });
  b.set_node("n0", "DOWN");
  EXPECT_TRUE(b.get(b.job).finished() || b.get(b.job).pending());
  EXPECT_TRUE(b.orders<node_rpc::ManageSteps>().empty());
}

TEST(ManagedSteps, ARequeuedJobBeginsAnew) {
  Managed b;
  b.tell(1, {b.made(b.own_step(0))});
  b.control(rpc::JobAction::kRequeue, b.job);
  b.wait(seconds(2));
  b.gone(b.job, 0);
  b.gone(b.job, 1);
  b.wait(seconds(1));
  ASSERT_EQ(b.get(b.job).restarts, 1u);
  EXPECT_FALSE(b.get(b.job).managed);
  EXPECT_EQ(b.get(b.job).run->step_news, 0u);
  b.plan();
  ASSERT_TRUE(b.get(b.job).managed);
  b.tell(2, {b.ended(0, 0)}, {}, 0);
  EXPECT_EQ(b.events_of_steps(), 0u) << "of the run before";
  b.tell(1, {b.made(b.own_step(0))}, {}, 1);
  EXPECT_EQ(b.events_of_steps(), 1u);
  b.expect_replay_equal();
}

TEST(ManagedSteps, TheirManagerStaysWithTheJob) {
  Managed b("", [](JobRequest& r) { r.kind = JobKind::kAllocation; });
  auto r = b.update(b.job, "NodeList", "n1");
  EXPECT_FALSE(r && r->errors.empty() && b.get(b.job).allocation->nodes.size() == 1);
  EXPECT_EQ(b.get(b.job).allocation->nodes.size(), 2u);
  EXPECT_TRUE(b.update(b.job, "NumNodes", "1"));
  EXPECT_EQ(b.get(b.job).allocation->nodes.size(), 1u);
  EXPECT_EQ(b.host(b.job), 0u);
  EXPECT_EQ(b.orders<node_rpc::ManageSteps>().size(), 1u) << "it hears of what is left";
}

TEST(ManagedSteps, PortsAreKeptForThem) {
  Managed b("MpiParams=ports=12000-12009\n");
  EXPECT_EQ(b.get(b.job).run->first_port, 12000);
  const uint16_t last = b.get(b.job).run->last_port;
  EXPECT_GE(last, 12000);
  // A job beside it whose steps slurmctld manages gets others.
  const JobId other = b.submit([](JobRequest& r) {
    r.kind = JobKind::kAllocation;
    r.num_tasks = 1;
    r.required_nodes = "n0";
  });
  b.plan();
  if (b.get(other).allocation && b.host(other) == 0) {
    rpc::CreateStep c;
    c.job = other;
    c.request.resv_ports_set = true;
    b.turn([&] { EXPECT_TRUE(b.core.run(kOwner, c)); });
    ASSERT_EQ(b.get(other).steps.size(), 1u);
    EXPECT_GT(b.get(other).steps[0].resv_ports.at(0), last);
  }
  Step claims = b.own_step(0);
  claims.resv_ports = {static_cast<uint16_t>(last + 1)};
  b.tell(1, {b.made(claims)});
  EXPECT_EQ(b.events_of_steps(), 0u);
}

}  // namespace
}  // namespace muster::slurmctld
