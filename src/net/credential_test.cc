#include "net/credential.h"

#include <gtest/gtest.h>

namespace muster::net {
namespace {

Security key(std::string k) {
  Security s;
  s.key = std::move(k);
  return s;
}

TEST(Credential, ComesBackAndEveryAlteredByteIsNoticed) {
  Security s = key("0123456789abcdef-one");
  auto text = sign_credential(s, "job 7 of uid 1000");
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

TEST(Credential, OtherKeysAreRefusedUnlessNamed) {
  auto text = sign_credential(key("0123456789abcdef-old"), "x");
  ASSERT_TRUE(text);
  Security s = key("0123456789abcdef-new");
  EXPECT_EQ(verify_credential(s, *text).error().code, Errc::kAuthFailed);
  s.other_keys.push_back("0123456789abcdef-old");
  EXPECT_TRUE(verify_credential(s, *text));
  EXPECT_FALSE(sign_credential(key("short"), "x"));
}

// ---- warrants
struct Warrant {
  Security cluster = key("0123456789abcdef-one");
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
  EXPECT_EQ(verify_warrant(key("0123456789abcdef-two"), w.warrant).error().code, Errc::kAuthFailed);
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
