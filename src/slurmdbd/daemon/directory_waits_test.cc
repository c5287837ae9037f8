#include "slurmdbd/daemon/directory_waits.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::slurmdbd {
namespace {

struct DirectoryWaitsTest : testing::Test {
  DirectoryWaits waits{100};
  std::vector<Result<uint64_t>> answers;
  char one = 0, two = 0;
  void add(const void* connection, uint64_t known) {
    waits.add(connection, known, [this](Result<uint64_t> v) { answers.push_back(v); });
  }
};

TEST_F(DirectoryWaitsTest, AnswersAtOnceWhoKnowsAnother) {
  add(&one, 0);
  add(&one, 99);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], Result<uint64_t>(100));
  EXPECT_EQ(answers[1], Result<uint64_t>(100));
  EXPECT_EQ(waits.size(), 0u);
}

TEST_F(DirectoryWaitsTest, AnswersAllThatWaitWhenItChanges) {
  add(&one, 100);
  add(&two, 100);
  EXPECT_TRUE(answers.empty());
  waits.changed();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], Result<uint64_t>(101));
  waits.changed();
  EXPECT_EQ(answers.size(), 2u);
}

TEST_F(DirectoryWaitsTest, HoldsOneOfAConnection) {
  for (int i = 0; i < 5; ++i) add(&one, 100);
  EXPECT_EQ(waits.size(), 1u);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].error().code, Errc::kTryAgainLater);
  waits.forget(&one);
  waits.changed();
  EXPECT_EQ(answers.size(), 4u);
  EXPECT_EQ(waits.size(), 0u);
}

TEST_F(DirectoryWaitsTest, WhoChangedItWaitsUntilAllKnow) {
  int known = 0;
  const auto count = [&] { ++known; };
  EXPECT_FALSE(waits.hold(1, count)) << "nobody is connected";
  EXPECT_EQ(known, 1);
  add(&one, 100);
  add(&two, 100);
  EXPECT_FALSE(waits.hold(2, count)) << "all know this version";
  waits.changed();
  EXPECT_TRUE(waits.hold(3, count));
  add(&one, 101);
  EXPECT_EQ(known, 2);
  waits.changed();
  add(&two, 101);
  EXPECT_EQ(known, 3) << "the version that was current then is enough";
  EXPECT_TRUE(waits.hold(4, count));
  waits.forget(&two);
  EXPECT_EQ(known, 3);
  add(&one, 102);
  EXPECT_EQ(known, 4) << "who is gone is not waited for";
}

TEST_F(DirectoryWaitsTest, WhoIsSlowIsWaitedForOnce) {
  int known = 0;
  const auto count = [&] { ++known; };
  add(&one, 100);
  waits.changed();
  EXPECT_TRUE(waits.hold(1, count));
  waits.give_up(1);
  waits.give_up(1);
  EXPECT_EQ(known, 1);
  waits.changed();
  EXPECT_FALSE(waits.hold(2, count));
  add(&one, 102);
  waits.changed();
  EXPECT_TRUE(waits.hold(3, count)) << "it is back";
}

}  // namespace
}  // namespace muster::slurmdbd
