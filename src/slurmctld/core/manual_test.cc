// Walks scontrol(1): every field that "update" and "create" document is known to the controller, to be changed or to be
// refused with a reason. The page is beside the repository or in MUSTER_REFERENCE; without it the test is skipped.
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

std::string manual_page() {
  const char* given = std::getenv("MUSTER_REFERENCE");
  std::ifstream in(std::string(given ? given : "../shared/reference") + "/man/scontrol.1.txt");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The keys of a section: "Name=<…>" or "Name[=…]" 7 blanks in.
std::vector<std::string> keys_of(const std::string& page, std::string_view from, std::string_view to) {
  size_t begin = page.find(from), end = page.find(to, begin);
  std::vector<std::string> out;
  if (begin == std::string::npos || end == std::string::npos) return out;
  std::istringstream lines(page.substr(begin + from.size(), end - begin - from.size()));
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != 7) continue;
    std::string_view word = split(line, ' ')[0];
    word = word.substr(0, word.find_first_of("=["));
    bool is_key = !word.empty() && std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; });
    if (is_key && line.find('=') != std::string::npos) out.emplace_back(word);
    else if (word == "ResetAccrueTime" || word == "PowerDownOnIdle") out.emplace_back(word);
  }
  return out;
}

bool known(const Result<rpc::Messages>& r) { return r || r.error().text.find("Update of this parameter is not supported") == std::string::npos; }

struct Manual : testing::Test {
  std::string page = manual_page();
  void SetUp() override {
    if (page.empty()) GTEST_SKIP() << "no reference";
  }
};

TEST_F(Manual, EveryFieldOfAJob) {
  std::vector<std::string> keys = keys_of(page, "\nJOBS - SPECIFICATIONS FOR UPDATE COMMAND", "\nJOBS - SPECIFICATIONS FOR SHOW");
  ASSERT_GT(keys.size(), 60u);
  Bench b;
  JobId job = b.submit([](JobRequest& r) { r.hold = true; });
  for (const std::string& key : keys)
    if (key != "JobId" && key != "UserID") EXPECT_TRUE(known(b.update(job, key, "1"))) << key;   // those two say which jobs
}

TEST_F(Manual, EveryFieldOfAStep) {
  EXPECT_EQ(keys_of(page, "\nSTEPS - SPECIFICATIONS FOR UPDATE", "\nNODES - SPECIFICATIONS FOR CREATE"), (std::vector<std::string>{"StepId", "TimeLimit"}));
}

TEST_F(Manual, EveryFieldOfANode) {
  std::vector<std::string> keys = keys_of(page, "\nNODES - SPECIFICATIONS FOR UPDATE", "\nNODES - SPECIFICATIONS FOR SHOW");
  ASSERT_GT(keys.size(), 14u);
  Bench b;
  for (const std::string& key : keys) {
    if (key == "NodeName") continue;
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.update_node(Caller::root(), rpc::UpdateNode{"n0", {{key, "=", "1"}}}); });
    EXPECT_TRUE(known(r)) << key;
  }
}

TEST_F(Manual, EveryFieldOfAPartition) {
  std::vector<std::string> keys = keys_of(page, "\nPARTITIONS - SPECIFICATIONS FOR CREATE", "\nRESERVATIONS - SPECIFICATIONS");
  ASSERT_GT(keys.size(), 38u);
  Bench b;
  for (const std::string& key : keys) {
    if (key == "PartitionName") continue;
    rpc::UpdatePartition c;
    c.name = "main";
    c.changes = {{key, "=", "1"}};
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.update_partition(Caller::root(), c); });
    EXPECT_TRUE(known(r)) << key;
  }
}

}  // namespace
}  // namespace muster::slurmctld
