#include "slurmd/core/mem_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

using step_rpc::MemoryPolicy;
using testing::ElementsAre;

// Two NUMA nodes of four CPUs.
CpuMap two_domains() {
  CpuMap m;
  m.cores_per_socket = 4;
  for (uint32_t i = 0; i < 8; ++i) {
    m.os_cpu.push_back(i);
    m.numa_node.push_back(i / 4);
  }
  return m;
}

std::vector<Bitmap> two_tasks() {
  Bitmap a, b;
  a.set(1);
  b.set(5);
  return {a, b};
}

TEST(MemBind, EachKind) {
  auto none = bind_memory("", two_tasks(), two_domains());
  ASSERT_TRUE(none);
  EXPECT_EQ(none->tasks[0].policy, MemoryPolicy::kDefault);
  EXPECT_TRUE(none->environment.empty());
  auto local = bind_memory("verbose,local", two_tasks(), two_domains());
  EXPECT_EQ(local->tasks[1].policy, MemoryPolicy::kLocal);
  EXPECT_EQ(mem_bind_line(*local, "n1", 3, 1), "mem-bind=LOC - n1, task  3  1 [%p]: mask 0x2 set");
  EXPECT_THAT(local->environment, ElementsAre("SLURM_MEM_BIND=verbose,local", "SLURM_MEM_BIND_VERBOSE=verbose", "SLURM_MEM_BIND_TYPE=local",
                                              "SLURM_MEM_BIND_LIST="));
  auto rank = bind_memory("rank", two_tasks(), two_domains());
  EXPECT_EQ(rank->tasks[1].policy, MemoryPolicy::kBind);
  EXPECT_EQ(rank->tasks[1].nodes.to_ranges(), "1");
  auto map = bind_memory("p,map_mem:0*2,1", two_tasks(), two_domains());
  EXPECT_EQ(map->tasks[1].policy, MemoryPolicy::kPrefer);
  EXPECT_EQ(map->tasks[1].nodes.to_ranges(), "0");
  EXPECT_EQ(mem_bind_line(*map, "n1", 0, 0), "mem-bind PREFER MAP - n1, task  0  0 [%p]: mask 0x1 set");
  EXPECT_EQ(map->environment.back(), "SLURM_MEM_BIND_PREFER=prefer");
  EXPECT_EQ(bind_memory("mask_mem:0x3", two_tasks(), two_domains())->tasks[0].nodes.to_ranges(), "0-1");
  auto off = bind_memory("v,none", two_tasks(), two_domains());
  EXPECT_EQ(mem_bind_line(*off, "n1", 0, 0), "mem-bind=NONE - n1, task  0  0 [%p]: mask 0x3");
}

TEST(MemBind, NodesThatAreNotThereAreRefused) {
  auto text = [](const char* how) { return std::string(bind_memory(how, two_tasks(), two_domains()).error().message()); };
  EXPECT_EQ(text("map_mem:0,3"), "NUMA node 3 does not exist; cannot bind local task 1 to it (--mem-bind=map_mem)");
  EXPECT_EQ(text("mask_mem:0"), "NUMA node (none) does not exist; cannot bind local task 0 to it (--mem-bind=mask_mem)");
  EXPECT_FALSE(bind_memory("foo", two_tasks(), two_domains()));
}

}  // namespace
}  // namespace muster::slurmd
