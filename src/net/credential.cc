#include "net/credential.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace muster::net {
namespace {

constexpr size_t kMacSize = 32;
constexpr size_t kMinKey = 16;
constexpr char kLabel[] = "muster/1 step credential";
constexpr char kSigned = 'S', kUnsigned = 'U';

struct Crypto {
  decltype(&::HMAC) hmac = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
};

const Crypto* crypto() {
  static const Crypto table = [] {
    Crypto c;
    if (void* lib = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL)) {
      c.hmac = reinterpret_cast<decltype(&::HMAC)>(dlsym(lib, "HMAC"));
      c.sha256 = reinterpret_cast<decltype(&::EVP_sha256)>(dlsym(lib, "EVP_sha256"));
    }
    return c;
  }();
  return table.hmac && table.sha256 ? &table : nullptr;
}

Result<std::string> mac_of(const std::string& key, std::string_view content) {
  if (key.size() < kMinKey)
    return fail(Errc::kInvalidArgument, "the cluster key has " + std::to_string(key.size()) +
                                            " bytes; at least " + std::to_string(kMinKey) + " are needed");
  const Crypto* c = crypto();
  if (!c) return fail(Errc::kUnsupported, "libcrypto.so.3 is needed to sign credentials");
  std::string data(kLabel, sizeof kLabel);  // with its zero, so that label and content cannot run together
  data.append(content);
  std::string mac(kMacSize, '\0');
  unsigned size = 0;
  if (!c->hmac(c->sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(data.data()), data.size(),
               reinterpret_cast<unsigned char*>(mac.data()), &size) ||
      size != kMacSize)
    return fail(Errc::kUnsupported, "HMAC-SHA256 is not available in OpenSSL");
  return mac;
}

bool same_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

Result<std::string> sign_credential(const Security& security, std::string_view content) {
  if (security.kind == Security::Kind::kMunge) return std::string(1, kUnsigned).append(content);
  MUSTER_TRY(mac, mac_of(security.key, content));
  return std::string(1, kSigned).append(mac).append(content);
}

Result<VerifiedCredential> verify_credential(const Security& security, std::string_view text) {
  if (text.empty()) return fail(Errc::kAuthFailed, "the credential is empty");
  if (security.kind == Security::Kind::kMunge) {
    if (text[0] != kUnsigned)
      return fail(Errc::kAuthFailed, "the credential is not of this cluster's AuthType");
    return VerifiedCredential{std::string(text.substr(1)), false};
  }
  if (text[0] != kSigned || text.size() < 1 + kMacSize)
    return fail(Errc::kAuthFailed, "the credential is not signed");
  std::string_view mac = text.substr(1, kMacSize), content = text.substr(1 + kMacSize);
  MUSTER_TRY(expected, mac_of(security.key, content));
  bool good = same_in_constant_time(mac, expected);
  for (const std::string& other : security.other_keys) {
    if (good) break;
    MUSTER_TRY(by_other, mac_of(other, content));
    good = same_in_constant_time(mac, by_other);
  }
  if (!good) return fail(Errc::kAuthFailed, "the credential is signed by another key, or was altered");
  return VerifiedCredential{std::string(content), true};
}

Result<std::string> random_key(size_t bytes) {
  std::string raw(bytes, '\0'), out;
  if (getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size()))
    return fail("getrandom gave no bytes");
  for (char c : raw)
    for (int shift : {4, 0}) out += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return out;
}

}  // namespace muster::net
