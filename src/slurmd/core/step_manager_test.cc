// The manager of a job's steps on its first node. Whatever it decides is made true as after a restart: from what was written down.
#include "slurmd/core/step_manager.h"

#include <gtest/gtest.h>

#include "steps/warrant.h"

namespace muster::slurmd {
namespace {

const Time kNow = from_unix(1'700'000'000);
const JobId kJob(7);
const Uid kOwner(1000), kOther(1001);

Bitmap bits(size_t count) {
  Bitmap out;
  for (size_t i = 0; i < count; ++i) out.set(i);
  return out;
}

// A job on n0 and n1 with four CPUs of each.
node_rpc::ManageSteps order(uint32_t generation = 0, std::vector<uint32_t> nodes = {0, 1}) {
  node_rpc::ManageSteps o;
  JobRequest r;
  r.uid = kOwner;
  r.num_tasks = 2;
  o.request = std::make_shared<const JobRequest>(r);
  o.job.id = kJob;
  o.job.restarts = generation;
  o.job.state = JobState::kRunning;
  o.job.started = kNow;
  o.job.ends = kTimeInfinite;
  auto held = std::make_shared<Allocation>();
  for (uint32_t i : nodes) {
    held->nodes.push_back({.node = NodeId(i), .cpus = bits(4), .mem_mb = 4000, .gres = {}, .tasks = 1});
    auto spec = std::make_shared<NodeSpec>();
    spec->name = "n" + std::to_string(i);
    spec->cpus = spec->sockets = 4;
    spec->cores_per_socket = spec->threads_per_core = 1;
    node_rpc::ManagedNode& n = o.nodes.emplace_back();
    n.id = NodeId(i);
    n.spec = spec;
  }
  o.job.allocation = held;
  o.bounds.most_steps = 40000;
  o.warrant.expires = kNow + steps::kWarrantLife;
  o.warrant.job.cluster = "c";
  o.allocated.job.id = kJob;
  return o;
}

struct Bench {
  StepManager m;
  std::vector<ManagerRecord> log;  // of kJob
  StepUsagePtr usage;              // of parts that end
  Bench() {
    m.set_node_names({"n0", "n1", "n2"});
    take(m.manage(order()));
  }
  bool take(const std::optional<ManagerRecord>& r) {
    if (!r) return false;
    log.push_back(*r);
    m.apply(kJob, *r);
    return true;
  }
  Result<rpc::StepCreated> create(const std::function<void(rpc::CreateStep&)>& change = {}, Uid who = kOwner) {
    rpc::CreateStep c;
    c.job = kJob;
    c.request.num_tasks = 1;
    c.request.cpus_per_task = 1;
    if (change) change(c);
    auto d = m.create(who, c, kNow);
    if (!d) return std::unexpected(d.error());
    take(d->record);
    return d->reply;
  }
  Result<> finish(uint32_t step, int32_t status = 0, Uid who = kOwner) {
    auto d = m.finish(who, {kJob, StepId(step), status}, kNow);
    if (!d) return std::unexpected(d.error());
    take(d->record);
    return {};
  }
  bool part(const std::string& node, uint32_t step, int32_t status = 0, uint32_t generation = 0) {
    return take(m.part_ended({node, kJob, generation, StepId(step), status, false, false, usage}, kNow));
  }
  std::vector<node_rpc::StepNews> news() const {
    auto n = m.news(kJob, 0, kNow);
    return n ? n->news : std::vector<node_rpc::StepNews>();
  }
  // What a slurmd that is started again reads.
  void restart(bool as_one_record = false) {
    StepManager fresh;
    fresh.set_node_names({"n0", "n1", "n2"});
    const ManagerRecord whole = m.state_of(kJob);
    if (as_one_record) fresh.apply(kJob, whole);
    else
      for (const ManagerRecord& r : log) fresh.apply(kJob, r);
    m = std::move(fresh);
  }
};

StepUsagePtr use_of(uint32_t task, const std::string& node) {
  StepUsage u;
  TaskUsage t;
  t.task = task;
  t.rss = Bytes(100);
  add_task(u, t, node);
  return std::make_shared<const StepUsage>(u);
}

TEST(StepUse, OfAllNodesComesWithTheEnd) {
  Bench b;
  ASSERT_TRUE(b.create([](rpc::CreateStep& c) { c.request.min_nodes = c.request.num_tasks = 2; }));
  b.usage = use_of(0, "n0");
  ASSERT_TRUE(b.part("n0", 0));
  b.usage = use_of(1, "n1");
  ASSERT_TRUE(b.part("n1", 0));
  const auto& end = b.log.back().news.at(0).ended;
  ASSERT_TRUE(end && end->usage);
  EXPECT_EQ(end->usage->tasks, 2u);
  EXPECT_EQ(end->usage->rss.total, Bytes(200));
  EXPECT_EQ(end->told, (std::vector{NodeId(0), NodeId(1)}));
}

TEST(StepUse, OfANodeThatTellsItAfterSrunDid) {
  Bench b;
  ASSERT_TRUE(b.create([](rpc::CreateStep& c) { c.request.min_nodes = c.request.num_tasks = 2; }));
  b.usage = use_of(0, "n0");
  ASSERT_TRUE(b.part("n0", 0));
  ASSERT_TRUE(b.finish(0));
  EXPECT_EQ(b.log.back().news.at(0).ended->told, std::vector{NodeId(0)});
  b.usage = use_of(1, "n1");
  ASSERT_TRUE(b.part("n1", 0));
  const auto& used = b.log.back().news.at(0).used;
  ASSERT_TRUE(used);
  EXPECT_EQ(used->nodes, std::vector{NodeId(1)});
  EXPECT_EQ(used->usage->rss.max_at.task, 1u);
}

TEST(StepManager, GivesNumbersAndPlacesWithinTheJob) {
  Bench b;
  auto first = b.create([](auto& c) { c.request.num_tasks = 8; });
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->step, StepId(0));
  EXPECT_EQ(first->nodes.size(), 2u);
  EXPECT_EQ(b.create().error().code, Errc::kNodesBusy);
  EXPECT_FALSE(b.create([](auto& c) { c.request.num_tasks = 9; }));
  ASSERT_TRUE(b.finish(0));
  EXPECT_EQ(b.create()->step, StepId(1)) << "numbers are not used twice";
}

TEST(StepManager, OnlyTheJobsUserAndOperatorsAsk) {
  Bench b;
  b.m.set_operators(Uid(64030));
  EXPECT_EQ(b.create({}, kOther).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(b.create({}, Uid(0)));
  EXPECT_TRUE(b.create({}, Uid(64030)));
  EXPECT_EQ(b.finish(0, 0, kOther).error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.m.attach(kOther, {kJob}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.m.ask(kOther, {.job = kJob}, kNow).error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.m.ask(kOwner, {.job = kJob, .purpose = rpc::CredentialPurpose::kLaunch}, kNow).error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.m.attach(kOwner, {JobId(8)}).error().code, Errc::kInvalidJobId);
  EXPECT_EQ(b.m.attach(kOwner, {kJob})->job.id, kJob);
}

TEST(StepManager, EveryDecisionIsWrittenBeforeItIsTrue) {
  Bench b;
  rpc::CreateStep c;
  c.job = kJob;
  auto d = b.m.create(kOwner, c, kNow);
  ASSERT_TRUE(d && d->record);
  EXPECT_TRUE(b.news().empty());
  EXPECT_EQ(b.m.create(kOwner, c, kNow)->reply.step, StepId(0)) << "the disk was full: the number is free";
}

TEST(StepManager, KnowsAfterARestartWhatItHasAnswered) {
  for (bool as_one_record : {false, true}) {
    Bench b;
    ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 6, c.srun_pid = 5, c.srun_host = "h"; }));
    ASSERT_TRUE(b.create());
    ASSERT_TRUE(b.finish(1, 3 << 8));
    b.restart(as_one_record);
    EXPECT_EQ(b.news().size(), 3u);
    EXPECT_EQ(b.create([](auto& c) { c.request.num_tasks = 6, c.srun_pid = 5, c.srun_host = "h"; })->step, StepId(0)) << "the same srun";
    EXPECT_EQ(b.create([](auto& c) { c.request.num_tasks = 8; }).error().code, Errc::kNodesBusy);
    EXPECT_EQ(b.create()->step, StepId(2));
  }
}

TEST(StepManager, AStepEndsWithItsLastPart) {
  Bench b;
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 8; }));
  EXPECT_FALSE(b.part("n2", 0)) << "it is not there";
  EXPECT_FALSE(b.part("n0", 3));
  EXPECT_FALSE(b.part("n0", 0, 0, 1)) << "another run";
  EXPECT_EQ(b.m.others_with(kJob, StepId(0), "n0"), (std::vector<std::string>{"n1"}));
  EXPECT_TRUE(b.part("n0", 0, 9));
  EXPECT_FALSE(b.part("n0", 0, 9)) << "said again";
  EXPECT_EQ(b.create([](auto& c) { c.request.num_tasks = 4; })->nodes[0].address.name, "n0");
  b.restart();
  EXPECT_TRUE(b.part("n1", 0, 0));
  ASSERT_EQ(b.news().size(), 3u);
  EXPECT_EQ(b.news()[2].ended->exit_status, 9);
}

