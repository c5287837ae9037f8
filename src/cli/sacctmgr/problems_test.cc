// What show problem finds.
#include "cli/sacctmgr/problems.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

AssociationRecord association(const char* account, const char* user) {
  AssociationRecord out;
  out.cluster = "c";
  out.account = account;
  out.user = user;
  return out;
}

TEST(Problems, AreWhatIsMissing) {
  rpc::Entities all;
  for (const char* name : {"lab", "team", "alone"}) all.accounts.emplace_back().name = name;
  for (const char* name : {"ann", "bob"}) all.users.emplace_back().name = name;
  all.associations = {association("lab", ""), association("team", ""), association("team", "ann")};
  const auto found = find_problems(all, [](const std::string& name) { return name == "bob"; });
  const std::vector<fields::ProblemView> expected = {{"", "alone", "", "Account has no Associations"},
                                                     {"", "", "ann", "User does not have a uid"},
                                                     {"", "", "bob", "User has no Associations"}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace muster::cli
