#include "store/digest.h"

#include <openssl/evp.h>

#include "base/check.h"
#include "store/event_log.h"

namespace muster::store {
namespace {

constexpr size_t kBytes = 32;

// Fetched once: OpenSSL 3 otherwise looks providers up on every EVP_sha256() use.
const EVP_MD* sha256() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  MUSTER_CHECK(md != nullptr);
  return md;
}

}  // namespace

Checksum::Checksum() : context_(EVP_MD_CTX_new()) { MUSTER_CHECK(context_ != nullptr); }
Checksum::~Checksum() { EVP_MD_CTX_free(context_); }

int64_t Checksum::operator()(std::initializer_list<uint64_t> numbers, std::string_view bytes) {
  bool ok = EVP_DigestInit_ex2(context_, sha256(), nullptr) == 1;
  for (uint64_t n : numbers) {
    unsigned char little[8];
    for (int i = 0; i < 8; ++i) little[i] = static_cast<unsigned char>(n >> (8 * i));
    ok = ok && EVP_DigestUpdate(context_, little, sizeof little) == 1;
  }
  unsigned char md[kBytes];
  ok = ok && EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1;
  ok = ok && EVP_DigestFinal_ex(context_, md, nullptr) == 1;
  MUSTER_CHECK(ok);
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i) v |= static_cast<uint64_t>(md[i]) << (8 * i);
  return static_cast<int64_t>(v);
}

BlobHash blob_hash(std::string_view bytes) {
  unsigned char md[kBytes];
  MUSTER_CHECK(EVP_Digest(bytes.data(), bytes.size(), md, nullptr, sha256(), nullptr) == 1);
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * kBytes);
  for (unsigned char b : md) {
    out += kHex[b >> 4];
    out += kHex[b & 15];
  }
  return out;
}

}  // namespace muster::store
