// Every key the manual pages document has a row, and every row makes sense.
#include "config/key_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "base/documented_test.h"
#include "base/text.h"
#include "config/slurm_bind.h"

namespace muster::config {
namespace {

size_t indent(const std::string& line) { return line.find_first_not_of(' '); }

// A heading: a capitalised word alone, followed by =…, or run into its text after blanks at column `at`.
std::string heading(const std::string& line, size_t at) {
  static const std::regex kHeading(R"(^ *([A-Z][A-Za-z0-9_]*)(=\S*)?( *$| +[A-Z].*$))");
  std::smatch m;
  if (indent(line) != at || !std::regex_match(line, m, kHeading)) return {};
  return m[1];
}

struct Chapter {
  const char* page;
  const char* first;  // headings of the page between which the keys stand
  const char* last;
  ConfFile file;
  Section section;
};

std::vector<std::string> keys_of(const Chapter& chapter, const std::string& page) {
  std::vector<std::string> out;
  std::istringstream lines(page);
  bool inside = false;
  size_t at = 7;
  for (std::string line; std::getline(lines, line);) {
    if (indent(line) == 0) {
      if (line.starts_with(chapter.first)) inside = true;
      else if (line.starts_with(chapter.last)) inside = false;
      continue;
    }
    if (!inside || line.empty()) continue;
    if (line == "              SlurmdPidFile") at = 14;  // the page indents the rest of slurm.conf's keys once more
    std::string key = heading(line, at);
    // Sentences that look like headings, and slurm.conf keys quoted in another page.
    static const std::set<std::string> kNotKeys = {"NOTE", "The", "All", "If", "NamespaceType", "PrologFlags"};
    bool own = chapter.file == ConfFile::kSlurm && chapter.section == Section::kGlobal;
    if (key.empty() || (kNotKeys.contains(key) && !(own && key.size() > 4))) continue;
    out.push_back(key);
  }
  return out;
}

void expect_rows(const Chapter& chapter, size_t at_least) {
  const std::string page = chapter.page, file = page.substr(0, page.find(".5."));
  std::string topic = to_lower(chapter.first);
  std::ranges::replace(topic, ' ', '-');
  const auto keys = documented_names(file + "." + topic, "man/" + page, [&](const std::string& text) { return keys_of(chapter, text); });
  for (const std::string& key : keys)
    EXPECT_NE(find_row(chapter.file, chapter.section, key), nullptr) << page << ": " << key << " has no row";
  EXPECT_GE(keys.size(), at_least) << page << " was not understood";
}

TEST(KeyTable, EveryDocumentedGlobalKeyHasARow) {
  expect_rows({"slurm.conf.5.txt", "PARAMETERS", "NODE CONFIGURATION", ConfFile::kSlurm, Section::kGlobal}, 219);
}
TEST(KeyTable, EveryDocumentedNodeKeyHasARow) {
  expect_rows({"slurm.conf.5.txt", "NODE CONFIGURATION", "DOWN NODE", ConfFile::kSlurm, Section::kNode}, 26);
}
TEST(KeyTable, EveryDocumentedDownNodesKeyHasARow) {
  expect_rows({"slurm.conf.5.txt", "DOWN NODE", "NODESET", ConfFile::kSlurm, Section::kDownNodes}, 3);
}
TEST(KeyTable, EveryDocumentedNodeSetKeyHasARow) {
  expect_rows({"slurm.conf.5.txt", "NODESET", "PARTITION", ConfFile::kSlurm, Section::kNodeSet}, 3);
}
TEST(KeyTable, EveryDocumentedPartitionKeyHasARow) {
  expect_rows({"slurm.conf.5.txt", "PARTITION", "POWERACTION", ConfFile::kSlurm, Section::kPartition}, 44);
}
TEST(KeyTable, EveryDocumentedSlurmdbdKeyHasARow) {
  expect_rows({"slurmdbd.conf.5.txt", "DESCRIPTION", "COPYING", ConfFile::kSlurmdbd, Section::kGlobal}, 60);
}
TEST(KeyTable, EveryDocumentedMpiKeyHasARow) {
  expect_rows({"mpi.conf.5.txt", "PARAMETERS", "COPYING", ConfFile::kMpi, Section::kGlobal}, 11);
}
TEST(KeyTable, EveryDocumentedOciKeyHasARow) {
  expect_rows({"oci.conf.5.txt", "PARAMETERS", "NOTES", ConfFile::kOci, Section::kGlobal}, 20);
}
TEST(KeyTable, EveryDocumentedBurstBufferKeyHasARow) {
  expect_rows({"burst_buffer.conf.5.txt", "DESCRIPTION", "COPYING", ConfFile::kBurstBuffer, Section::kGlobal}, 13);
}
TEST(KeyTable, EveryDocumentedContainerKeyHasARow) {
  expect_rows({"job_container.conf.5.txt", "DESCRIPTION", "NOTES", ConfFile::kJobContainer, Section::kContainer}, 8);
}
TEST(KeyTable, EveryDocumentedGresKeyHasARow) {
  expect_rows({"gres.conf.5.txt", "DESCRIPTION", "EXAMPLES", ConfFile::kGres, Section::kGresLine}, 10);
}
TEST(KeyTable, EveryDocumentedCgroupKeyHasARow) {
  expect_rows({"cgroup.conf.5.txt", "DESCRIPTION", "DISTRIBUTION", ConfFile::kCgroup, Section::kGlobal}, 20);
}

TEST(KeyTable, DefaultsAreValuesAndRowsAreUnique) {
  for (int f = 0; f < kConfFileCount; ++f) {
    std::set<std::pair<int, std::string>> seen;
    for (const KeyRow* row : rows_of(static_cast<ConfFile>(f))) {
      std::string id = std::string(file_name(row->file)) + " " + row->name;
      EXPECT_TRUE(seen.emplace(static_cast<int>(row->section), to_lower(row->name)).second) << id << " has two rows";
      EXPECT_TRUE(row->alias_of || *row->doc) << id << " has no text";
      EXPECT_NE(find_row(row->file, row->section, to_lower(row->name)), nullptr) << id;
      EXPECT_TRUE(row->state == KeyStatus::kWorks || *row->needs) << id;
      if (!row->default_text) continue;
      auto problem = check_value(*row, row->default_text);
      EXPECT_FALSE(problem.has_value()) << id << ": default " << row->default_text << " " << problem->message;
    }
  }
}

TEST(KeyTable, EveryGlobalKeyThatWorksFeedsAMember) {
  const std::set<std::string> elsewhere = {"SlurmctldHost",
                                           "SelectTypeParameters",
                                           "PreemptMode",
                                           "AccountingStorageEnforce",
                                           "EnforcePartLimits",
                                           "MCSPlugin",
                                           "MCSParameters",
                                           "PrologEpilogTimeout",
                                           "X11Parameters",
                                           "DataParserParameters",
                                           "PrEpPlugins",
                                           "GpuFreqDef",
                                           "JobCompLoc",
                                           "JobCompParams",
                                           "JobCompType",
                                           "Licenses",
                                           "PriorityWeightTRES",
                                           "PriorityUsageResetPeriod",
                                           "AcctGatherEnergyType",
                                           "AcctGatherNodeFreq",
                                           "AcctGatherProfileType",
                                           "NamespaceType",
                                           "JobContainerType",
                                           "SwitchType"};
  std::set<std::string> bound;
  for (const Binding& b : bindings()) {
    const KeyRow* row = find_row(ConfFile::kSlurm, Section::kGlobal, b.key);
    ASSERT_NE(row, nullptr) << b.key;
    EXPECT_EQ(std::string(row->name), b.key);
    EXPECT_TRUE(bound.insert(b.key).second) << b.key << " is bound twice";
  }
  for (const KeyRow* row : rows_of(ConfFile::kSlurm, Section::kGlobal))
    EXPECT_TRUE(row->state != KeyStatus::kWorks || elsewhere.contains(row->name) || bound.contains(row->name))
        << row->name << " works, but feeds nothing";
}

TEST(KeyValueCheck, SaysTheRule) {
  const KeyRow* wait = find_row(ConfFile::kSlurm, Section::kGlobal, "killwait");
  ASSERT_NE(wait, nullptr);
  EXPECT_FALSE(check_value(*wait, "30"));
  EXPECT_EQ(check_value(*wait, "70000")->message, "must be a number from 0 to 65533");
  EXPECT_EQ(check_value(*wait, "30s")->hint, "the unit is seconds, without a suffix");
  const KeyRow* gather = find_row(ConfFile::kSlurm, Section::kGlobal, "JobAcctGatherType");
  EXPECT_EQ(check_value(*gather, "linux")->hint, "did you mean jobacct_gather/linux?");
  EXPECT_FALSE(check_value(*gather, "JobAcct_Gather/Linux"));
  const KeyRow* port = find_row(ConfFile::kSlurm, Section::kGlobal, "SlurmctldPort");
  EXPECT_FALSE(check_value(*port, "6817-6820"));
  EXPECT_TRUE(check_value(*port, "70000"));
  const KeyRow* flags = find_row(ConfFile::kSlurm, Section::kGlobal, "PrologFlags");
  EXPECT_FALSE(check_value(*flags, "alloc,X11"));
  EXPECT_TRUE(check_value(*flags, "alloc,Containn")->hint.find("Contain") != std::string::npos);
}

TEST(KeyValueCheck, TimeSpans) {
  EXPECT_EQ(parse_span_seconds("30"), 1800);
  EXPECT_EQ(parse_span_seconds("1:30"), 90);
  EXPECT_EQ(parse_span_seconds("168:00:00"), 604800);
  EXPECT_EQ(parse_span_seconds("7-0"), 604800);
  EXPECT_EQ(parse_span_seconds("1-02:03:04"), 93784);
  EXPECT_EQ(parse_span_seconds("UNLIMITED"), -1);
  EXPECT_EQ(parse_span_seconds("1:2:3:4"), std::nullopt);
  EXPECT_EQ(parse_span_seconds("x"), std::nullopt);
  EXPECT_EQ(parse_span_seconds(""), std::nullopt);
}

}  // namespace
}  // namespace muster::config
