// Named PowerActions: which of them runs, where, and for which nodes together.
#include <cstring>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kConf =
    "SuspendProgram=/s\nResumeProgram=/r\nRebootProgram=/b\nSuspendTimeout=20\nResumeTimeout=100\n"
    "PowerAction=halt Location=slurmd Program=\"/sbin/shutdown -h now\"\nPowerAction=bmc Location=slurmctld Program=/bin/bmc\n";

std::string asked(Bench& b, rpc::NodeAction action, const std::string& nodes, const std::string& power_action, bool force = false) {
  rpc::ControlNodes command;
  command.action = action;
  command.nodes = nodes;
  command.power_action = power_action;
  command.force = force;
  Result<rpc::Messages> answer;
  b.turn([&] { answer = b.core.run(Caller::root(), command); });
  return answer ? "" : answer.error().hint.empty() ? std::string(answer.error().message()) : std::string(answer.error().hint);
}

// "suspend bmc 0,1; …": what the last turn starts on the host of slurmctld.
std::string started(const Bench& b) {
  constexpr const char* kNames[] = {"none", "resume", "suspend", "failed", "reboot"};
  std::string out;
  for (const Effect& e : b.effects) {
    auto* power = std::get_if<PowerNodes>(&e);
    if (!power) continue;
    out += (out.empty() ? "" : "; ") + std::string(kNames[static_cast<size_t>(power->program)]) + " " + power->action + " ";
    for (size_t i = 0; i < power->nodes.size(); ++i) out += (i ? "," : "") + std::to_string(power->nodes[i].value);
  }
  return out;
}

TEST(PowerCalls, AnActionStandsForTheConfiguredProgram) {
  Bench b(kConf);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n[0-1]", "BMC"), "");
  EXPECT_EQ(started(b), "suspend BMC 0,1");
  b.wait(seconds(21));
  EXPECT_TRUE(b.node(0).flags & kNodePoweredDown);
  EXPECT_EQ(b.node(0).power_action, "");  // it is done
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n0", "bmc"), "");
  EXPECT_EQ(started(b), "resume bmc 0");
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n1", ""), "");
  EXPECT_EQ(started(b), "resume  1");
  b.wait(seconds(101));  // neither has come: ResumeFailProgram is told of both together
  EXPECT_EQ(started(b), "failed  0,1");
  b.expect_replay_equal();
}

TEST(PowerCalls, ANodePowersItselfDown) {
  Bench b(kConf);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n0", "halt"), "");
  EXPECT_EQ(started(b), "");
  ASSERT_EQ(b.orders<node_rpc::PowerDownNode>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::PowerDownNode>()[0].action, "halt");
  EXPECT_TRUE(b.node(0).flags & kNodePoweringDown);
  Bench named(std::string("SuspendProgram=halt\nResumeProgram=bmc\nSuspendTimeout=20\n") + (std::strstr(kConf, "PowerAction")));
  ASSERT_EQ(asked(named, rpc::NodeAction::kPowerDown, "n0", ""), "");
  EXPECT_EQ(named.orders<node_rpc::PowerDownNode>().size(), 1u);
}

TEST(PowerCalls, TheActionWaitsWithTheNodeForItsJobs) {
  Bench b(kConf);
  const JobId job = b.submit({});
  b.plan();
  b.started(job);
  const uint32_t n = b.host(job);
  ASSERT_EQ(asked(b, rpc::NodeAction::kReboot, "n" + std::to_string(n), "bmc"), "");
  EXPECT_EQ(started(b), "");
  EXPECT_EQ(b.node(n).power_action, "bmc");
  b.ends(job);
  EXPECT_EQ(started(b), "reboot bmc " + std::to_string(n));
  EXPECT_TRUE(b.orders<node_rpc::RebootNode>().empty());
  b.register_node(n, "boot2");
  EXPECT_EQ(b.node(n).flags & kNodeRebootIssued, 0u);
  EXPECT_EQ(b.node(n).power_action, "");
  b.expect_replay_equal();
}

// A node has one action: what was meant for a power-down must not be what reboots it.
TEST(PowerCalls, APowerDownTakesThePlaceOfARebootThatWaits) {
  Bench b(kConf);
  const JobId job = b.submit({});
  b.plan();
  b.started(job);
  const std::string node = "n" + std::to_string(b.host(job));
  ASSERT_EQ(asked(b, rpc::NodeAction::kReboot, node, "bmc"), "");
  EXPECT_TRUE(b.node(b.host(job)).flags & kNodeRebootRequested);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, node, "halt"), "");
  EXPECT_FALSE(b.node(b.host(job)).flags & kNodeRebootRequested);
  EXPECT_EQ(b.node(b.host(job)).power_action, "halt");
  EXPECT_NE(asked(b, rpc::NodeAction::kCancelReboot, node, ""), "") << "there is none";
  EXPECT_EQ(b.node(b.host(job)).power_action, "halt");
  b.expect_replay_equal();
}

TEST(PowerCalls, WhereARebootRuns) {
  Bench b(kConf);
  ASSERT_EQ(asked(b, rpc::NodeAction::kReboot, "n0", "halt"), "");
  ASSERT_EQ(b.orders<node_rpc::RebootNode>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::RebootNode>()[0].action, "halt");
  Bench controller(std::string(kConf) + "SlurmctldParameters=reboot_from_controller\n");
  ASSERT_EQ(asked(controller, rpc::NodeAction::kReboot, "n[0-1]", ""), "");
  EXPECT_EQ(started(controller), "reboot  0,1");
  EXPECT_TRUE(controller.orders<node_rpc::RebootNode>().empty());
}

TEST(PowerCalls, ARebootByTheControllerNeedsNoSlurmd) {
  Bench b(kConf);
  b.turn([&] { b.core.node_disconnected(NodeId(0)); });
  ASSERT_EQ(asked(b, rpc::NodeAction::kReboot, "n0", "bmc"), "");
  EXPECT_EQ(started(b), "reboot bmc 0");
  b.turn([&] { b.core.node_disconnected(NodeId(1)); });
  ASSERT_EQ(asked(b, rpc::NodeAction::kReboot, "n1", ""), "");  // waits until it is there
  EXPECT_TRUE(b.node(1).flags & kNodeRebootRequested);
}

TEST(PowerCalls, WrongActionsAreRefused) {
  Bench b(kConf);
  EXPECT_NE(asked(b, rpc::NodeAction::kPowerDown, "n0", "hlat").find("there are: bmc, halt"), std::string::npos);
  EXPECT_NE(asked(b, rpc::NodeAction::kPowerUp, "n0", "halt").find("Location=slurmd"), std::string::npos);
  EXPECT_NE(asked(b, rpc::NodeAction::kCancelReboot, "n0", "bmc"), "");
  EXPECT_EQ(b.node(0).flags & (kNodePoweringDown | kNodePowerDownRequested), 0u);
  Bench none;
  EXPECT_NE(asked(none, rpc::NodeAction::kReboot, "n0", "x").find("there are none here"), std::string::npos);
}

}  // namespace
}  // namespace muster::slurmctld
