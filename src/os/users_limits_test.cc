#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/limits.h"
#include "os/users.h"

namespace muster::os {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Users, RootByNameAndNumber) {
  auto root = find_user("root");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->uid, Uid{0});
  EXPECT_EQ(root->home, "/root");
  EXPECT_FALSE(root->shell.empty());
  EXPECT_EQ(*find_user(Uid{0}), *root);
  EXPECT_EQ(find_group("root")->gid, Gid{0});
  EXPECT_EQ(find_group(Gid{0})->name, "root");
}

TEST(Users, MissingOnesAndNumbers) {
  auto u = find_user("no-such-user-x");
  EXPECT_EQ(u.error().code, Errc::kNotFound);
  EXPECT_EQ(u.error().message(), "Invalid user: no-such-user-x");
  EXPECT_EQ(find_user(Uid{3999999999}).error().message(), "Invalid user id: 3999999999");
  EXPECT_EQ(*find_uid("3999999999"), Uid{3999999999});
  EXPECT_EQ(*find_uid("root"), Uid{0});
  EXPECT_FALSE(find_uid("4294967295"));  // (uid_t)-1 means "no change" to the system
  EXPECT_FALSE(find_uid("12x"));
  EXPECT_EQ(*find_gid("0"), Gid{0});
  EXPECT_FALSE(find_gid("no-such-group"));
}

TEST(Users, GroupsAndCredentials) {
  auto groups = group_list("root", Gid{4321});
  ASSERT_TRUE(groups);
  EXPECT_THAT(*groups, Contains(4321u));
  auto c = credentials_of(*find_user("root"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->uid, Uid{0});
  EXPECT_THAT(c->groups, Contains(0u));
  EXPECT_THAT(*group_names("root", Gid{0}), Contains("root"));
  EXPECT_EQ(own_credentials().uid, Uid{geteuid()});
}

TEST(UserDirectory, CachesBoundedAndForOutput) {
  UserDirectory d(4);
  EXPECT_EQ(d.user_name(Uid{0}), "root");
  EXPECT_EQ(d.user_name(Uid{3999999999}), "3999999999");
  EXPECT_EQ(d.group_name(Gid{0}), "root");
  EXPECT_EQ(d.credentials(Uid{0})->gid, Gid{0});
  EXPECT_EQ(d.user("root")->uid, Uid{0});
  for (uint32_t i = 0; i < 100; ++i) (void)d.user(Uid{3'000'000'000u + i});
  EXPECT_LE(d.size(), 4u * 4u);
  EXPECT_GT(d.size(), 0u);
  d.clear();
  EXPECT_EQ(d.size(), 0u);
}

TEST(Limits, SetsOfNames) {
  EXPECT_EQ(*parse_limit_set("ALL"), all_limits());
  EXPECT_EQ(*parse_limit_set("none"), 0u);
  EXPECT_EQ(std::popcount(*parse_limit_set("memlock, RLIMIT_NOFILE")), 2);
  EXPECT_EQ(*parse_limit_set_except("ALL"), 0u);
  EXPECT_EQ(std::popcount(*parse_limit_set_except("AS,CORE")), 8);
  auto bad = parse_limit_set("MEMLOK");
  EXPECT_EQ(bad.error().message(), "\"MEMLOK\" is not a resource limit");
  EXPECT_EQ(bad.error().hint, "did you mean MEMLOCK?");
  EXPECT_FALSE(parse_limit_set(""));
  EXPECT_FALSE(parse_limit_set("NONE,CORE"));
}

TEST(Limits, TravelInTheEnvironment) {
  const auto now = current_limits(all_limits());
  ASSERT_EQ(now.size(), 10u);
  auto env = limits_to_env(now);
  env.push_back("HOME=/root");
  EXPECT_EQ(*limits_from_env(env), now);
  const std::vector<SoftLimit> inf{{limit_kinds().size() - 1, RLIM_INFINITY}};
  EXPECT_THAT(limits_to_env(inf), Contains("SLURM_RLIMIT_STACK=18446744073709551615"));
  const std::vector<std::string> words{"SLURM_RLIMIT_CORE=unlimited", "SLURM_RLIMIT_BOGUS=x"};
  EXPECT_EQ((*limits_from_env(words))[0].soft, RLIM_INFINITY);
  const std::vector<std::string> bad{"SLURM_RLIMIT_CORE=12k"};
  EXPECT_EQ(limits_from_env(bad).error().message(), "SLURM_RLIMIT_CORE: \"12k\" is neither a number nor unlimited");
}

TEST(Limits, GrantedWithinTheHardLimit) {
  rlimit mine{};
  getrlimit(RLIMIT_NOFILE, &mine);
  const size_t nofile = 6;
  ASSERT_EQ(limit_kinds()[nofile].name, "NOFILE");
  const std::vector<SoftLimit> wanted{{nofile, mine.rlim_max == RLIM_INFINITY ? 5 : mine.rlim_max + 1}};
  const auto g = grant_limits(wanted);
  ASSERT_EQ(g.settings.size(), 1u);
  EXPECT_LE(g.settings[0].soft, mine.rlim_max);
  if (mine.rlim_max != RLIM_INFINITY) {
    ASSERT_EQ(g.notes.size(), 1u);
    EXPECT_THAT(g.notes[0], HasSubstr("is the hard limit here"));
  }
  EXPECT_EQ(*raise_own_nofile(), mine.rlim_max);
  ASSERT_TRUE(set_own_limit(RLIMIT_NOFILE, mine.rlim_cur, mine.rlim_max));
}

}  // namespace
}  // namespace muster::os
