#include "plugin/mpi/questions.h"

#include <gtest/gtest.h>

namespace muster::mpi {
namespace {

struct Asker {
  std::vector<std::pair<uint32_t, Letter>> sent;
  std::vector<Result<Answer>> got;
  Questions questions{{"n0", "n1", "n2"}, [this](uint32_t to, const Letter& l) { sent.emplace_back(to, l); }};
  void ask(uint32_t node, uint32_t rank, Duration deadline = Duration::max()) {
    questions.ask(node, rank, deadline, [this](Result<Answer> a) { got.push_back(std::move(a)); });
  }
};

TEST(Questions, EachGetsItsOwnAnswer) {
  Asker a;
  a.ask(1, 4);
  a.ask(2, 7);
  ASSERT_EQ(a.sent.size(), 2u);
  EXPECT_EQ(a.sent[0].first, 1u);
  EXPECT_EQ(a.sent[0].second.rank, 4u);
  a.questions.on_answer(2, Questions::answer_to(a.sent[1].second.number, {0, "seven"}));
  a.questions.on_answer(1, Questions::answer_to(a.sent[0].second.number, {-46, ""}));
  ASSERT_EQ(a.got.size(), 2u);
  EXPECT_EQ(a.got[0]->data, "seven");
  EXPECT_EQ(a.got[1]->status, -46);
  a.questions.on_answer(1, Questions::answer_to(a.sent[0].second.number, {0, "again"}));
  EXPECT_EQ(a.got.size(), 2u);
}

TEST(Questions, OnlyTheNodeThatWasAskedMayAnswer) {
  Asker a;
  a.ask(1, 4);
  a.questions.on_answer(2, Questions::answer_to(a.sent[0].second.number, {0, "no"}));
  EXPECT_TRUE(a.got.empty());
}

TEST(Questions, ALostNodeAndALateOneAreNamed) {
  Asker a;
  a.ask(1, 4);
  a.ask(2, 5, seconds(3));
  a.questions.lost(1);
  EXPECT_EQ(a.questions.expire(seconds(2)), seconds(3));
  a.questions.expire(seconds(3));
  a.ask(1, 4);
  ASSERT_EQ(a.got.size(), 3u);
  EXPECT_EQ(a.got[0].error().message(), "data of process 4: node n1 is gone");
  EXPECT_EQ(a.got[1].error().message(), "data of process 5: node n2 did not answer in time");
  EXPECT_EQ(a.got[1].error().code, Errc::kTimedOut);
  EXPECT_EQ(a.got[2].error().code, Errc::kConnectFailed);
}

}  // namespace
}  // namespace muster::mpi
