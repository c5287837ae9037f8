// What the words of slurm.conf mean to the scheduler. slurm.conf(5) PriorityFlags.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

sched::PriorityParams with_flags(const std::string& words) {
  return settings_of("PriorityType=priority/multifactor\nPriorityFlags=" + words + "\n").priority;
}

TEST(Settings, EachPriorityFlagSetsWhatItNames) {
  const sched::PriorityParams none = settings_of("PriorityType=priority/multifactor\n").priority;
  using Switch = bool sched::PriorityParams::*;
  const std::vector<std::pair<std::string, std::vector<Switch>>> rows = {
      {"ACCRUE_ALWAYS", {&sched::PriorityParams::accrue_always}},
      {"CALCULATE_RUNNING", {&sched::PriorityParams::of_running}},
      {"INCR_ONLY", {&sched::PriorityParams::only_up}},
      {"SMALL_RELATIVE_TO_TIME", {&sched::PriorityParams::small_relative_to_time}},
      {"NO_NORMAL_PART", {&sched::PriorityParams::raw_partition}},
      {"NO_NORMAL_TRES", {&sched::PriorityParams::raw_tres}},
      {"NO_NORMAL_QOS", {&sched::PriorityParams::raw_qos}},
      {"NO_NORMAL_ASSOC", {&sched::PriorityParams::raw_association}},
      {"NO_NORMAL_ALL",
       {&sched::PriorityParams::raw_partition, &sched::PriorityParams::raw_tres, &sched::PriorityParams::raw_qos,
        &sched::PriorityParams::raw_association}}};
  for (const auto& [words, set] : rows)
    for (const auto& [other, switches] : rows)
      for (Switch s : switches) {
        EXPECT_FALSE(none.*s);
        EXPECT_EQ(with_flags(words).*s, std::ranges::find(set, s) != set.end()) << words << " and what " << other << " sets";
      }
}

TEST(Settings, FairShareIsATreeUnlessAFlagSaysOtherwise) {
  EXPECT_EQ(with_flags("ACCRUE_ALWAYS").fair_share.kind, acct::FairShareKind::kFairTree);
  EXPECT_EQ(with_flags("NO_FAIR_TREE").fair_share.kind, acct::FairShareKind::kClassic);
  EXPECT_FALSE(with_flags("NO_FAIR_TREE").fair_share.depth_oblivious);
  EXPECT_TRUE(with_flags("DEPTH_OBLIVIOUS").fair_share.depth_oblivious);
  EXPECT_EQ(with_flags("DEPTH_OBLIVIOUS").fair_share.kind, acct::FairShareKind::kClassic);
}

}  // namespace
}  // namespace muster::slurmctld
