#include "slurmctld/core/token_book.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

const Time kNow = from_unix(1800000000);

rpc::CreateToken asked(const std::string& hosts, uint32_t uses = 1, uint32_t seconds = 3600, rpc::TokenRole role = rpc::TokenRole::kNode) {
  rpc::CreateToken out;
  out.role = role;
  out.hosts = NodeList(hosts);
  out.uses = uses;
  out.seconds = seconds;
  return out;
}
std::vector<std::string> revoked_by(TokenBook& book, const rpc::RevokeToken& asked, Time now) {
  return book.revoke(asked, now).value_or(rpc::TokenRevoked{}).subjects;
}
rpc::AskCertificate of(const std::string& name, rpc::TokenRole role = rpc::TokenRole::kNode) { return {role, name, std::string(32, 'p')}; }

TEST(TokenBook, ATokenIsGoodForItsNamesAsOftenAsItSaysUntilItExpires) {
  TokenBook book;
  ASSERT_TRUE(book.add(asked("c[1-3]", 2), "t1", "key", kNow));
  EXPECT_EQ(book.keys().at("t1"), "key");
  EXPECT_EQ(book.use("t2", of("c1"), "10.0.0.1", kNow).error().code, Errc::kAuthFailed);
  for (const char* other : {"c4", "", "c", "c[1-3]", "c1,c2", "n1"}) EXPECT_FALSE(book.use("t1", of(other), "10.0.0.1", kNow)) << other;
  EXPECT_FALSE(book.use("t1", of("c1", rpc::TokenRole::kLogin), "10.0.0.1", kNow));
  EXPECT_EQ(book.rows()[0].used.size(), 0u) << "what is refused is no use";
  EXPECT_EQ(book.use("t1", of("c1"), "10.0.0.1", kNow).value_or(Subject{}), (Subject{SubjectKind::kNode, "c1"}));
  EXPECT_TRUE(book.use("t1", of("c2"), "10.0.0.2", kNow + seconds(3599)));
  auto third = book.use("t1", of("c3"), "10.0.0.3", kNow);
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().hint.find("used up: c2 joined by it from 10.0.0.2"), std::string::npos) << third.error().hint;
  ASSERT_TRUE(book.add(asked("c1", 5), "t3", "key", kNow));
  auto late = book.use("t3", of("c1"), "10.0.0.1", kNow + seconds(3600));
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().hint.find("token 2 expired"), std::string::npos);
}

TEST(TokenBook, ARevokedTokenTakesThoseWithItWhoJoinedByIt) {
  TokenBook book;
  ASSERT_TRUE(book.add(asked("c[1-9]", 9), "t1", "key", kNow));
  ASSERT_TRUE(book.add(asked("c[1-9]", 9), "t2", "key", kNow));
  ASSERT_TRUE(book.use("t1", of("c1"), "a", kNow));
  ASSERT_TRUE(book.use("t2", of("c2"), "a", kNow));
  rpc::RevokeToken revoke;
  revoke.token = 1;
  EXPECT_EQ(revoked_by(book, revoke, kNow + seconds(5)), std::vector<std::string>{"node:c1"});
  EXPECT_NE(book.use("t1", of("c3"), "a", kNow + seconds(6)).error().hint.find("was revoked"), std::string::npos);
  EXPECT_TRUE(book.use("t2", of("c3"), "a", kNow + seconds(6)));
  ASSERT_EQ(book.state().revoked.size(), 1u);
  EXPECT_EQ(book.state().revoked[0].issued_until, kNow + seconds(5));
  // A certificate of the same second would be taken for a revoked one.
  EXPECT_EQ(book.issue_time({SubjectKind::kNode, "c1"}, kNow + seconds(5)), kNow + seconds(6));
  EXPECT_EQ(book.issue_time({SubjectKind::kNode, "c1"}, kNow + seconds(60)), kNow + seconds(60));
  EXPECT_EQ(book.issue_time({SubjectKind::kNode, "c2"}, kNow + seconds(5)), kNow + seconds(5));
}

TEST(TokenBook, AHostIsRevokedByItsName) {
  TokenBook book;
  rpc::RevokeToken revoke;
  revoke.node = "n1";
  EXPECT_EQ(revoked_by(book, revoke, kNow), std::vector<std::string>{"node:n1"});
  revoke.node = "";
  revoke.login = "l1";
  EXPECT_EQ(revoked_by(book, revoke, kNow), std::vector<std::string>{"login:l1"});
  for (const auto& [token, node, login] : {std::tuple{0u, "", ""}, std::tuple{1u, "n1", ""}, std::tuple{0u, "n1", "l1"},
                                           std::tuple{7u, "", ""}, std::tuple{0u, "a b", ""}, std::tuple{0u, "a\nb", ""}})
    EXPECT_EQ(book.revoke({token, node, login}, kNow).error().code, Errc::kInvalidArgument) << token << node << login;
}

