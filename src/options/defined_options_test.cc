#include "options/defined_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "options/parser.h"

namespace muster {
namespace {

std::vector<std::string> table(std::vector<std::string> words, std::string_view debug = {}) {
  auto scan = scan_job_command(Command::kSbatch, words);
  EXPECT_TRUE(scan.ok());
  JobInputs in;
  in.env = [&](const char* name) -> const char* {
    return name == std::string_view("SBATCH_DEBUG") && !debug.empty() ? debug.data() : nullptr;
  };
  JobParse parse = parse_job_command(scan.line, in);
  EXPECT_EQ(parse.outcome, Outcome::kRun);
  return defined_options(parse.options);
}

TEST(DefinedOptions, AreSortedAndPrintedAsUnderstood) {
  EXPECT_THAT(
      table({"-v", "-n4", "-N1-2", "-t", "90", "--wrap", "sleep 1", "--parsable", "-H", "--exclusive", "--mem=1G", "--no-kill=off"}),
      testing::ElementsAre("exclusive           : exclusive", "hold                : set", "mem                 : 1G",
                           "no-kill             : unset", "nodes               : 1-2", "ntasks              : 4",
                           "parsable            : set", "time                : 01:30:00", "verbose             : 1",
                           "wrap                : sleep 1"));
}

TEST(DefinedOptions, TimesAndCountsAreThoseThatCount) {
  EXPECT_THAT(table({"--wrap=true", "-vv", "--begin=2030-01-01", "--time-min=3-0", "-t", "UNLIMITED"}),
              testing::IsSupersetOf({"begin               : 2030-01-01T00:00:00", "time-min            : 3-00:00:00",
                                     "time                : UNLIMITED", "verbose             : 2"}));
  EXPECT_THAT(table({"--wrap=true"}, "2"), testing::Contains("verbose             : 2"));
  EXPECT_THAT(table({"--wrap", "a\nb"}), testing::ElementsAre("wrap                : a b")) << "a line for each";
}

}  // namespace
}  // namespace muster
