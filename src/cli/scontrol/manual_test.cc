// scontrol(1): every verb, every kind of "show" and every interactive command has a row.
#include <gtest/gtest.h>

#include <sstream>

#include "base/documented_test.h"
#include "base/text.h"
#include "cli/scontrol/keywords.h"

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
    bool name = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;  // no text, no "!!"
    if (name) out.emplace_back(word);
  }
  return out;
}

std::vector<std::string> named(const std::string& topic, std::string_view from, std::string_view to, size_t indent) {
  return documented_names(topic, "man/scontrol.1.txt", [&](const std::string& page) { return entries(page, from, to, indent); });
}

TEST(Manual, EveryVerbHasARow) {
  std::vector<std::string> verbs = named("scontrol.verbs", "\nCOMMANDS\n", "\nINTERACTIVE COMMANDS\n", 7);
  ASSERT_GT(verbs.size(), 36u);
  for (const std::string& verb : verbs) {
    const KeywordRow* row = find_keyword(verb);
    ASSERT_TRUE(row) << verb;
    EXPECT_EQ(row->name, verb);
    EXPECT_FALSE(row->help.empty()) << verb << " is not listed by scontrol help";
  }
}

TEST(Manual, EveryInteractiveCommandHasARow) {
  std::vector<std::string> words = named("scontrol.interactive", "\nINTERACTIVE COMMANDS\n", "\nJOBS - SPECIFICATIONS FOR UPDATE", 7);
  ASSERT_GT(words.size(), 7u);
  for (const std::string& word : words) EXPECT_TRUE(find_keyword(word)) << word;
}

TEST(Manual, EveryKindOfShowHasARow) {
  std::vector<std::string> kinds = named("scontrol.show", "\n       show <ENTITY>", "\n       shutdown <OPTION>", 14);
  ASSERT_GT(kinds.size(), 18u);
  Entity entity{};
  for (const std::string& kind : kinds) EXPECT_TRUE(find_entity(kind, entity)) << kind;
}

}  // namespace
}  // namespace muster::cli
