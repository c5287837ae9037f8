#include "slurmd/core/cpu_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex_mask.h"
#include "base/text.h"

namespace muster::slurmd {
namespace {

using Kind = CpuBind::Kind;
using testing::HasSubstr;

// `numa` locality domains over all cores; the kernel numbers either thread by thread ("scattered": siblings
// are far apart, as on most servers) or in our order.
CpuMap machine(uint32_t sockets, uint32_t cores, uint32_t threads, uint32_t numa, bool scattered = false) {
  CpuMap m;
  m.threads_per_core = threads;
  m.cores_per_socket = cores;
  const uint32_t all_cores = sockets * cores;
  for (uint32_t cpu = 0; cpu < all_cores * threads; ++cpu) {
    const uint32_t core = cpu / threads, thread = cpu % threads;
    m.os_cpu.push_back(scattered ? thread * all_cores + core : cpu);
    m.numa_node.push_back(core * numa / all_cores);
  }
  return m;
}

Bitmap cpus(const char* text) {
  Bitmap b;
  EXPECT_TRUE(Bitmap::parse_ranges(text, b)) << text;
  return b;
}

struct Case {
  const char* options;  // "-n4 -c2 cores m=block:block hint=nomultithread tpc=1 tpcore=1 tps=1 B=2:2:1"
  const char* step;     // CPUs
  const char* list;     // SLURM_CPU_BIND_LIST, or the type where there is none
};

Result<CpuBinding> bind(const Case& c, const CpuMap& m, const CpuBindDefaults& d = {}) {
  StepRequest r;
  uint32_t tasks = 1;
  for (std::string_view w : split(c.options, ' ')) {
    auto value = [&](std::string_view key) -> std::optional<std::string_view> {
      if (!w.starts_with(key)) return std::nullopt;
      return w.substr(key.size());
    };
    auto number = [](std::string_view t) { return *parse_number<uint32_t>(t); };
    if (auto v = value("-n")) tasks = number(*v);
    else if (auto v = value("-c")) r.cpus_per_task = number(*v);
    else if (auto v = value("m=")) r.distribution = std::string(*v);
    else if (auto v = value("hint=")) r.hint = std::string(*v);
    else if (auto v = value("tpc=")) r.threads_per_core = number(*v);
    else if (auto v = value("tpcore=")) r.ntasks_per_core = number(*v);
    else if (auto v = value("tps=")) r.ntasks_per_socket = number(*v);
    else if (auto v = value("S=")) r.sockets_per_node = number(*v);
    else if (auto v = value("C=")) r.cores_per_socket = number(*v);
    else r.cpu_bind = std::string(w);
  }
  return bind_cpus(r, tasks, cpus(c.step), m, d);
}

void expect(const std::vector<Case>& cases, const CpuMap& m) {
  for (const Case& c : cases) {
    auto b = bind(c, m);
    ASSERT_TRUE(b) << c.options << ": " << b.error().message();
    EXPECT_EQ(b->list.empty() ? b->type : b->list, c.list) << c.options << " on " << c.step;
  }
}

// Each line as Debian's Slurm 22.05 answered on such a machine, the step holding these CPUs.
TEST(CpuBind, AsObservedOnTwoSocketsOfFourCoresWithTwoThreads) {
  expect({{"-n1", "0-1", "0x0003"},
          {"-n2", "0-1", "0x0001,0x0002"},
          {"-n3", "0-1,8-9", "0x0303"},
          {"-n4", "0-1,8-9", "0x0001,0x0100,0x0002,0x0200"},
          {"-n6", "0-3,8-9", "0x0001,0x0100,0x0002,0x0200,0x0004,0x0008"},
          {"-n2 -c3", "0-5", "0x0007,0x0038"},
          {"-n4 -c2", "0-7", "0x0003,0x000C,0x0030,0x00C0"},
          {"-n4 -c4", "0-15", "0x000F,0x0F00,0x00F0,0xF000"},
          {"-n8", "0-15", "0x0003,0x0300,0x000C,0x0C00,0x0030,0x3000,0x00C0,0xC000"},
          {"-n8 threads", "0-15", "0x0001,0x0100,0x0002,0x0200,0x0004,0x0400,0x0008,0x0800"},
          {"-n2 cores", "0-1", "0x0003,0x0003"},
          {"-n4 cores", "0-1,8-9", "0x0003,0x0300,0x0300,0x0003"},
          {"-n4 cores", "0-3", "0x0003,0x000C,0x0003,0x000C"},
          {"-n3 -c4 cores", "0-11", "0x000F,0x0F00,0x00F0"},
          {"-n4 sockets", "0-1,8-9", "0x0003,0x0300,0x0003,0x0300"},
          {"-n3 -c4 sockets", "0-11", "0x00FF,0x0F00,0x00FF"},
          {"-n8 rank", "0-15", "rank"},
          {"-n8 rank_ldom", "0-15", "rank_ldom"},
          {"-n8 map_cpu:0,8,4", "0-15", "0,8,4"},
          {"-n8 mask_cpu:0xff,0xff00", "0-15", "ff,ff00"},
          {"-n2 none", "0-1", "none"}},
         machine(2, 4, 2, 2));
}

TEST(CpuBind, DistributionsAsObserved) {
  expect({{"-n6 -c2 m=block:block threads", "0-15", "0x0003,0x000C,0x0030,0x00C0,0x0300,0x0C00"},
          {"-n6 -c2 m=block:cyclic threads", "0-15", "0x0003,0x0300,0x000C,0x0C00,0x0030,0x3000"},
          {"-n6 -c2 m=block:fcyclic threads", "0-15", "0x0101,0x0202,0x0404,0x0808,0x1010,0x2020"},
          {"-n4 -c3 m=block:block threads", "0-15", "0x0007,0x0038,0x01C0,0x0E00"},
          {"-n4 -c3 m=block:block cores", "0-15", "0x000F,0x00F0,0x0F00,0xF000"},
          {"-n4 -c3 m=block:cyclic threads", "0-15", "0x0007,0x0700,0x0038,0x3800"},
          {"-n4 -c3 m=block:cyclic cores", "0-15", "0x000F,0x0F00,0x00F0,0xF000"},
          {"-n4 -c3 m=block:fcyclic threads", "0-15", "0x0103,0x0604,0x0818,0x3020"},
          {"-n4 -c3 m=block:fcyclic cores", "0-15", "0x0303,0x0C0C,0x3030,0xC0C0"},
          {"-n4 m=block:fcyclic cores", "0-1,8-9", "0x0003,0x0300,0x0300,0x0003"}},
         machine(2, 4, 2, 2));
}

TEST(CpuBind, HintsAndLevelsAsObserved) {
  expect({{"-n2 hint=nomultithread", "0-1,8-9", "0x0001,0x0100"},
          {"-n4 hint=nomultithread", "0-3,8-11", "0x0001,0x0100,0x0004,0x0400"},
          {"-n2 -c2 hint=nomultithread", "0-7", "0x0005,0x0050"},
          {"-n4 hint=multithread", "0-1,8-9", "0x0001,0x0100,0x0002,0x0200"},
          {"-n4 hint=compute_bound", "0-3,8-11", "0x0003,0x0300,0x000C,0x0C00"},
          {"-n2 -c2 hint=memory_bound", "0-7", "0x000F,0x00F0"},
          {"-n2 -c2 tpc=1", "0-7", "0x0005,0x0050"},
          {"-n4 tpcore=1", "0-3,8-11", "0x0003,0x0300,0x000C,0x0C00"},
          {"-n2 -c2 tpcore=1", "0-3", "0x0003,0x000C"},
          {"-n4 S=2 C=2", "0-1,8-9", "0x0003,0x0300,0x0300,0x0003"},
          {"-n4 S=2 C=2 tpc=1", "0-3,8-11", "0x0001,0x0100,0x0004,0x0400"},
          {"-n2 -c2 S=2", "0-3", "0x000F,0x000F"},
          {"-n4 tps=1", "0-1,8-9", "0x0003,0x0300,0x0003,0x0300"}},
         machine(2, 4, 2, 2));
}

// The third part of --distribution is as srun(1) describes it; 22.05 ignores it.
TEST(CpuBind, CoresInTurn) {
  expect({{"-n4 m=block:block:cyclic threads", "0-7", "0x0001,0x0004,0x0010,0x0040"},
          {"-n2 -c2 m=block:block:cyclic threads", "0-7", "0x0003,0x000C"},
          {"-n2 -c2 m=block:block:fcyclic threads", "0-7", "0x0005,0x0050"},
          {"-n2 -c2 m=block:block:block threads", "0-7", "0x0003,0x000C"}},
         machine(2, 4, 2, 2));
}

TEST(CpuBind, MasksCarryTheKernelsNumbers) {
  expect({{"-n4", "0-1,8-9", "0x0001,0x0010,0x0100,0x1000"},
          {"-n2 -c2", "0-3", "0x0101,0x0202"},
          {"-n2 -c2 map_cpu:0,8", "0-3", "0,8"},
          {"-n2 -c4", "0-15", "0x0303,0x3030"}},
         machine(2, 4, 2, 2, true));
}

TEST(CpuBind, OneSocketAndFourDomains) {
  expect({{"-n2", "0-1", "0x1,0x2"}, {"-n2 sockets", "0-1", "0x3,0x3"}, {"-n1 -c2", "0-1", "0x3"}}, machine(1, 2, 1, 1));
  CpuMap four = machine(2, 8, 1, 4);  // domains of four cores
  expect({{"-n2 -c2 ldoms", "0-3,8-11", "0x000F,0x0F00"}, {"-n2 -c6 ldoms", "0-11", "0x00FF,0x0FF0"}, {"-n16 map_ldom:3,0", "0-15", "3,0"}},
         four);
  auto b = bind({"-n4 rank_ldom", "0-15", ""}, four);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->os_cpus[1].to_ranges(), "4-7");
  EXPECT_EQ(b->os_cpus[3].to_ranges(), "12-15");
  b = bind({"-n2 mask_ldom:0x9", "0-15", ""}, four);
  EXPECT_EQ(b->os_cpus[1].to_ranges(), "0-3,12-15");
}

TEST(CpuBind, WhatTheStepDoesNotHoldIsRefused) {
  CpuMap m = machine(2, 4, 2, 2);
  auto text = [&](const char* options, const char* step) {
    auto b = bind({options, step, ""}, m);
    return b ? "accepted" : std::string(b.error().message());
  };
  EXPECT_EQ(text("-n2 map_cpu:0,8,4", "0-1"),
            "Unable to satisfy cpu bind request: CPU binding outside of job step allocation, allocated CPUs "
            "are: 0x0003.");
  EXPECT_THAT(text("-n1 map_cpu:99", "0-15"), HasSubstr("outside of job step allocation"));
  EXPECT_THAT(text("-n2 mask_cpu:0", "0-15"), HasSubstr("outside of job step allocation"));
  EXPECT_EQ(text("-n2 rank_ldom", "0-7"), "Unable to satisfy cpu bind request: Entire node must be allocated for rank_ldom");
  EXPECT_THAT(text("-n2 map_ldom:0", "0-7"), HasSubstr("Entire node must be allocated for map_ldom"));
}

TEST(CpuBind, MoreTasksThanCpusShareTheStep) {
  CpuMap m = machine(2, 4, 2, 2);
  auto b = bind({"-n3 cores,verbose", "0-1", ""}, m);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->type, "cores,mask_cpu:");
  EXPECT_EQ(b->list, "0x0003");
  EXPECT_EQ(cpu_bind_line(*b, "n1", 12, 2), "cpu-bind-cores=MASK - n1, task 12  2 [%p]: mask 0x3 set");
}

