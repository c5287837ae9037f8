#include "steps/step_ports.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using Ports = std::vector<uint16_t>;
const Caller kUser{Uid(1000), Gid(1000), {}, {}};

// A job on one node and its overlapping steps, each with --resv-ports.
struct Steps {
  explicit Steps(const std::string& conf) : b(conf) {
    job = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
    b.plan();
  }
  Errc add(uint32_t ports) {
    rpc::CreateStep create;
    create.job = job;
    create.request.num_tasks = 1;
    create.request.overlap = true;
    create.request.resv_ports_set = true;
    create.request.resv_ports = ports;
    Errc out = Errc::kOk;
    b.turn([&] {
      if (auto made = b.core.run(kUser, create); !made) out = made.error().code;
    });
    return out;
  }
  Ports of(size_t step) const { return b.get(job).steps.at(step).resv_ports; }
  Bench b;
  JobId job;
};

TEST(StepPorts, WithoutARangeThereAreNone) {
  Steps s("");
  EXPECT_EQ(s.add(1), Errc::kPortsInvalid);
}

TEST(StepPorts, AStepHasItsOwnUntilItEnds) {
  Steps s("MpiParams=ports=12000-12004\n");
  EXPECT_EQ(s.add(6), Errc::kPortsInvalid);  // more than there are
  ASSERT_EQ(s.add(3), Errc::kOk);
  EXPECT_EQ(s.of(0), (Ports{12000, 12001, 12002}));
  EXPECT_EQ(s.add(3), Errc::kPortsBusy);  // two are left
  ASSERT_EQ(s.add(0), Errc::kOk);         // no count: one for its one task
  EXPECT_EQ(s.of(1), Ports{12003});
  s.b.turn([&] { EXPECT_TRUE(s.b.core.run(kUser, rpc::FinishStep{s.job, StepId(0), 0})); });
  ASSERT_EQ(s.add(4), Errc::kOk);
  EXPECT_EQ(s.of(1), (Ports{12000, 12001, 12002, 12004}));
  s.b.expect_replay_equal();
}

TEST(StepPorts, JobsOnOtherNodesMayHaveTheSame) {
  Steps s("MpiParams=ports=12000-12001\n");
  ASSERT_EQ(s.add(2), Errc::kOk);
  s.job = s.b.submit([](JobRequest& r) {
    r.kind = JobKind::kAllocation;
    r.exclusive = Exclusive::kNode;
  });
  s.b.plan();
  ASSERT_EQ(s.add(2), Errc::kOk);
  EXPECT_EQ(s.of(0), (Ports{12000, 12001}));
}

TEST(StepPorts, AsText) {
  EXPECT_EQ(steps::port_ranges({12000, 12001, 12002, 12004}), "12000-12002,12004");
  EXPECT_EQ(steps::port_ranges({12000}), "12000");
  EXPECT_EQ(steps::port_ranges({}), "");
}

}  // namespace
}  // namespace muster::slurmctld
