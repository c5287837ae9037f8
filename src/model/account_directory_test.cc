#include "model/account_directory.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "model/account_directory_testing.h"

namespace muster {
namespace {

AccountDirectory learned(const std::vector<AccountChanges>& parts, AccountDirectory d = {}) {
  for (const AccountChanges& part : parts) d.learn(part);
  return d;
}

// Everything that can be asked of both is the same.
void expect_same(const AccountDirectory& a, const AccountDirectory& b) {
  const auto in_a = contents_of(a), in_b = contents_of(b);
  ASSERT_EQ(in_a.size(), in_b.size());
  for (size_t i = 0; i < in_a.size(); ++i) {
    EXPECT_EQ(in_a[i].associations, in_b[i].associations);
    EXPECT_EQ(in_a[i].qos, in_b[i].qos);
    EXPECT_EQ(in_a[i].users, in_b[i].users);
    EXPECT_EQ(in_a[i].accounts, in_b[i].accounts);
  }
  a.users.for_each([&](const std::string& name, const AccountDirectory::User& user) {
    const AccountDirectory::User* other = b.users.find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(user.associations, other->associations) << name;
  });
  EXPECT_EQ(a.users.size(), b.users.size());
  EXPECT_EQ(a.accounts.size(), b.accounts.size());
}

rpc::Entities random_entities(Random& rng) {
  rpc::Entities out;
  for (const char* name : {"normal", "fast", "slow"})
    if (rng.next() % 4) out.qos.emplace_back().name = name;
  for (uint32_t account = 0; account < 6; ++account) {
    if (rng.next() % 5 == 0) continue;
    AssociationRecord own;
    own.id = 1 + account;
    own.account = "a" + std::to_string(account);
    own.parent_id = account ? 1 : 0;
    out.associations.push_back(own);
    if (rng.next() % 6) out.accounts.emplace_back().name = own.account;
    for (uint32_t user = 0; user < 8; ++user) {
      if (rng.next() % 3 == 0) continue;
      AssociationRecord a;
      a.id = 100 * static_cast<uint32_t>(1 + rng.next() % 3) + account * 8 + user;
      a.account = own.account;
      a.user = "u" + std::to_string(user);
      a.parent_id = own.id;
      a.comment = std::to_string(rng.next() % 3);
      out.associations.push_back(a);
    }
  }
  for (uint32_t user = 0; user < 8; ++user)
    if (rng.next() % 4) out.users.emplace_back().name = "u" + std::to_string(user);
  return out;
}

// However it came to be what it is: by differences, or at once.
TEST(AccountDirectory, DifferencesLeadToWhatWasFetched) {
  Random rng(3);
  AccountDirectory d;
  bool known = false;
  for (int i = 0; i < 400; ++i) {
    const rpc::Entities fetched = random_entities(rng);
    const auto changes = changes_to(known ? &d : nullptr, fetched);
    d = learned(changes, d);
    known = true;
    expect_same(d, learned(changes_to(nullptr, fetched)));
    EXPECT_TRUE(changes_to(&d, fetched).empty());
    expect_same(d, learned(contents_of(d)));
    ASSERT_FALSE(HasFailure()) << i;
  }
}

TEST(AccountDirectory, PartsAreBounded) {
  rpc::Entities fetched;
  for (uint32_t i = 1; i <= 2500; ++i) {
    AssociationRecord& a = fetched.associations.emplace_back();
    a.id = i;
    a.account = "team";
    a.user = "u" + std::to_string(i);
    fetched.users.emplace_back().name = a.user;
  }
  const auto parts = changes_to(nullptr, fetched);
  ASSERT_EQ(parts.size(), 5u);
  for (const AccountChanges& part : parts) EXPECT_LE(part.associations.size() + part.users.size(), kMostChanges);
  EXPECT_EQ(learned(parts).associations.size(), 2500u);
  // The first contact is one even when there is nothing yet.
  EXPECT_EQ(changes_to(nullptr, {}).size(), 1u);
}

TEST(AccountDirectory, AnAssociationOfThePartitionGoesBeforeTheOneForAll) {
  const AccountDirectory d = ADirectory()
                                 .account("root")
                                 .account("team")
                                 .account("team-b")
                                 .user("games", "team")
                                 .association("games", "team-b", {"b"})
                                 .association("games", "team", {"gpu"}, "", "gpu")
                                 .association("games", "team", {"all"})
                                 .association("games", "team", {"cpu"}, "", "cpu")
                                 .make();
  auto qos = [&](std::string_view account, std::string_view partition) {
    const AssociationRecord* a = d.association("games", account, partition);
    return a ? a->qos.at(0) : "none";
  };
  EXPECT_EQ(qos("team", "gpu"), "gpu");
  EXPECT_EQ(qos("team", "cpu"), "cpu");
  EXPECT_EQ(qos("team", "main"), "all");
  EXPECT_EQ(qos("team", ""), "all");
  EXPECT_EQ(qos("team-b", "gpu"), "b");
  EXPECT_EQ(qos("tea", ""), "none");
  EXPECT_EQ(d.association("Games", "team", "")->qos.at(0), "all");
  EXPECT_EQ(d.association("nobody", "team", ""), nullptr);
  EXPECT_EQ(d.default_association("games", "gpu")->qos.at(0), "gpu");
}

TEST(AccountDirectory, CoordinatorsAreThoseOfAccountsAbove) {
  const AccountDirectory d = ADirectory()
                                 .account("root")
                                 .account("top")
                                 .account("team", "top")
                                 .account("deep", "team")
                                 .account("open", "root", {"UsersAreCoords"})
                                 .account("below", "open")
                                 .user("chief", "team", AdminLevel::kNone, {"team"})
                                 .user("member", "open")
                                 .user("guest", "open")
                                 .user("boss", "team", AdminLevel::kOperator)
                                 .association("member", "open", {})
                                 .association("guest", "open", {}, "", "gpu")
                                 .make();
  EXPECT_TRUE(d.coordinates("chief", "team"));
  EXPECT_TRUE(d.coordinates("chief", "deep"));
  EXPECT_FALSE(d.coordinates("chief", "top"));
  EXPECT_FALSE(d.coordinates("chief", "nosuch"));
  EXPECT_TRUE(d.coordinates("member", "open"));
  EXPECT_TRUE(d.coordinates("member", "below"));
  EXPECT_FALSE(d.coordinates("member", "team"));
  EXPECT_TRUE(d.coordinates("guest", "below")) << "a user of the account in one partition alone";
  EXPECT_FALSE(d.coordinates("boss", "team"));
  EXPECT_EQ(d.level_of("boss"), AdminLevel::kOperator);
  EXPECT_EQ(d.level_of("nobody"), AdminLevel::kNone);
}

// What is said of parents by a database that was edited by hand.
TEST(AccountDirectory, ATreeThatIsARingEnds) {
  AccountDirectory d = ADirectory().account("root").account("a").account("b", "a").user("u", "a").make();
  AccountChanges ring;
  ring.associations = {d.associations.at(d.accounts.find("a")->association)};
  ring.associations[0].parent_id = d.accounts.find("b")->association;
  d.learn(ring);
  EXPECT_FALSE(d.coordinates("u", "a"));
}

}  // namespace
}  // namespace muster
