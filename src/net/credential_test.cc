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

TEST(RandomKey, Differs) {
  auto a = random_key(), b = random_key();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->size(), 32u);
  EXPECT_NE(*a, *b);
}

}  // namespace
}  // namespace muster::net
