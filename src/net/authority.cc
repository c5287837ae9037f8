#include "net/authority.h"

#include <dlfcn.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "net/x509.h"

namespace muster::net {
namespace {

// clang-format off
#define MUSTER_X509_FUNCTIONS(X) \
  X(X509_new) X(X509_free) X(X509_set_version) X(X509_get_serialNumber) X(X509_getm_notBefore) X(X509_getm_notAfter) \
  X(X509_get0_notBefore) X(X509_get0_notAfter) X(X509_set_pubkey) X(X509_get0_pubkey) X(X509_get_subject_name) X(X509_set_subject_name) \
  X(X509_set_issuer_name) X(X509_add_ext) X(X509_EXTENSION_free) X(X509V3_EXT_conf_nid) X(X509_sign) X(i2d_X509) X(d2i_X509) \
  X(X509_NAME_new) X(X509_NAME_free) X(X509_NAME_add_entry_by_NID) X(X509_NAME_entry_count) X(X509_NAME_get_entry) \
  X(X509_NAME_ENTRY_get_data) X(X509_NAME_ENTRY_get_object) X(OBJ_obj2nid) X(ASN1_STRING_get0_data) X(ASN1_STRING_length) \
  X(ASN1_INTEGER_set_uint64) X(ASN1_TIME_set) X(ASN1_TIME_set_string) X(ASN1_TIME_to_tm) X(X509_STORE_new) X(X509_STORE_free) \
  X(X509_STORE_add_cert) X(X509_STORE_CTX_new) X(X509_STORE_CTX_free) X(X509_STORE_CTX_init) X(X509_STORE_CTX_get_error) \
  X(X509_STORE_CTX_set_depth) X(X509_STORE_CTX_set_time) X(X509_verify_cert) X(X509_verify_cert_error_string) \
  X(EVP_PKEY_new_raw_private_key) X(EVP_PKEY_new_raw_public_key) X(EVP_PKEY_get_raw_public_key) X(EVP_PKEY_free) \
  X(EVP_KDF_fetch) X(EVP_KDF_free) X(EVP_KDF_CTX_new) X(EVP_KDF_CTX_free) X(EVP_KDF_derive) X(OSSL_PARAM_construct_utf8_string) \
  X(OSSL_PARAM_construct_octet_string) X(OSSL_PARAM_construct_end)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_X509_FUNCTIONS(X)
#undef X
};

Result<Functions> load() {
  Functions table;
  void* library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  bool all = library;
#define X(name) all = all && (table.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)));
  MUSTER_X509_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "libcrypto.so.3 is needed for certificates");
  return table;
}

const Result<Functions>& functions() {
  static const Result<Functions> table = load();
  return table;
}

constexpr size_t kKey = 32;
constexpr char kAuthorityName[] = "Muster authority";
constexpr size_t kLongest = 4096;  // a certificate of ours has 400 bytes

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
std::unexpected<Error> no_openssl(const char* what) { return fail(Errc::kUnsupported, std::string("OpenSSL: no ") + what); }

constexpr std::string_view kWithKey = " key";  // behind the subject of a host that has the cluster key; no name has a space

Result<std::string> random_bytes(size_t count) {
  std::string raw(count, '\0');
  if (getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size())) return fail("getrandom gave no bytes");
  return raw;
}

Result<x509::Key> public_key_of(const Functions& openssl, std::string_view raw) {
  x509::Key key(raw.size() == kKey ? openssl.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(raw), raw.size()) : nullptr);
  if (!key) return fail(Errc::kInvalidArgument, "the key is no public key of Ed25519");
  return key;
}

struct FreeName {
  void operator()(X509_NAME* n) const { functions()->X509_NAME_free(n); }
};
using Name = std::unique_ptr<X509_NAME, FreeName>;