TEST(CpuBind, WhatTheSiteSays) {
  CpuMap m = machine(2, 4, 2, 2);
  EXPECT_EQ(bind({"-n2", "0-1", ""}, m, cpu_bind_defaults(Kind::kDefault, Kind::kDefault, {"Sockets"}))->list, "0x0003,0x0003");
  EXPECT_EQ(bind({"-n2", "0-1", ""}, m, cpu_bind_defaults(Kind::kNone, Kind::kCores, {"Sockets"}))->type, "none");
  EXPECT_EQ(bind({"-n2", "0-1", ""}, m, cpu_bind_defaults(Kind::kDefault, Kind::kThreads, {"Cores"}))->list, "0x0001,0x0002");
  EXPECT_EQ(bind({"-n2 threads", "0-1", ""}, m, cpu_bind_defaults(Kind::kNone, Kind::kDefault, {}))->list, "0x0001,0x0002");
  EXPECT_EQ(bind({"-n3", "0-1,8-9", ""}, m, cpu_bind_defaults(Kind::kDefault, Kind::kDefault, {"autobind=threads"}))->list,
            "0x0001,0x0100,0x0002");
  auto b = bind({"-n2 v", "0-1", ""}, m);
  EXPECT_EQ(cpu_bind_line(*b, "n1", 0, 0), "cpu-bind=MASK - n1, task  0  0 [%p]: mask 0x1 set");
  EXPECT_EQ(cpu_bind_environment(*b).front(), "SLURM_CPU_BIND=verbose,mask_cpu:0x0001,0x0002");
  b = bind({"-n2 verbose,none", "0-1", ""}, m);
  EXPECT_EQ(cpu_bind_line(*b, "n1", 0, 0), "cpu-bind=NONE - n1, task  0  0 [%p]: mask 0x0");
  EXPECT_TRUE(bind_cpus({}, 2, Bitmap(), m, {})->os_cpus[1].none());
}

