// The small grammars of texts that requests and partitions carry.
#include <gtest/gtest.h>

#include "model/gpu_frequency.h"
#include "model/gres_flags.h"
#include "model/node_sizes.h"
#include "model/partition_select.h"
#include "model/reservation_names.h"
#include "model/task_bind.h"
#include "model/task_hint.h"

namespace muster {
namespace {

TEST(NodeSizes, AreSortedAndEachACount) {
  EXPECT_EQ(NodeSizes::parse("5, 1,3")->counts, (std::vector<uint32_t>{1, 3, 5}));
  for (const char* bad : {"2,x", "0", "16777217", "1-3"}) {
    auto wrong = NodeSizes::parse(bad);
    ASSERT_FALSE(wrong) << bad;
    EXPECT_EQ(wrong.error().code, Errc::kInvalidNodeCount);
  }
  EXPECT_EQ(NodeSizes::parse("2,x").error().hint, "--nodes=2,x: \"x\" is no count");
}

TEST(ReservationNames, EachOnceInTheirOrder) {
  EXPECT_EQ(ReservationNames::parse("b, a,,b")->names, (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(ReservationNames::parse(" , ")->names.empty());
  std::string many;
  for (int i = 0; i < 70; ++i) many += "r" + std::to_string(i) + ",";
  EXPECT_EQ(ReservationNames::parse(many)->names.size(), ReservationNames::kMost);
}

TEST(GresFlags, TheLastOfTwoThatContradictHolds) {
  auto none = GresFlags::parse("unknown").value();
  EXPECT_FALSE(none.enforce_binding || none.one_task_per_sharing || none.allow_task_sharing);
  auto flags = GresFlags::parse("Enforce-Binding, one-task-per-sharing,allow-task-sharing").value();
  EXPECT_TRUE(*flags.enforce_binding && *flags.one_task_per_sharing && flags.allow_task_sharing);
  EXPECT_FALSE(*GresFlags::parse("enforce-binding,disable-binding")->enforce_binding);
  EXPECT_FALSE(*GresFlags::parse("multiple-tasks-per-sharing")->one_task_per_sharing);
}

TEST(TaskHint, OneThreadOfACore) {
  EXPECT_TRUE(TaskHint::parse("nomultithread")->one_thread());
  EXPECT_TRUE(TaskHint::parse("memory_bound")->one_thread());
  EXPECT_FALSE(TaskHint::parse("multithread")->one_thread());
  EXPECT_EQ(TaskHint::parse("help")->kind, TaskHint::Kind::kNone);
}

TEST(PartitionSelect, TheLastWordHolds) {
  EXPECT_FALSE(PartitionSelect::parse("CR_LLN")->given);
  auto last = PartitionSelect::parse("CR_Core, cr_socket_memory").value();
  EXPECT_TRUE(last.given && last.sockets && last.memory);
  last = PartitionSelect::parse("CR_Socket_Memory,CR_Core").value();
  EXPECT_TRUE(last.given && !last.sockets && !last.memory);
}

TEST(TresBinds, HaveAPartForEachTres) {
  auto binds = TresBinds::parse("gres/gpu:verbose,closest+gres/nic:map:0,1").value();
  ASSERT_EQ(binds.parts.size(), 2u);
  EXPECT_TRUE(binds.find("gres/gpu")->verbose);
  EXPECT_EQ(binds.find("gres/gpu")->kind, TresBind::Kind::kClosest);
  EXPECT_EQ(binds.find("gres/nic")->list.size(), 2u);
  EXPECT_EQ(binds.find("gres/gp"), nullptr);
  EXPECT_EQ(TresBinds::parse("gres/gpu:single:1+gres/gpu:single:2")->find("gres/gpu")->count, 2u);
  EXPECT_EQ(TresBinds::parse("gres/gpu:")->find("gres/gpu")->kind, TresBind::Kind::kDefault);
}

TEST(TresBinds, ListsAreBoundedTogether) {
  EXPECT_TRUE(TresBinds::parse("gres/gpu:map:0*65536"));
  EXPECT_FALSE(TresBinds::parse("gres/gpu:map:0*65536+gres/nic:map:0"));
}

TEST(TresBinds, AWrongPartIsNamed) {
  auto wrong = TresBinds::parse("gres/gpu:closest+gres/nic:near");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "--tres-bind=gres/nic:near: expected closest, none, map:<list>, mask:<list>, per_task:<n> or single:<n>");
}

TEST(TresFrequency, IsThatOfGpusWithOrWithoutTheName) {
  EXPECT_EQ(TresFrequency::parse("gpu:low,memory=high")->gpu, (GpuFrequencyWish{"low", "high", false}));
  EXPECT_EQ(TresFrequency::parse("low")->gpu, (GpuFrequencyWish{"low", "", false}));
  EXPECT_FALSE(TresFrequency::parse("gpu:gpu:low"));
}

}  // namespace
}  // namespace muster