TEST(StepManager, StepsOfAsyncWaitAndAreCancelled) {
  Bench b;
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 8; }));
  auto waits = b.create([](auto& c) { c.request.num_tasks = 8, c.queue = true; });
  ASSERT_TRUE(waits && waits->waiting);
  node_rpc::SignalJob signal{.job = kJob, .has_step = true, .step = StepId(1), .signal = 10};
  EXPECT_FALSE(b.take(b.m.cancel_waiting(signal, kNow)));
  ASSERT_TRUE(b.finish(0));
  auto now = b.create([](auto& c) { c.waiting_step = 1; });
  ASSERT_TRUE(now) << now.error().message();
  EXPECT_EQ(now->num_tasks, 8u);
  signal.signal = 9;
  EXPECT_FALSE(b.take(b.m.cancel_waiting(signal, kNow))) << "it runs: the nodes end it";
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 8, c.queue = true; }));
  signal.step = StepId(2);
  EXPECT_TRUE(b.take(b.m.cancel_waiting(signal, kNow)));
  EXPECT_EQ(b.create([](auto& c) { c.waiting_step = 2; }).error().code, Errc::kAlreadyDone);
}

TEST(StepManager, NewsAreKeptUntilTheyAreTaken) {
  Bench b;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(b.create());
  EXPECT_EQ(b.m.news(kJob, 0, kNow)->first, 1u);
  EXPECT_EQ(b.m.news(kJob, 1, kNow)->news.size(), 2u);
  EXPECT_FALSE(b.m.news(kJob, 3, kNow));
  EXPECT_FALSE(b.take(b.m.taken({kJob, 0, 9}))) << "there are not so many";
  EXPECT_FALSE(b.take(b.m.taken({kJob, 1, 2}))) << "another run";
  EXPECT_TRUE(b.take(b.m.taken({kJob, 0, 2})));
  for (bool as_one_record : {false, true}) {
    b.restart(as_one_record);
    auto left = b.m.news(kJob, 0, kNow);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->first, 3u);
    EXPECT_EQ(left->news.size(), 1u);
    EXPECT_FALSE(b.take(b.m.taken({kJob, 0, 2})));
  }
}