// UTF8String as it is: OpenSSL's table of names would bound it to 64 characters.
Name name_of(const Functions& openssl, std::string_view text) {
  Name name(openssl.X509_NAME_new());
  if (name && openssl.X509_NAME_add_entry_by_NID(name.get(), NID_commonName, V_ASN1_UTF8STRING, bytes(text), static_cast<int>(text.size()),
                                                 -1, 0) != 1)
    name.reset();
  return name;
}

bool add_extension(const Functions& openssl, X509* certificate, int nid, const char* value) {
  X509_EXTENSION* extension = openssl.X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  const bool added = extension && openssl.X509_add_ext(certificate, extension, -1) == 1;
  if (extension) openssl.X509_EXTENSION_free(extension);
  return added;
}

// Not signed yet, and without its times. A certificate of a host is none of an authority: what it signs is worth nothing.
Result<x509::Certificate> make(const Functions& openssl, std::string_view subject, EVP_PKEY* holder, bool authority) {
  x509::Certificate made(openssl.X509_new());
  const Name name = name_of(openssl, subject), issuer = name_of(openssl, kAuthorityName);
  MUSTER_TRY(number, random_bytes(sizeof(uint64_t)));
  uint64_t serial = 0;
  memcpy(&serial, number.data(), sizeof serial);
  const bool good =
      made && name && issuer && openssl.X509_set_version(made.get(), 2) == 1 &&
      openssl.ASN1_INTEGER_set_uint64(openssl.X509_get_serialNumber(made.get()), (serial >> 1) + 1) == 1 &&
      openssl.X509_set_subject_name(made.get(), name.get()) == 1 && openssl.X509_set_issuer_name(made.get(), issuer.get()) == 1 &&
      openssl.X509_set_pubkey(made.get(), holder) == 1 &&
      add_extension(openssl, made.get(), NID_basic_constraints, authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  if (!good) return no_openssl("X.509");
  return made;
}

Result<> sign(const Functions& openssl, X509* certificate, EVP_PKEY* by) {
  if (openssl.X509_sign(certificate, by, nullptr) == 0) return no_openssl("Ed25519");
  return {};
}

Result<Time> time_of(const Functions& openssl, const ASN1_TIME* t) {
  tm parts{};
  if (!t || openssl.ASN1_TIME_to_tm(t, &parts) != 1) return fail(Errc::kInvalidArgument, "the certificate has a time that is none");
  return from_unix(static_cast<int64_t>(::timegm(&parts)));
}

Result<std::string> common_name(const Functions& openssl, X509* certificate) {
  X509_NAME* name = openssl.X509_get_subject_name(certificate);
  X509_NAME_ENTRY* entry = name && openssl.X509_NAME_entry_count(name) == 1 ? openssl.X509_NAME_get_entry(name, 0) : nullptr;
  if (!entry || openssl.OBJ_obj2nid(openssl.X509_NAME_ENTRY_get_object(entry)) != NID_commonName)
    return fail(Errc::kInvalidArgument, "the certificate has another kind of subject");
  const ASN1_STRING* text = openssl.X509_NAME_ENTRY_get_data(entry);
  return std::string(reinterpret_cast<const char*>(openssl.ASN1_STRING_get0_data(text)),
                     static_cast<size_t>(openssl.ASN1_STRING_length(text)));
}

Result<std::string> hkdf(const Functions& openssl, std::string_view secret, std::string info) {
  EVP_KDF* kdf = openssl.EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX* context = kdf ? openssl.EVP_KDF_CTX_new(kdf) : nullptr;
  char digest[] = "SHA256";
  std::string key(secret), out(kKey, '\0');
  OSSL_PARAM params[] = {openssl.OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                         openssl.OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
                         openssl.OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
                         openssl.OSSL_PARAM_construct_end()};
  const bool good = context && openssl.EVP_KDF_derive(context, reinterpret_cast<unsigned char*>(out.data()), out.size(), params) == 1;
  if (context) openssl.EVP_KDF_CTX_free(context);
  if (kdf) openssl.EVP_KDF_free(kdf);
  if (!good) return no_openssl("HKDF-SHA256");
  return out;
}

}  // namespace

