// Walks scontrol(1): every verb, every kind of "show" and every interactive command has a row. The page is beside the
// repository or in MUSTER_REFERENCE; without it the test is skipped.
#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "cli/scontrol/keywords.h"
#include "fields/reference_test.h"

namespace muster::cli {
namespace {

// The first words of the entries of a section, which stand `indent` blanks in.
std::vector<std::string> entries(const std::string& page, std::string_view from, std::string_view to, size_t indent) {
  size_t begin = page.find(from);
  size_t end = page.find(to, begin);
  std::vector<std::string> out;
  if (begin == std::string::npos || end == std::string::npos) return out;
  std::istringstream lines(page.substr(begin + from.size(), end - begin - from.size()));
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != indent) continue;
    std::string_view word = split(line, ' ')[0];
    bool name = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;   // no text, no "!!"
    if (name) out.emplace_back(word);
  }
  return out;
}

TEST(Manual, EveryVerbHasARow) {
  std::string page = fields::reference_file("man/scontrol.1.txt");
  if (page.empty()) GTEST_SKIP() << "no reference";
  std::vector<std::string> verbs = entries(page, "\nCOMMANDS\n", "\nINTERACTIVE COMMANDS\n", 7);
  ASSERT_GT(verbs.size(), 36u);
  for (const std::string& verb : verbs) {
    const KeywordRow* row = find_keyword(verb);
    ASSERT_TRUE(row) << verb;
    EXPECT_EQ(row->name, verb);
    EXPECT_FALSE(row->help.empty()) << verb << " is not listed by scontrol help";
  }
}

TEST(Manual, EveryInteractiveCommandHasARow) {
  std::string page = fields::reference_file("man/scontrol.1.txt");
  if (page.empty()) GTEST_SKIP() << "no reference";
  std::vector<std::string> words = entries(page, "\nINTERACTIVE COMMANDS\n", "\nJOBS - SPECIFICATIONS FOR UPDATE", 7);
  ASSERT_GT(words.size(), 7u);
  for (const std::string& word : words) EXPECT_TRUE(find_keyword(word)) << word;
}

TEST(Manual, EveryKindOfShowHasARow) {
  std::string page = fields::reference_file("man/scontrol.1.txt");
  if (page.empty()) GTEST_SKIP() << "no reference";
  std::vector<std::string> kinds = entries(page, "\n       show <ENTITY>", "\n       shutdown <OPTION>", 14);
  ASSERT_GT(kinds.size(), 18u);
  Entity entity{};
  for (const std::string& kind : kinds) EXPECT_TRUE(find_entity(kind, entity)) << kind;
}

}  // namespace
}  // namespace muster::cli
