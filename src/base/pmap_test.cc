#include "base/pmap.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"

namespace muster {
namespace {

using Map = PersistentMap<std::string>;
using Model = std::map<uint32_t, std::string>;

Model contents(const Map& m, uint32_t first = 0) {
  Model out;
  uint32_t last = 0;
  m.for_each(
      [&](uint32_t key, const std::string& v) {
        EXPECT_TRUE(out.empty() || key > last) << "keys must ascend";
        last = key;
        out.emplace(key, v);
      },
      first);
  return out;
}

// Dense small keys, sparse large ones, and the ends of the range.
uint32_t random_key(Random& r) {
  switch (r.uniform(0, 3)) {
    case 0: return static_cast<uint32_t>(r.uniform(0, 70));
    case 1: return static_cast<uint32_t>(r.uniform(0, 5000));
    case 2: return static_cast<uint32_t>(r.uniform(0, UINT32_MAX));
    default: return UINT32_MAX - static_cast<uint32_t>(r.uniform(0, 3));
  }
}

void change(Random& r, Map& map, Model& model) {
  uint32_t key = random_key(r);
  if (!model.empty() && r.chance(0.5)) {
    auto near = model.lower_bound(key);
    key = near == model.end() ? model.rbegin()->first : near->first;
  }
  std::string value = std::to_string(r.next() % 1000);
  switch (r.uniform(0, 3)) {
    case 0: ASSERT_EQ(map.erase(key), model.erase(key) == 1); break;
    case 1: {
      std::string* v = map.edit(key);
      ASSERT_EQ(v != nullptr, model.contains(key));
      if (v) *v = model[key] = value;
      break;
    }
    default: map.set(key, value); model[key] = value;
  }
}

TEST(PersistentMap, BehavesAsAMapAndCopiesNeverChange) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random r(seed);
    Map map;
    Model model;
    std::vector<std::pair<Map, Model>> kept;
    for (int i = 0; i < 600; ++i) {
      change(r, map, model);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
      if (r.chance(0.05)) kept.emplace_back(map, model);
      if (!kept.empty() && r.chance(0.03)) kept.erase(kept.begin() + static_cast<long>(r.uniform(0, kept.size() - 1)));
      // Going back to an old copy and changing that one must leave the others alone too.
      if (!kept.empty() && r.chance(0.01)) std::tie(map, model) = kept[r.uniform(0, kept.size() - 1)];
      ASSERT_EQ(map.size(), model.size()) << "seed " << seed;
    }
    kept.emplace_back(map, model);
    for (const auto& [copy, expected] : kept) {
      ASSERT_EQ(contents(copy), expected) << "seed " << seed;
      ASSERT_EQ(copy.size(), expected.size());
      ASSERT_EQ(copy.last_key(), expected.empty() ? 0 : expected.rbegin()->first);
      uint32_t from = random_key(r);
      ASSERT_EQ(contents(copy, from), Model(expected.lower_bound(from), expected.end())) << "seed " << seed;
      for (int i = 0; i < 20; ++i) {
        uint32_t key = random_key(r);
        const std::string* v = copy.find(key);
        auto at = expected.find(key);
        ASSERT_EQ(v ? *v : "-", at == expected.end() ? "-" : at->second) << "seed " << seed << " key " << key;
      }
    }
  }
}

TEST(PersistentMap, DiffNamesExactlyWhatDiffers) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random r(seed);
    Map map;
    Model model;
    for (uint64_t i = r.uniform(0, 200); i > 0; --i) change(r, map, model);
    Map before = map;
    Model old = model;
    for (uint64_t i = r.uniform(0, 30); i > 0; --i) change(r, map, model);
    Model rebuilt = old;
    uint32_t last = 0;
    bool first = true;
    Map::diff(before, map, [&](uint32_t key, const std::string* b, const std::string* a) {
      EXPECT_TRUE(first || key > last);
      first = false;
      last = key;
      auto was = old.find(key);
      EXPECT_EQ(b ? *b : "-", was == old.end() ? "-" : was->second);
      if (a) rebuilt[key] = *a;
      else rebuilt.erase(key);
    });
    ASSERT_EQ(rebuilt, model) << "seed " << seed;
    int calls = 0;
    Map::diff(map, Map(map), [&](uint32_t, const std::string*, const std::string*) { ++calls; });
    ASSERT_EQ(calls, 0);
  }
}

TEST(PersistentMap, WalkStopsWhenTold) {
  PersistentMap<int> m;
  for (uint32_t i = 0; i < 500; ++i) m.set(i * 7, static_cast<int>(i));
  int seen = 0;
  m.for_each([&](uint32_t, int) { return ++seen < 10; });
  EXPECT_EQ(seen, 10);
}

// What nobody shares is changed where it is; what a copy shares is cloned once.
TEST(PersistentMap, EditsInPlaceUnlessShared) {
  Map m;
  m.set(5, "a");
  const std::string* place = m.find(5);
  *m.edit(5) = "b";
  EXPECT_EQ(m.find(5), place);
  Map copy = m;
  *m.edit(5) = "c";
  EXPECT_NE(m.find(5), place);
  EXPECT_EQ(copy.find(5), place);
  EXPECT_EQ(copy.at(5), "b");
  EXPECT_EQ(m.at(5), "c");
}

TEST(PersistentMap, LetsGoOfValues) {
  auto counted = std::make_shared<int>(1);
  {
    PersistentMap<std::shared_ptr<int>> m;
    for (uint32_t i = 0; i < 100; ++i) m.set(i * 1000, counted);
    PersistentMap<std::shared_ptr<int>> copy = m;
    m.edit(0)->reset();
    m.erase(1000);
    EXPECT_EQ(counted.use_count(), 101);
    copy.clear();
    EXPECT_EQ(counted.use_count(), 99);
    PersistentMap<std::shared_ptr<int>> moved = std::move(m);
    EXPECT_EQ(moved.size(), 99u);
    EXPECT_TRUE(m.empty());  // NOLINT: what a moved-from map is, is part of its contract
  }
  EXPECT_EQ(counted.use_count(), 1);
}

// Readers keep snapshots while the writer goes on; each must see the state of its moment (run under tsan too).
TEST(PersistentMap, SnapshotsAreReadFromOtherThreads) {
  PersistentMap<uint64_t> map;
  constexpr uint32_t kKeys = 400;
  for (uint32_t i = 0; i < kKeys; ++i) map.set(i * 37, 0);
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (uint64_t round = 1; round <= 60; ++round) {
    for (uint32_t i = 0; i < kKeys; ++i) *map.edit(i * 37) = round;
    readers.emplace_back([snapshot = map, round, &wrong] {
      for (int pass = 0; pass < 3; ++pass) {
        uint32_t seen = 0;
        snapshot.for_each([&](uint32_t, const uint64_t& v) { ++seen, wrong += v != round; });
        wrong += seen != kKeys;
      }
    });
  }
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace muster
