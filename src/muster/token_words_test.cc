#include "muster/token_words.h"

#include <gtest/gtest.h>

namespace muster::front {
namespace {

Result<TokenWords> read(std::vector<std::string> words) { return read_token_words(words); }

TEST(TokenWords, CreateSaysForWhomHowLongAndHowOften) {
  auto words = read({"create", "--nodes", "c[1-64]", "--expires=12h", "--uses", "64"});
  ASSERT_TRUE(words) << words.error().message();
  const auto& create = std::get<rpc::CreateToken>(*words);
  EXPECT_EQ(create.hosts.text(), "c[1-64]");
  EXPECT_EQ(create.seconds, 12u * 3600);
  EXPECT_EQ(create.uses, 64u);
  EXPECT_EQ(create.role, rpc::TokenRole::kNode);
  const auto login = std::get<rpc::CreateToken>(*read({"create", "--logins=l1"}));
  EXPECT_EQ(login.role, rpc::TokenRole::kLogin);
  EXPECT_EQ(login.seconds, 3600u);
  EXPECT_EQ(login.uses, 1u);
}

TEST(TokenWords, RevokeNamesOneThing) {
  EXPECT_EQ(std::get<rpc::RevokeToken>(*read({"revoke", "7"})).token, 7u);
  EXPECT_EQ(std::get<rpc::RevokeToken>(*read({"revoke", "--node", "n1"})).node, "n1");
  EXPECT_EQ(std::get<rpc::RevokeToken>(*read({"revoke", "--login=l1"})).login, "l1");
  EXPECT_TRUE(std::get<TokenList>(*read({"list", "--json"})).json);
}

TEST(TokenWords, WhatIsWrongIsNamed) {
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "create, list or revoke"},
           {{"make"}, "'make' is none of"},
           {{"create"}, "who may join"},
           {{"create", "--nodes", "n1", "--logins", "l1"}, "one list of hosts"},
           {{"create", "--nodes", "n[1-"}, "--nodes 'n[1-'"},
           {{"create", "--nodes", "n1", "--uses", "many"}, "--uses 'many'"},
           {{"create", "--nodes"}, "--nodes takes a value"},
           {{"create", "--nodes", "n1", "--color"}, "--color takes a value"},
           {{"create", "--nodes", "n1", "--color=x"}, "unrecognized option '--color'"},
           {{"revoke"}, "the ID of a token"},
           {{"revoke", "1", "--node", "n1"}, "the ID of a token"},
           {{"revoke", "0"}, "a token has a number"},
           {{"list", "all"}, "unexpected word 'all'"}}) {
    auto read = read_token_words(words);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(std::string(read.error().message()).find(text), std::string::npos) << read.error().message();
  }
}

TEST(TokenWords, Lifetimes) {
  EXPECT_EQ(read_lifetime("90").value_or(0), 90u);
  EXPECT_EQ(read_lifetime("90s").value_or(0), 90u);
  EXPECT_EQ(read_lifetime("30m").value_or(0), 1800u);
  EXPECT_EQ(read_lifetime("31d").value_or(0), 31u * 86400);
  for (const char* bad : {"", "h", "0", "-1", "32d", "1w", "1h30", "99999999999d", "4294967295h"}) EXPECT_FALSE(read_lifetime(bad)) << bad;
}

TEST(TokenWords, AListIsOneLineATokenAndOneAUse) {
  rpc::TokenRow row;
  row.id = 3;
  row.hosts = NodeList("c[1-2]");
  row.uses = 2;
  row.expires = from_unix(1800000000);
  row.used.push_back({"c1", "10.0.0.1", from_unix(1799990000)});
  const std::string text = to_text({{row}}, from_unix(1799995000));
  EXPECT_NE(text.find("3     nodes  good     "), std::string::npos) << text;
  EXPECT_NE(text.find("1/2   c[1-2]\n      c1 joined from 10.0.0.1 at "), std::string::npos) << text;
  EXPECT_NE(to_text({{row}}, from_unix(1800000000)).find("expired"), std::string::npos);
  row.revoked = from_unix(1);
  EXPECT_NE(to_json({{row}}, from_unix(0)).find("\"revoked\""), std::string::npos);
}

}  // namespace
}  // namespace muster::front
