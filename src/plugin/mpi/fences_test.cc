#include "plugin/mpi/fences.h"

#include <deque>
#include <memory>

#include <gtest/gtest.h>

namespace muster::mpi {
namespace {

// A step of `count` nodes whose letters wait until they are delivered, in any order between nodes, in order on each way.
struct Step {
  struct Sent {
    uint32_t from, to;
    Letter letter;
  };
  std::vector<std::unique_ptr<Fences>> nodes;
  std::deque<Sent> on_the_way;
  std::map<uint32_t, std::vector<Result<std::string>>> done;
  size_t sent = 0;

  explicit Step(uint32_t count, size_t limit = 1000) {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(i));
    for (uint32_t i = 0; i < count; ++i)
      nodes.push_back(std::make_unique<Fences>(i, names, limit, [this, i](const std::vector<uint32_t>& to, const Letter& l) {
        ++sent;
        for (uint32_t t : to) on_the_way.push_back({i, t, l});
      }));
  }
  void enter(uint32_t node, std::vector<uint32_t> who, std::string data, Duration deadline = Duration::max(),
             const std::string& group = "all") {
    nodes[node]->enter(group, std::move(who), std::move(data), deadline,
                       [this, node](Result<std::string> r) { done[node].push_back(std::move(r)); });
  }
  void deliver() {
    while (!on_the_way.empty()) {
      Sent s = std::move(on_the_way.front());
      on_the_way.pop_front();
      nodes[s.to]->on_letter(s.from, std::move(s.letter));
    }
  }
  std::string data(uint32_t node, size_t which = 0) {
    return done[node].size() > which && done[node][which] ? *done[node][which] : "(none)";
  }
  std::string error(uint32_t node, size_t which = 0) {
    return done[node].size() > which && !done[node][which] ? std::string(done[node][which].error().message()) : "(none)";
  }
};

TEST(Fences, EverybodyHasTheDataOfAllInTheOrderOfNodes) {
  Step s(4);
  for (uint32_t i : {2u, 0u, 3u}) s.enter(i, {0, 1, 2, 3}, std::string(1, static_cast<char>('a' + i)));
  s.deliver();
  EXPECT_TRUE(s.done.empty());
  s.enter(1, {0, 1, 2, 3}, "b");
  s.deliver();
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(s.done[i].size(), 1u) << i;
    EXPECT_EQ(s.data(i), "abcd");
    EXPECT_EQ(s.nodes[i]->open(), 0u);
  }
  EXPECT_EQ(s.sent, 4u);  // three contributions, one answer to three
}

TEST(Fences, OneNodeAloneSendsNothing) {
  Step s(2);
  s.enter(1, {1}, "x");
  EXPECT_EQ(s.data(1), "x");
  EXPECT_EQ(s.sent, 0u);
}

// A node that left the first fence is in the second before others left the first.
TEST(Fences, TheNextOneOfAGroupDoesNotMixWithTheLast) {
  Step s(3);
  for (uint32_t i = 0; i < 3; ++i) s.enter(i, {0, 1, 2}, std::to_string(i));
  while (s.done[1].empty()) {
    auto x = std::move(s.on_the_way.front());
    s.on_the_way.pop_front();
    s.nodes[x.to]->on_letter(x.from, std::move(x.letter));
  }
  ASSERT_EQ(s.data(1), "012");
  ASSERT_TRUE(s.done[2].empty());
  s.enter(1, {0, 1, 2}, "B");
  s.enter(0, {0, 1, 2}, "A");
  s.deliver();
  EXPECT_EQ(s.data(2), "012");
  s.enter(2, {0, 1, 2}, "C");
  s.deliver();
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(s.data(i, 1), "ABC");
}

TEST(Fences, GroupsGoOnBesideEachOther) {
  Step s(4);
  s.enter(1, {1, 3}, "1", Duration::max(), "odd");
  s.enter(0, {0, 1, 2, 3}, "a");
  s.enter(3, {1, 3}, "3", Duration::max(), "odd");
  s.deliver();
  EXPECT_EQ(s.data(1), "13");
  EXPECT_EQ(s.data(3), "13");
  EXPECT_TRUE(s.done[0].empty());
}

TEST(Fences, ALostNodeEndsItByName) {
  Step s(3);
  s.enter(0, {0, 1, 2}, "a");
  s.enter(1, {0, 1, 2}, "b");
  s.deliver();
  for (uint32_t i : {0u, 1u}) s.nodes[i]->lost(2);
  s.deliver();
  for (uint32_t i : {0u, 1u}) {
    EXPECT_EQ(s.error(i), "fence: node n2 is gone");
    EXPECT_EQ(s.done[i].at(0).error().code, Errc::kConnectFailed);
  }
  // Later ones fail at once.
  s.enter(0, {0, 1, 2}, "a");
  EXPECT_EQ(s.error(0, 1), "fence: node n2 is gone");
}

