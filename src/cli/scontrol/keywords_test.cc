#include "cli/scontrol/keywords.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

Keyword keyword(std::string_view word) {
  const KeywordRow* row = find_keyword(word);
  EXPECT_NE(row, nullptr) << word;
  return row ? row->keyword : Keyword::kHelp;
}

TEST(Keywords, WholeNamesAndUniqueBeginningsInAnyCase) {
  EXPECT_EQ(keyword("show"), Keyword::kShow);
  EXPECT_EQ(keyword("SHO"), Keyword::kShow);
  EXPECT_EQ(keyword("up"), Keyword::kUpdate);
  EXPECT_EQ(keyword("hold"), Keyword::kHold);  // the whole name, though holdu begins so
  EXPECT_EQ(keyword("holdu"), Keyword::kUhold);
  EXPECT_EQ(keyword("requeue"), Keyword::kRequeue);
  EXPECT_EQ(keyword("requeueh"), Keyword::kRequeueHold);
  EXPECT_EQ(keyword("reconf"), Keyword::kReconfigure);
}

TEST(Keywords, AmbiguousAndUnknownOnesAreNone) {
  for (std::string_view word : {"h", "sh", "set", "list", "re", "foo", "", "showx", "requ"}) EXPECT_EQ(find_keyword(word), nullptr) << word;
}

TEST(Entities, SingularPluralAndShort) {
  Entity e{};
  ASSERT_TRUE(find_entity("job", e));
  EXPECT_EQ(e, Entity::kJob);
  ASSERT_TRUE(find_entity("Jobs", e));
  EXPECT_EQ(e, Entity::kJob);
  ASSERT_TRUE(find_entity("part", e));
  EXPECT_EQ(e, Entity::kPartition);
  ASSERT_TRUE(find_entity("hostn", e));
  EXPECT_EQ(e, Entity::kHostnames);
  ASSERT_TRUE(find_entity("hostlist", e));
  EXPECT_EQ(e, Entity::kHostlist);
  EXPECT_FALSE(find_entity("host", e));
  EXPECT_FALSE(find_entity("foo", e));
}

TEST(Keywords, HelpNamesWhatWorks) {
  std::string help;
  append_keyword_help(help);
  EXPECT_NE(help.find("  hold <job_list> "), std::string::npos);
  EXPECT_EQ(help.find("  abort"), std::string::npos);  // an older word
}

}  // namespace
}  // namespace muster::cli
