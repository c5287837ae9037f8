// Where cloud nodes are: what registrations and scontrol say, what is kept and what goes with the machine.
#include "slurmctld/core/node_place.h"

#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const std::string kPrograms = "SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\n";
constexpr uint32_t kCloud = 0;

void registers_from(Bench& b, const std::string& address, uint32_t node = kCloud) {
  node_rpc::Register r;
  r.node = b.node(node).spec->name;
  r.hardware.cpus = r.hardware.sockets = 4;
  r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
  r.hardware.real_memory_mb = 4000;
  r.hardware.boot_id = "boot1";
  r.address = address;
  b.turn([&] {
    b.core.node_connected(NodeId(node));
    b.core.report(NodeId(node), r);
  });
}
void update(Bench& b, const std::string& node, std::vector<rpc::KeyValue> changes) {
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), rpc::UpdateNode{node, std::move(changes)})); });
}
std::string place(const Bench& b, uint32_t node = kCloud) { return b.node(node).spec->address + " " + b.node(node).spec->hostname; }

TEST(NodePlace, ACloudNodeIsWhereItRegistersFromUntilItIsPoweredDown) {
  Bench b(kPrograms + "NodeName=c CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  ASSERT_EQ(place(b), "c c");
  update(b, "c", {{"State", "=", "POWER_UP"}});
  registers_from(b, "10.0.0.7");
  EXPECT_EQ(place(b), "10.0.0.7 c");
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_EQ(place(b), "10.0.0.7 c");
  update(b, "c", {{"State", "=", "POWER_DOWN"}});
  EXPECT_EQ(place(b), "10.0.0.7 c");
  b.wait(seconds(21));
  EXPECT_TRUE(b.node(kCloud).flags & kNodePoweredDown);
  EXPECT_EQ(place(b), "c c");
  b.expect_replay_equal();
}

TEST(NodePlace, WhatAToolKitSaysIsKeptWhenTheFilesAreReadAgain) {
  Bench b(kPrograms + "SlurmctldParameters=cloud_dns\nNodeName=c CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  update(b, "c", {{"NodeAddr", "=", "10.0.0.5"}, {"NodeHostname", "=", "ip-5"}});
  b.turn([&] { b.core.configure(b.settings); });
  registers_from(b, "10.9.9.9");  // cloud_dns: not asked for
  EXPECT_EQ(place(b), "10.0.0.5 ip-5");
  b.expect_replay_equal();
}

TEST(NodePlace, AnAddressOfSlurmConfStands) {
  Bench b(kPrograms + "NodeName=c NodeAddr=10.0.0.1 CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  registers_from(b, "10.0.0.7");
  EXPECT_EQ(place(b), "10.0.0.1 c");
  registers_from(b, "10.0.0.7", 1);  // no cloud node
  EXPECT_EQ(b.node(1).spec->address, b.node(1).spec->name);
}

TEST(NodePlace, ResumeDoesNotWaitForSuspendTimeout) {
  Bench b(kPrograms + "NodeName=c CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  update(b, "c", {{"State", "=", "POWER_UP"}});
  registers_from(b, "10.0.0.7");
  update(b, "c", {{"State", "=", "POWER_DOWN"}});
  b.turn([&] { b.core.node_disconnected(NodeId(kCloud)); });
  update(b, "c", {{"State", "=", "RESUME"}, {"Reason", "=", "x"}});
  EXPECT_EQ(b.node(kCloud).flags & (kNodePoweringDown | kNodePoweredDown), kNodePoweredDown);
  EXPECT_EQ(b.node(kCloud).reason, "");
  EXPECT_EQ(place(b), "c c");
  b.wait(seconds(30));
  EXPECT_TRUE(b.node(kCloud).flags & kNodePoweredDown);
  b.expect_replay_equal();
}

TEST(NodePlace, ResumeKeepsAMachineThatIsThere) {
  Bench b(kPrograms + "NodeName=c CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  update(b, "c", {{"State", "=", "POWER_UP"}});
  registers_from(b, "10.0.0.7");
  update(b, "c", {{"State", "=", "POWER_DOWN"}});
  update(b, "c", {{"State", "=", "RESUME"}});
  EXPECT_EQ(b.node(kCloud).flags & (kNodePoweringDown | kNodePoweredDown | kNodePoweringUp), 0u);
  EXPECT_EQ(place(b), "10.0.0.7 c");
  b.wait(seconds(30));
  EXPECT_EQ(b.node(kCloud).flags & (kNodePoweringDown | kNodePoweredDown), 0u);
}

TEST(NodePlace, WhatScontrolSaidStandsWhenTheNodeRegisters) {
  Bench b(kPrograms + "NodeName=c CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  update(b, "c", {{"State", "=", "POWER_UP"}});
  update(b, "c", {{"NodeAddr", "=", "10.0.0.5"}});
  registers_from(b, "192.168.0.1");
  EXPECT_EQ(place(b), "10.0.0.5 c");
}

}  // namespace
}  // namespace muster::slurmctld
