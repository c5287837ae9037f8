#include "net/credential.h"

#include <gtest/gtest.h>

#include "net/identity.h"

namespace muster::net {
namespace {

// slurmctld's, with an authority of its own.
Security authority() {
  Security s;
  s.key = std::string(32, 'k');
  s.authority_secret = new_private_key().value_or("");
  s.identity = std::make_shared<Identity>();
  s.identity->authority = public_key(s.authority_secret).value_or("");
  return s;
}
// A node's, which can check and not sign.
Security node_of(const Security& controller) {
  Security s = controller;
  s.authority_secret.clear();
  return s;
}

TEST(Credential, ComesBackAndEveryAlteredByteIsNoticed) {
  const Security controller = authority(), s = node_of(controller);
  auto text = sign_credential(controller, "job 7 of uid 1000");
  ASSERT_TRUE(text) << text.error().message();
  auto back = verify_credential(s, *text);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, "job 7 of uid 1000");
  for (size_t i = 0; i < text->size(); ++i) {
    std::string bad = *text;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(verify_credential(s, bad)) << i;
    EXPECT_FALSE(verify_credential(s, text->substr(0, i))) << i;
  }
}

TEST(Credential, ANodeWithTheClusterKeySignsNone) {
  const Security controller = authority(), node = node_of(controller);
  EXPECT_EQ(sign_credential(node, "job 7 of root").error().code, Errc::kInvalidArgument);
  // Whatever key it signs with, another node does not believe it.
  Security forger = node;
  forger.authority_secret = new_private_key().value_or("");
  auto forged = sign_credential(forger, "job 7 of root");
  ASSERT_TRUE(forged);
  EXPECT_EQ(verify_credential(node, *forged).error().code, Errc::kAuthFailed);
  Security stranger = node;
  stranger.identity = std::make_shared<Identity>();
  EXPECT_EQ(verify_credential(stranger, *sign_credential(controller, "x")).error().code, Errc::kAuthFailed) << "nobody is known to sign";
}

TEST(Credential, OneSignedWithTheClusterKeyIsNone) {
  // As credentials were before: an S, 32 bytes of HMAC, the content. Every node with the key could make them.
  EXPECT_EQ(verify_credential(node_of(authority()), "S" + std::string(32, 'x') + "job 7 of root").error().code, Errc::kAuthFailed);
}

// ---- warrants
struct Warrant {
  Security cluster = authority();
  std::string own = new_private_key().value_or(""), other = new_private_key().value_or("");
  std::string warrant = sign_warrant(cluster, "job 7").value_or("");
};

TEST(Warrant, IsNoCredentialAndACredentialIsNoWarrant) {
  Warrant w;
  ASSERT_FALSE(w.warrant.empty());
  EXPECT_EQ(verify_warrant(w.cluster, w.warrant).value_or(""), "job 7");
  EXPECT_EQ(verify_credential(w.cluster, w.warrant).error().code, Errc::kAuthFailed) << "its holder would be the controller";
  const std::string credential = sign_credential(w.cluster, "job 7").value_or("");
  EXPECT_EQ(verify_warrant(w.cluster, credential).error().code, Errc::kAuthFailed) << "every user has credentials";
  EXPECT_EQ(verify_warrant(authority(), w.warrant).error().code, Errc::kAuthFailed);
}

TEST(Warrant, WhatItsKeySignsComesBackAndEveryAlteredByteIsNoticed) {
  Warrant w;
  auto text = sign_by_warrant(w.own, w.warrant, "step 3");
  ASSERT_TRUE(text) << text.error().message();
  const std::string its_key = public_key(w.own).value_or("");
  auto good = [&](std::string_view of) {
    auto parts = by_warrant(of);
    return parts && verify_warrant(w.cluster, parts->warrant) && check_signature(*parts, its_key);
  };
  ASSERT_TRUE(good(*text));
  EXPECT_EQ(by_warrant(*text)->content, "step 3");
  for (size_t i = 0; i < text->size(); ++i) {
    std::string bad = *text;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(good(bad)) << i;
    EXPECT_FALSE(good(text->substr(0, i))) << i;
  }
  EXPECT_EQ(verify_credential(w.cluster, *text).error().code, Errc::kAuthFailed) << "it is not the controller's";
}

TEST(Warrant, AnotherKeyOrAnotherWarrantDoesNotGoWithTheSignature) {
  Warrant w;
  const std::string its_key = public_key(w.own).value_or("");
  auto by_other = sign_by_warrant(w.other, w.warrant, "step 3");
  ASSERT_TRUE(by_other);
  EXPECT_FALSE(check_signature(*by_warrant(*by_other), its_key));
  // What was signed for one job does not become another's by an exchange of the warrant.
  const std::string larger = sign_warrant(w.cluster, "job 8").value_or("");
  auto mine = sign_by_warrant(w.own, w.warrant, "step 3");
  ASSERT_TRUE(mine);
  ByWarrant exchanged = *by_warrant(*mine);
  exchanged.warrant = larger;
  EXPECT_FALSE(check_signature(exchanged, its_key));
  EXPECT_FALSE(check_signature(*by_warrant(*mine), "no key"));
  EXPECT_FALSE(sign_by_warrant("no key", w.warrant, "x"));
  EXPECT_FALSE(by_warrant("W"));
  EXPECT_FALSE(by_warrant(std::string("W\xff\xff\xff\xff") + std::string(64, 'x') + "short"));
}

TEST(RandomKey, Differs) {
  auto a = random_key(), b = random_key();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->size(), 32u);
  EXPECT_NE(*a, *b);
}

}  // namespace
}  // namespace muster::net