TEST(TokenBook, WhatIsAskedForIsBounded) {
  TokenBook book;
  for (const rpc::CreateToken& bad : {asked(""), asked("c[1-"), asked("c1", 0), asked("c1", 65537), asked("c1", 1, 0),
                                      asked("c1", 1, 32 * 86400), asked("block{b1}"), asked("c/1"), asked("c[1-70000]")})
    EXPECT_EQ(book.add(bad, "t", "key", kNow).error().code, Errc::kInvalidArgument)
        << bad.hosts.text() << " " << bad.uses << " " << bad.seconds;
  EXPECT_TRUE(book.rows().empty());
  for (uint32_t i = 0; i < rpc::kMostTokens; ++i) ASSERT_TRUE(book.add(asked("c1"), "t" + std::to_string(i), "key", kNow)) << i;
  EXPECT_EQ(book.add(asked("c1"), "t", "key", kNow).error().code, Errc::kTryAgainLater);
  EXPECT_TRUE(book.add(asked("c1"), "t", "key", kNow + seconds(3600) + TokenBook::kKept + kCertificateLife))
      << "they are forgotten by then";
}

// Who was there has the word of the token that let the host in, and perhaps others.
TEST(TokenBook, ARevokedHostIsBarredFromTheTokensOfThatDay) {
  TokenBook book;
  ASSERT_TRUE(book.add(asked("c[1-3]", 9), "t1", "key", kNow));
  ASSERT_TRUE(book.add(asked("c1,d1", 9), "t2", "key", kNow));
  ASSERT_TRUE(book.add(asked("c1", 9, 3600, rpc::TokenRole::kLogin), "login", "key", kNow));
  ASSERT_TRUE(book.add(asked("d[1-3]", 9), "t4", "key", kNow));
  ASSERT_TRUE(book.use("t1", of("c1"), "a", kNow));
  auto revoked = book.revoke({0, "c1", ""}, kNow);
  ASSERT_TRUE(revoked);
  EXPECT_EQ(revoked->known, std::vector<uint32_t>{1}) << "that one is on its disk, and lets others in";
  for (const char* token : {"t1", "t2"}) {
    auto again = book.use(token, of("c1"), "a", kNow + seconds(9));
    ASSERT_FALSE(again) << token;
    EXPECT_NE(again.error().hint.find("was made before 'c1' was revoked"), std::string::npos) << again.error().hint;
  }
  EXPECT_EQ(book.rows()[0].used.size(), 1u);
  EXPECT_TRUE(book.use("t1", of("c2"), "b", kNow)) << "another of its names";
  EXPECT_TRUE(book.use("login", of("c1", rpc::TokenRole::kLogin), "a", kNow)) << "a login host of that name is another";
  // As it is on the disk.
  TokenBook kept(book.state());
  EXPECT_FALSE(kept.use("t2", of("c1"), "a", kNow));
  ASSERT_TRUE(kept.add(asked("c1"), "t5", "key", kNow));
  EXPECT_TRUE(kept.use("t5", of("c1"), "a", kNow)) << "a new token is the administrator's word";
  // With a token those are out who joined by it: by its brothers they do not come back either.
  ASSERT_TRUE(book.use("t2", of("d1"), "a", kNow));
  EXPECT_EQ(revoked_by(book, {2, "", ""}, kNow), std::vector<std::string>{"node:d1"});
  EXPECT_FALSE(book.use("t4", of("d1"), "a", kNow));
  EXPECT_TRUE(book.use("t4", of("d2"), "a", kNow));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(book.revoke({0, "c1", ""}, kNow));
  EXPECT_EQ(book.state().tokens[0].barred, std::vector<std::string>{"c1"}) << "once is enough";
}

