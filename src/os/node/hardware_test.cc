#include "os/node/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "base/text.h"
#include "os/node/affinity.h"
#include "os/process.h"

namespace muster::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Hardware, ThisMachine) {
  auto m = discover_machine();
  ASSERT_TRUE(m) << m.error().message();
  const NodeHardware& h = m->hardware;
  EXPECT_EQ(h.cpus, h.sockets * h.cores_per_socket * h.threads_per_core);
  EXPECT_GE(h.cpus, 1u);
  EXPECT_GT(h.real_memory_mb, 100u);
  EXPECT_GT(h.tmp_disk_mb, 0u);
  EXPECT_EQ(h.boot_id.size(), 36u);
  EXPECT_THAT(h.os, HasSubstr("Linux "));
  EXPECT_GT(h.boot_time, from_unix(1'600'000'000));
  EXPECT_EQ(m->cpus.cpus(), h.cpus);
  // All CPUs we were told of can be used.
  auto allowed = cpu_affinity(1);
  ASSERT_TRUE(allowed);
  Bitmap all(h.cpus, true);
  EXPECT_TRUE(allowed->contains(m->cpus.to_os(all)));
  EXPECT_EQ(m->cpus.from_os(m->cpus.to_os(all)), all);
}

TEST(Hardware, TwoSocketsFourNumaNodesWithThreads) {
  auto m = discover_machine({.topology_xml = "synthetic:package:2 numa:2 l3:2 core:4 pu:2"});
  ASSERT_TRUE(m) << m.error().message();
  const auto& h = m->hardware;
  EXPECT_THAT((std::vector{h.cpus, h.sockets, h.cores_per_socket, h.threads_per_core}), ElementsAre(64u, 2u, 16u, 2u));
  EXPECT_TRUE(m->notes.empty());
  Bitmap cpus;
  cpus.set(0);
  cpus.set(63);
  EXPECT_EQ(m->cpus.numa_nodes_of(cpus).to_ranges(), "0,3");
  EXPECT_EQ(m->cpus.cores_of_os(m->cpus.to_os(cpus)).to_ranges(), "0,31");
  m = discover_machine({.numa_node_as_socket = true, .topology_xml = "synthetic:package:2 numa:2 l3:2 core:4 pu:2"});
  EXPECT_EQ(m->hardware.sockets, 4u);
  EXPECT_EQ(m->hardware.cores_per_socket, 8u);
  m = discover_machine({.l3cache_as_socket = true, .topology_xml = "synthetic:package:2 numa:2 l3:2 core:4 pu:2"});
  EXPECT_EQ(m->hardware.sockets, 8u);
  EXPECT_EQ(m->hardware.cores_per_socket, 4u);
}

TEST(Hardware, InterleavedKernelNumbersAreMapped) {
  // As most servers have it: thread 1 of every core comes after all first threads.
  auto m = discover_machine({.topology_xml = "synthetic:package:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)"});
  ASSERT_TRUE(m) << m.error().message();
  EXPECT_THAT(m->cpus.os_cpu, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  Bitmap core1;
  core1.set_range(2, 4);
  EXPECT_EQ(m->cpus.to_os(core1).to_ranges(), "1,5");
}

TEST(Hardware, BadTopologiesAreErrors) {
  EXPECT_FALSE(discover_machine({.topology_xml = "/no/such.xml"}));
  EXPECT_FALSE(discover_machine({.topology_xml = "synthetic:nonsense:x"}));
}

TEST(Hardware, PrintsAsSlurmdC) {
  NodeHardware h{.cpus = 256, .sockets = 2, .cores_per_socket = 64, .threads_per_core = 2, .real_memory_mb = 2048000};
  EXPECT_EQ(format_slurmd_C(h, "gpu01", seconds(86400 * 12 + 3723)),
            "NodeName=gpu01 CPUs=256 Boards=1 SocketsPerBoard=2 CoresPerSocket=64 ThreadsPerCore=2 "
            "RealMemory=2048000\n"
            "UpTime=12-01:02:03");
  h.gres = {{.name = "gpu", .type = "a100", .count = 1},
            {.name = "gpu", .type = "a100_3g.20gb", .count = 2},
            {.name = "gpu", .type = "a100", .count = 1}};
  EXPECT_THAT(format_slurmd_C(h, "g", Duration{}), HasSubstr(" Gres=gpu:a100:2,gpu:a100_3g.20gb:2\nUpTime=0-00:00:00"));
  EXPECT_EQ(short_hostname().find('.'), std::string::npos);
}

// Debian's slurmd, where it is installed, reads the same machine.
TEST(Hardware, AgreesWithTheOracle) {
  if (access("/usr/sbin/slurmd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/slurmd to compare with";
  auto oracle = run_captured({.path = "/usr/sbin/slurmd", .argv = {"slurmd", "-C"}}, seconds(10));
  ASSERT_TRUE(oracle);
  const std::string ours = format_slurmd_C(discover_machine()->hardware, short_hostname(), Duration{});
  EXPECT_EQ(oracle->output.substr(0, oracle->output.find('\n')), ours.substr(0, ours.find('\n')));
}

TEST(Affinity, MasksAreSetReadAndPrinted) {
  auto before = cpu_affinity(0);
  ASSERT_TRUE(before);
  Bitmap one;
  one.set(before->first());
  ASSERT_TRUE(set_cpu_affinity(0, one));
  EXPECT_EQ(*cpu_affinity(0), one);
  ASSERT_TRUE(set_cpu_affinity(0, *before));
  EXPECT_FALSE(set_cpu_affinity(0, Bitmap()));
}

TEST(MemoryPolicy, IsInheritedByWhatIsSpawnedMeanwhile) {
  auto now = memory_policy();
  if (!now) GTEST_SKIP() << "the kernel has no NUMA policies here: " << now.error().message();
  Bitmap node0;
  node0.set(0);
  const SpawnSpec show{.path = "sh", .argv = {"sh", "-c", "grep -c 'bind:0' /proc/self/numa_maps"}};
  {
    auto bound = ScopedMemoryPolicy::set(MemoryPolicy::kBind, node0);
    ASSERT_TRUE(bound) << bound.error().message();
    EXPECT_EQ(memory_policy()->policy, MemoryPolicy::kBind);
    EXPECT_EQ(memory_policy()->numa_nodes, node0);
    if (access("/proc/self/numa_maps", R_OK) == 0) {
      EXPECT_GT(std::stoi(run_captured(show, seconds(5))->output), 0);
    }
  }
  EXPECT_EQ(memory_policy()->policy, now->policy);
  EXPECT_FALSE(ScopedMemoryPolicy::set(MemoryPolicy::kBind, Bitmap()));
  Bitmap far;
  far.set(900);
  EXPECT_FALSE(ScopedMemoryPolicy::set(MemoryPolicy::kBind, far));
  EXPECT_EQ(memory_policy()->policy, now->policy);
}

}  // namespace
}  // namespace muster::os
