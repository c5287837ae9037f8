#include "cli/sbatch/script.h"

#include <gtest/gtest.h>

#include "cli/sbatch/submit.h"
#include "os/files.h"

namespace muster::cli {
namespace {

JobScanResult line(std::vector<std::string> arguments) {
  JobScanResult r = scan_job_command(Command::kSbatch, arguments);
  EXPECT_TRUE(r.ok());
  return r;
}

TEST(Script, WrapMakesOne) {
  Result<Script> s = load_script(line({"--wrap", "echo hi"}));
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->text.starts_with("#!/bin/sh"));
  EXPECT_NE(s->text.find("echo hi"), std::string::npos);
  EXPECT_EQ(s->default_job_name, "wrap");
}

TEST(Script, FilesByNameAndInPath) {
  os::TempDir dir = *os::TempDir::create("script");
  ASSERT_TRUE(os::write_file_atomic(dir.path() + "/train.sh", "#!/bin/bash\n"));
  Result<Script> s = load_script(line({"-N2", dir.path() + "/train.sh", "arg"}));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->default_job_name, "train.sh");
  EXPECT_EQ(find_script("train.sh", "/nonexistent:" + dir.path()), dir.path() + "/train.sh");
  EXPECT_EQ(find_script("no_such_script", dir.path()), "");
}

TEST(Script, WhatIsNoScriptIsRefusedInSlurmsWords) {
  os::TempDir dir = *os::TempDir::create("script");
  EXPECT_EQ(load_script(line({dir.path() + "/none"})).error().message(), "Unable to open file " + dir.path() + "/none");
  ASSERT_TRUE(os::write_file_atomic(dir.path() + "/x", "#SBATCH -N1\n"));
  EXPECT_TRUE(load_script(line({dir.path() + "/x"})).error().message().starts_with("This does not look like a batch script."));
  ASSERT_TRUE(os::write_file_atomic(dir.path() + "/long", "#!/bin/sh\n" + std::string(1000, '#')));
  EXPECT_FALSE(load_script(line({dir.path() + "/long"}), 100));
}

TEST(Submission, CarriesScriptArgumentsAndEnvironment) {
  JobScanResult l = line({"--wrap", "true"});
  JobParse parse = parse_job_command(l.line, {});
  ASSERT_EQ(parse.outcome, Outcome::kRun);
  ClientConf conf;
  std::vector<std::string> arguments = {"--wrap", "true"}, environment = {"A=1"};
  Result<rpc::SubmitJob> s = make_submission(parse.options, *load_script(l), {}, conf, arguments, environment);
  ASSERT_TRUE(s) << s.error().message();
  EXPECT_EQ(s->request.name, "wrap");
  EXPECT_EQ(s->request.submit_line, "sbatch --wrap true");
  EXPECT_FALSE(s->request.work_dir.empty());
  EXPECT_TRUE(s->environment.starts_with(std::string("A=1\0", 4)));
  EXPECT_NE(s->environment.find("SLURM_SUBMIT_DIR="), std::string::npos);
}

TEST(Wait, ExitCodeIsTheJobs) {
  EXPECT_EQ(exit_code_of({JobState::kCompleted, 0}), 0);
  EXPECT_EQ(exit_code_of({JobState::kFailed, 3 << 8}), 3);
  EXPECT_EQ(exit_code_of({JobState::kCancelled, 15}), 1);
  EXPECT_EQ(exit_code_of({JobState::kCancelled, 0}), 1);
  EXPECT_EQ(exit_code_of({JobState::kTimeout, 0}), 1);
}

}  // namespace
}  // namespace muster::cli