namespace x509 {

void free_certificate(X509* certificate) { functions()->X509_free(certificate); }
void free_store(X509_STORE* s) { functions()->X509_STORE_free(s); }
void free_key(EVP_PKEY* k) { functions()->EVP_PKEY_free(k); }

Result<Certificate> parse(std::string_view der) {
  MUSTER_TRY(openssl, functions());
  const unsigned char* at = bytes(der);
  Certificate x(der.size() <= kLongest ? openssl.d2i_X509(nullptr, &at, static_cast<long>(der.size())) : nullptr);
  if (!x || at != bytes(der) + der.size()) return fail(Errc::kInvalidArgument, "this is no certificate");
  return x;
}

Result<Key> private_key(std::string_view raw) {
  MUSTER_TRY(openssl, functions());
  Key key(raw.size() == kKey ? openssl.EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes(raw), raw.size()) : nullptr);
  if (!key) return fail(Errc::kInvalidArgument, "the key is no private key of Ed25519");
  return key;
}

// The anchor is a certificate that we make ourselves: OpenSSL takes a name and a public key from it, and believes it because it is in the
// store. Its signature says nothing, so any key will do for that.
Result<Store> store_of(std::string_view authority) {
  MUSTER_TRY(openssl, functions());
  MUSTER_TRY(holder, public_key_of(openssl, authority));
  MUSTER_TRY(throwaway, random_bytes(kKey));
  MUSTER_TRY(by, private_key(throwaway));
  MUSTER_TRY(anchor, make(openssl, kAuthorityName, holder.get(), true));
  if (openssl.ASN1_TIME_set_string(openssl.X509_getm_notBefore(anchor.get()), "20000101000000Z") != 1 ||
      openssl.ASN1_TIME_set_string(openssl.X509_getm_notAfter(anchor.get()), "99991231235959Z") != 1)
    return no_openssl("X.509");
  MUSTER_TRY_VOID(sign(openssl, anchor.get(), by.get()));
  Store store(openssl.X509_STORE_new());
  if (!store || openssl.X509_STORE_add_cert(store.get(), anchor.get()) != 1) return no_openssl("X.509");
  return store;
}

Result<CertificateFacts> facts_of(X509* certificate) {
  MUSTER_TRY(openssl, functions());
  CertificateFacts out;
  MUSTER_TRY(text, common_name(openssl, certificate));
  out.has_key = text.ends_with(kWithKey);
  const auto subject = Subject::parse(std::string_view(text).substr(0, text.size() - (out.has_key ? kWithKey.size() : 0)));
  if (!subject) return fail(Errc::kInvalidArgument, "the certificate is of no host of a cluster");
  out.subject = *subject;
  MUSTER_TRY(from, time_of(openssl, openssl.X509_get0_notBefore(certificate)));
  MUSTER_TRY(until, time_of(openssl, openssl.X509_get0_notAfter(certificate)));
  out.issued = from + kClockSlack;
  out.expires = until;
  out.public_key.resize(kKey);
  size_t size = kKey;
  EVP_PKEY* key = openssl.X509_get0_pubkey(certificate);
  if (!key || openssl.EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(out.public_key.data()), &size) != 1 || size != kKey)
    return fail(Errc::kInvalidArgument, "the certificate has another kind of key");
  return out;
}

}  // namespace x509