// For any step, any binding: masks stay inside the step, and tasks with CPUs enough do not share when bound
// to threads.
TEST(CpuBind, NeverOutsideAndNeverTwice) {
  for (bool scattered : {false, true}) {
    CpuMap m = machine(2, 4, 2, 4, scattered);
    for (uint32_t held = 1; held < 1u << 16; held = held * 3 + 7) {
      const uint64_t low = held & 0xffff;
      Bitmap step = Bitmap::from_words(16, {&low, 1});
      if (step.none()) continue;
      for (const char* kind : {"", "threads", "cores", "sockets", "ldoms"})
        for (const char* dist : {"", "block:block", "block:fcyclic", "cyclic:cyclic:cyclic", "block:block:fcyclic"})
          for (uint32_t tasks : {1u, 2u, 3u, 8u})
            for (uint32_t each : {1u, 2u, 3u}) {
              StepRequest r;
              r.cpu_bind = kind;
              r.distribution = dist;
              r.cpus_per_task = each;
              auto b = bind_cpus(r, tasks, step, m, {});
              ASSERT_TRUE(b) << b.error().message();
              ASSERT_EQ(b->os_cpus.size(), tasks);
              Bitmap seen(16);
              for (const Bitmap& mask : b->os_cpus) {
                ASSERT_TRUE(mask.any());
                ASSERT_TRUE(m.to_os(step).contains(mask)) << kind << " " << dist << " " << held;
                if (std::string_view(kind) == "threads" && tasks * each <= step.count()) {
                  ASSERT_EQ(mask.count(), each);
                  ASSERT_FALSE(seen.intersects(mask)) << dist << " " << held << " " << tasks << " " << each;
                  seen |= mask;
                }
              }
            }
    }
  }
}

}  // namespace
}  // namespace muster::slurmd
