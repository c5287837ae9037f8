#include "slurmd/daemon/kept_rows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::slurmd {
namespace {

using Rows = KeptRows<uint32_t, int64_t>;
using Read = std::vector<Rows::Row>;

struct KeptRowsTest : ::testing::Test {
  os::TempDir dir = *os::TempDir::create("rows-", "/tmp");
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  std::string path = dir.path() + "/rows";
  Rows rows{*log, path, 64};
};

TEST_F(KeptRowsTest, AreReadByTheNextSlurmd) {
  EXPECT_EQ(rows.read(), Read{});
  ASSERT_TRUE(rows.replace({{7, -1}, {4294967295, 9}}));
  ASSERT_TRUE(rows.add({8, 2}));
  Rows next(*log, path, 64);
  EXPECT_EQ(next.read(), (Read{{7, -1}, {4294967295, 9}, {8, 2}}));
  EXPECT_EQ(os::read_file(path).value_or(""), "7 -1\n4294967295 9\n8 2\n");
  EXPECT_EQ(rows.size(), 22u);
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ASSERT_TRUE(rows.replace({}));
  EXPECT_EQ(next.read(), Read{});
}

TEST_F(KeptRowsTest, WhatCannotBeUnderstoodIsSkipped) {
  ASSERT_TRUE(os::write_file_atomic(path, "1 2\n-1 2\n4294967296 2\n1\n1 2 3\nx y\n\n3 4\n5 6", 0600));
  EXPECT_EQ(rows.read(), (Read{{1, 2}, {3, 4}})) << "the last line is not whole";
  ASSERT_TRUE(os::write_file_atomic(path, "5 6", 0600));
  EXPECT_EQ(rows.read(), Read{});
}

TEST_F(KeptRowsTest, AreBounded) {
  EXPECT_FALSE(rows.replace(Read(20, {100, 100}))) << "it could not be read again";
  ASSERT_TRUE(os::write_file_atomic(path, std::string(65, '\n'), 0600));
  EXPECT_EQ(rows.read(), Read{});
  ASSERT_TRUE(rows.replace({{1, 2}}));
  EXPECT_EQ(rows.read(), (Read{{1, 2}}));
}

TEST_F(KeptRowsTest, ASpoolThatWasTidiedHasTheFileAnew) {
  ASSERT_TRUE(rows.add({1, 2}));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_TRUE(rows.add({3, 4}));
  EXPECT_EQ(rows.read(), (Read{{3, 4}}));
}

TEST_F(KeptRowsTest, WhatIsNoFileIsNotWritten) {
  ASSERT_EQ(::symlink("/dev/null", path.c_str()), 0);
  EXPECT_FALSE(rows.add({1, 2}));
}

}  // namespace
}  // namespace muster::slurmd
