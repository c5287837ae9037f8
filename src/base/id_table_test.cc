#include "base/id_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "base/random.h"

namespace muster {
namespace {

constexpr auto kAny = [](uint32_t) { return true; };

TEST(IdTable, FindsWhatWasAddedUntilItIsRemoved) {
  IdTable table;
  EXPECT_EQ(table.find(7, kAny), 0u);
  table.remove(7, 1);
  table.add(7, 1);
  EXPECT_EQ(table.find(7, kAny), 1u);
  EXPECT_EQ(table.find(8, kAny), 0u);
  table.remove(7, 2);
  EXPECT_EQ(table.size(), 1u);
  table.remove(7, 1);
  EXPECT_EQ(table.find(7, kAny), 0u);
  EXPECT_EQ(table.size(), 0u);
}

TEST(IdTable, TheOwnerTellsThoseWithOneHashApart) {
  IdTable table;
  for (uint32_t id = 1; id <= 20; ++id) table.add(42, id);
  for (uint32_t id = 1; id <= 20; ++id) EXPECT_EQ(table.find(42, [&](uint32_t i) { return i == id; }), id);
  EXPECT_EQ(table.find(42, [](uint32_t) { return false; }), 0u);
}

// Few hashes, so that entries stand in each other's way, and many removals.
TEST(IdTable, IsASetThroughAnyLife) {
  Random random(5);
  IdTable table;
  std::map<uint64_t, std::set<uint32_t>> known;
  uint32_t last = 0;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t hash = i % 2 ? mix64(random.next() % 200) : random.next() % 50;
    std::set<uint32_t>& ids = known[hash];
    if (random.next() % 5 < 2 || ids.empty()) {
      table.add(hash, ++last);
      ids.insert(last);
    } else {
      const uint32_t id = *std::next(ids.begin(), static_cast<int>(random.next() % ids.size()));
      table.remove(hash, id);
      ids.erase(id);
      ASSERT_EQ(table.find(hash, [&](uint32_t other) { return other == id; }), 0u);
    }
    for (uint32_t id : ids) ASSERT_EQ(table.find(hash, [&](uint32_t other) { return other == id; }), id);
  }
  size_t all = 0;
  for (const auto& [hash, ids] : known) all += ids.size();
  EXPECT_EQ(table.size(), all);
}

}  // namespace
}  // namespace muster
