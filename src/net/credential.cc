#include "net/credential.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <memory>

#include "net/identity.h"
#include "net/munged.h"

namespace muster::net {
namespace {

constexpr size_t kMacSize = 32;
constexpr size_t kMinKey = 16;
constexpr char kLabel[] = "muster/1 step credential", kWarrantLabel[] = "muster/1 step warrant",
               kByWarrantLabel[] = "muster/1 credential by warrant";
constexpr size_t kKeySize = 32, kSignatureSize = 64;
constexpr char kByWarrant = 'W';
constexpr size_t kByWarrantHead = 1 + 4 + kSignatureSize;    // kByWarrant, u32 length of the warrant, signature; then warrant and content
constexpr char kDigestKey[] = "muster/1 credential digest";  // no secret: munge protects what is made with it
constexpr char kMunged = 'M', kByAuthority = 'A';
constexpr size_t kMungeHead = 3;  // kMunged, u16 length of munge's credential

struct Crypto {
  decltype(&::HMAC) hmac = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
  decltype(&::EVP_Digest) digest = nullptr;
};

const Crypto* crypto() {
  static const Crypto table = [] {
    Crypto c;
    if (void* lib = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL)) {
      c.hmac = reinterpret_cast<decltype(&::HMAC)>(dlsym(lib, "HMAC"));
      c.sha256 = reinterpret_cast<decltype(&::EVP_sha256)>(dlsym(lib, "EVP_sha256"));
      c.digest = reinterpret_cast<decltype(&::EVP_Digest)>(dlsym(lib, "EVP_Digest"));
    }
    return c;
  }();
  return table.hmac && table.sha256 && table.digest ? &table : nullptr;
}

std::string labelled(std::string_view label, std::string_view content) {
  std::string data(label);
  data += '\0';  // label and content cannot run together
  return data.append(content);
}

Result<std::string> mac_of(const std::string& key, std::string_view label, std::string_view content) {
  if (key.size() < kMinKey)
    return fail(Errc::kInvalidArgument,
                "the cluster key has " + std::to_string(key.size()) + " bytes; at least " + std::to_string(kMinKey) + " are needed");
  const Crypto* functions = crypto();
  if (!functions) return fail(Errc::kUnsupported, "libcrypto.so.3 is needed to sign credentials");
  const std::string data = labelled(label, content);
  std::string mac(kMacSize, '\0');
  unsigned size = 0;
  if (!functions->hmac(functions->sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(data.data()),
                       data.size(), reinterpret_cast<unsigned char*>(mac.data()), &size) ||
      size != kMacSize)
    return fail(Errc::kUnsupported, "HMAC-SHA256 is not available in OpenSSL");
  return mac;
}

bool same_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

Result<std::string> sign_by_munge(const Security& security, std::string_view label, std::string_view content) {
  MUSTER_TRY(munged, Munged::open(security));
  MUSTER_TRY(digest, mac_of(kDigestKey, label, content));
  MUSTER_TRY(word, munged.encode(digest));
  if (word.size() > 0xffff) return fail(Errc::kAuthFailed, "munge: a credential of " + std::to_string(word.size()) + " bytes");
  const char head[kMungeHead] = {kMunged, static_cast<char>(word.size() & 0xff), static_cast<char>(word.size() >> 8)};
  return std::string(head, kMungeHead).append(word).append(content);
}

Result<std::string> verify_by_munge(const Security& security, std::string_view label, std::string_view text) {
  if (text[0] != kMunged || text.size() < kMungeHead) return fail(Errc::kAuthFailed, "the credential is not of this cluster's AuthType");
  const size_t size = static_cast<uint8_t>(text[1]) | static_cast<size_t>(static_cast<uint8_t>(text[2])) << 8;
  if (text.size() < kMungeHead + size) return fail(Errc::kAuthFailed, "the credential is cut short");
  const std::string_view content = text.substr(kMungeHead + size);
  MUSTER_TRY(munged, Munged::open(security));
  MUSTER_TRY(word, munged.decode(text.substr(kMungeHead, size)));
  MUSTER_TRY_VOID(munged.must_be_daemon(word.uid));
  MUSTER_TRY(digest, mac_of(kDigestKey, label, content));
  if (!same_in_constant_time(word.payload, digest)) return fail(Errc::kAuthFailed, "the credential was altered");
  return std::string(content);
}

}  // namespace

