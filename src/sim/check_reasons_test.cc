#include "sim/check_reasons.h"

#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "sched/testing.h"

namespace muster::sim {
namespace {

using namespace muster::sched;

const Time kNow = from_unix(1'000'000);

Params with_memory() {
  Params params;
  params.memory_consumable = true;
  return params;
}

std::vector<std::string> wrong_reasons(const Cluster& cluster, const Params& params = with_memory()) {
  std::vector<std::string> out;
  check_reasons(cluster, params, kNow, [&](const std::string& wrong) { out.push_back(wrong); });
  return out;
}

void say(Cluster& c, JobId job, Reason reason) { c.moment.verdicts.set(job.value, Verdict{reason, {}, {}, {}}); }

// Plans, starts what can start, and keeps what the plan says of the others.
void plan(Cluster& c) {
  const Plan got = Planner().plan(c, with_memory(), kNow, Pass::kFull);
  apply_starts(c, got, kNow);
  for (const auto& [job, verdict] : got.verdicts) c.moment.verdicts.set(job.value, verdict);
}

Cluster two_nodes() { return a_cluster().nodes(2).cpus(4).memory(4000).gres("gpu", "a100", 2).build(); }

TEST(Reasons, OfAPlanAreTrue) {
  Cluster c = two_nodes();
  submit(c, a_job().nodes(2).cpus_per_task(3).mem(1000).priority(9));
  plan(c);
  const JobId gang = submit(c, a_job().nodes(2).cpus_per_task(4).mem(1000).priority(8));
  const JobId later = submit(c, a_job().nodes(1).cpus_per_task(2).mem(1000).priority(7));
  plan(c);
  EXPECT_EQ(c.moment.verdicts.at(gang.value).reason, Reason::kResources);
  EXPECT_EQ(c.moment.verdicts.at(later.value).reason, Reason::kPriority);
  EXPECT_TRUE(wrong_reasons(c).empty());
}

// The mutation of each reason there is: none of them is true of a job that asks for little and has the cluster for itself.
TEST(Reasons, NoneIsTrueOfAJobThatCouldStart) {
  for (Reason reason = Reason::kNone; !reason_name(reason).empty() && reason <= Reason::kNoTopologyUnit;
       reason = static_cast<Reason>(static_cast<uint16_t>(reason) + 1)) {
    Cluster c = two_nodes();
    say(c, submit(c, a_job().tasks(1).mem(100)), reason);
    EXPECT_EQ(wrong_reasons(c).size(), why_unchecked(reason).empty() ? 1u : 0u) << reason_name(reason);
  }
}

TEST(Reasons, SaysWhichJobItIs) {
  Cluster c = two_nodes();
  submit(c, a_job().tasks(1).mem(100));
  const JobId second = submit(c, a_job().tasks(1).mem(100));
  say(c, JobId(1), Reason::kResources);
  say(c, second, Reason::kLicenses);
  ASSERT_EQ(wrong_reasons(c).size(), 2u);
  EXPECT_NE(wrong_reasons(c)[1].find("job 2 waits for Licenses"), std::string::npos) << wrong_reasons(c)[1];
}

TEST(Reasons, ResourcesAreCounted) {
  const std::function<void(JobBuilder&)> too_much[] = {[](JobBuilder& b) { b.cpus_per_task(3); }, [](JobBuilder& b) { b.mem(3500); },
                                                       [](JobBuilder& b) { b.gpus(2); }, [](JobBuilder& b) { b.tasks(2).nodes(2); },
                                                       [](JobBuilder& b) { b.exclusive(); }};
  for (const auto& ask : too_much) {
    Cluster c = two_nodes();
    for (int i = 0; i < 2; ++i) submit(c, a_job().nodes(1).cpus_per_task(i ? 4 : 2).mem(1000).gpus(1));
    plan(c);
    JobBuilder job = a_job().tasks(1).mem(500);
    ask(job);
    const JobId waits = submit(c, job);
    say(c, waits, Reason::kResources);
    EXPECT_TRUE(wrong_reasons(c).empty());
    JobBuilder little = a_job().tasks(2).mem(500);
    say(c, submit(c, little), Reason::kResources);
    EXPECT_EQ(wrong_reasons(c).size(), 1u);
  }
}

TEST(Reasons, NodesThatAreKeptForAnotherAreNotFree) {
  Cluster c = two_nodes();
  const JobId first = submit(c, a_job().nodes(2).mem(100).priority(9));
  const JobId second = submit(c, a_job().nodes(1).mem(100).priority(8).minutes(10));
  c.moment.verdicts.set(first.value, Verdict{Reason::kReqNodeNotAvail, kNow + minutes(5), "n[0-1]", {}});
  say(c, second, Reason::kPriority);
  const std::vector<std::string> wrong = wrong_reasons(c);
  ASSERT_EQ(wrong.size(), 1u);  // it names no node
  EXPECT_NE(wrong[0].find("job 1"), std::string::npos);
}

TEST(Reasons, PriorityNeedsAJobBeforeIt) {
  Cluster c = two_nodes();
  submit(c, a_job().nodes(2).cpus_per_task(4).mem(1000));
  plan(c);
  const JobId before = submit(c, a_job().tasks(1).mem(100).priority(5));
  const JobId behind = submit(c, a_job().tasks(1).mem(100).priority(4));
  say(c, before, Reason::kResources);
  say(c, behind, Reason::kPriority);
  EXPECT_TRUE(wrong_reasons(c).empty());
  say(c, before, Reason::kPriority);  // before whom nobody waits
  ASSERT_EQ(wrong_reasons(c).size(), 1u);
  EXPECT_NE(wrong_reasons(c)[0].find("job 2"), std::string::npos);
}

TEST(Reasons, OfAHeldJobSayThatItIsHeld) {
  Cluster c = two_nodes();
  const JobId job = submit(c, a_job().tasks(1).priority(0));
  c.jobs.edit(job.value)->flags |= kJobHeldByUser;
  c.jobs.edit(job.value)->reason = Reason::kJobHeldUser;
  EXPECT_TRUE(wrong_reasons(c).empty());
  c.jobs.edit(job.value)->reason = Reason::kJobHeldAdmin;
  EXPECT_EQ(wrong_reasons(c).size(), 1u);
  c.jobs.edit(job.value)->reason = Reason::kBeginTime;
  EXPECT_EQ(wrong_reasons(c).size(), 2u);  // nor does it begin later
}

TEST(Reasons, LicensesThatAClaimHoldsAreNotThere) {
  for (const bool claims : {true, false}) {
    Cluster c = two_nodes();
    Params params = with_memory();
    params.licenses = {{"tool", 2}};
    const JobId first = submit(c, a_job().tasks(1).mem(100).priority(0));
    c.jobs.edit(first.value)->flags |= kJobHeldByUser;
    c.jobs.edit(first.value)->reason = Reason::kJobHeldUser;
    auto held = std::make_shared<Allocation>();
    held->licenses = {{"tool", 2}};
    Claim claim;
    claim.allocation = held;
    if (claims) c.jobs.edit(first.value)->turns.edit().claim = std::make_shared<const Claim>(claim);
    say(c, submit(c, a_job().tasks(1).mem(100).with([](JobRequest& r) { r.licenses = "tool:1"; })), Reason::kLicenses);
    EXPECT_EQ(wrong_reasons(c, params).size(), claims ? 0u : 1u);
  }
}

// Seed 2745: it was cancelled, the dependent job was told, and then it was requeued before its nodes were clean.
TEST(Reasons, ADependencyThatFailedStaysSoWhereTheOtherIsRequeued) {
  for (const JobState ended : {JobState::kCancelled, JobState::kCompleted}) {
    Cluster c = two_nodes();
    const JobId first = submit(c, a_job().tasks(1).mem(100));
    Job* target = c.jobs.edit(first.value);
    target->state = ended;
    target->flags = kJobCompleting | kJobRequeued;
    const JobId second = submit(c, a_job().tasks(1).mem(100));
    auto on = std::make_shared<Dependencies>();
    on->list.push_back({.type = DependencyType::kAfterOk, .job = first, .state = DependencyState::kFailed});
    c.jobs.edit(second.value)->dependencies = on;
    c.jobs.edit(second.value)->reason = Reason::kDependencyNeverSatisfied;
    EXPECT_EQ(wrong_reasons(c).size(), ended == JobState::kCancelled ? 0u : 1u);
  }
}

// Seeds 414, 441: the job that wanted the nodes for its user has ended, another one of the user is there still.
TEST(Reasons, ANodeIsKeptForItsUserUntilTheLastJobThereHasGone) {
  for (const bool kept : {true, false}) {
    Cluster c = two_nodes();
    submit(c, a_job().nodes(2).mem(100));
    plan(c);
    for (uint32_t id : {0, 1}) c.nodes.edit(id)->exclusive_user = kept, c.nodes.edit(id)->exclusive_uid = Uid(1);
    say(c, submit(c, a_job().tasks(1).mem(100)), Reason::kResources);
    EXPECT_EQ(wrong_reasons(c).size(), kept ? 0u : 1u);
  }
  Cluster idle = two_nodes();  // whom an empty node is kept for is no reason to wait
  for (uint32_t id : {0, 1}) idle.nodes.edit(id)->exclusive_user = true;
  say(idle, submit(idle, a_job().tasks(1).mem(100)), Reason::kResources);
  EXPECT_EQ(wrong_reasons(idle).size(), 1u);
}

// Seed 2796: alone on the node it has all its CPUs, and memory for each of them.
TEST(Reasons, MemoryForEachCpuIsForAllOfAWholeNode) {
  for (const uint64_t each : {1000, 1001}) {
    Cluster c = two_nodes();
    say(c, submit(c, a_job().tasks(1).exclusive().with([&](JobRequest& r) { r.mem_per_cpu_mb = each; })), Reason::kResources);
    EXPECT_EQ(wrong_reasons(c).size(), each == 1000 ? 1u : 0u);
  }
}

TEST(Reasons, LimitsAreSums) {
  for (const uint64_t limit : {5u, 4u}) {
    Cluster c = two_nodes();
    auto directory = std::make_shared<AccountDirectory>();
    AccountChanges changes;
    AssociationRecord own;
    own.id = 1;
    own.account = "team";
    own.user = "ann";
    own.limits = {{LimitKind::kGrpTres, "cpu", limit}};
    changes.associations = {own};
    directory->learn(changes);
    c.directory = directory;
    Params params = with_memory();
    params.enforcement.associations = params.enforcement.limits = true;
    auto of_ann = [](JobRequest& r) { r.user_name = "ann", r.account = "team"; };
    const JobId runs = submit(c, a_job().nodes(1).cpus_per_task(3).mem(100).with(of_ann));
    apply_start(c, Planner().plan(c, with_memory(), kNow, Pass::kFull).starts.at(0), kNow);
    c.jobs.edit(runs.value)->association = 1;
    say(c, submit(c, a_job().nodes(1).cpus_per_task(2).mem(100).with(of_ann)), Reason::kAssocGrpCpuLimit);
    EXPECT_EQ(wrong_reasons(c, params).size(), limit == 5 ? 1u : 0u) << limit;
  }
}

}  // namespace
}  // namespace muster::sim
