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

}  // namespace
}  // namespace muster::slurmdbd
