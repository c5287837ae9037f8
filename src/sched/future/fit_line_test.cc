// FitLine and find_once against a plain table of node × slot.
#include "sched/future/fit_line.h"

#include <gtest/gtest.h>

#include <random>

namespace muster::sched {
namespace {

constexpr Slot kHorizon = 400;  // of the table; windows without an end hold at its last slot

struct Table {
  size_t nodes;
  std::vector<std::vector<bool>> room;  // [node][slot]

  explicit Table(size_t n) : nodes(n), room(n, std::vector<bool>(kHorizon, false)) {}
  void set(uint32_t node, Slot first, Slot end, bool on) {
    for (Slot s = first; s < std::min(end, kHorizon); ++s) room[node][s] = on;
  }
  std::vector<Window> windows(uint32_t node) const {
    std::vector<Window> out;
    for (Slot s = 0; s < kHorizon; ++s) {
      if (!room[node][s]) continue;
      if (out.empty() || out.back().until != s) out.push_back({s, s});
      out.back().until = s + 1;
    }
    if (!out.empty() && out.back().until == kHorizon) out.back().until = kNever;
    return out;
  }
  bool has_room(uint32_t node, Slot first, Slot length) const {
    for (Slot s = first; s < first + length; ++s)
      if (!room[node][std::min(s, kHorizon - 1)]) return false;
    return true;
  }
  Slot find(const FitLine::Question& q, Bitmap& out) const {
    for (Slot s = q.from; s < kHorizon; ++s) {
      out = Bitmap(nodes);
      for (uint32_t n = 0; n < nodes; ++n)
        if (q.among.test(n) && has_room(n, s, q.length)) out.set(n);
      if (out.count() >= q.count && out.contains(q.required)) return s;
    }
    return kNever;
  }
};

struct World {
  explicit World(uint32_t seed) : rng(seed), table(1 + rng() % 200), all(table.nodes) {
    for (uint32_t n = 0; n < table.nodes; ++n) {
      all.set(n);
      table.set(n, rng() % 300, rng() % 3 ? kHorizon : rng() % kHorizon, true);
      if (rng() % 2) table.set(n, rng() % 200, 200 + rng() % 100, false);
    }
  }
  std::vector<NodeWindow> windows(const Bitmap& among) const {
    std::vector<NodeWindow> out;
    among.for_each([&](size_t n) {
      for (const Window& w : table.windows(static_cast<uint32_t>(n))) out.push_back({static_cast<uint32_t>(n), w});
    });
    return out;
  }
  Bitmap some(uint32_t one_in) {
    Bitmap out(table.nodes);
    for (uint32_t n = 0; n < table.nodes; ++n)
      if (rng() % one_in == 0) out.set(n);
    return out;
  }
  // A gang takes some nodes for a while, as a promise does.
  void take(FitLine& line) {
    const Slot first = rng() % 300, until = first + 1 + rng() % 150;
    const Slot end = until >= kHorizon ? kNever : until;  // the table's last slot stands for all after it
    std::vector<FitLine::Loss> losses;
    some(1 + rng() % 8).for_each([&](size_t n) {
      const auto node = static_cast<uint32_t>(n);
      table.set(node, first, end, false);
      FitLine::losses_outside(node, first, end, table.windows(node), losses);
    });
    line.lose(std::move(losses));
  }
  std::mt19937 rng;
  Table table;
  Bitmap all;
};

TEST(FitLine, FindsWhatATableFinds) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    World w(seed);
    FitLine line;
    line.build(w.table.nodes, w.windows(w.all));
    for (int round = 0; round < 40; ++round) {
      w.take(line);
      const Bitmap among = w.some(1 + w.rng() % 3), none;
      const FitLine::Question q{static_cast<Slot>(w.rng() % 250), static_cast<Slot>(1 + w.rng() % 200),
                                static_cast<uint32_t>(1 + w.rng() % 5), among, none};
      Bitmap want, got, once;
      const Slot at = w.table.find(q, want);
      ASSERT_EQ(line.find(q, got), at) << "seed " << seed << " round " << round;
      ASSERT_EQ(find_once(w.table.nodes, w.windows(among), q, once), at) << "seed " << seed << " round " << round;
      if (at == kNever) continue;
      EXPECT_EQ(got, want);
      EXPECT_EQ(once, want);
      const FitLine::Question first{q.from, q.length, q.count, among, none, true};
      ASSERT_EQ(line.find(first, got), at);
      EXPECT_TRUE(want.contains(got));
      EXPECT_EQ(got.first(), want.first());
      EXPECT_GE(got.count(), q.count);
    }
  }
}

// A search that goes on where it ended finds what one begun anew finds, however much was taken meanwhile.
TEST(FitLine, ASearchForOneNodeGoesOn) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    World w(seed);
    FitLine line;
    line.build(w.table.nodes, w.windows(w.all));
    const Bitmap among = w.some(1 + w.rng() % 3), none;
    const auto length = static_cast<Slot>(1 + w.rng() % 150);
    FitLine::Search search;
    Slot from = 1;
    for (int round = 0; round < 60 && from < kHorizon - 20; ++round) {
      if (round % 3 == 2) w.take(line);
      if (w.rng() % 4 == 0) from += w.rng() % 20;
      Bitmap want;
      uint32_t node = 0;
      const Slot at = w.table.find({from, length, 1, among, none}, want);
      ASSERT_EQ(line.find_one(search, from, length, among, node), at) << "seed " << seed << " round " << round;
      if (at != kNever) {
        EXPECT_EQ(node, want.first()) << "seed " << seed << " round " << round;
      }
      from = at;
    }
  }
}

TEST(FitLine, SaysWhetherANodeHasAnyRoom) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    World w(seed);
    FitLine line;
    line.build(w.table.nodes, w.windows(w.all));
    for (int round = 0; round < 40; ++round) {
      w.take(line);
      const auto node = static_cast<uint32_t>(w.rng() % w.table.nodes);
      const Slot first = w.rng() % 300, end = first + 1 + w.rng() % 90;
      bool any = false;
      for (Slot s = first; s < end; ++s) any |= w.table.room[node][s];
      EXPECT_EQ(line.any(node, first, end), any) << "seed " << seed << " round " << round;
    }
  }
}

TEST(FitLine, WaitsForTheNodesAskedFor) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    World w(seed);
    FitLine line;
    line.build(w.table.nodes, w.windows(w.all));
    for (int round = 0; round < 10; ++round) {
      w.take(line);
      const Bitmap required = w.some(60);
      const FitLine::Question q{1, static_cast<Slot>(1 + w.rng() % 50), 1, w.all, required};
      Bitmap want, got;
      const Slot at = w.table.find(q, want);
      ASSERT_EQ(line.find(q, got), at) << "seed " << seed << " round " << round;
      if (at != kNever) {
        EXPECT_TRUE(got.contains(required));
      }
    }
  }
}

TEST(FitLine, NoNodeComesFreeBetweenItsArrivals) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    World w(seed);
    FitLine line;
    line.build(w.table.nodes, w.windows(w.all));
    for (int round = 0; round < 10; ++round) w.take(line);
    std::vector<bool> said(kHorizon, false);
    for (Slot s = line.next_arrival(0); s != kNever; s = line.next_arrival(s)) said[s] = true;
    for (uint32_t n = 0; n < w.table.nodes; ++n)
      for (Slot s = 1; s < kHorizon; ++s)
        if (w.table.room[n][s] && !w.table.room[n][s - 1]) {
          EXPECT_TRUE(said[s]) << "seed " << seed << " node " << n << " slot " << s;
        }
  }
}

}  // namespace
}  // namespace muster::sched
