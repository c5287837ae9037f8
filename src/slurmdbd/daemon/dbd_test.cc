// slurmdbd from its command line, as far as it does not stay.
#include "slurmdbd/daemon/dbd.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "net/test_support.h"
#include "sql/schema.h"

namespace muster::slurmdbd {
namespace {

TEST(Dbd, TheVersionOfTheTablesIsReadAndNothingIsMade) {
  net::test::TempDir dir;
  const std::string conf = dir.path() + "/slurmdbd.conf", folder = dir.path() + "/accounting", file = folder + "/a.db";
  std::ofstream(conf) << "DbdHost=localhost\nSlurmUser=" << ::getpwuid(::geteuid())->pw_name << "\nStorageLoc=" << file << "\n";
  ASSERT_EQ(::chmod(conf.c_str(), 0600), 0);
  auto told = [&](int expected) {
    std::string words[] = {"slurmdbd", "-u", "-f", conf};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    ::optind = 0;  // getopt begins anew
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_slurmdbd(4, argv), expected);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_NE(told(0).find("no database yet"), std::string::npos);
  EXPECT_NE(::access(folder.c_str(), F_OK), 0);
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  auto connection = sql::open_sqlite(file);
  ASSERT_TRUE(connection);
  EXPECT_NE(told(0).find("no tables yet"), std::string::npos);
  EXPECT_FALSE(*(*connection)->has_table("muster_meta"));
  ASSERT_TRUE(sql::prepare_schema(**connection));
  EXPECT_NE(told(0).find("version of the tables: " + std::to_string(sql::kSchemaVersion)), std::string::npos);
}

}  // namespace
}  // namespace muster::slurmdbd
