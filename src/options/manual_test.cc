// Every option, long and short, and every input environment variable that the manual pages document has a row.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <sstream>

#include "base/documented_test.h"
#include "options/query_options.h"

namespace muster {
namespace {

struct Documented {
  std::set<std::string> names;
  std::set<char> letters;
  std::set<std::string> variables;
};

constexpr size_t kColumn = 7;  // where headings begin

bool at_heading_column(const std::string& line) { return line.size() > kColumn && line.find_first_not_of(' ') == kColumn; }

// "-n, --ntasks=<number>", "--json, --json=list", "--hide Do not …": the names at the beginning. Wrapped
// sentences may begin with an option too: there a word other than an option follows a comma or the option
// directly, in lower case.
void add_heading(const std::string& line, Documented& out) {
  size_t at = kColumn;
  std::set<std::string> names;
  char letter = 0;
  while (at < line.size() && line[at] == '-') {
    size_t end = line.find_first_of(" =[,", at);
    std::string word = line.substr(at, end == line.npos ? end : end - at);
    if (word.starts_with("--")) names.insert(word.substr(2));
    else if (word.size() == 2) letter = word[1];
    else return;
    size_t comma = line.find_first_not_of(' ', end == line.npos ? line.size() : end);
    if (comma == line.npos) break;
    if (line[comma] == '=' || line[comma] == '[') {
      // An argument: its text ends at ", -" if another form follows.
      size_t next = line.find(", -", comma);
      if (next == line.npos) break;
      comma = next;
    } else if (line[comma] != ',') {
      bool prose = std::islower(static_cast<unsigned char>(line[comma])) && comma - end == 1;
      if (prose) return;
      break;
    }
    at = line.find_first_not_of(' ', comma + 1);
    if (at == line.npos) break;
    if (line[at] != '-') return;
  }
  out.names.insert(names.begin(), names.end());
  if (letter) out.letters.insert(letter);
}

void add_variables(const std::string& line, Documented& out) {
  std::string head = line.substr(kColumn, line.find("  ", kColumn) - kColumn);
  size_t at = 0;
  while (at < head.size()) {
    size_t end = head.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at);
    std::string word = head.substr(at, end == head.npos ? end : end - at);
    if (word.find('_') == word.npos) return;
    out.variables.insert(word);
    if (end == head.npos || head.compare(end, 4, " or ") != 0) return;
    at = end + 4;
  }
}

Documented read_page(const std::string& page) {
  Documented out;
  bool options = false, variables = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      options = line.starts_with("OPTIONS") || line.starts_with("DESCRIPTION") || line.starts_with("ARGUMENTS");
      variables = line.starts_with("INPUT ENVIRONMENT") || line.starts_with("ENVIRONMENT VARIABLES");
    }
    if (!at_heading_column(line)) continue;
    if (options && line[kColumn] == '-') add_heading(line, out);
    if (variables && std::isupper(static_cast<unsigned char>(line[kColumn]))) add_variables(line, out);
  }
  return out;
}

std::vector<std::string> names_of(Command c, const std::string& kind) {
  const std::string command(command_name(c));
  return documented_names(command + "." + kind, "man/" + command + ".1.txt", [&](const std::string& text) {
    const Documented doc = read_page(text);
    if (kind == "options") return std::vector<std::string>(doc.names.begin(), doc.names.end());
    if (kind == "variables") return std::vector<std::string>(doc.variables.begin(), doc.variables.end());
    std::vector<std::string> letters;
    for (char l : doc.letters) letters.emplace_back(1, l);
    return letters;
  });
}

bool has_variables(Command c) {
  const std::string command(command_name(c));
  return std::filesystem::exists("test/documented/" + command + ".variables.txt") ||
         !read_page(reference_page("man/" + command + ".1.txt")).variables.empty();
}

class Manual : public testing::TestWithParam<Command> {};

TEST_P(Manual, EveryDocumentedOptionAndVariableHasARow) {
  Command c = GetParam();
  std::set<std::string> names, variables;
  std::set<char> letters;
  for (const OptionInfo* o : option_infos(c)) {
    if (o->name) names.insert(o->name);
    if (o->letter) letters.insert(o->letter);
    std::string_view env = o->env.of(c) ? o->env.of(c) : "";
    while (!env.empty()) {
      variables.insert(std::string(env.substr(0, env.find('|'))));
      env = env.find('|') == env.npos ? std::string_view() : env.substr(env.find('|') + 1);
    }
  }
  const bool letters_only = c == Command::kScrontab;  // whose page has no long options
  const std::vector<std::string> options = letters_only ? std::vector<std::string>() : names_of(c, "options"),
                                 short_ones = names_of(c, "letters");
  // A page that is read wrongly would pass with nothing found.
  EXPECT_TRUE(letters_only || options.size() >= 6u);
  EXPECT_GE(short_ones.size(), 4u);
  for (const auto& n : options) EXPECT_TRUE(names.contains(n)) << "--" << n;
  for (const auto& l : short_ones) EXPECT_TRUE(letters.contains(l[0])) << "-" << l;
  if (!has_variables(c)) return;
  for (const auto& v : names_of(c, "variables")) EXPECT_TRUE(variables.contains(v)) << v;
}

INSTANTIATE_TEST_SUITE_P(All, Manual, testing::ValuesIn(kAllCommands),
                         [](const auto& info) { return std::string(command_name(info.param)); });

TEST(ManualReading, CountsOfTheLargePages) {
  EXPECT_GE(names_of(Command::kSbatch, "options").size(), 110u);
  EXPECT_GE(names_of(Command::kSrun, "options").size(), 125u);
  EXPECT_GE(names_of(Command::kSalloc, "options").size(), 90u);
  EXPECT_GE(names_of(Command::kSbatch, "variables").size(), 60u);
  EXPECT_GE(names_of(Command::kSrun, "variables").size(), 85u);
}

}  // namespace
}  // namespace muster