TEST(Fences, ANodeThatGaveItsPartMayGo) {
  Step s(3);
  s.enter(2, {0, 1, 2}, "c");
  s.enter(0, {0, 1, 2}, "a");
  s.deliver();
  for (uint32_t i : {0u, 1u}) s.nodes[i]->lost(2);
  s.enter(1, {0, 1, 2}, "b");
  s.deliver();
  EXPECT_EQ(s.data(0), "abc");
  EXPECT_EQ(s.data(1), "abc");
}

TEST(Fences, WithoutItsRootItEnds) {
  Step s(3);
  s.enter(1, {0, 1, 2}, "b");
  s.nodes[1]->lost(0);
  EXPECT_EQ(s.error(1), "fence: node n0 is gone");
  s.nodes[2]->lost(0);
  s.enter(2, {0, 1, 2}, "c");
  EXPECT_EQ(s.error(2), "fence: node n0 is gone");
}

TEST(Fences, TheRootSaysWhoIsMissingInTime) {
  Step s(4);
  for (uint32_t i : {0u, 2u}) s.enter(i, {0, 1, 2, 3}, "x", seconds(300));
  s.deliver();
  EXPECT_EQ(s.nodes[0]->expire(seconds(10)), seconds(300));
  EXPECT_TRUE(s.done.empty());
  s.nodes[2]->expire(seconds(301));
  EXPECT_TRUE(s.done.empty());  // the root speaks first
  EXPECT_EQ(s.nodes[0]->expire(seconds(300)), std::nullopt);
  s.deliver();
  EXPECT_EQ(s.error(0), "fence: node n1,n3 did not enter in time");
  EXPECT_EQ(s.error(2), "fence: node n1,n3 did not enter in time");
  EXPECT_EQ(s.done[2].at(0).error().code, Errc::kTimedOut);
  // Who comes late is told, too.
  s.enter(1, {0, 1, 2, 3}, "x", seconds(700));
  EXPECT_EQ(s.error(1), "fence: node n1,n3 did not enter in time");
}

TEST(Fences, ARootThatDoesNotAnswerIsNamed) {
  Step s(2);
  s.enter(1, {0, 1}, "x", seconds(5));
  s.nodes[1]->expire(seconds(100));
  EXPECT_EQ(s.error(1), "fence: no answer from node n0");
  s.deliver();
  s.enter(0, {0, 1}, "x", seconds(5));
  s.deliver();  // the answer comes to nobody
  EXPECT_EQ(s.done[1].size(), 1u);
}

TEST(Fences, TooMuchDataIsRefused) {
  Step s(3, 10);
  s.enter(1, {0, 1, 2}, "123456");
  s.enter(2, {0, 1, 2}, "123456");
  s.deliver();
  s.enter(0, {0, 1, 2}, "");
  s.deliver();
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(s.error(i), i ? s.error(0) : "fence: more than 10 bytes with those of node n2");
  s.enter(1, {0, 1, 2}, "12345678901");
  EXPECT_EQ(s.error(1, 1), "fence: 11 bytes from node n1, at most 10");
}

// Nobody waits for it until a deadline, which may be never.
TEST(Fences, ANodeWithTooMuchDataEndsTheFenceForAll) {
  for (bool root_first : {true, false}) {
    Step s(3, 10);
    s.enter(2, {0, 1, 2}, "");
    if (root_first) s.enter(0, {0, 1, 2}, "");
    s.deliver();
    s.enter(1, {0, 1, 2}, "12345678901");
    s.deliver();
    if (!root_first) s.enter(0, {0, 1, 2}, "");
    s.deliver();
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(s.error(i), "fence: 11 bytes from node n1, at most 10") << i << root_first;
  }
}

Letter word(LetterKind kind, const std::string& data = {}) {
  Letter l;
  l.kind = kind;
  l.group = "all";
  l.data = data;
  l.text = "not my affair";
  return l;
}

TEST(Fences, OnlyWhoTakesPartIsHeard) {
  for (bool early : {true, false}) {
    Step s(4, 10);
    if (!early) s.enter(0, {0, 1}, "a");
    s.nodes[0]->on_letter(3, word(LetterKind::kFailed));
    s.nodes[0]->on_letter(3, word(LetterKind::kContribution, "123456789"));
    if (early) s.enter(0, {0, 1}, "a");
    s.enter(1, {0, 1}, "b");
    s.nodes[1]->on_letter(3, word(LetterKind::kFailed));
    s.deliver();
    EXPECT_EQ(s.data(0), "ab") << early;
    EXPECT_EQ(s.data(1), "ab") << early;
  }
}

TEST(Fences, APartSaidTwiceCountsOnce) {
  Step s(2, 10);
  for (int i = 0; i < 3; ++i) s.nodes[0]->on_letter(1, word(LetterKind::kContribution, "12345"));
  s.enter(0, {0, 1}, "");
  EXPECT_EQ(s.data(0), "12345");
}

}  // namespace
}  // namespace muster::mpi
