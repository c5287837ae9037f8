#include "config/power_action.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

constexpr const char* kHead =
    "ClusterName=c\nSlurmctldHost=h(1.2.3.4)\nNodeName=n[1-2]\nPartitionName=p Nodes=ALL\n"
    "PowerAction=up Location=slurmctld Program=\"/bin/up -v  fast\"\nPowerAction=Halt Location=slurmd Program=\"/sbin/shutdown -h now\"\n";

struct Read {
  bool ok = false;
  std::string said;  // errors and notices
  Config config;
};

Read read(const std::string& lines) {
  MemoryFiles files{{"/e/slurm.conf", kHead + lines}};
  auto loaded = load_config(files, "/e/slurm.conf");
  if (!loaded) return {false, to_text(loaded.error()), {}};
  return {true, to_text(loaded->notices), std::move(loaded->config)};
}

TEST(PowerAction, StandsForAProgramWithItsArguments) {
  const Read r = read("ResumeProgram=UP\nSuspendProgram=halt\nRebootProgram=/sbin/reboot\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.said, "");
  const PowerCommand up = power_command(r.config, r.config.resume_program), down = power_command(r.config, r.config.suspend_program);
  EXPECT_EQ(up.argv, (std::vector<std::string>{"/bin/up", "-v", "fast"}));
  EXPECT_FALSE(up.on_slurmd());
  EXPECT_EQ(down.argv, (std::vector<std::string>{"/sbin/shutdown", "-h", "now"}));
  EXPECT_TRUE(down.on_slurmd());
  const PowerCommand reboot = power_command(r.config, r.config.reboot_program);
  EXPECT_EQ(reboot.argv, std::vector<std::string>{"/sbin/reboot"});
  EXPECT_EQ(reboot.action, nullptr);
  EXPECT_EQ(power_command(r.config, r.config.reboot_program, "halt").argv.size(), 3u);
  EXPECT_TRUE(power_command(r.config, r.config.reboot_program, "hlat").argv.empty());  // never the other program in its place
}

TEST(PowerAction, LinesThatMeanNothingAreLeftOut) {
  const Read r = read("PowerAction=a Program=/bin/x\nPowerAction=b Location=slurmd Program=x\nPowerAction=c Location=slurmd\n"
                      "PowerAction=UP Location=slurmd Program=/bin/y\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.config.power_actions.size(), 2u);
  for (const char* rule : {"needs Location=slurmctld or Location=slurmd", "begins with an absolute path, not \"x\"",
                           "needs a name and a Program=", "\"UP\" is there already"})
    EXPECT_NE(r.said.find(rule), std::string::npos) << rule << "\n" << r.said;
}

TEST(PowerAction, NothingThatRunsOnANodeBringsItUp) {
  const Read r = read("ResumeProgram=halt\n");
  ASSERT_FALSE(r.ok);
  EXPECT_NE(r.said.find("ResumeProgram: PowerAction Halt has Location=slurmd"), std::string::npos) << r.said;
}

TEST(PowerAction, ANameThatIsNotThereIsTold) {
  const Read r = read("SuspendProgram=hault\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_NE(r.said.find("\"hault\" is neither an absolute path nor the name of a PowerAction"), std::string::npos) << r.said;
  EXPECT_NE(r.said.find("there are: Halt, up"), std::string::npos) << r.said;
}

TEST(PowerAction, WhereARebootRuns) {
  const Read nodes = read("RebootProgram=/sbin/reboot\n");
  EXPECT_FALSE(reboots_from_controller(nodes.config, ""));
  EXPECT_TRUE(reboots_from_controller(nodes.config, "up"));
  const Read controller = read("RebootProgram=/sbin/reboot\nSlurmctldParameters=reboot_from_controller\n");
  EXPECT_TRUE(reboots_from_controller(controller.config, ""));
  EXPECT_FALSE(reboots_from_controller(controller.config, "halt"));  // its Location counts
}

}  // namespace
}  // namespace muster::config
