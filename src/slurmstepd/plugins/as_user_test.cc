#include "slurmstepd/plugins/as_user.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace muster::slurmstepd {
namespace {

struct Who {
  uid_t uid = ::geteuid();
  gid_t gid = ::getegid();
  std::vector<gid_t> groups = of_this_process();
  bool operator==(const Who&) const = default;

  static std::vector<gid_t> of_this_process() {
    std::vector<gid_t> out(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
    EXPECT_EQ(::getgroups(static_cast<int>(out.size()), out.data()), static_cast<int>(out.size()));
    return out;
  }
};

TEST(AsUser, IsTheUserAndItselfAgain) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may be somebody else";
  const Who before;
  Who inside;
  ASSERT_TRUE(as_user(Uid(4241), Gid(4242), {4243}, [&]() -> Result<> {
    inside = Who();
    return {};
  }));
  EXPECT_EQ(inside.uid, 4241u);
  EXPECT_EQ(inside.gid, 4242u);
  EXPECT_EQ(inside.groups, std::vector<gid_t>{4243});
  EXPECT_EQ(Who(), before);
}

// -1 is nobody's number: the kernel refuses it when the groups have changed already.
TEST(AsUser, NothingChangesWhenItFailsMidway) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may be somebody else";
  const Who before;
  bool ran = false;
  auto what = [&]() -> Result<> {
    ran = true;
    return {};
  };
  EXPECT_FALSE(as_user(Uid(4241), Gid(~0u), {4243}, what));
  EXPECT_EQ(Who(), before);
  EXPECT_FALSE(as_user(Uid(~0u), Gid(4242), {4243}, what));
  EXPECT_EQ(Who(), before);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace muster::slurmstepd
