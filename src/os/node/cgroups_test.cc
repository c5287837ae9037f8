#include "os/node/cgroups.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <thread>

#include "base/text.h"
#include "os/files.h"
#include "os/node/affinity.h"
#include "os/node/cgroup_backend.h"
#include "os/process.h"

namespace muster::os {
namespace {

using testing::Contains;
using testing::HasSubstr;

// The cgroups of this machine as they are; a v2 tree beside v1 (hybrid) is tried too. A lack is a skip with
// its reason.
struct Trial {
  const char* name;
  CgroupVersion version;
  const char* mount;
};
struct OnThisMachine : testing::TestWithParam<Trial> {
  std::string prefix = "muster-test-" + std::to_string(getpid());
  std::optional<Cgroups> groups;
  std::vector<pid_t> children;

  void SetUp() override {
    auto g = Cgroups::open({.mountpoint = GetParam().mount, .version = GetParam().version, .prefix = prefix});
    ASSERT_TRUE(g) << g.error().message();
    if (g->support().version == CgroupVersion::kNone)
      GTEST_SKIP() << "no writable cgroups " << GetParam().name << " here: " << g->support().reason;
    groups = std::move(*g);
  }
  void TearDown() override {
    if (!groups) return;
    for (const auto& job : groups->list()) {
      auto g = *groups->create({job});
      (void)g.freeze(false);
      EXPECT_TRUE(g.kill(seconds(5)));
      for (pid_t pid : children) (void)wait_child(pid, seconds(5));
      auto removed = g.remove();
      EXPECT_TRUE(removed) << removed.error().message();
    }
    for (const char* c : {"freezer", "memory", "cpuset", "devices", "cpuacct", "pids", "."})
      rmdir((std::string(GetParam().mount) + "/" + c + "/" + prefix).c_str());
  }
  // A shell in the group from its first instruction on.
  pid_t start(const Cgroup& g, std::string script, int out = -1) {
    auto procs = g.open_procs();
    EXPECT_TRUE(procs);
    SpawnSpec s{.path = "/bin/sh", .argv = {"sh", "-c", std::move(script)}};
    for (const Fd& fd : *procs) s.cgroup_procs_fds.push_back(fd.get());
    if (out >= 0) s.fds = {{out, 1}, {out, 2}};
    auto pid = spawn(s);
    EXPECT_TRUE(pid) << pid.error().message();
    children.push_back(*pid);
    return *pid;
  }
  ExitStatus finish(pid_t pid) {
    std::erase(children, pid);
    return wait_child(pid, seconds(20))->status;
  }
  std::string output_in(const Cgroup& g, const std::string& script) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = start(g, script, ends[1]);
    close(ends[1]);
    std::string out;
    char buffer[512];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    finish(pid);
    return out;
  }
};

TEST_P(OnThisMachine, HoldsProcessesAndEndsThemAll) {
  auto job = groups->create({"job_17"});
  auto step = groups->create({"job_17", "step_0", "task_0"});
  ASSERT_TRUE(step) << step.error().message();
  EXPECT_EQ(step->path(), "job_17/step_0/task_0");
  EXPECT_THAT(groups->list(), Contains("job_17"));
  EXPECT_THAT(groups->list({"job_17"}), Contains("step_0"));
  const pid_t pid = start(*step, "setsid sleep 100 & setsid setsid sleep 100 & wait");
  for (int i = 0; i < 500 && job->pids()->size() < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(job->pids()->size(), 3u);  // one more where setsid has forked and not ended yet
  EXPECT_THAT(*job->pids(), Contains(pid));
  EXPECT_FALSE(step->remove(milliseconds(5)));  // in use
  EXPECT_TRUE(job->signal_all(0));
  (void)job->kill(Duration{});  // has no time to see the end of what it kills
  EXPECT_EQ(finish(pid).signal, SIGKILL);
  auto killed = job->kill(seconds(5));
  EXPECT_TRUE(killed) << killed.error().message();
  auto removed = job->remove(seconds(5));
  EXPECT_TRUE(removed) << removed.error().message();
  EXPECT_TRUE(groups->list().empty());
  EXPECT_TRUE(job->remove());
}

TEST_P(OnThisMachine, FreezesAndKillsTheFrozen) {
  if (!groups->support().freezer) GTEST_SKIP() << "no freezer: " << groups->support().reason;
  auto g = *groups->create({"job_18"});
  const pid_t pid = start(g, "while :; do :; done");
  ASSERT_TRUE(g.freeze(true));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto before = g.usage();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto after = g.usage();
  ASSERT_TRUE(before && after);
  if (groups->support().cpu_usage) {
    EXPECT_LT(after->user_time + after->system_time - before->user_time - before->system_time, milliseconds(20));
  }
  EXPECT_TRUE(g.kill(seconds(5)));
  EXPECT_EQ(finish(pid).signal, SIGKILL);
}

TEST_P(OnThisMachine, AccountsCpuTime) {
  if (!groups->support().cpu_usage) GTEST_SKIP() << "no CPU accounting: " << groups->support().reason;
  auto g = *groups->create({"job_19"});
  output_in(g, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  auto u = g.usage();
  ASSERT_TRUE(u) << u.error().message();
  EXPECT_GT(u->user_time + u->system_time, milliseconds(10));
  EXPECT_LT(u->user_time + u->system_time, seconds(20));
}

TEST_P(OnThisMachine, ConfinesMemoryAndCountsTheOomKill) {
  if (!groups->support().memory) GTEST_SKIP() << "no memory controller: " << groups->support().reason;
  auto g = *groups->create({"job_20", "step_0"});
  MemoryLimits limits{.hard_bytes = 64 << 20, .soft_bytes = 48 << 20, .ram_and_swap_bytes = 64 << 20};
  auto set = g.set_memory(limits);
  if (!set && set.error().code == Errc::kUnsupported) {
    limits.ram_and_swap_bytes.reset();
    set = g.set_memory(limits);
  }
  ASSERT_TRUE(set) << set.error().message();
  limits.hard_bytes = limits.ram_and_swap_bytes = 96 << 20;  // up …
  EXPECT_TRUE(g.set_memory(limits));
  limits.hard_bytes = limits.ram_and_swap_bytes = 64 << 20;  // … and down again
  limits.soft_bytes = 64 << 20;                              // between both limits version 2 slows a process down for minutes
  EXPECT_TRUE(g.set_memory(limits));
  EXPECT_EQ(g.usage()->oom_kills, 0u);
  const pid_t pid = start(g, "exec tail /dev/zero");  // keeps what it reads
  EXPECT_EQ(finish(pid).signal, SIGKILL);
  const auto u = g.usage();
  ASSERT_TRUE(u);
  EXPECT_EQ(u->oom_kills, 1u);
  // Linux 6.18 no longer counts the hits of v1 groups.
  if (GetParam().version == CgroupVersion::kV2) {
    EXPECT_GT(u->limit_hits, 0u);
  }
  EXPECT_GT(u->peak_bytes, 32u << 20);
  EXPECT_LE(u->peak_bytes, 64u << 20);
  EXPECT_EQ(groups->create({"job_20"})->usage()->oom_kills, 1u);  // told above as well
}

TEST_P(OnThisMachine, ConfinesToCpus) {
  if (!groups->support().cpuset) GTEST_SKIP() << "no cpuset controller: " << groups->support().reason;
  auto g = *groups->create({"job_21"});
  Bitmap one;
  one.set(cpu_affinity(0)->first());
  auto set = g.set_cpus(one);
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(output_in(g, "grep Cpus_allowed_list /proc/self/status"), "Cpus_allowed_list:\t" + one.to_ranges() + "\n");
  EXPECT_FALSE(g.set_cpus(Bitmap()));
  Bitmap absent;
  absent.set(4000);
  EXPECT_FALSE(g.set_cpus(absent));
}

TEST_P(OnThisMachine, ConfinesDevices) {
  if (!groups->support().devices) GTEST_SKIP() << "no device confinement: " << groups->support().reason;
  auto g = *groups->create({"job_22"});
  auto zero = device_rule("/dev/zero");
  ASSERT_TRUE(zero) << zero.error().message();
  const std::string script = "head -c1 /dev/zero 2>/dev/null | wc -c; echo >/dev/null && echo null";
  EXPECT_EQ(output_in(g, script), "1\nnull\n");
  auto set = g.deny_devices({*zero});
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(output_in(g, script), "0\nnull\n");
  auto below = *groups->create({"job_22", "step_0"});  // and for what is below
  EXPECT_EQ(output_in(below, script), "0\nnull\n");
  EXPECT_EQ(output_in(*groups->create({"job_23"}), script), "1\nnull\n");
}

INSTANTIATE_TEST_SUITE_P(Cgroups, OnThisMachine,
                         testing::Values(Trial{"v1", CgroupVersion::kV1, "/sys/fs/cgroup"},
                                         Trial{"v2", CgroupVersion::kV2, "/sys/fs/cgroup"},
                                         Trial{"hybrid", CgroupVersion::kV2, "/sys/fs/cgroup/unified"}),
                         [](const auto& info) { return info.param.name; });

// The filter as the kernel would run it: the few instructions that it uses.
int run_filter(const std::vector<bpf_insn>& program, bpf_cgroup_dev_ctx context) {
  uint64_t r[11] = {};
  const auto* words = reinterpret_cast<const char*>(&context);
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const bpf_insn& i = program[pc];
    switch (i.code) {
      case BPF_LDX | BPF_W | BPF_MEM: {
        uint32_t word;
        memcpy(&word, words + i.off, sizeof word);
        r[i.dst_reg] = word;
        break;
      }
      case BPF_ALU | BPF_AND | BPF_K: r[i.dst_reg] = static_cast<uint32_t>(r[i.dst_reg]) & static_cast<uint32_t>(i.imm); break;
      case BPF_ALU64 | BPF_MOV | BPF_K: r[i.dst_reg] = static_cast<uint64_t>(static_cast<int64_t>(i.imm)); break;
      case BPF_JMP32 | BPF_JNE | BPF_K:
        if (static_cast<uint32_t>(r[i.dst_reg]) != static_cast<uint32_t>(i.imm)) pc += static_cast<size_t>(i.off);
        break;
      case BPF_JMP | BPF_EXIT: return static_cast<int>(r[0]);
      default: ADD_FAILURE() << "instruction " << int{i.code}; return -1;
    }
  }
  ADD_FAILURE() << "the filter runs off its end";
  return -1;
}

TEST(DeviceFilter, DeniesWhatIsNamedAndNothingElse) {
  const auto program = device_program({{'c', 195, 0}, {'b', 8, 1}, {'c', 195, 3}});
  auto asks = [&](uint32_t type, uint32_t major, uint32_t minor, uint32_t access = BPF_DEVCG_ACC_READ) {
    return run_filter(program, {.access_type = access << 16 | type, .major = major, .minor = minor});
  };
  constexpr uint32_t kChar = BPF_DEVCG_DEV_CHAR, kBlock = BPF_DEVCG_DEV_BLOCK;
  for (uint32_t access = 1; access < 8; ++access) {
    EXPECT_EQ(asks(kChar, 195, 0, access), 0);
    EXPECT_EQ(asks(kChar, 195, 3, access), 0);
    EXPECT_EQ(asks(kBlock, 8, 1, access), 0);
    EXPECT_EQ(asks(kChar, 195, 1, access), 1);    // another card
    EXPECT_EQ(asks(kChar, 195, 255, access), 1);  // /dev/nvidiactl
    EXPECT_EQ(asks(kBlock, 195, 0, access), 1);
    EXPECT_EQ(asks(kChar, 8, 1, access), 1);
  }
  EXPECT_EQ(run_filter(device_program({}), {.access_type = 0x10002, .major = 1, .minor = 3}), 1);
}

TEST(DeviceFilter, OfADriversFilesAllButOneAreClosed) {
  const auto program = device_program({{.major = 511, .minor = 7, .allowed = true}, {.major = 511, .any_minor = true}, {'c', 195, 0}});
  auto asks = [&](uint32_t major, uint32_t minor) {
    return run_filter(
        program, {.access_type = static_cast<uint32_t>(BPF_DEVCG_ACC_READ) << 16 | BPF_DEVCG_DEV_CHAR, .major = major, .minor = minor});
  };
  EXPECT_EQ(asks(511, 7), 1);
  EXPECT_EQ(asks(511, 6), 0);
  EXPECT_EQ(asks(511, 2047), 0);
  EXPECT_EQ(asks(195, 0), 0);
  EXPECT_EQ(asks(195, 7), 1);
}

TEST(Cgroups, NoneSaysWhyAndNothingIsSilent) {
  auto dir = *TempDir::create("muster-nocg-");
  auto g = Cgroups::open({.mountpoint = dir.path()});
  ASSERT_TRUE(g);
  EXPECT_EQ(g->support().version, CgroupVersion::kNone);
  EXPECT_THAT(g->support().reason, HasSubstr("memory not mounted"));
  auto group = g->create({"job_1"});
  ASSERT_TRUE(group);
  EXPECT_EQ(group->set_memory({.hard_bytes = 1}).error().code, Errc::kUnsupported);
  EXPECT_EQ(group->pids().error().code, Errc::kUnsupported);
  EXPECT_EQ(group->usage().error().code, Errc::kUnsupported);
  EXPECT_TRUE(group->open_procs()->empty());
  EXPECT_TRUE(group->add(1));
  EXPECT_TRUE(group->remove());
  auto off = Cgroups::open({.version = CgroupVersion::kNone});
  EXPECT_EQ(off->support().reason, "disabled");
}

TEST(Cgroups, HostileNamesAreRefused) {
  auto g = Cgroups::open({.version = CgroupVersion::kNone});
  for (const char* bad : {"", ".", "..", "a/b", "../x", "x\ny"}) EXPECT_FALSE(g->create({bad})) << bad;
  EXPECT_FALSE(g->create({}));
  EXPECT_FALSE(Cgroups::open({.prefix = "../etc"}));
  EXPECT_FALSE(Cgroups::open({.mountpoint = "relative"}));
}

// What a v2 kernel would be told, on plain files: this machine may have no v2 memory controller.
TEST(Cgroups, VersionTwoFiles) {
  auto dir = *TempDir::create("muster-cg2-");
  const std::string root = dir.path(), job = root + "/slurm/job_1";
  for (const std::string& d : {root, root + "/slurm", job}) {
    ASSERT_TRUE(make_dirs(d));
    ASSERT_TRUE(write_file_atomic(d + "/cgroup.controllers", "cpuset cpu memory\n"));
    ASSERT_TRUE(write_file_atomic(d + "/cgroup.subtree_control", "cpuset cpu memory\n"));
    for (const char* f : {"cgroup.procs", "memory.max", "memory.high", "memory.swap.max", "cpuset.cpus", "cpuset.mems", "cgroup.freeze"})
      ASSERT_TRUE(write_file_atomic(d + "/" + f, ""));
  }
  ASSERT_TRUE(write_file_atomic(job + "/cpu.stat", "usage_usec 3500\nuser_usec 3000\nsystem_usec 500\n"));
  ASSERT_TRUE(write_file_atomic(job + "/memory.stat", "anon 4096\nfile 8192\n"));
  ASSERT_TRUE(write_file_atomic(job + "/memory.events", "low 0\nhigh 2\nmax 7\noom 1\noom_kill 3\noom_group_kill 0\n"));
  ASSERT_TRUE(write_file_atomic(job + "/memory.current", "12288\n"));
  ASSERT_TRUE(write_file_atomic(job + "/memory.peak", "20480\n"));
  auto groups = Cgroups::open({.mountpoint = root});
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->support().version, CgroupVersion::kV2) << groups->support().reason;
  EXPECT_TRUE(groups->support().memory && groups->support().cpuset);
  auto g = *groups->create({"job_1"});
  ASSERT_TRUE(g.set_memory({.hard_bytes = 1000, .soft_bytes = 900, .ram_and_swap_bytes = 1500}));
  EXPECT_EQ(*read_file(job + "/memory.max"), "1000");
  EXPECT_EQ(*read_file(job + "/memory.high"), "900");
  EXPECT_EQ(*read_file(job + "/memory.swap.max"), "500");
  EXPECT_EQ(g.set_memory({.swappiness = 10}).error().code, Errc::kUnsupported);
  Bitmap cpus;
  cpus.set_range(4, 8);
  ASSERT_TRUE(g.set_cpus(cpus));
  EXPECT_EQ(*read_file(job + "/cpuset.cpus"), "4-7");
  ASSERT_TRUE(g.freeze(true));
  EXPECT_EQ(*read_file(job + "/cgroup.freeze"), "1");
  const auto u = *g.usage();
  EXPECT_EQ(u.user_time, Duration(3000));
  EXPECT_EQ(u.system_time, Duration(500));
  EXPECT_EQ(u.rss_bytes, 4096u);
  EXPECT_EQ(u.memory_bytes, 12288u);
  EXPECT_EQ(u.peak_bytes, 20480u);
  EXPECT_EQ(u.oom_kills, 3u);
  EXPECT_EQ(u.limit_hits, 7u);
}

}  // namespace
}  // namespace muster::os
