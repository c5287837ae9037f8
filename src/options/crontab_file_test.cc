#include "options/crontab_file.h"

#include <gtest/gtest.h>

#include "options/script_directives.h"

namespace muster {
namespace {

CrontabEntry only(std::string_view text) {
  CrontabFile file = read_crontab(text);
  EXPECT_TRUE(file.faults.empty()) << file.faults[0].error.message();
  EXPECT_EQ(file.entries.size(), 1u) << text;
  return file.entries.empty() ? CrontabEntry() : file.entries[0];
}

std::string fault(std::string_view text) {
  CrontabFile file = read_crontab(text);
  return file.faults.empty() ? "none" : std::to_string(file.faults[0].line) + ": " + std::string(file.faults[0].error.message());
}

TEST(CrontabFile, TheManualsExample) {
  CrontabEntry e = only("DIR=/home/user1\n#SCRON -p high\n#SCRON -A sub1\n#SCRON -t 1:00\n@hourly $DIR/date.printer.job\n");
  EXPECT_EQ(e.times, "@hourly");
  EXPECT_EQ(e.command, "/home/user1/date.printer.job");
  EXPECT_EQ(e.first_line, 2u);
  EXPECT_EQ(e.last_line, 5u);
  EXPECT_EQ(crontab_job_name(e), "date.printer.job");
  EXPECT_EQ(crontab_directives(e), "#!/bin/sh\n#SBATCH --export=NONE\n#SBATCH -p high\n#SBATCH -A sub1\n#SBATCH -t 1:00\n");
  EXPECT_TRUE(read_directives(crontab_directives(e), "x"));
  EXPECT_TRUE(check_script(crontab_script(e)));
}

TEST(CrontabFile, OptionsAreForTheNextEntryAlone) {
  CrontabFile file = read_crontab("#SCRON -t 1\n# a remark\n1 2 3 4 5 a\n\n  5 4 3 2 1  b c  \n#SCRON -n 2\n");
  ASSERT_EQ(file.entries.size(), 2u);
  EXPECT_EQ(file.entries[0].options.size(), 1u);
  EXPECT_EQ(file.entries[0].first_line, 1u);
  EXPECT_EQ(file.entries[1].options.size(), 0u);
  EXPECT_EQ(file.entries[1].first_line, 5u);
  EXPECT_EQ(file.entries[1].command, "b c");
  EXPECT_EQ(file.options_without_job, std::vector<uint32_t>{6});
}

TEST(CrontabFile, WhatWasDisabledAndOtherCommentsMeanNothing) {
  EXPECT_TRUE(read_crontab("#DISABLED: #SCRON -t 1\n#DISABLED: @daily a\n#SCRONX\n# @daily b\n").entries.empty());
  EXPECT_TRUE(read_crontab(example_crontab()).entries.empty());
  EXPECT_TRUE(read_crontab(example_crontab()).faults.empty());
  EXPECT_TRUE(read_crontab(example_crontab()).options_without_job.empty());
}

TEST(CrontabFile, VariablesAreReplacedInCommandsAlone) {
  EXPECT_EQ(only("A=1\nB = 'two words'\n@daily echo $A $B $C $AB ${A} \\$A $\n").command, "echo 1 two words $C $AB ${A} \\$A $");
  EXPECT_EQ(only("A=1\n@daily echo $A\nA=2\n").command, "echo 1");    // as it stands above the entry
  EXPECT_EQ(only("A=1\nB=$A\n@daily echo $B\n").command, "echo $A");  // not within other variables
  EXPECT_EQ(fault("A=@daily\n$A echo\n"), "2: this is neither an entry nor NAME=VALUE");
}

TEST(CrontabFile, FaultsNameTheirLines) {
  EXPECT_EQ(fault("\nhello\n"), "2: this is neither an entry nor NAME=VALUE");
  EXPECT_EQ(fault("@daily"), "1: the command is missing");
  EXPECT_EQ(fault("@never a"), "1: Unknown interval \"@never\" in a crontab entry");
  EXPECT_EQ(fault("61 * * * * a"), "1: Invalid minute \"61\" in a crontab entry");
  EXPECT_EQ(fault("@daily a\x1b[2J"), "1: a control character is in the line");
  EXPECT_EQ(fault("#SCRON --comment='open\n@daily a").substr(0, 2), "1:");
  std::string many;
  for (int i = 0; i < 257; ++i) many += "@daily a\n";
  EXPECT_EQ(fault(many), "257: more than 256 entries");
  std::string bomb = "A=" + std::string(30000, 'x') + "\n@daily $A $A $A\n";
  EXPECT_EQ(fault(bomb), "2: the command is too long");
}

TEST(CrontabFile, LinesMayEndAsInDos) { EXPECT_EQ(only("@daily a\r\n").command, "a"); }

}  // namespace
}  // namespace muster