TEST(StepManager, HowMuchItKeepsForSlurmctldIsBounded) {
  Bench b;
  const std::string large(1u << 20, 'x');
  size_t made = 0;
  for (; made < 200; ++made) {
    auto r = b.create([&](auto& c) { c.request.argv = {large}, c.request.overlap = true; });
    if (!r) {
      EXPECT_EQ(r.error().code, Errc::kNodesBusy);
      break;
    }
  }
  EXPECT_LT(made, 33u);
  EXPECT_GT(made, 10u);
  EXPECT_EQ(b.m.news(kJob, 0, kNow)->news.size(), 1u) << "a message is bounded, too";
}

// In however many jobs, and also what slurmctld knows of.
TEST(StepManager, HowMuchItKeepsOfAUserIsBounded) {
  const std::string large(1u << 20, 'x');
  Bench b;
  node_rpc::ManageSteps second = order();
  second.job.id = JobId(8);
  b.m.apply(JobId(8), *b.m.manage(second));
  size_t made = 0;
  for (; made < 200; ++made) {
    rpc::CreateStep c;
    c.job = JobId(7 + made % 2);
    c.request.num_tasks = c.request.cpus_per_task = 1;
    c.request.overlap = true;
    c.request.argv = {large};
    auto d = b.m.create(kOwner, c, kNow);
    if (!d) {
      EXPECT_EQ(d.error().code, Errc::kNodesBusy) << d.error().message();
      break;
    }
    b.m.apply(c.job, *d->record);
    b.m.apply(c.job, *b.m.taken({c.job, 0, made / 2 + 1}));  // slurmctld has it
  }
  EXPECT_LT(made, 65u) << "steps that are there count";
  EXPECT_GT(made, 10u);
  rpc::FinishStep done{kJob, StepId(0), 0};
  b.m.apply(kJob, *b.m.finish(kOwner, done, kNow)->record);
  rpc::CreateStep small;
  small.job = kJob;
  small.request.num_tasks = small.request.cpus_per_task = 1;
  small.request.overlap = true;
  EXPECT_TRUE(b.m.create(kOwner, small, kNow)) << "an end makes room";
}