// slurmd -F: which of a token's names are left.
TEST(TokenBook, ForAFutureNodeNoNameIsGivenTwice) {
  TokenBook book;
  ASSERT_TRUE(book.add(asked("f[1-3]", 3), "t1", "key", kNow));
  ASSERT_TRUE(book.add(asked("f[2-4]", 9), "t2", "key", kNow));
  const auto names = [&](const char* token) { return book.names(token, rpc::TokenRole::kNode, kNow).value_or(std::vector<std::string>{}); };
  EXPECT_EQ(names("t1"), (std::vector<std::string>{"f1", "f2", "f3"}));
  EXPECT_EQ(book.names("t3", rpc::TokenRole::kNode, kNow).error().code, Errc::kAuthFailed);
  EXPECT_EQ(book.names("t1", rpc::TokenRole::kLogin, kNow).error().code, Errc::kAuthFailed);
  EXPECT_EQ(book.names("t1", rpc::TokenRole::kNode, kNow + seconds(3600)).error().code, Errc::kAuthFailed);
  ASSERT_TRUE(book.use("t1", of("f2"), "a", kNow));
  EXPECT_TRUE(book.names_of_nodes(kNow).is_given("f2")) << "by any token";
  EXPECT_FALSE(book.names_of_nodes(kNow).is_given("f1"));
  EXPECT_EQ(names("t2"), (std::vector<std::string>{"f2", "f3", "f4"})) << "the machine that was f2 may be f2 again";
  ASSERT_TRUE(book.revoke({0, "f2", ""}, kNow));
  EXPECT_FALSE(book.names_of_nodes(kNow).is_given("f2")) << "it is out, and a new token lets another machine be f2";
  EXPECT_EQ(names("t2"), (std::vector<std::string>{"f3", "f4"}));
  ASSERT_TRUE(book.use("t1", of("f1"), "a", kNow));
  ASSERT_TRUE(book.use("t1", of("f3"), "a", kNow));
  EXPECT_TRUE(names("t1").empty()) << "it is used up";
  ASSERT_TRUE(book.revoke({1, "", ""}, kNow));
  EXPECT_FALSE(book.names_of_nodes(kNow).is_given("f1"));
}

// What is left for who has the cluster key and no token.
TEST(TokenBook, NamesAreForTokensAsLongAsTheseLetSomebodyIn) {
  TokenBook book;
  ASSERT_TRUE(book.add(asked("f[1-2]", 2, 3600), "t1", "key", kNow));
  ASSERT_TRUE(book.add(asked("f2,f3", 1, 60), "t2", "key", kNow));
  ASSERT_TRUE(book.add(asked("l1", 1, 60, rpc::TokenRole::kLogin), "t3", "key", kNow));
  using Names = std::vector<std::string>;
  EXPECT_EQ(book.names_of_nodes(kNow).open, (Names{"f1", "f2", "f3"}));
  EXPECT_EQ(book.names_of_nodes(kNow).until, kNow + seconds(60));
  EXPECT_EQ(book.names_of_nodes(kNow + seconds(60)).open, (Names{"f1", "f2"})) << "t2 has expired";
  ASSERT_TRUE(book.use("t2", of("f3"), "a", kNow));
  EXPECT_EQ(book.names_of_nodes(kNow).open, (Names{"f1", "f2"})) << "t2 is used up";
  EXPECT_EQ(book.names_of_nodes(kNow).given, Names{"f3"});
  ASSERT_TRUE(book.revoke({0, "f1", ""}, kNow));
  EXPECT_EQ(book.names_of_nodes(kNow).open, Names{"f2"}) << "f1 is barred from it";
  ASSERT_TRUE(book.revoke({1, "", ""}, kNow));
  ASSERT_TRUE(book.revoke({0, "f3", ""}, kNow));
  EXPECT_EQ(book.names_of_nodes(kNow).open, Names{});
  EXPECT_EQ(book.names_of_nodes(kNow).given, Names{});
}

// A certificate that is issued behind a revocation is dated into the next second, and revoked in the same second as it was issued.
TEST(TokenBook, ASecondRevocationWithinASecondCounts) {
  TokenBook book;
  const Subject c1{SubjectKind::kNode, "c1"};
  ASSERT_TRUE(book.revoke({0, "c1", ""}, kNow));
  const Time second = book.issue_time(c1, kNow);
  ASSERT_TRUE(book.revoke({0, "c1", ""}, kNow));
  EXPECT_GE(book.state().revoked.at(0).issued_until, second);
  EXPECT_GT(book.issue_time(c1, kNow), second);
  ASSERT_TRUE(book.revoke({0, "c1", ""}, kNow + seconds(100)));
  EXPECT_EQ(book.state().revoked.at(0).issued_until, kNow + seconds(100));
}

// As long as a certificate of it can be good.
TEST(TokenBook, ARevocationIsKeptUntilNoCertificateOfItIsLeft) {
  TokenBook book;
  ASSERT_TRUE(book.revoke({0, "n1", ""}, kNow));
  book.forget(kNow + kCertificateLife);
  EXPECT_EQ(book.state().revoked.size(), 1u);
  book.forget(kNow + kCertificateLife + minutes(61));
  EXPECT_EQ(book.state().revoked.size(), 0u);
}

}  // namespace
}  // namespace muster::slurmctld
