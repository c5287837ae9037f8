#include "muster/verbs.h"

#include <gtest/gtest.h>

namespace muster::front {
namespace {

TEST(Verbs, HelpListsEachOne) {
  for (const Verb& v : verbs()) EXPECT_NE(help().find("  muster " + std::string(v.name) + " "), std::string::npos) << v.name;
}

TEST(Verbs, AWrongWordIsNamed) {
  testing::internal::CaptureStderr();
  std::vector<std::string> words = {"dwon"};
  EXPECT_EQ(run_verb(words), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "muster: unknown command 'dwon'\nmuster: did you mean down?\n");
}

}  // namespace
}  // namespace muster::front
