#include "slurmd/daemon/local_users.h"

#include <gtest/gtest.h>

#include <future>

namespace muster::slurmd {
namespace {

TEST(LocalUsers, AreThoseOfTheHost) {
  LocalUsers users;
  auto root = users.with(Uid{0}, Gid{0});
  ASSERT_TRUE(root);
  EXPECT_EQ((*root)->user_name(Uid{0}), "root");
  auto nobody = users.with(Uid{4'000'000'123u}, Gid{0});
  ASSERT_TRUE(nobody) << "that there is no such user is an answer";
  EXPECT_EQ((*nobody)->credentials(Uid{4'000'000'123u}).error().code, Errc::kNotFound);
}

TEST(LocalUsers, WhoIsKnownIsNotAskedForAgain) {
  int asked = 0;
  LocalUsers users(minutes(1), [&](os::UserDirectory& directory, Uid uid, Gid gid) {
    ++asked;
    return LocalUsers::ask_database(directory, uid, gid);
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(users.with(Uid{0}, Gid{0}));
  EXPECT_EQ(asked, 1);
  ASSERT_TRUE(users.with(Uid{0}, Gid{1})) << "of another group nothing is known";
  EXPECT_EQ(asked, 2);
  users.clear();
  ASSERT_TRUE(users.with(Uid{0}, Gid{0}));
  EXPECT_EQ(asked, 3);
}

TEST(LocalUsers, ADatabaseThatHangsIsTheNodesFaultAndIsNotWaitedForLong) {
  auto open = std::make_shared<std::promise<void>>();
  auto opened = open->get_future().share();
  auto ended = std::make_shared<std::promise<void>>();
  LocalUsers users(milliseconds(20), [opened, ended](os::UserDirectory&, Uid, Gid) -> Result<> {
    opened.wait();
    ended->set_value();
    return {};
  });
  for (int i = 0; i < 2; ++i) {  // the second is not begun
    auto late = users.with(Uid{0}, Gid{0});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::kConfig);
    EXPECT_EQ(late.error().text, "the user database of this host does not answer about uid 0");
  }
  open->set_value();
  ended->get_future().wait();
}

TEST(LocalUsers, AnOutageIsSaid) {
  LocalUsers users(minutes(1), [](os::UserDirectory&, Uid, Gid) -> Result<> { return fail(Errc::kIo, "ldap is away"); });
  EXPECT_EQ(users.with(Uid{7}, Gid{7}).error().text, "the user database of this host fails: ldap is away");
}

}  // namespace
}  // namespace muster::slurmd
