// The authority: whose certificates are believed, and over TCP who gets in with one, and as whom.
#include "net/authority.h"

#include <gtest/gtest.h>

#include "net/credential.h"
#include "net/identity.h"
#include "net/test_support.h"

namespace muster::net {
namespace {

using test::ask;
using test::connect_and_wait;
using test::Echo;
using test::Fixture;
using test::slurm_key;

const Subject kController{SubjectKind::kController, {}}, kN1{SubjectKind::kNode, "n1"}, kN2{SubjectKind::kNode, "n2"},
    kLogin{SubjectKind::kLogin, "l1"};

struct Cluster {
  std::string secret = new_private_key().value_or("");
  std::string authority = public_key(secret).value_or("");
  Time now = Loop::now();

  // `by`: who signs.
  Security member(const Subject& who, const std::string& by, Time issued, Time expires) const {
    Security s;
    s.identity = std::make_shared<Identity>();
    s.identity->authority = authority;
    s.identity->private_key = new_private_key().value_or("");
    auto certificate = issue_certificate(by, who, public_key(s.identity->private_key).value_or(""), issued, expires);
    EXPECT_TRUE(certificate) << certificate.error().message();
    s.identity->certificate = certificate.value_or("");
    ++s.identity->changes;
    return s;
  }
  Security member(const Subject& who) const { return member(who, secret, now, now + minutes(60)); }
};

// What a server says of a client, or why it does not get in.
struct Met {
  std::string server_saw, client_saw, error;
};
Met meet(const Security& server, const Security& client) {
  Fixture f;
  Echo echo(f);
  const uint16_t port = echo.listen(server);
  Met out;
  echo.tcp->on_refused([&](const std::string&, const Error& e) { out.server_saw = "refused: " + std::string(e.message()); });
  auto c = connect_and_wait(f, port, client);
  if (!c) {
    out.error = c.error().message();
    return out;
  }
  const std::string answer = ask(f, **c, "hello");
  if (answer != "hello") {
    out.error = answer;
    return out;
  }
  const auto seen = [](const Peer& peer) {
    return peer.trust == Trust::kClusterKey ? "key" : peer.trust == Trust::kToken ? "token" : peer.certified.text();
  };
  out.client_saw = seen((*c)->peer());
  out.server_saw = seen((*echo.channels.begin())->peer());
  return out;
}

TEST(Certificate, SaysWhoAndUntilWhenAndIsBelievedByItsAuthorityAlone) {
  const Cluster cluster, other;
  const std::string key = new_private_key().value_or(""), known_by = public_key(key).value_or("");
  for (const Subject& who : {kController, kN1, kLogin, Subject{SubjectKind::kNode, std::string(255, 'n')}}) {
    auto certificate = issue_certificate(cluster.secret, who, known_by, cluster.now, cluster.now + minutes(60));
    ASSERT_TRUE(certificate) << certificate.error().message();
    auto facts = verify_certificate(*certificate, cluster.authority, cluster.now);
    ASSERT_TRUE(facts) << facts.error().message();
    EXPECT_EQ(facts->subject, who);
    EXPECT_EQ(facts->public_key, known_by);
    EXPECT_EQ(unix_seconds(facts->issued), unix_seconds(cluster.now));
    EXPECT_FALSE(facts->has_key);
    auto with_key = issue_certificate(cluster.secret, who, known_by, cluster.now, cluster.now + minutes(60), true);
    ASSERT_TRUE(with_key);
    auto of_key = verify_certificate(*with_key, cluster.authority, cluster.now);
    ASSERT_TRUE(of_key) << of_key.error().message();
    EXPECT_EQ(of_key->subject, who);
    EXPECT_TRUE(of_key->has_key);
    EXPECT_EQ(unix_seconds(facts->expires), unix_seconds(cluster.now + minutes(60)));
    EXPECT_EQ(verify_certificate(*certificate, other.authority, cluster.now).error().code, Errc::kAuthFailed);
    EXPECT_EQ(verify_certificate(*certificate, cluster.authority, cluster.now + minutes(61)).error().code, Errc::kAuthFailed) << "expired";
    EXPECT_EQ(verify_certificate(*certificate, cluster.authority, cluster.now - minutes(11)).error().code, Errc::kAuthFailed) << "not yet";
  }
  for (const char* name : {"", "a b", "a key", "a,b", "a/b", "a\n"})
    EXPECT_FALSE(issue_certificate(cluster.secret, {SubjectKind::kNode, name}, known_by, cluster.now, cluster.now + minutes(60))) << name;
  EXPECT_FALSE(issue_certificate(cluster.secret, kN1, "short", cluster.now, cluster.now + minutes(60)));
  EXPECT_FALSE(issue_certificate(cluster.secret, {SubjectKind::kClusterKey, ""}, known_by, cluster.now, cluster.now + minutes(60)));
}

TEST(Certificate, NoAlteredByteIsBelieved) {
  const Cluster cluster;
  const Security s = cluster.member(kN1);
  for (size_t i = 0; i < s.identity->certificate.size(); ++i) {
    std::string bad = s.identity->certificate;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(verify_certificate(bad, cluster.authority, cluster.now)) << i;
    EXPECT_FALSE(verify_certificate(s.identity->certificate.substr(0, i), cluster.authority, cluster.now)) << i;
  }
}

TEST(Certificate, ANodesKeySignsNothingThatIsBelieved) {
  const Cluster cluster;
  const Security n1 = cluster.member(kN1);
  for (const Subject& who : {kController, kN2, kN1}) {
    const Security forged = cluster.member(who, n1.identity->private_key, cluster.now, cluster.now + minutes(60));
    EXPECT_EQ(verify_certificate(forged.identity->certificate, cluster.authority, cluster.now).error().code, Errc::kAuthFailed)
        << who.text();
    EXPECT_EQ(meet(cluster.member(kController), forged.expecting("controller")).client_saw, "") << who.text();
    EXPECT_EQ(meet(forged, cluster.member(kN2).expecting(who.text())).client_saw, "") << who.text();
  }
}

TEST(Certificates, BothEndsKnowWhoTheOtherIs) {
  const Cluster cluster;
  const Met met = meet(cluster.member(kController), cluster.member(kN1).expecting("controller"));
  EXPECT_EQ(met.error, "");
  EXPECT_EQ(met.server_saw, "node:n1");
  EXPECT_EQ(met.client_saw, "controller");
  EXPECT_EQ(meet(cluster.member(kN2), cluster.member(kN1).expecting("node:n2")).server_saw, "node:n1");
}

TEST(Certificates, ANodeCannotAnswerAsAnother) {
  const Cluster cluster;
  for (const char* whom : {"controller", "node:n3", "", "node:n", "login:n2"}) {
    const Met met = meet(cluster.member(kN2), cluster.member(kN1).expecting(whom));
    EXPECT_EQ(met.client_saw, "") << whom;
    EXPECT_NE(met.error, "") << whom;
  }
}

TEST(Certificates, NobodyGetsInWithNoneOrWithOneThatIsNotGood) {
  const Cluster cluster, other;
  const Security server = cluster.member(kController);
  const auto refused = [&](const Security& client) { return meet(server, client.expecting("controller")).client_saw.empty(); };
  EXPECT_TRUE(refused(other.member(kN1)));
  EXPECT_TRUE(refused(cluster.member(kN1, cluster.secret, cluster.now - minutes(120), cluster.now - minutes(1)))) << "expired";
  EXPECT_TRUE(refused(cluster.member(kController))) << "slurmctld calls nobody";
  Security none;
  none.identity = std::make_shared<Identity>();
  none.identity->authority = cluster.authority;
  EXPECT_TRUE(refused(none));
  EXPECT_TRUE(refused(slurm_key())) << "a key that the server does not have, and no certificate";
  Security stolen = cluster.member(kN1);  // the certificate of another, without its key
  stolen.identity->certificate = cluster.member(kN2).identity->certificate;
  EXPECT_TRUE(refused(stolen));
  EXPECT_FALSE(refused(cluster.member(kN1)));
}

TEST(Certificates, ARevokedOneIsRefusedAndALaterOneIsNot) {
  const Cluster cluster;
  const Security server = cluster.member(kController);
  const Security old = cluster.member(kN1, cluster.secret, cluster.now - seconds(10), cluster.now + minutes(60)).expecting("controller");
  EXPECT_EQ(meet(server, old).server_saw, "node:n1");
  server.identity->revoked["node:n1"] = unix_seconds(cluster.now);
  const Met met = meet(server, old);
  EXPECT_EQ(met.client_saw, "");
  EXPECT_NE(met.server_saw.find("the certificate of node:n1 was revoked"), std::string::npos) << met.server_saw;
  EXPECT_EQ(meet(server, cluster.member(kN2).expecting("controller")).server_saw, "node:n2");
  const Security anew = cluster.member(kN1, cluster.secret, cluster.now + seconds(1), cluster.now + minutes(60)).expecting("controller");
  EXPECT_EQ(meet(server, anew).server_saw, "node:n1");
  // A client refuses as well.
  const Security client = cluster.member(kN2);
  client.identity->revoked["node:n1"] = unix_seconds(cluster.now);
  EXPECT_EQ(meet(cluster.member(kN1), client.expecting("node:n1")).client_saw, "");
}

TEST(Certificates, GoBesideTheKey) {
  const Cluster cluster;
  Security controller = cluster.member(kController), keyed = cluster.member(kN1);
  controller.key = keyed.key = slurm_key().key;
  const Security by_token = cluster.member(kN2);
  EXPECT_EQ(meet(controller, slurm_key()).server_saw, "key") << "a host of before";
  EXPECT_EQ(meet(slurm_key(), keyed.expecting("controller")).server_saw, "key");
  EXPECT_EQ(meet(controller, keyed.expecting("controller")).server_saw, "key");
  EXPECT_EQ(meet(controller, by_token.expecting("controller")).server_saw, "node:n2");
  // Nodes with the key and without it reach each other.
  EXPECT_EQ(meet(by_token, keyed.expecting("node:n2")).server_saw, "node:n1");
  EXPECT_EQ(meet(keyed, by_token.expecting("node:n1")).server_saw, "node:n2");
  // The key of a client is worth nothing to a host that answers in another's place.
  EXPECT_EQ(meet(by_token, keyed.expecting("controller")).client_saw, "");
}

TEST(Certificates, WhatChangesCountsForTheNextHandshake) {
  const Cluster cluster;
  const Security server = slurm_key();
  Security late = server;
  late.identity = std::make_shared<Identity>();
  const Security client = cluster.member(kN1).expecting("node:n2");
  Fixture f;
  Echo echo(f);
  const uint16_t port = echo.listen(late);
  EXPECT_FALSE(connect_and_wait(f, port, client)) << "it has no certificate yet";
  *late.identity = *cluster.member(kN2).identity;
  EXPECT_TRUE(connect_and_wait(f, port, client));
}

// ---- tokens
TEST(Token, ComesBackFromItsText) {
  const Cluster cluster;
  auto token = new_token(cluster.authority);
  ASSERT_TRUE(token);
  const std::string text = token_text(*token);
  EXPECT_EQ(text.size(), 94u);
  auto back = parse_token(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->secret, token->secret);
  EXPECT_EQ(back->authority, cluster.authority);
  for (const std::string& bad : {std::string(), std::string("muster1-"), text.substr(1), text + "A", text.substr(0, 93), text + "\n",
                                 "muster1-" + std::string(86, '!'), "muster1-" + std::string(100000, 'A')})
    EXPECT_EQ(parse_token(bad).error().code, Errc::kInvalidArgument) << bad.substr(0, 100);
}

TEST(Token, ProvesItselfToWhoKnowsItAndIsNotTheClusterKey) {
  const Cluster cluster;
  const auto token = *new_token(cluster.authority), unknown = *new_token(cluster.authority);
  Security server = cluster.member(kController), client, stranger;
  server.key = slurm_key().key;
  const TokenProof proof = *token_proof(token.secret), no_proof = *token_proof(unknown.secret);
  server.identity->tokens[proof.name] = proof.key;
  client.identity = std::make_shared<Identity>();
  client.identity->token_name = proof.name;
  client.identity->token_key = proof.key;
  stranger.identity = std::make_shared<Identity>();
  stranger.identity->token_name = proof.name;  // the name is no secret
  stranger.identity->token_key = no_proof.key;
  EXPECT_EQ(meet(server, client).server_saw, "token");
  EXPECT_EQ(meet(server, client).client_saw, "token");
  EXPECT_EQ(meet(server, stranger).client_saw, "");
  EXPECT_EQ(meet(slurm_key(), client).client_saw, "") << "who does not know it cannot answer";
  EXPECT_EQ(meet(cluster.member(kN1), client).client_saw, "") << "a node does not either";
  EXPECT_EQ(proof.key.find(token.secret), std::string::npos);
}

}  // namespace
}  // namespace muster::net
