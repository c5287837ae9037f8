// What a host takes for its certificate, and whose word it believes.
#include "agent/membership.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "net/authority.h"
#include "net/credential.h"
#include "os/clock.h"
#include "os/files.h"
#include "wire/codec.h"

namespace muster::agent {
namespace {

struct Authority {
  std::string secret = net::new_private_key().value_or(""), key = net::public_key(secret).value_or("");
  Time now = from_unix(1800000000);
  rpc::CertificateIssued issue(const rpc::AskCertificate& asked, const Subject& subject) const {
    return {*net::issue_certificate(secret, subject, asked.public_key, now, now + minutes(60)), key, {}};
  }
};

TEST(Membership, ALoginHostWithTheKeyLearnsTheAuthorityWithItsCertificate) {
  const Authority ours, next;
  const Subject self{SubjectKind::kLogin, "l1"};
  Membership member(self);
  EXPECT_TRUE(member.due(ours.now)) << "nobody else says who issues one";
  auto asked = member.ask();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->role, rpc::TokenRole::kLogin);
  EXPECT_FALSE(member.take(ours.issue(*asked, {SubjectKind::kLogin, "l2"}), ours.now));
  EXPECT_EQ(member.identity()->authority, "") << "nothing of what is refused is kept";
  ASSERT_TRUE(member.take(ours.issue(*asked, self), ours.now));
  EXPECT_EQ(member.identity()->authority, ours.key);
  EXPECT_FALSE(member.due(ours.now));
  member.ask_anew();
  EXPECT_TRUE(member.due(ours.now));
  asked = member.ask();
  ASSERT_TRUE(member.take(next.issue(*asked, self), ours.now)) << "slurmctld has another authority, and the key has proved slurmctld";
  EXPECT_EQ(member.identity()->authority, next.key);
}

TEST(Membership, TakesItsOwnCertificateOfItsOwnAuthorityAndNoOther) {
  const Authority ours, other;
  const Subject self{SubjectKind::kNode, "n1"};
  Membership member(self);
  EXPECT_FALSE(member.due(ours.now)) << "nobody is known who issues one";
  ASSERT_TRUE(member.trust({ours.key, {}}));
  EXPECT_TRUE(member.due(ours.now));
  auto asked = member.ask();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->name, "n1");
  EXPECT_FALSE(member.take(other.issue(*asked, self), ours.now)) << "another authority";
  EXPECT_FALSE(member.take(ours.issue(*asked, {SubjectKind::kNode, "n2"}), ours.now));
  EXPECT_FALSE(member.take(ours.issue(*asked, {SubjectKind::kController, ""}), ours.now));
  rpc::AskCertificate others = *asked;
  others.public_key = net::public_key(net::new_private_key().value_or("")).value_or("");
  EXPECT_FALSE(member.take(ours.issue(others, self), ours.now)) << "for another key";
  EXPECT_FALSE(member.take({"", ours.key, {}}, ours.now));
  EXPECT_FALSE(member.identity()->has_certificate());
  ASSERT_TRUE(member.take(ours.issue(*asked, self), ours.now));
  EXPECT_TRUE(member.identity()->has_certificate());
  EXPECT_FALSE(member.due(ours.now + minutes(29)));
  EXPECT_TRUE(member.due(ours.now + minutes(30))) << "half its life is over";
}

TEST(Membership, KnowsWhoIsRevokedAndForgetsACertificateOfAnEarlierAuthority) {
  const Authority ours, next;
  const Subject self{SubjectKind::kNode, "n1"};
  Membership member(self);
  ASSERT_TRUE(member.trust({ours.key, {{"node:n2", ours.now}}}));
  auto asked = member.ask();
  ASSERT_TRUE(asked && member.take(ours.issue(*asked, self), ours.now));
  ASSERT_TRUE(member.trust({ours.key, {{"node:n2", ours.now}}}));
  net::Peer peer;
  peer.trust = net::Trust::kCertificate;
  peer.certified = {SubjectKind::kNode, "n2"};
  EXPECT_TRUE(member.refuses(peer));
  EXPECT_TRUE(member.identity()->refuses(peer.certified, unix_seconds(ours.now)));
  EXPECT_FALSE(member.identity()->refuses(peer.certified, unix_seconds(ours.now) + 1));
  peer.certified.name = "n3";
  EXPECT_FALSE(member.refuses(peer));
  EXPECT_EQ(member.trust({"short", {}}).error().code, Errc::kAuthFailed);
  ASSERT_TRUE(member.trust({next.key, {}}));
  EXPECT_FALSE(member.identity()->has_certificate());
  EXPECT_TRUE(member.due(ours.now));
}

TEST(Membership, RemembersWhoSignsOverARestart) {
  char name[] = "/tmp/muster-member-XXXXXX";
  const std::string folder = ::mkdtemp(name), path = folder + "/authority";
  const Authority ours;
  {
    Membership member({SubjectKind::kNode, "n1"});
    ASSERT_TRUE(member.keep_authority(path));
    ASSERT_TRUE(member.trust({ours.key, {}}));
  }
  Membership again({SubjectKind::kNode, "n1"});
  ASSERT_TRUE(again.keep_authority(path));
  EXPECT_EQ(again.identity()->authority, ours.key);
  std::filesystem::remove_all(folder);
}

