// The faults of MemoryLog, which storage of the real kind shows only in bad moments.
#include "store/memory_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/store_testing.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct Faulty {
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  AppendFault next = AppendFault::kNone;
  std::unique_ptr<MemoryLog> log;

  Faulty() { restart(); }
  void restart() {
    log = std::make_unique<MemoryLog>(disk, [this] { return std::exchange(next, AppendFault::kNone); });
  }
};

TEST(MemoryLog, CleanFailuresLeaveNothingAndARetryIsComplete) {
  Faulty f;
  auto blob = f.log->put_blob("script");
  for (auto [fault, code] : {std::pair(AppendFault::kDiskFull, Errc::kDiskFull), std::pair(AppendFault::kIoError, Errc::kStateNotSaved)}) {
    f.next = fault;
    auto p = f.log->append(1, Records{"a"});
    ASSERT_FALSE(p);
    EXPECT_EQ(p.error().code, code);
    EXPECT_EQ(f.log->last_position(), 0u);
    EXPECT_EQ(f.log->last_term(), 0u);
    EXPECT_TRUE(f.disk->blobs.empty());
  }
  EXPECT_EQ(f.log->append(1, Records{"a"}).value(), 1u);
  EXPECT_EQ(f.disk->syncs, 1u);
  f.restart();
  EXPECT_EQ(f.log->get_blob(*blob).value(), "script");
}

TEST(MemoryLog, ACrashBeforeTheSyncLosesTheBatchAndItsBlobs) {
  Faulty f;
  ASSERT_TRUE(f.log->append(1, Records{"a"}));
  auto blob = f.log->put_blob("script");
  f.next = AppendFault::kCrashBeforeSync;
  EXPECT_THROW((void)f.log->append(2, Records{"b"}), SimulatedCrash);
  f.restart();
  EXPECT_EQ(f.log->last_position(), 1u);
  EXPECT_EQ(f.log->last_term(), 1u);
  EXPECT_EQ(f.log->get_blob(*blob).error().code, Errc::kNotFound);
}

TEST(MemoryLog, ACrashAfterTheSyncKeepsWhatNobodyWasTold) {
  Faulty f;
  auto blob = f.log->put_blob("script");
  f.next = AppendFault::kCrashAfterSync;
  EXPECT_THROW((void)f.log->append(2, Records{"b"}), SimulatedCrash);
  f.restart();
  EXPECT_THAT(read_all(*f.log).value(), ElementsAre(Pair(1, "b")));
  EXPECT_EQ(f.log->last_term(), 2u);
  EXPECT_EQ(f.log->get_blob(*blob).value(), "script");
}

TEST(MemoryLog, TheNewControllerFencesTheOldOneOnTheSameDisk) {
  auto disk = std::make_shared<MemoryDisk>();
  MemoryLog old_one(disk), new_one(disk);
  ASSERT_TRUE(old_one.append(1, Records{"a"}));
  ASSERT_TRUE(new_one.append(2, Records{}));
  EXPECT_FALSE(old_one.append(1, Records{"split brain"}));
  EXPECT_EQ(new_one.append(2, Records{"b"}).value(), 2u);
}

TEST(MemoryLogDeathTest, IsDeadAfterItsCrash) {
  Faulty f;
  f.next = AppendFault::kCrashAfterSync;
  EXPECT_THROW((void)f.log->append(1, Records{"a"}), SimulatedCrash);
  EXPECT_DEATH((void)f.log->append(1, Records{"b"}), "invariant");
}

}  // namespace
}  // namespace muster::store
