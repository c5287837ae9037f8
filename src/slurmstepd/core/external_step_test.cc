// The external step: it ends when it is told to, and not with what runs in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "slurmstepd/core/step_core.h"
#include "slurmstepd/core/step_core_testing.h"

namespace muster::slurmstepd {
namespace {

using step_rpc::StepdState;

struct Node : TestHost {
  Node() {
    step_rpc::StepdLaunch launch;
    launch.step = kExternStep;
    launch.tasks.resize(1);
    core.begin(plan_of(launch, false), {});
    core.files_open();
    core.started(0);
  }
};

TEST(ExternalStep, StaysWhenItsTaskIsGone) {
  Node node;
  ASSERT_EQ(node.reports.back().state, StepdState::kRunning);
  node.exits(0, SIGTERM);
  EXPECT_EQ(node.core.phase(), StepPhase::kLingering);
  node.processes = 1;  // adopted
  node.core.reaped({});
  node.processes = 0;  // and gone again
  node.core.reaped({});
  EXPECT_EQ(node.core.phase(), StepPhase::kLingering);
  node.core.end(0, {});
  node.core.written();
  EXPECT_TRUE(node.core.finished());
  EXPECT_EQ(node.reports.back().state, StepdState::kEnded);
}

TEST(ExternalStep, EndsWithWhatItHasAdopted) {
  Node node;
  ++node.processes;  // adopted
  node.dies = false;
  node.core.end(0, {});
  EXPECT_TRUE(node.did("kill"));
  EXPECT_FALSE(node.core.finished()) << "somebody is left";
  node.dies = true;
  node.pass();
  node.core.written();
  EXPECT_TRUE(node.core.finished());
}

}  // namespace
}  // namespace muster::slurmstepd