// ---- Ed25519
namespace {

struct Ed25519 {
  decltype(&::EVP_PKEY_new_raw_private_key) private_key = nullptr;
  decltype(&::EVP_PKEY_new_raw_public_key) public_key = nullptr;
  decltype(&::EVP_PKEY_get_raw_public_key) get_public_key = nullptr;
  decltype(&::EVP_PKEY_free) free_key = nullptr;
  decltype(&::EVP_MD_CTX_new) new_context = nullptr;
  decltype(&::EVP_MD_CTX_free) free_context = nullptr;
  decltype(&::EVP_DigestSignInit) begin_sign = nullptr;
  decltype(&::EVP_DigestSign) sign = nullptr;
  decltype(&::EVP_DigestVerifyInit) begin_verify = nullptr;
  decltype(&::EVP_DigestVerify) verify = nullptr;
  bool complete() const {
    return private_key && public_key && get_public_key && free_key && new_context && free_context && begin_sign && sign && begin_verify &&
           verify;
  }
};

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

Result<const Ed25519*> ed25519() {
  static const Ed25519 table = [] {
    Ed25519 functions;
    void* lib = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!lib) return functions;
    find(lib, "EVP_PKEY_new_raw_private_key", functions.private_key);
    find(lib, "EVP_PKEY_new_raw_public_key", functions.public_key);
    find(lib, "EVP_PKEY_get_raw_public_key", functions.get_public_key);
    find(lib, "EVP_PKEY_free", functions.free_key);
    find(lib, "EVP_MD_CTX_new", functions.new_context);
    find(lib, "EVP_MD_CTX_free", functions.free_context);
    find(lib, "EVP_DigestSignInit", functions.begin_sign);
    find(lib, "EVP_DigestSign", functions.sign);
    find(lib, "EVP_DigestVerifyInit", functions.begin_verify);
    find(lib, "EVP_DigestVerify", functions.verify);
    return functions;
  }();
  if (!table.complete()) return fail(Errc::kUnsupported, "libcrypto.so.3 is needed for signatures of step managers");
  return &table;
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)>;

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Result<Key> private_key_of(const Ed25519& c, std::string_view raw) {
  Key key(raw.size() == kKeySize ? c.private_key(EVP_PKEY_ED25519, nullptr, bytes(raw), raw.size()) : nullptr, c.free_key);
  if (!key) return fail(Errc::kInvalidArgument, "the key is no private key of Ed25519");
  return key;
}

Result<std::string> ed25519_sign(std::string_view private_key, std::string_view data) {
  MUSTER_TRY(functions, ed25519());
  MUSTER_TRY(key, private_key_of(*functions, private_key));
  Context context(functions->new_context(), functions->free_context);
  std::string signature(kSignatureSize, '\0');
  size_t size = signature.size();
  if (!context || functions->begin_sign(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      functions->sign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes(data), data.size()) != 1 ||
      size != kSignatureSize)
    return fail(Errc::kUnsupported, "Ed25519 is not available in OpenSSL");
  return signature;
}

Result<bool> ed25519_good(std::string_view public_key, std::string_view signature, std::string_view data) {
  MUSTER_TRY(c, ed25519());
  Key key(public_key.size() == kKeySize ? c->public_key(EVP_PKEY_ED25519, nullptr, bytes(public_key), public_key.size()) : nullptr,
          c->free_key);
  Context context(c->new_context(), c->free_context);
  return key && context && c->begin_verify(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         c->verify(context.get(), bytes(signature), signature.size(), bytes(data), data.size()) == 1;
}

Result<std::string> sign(const Security& security, std::string_view label, std::string_view content) {
  if (security.kind == Security::Kind::kMunge) return sign_by_munge(security, label, content);
  if (security.authority_secret.empty()) return fail(Errc::kInvalidArgument, "only slurmctld signs credentials");
  MUSTER_TRY(signature, ed25519_sign(security.authority_secret, labelled(label, content)));
  return std::string(1, kByAuthority).append(signature).append(content);
}

Result<std::string> verify(const Security& security, std::string_view label, std::string_view text) {
  if (text.empty()) return fail(Errc::kAuthFailed, "the credential is empty");
  if (security.kind == Security::Kind::kMunge) return verify_by_munge(security, label, text);
  if (text[0] != kByAuthority || text.size() < 1 + kSignatureSize) return fail(Errc::kAuthFailed, "the credential is not signed");
  if (!security.identity || security.identity->authority.empty())
    return fail(Errc::kAuthFailed, "who signs credentials is not known here before slurmctld has said so");
  const std::string_view content = text.substr(1 + kSignatureSize);
  MUSTER_TRY(good, ed25519_good(security.identity->authority, text.substr(1, kSignatureSize), labelled(label, content)));
  if (!good) return fail(Errc::kAuthFailed, "the credential is signed by another key, or was altered");
  return std::string(content);
}

}  // namespace