TEST(StepManager, SignsNothingWithoutItsRight) {
  Bench b;
  ASSERT_TRUE(b.create());
  const rpc::AskCredential ask{.job = kJob, .has_step = true, .step = StepId(0), .purpose = rpc::CredentialPurpose::kAttach};
  EXPECT_TRUE(b.m.ask(kOwner, ask, kNow));
  const auto late = b.m.ask(kOwner, ask, kNow + steps::kWarrantLife + seconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kNodesBusy) << "it may be asked again";
}

TEST(StepManager, SlurmctldsWordAboutTheJobGoesFirst) {
  Bench b;
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 8; }));
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 1, c.request.overlap = true; }));
  node_rpc::ManageSteps fewer = order(0, {0});  // n1 was given up
  fewer.job.steps.clear();                      // it has not heard of the steps yet
  ASSERT_TRUE(b.take(b.m.manage(fewer)));
  EXPECT_TRUE(b.part("n0", 0)) << "the step has only this part left";
  EXPECT_EQ(b.create([](auto& c) { c.request.num_tasks = 4; })->nodes.size(), 1u);
  fewer.job.flags = kJobConfiguring;
  ASSERT_TRUE(b.take(b.m.manage(fewer)));
  EXPECT_EQ(b.create().error().code, Errc::kNodesBusy);
  EXPECT_FALSE(b.m.manage(node_rpc::ManageSteps())) << "half an order is none";
}

TEST(StepManager, ANewRunBeginsAnewAndAnOldOneDoesNothing) {
  Bench b;
  ASSERT_TRUE(b.create());
  ASSERT_TRUE(b.take(b.m.manage(order(1))));
  EXPECT_TRUE(b.news().empty());
  EXPECT_EQ(b.create()->step, StepId(0));
  EXPECT_FALSE(b.m.manage(order(0)));
  EXPECT_FALSE(b.m.end(kJob, 0)) << "the run before";
  EXPECT_TRUE(b.m.manages(kJob));
}

