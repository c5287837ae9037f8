#include "options/script_directives.h"

#include <gtest/gtest.h>

#include <random>

#include "options/parser.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  auto d = read_directives("#!/bin/sh\n" + std::string(line) + "\n", "s.sh");
  if (!d) return {"error", d.error().text};
  return d->lines.empty() ? Words{} : d->lines[0].words;
}

TEST(Directives, WordsQuotesAndComments) {
  EXPECT_EQ(words_of("#SBATCH -n 2 --mem=3"), (Words{"-n", "2", "--mem=3"}));
  EXPECT_EQ(words_of("#SBATCH\t-n\t2  "), (Words{"-n", "2"}));
  EXPECT_EQ(words_of("#SBATCH-n2"), Words{"-n2"});
  EXPECT_EQ(words_of("#SBATCH --array=0-999          # 1000 shards"), Words{"--array=0-999"});
  EXPECT_EQ(words_of("#SBATCH -n x# c"), (Words{"-n", "x"}));
  EXPECT_EQ(words_of("#SBATCH --comment=\"a # b\" -n2"), (Words{"--comment=a # b", "-n2"}));
  EXPECT_EQ(words_of("#SBATCH --comment='x y'z"), Words{"--comment=x yz"});
  EXPECT_EQ(words_of("#SBATCH --comment=\"a\\\"b\"c"), Words{"--comment=a\"bc"});
  EXPECT_EQ(words_of("#SBATCH --comment='a\\b'"), Words{"--comment=a\\b"});
  EXPECT_EQ(words_of("#SBATCH --comment=x\\\\"), Words{"--comment=x\\"});
  EXPECT_EQ(words_of("#SBATCH"), Words{});
  EXPECT_EQ(words_of("##SBATCH -n2"), Words{});
  EXPECT_EQ(words_of(" #SBATCH -n2"), Words{});
  EXPECT_EQ(words_of("#sbatch -n2"), Words{});
  EXPECT_EQ(words_of("#SBATCH -n2\r"), Words{"-n2"});
}

TEST(Directives, EndAtTheFirstCommand) {
  auto d = read_directives("#!/bin/sh\n\n  \n # comment\n#SBATCH -n1\necho\n#SBATCH -n2\n", "s.sh");
  ASSERT_TRUE(d);
  ASSERT_EQ(d->lines.size(), 1u);
  EXPECT_EQ(d->lines[0].line, 5u);
}

TEST(Directives, ErrorsNameFileAndLine) {
  EXPECT_EQ(words_of("#SBATCH --ntasks=\"x y"), (Words{"error", "s.sh: line 2: Unmatched `\"` in [--ntasks=\"x y]"}));
  EXPECT_EQ(words_of("#SBATCH : -n2"), (Words{"error", "s.sh: line 2: Unexpected `:` in [: -n2]"}));
}

TEST(Directives, HetjobBeginsTheNextComponent) {
  auto d =
      read_directives("#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n#SBATCH -N1\n#SBATCH packjob\ntrue\n#SBATCH hetjob\n", "s.sh");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->components, 3u);
  ASSERT_EQ(d->lines.size(), 3u);
  EXPECT_EQ(d->lines[0].component, 0u);
  EXPECT_EQ(d->lines[1].component, 1u);
  EXPECT_EQ(d->lines[2].component, 1u);
}

TEST(Directives, OtherSystemsLinesAreNoticed) {
  auto d = read_directives("#!/bin/sh\n#PBS -l nodes=1\n#BSUB -n 2\n", "s.sh");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->foreign_lines, (std::vector<size_t>{2, 3}));
}

std::string check(std::string_view script) {
  auto r = check_script(script);
  return r ? "" : r.error().text;
}

TEST(Script, MustLookLikeOne) {
  EXPECT_EQ(check("#!/bin/sh\n"), "");
  EXPECT_EQ(check(""), "Batch script is empty!");
  EXPECT_EQ(check(" \n\t\n"), "Batch script contains only whitespace!");
  EXPECT_EQ(check("#SBATCH --job-name=train-model\n"),
            "This does not look like a batch script.  The first\nline must start with #! followed by the "
            "path to an "
            "interpreter.\nFor instance: #!/bin/sh");
  EXPECT_FALSE(check_script("echo\n").error().hint.empty());
  EXPECT_EQ(check("#!/bin/sh\r\necho\r\n"), "Batch script contains DOS line breaks (\\r\\n)\ninstead of expected UNIX line breaks (\\n).");
  EXPECT_EQ(check(std::string_view("#!/bin/sh\n\0a", 12)),
            "The Slurm controller does not allow scripts that\ncontain a NULL character '\\0'.");
  EXPECT_FALSE(check_script("#!/bin/sh\n# long\n", 5));
  EXPECT_EQ(check(wrap_script("hostname")), "");
}

TEST(Script, TheMessageHasThePrefixOnEachLine) {
  Message m{Message::Level::kError, check_script("echo\n").error().text};
  EXPECT_EQ(render(m, "sbatch"), "sbatch: error: This does not look like a batch script.  The first\n"
                                 "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
                                 "sbatch: error: For instance: #!/bin/sh");
}

// Any bytes end in a record or a message, never in a crash or a loop.
TEST(Directives, SurviveArbitraryBytes) {
  std::mt19937 random(20260131);
  const std::string alphabet = "#SBATCH \n\t\r\"'\\=-:,0123459nNtmgx%[]*@+?!abc\x80\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string script = "#!/bin/sh\n";
    for (int line = 0; line < 4; ++line) {
      script += "#SBATCH ";
      for (size_t n = random() % 40; n > 0; --n) script += alphabet[random() % alphabet.size()];
      if (random() % 9 == 0) script += '\0';
      script += '\n';
    }
    auto scan = scan_job_command(Command::kSbatch, {});
    JobInputs in;
    in.script = &script;
    in.script_name = "s";
    JobParse p = parse_job_command(scan.line, in);
    EXPECT_TRUE(p.outcome != Outcome::kFailed || !p.messages.empty());
  }
}

// Every option with values that are nearly right.
TEST(Options, SurviveArbitraryValues) {
  std::mt19937 random(7);
  const std::string alphabet = "0123456789:,-=@%+?*[]gpuKMGTafterok_./ \"'x";
  for (Command c : {Command::kSbatch, Command::kSrun, Command::kSalloc}) {
    for (const JobOptionRow* row : job_rows(c)) {
      if (!row->info.name || row->info.arg == Arg::kNone) continue;
      for (int round = 0; round < 200; ++round) {
        std::string value;
        for (size_t n = random() % 16; n > 0; --n) value += alphabet[random() % alphabet.size()];
        auto scan = scan_job_command(c, std::vector<std::string>{"--" + std::string(row->info.name) + "=" + value, "true"});
        ASSERT_TRUE(scan.ok());
        JobParse p = parse_job_command(scan.line, {});
        EXPECT_TRUE(p.outcome != Outcome::kFailed || !p.messages.empty()) << row->info.name << "=" << value;
      }
    }
  }
}

}  // namespace
}  // namespace muster
