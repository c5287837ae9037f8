#include "cli/common/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::cli {
namespace {

std::string reported(const Error& e) {
  int pipes[2];
  EXPECT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  report_refusal(os::CliLog("sbatch", os::LogLevel::kInfo, pipes[1]), e, "Batch job submission failed: ");
  close(pipes[1]);
  char text[4096];
  ssize_t n = 0, got = 0;
  while ((got = read(pipes[0], text + n, sizeof text - static_cast<size_t>(n))) > 0) n += got;
  close(pipes[0]);
  return std::string(text, static_cast<size_t>(n));
}

TEST(Refusal, TheControllersSentenceComesBeforeTheTextOfTheCode) {
  EXPECT_EQ(reported(Error(Errc::kInvalidPartition, "invalid partition specified: x", "partitions here: main")),
            "sbatch: error: invalid partition specified: x\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified\n"
            "sbatch: error: partitions here: main\n");
}

TEST(Refusal, OneLineWhereTheCodeSaysItAll) {
  EXPECT_EQ(reported(Error(Errc::kInvalidAccount)),
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
            "specified\n");
  EXPECT_EQ(reported(Error(Errc::kError, "odd")), "sbatch: error: Batch job submission failed: odd\n");
}

TEST(Command, VersionHelpAndFailuresSettleTheRun) {
  EXPECT_EQ(settled(Outcome::kRun, Command::kSqueue, {}, 1), std::nullopt);
  EXPECT_EQ(settled(Outcome::kFailed, Command::kSqueue, {}, 7), 7);
  const Message conflict{Message::Level::kFatal, "--a and --b are mutually exclusive"};
  EXPECT_EQ(settled(Outcome::kFailed, Command::kSbatch, {&conflict, 1}, 255), 1);
  EXPECT_EQ(settled(Outcome::kVersion, Command::kSqueue, {}, 1), 0);
}

}  // namespace
}  // namespace muster::cli