// What membership.cc keeps of a certificate.
struct Kept {
  std::string authority, certificate, private_key, token_name;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "authority", self.authority);
    field(2, "certificate", self.certificate);
    field(3, "private_key", self.private_key);
    field(4, "token_name", self.token_name);
  }
};

// slurmd -F: which node this is says its first certificate, and after a restart the kept one.
TEST(Membership, AMachineIsTheNodeThatItsFirstCertificateSaysForGood) {
  char name[] = "/tmp/muster-member-XXXXXX";
  const std::string folder = ::mkdtemp(name), path = folder + "/token";
  const Authority ours;
  const std::string key = net::new_private_key().value_or("");
  const auto keep = [&](const Subject& subject) {
    const Time now = os::wall_now();
    const auto certificate = net::issue_certificate(ours.secret, subject, net::public_key(key).value_or(""), now, now + minutes(60));
    ASSERT_TRUE(os::write_file_atomic(path + ".credential", wire::encoded(Kept{ours.key, *certificate, key, "t"}), 0600));
  };
  rpc::JoinNode machine;
  machine.as = rpc::JoinAs::kFuture;
  machine.name = "a";
  const auto join = [&](const Subject& subject, std::optional<rpc::JoinNode> future) {
    return Membership::join(
        path, subject, {}, [](const std::string&) {}, std::move(future));
  };
  keep({SubjectKind::kNode, "f2"});
  const auto member = join({SubjectKind::kNode, ""}, machine);
  ASSERT_TRUE(member) << member.error().message();
  EXPECT_EQ((*member)->subject(), (Subject{SubjectKind::kNode, "f2"}));
  const auto asked = (*member)->ask();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->name, "f2");
  EXPECT_FALSE(asked->future) << "a renewal is of f2";
  const auto renewed = [&](const Subject& subject) {
    const Time now = os::wall_now();
    return rpc::CertificateIssued{*net::issue_certificate(ours.secret, subject, asked->public_key, now, now + minutes(60)), ours.key, {}};
  };
  EXPECT_FALSE((*member)->take(renewed({SubjectKind::kNode, "f1"}), os::wall_now())) << "another node";
  EXPECT_TRUE((*member)->take(renewed({SubjectKind::kNode, "f2"}), os::wall_now()));
  for (const Subject& other : {Subject{SubjectKind::kController, ""}, Subject{SubjectKind::kLogin, "f2"}}) {
    keep(other);
    EXPECT_FALSE(join({SubjectKind::kNode, ""}, machine)) << other.text();
  }
  EXPECT_EQ(join({SubjectKind::kNode, ""}, std::nullopt).error().code, Errc::kInvalidNodeName);
  std::filesystem::remove_all(folder);
}

TEST(Membership, ATokensFileIsReadWithCare) {
  char name[] = "/tmp/muster-member-XXXXXX";
  const std::string folder = ::mkdtemp(name), path = folder + "/token";
  const auto join = [&](const Subject& subject) { return Membership::join(path, subject, {}, [](const std::string&) {}); };
  EXPECT_FALSE(join({SubjectKind::kNode, "n1"})) << "there is none";
  ASSERT_TRUE(os::write_file_atomic(path, "muster1-nonsense\n", 0600));
  EXPECT_EQ(join({SubjectKind::kNode, "n1"}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(join({SubjectKind::kNode, "n 1"}).error().code, Errc::kInvalidNodeName);
  ASSERT_TRUE(os::write_file_atomic(path, net::token_text(*net::new_token(Authority().key)), 0644));
  EXPECT_EQ(join({SubjectKind::kNode, "n1"}).error().code, Errc::kAccessDenied) << "others can read it";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(join({SubjectKind::kNode, "n1"}).error().code, Errc::kAccessDenied) << "anybody could plant a certificate there";
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  if (::geteuid() == 0) {
    const auto word = [&](const Subject& subject) { return std::string(join(subject).error().message()); };
    ASSERT_EQ(::chown(path.c_str(), 4242, 4242), 0);
    EXPECT_NE(word({SubjectKind::kNode, "n1"}).find("belongs to uid 4242; the token"), std::string::npos);
    ASSERT_EQ(::rename(path.c_str(), (path + ".credential").c_str()), 0);
    EXPECT_NE(word({SubjectKind::kNode, "n1"}).find("belongs to uid 4242; the certificate's key"), std::string::npos);
    ASSERT_EQ(::rename((path + ".credential").c_str(), path.c_str()), 0);
    // The folder of a login host is SlurmUser's, and nobody else's is good in it.
    ASSERT_EQ(::chown(folder.c_str(), 4242, 4242), 0);
    EXPECT_NE(word({SubjectKind::kNode, "n1"}).find("belongs to uid 4242"), std::string::npos);
    ASSERT_EQ(::chown(path.c_str(), 4243, 4243), 0);
    EXPECT_NE(word({SubjectKind::kLogin, "l1"}).find("belongs to uid 4243"), std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::agent
