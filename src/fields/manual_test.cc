// Every field that squeue(1) and sinfo(1) name is in a table, and every name of a table is in the manual
// page.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/documented_test.h"
#include "base/text.h"
#include "fields/field_table.h"
#include "fields/priority_fields.h"
#include "fields/sinfo_view.h"

namespace muster::fields {
namespace {

struct Entry {
  std::string name;
  std::string doc;  // the text up to the next entry
  bool step_only() const { return doc.find("job steps only") != std::string::npos; }
  bool steps_too() const { return doc.find("jobs and job steps") != std::string::npos || doc.find("jobs and steps") != std::string::npos; }
};

// The entries of a list: names stand 14 blanks in, their texts deeper.
std::vector<Entry> entries(const std::string& page, std::string_view from, std::string_view to) {
  size_t begin = page.find("Valid type specifications include", page.find(from));
  size_t end = page.find(to, begin);
  std::vector<Entry> out;
  if (begin == std::string::npos || end == std::string::npos) return out;
  std::istringstream lines(page.substr(begin, end - begin));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    bool starts = line.size() > 14 && line.find_first_not_of(' ') == 14;
    if (starts) {
      std::vector<std::string_view> words = split(line, ' ');
      out.push_back({std::string(words[0]), ""});
      if (words.size() == 3 && words[1] == "or") out.push_back({std::string(words[2]), ""});
    }
    if (!out.empty()) out.back().doc += " " + std::string(trim(line));
  }
  for (Entry& e : out)  // a text broken over two lines has blanks where it was broken
    for (size_t at; (at = e.doc.find("  ")) != std::string::npos;) e.doc.erase(at, 1);
  return out;
}

// A name of a list, and whether it is one of jobs, of steps or of both.
struct Field {
  std::string name;
  bool of_jobs, of_steps;
};

// In test/documented a line is the name and "jobs", "steps" or "both".
std::vector<Field> fields_of(const std::string& command, const std::string& kind, std::string_view from, std::string_view to) {
  const auto lines = documented_names(command + ".format-" + kind, "man/" + command + ".1.txt", [&](const std::string& page) {
    std::vector<std::string> out;
    for (const Entry& e : entries(page, from, to)) out.push_back(e.name + (e.step_only() ? " steps" : e.steps_too() ? " both" : " jobs"));
    return out;
  });
  std::vector<Field> out;
  for (const std::string& line : lines) {
    const size_t blank = line.rfind(' ');
    const std::string of = line.substr(blank + 1);
    out.push_back({line.substr(0, blank), of != "steps", of != "jobs"});
  }
  return out;
}
std::vector<Field> letters_of(const std::string& command) {
  return fields_of(command, "letters", "\n       -o, --format=", "\n       -O, --Format=");
}
std::vector<Field> names_of(const std::string& command) {
  return fields_of(command, "names", "\n       -O, --Format=", "\n       --help Print");
}

TEST(Manual, SqueueLetters) {
  const std::vector<Field> list = letters_of("squeue");
  ASSERT_GT(list.size(), 45u);
  for (const Field& f : list) {
    if (f.name == "%all") continue;
    ASSERT_EQ(f.name.size(), 2u) << f.name;
    if (f.of_steps) {
      EXPECT_TRUE(field_by_letter<StepView>(f.name[1])) << "step " << f.name;
    }
    if (f.of_jobs) {
      EXPECT_TRUE(field_by_letter<JobView>(f.name[1])) << f.name;
    }
  }
}

TEST(Manual, SqueueNames) {
  const std::vector<Field> list = names_of("squeue");
  ASSERT_GT(list.size(), 120u);
  std::set<std::string> names;
  for (const Field& f : list) {
    names.insert(to_lower(f.name));
    if (f.of_steps) {
      EXPECT_TRUE(field_by_name<StepView>(f.name)) << "step " << f.name;
    }
    if (f.of_jobs) {
      EXPECT_TRUE(field_by_name<JobView>(f.name)) << f.name;
    }
  }
  for (auto part : field_parts<JobView>())
    for (const JobField& f : part) EXPECT_TRUE(names.contains(to_lower(f.name))) << f.name;
  for (auto part : field_parts<StepView>())
    for (const StepField& f : part) EXPECT_TRUE(names.contains(to_lower(f.name))) << "step " << f.name;
}

TEST(Manual, SinfoFields) {
  const std::vector<Field> letters = letters_of("sinfo"), list = names_of("sinfo");
  ASSERT_GT(letters.size(), 40u);
  for (const Field& f : letters)
    if (f.name != "%all") {
      EXPECT_TRUE(field_by_letter<SinfoView>(f.name[1])) << f.name;
    }
  ASSERT_GT(list.size(), 45u);
  std::set<std::string> names;
  for (const Field& f : list) {
    names.insert(to_lower(f.name));
    if (!iequals(f.name, "all")) {
      EXPECT_TRUE(field_by_name<SinfoView>(f.name)) << f.name;
    }
  }
  for (auto part : field_parts<SinfoView>())
    for (const SinfoField& f : part)
      if (!f.name.empty()) {
        EXPECT_TRUE(names.contains(to_lower(f.name))) << f.name;
      }
}

TEST(Manual, SprioLetters) {
  const std::vector<Field> list = fields_of("sprio", "letters", "\n       -o, --format=", "\n       --help Print");
  ASSERT_GT(list.size(), 20u);
  std::set<char> letters;
  for (const Field& f : list) {
    ASSERT_EQ(f.name.size(), 2u) << f.name;
    letters.insert(f.name[1]);
    EXPECT_TRUE(field_by_letter<PriorityView>(f.name[1])) << f.name;
  }
  for (const PriorityField& f : priority_fields()) EXPECT_TRUE(letters.contains(f.letter)) << f.letter;
}

template <class View>
void expect_well_formed() {
  std::set<char> letters;
  std::set<std::string> names;
  for (auto part : field_parts<View>())
    for (const FieldRow<View>& f : part) {
      if (f.letter) {
        EXPECT_TRUE(letters.insert(f.letter).second) << f.letter;
      }
      if (!f.name.empty()) {
        EXPECT_TRUE(names.insert(to_lower(f.name)).second) << f.name;
      }
      EXPECT_FALSE(f.header.empty()) << f.name;
      EXPECT_FALSE(f.doc.empty()) << f.name;
      ASSERT_NE(f.text, nullptr) << f.name;
    }
}

TEST(Tables, RowsAreWellFormed) {
  expect_well_formed<JobView>();
  expect_well_formed<StepView>();
  expect_well_formed<SinfoView>();
  expect_well_formed<PriorityView>();
}

TEST(Tables, HelpListsEveryField) {
  std::string help = field_help<JobView>(false);
  EXPECT_NE(help.find("tres-per-node"), std::string::npos);
  for (std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 80u);
  std::string docs = field_help<SinfoView>(true);
  EXPECT_NE(docs.find("AllocMem            Memory of a node held by jobs, MiB\n"), std::string::npos) << docs;
}

}  // namespace
}  // namespace muster::fields
