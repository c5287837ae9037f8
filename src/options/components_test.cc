#include "options/components.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/het.h"
#include "options/parser.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

// The options of each component of a command line.
std::vector<JobOptions> parsed(Command command, const Words& arguments, const std::string* script = nullptr, size_t components = 0) {
  JobScanResult scan = scan_job_command(command, arguments);
  EXPECT_TRUE(scan.ok()) << (scan.messages.empty() ? "" : scan.messages[0].text);
  std::vector<JobOptions> out;
  JobInputs in;
  in.script = script;
  in.script_name = "s.sh";
  for (size_t i = 0; i < std::max(components, scan.more.size() + 1); ++i) {
    if (i > 0) in.before.push_back(scan.component(i - 1));
    JobParse parse = parse_job_command(scan.component(i), in);
    EXPECT_EQ(parse.outcome, Outcome::kRun) << (parse.messages.empty() ? "" : parse.messages[0].text);
    out.push_back(std::move(parse.options));
  }
  return out;
}

TEST(Components, AColonSeparatesThem) {
  JobScanResult scan = scan_job_command(Command::kSbatch, Words{"-n2", ":", "-n3", "job.sh", ":", "arg"});
  ASSERT_TRUE(scan.ok());
  ASSERT_EQ(scan.more.size(), 1u);
  EXPECT_TRUE(scan.line.scan.operands.empty());
  EXPECT_EQ(scan.last().scan.operands, (Words{"job.sh", ":", "arg"}));  // the script's own argument
  scan = scan_job_command(Command::kSrun, Words{"-n2", "a", "b", ":", "-n1", "c", ":", "d"});
  ASSERT_EQ(scan.more.size(), 2u);
  EXPECT_EQ(scan.line.scan.operands, (Words{"a", "b"}));
  EXPECT_EQ(scan.more[0].scan.operands, (Words{"c"}));
  EXPECT_EQ(scan.more[1].scan.operands, (Words{"d"}));
  scan = scan_job_command(Command::kSalloc, Words{":", "-n1"});
  ASSERT_EQ(scan.more.size(), 1u);
  EXPECT_FALSE(scan.line.given("ntasks"));
  EXPECT_EQ(scan.component(7).scan.options.size(), 0u);
}

TEST(Components, ThereAreBounds) {
  Words words;
  for (uint32_t i = 1; i < kMostComponents; ++i) words.insert(words.end(), {"-n1", ":"});
  EXPECT_TRUE(scan_job_command(Command::kSbatch, words).ok());
  words.push_back(":");
  JobScanResult much = scan_job_command(Command::kSbatch, words);
  ASSERT_FALSE(much.ok());
  EXPECT_EQ(much.messages[0].text, "a heterogeneous job has at most 128 components");
}

TEST(Components, SomeOptionsAreHandedOn) {
  const auto o = parsed(Command::kSbatch, {"-n4", "-A", "a", "-t", "7", "--mem-per-cpu=5", ":", "-n1", ":", "-A", "b"});
  ASSERT_EQ(o.size(), 3u);
  EXPECT_EQ(o[1].request.account, "a");
  EXPECT_EQ(o[1].request.time_limit_min, 7u);
  EXPECT_EQ(o[1].request.num_tasks, 1u);
  EXPECT_FALSE(o[1].request.mem_per_cpu_mb);
  EXPECT_EQ(o[2].request.account, "b");
  EXPECT_EQ(o[2].request.time_limit_min, 7u);
  EXPECT_EQ(o[2].request.num_tasks, 0u);
}

TEST(Components, OfTheScriptAndOfTheCommandLine) {
  const std::string script = "#!/bin/sh\n#SBATCH -n1 --comment=c -t 5\n#SBATCH hetjob\n#SBATCH -n2\n";
  const auto o = parsed(Command::kSbatch, {"-t", "9", ":", "-N1"}, &script, 3);
  EXPECT_EQ(o[0].request.num_tasks, 1u);
  EXPECT_EQ(o[0].request.time_limit_min, 9u);
  EXPECT_EQ(o[1].request.num_tasks, 2u);
  EXPECT_EQ(o[1].request.min_nodes, 1u);
  EXPECT_EQ(o[1].request.comment, "c");
  EXPECT_EQ(o[1].request.time_limit_min, 9u);
  EXPECT_EQ(o[2].request.num_tasks, 0u);
  EXPECT_EQ(o[2].request.comment, "c");
}

TEST(Components, TheListHasNamesOfOptionsAlone) {
  std::vector<std::string> names;
  for (Command c : {Command::kSbatch, Command::kSrun, Command::kSalloc})
    for (const JobOptionRow* row : job_rows(c))
      if (row->info.name && is_handed_on(row->info.name)) names.push_back(row->info.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 50u);
  EXPECT_FALSE(is_handed_on("ntasks"));
  EXPECT_FALSE(is_handed_on("mem-per-cpu"));
}

TEST(Components, Groups) {
  EXPECT_EQ(*parse_het_group("2"), (std::vector<uint32_t>{2}));
  EXPECT_EQ(*parse_het_group("1,3-5"), (std::vector<uint32_t>{1, 3, 4, 5}));
  for (const char* bad : {"", "x", "1-", "128", "-1", "0,", "4294967296"}) EXPECT_FALSE(parse_het_group(bad)) << bad;
}

}  // namespace
}  // namespace muster
