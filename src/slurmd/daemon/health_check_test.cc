#include "slurmd/daemon/health_check.h"

#include <gtest/gtest.h>

#include <set>

#include "config/slurm_conf.h"

namespace muster::slurmd {
namespace {

config::Config a_config(std::vector<std::string> states, Duration interval = seconds(300)) {
  config::Config config;
  config.health_check_program = "/usr/sbin/nhc";
  config.health_check_interval = interval;
  config.health_check_node_state = std::move(states);
  return config;
}

NodeRow a_node(uint32_t allocated, uint32_t flags = 0) {
  NodeRow row;
  row.cpus = row.cpus_effective = 8;
  row.cpus_allocated = allocated;
  row.flags = flags;
  return row;
}

std::string wanted(std::vector<std::string> states) {
  const HealthRules rules = HealthRules::of(a_config(std::move(states)));
  std::string out;
  for (const NodeRow& node : {a_node(0), a_node(0, kNodeDrain), a_node(3), a_node(8)}) out += rules.wants(node) ? '1' : '0';
  return out;
}

TEST(HealthRules, StatesOfUse) {
  EXPECT_EQ(wanted({"ANY"}), "1111");
  EXPECT_EQ(wanted({"CYCLE"}), "1111");
  EXPECT_EQ(wanted({"IDLE"}), "1100");
  EXPECT_EQ(wanted({"NONDRAINED_IDLE"}), "1000");
  EXPECT_EQ(wanted({"mixed", "ALLOC"}), "0011");
  EXPECT_EQ(wanted({"IDLE", "MIXED", "CYCLE"}), "1110");
}

TEST(HealthRules, AllNodesRunItAtTheSameMoment) {
  const HealthRules rules = HealthRules::of(a_config({"ANY"}));
  for (const char* node : {"n1", "n2", "n3"}) {
    EXPECT_EQ(rules.next(from_unix(1200), node), from_unix(1500));
    EXPECT_EQ(rules.next(from_unix(1499), node), from_unix(1500));
  }
}

TEST(HealthRules, WithCycleEachNodeHasAMomentOfItsOwnInEachInterval) {
  const HealthRules rules = HealthRules::of(a_config({"CYCLE"}));
  std::set<Time> moments;
  for (int i = 0; i < 64; ++i) {
    const std::string node = "n" + std::to_string(i);
    const Time first = rules.next(from_unix(1200), node);
    EXPECT_GT(first, from_unix(1200));
    EXPECT_LE(first, from_unix(1500));
    EXPECT_EQ(rules.next(first, node), first + seconds(300));
    moments.insert(first);
  }
  EXPECT_EQ(moments.size(), 64u);
}

TEST(HealthRules, SometimesNeverAgain) {
  for (const char* only : {"START_ONLY", "REBOOT_ONLY"})
    EXPECT_EQ(HealthRules::of(a_config({only})).next(from_unix(1200), "n1"), kTimeInfinite) << only;
  EXPECT_EQ(HealthRules::of(a_config({"ANY"}, Duration::zero())).next(from_unix(1200), "n1"), kTimeInfinite);
  config::Config none = a_config({"ANY"});
  none.health_check_program.clear();
  EXPECT_EQ(HealthRules::of(none).next(from_unix(1200), "n1"), kTimeInfinite);
}

struct HealthCheckTest : testing::Test {
  HealthCheckTest() {
    os::LogOptions o;
    o.async = false;
    log = std::move(*os::Log::open(o));
    HealthCheck::Ports ports;
    ports.run = [this](const HealthRules& rules, std::function<void(std::string)> done) {
      ++runs;
      program = rules.program;
      if (hangs) kept = std::move(done);
      else done("");
    };
    ports.connected = [this] { return connected; };
    ports.ask_for_node = [this](const std::function<void(Result<NodeRow>)>& answered) {
      ++asked;
      answered(node);
    };
    check.emplace(loop, *log, "n1", std::move(ports));
  }
  // Each turn is longer than an interval.
  void turns(int count) {
    for (int i = 0; i < count; ++i) {
      auto end = loop.after(milliseconds(40), [this] { loop.stop(); });
      loop.run();
    }
  }

  net::Loop loop;
  std::unique_ptr<os::Log> log;
  std::optional<HealthCheck> check;
  NodeRow node = a_node(0);
  std::string program;
  std::function<void(std::string)> kept;
  bool hangs = false, connected = true;
  int runs = 0, asked = 0;
};

TEST_F(HealthCheckTest, TheNodeRegistersWhenItHasEnded) {
  hangs = true;
  bool registered = false;
  check->start(HealthRules::of(a_config({"ANY"})), false, [&] { registered = true; });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(program, "/usr/sbin/nhc");
  EXPECT_FALSE(registered);
  kept("");
  EXPECT_TRUE(registered);
}

TEST_F(HealthCheckTest, WithoutAProgramOrARebootNothingRuns) {
  int registered = 0;
  check->start(HealthRules::of(config::Config{}), true, [&] { ++registered; });
  check->start(HealthRules::of(a_config({"REBOOT_ONLY"})), false, [&] { ++registered; });
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(registered, 2);
  check->start(HealthRules::of(a_config({"REBOOT_ONLY"})), true, [&] { ++registered; });
  EXPECT_EQ(runs, 1);
}

TEST_F(HealthCheckTest, ItRunsAgainAndAgainButNeverTwiceAtOnce) {
  check->start(HealthRules::of(a_config({"ANY"}, milliseconds(5))), false, [] {});
  turns(2);
  EXPECT_GT(runs, 2);
  EXPECT_EQ(asked, 0);
  hangs = true;
  turns(1);
  const int before = runs;
  turns(2);
  EXPECT_EQ(runs, before);
}

TEST_F(HealthCheckTest, WhereStatesAreNamedSlurmctldIsAsked) {
  check->start(HealthRules::of(a_config({"IDLE"}, milliseconds(5))), false, [] {});
  turns(1);
  EXPECT_GT(runs, 1);
  EXPECT_GT(asked, 0);
  node = a_node(8);
  turns(1);
  const int before = runs;
  turns(2);
  EXPECT_EQ(runs, before);
}

TEST_F(HealthCheckTest, WithoutAControllerItWaits) {
  check->start(HealthRules::of(a_config({"ANY"}, milliseconds(5))), false, [] {});
  connected = false;
  turns(1);
  const int before = runs;
  turns(2);
  EXPECT_EQ(runs, before);
}

}  // namespace
}  // namespace muster::slurmd
