#include "os/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

TEST(PrivateDirectory, IsTheOwnersAloneAndGoesWithItsContent) {
  auto parent = TempDir::create("private");
  ASSERT_TRUE(parent);
  std::string path = parent->path() + "/mpi.1.0";
  ASSERT_TRUE(make_private_directory(path, std::nullopt));
  struct stat st;
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
  EXPECT_EQ(st.st_uid, ::geteuid());
  ASSERT_TRUE(make_dirs(path + "/a/b", 0700));
  ASSERT_TRUE(write_file_atomic(path + "/a/b/file", "x"));
  // Made anew, it is empty.
  ASSERT_TRUE(make_private_directory(path, std::nullopt));
  EXPECT_NE(::access((path + "/a").c_str(), F_OK), 0);
  ASSERT_TRUE(remove_private_directory(path));
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(remove_private_directory(path));
}

TEST(PrivateDirectory, AFreshOneLeavesAllOthersAlone) {
  auto parent = TempDir::create("private");
  ASSERT_TRUE(parent);
  ASSERT_TRUE(write_file_atomic(parent->path() + "/pmix.1.0.n1", "another's"));
  auto one = make_fresh_directory(parent->path() + "/pmix.1.0.n1.", std::nullopt);
  auto two = make_fresh_directory(parent->path() + "/pmix.1.0.n1.", std::nullopt);
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  struct stat st;
  ASSERT_EQ(::stat(one->c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
  EXPECT_EQ(read_file(parent->path() + "/pmix.1.0.n1").value_or(""), "another's");
  EXPECT_FALSE(make_fresh_directory(parent->path() + "/none/pmix.", std::nullopt));
}

// Another user's directory is emptied with that user's rights: a link in it does not lead us out of it.
TEST(PrivateDirectory, AUsersLinksReachNothingOfOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto parent = TempDir::create("private");
  ASSERT_TRUE(parent);
  ::chmod(parent->path().c_str(), 0755);
  std::string path = parent->path() + "/mpi.1.0", ours = parent->path() + "/ours";
  ASSERT_TRUE(make_dirs(ours, 0755));
  ASSERT_TRUE(write_file_atomic(ours + "/kept", "x"));
  ASSERT_TRUE(make_private_directory(path, Credentials{Uid(65534), Gid(65534), {}}));
  ASSERT_EQ(::symlink(ours.c_str(), (path + "/link").c_str()), 0);
  ASSERT_TRUE(remove_private_directory(path));
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_EQ(::access((ours + "/kept").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace muster::os