TEST(StepManager, ANextManagerGoesOnWithWhatSlurmctldKnows) {
  Bench b;
  ASSERT_TRUE(b.create([](auto& c) { c.request.num_tasks = 8; }));
  node_rpc::ManageSteps o = order(0, {1});
  o.job.next_step = 10001;
  o.job.run.edit().step_news = 4;
  Step on_n1;
  on_n1.id = StepId(0);
  on_n1.request = std::make_shared<const StepRequest>();
  on_n1.shares.push_back({.node_index = 0, .task_count = 4, .cpus = bits(4), .mem_mb = 4000});
  o.job.steps = {on_n1};
  StepManager next;
  next.apply(kJob, *next.manage(o));
  rpc::CreateStep c;
  c.job = kJob;
  c.request.num_tasks = 1;
  EXPECT_EQ(next.create(kOwner, c, kNow).error().code, Errc::kNodesBusy);
  next.apply(kJob, *next.part_ended({"n1", kJob, 0, StepId(0), 0, false, false, nullptr}, kNow));
  EXPECT_EQ(next.news(kJob, 0, kNow)->first, 5u);
  EXPECT_EQ(next.create(kOwner, c, kNow)->reply.step, StepId(10001));
}

TEST(StepManager, OfAnEndedJobOnlyTheNewsAreLeft) {
  Bench b;
  ASSERT_TRUE(b.create());
  ASSERT_TRUE(b.take(b.m.end(kJob, 0)));
  EXPECT_FALSE(b.m.manages(kJob));
  EXPECT_EQ(b.create().error().code, Errc::kInvalidJobId);
  EXPECT_TRUE(b.m.registration().empty());
  b.restart(true);
  EXPECT_FALSE(b.m.forgotten(kJob));
  EXPECT_EQ(b.news().size(), 1u);
  ASSERT_TRUE(b.take(b.m.taken({kJob, 0, 1})));
  EXPECT_TRUE(b.m.forgotten(kJob));
}

TEST(StepManager, MakesNoStepsWhileTheJobIsSuspended) {
  Bench b;
  ASSERT_TRUE(b.take(b.m.suspend({kJob, 0, true})));
  EXPECT_FALSE(b.take(b.m.suspend({kJob, 0, true})));
  b.restart();
  EXPECT_EQ(b.create().error().code, Errc::kJobSuspended);
  ASSERT_TRUE(b.take(b.m.suspend({kJob, 0, false})));
  EXPECT_TRUE(b.create());
}

TEST(StepManager, AsksForItsRightAgainBeforeItExpires) {
  Bench b;
  ASSERT_TRUE(b.create());
  EXPECT_FALSE(b.m.news(kJob, 0, kNow)->renew);
  EXPECT_TRUE(b.m.news(kJob, 0, kNow + steps::kWarrantRenewal + minutes(1))->renew);
  const Time late = kNow + steps::kWarrantLife + minutes(1);
  rpc::CreateStep c;
  c.job = kJob;
  EXPECT_EQ(b.m.create(kOwner, c, late).error().code, Errc::kNodesBusy);
  ASSERT_TRUE(b.take(b.m.taken({kJob, 0, 1})));
  ASSERT_TRUE(b.m.news(kJob, 0, late)) << "also when there is nothing else to say";
  EXPECT_TRUE(b.m.news(kJob, 0, late)->renew);
}

TEST(StepManager, NamesOfOtherNodesMayBeExcluded) {
  Bench b;
  EXPECT_EQ(b.create([](auto& c) { c.request.excluded_nodes = "n0,n2"; })->nodes[0].address.name, "n1");
  EXPECT_EQ(b.create([](auto& c) { c.request.excluded_nodes = "n9"; }).error().code, Errc::kInvalidNodeName);
  EXPECT_EQ(b.create([](auto& c) { c.request.required_nodes = "n2"; }).error().code, Errc::kRequestedNodeConfigUnavailable);
}

}  // namespace
}  // namespace muster::slurmd
