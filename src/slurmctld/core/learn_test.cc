// What slurmdbd says of accounts becomes state: only what differs is in the log, and it is there after a restart.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr char kOn[] = "AccountingStorageType=accounting_storage/slurmdbd\n";

ADirectory a_site() {
  ADirectory d;
  d.qos("normal")
      .qos("fast")
      .account("root")
      .account("team")
      .user("alice", "team")
      .association("alice", "team", {"normal", "fast"}, "fast");
  return d;
}
std::vector<const event::DirectoryLearned*> learned(const Events& events) {
  std::vector<const event::DirectoryLearned*> out;
  for (const Event& e : events)
    if (auto* l = std::get_if<event::DirectoryLearned>(&e)) out.push_back(l);
  return out;
}

TEST(Learn, OnlyWhatDiffersIsAnEvent) {
  Bench b(kOn);
  EXPECT_EQ(b.core.cluster().directory, nullptr);
  b.turn([&] { b.core.learn_directory(a_site().entities()); });
  ASSERT_EQ(learned(b.last_events).size(), 1u);
  EXPECT_EQ(b.core.cluster().directory->associations.size(), 3u);
  b.turn([&] { b.core.learn_directory(a_site().entities()); });
  EXPECT_TRUE(b.last_events.empty());
  b.turn([&] { b.core.learn_directory(a_site().qos("slow").entities()); });
  auto events = learned(b.last_events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]->changes->qos.size(), 1u);
  EXPECT_TRUE(events[0]->changes->associations.empty() && events[0]->changes->users.empty());
  EXPECT_TRUE(b.core.cluster().directory->qos.contains("slow"));
  b.expect_replay_equal();
}

TEST(Learn, ATurnThatIsRolledBackTaughtNothing) {
  Bench b(kOn);
  b.turn([&] { b.core.learn_directory(a_site().entities()); });
  auto before = b.core.cluster().directory;
  b.failing_turn([&] { b.core.learn_directory(a_site().qos("slow").entities()); });
  EXPECT_EQ(b.core.cluster().directory, before);
  EXPECT_FALSE(before->qos.contains("slow"));
}

TEST(Learn, ASnapshotStaysAsItWas) {
  Bench b(kOn);
  b.turn([&] { b.core.learn_directory(a_site().entities()); });
  auto snapshot = b.core.snapshot();
  b.turn([&] { b.core.learn_directory(rpc::Entities()); });
  EXPECT_EQ(b.core.cluster().directory->associations.size(), 0u);
  EXPECT_EQ(snapshot->directory->associations.size(), 3u);
}

TEST(Learn, NothingIsKnownWhereAccountingIsOff) {
  Bench off;
  off.turn([&] { off.core.learn_directory(a_site().entities()); });
  EXPECT_TRUE(off.last_events.empty());
  EXPECT_EQ(off.core.cluster().directory, nullptr);
  Bench b(kOn);
  b.turn([&] { b.core.learn_directory(a_site().entities()); });
  b.turn([&] { b.core.configure(settings_of()); });
  EXPECT_EQ(b.core.cluster().directory, nullptr);
}

}  // namespace
}  // namespace muster::slurmctld
