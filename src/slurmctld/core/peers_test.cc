// Who may say what: each row of peers.def with each kind of peer, and each request with the row that it takes.
#include "slurmctld/core/peers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace muster::slurmctld {
namespace {

using enum SubjectKind;
constexpr SubjectKind kAll[] = {kUser, kAdministrator, kClusterKey, kController, kNode, kLogin, kToken};

TEST(Peers, EachRowWithEachKind) {
  const std::map<PeerRight, std::set<SubjectKind>> expected = {
      {PeerRight::kAsk, {kUser, kAdministrator, kClusterKey}},
      {PeerRight::kLook, {kUser, kAdministrator, kClusterKey, kNode, kLogin}},
      {PeerRight::kReport, {kAdministrator, kClusterKey, kNode}},
      {PeerRight::kFetchContent, {kAdministrator, kClusterKey, kNode}},
      {PeerRight::kPassOn, {kAdministrator, kClusterKey, kNode, kLogin}},
      {PeerRight::kConfiguration, {kUser, kAdministrator, kClusterKey, kNode, kLogin}},
      {PeerRight::kJoin, {kUser, kAdministrator, kClusterKey, kNode}},
      {PeerRight::kCertificate, {kAdministrator, kClusterKey, kNode, kLogin, kToken}},
  };
  ASSERT_EQ(peer_rows().size(), expected.size());
  for (const auto& [right, kinds] : expected)
    for (const SubjectKind kind : kAll)
      EXPECT_EQ(may(right, kind), kinds.contains(kind)) << peer_rows()[static_cast<size_t>(right)].name << " " << static_cast<int>(kind);
}

// Who holds the cluster key, and root, may say everything that a daemon says: as before there were certificates.
TEST(Peers, NothingIsTakenFromThoseWhoHaveTheKey) {
  for (const PeerRow& row : peer_rows())
    for (const SubjectKind kind : {kAdministrator, kClusterKey}) EXPECT_TRUE(row.kinds >> static_cast<unsigned>(kind) & 1u) << row.name;
}

TEST(Peers, WhatAHostWithACertificateMaySayInItsOwnName) {
  const std::set<std::string> daemons = {"Relay", "FetchContent", "AskerGone", "AskCertificate"};
  for (const CommandRow& row : command_rows()) {
    const bool query = row.kind == CommandKind::kQuery || std::string(row.name) == "Ping";
    const bool own = daemons.contains(row.name) || std::string(row.name).starts_with("FetchConfig") || std::string(row.name) == "JoinNode";
    EXPECT_EQ(may_say(row, {kNode, "n1"}).has_value(), query || own) << row.name;
    EXPECT_EQ(may_say(row, {kToken, "t"}).has_value(), std::string(row.name) == "AskCertificate") << row.name;
    EXPECT_FALSE(may_say(row, {kController, ""})) << row.name;
    EXPECT_EQ(may_say(row, {kUser, ""}).has_value(), row.kind != CommandKind::kDaemon) << row.name;
    EXPECT_TRUE(may_say(row, {kClusterKey, ""})) << row.name;
  }
  const Result<> no = may_say(*command_row(number_of<rpc::SubmitJob>), {kLogin, "l1"});
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().code, Errc::kAccessDenied);
  EXPECT_NE(no.error().hint.find("login:l1"), std::string::npos);
}

}  // namespace
}  // namespace muster::slurmctld