Result<std::string> sign_credential(const Security& security, std::string_view content) { return sign(security, kLabel, content); }
Result<std::string> verify_credential(const Security& security, std::string_view text) { return verify(security, kLabel, text); }
Result<std::string> sign_warrant(const Security& security, std::string_view content) { return sign(security, kWarrantLabel, content); }
Result<std::string> verify_warrant(const Security& security, std::string_view text) { return verify(security, kWarrantLabel, text); }

namespace {

std::string what_is_signed(std::string_view warrant, std::string_view content) {
  const auto size = static_cast<uint32_t>(warrant.size());
  std::string data(kByWarrantLabel, sizeof kByWarrantLabel);  // with its zero
  for (int shift : {0, 8, 16, 24}) data += static_cast<char>(size >> shift & 0xff);
  return data.append(warrant).append(content);
}

}  // namespace

Result<std::string> new_private_key() {
  std::string raw(kKeySize, '\0');
  if (getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size())) return fail("getrandom gave no bytes");
  return raw;
}

Result<std::string> public_key(std::string_view private_key) {
  MUSTER_TRY(c, ed25519());
  MUSTER_TRY(key, private_key_of(*c, private_key));
  std::string raw(kKeySize, '\0');
  size_t size = raw.size();
  if (c->get_public_key(key.get(), reinterpret_cast<unsigned char*>(raw.data()), &size) != 1 || size != kKeySize)
    return fail(Errc::kUnsupported, "Ed25519 is not available in OpenSSL");
  return raw;
}

Result<std::string> sign_by_warrant(std::string_view private_key, std::string_view warrant, std::string_view content) {
  MUSTER_TRY(signature, ed25519_sign(private_key, what_is_signed(warrant, content)));
  const auto length = static_cast<uint32_t>(warrant.size());
  std::string out(1, kByWarrant);
  for (int shift : {0, 8, 16, 24}) out += static_cast<char>(length >> shift & 0xff);
  return out.append(signature).append(warrant).append(content);
}

std::optional<ByWarrant> by_warrant(std::string_view text) {
  if (text.size() < kByWarrantHead || text[0] != kByWarrant) return std::nullopt;
  size_t length = 0;
  for (int i = 0; i < 4; ++i) length |= static_cast<size_t>(static_cast<uint8_t>(text[1 + i])) << 8 * i;
  if (length > text.size() - kByWarrantHead) return std::nullopt;
  return ByWarrant{text.substr(kByWarrantHead, length), text.substr(5, kSignatureSize), text.substr(kByWarrantHead + length)};
}

Result<> check_signature(const ByWarrant& credential, std::string_view public_key) {
  MUSTER_TRY(good, ed25519_good(public_key, credential.signature, what_is_signed(credential.warrant, credential.content)));
  if (!good) return fail(Errc::kAuthFailed, "the credential is not signed by the key of its warrant, or was altered");
  return {};
}

namespace {
std::string hexadecimal(std::string_view raw) {
  std::string out;
  for (char c : raw)
    for (int shift : {4, 0}) out += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return out;
}
}  // namespace

Result<std::string> content_hash(std::string_view content) {
  const Crypto* c = crypto();
  std::string raw(kMacSize, '\0');
  if (!c || c->digest(content.data(), content.size(), reinterpret_cast<unsigned char*>(raw.data()), nullptr, c->sha256(), nullptr) != 1)
    return fail(Errc::kUnsupported, "libcrypto.so.3 is needed for SHA-256");
  return hexadecimal(raw);
}

Result<std::string> random_key(size_t bytes) {
  std::string raw(bytes, '\0');
  if (getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size())) return fail("getrandom gave no bytes");
  return hexadecimal(raw);
}

}  // namespace muster::net
