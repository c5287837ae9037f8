#include "slurmctld/turn/turn_driver.h"

#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"
#include "store/memory_log.h"

namespace muster::slurmctld {
namespace {

struct StillClock final : Clock {
  Time at = from_unix(1'700'000'000);
  Time now() const override { return at; }
  Duration steady() const override { return {}; }
};

class Turns : public testing::Test {
 protected:
  TurnDriver driver() {
    auto log = std::make_unique<store::MemoryLog>(disk, [this] { return std::exchange(fault, store::AppendFault::kNone); });
    return TurnDriver(Core(settings), std::move(log), clock);
  }
  Task submission(const std::string& name) {
    return {[this, name](Core& core, store::EventLog&) -> Reply {
              auto r = core.run(Caller{Uid(1000), Gid(1000), {}, {}}, Bench::request([&](JobRequest& q) { q.name = name; }));
              const JobId id = r ? r->job : JobId{};
              return [this, id] {
                durable_when_told.push_back(disk->syncs);
                told.push_back(id);
              };
            },
            [this](const Error& e) { refusals.push_back(std::string(e.message())); }};
  }

  std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
  store::AppendFault fault = store::AppendFault::kNone;
  StillClock clock;
  Settings settings = settings_of();
  std::vector<JobId> told;
  std::vector<uint64_t> durable_when_told;
  std::vector<std::string> refusals;
};

TEST_F(Turns, OneSyncForAllAndNoReplyBeforeIt) {
  TurnDriver d = driver();
  ASSERT_TRUE(d.recover("log", false));
  ASSERT_TRUE(d.open(settings));
  const uint64_t before = disk->syncs;
  TurnDriver::Turn turn = d.turn({submission("a"), submission("b")});
  EXPECT_FALSE(turn.refused);
  EXPECT_GE(turn.records, 2u);
  EXPECT_TRUE(told.empty());
  for (const Reply& r : turn.replies) r();
  EXPECT_EQ(told, (std::vector<JobId>{JobId(1), JobId(2)}));
  EXPECT_EQ(durable_when_told, (std::vector<uint64_t>{before + 1, before + 1}));
}

TEST_F(Turns, ARefusedAppendTellsEverybodyAndChangesNothing) {
  TurnDriver d = driver();
  ASSERT_TRUE(d.recover("log", false));
  ASSERT_TRUE(d.open(settings));
  fault = store::AppendFault::kDiskFull;
  TurnDriver::Turn turn = d.turn({submission("a"), submission("b")});
  ASSERT_TRUE(turn.refused);
  EXPECT_EQ(turn.refused->code, Errc::kDiskFull);
  for (const Reply& r : turn.replies) r();
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(refusals.size(), 2u);
  EXPECT_EQ(d.core().cluster().jobs.size(), 0u);
  turn = d.turn({submission("a")});
  EXPECT_FALSE(turn.refused);
  EXPECT_TRUE(d.core().cluster().jobs.contains(1));
}

TEST_F(Turns, AnotherDriverFindsTheStateWithAndWithoutASnapshot) {
  {
    TurnDriver d = driver();
    ASSERT_TRUE(d.recover("log", false));
    ASSERT_TRUE(d.open(settings));
    (void)d.turn({submission("a")});
    EXPECT_GT(d.events_since_snapshot(), 0u);
    ASSERT_TRUE(d.save_snapshot());
    EXPECT_EQ(d.events_since_snapshot(), 0u);
    ASSERT_TRUE(d.log().trim());
    (void)d.turn({submission("b")});
  }
  TurnDriver d = driver();
  auto recovered = d.recover("log", false);
  ASSERT_TRUE(recovered);
  EXPECT_GT(recovered->replayed, 0u);
  EXPECT_TRUE(d.core().cluster().jobs.contains(1));
  EXPECT_TRUE(d.core().cluster().jobs.contains(2));
}

TEST_F(Turns, AnEventThatCannotBeReadIsNamedOrPassedOver) {
  {
    TurnDriver d = driver();
    ASSERT_TRUE(d.recover("log", false));
    ASSERT_TRUE(d.open(settings));
    (void)d.turn({submission("a")});
  }
  disk->records.back() = "\xff\xff\xff\xff";
  TurnDriver strict = driver();
  auto refused = strict.recover("/state/muster.db", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kStateNotSaved);
  EXPECT_NE(refused.error().text.find("/state/muster.db: event " + std::to_string(disk->records.size())), std::string::npos);
  TurnDriver lenient = driver();
  auto passed = lenient.recover("/state/muster.db", true);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->passed_over, 1u);
}

// A controller that was taken over may not write any more, also when it had nothing to say yet.
TEST_F(Turns, OpeningMakesTheTermDurable) {
  TurnDriver old = driver();
  ASSERT_TRUE(old.recover("log", false));
  ASSERT_TRUE(old.open(settings));
  TurnDriver next = driver();
  ASSERT_TRUE(next.recover("log", false));
  ASSERT_TRUE(next.open(settings));
  EXPECT_TRUE(old.turn({submission("late")}).refused);
}

}  // namespace
}  // namespace muster::slurmctld
