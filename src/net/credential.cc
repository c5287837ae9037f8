#include "net/credential.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include "net/munged.h"

namespace muster::net {
namespace {

constexpr size_t kMacSize = 32;
constexpr size_t kMinKey = 16;
constexpr char kLabel[] = "muster/1 step credential";
constexpr char kDigestKey[] = "muster/1 credential digest";   // no secret: munge protects what is made with it
constexpr char kSigned = 'S', kMunged = 'M';
constexpr size_t kMungeHead = 3;   // kMunged, u16 length of munge's credential

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

Result<std::string> verify_by_key(const Security& security, std::string_view text) {
  if (text[0] != kSigned || text.size() < 1 + kMacSize) return fail(Errc::kAuthFailed, "the credential is not signed");
  const std::string_view mac = text.substr(1, kMacSize), content = text.substr(1 + kMacSize);
  MUSTER_TRY(expected, mac_of(security.key, content));
  bool good = same_in_constant_time(mac, expected);
  for (const std::string& other : security.other_keys) {
    if (good) break;
    MUSTER_TRY(by_other, mac_of(other, content));
    good = same_in_constant_time(mac, by_other);
  }
  if (!good) return fail(Errc::kAuthFailed, "the credential is signed by another key, or was altered");
  return std::string(content);
}

Result<std::string> sign_by_munge(const Security& security, std::string_view content) {
  MUSTER_TRY(munged, Munged::open(security));
  MUSTER_TRY(digest, mac_of(kDigestKey, content));
  MUSTER_TRY(word, munged.encode(digest));
  if (word.size() > 0xffff) return fail(Errc::kAuthFailed, "munge: a credential of " + std::to_string(word.size()) + " bytes");
  const char head[kMungeHead] = {kMunged, static_cast<char>(word.size() & 0xff), static_cast<char>(word.size() >> 8)};
  return std::string(head, kMungeHead).append(word).append(content);
}

Result<std::string> verify_by_munge(const Security& security, std::string_view text) {
  if (text[0] != kMunged || text.size() < kMungeHead) return fail(Errc::kAuthFailed, "the credential is not of this cluster's AuthType");
  const size_t size = static_cast<uint8_t>(text[1]) | static_cast<size_t>(static_cast<uint8_t>(text[2])) << 8;
  if (text.size() < kMungeHead + size) return fail(Errc::kAuthFailed, "the credential is cut short");
  const std::string_view content = text.substr(kMungeHead + size);
  MUSTER_TRY(munged, Munged::open(security));
  MUSTER_TRY(word, munged.decode(text.substr(kMungeHead, size)));
  MUSTER_TRY_VOID(munged.must_be_daemon(word.uid));
  MUSTER_TRY(digest, mac_of(kDigestKey, content));
  if (!same_in_constant_time(word.payload, digest)) return fail(Errc::kAuthFailed, "the credential was altered");
  return std::string(content);
}

}  // namespace

Result<std::string> sign_credential(const Security& security, std::string_view content) {
  if (security.kind == Security::Kind::kMunge) return sign_by_munge(security, content);
  MUSTER_TRY(mac, mac_of(security.key, content));
  return std::string(1, kSigned).append(mac).append(content);
}

Result<std::string> verify_credential(const Security& security, std::string_view text) {
  if (text.empty()) return fail(Errc::kAuthFailed, "the credential is empty");
  return security.kind == Security::Kind::kMunge ? verify_by_munge(security, text) : verify_by_key(security, text);
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
