// srun --no-allocate: steps on named nodes that belong to no job, for root and SlurmUser.
#include <gtest/gtest.h>

#include "model/without_job.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const Caller kSlurmUser{Uid(64030), Gid(64030), {}, {}}, kUser{Uid(1000), Gid(1000), {}, {}};

struct WithoutJob : Bench {
  using Bench::Bench;
  Result<rpc::StepCreated> run(const std::string& nodes, const std::function<void(StepRequest&)>& change = {},
                               const Caller& who = Caller::root()) {
    rpc::RunWithoutJob c;
    c.request.required_nodes = nodes;
    if (change) change(c.request);
    Result<rpc::StepCreated> r;
    turn([&] { r = core.run(who, c); });
    EXPECT_TRUE(last_events.empty());
    return r;
  }
};

TEST(RunWithoutJob, HasTheNodesNamedWholeAndLeavesNoRecord) {
  WithoutJob b;
  const JobId busy = b.submit([](JobRequest& r) {
    r.num_tasks = 4;
    r.required_nodes = "n1";
  });
  b.plan();
  b.set_node("n2", "drain");
  auto step = b.run("n[1-2]");
  ASSERT_TRUE(step) << step.error().message();
  EXPECT_TRUE(is_without_job(step->job));
  EXPECT_EQ(step->uid, Uid(0));
  EXPECT_EQ(step->job_node_list, "n[1-2]");
  EXPECT_EQ(step->num_tasks, 2u);
  ASSERT_EQ(step->nodes.size(), 2u);
  EXPECT_EQ(step->nodes[0].address.name, "n1");
  EXPECT_EQ(step->nodes[0].cpu_list, "0-3");
  EXPECT_EQ(step->nodes[0].mem_mb, 0u) << "no limit";
  EXPECT_EQ(b.core.cluster().jobs.size(), 1u) << "that of job " << busy.value;
  EXPECT_EQ(b.core.cluster().last_job_id, busy);
  EXPECT_EQ(b.node(2).cpus_used.count(), 0u);
  b.expect_replay_equal();
}

TEST(RunWithoutJob, EachHasANumberOfItsOwn) {
  WithoutJob b;
  const auto first = b.run("n1"), second = b.run("n1");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->job, second->job);
  WithoutJob restarted;
  restarted.now = b.now + seconds(1);
  const auto third = restarted.run("n1");
  EXPECT_NE(third->job, first->job);
  EXPECT_NE(third->job, second->job);
}

TEST(RunWithoutJob, TasksAreNotCountedAgainstCpus) {
  WithoutJob b;
  auto step = b.run("n[1-2]", [](StepRequest& r) { r.num_tasks = 40; });
  ASSERT_TRUE(step) << step.error().message();
  EXPECT_EQ(step->nodes[0].ranks.size(), 20u);
  auto memory = b.run("n1", [](StepRequest& r) { r.mem_per_node_mb = 100; });
  EXPECT_EQ(memory->nodes[0].mem_mb, 100u) << "a limit that was asked for";
}

TEST(RunWithoutJob, HasAllDevicesOrThoseAskedFor) {
  WithoutJob b("GresTypes=gpu\nNodeName=g CPUs=4 RealMemory=4000 Gres=gpu:a:2\n");
  auto all = b.run("g");
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->nodes[0].gres.size(), 1u);
  EXPECT_EQ(all->nodes[0].gres[0].devices.to_ranges(), "0-1");
  auto one = b.run("g", [](StepRequest& r) { r.tres_per_node = "gres/gpu:1"; });
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(one->nodes[0].gres[0].devices.to_ranges(), "0");
}

TEST(RunWithoutJob, IsForRootAndSlurmUser) {
  WithoutJob b;
  EXPECT_EQ(b.run("n1", {}, kUser).error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.run("", {}, kUser).error().code, Errc::kAccessDenied);
  auto step = b.run("n1", {}, kSlurmUser);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->uid, Uid(64030)) << "as himself";
}

TEST(RunWithoutJob, NamesNodesThatAreThere) {
  WithoutJob b;
  EXPECT_EQ(b.run("").error().code, Errc::kInvalidNodeName);
  EXPECT_EQ(b.run("n1,nosuch").error().code, Errc::kInvalidNodeName);
  EXPECT_FALSE(b.run("n[1-2]", [](StepRequest& r) { r.excluded_nodes = "n1"; }));
  EXPECT_FALSE(b.run("n[1-2]", [](StepRequest& r) { r.resv_ports_set = true; }));
}

}  // namespace
}  // namespace muster::slurmctld
