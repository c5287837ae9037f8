// StoragePassScript: how it is called, what is taken, and what is said when it does not work.
#include "slurmdbd/daemon/storage_password.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::slurmdbd {
namespace {

struct StoragePasswordTest : testing::Test {
  void write(const std::string& body, mode_t mode = 0700) {
    ASSERT_TRUE(os::write_file_atomic(path, "#!/bin/sh\n" + body + "\n", 0700));
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  StoragePassword password() {
    return StoragePassword(program, [this](const std::string& text) { complaints += text + "\n"; });
  }
  std::string answer(const std::string& body, mode_t mode = 0700) {
    write(body, mode);
    auto got = password().now(false);
    return got ? *got : "error: " + std::string(got.error().message());
  }
  std::string failure(const std::string& why) const { return "error: StoragePassScript=" + path + ": " + why; }
  int runs() const {
    auto log = os::read_file(dir.path() + "/runs", 1000);
    return log ? static_cast<int>(log->size()) : 0;
  }

  os::TempDir dir = std::move(*os::TempDir::create("password"));
  std::string path = dir.path() + "/script", complaints;
  PasswordProgram program{.path = path,
                          .environment = {"PATH=/usr/bin:/bin", "SLURM_STORAGE_HOSTNAME=db", "SLURM_STORAGE_PORT=3306",
                                          "SLURM_STORAGE_USER=slurm", "RUNS=" + dir.path() + "/runs"},
                          .slurm_user = Uid{::geteuid()},
                          .pause = Duration::zero()};
};

TEST_F(StoragePasswordTest, IsTheLineOfTheToken) {
  EXPECT_EQ(answer("echo TOKEN=some_pass"), "some_pass");
  EXPECT_EQ(answer("printf 'hello\\n TOKEN=a=b c \\r\\nTOKEN=other\\n'"), "a=b c");
  EXPECT_EQ(answer("printf TOKEN=no-newline"), "no-newline");
  EXPECT_EQ(answer("echo TOKEN=$SLURM_STORAGE_USER@$SLURM_STORAGE_HOSTNAME:$SLURM_STORAGE_PORT-$#"), "slurm@db:3306-0");
  EXPECT_EQ(complaints, "");
}

TEST_F(StoragePasswordTest, AFailureSaysWhatWasWrongAndNothingOfWhatWasPrinted) {
  EXPECT_EQ(answer("echo TOKEN=some_pass; exit 3"), failure("exit status 3"));
  EXPECT_EQ(answer("kill -9 $$"), failure("was ended by signal 9"));
  EXPECT_EQ(answer("echo some_pass"), failure("prints no line TOKEN=PASSWORD"));
  EXPECT_EQ(answer("echo TOKEN="), failure("prints no line TOKEN=PASSWORD"));
  EXPECT_EQ(answer("echo TOKEN=x; head -c 100000 /dev/zero"), failure("prints more than 65536 bytes"));
  EXPECT_EQ(answer("echo TOKEN=x", 0600), failure("execve " + path + ": Permission denied"));
  ::unlink(path.c_str());
  EXPECT_EQ(std::string(password().now(false).error().message()), failure("execve " + path + ": No such file or directory").substr(7));
}

TEST_F(StoragePasswordTest, OneThatHangsIsEnded) {
  program.most = seconds(1);
  EXPECT_EQ(answer("echo TOKEN=x; sleep 1000"), failure("did not end within 1 s and was ended"));
}

TEST_F(StoragePasswordTest, OneThatOthersMayChangeIsNotRun) {
  EXPECT_TRUE(answer("echo TOKEN=x; echo run >$RUNS", 0722).contains("mode 0722 lets others change it; StoragePassScript wants mode 0755"));
  EXPECT_EQ(runs(), 0);
}

TEST_F(StoragePasswordTest, WhatItComplainsOfIsToldWithoutThePassword) {
  EXPECT_EQ(answer("echo vault is slow: some_pass >&2; echo TOKEN=some_pass"), "some_pass");
  EXPECT_EQ(complaints, "StoragePassScript=" + path + ": vault is slow: ***\n");
}

TEST_F(StoragePasswordTest, OneAnswerServesAllUntilItIsOldOrRefused) {
  write("printf . >>$RUNS; echo TOKEN=$(wc -c <$RUNS)");
  auto p = password();
  EXPECT_EQ(*p.now(false), "1");
  EXPECT_EQ(*p.now(false), "1");
  EXPECT_EQ(*p.now(true), "2");
  EXPECT_EQ(*p.now(false), "2");
  program.kept = Duration::zero();
  auto short_lived = password();
  EXPECT_EQ(*short_lived.now(false), "3");
  EXPECT_EQ(*short_lived.now(false), "4");
}

TEST_F(StoragePasswordTest, TheLastOneServesWhileTheProgramFails) {
  write("printf . >>$RUNS; test $(wc -c <$RUNS) = 1 || exit 7; echo TOKEN=first");
  program.kept = Duration::zero();
  auto p = password();
  EXPECT_EQ(*p.now(false), "first");
  EXPECT_EQ(*p.now(false), "first");
  EXPECT_EQ(complaints, "StoragePassScript=" + path + ": exit status 7; the last password goes on being used\n");
}

TEST_F(StoragePasswordTest, ItIsNotRunAgainAtOnce) {
  write("printf . >>$RUNS; exit 7");
  program.pause = seconds(1000);
  auto p = password();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(p.now(i == 1));
  EXPECT_EQ(runs(), 1);
}

}  // namespace
}  // namespace muster::slurmdbd