Result<std::string> issue_certificate(std::string_view authority_secret, const Subject& subject, std::string_view public_key, Time issued,
                                      Time expires, bool has_key) {
  MUSTER_TRY(openssl, functions());
  const std::string text = subject.text();
  if (!Subject::parse(text)) return fail(Errc::kInvalidArgument, "'" + text + "' is nobody whom a certificate is for");
  MUSTER_TRY(by, x509::private_key(authority_secret));
  MUSTER_TRY(holder, public_key_of(openssl, public_key));
  MUSTER_TRY(made, make(openssl, has_key ? text + std::string(kWithKey) : text, holder.get(), false));
  if (!openssl.ASN1_TIME_set(openssl.X509_getm_notBefore(made.get()), unix_seconds(issued - kClockSlack)) ||
      !openssl.ASN1_TIME_set(openssl.X509_getm_notAfter(made.get()), unix_seconds(expires)))
    return no_openssl("X.509");
  MUSTER_TRY_VOID(sign(openssl, made.get(), by.get()));
  const int size = openssl.i2d_X509(made.get(), nullptr);
  if (size <= 0) return no_openssl("X.509");
  std::string der(static_cast<size_t>(size), '\0');
  auto* at = reinterpret_cast<unsigned char*>(der.data());
  openssl.i2d_X509(made.get(), &at);
  return der;
}

Result<CertificateFacts> read_certificate(std::string_view certificate) {
  MUSTER_TRY(x, x509::parse(certificate));
  return x509::facts_of(x.get());
}

Result<CertificateFacts> verify_certificate(std::string_view certificate, std::string_view authority, Time now) {
  MUSTER_TRY(openssl, functions());
  MUSTER_TRY(shown, x509::parse(certificate));
  MUSTER_TRY(store, x509::store_of(authority));
  X509_STORE_CTX* context = openssl.X509_STORE_CTX_new();
  bool good = context && openssl.X509_STORE_CTX_init(context, store.get(), shown.get(), nullptr) == 1;
  std::string why = "no X.509";
  if (good) {
    openssl.X509_STORE_CTX_set_depth(context, 0);
    openssl.X509_STORE_CTX_set_time(context, 0, static_cast<time_t>(unix_seconds(now)));
    good = openssl.X509_verify_cert(context) == 1;
    if (!good) why = openssl.X509_verify_cert_error_string(openssl.X509_STORE_CTX_get_error(context));
  }
  if (context) openssl.X509_STORE_CTX_free(context);
  if (!good) return fail(Errc::kAuthFailed, "the certificate is not to be believed: " + why);
  return x509::facts_of(shown.get());
}

// ---- tokens
namespace {

constexpr std::string_view kTokenHead = "muster1-";
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // RFC 4648, base64url

std::string to_text(std::string_view raw) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char c : raw) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  return out;
}

}  // namespace

Result<Token> new_token(std::string_view authority) {
  MUSTER_TRY(secret, random_bytes(kKey));
  return Token{std::move(secret), std::string(authority)};
}

std::string token_text(const Token& token) { return std::string(kTokenHead) + to_text(token.secret + token.authority); }

Result<Token> parse_token(std::string_view text) {
  const auto wrong = [] {
    return fail(Errc::kInvalidArgument, "this is no token: muster token create makes one, 94 characters that begin with muster1-");
  };
  if (!text.starts_with(kTokenHead)) return wrong();
  std::string raw;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text.substr(kTokenHead.size())) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos || raw.size() > 2 * kKey) return wrong();
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    raw += static_cast<char>(bits >> count & 0xff);
  }
  if (raw.size() != 2 * kKey) return wrong();
  return Token{raw.substr(0, kKey), raw.substr(kKey)};
}

Result<TokenProof> token_proof(std::string_view secret) {
  MUSTER_TRY(openssl, functions());
  TokenProof out;
  MUSTER_TRY(key, hkdf(openssl, secret, "muster/1 token psk"));
  MUSTER_TRY(name, hkdf(openssl, secret, "muster/1 token name"));
  out.key = std::move(key);
  out.name = "muster/1 token ";
  for (size_t i = 0; i < 12; ++i)
    for (int shift : {4, 0}) out.name += "0123456789abcdef"[static_cast<uint8_t>(name[i]) >> shift & 15];
  return out;
}

}  // namespace muster::net
