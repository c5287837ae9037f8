// scontrol(1): every field that "update" and "create" document is known to the controller, to be changed or to be refused with
// a reason.
#include <sstream>

#include "base/documented_test.h"
#include "base/text.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

// The keys of a section: "Name=<…>" or "Name[=…]" 7 blanks in.
std::vector<std::string> read_keys(const std::string& page, std::string_view from, std::string_view to) {
  size_t begin = page.find(from), end = page.find(to, begin);
  std::vector<std::string> out;
  if (begin == std::string::npos || end == std::string::npos) return out;
  std::istringstream lines(page.substr(begin + from.size(), end - begin - from.size()));
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != 7) continue;
    std::string_view word = split(line, ' ')[0];
    word = word.substr(0, word.find_first_of("=["));
    bool is_key =
        !word.empty() && std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; });
    if (is_key && line.find('=') != std::string::npos) out.emplace_back(word);
    else if (word == "ResetAccrueTime" || word == "PowerDownOnIdle") out.emplace_back(word);
  }
  return out;
}

std::vector<std::string> keys_of(const std::string& what, std::string_view from, std::string_view to) {
  return documented_names("scontrol.update-" + what, "man/scontrol.1.txt",
                          [&](const std::string& page) { return read_keys(page, from, to); });
}

bool known(const Result<rpc::Messages>& r) {
  return r || r.error().text.find("Update of this parameter is not supported") == std::string::npos;
}

TEST(Manual, EveryFieldOfAJob) {
  std::vector<std::string> keys = keys_of("job", "\nJOBS - SPECIFICATIONS FOR UPDATE COMMAND", "\nJOBS - SPECIFICATIONS FOR SHOW");
  ASSERT_GT(keys.size(), 60u);
  Bench b;
  JobId job = b.submit([](JobRequest& r) { r.hold = true; });
  for (const std::string& key : keys)
    if (key != "JobId" && key != "UserID") {
      EXPECT_TRUE(known(b.update(job, key, "1"))) << key;  // those two say which jobs
    }
}

TEST(Manual, EveryFieldOfAStep) {
  EXPECT_EQ(keys_of("step", "\nSTEPS - SPECIFICATIONS FOR UPDATE", "\nNODES - SPECIFICATIONS FOR CREATE"),
            (std::vector<std::string>{"StepId", "TimeLimit"}));
}

TEST(Manual, EveryFieldOfANode) {
  std::vector<std::string> keys = keys_of("node", "\nNODES - SPECIFICATIONS FOR UPDATE", "\nNODES - SPECIFICATIONS FOR SHOW");
  ASSERT_GT(keys.size(), 14u);
  Bench b;
  for (const std::string& key : keys) {
    if (key == "NodeName") continue;
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.run(Caller::root(), rpc::UpdateNode{"n0", {{key, "=", "1"}}}); });
    EXPECT_TRUE(known(r)) << key;
  }
}

TEST(Manual, EveryFieldOfAPartition) {
  std::vector<std::string> keys = keys_of("partition", "\nPARTITIONS - SPECIFICATIONS FOR CREATE", "\nRESERVATIONS - SPECIFICATIONS");
  ASSERT_GT(keys.size(), 38u);
  Bench b;
  for (const std::string& key : keys) {
    if (key == "PartitionName") continue;
    rpc::UpdatePartition c;
    c.name = "main";
    c.changes = {{key, "=", "1"}};
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.run(Caller::root(), c); });
    EXPECT_TRUE(known(r)) << key;
  }
}

}  // namespace
}  // namespace muster::slurmctld
