// OpenSSL is reached through a table of functions filled with dlsym: commands that never speak TLS load nothing, daemons load it once.
// The types come from OpenSSL's headers, so a wrong signature does not compile.
#include "net/tls.h"

#include <dlfcn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <string.h>

#include <array>

namespace muster::net {
namespace {

// clang-format off
#define MUSTER_SSL_FUNCTIONS(X) \
  X(TLS_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl) X(SSL_CTX_set_options) X(SSL_CTX_set_ciphersuites) X(SSL_set_verify) \
  X(SSL_CTX_set_psk_use_session_callback) X(SSL_CTX_set_psk_find_session_callback) X(SSL_CTX_set_num_tickets) X(SSL_new) X(SSL_free) \
  X(SSL_set_bio) X(SSL_set_accept_state) X(SSL_set_connect_state) X(SSL_do_handshake) X(SSL_get_error) X(SSL_read_ex) \
  X(SSL_write_ex) X(SSL_session_reused) X(SSL_get_SSL_CTX) X(SSL_CTX_set_ex_data) X(SSL_CTX_get_ex_data) X(SSL_version) \
  X(SSL_SESSION_new) X(SSL_SESSION_free) X(SSL_SESSION_up_ref) X(SSL_SESSION_set1_master_key) X(SSL_SESSION_set_cipher) \
  X(SSL_SESSION_set_protocol_version) X(SSL_CIPHER_find)
#define MUSTER_CRYPTO_FUNCTIONS(X) \
  X(BIO_new) X(BIO_free) X(BIO_s_mem) X(BIO_write) X(BIO_ctrl) X(ERR_peek_error) X(ERR_clear_error) X(ERR_reason_error_string) \
  X(EVP_KDF_fetch) X(EVP_KDF_free) X(EVP_KDF_CTX_new) X(EVP_KDF_CTX_free) X(EVP_KDF_derive) X(OSSL_PARAM_construct_utf8_string) \
  X(OSSL_PARAM_construct_octet_string) X(OSSL_PARAM_construct_end) X(OPENSSL_cleanse)
// clang-format on

struct OpenSsl {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_SSL_FUNCTIONS(X)
  MUSTER_CRYPTO_FUNCTIONS(X)
#undef X
};

// The library is never closed, because OpenSSL's exit handlers stay registered.
Result<OpenSsl> load_openssl() {
  OpenSsl openssl;
  void* ssl = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  void* crypto = ssl ? dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!crypto) return fail(Errc::kUnsupported, "OpenSSL 3 is needed for connections with the cluster key", dlerror());
  bool all = true;
#define X(name) all = (openssl.name = reinterpret_cast<decltype(&::name)>(dlsym(ssl, #name))) && all;
  MUSTER_SSL_FUNCTIONS(X)
#undef X
#define X(name) all = (openssl.name = reinterpret_cast<decltype(&::name)>(dlsym(crypto, #name))) && all;
  MUSTER_CRYPTO_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "libssl.so.3 lacks functions that are needed");
  return openssl;
}

const Result<OpenSsl>& openssl() {
  static const Result<OpenSsl> table = load_openssl();
  return table;
}

constexpr size_t kMinKey = 16;
constexpr char kProtocol[] = "muster/1";                 // part of every derivation: versions that differ do not authenticate
constexpr unsigned char kCipherSuite[2] = {0x13, 0x01};  // TLS_AES_128_GCM_SHA256

using Secret = std::array<unsigned char, 32>;

struct Psk {
  std::string identity;  // "muster/1 " and 16 hexadecimal digits
  Secret secret{};
};

bool hkdf(const OpenSsl& openssl, const std::string& key, const std::string& label, Secret& out) {
  EVP_KDF* kdf = openssl.EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX* ctx = kdf ? openssl.EVP_KDF_CTX_new(kdf) : nullptr;
  char digest[] = "SHA256";
  std::string info = std::string(kProtocol) + " " + label;
  OSSL_PARAM params[] = {openssl.OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                         openssl.OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(key.data()), key.size()),
                         openssl.OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
                         openssl.OSSL_PARAM_construct_end()};
  bool ok = ctx && openssl.EVP_KDF_derive(ctx, out.data(), out.size(), params) == 1;
  if (ctx) openssl.EVP_KDF_CTX_free(ctx);
  if (kdf) openssl.EVP_KDF_free(kdf);
  return ok;
}

Result<Psk> derive(const OpenSsl& openssl, const std::string& key) {
  if (key.size() < kMinKey)
    return fail(Errc::kInvalidArgument,
                "the cluster key has " + std::to_string(key.size()) + " bytes; at least " + std::to_string(kMinKey) + " are needed");
  Psk p;
  Secret name;
  if (!hkdf(openssl, key, "tls13 external psk", p.secret) || !hkdf(openssl, key, "key name", name))
    return fail(Errc::kUnsupported, "HKDF-SHA256 is not available in OpenSSL");
  p.identity = std::string(kProtocol) + " ";
  for (size_t i = 0; i < 8; ++i)
    for (int shift : {4, 0}) p.identity += "0123456789abcdef"[name[i] >> shift & 15];
  return p;
}

constexpr char kOtherKey[] = "the peer has another cluster key, or none";

class Session final : public TlsSession {
 public:
  Session(const OpenSsl& o, SSL* ssl, bool is_server) : o_(o), ssl_(ssl), server_(is_server) {
    in_ = o_.BIO_new(o_.BIO_s_mem());
    out_ = o_.BIO_new(o_.BIO_s_mem());
    o_.BIO_ctrl(in_, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nullptr);  // empty means wait, not end
    o_.SSL_set_bio(ssl_, in_, out_);                              // owned by ssl_ from here on
    server_ ? o_.SSL_set_accept_state(ssl_) : o_.SSL_set_connect_state(ssl_);
    // A server that offers a certificate instead of the key is refused: there is no authority that could vouch for it.
    if (!server_) o_.SSL_set_verify(ssl_, SSL_VERIFY_PEER, nullptr);
  }
  ~Session() override { o_.SSL_free(ssl_); }

  Result<bool> handshake() override {
    o_.ERR_clear_error();
    int rc = o_.SSL_do_handshake(ssl_);
    if (rc == 1) {
      // The peer must have been authenticated by the key and by nothing else.
      if (o_.SSL_session_reused(ssl_) != 1 || o_.SSL_version(ssl_) != TLS1_3_VERSION) return fail(Errc::kAuthFailed, kOtherKey);
      return true;
    }
    if (o_.SSL_get_error(ssl_, rc) == SSL_ERROR_WANT_READ) return false;
    return std::unexpected(handshake_error());
  }

  void receive(std::string_view from_wire) override {
    // A memory BIO takes everything.
    if (!from_wire.empty()) o_.BIO_write(in_, from_wire.data(), static_cast<int>(from_wire.size()));
  }

  // OpenSSL gives out one record at a time; several are gathered, so that many small frames are parsed together.
  Result<size_t> read(std::span<char> plain) override {
    size_t filled = 0;
    while (filled < plain.size()) {
      o_.ERR_clear_error();
      size_t n = 0;
      if (o_.SSL_read_ex(ssl_, plain.data() + filled, plain.size() - filled, &n) == 1) {
        filled += n;
        continue;
      }
      int why = o_.SSL_get_error(ssl_, 0);
      if (why == SSL_ERROR_WANT_READ) break;
      if (filled > 0) break;  // reported again by the next call
      if (why == SSL_ERROR_ZERO_RETURN) return fail(Errc::kReceiveFailed, "the peer closed the connection");
      return fail(Errc::kReceiveFailed, "damaged TLS record" + reason());
    }
    return filled;
  }

  Result<> write(std::string_view plain) override {
    while (!plain.empty()) {
      o_.ERR_clear_error();
      size_t n = 0;
      if (o_.SSL_write_ex(ssl_, plain.data(), plain.size(), &n) != 1) return fail(Errc::kSendFailed, "TLS" + reason());
      plain.remove_prefix(n);
    }
    return {};
  }

  std::string_view pending() override {
    char* data = nullptr;
    long n = o_.BIO_ctrl(out_, BIO_CTRL_INFO, 0, &data);
    return n > 0 ? std::string_view(data, static_cast<size_t>(n)).substr(sent_) : std::string_view();
  }

  // A memory BIO moves its content when it is read from. Here the offset moves instead, and an emptied BIO starts over.
  void sent(size_t bytes) override {
    sent_ += bytes;
    if (!pending().empty()) return;
    o_.BIO_ctrl(out_, BIO_CTRL_RESET, 0, nullptr);
    sent_ = 0;
  }

 private:
  std::string reason() const {
    const char* s = o_.ERR_reason_error_string(o_.ERR_peek_error());
    return s ? std::string(": ") + s : std::string();
  }

  // The server sees an unknown identity as "no certificate to fall back on", and a wrong key as a binder that does not verify; the
  // client then gets an alert. To a person, all of these mean the same.
  Error handshake_error() const {
    unsigned long e = o_.ERR_peek_error();
    Error out(Errc::kAuthFailed, "the peer did not complete the TLS handshake", "TLS" + reason());
    if (ERR_GET_LIB(e) != ERR_LIB_SSL) return out;
    int r = ERR_GET_REASON(e);
    bool key = r == SSL_R_BINDER_DOES_NOT_VERIFY || r == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM || r == SSL_R_NO_SHARED_CIPHER ||
               r == SSL_R_CERTIFICATE_VERIFY_FAILED || r == SSL_R_BAD_PSK || r == SSL_R_NO_CERTIFICATE_SET ||
               r == SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS || r == SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE ||
               r == SSL_AD_REASON_OFFSET + SSL_AD_DECRYPT_ERROR || r == SSL_AD_REASON_OFFSET + SSL_AD_ILLEGAL_PARAMETER ||
               r == SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_PSK_IDENTITY;
    if (key) out.text = kOtherKey;
    return out;
  }

  const OpenSsl& o_;
  SSL* ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  bool server_;
  size_t sent_ = 0;
};

class Context final : public TlsContext {
 public:
  Context(const OpenSsl& o, std::vector<Psk> keys) : o_(o), keys_(std::move(keys)) {}
  ~Context() override {
    if (ctx_) o_.SSL_CTX_free(ctx_);
    for (Psk& p : keys_) o_.OPENSSL_cleanse(p.secret.data(), p.secret.size());
  }

  bool prepare() {
    ctx_ = o_.SSL_CTX_new(o_.TLS_method());
    if (!ctx_) return false;
    o_.SSL_CTX_ctrl(ctx_, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, nullptr);
    o_.SSL_CTX_ctrl(ctx_, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, nullptr);
    o_.SSL_CTX_ctrl(ctx_, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
    // Idle connections give their record buffers back: 34 KiB each for ten thousand nodes.
    o_.SSL_CTX_ctrl(ctx_, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
    o_.SSL_CTX_set_options(ctx_, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    o_.SSL_CTX_set_num_tickets(ctx_, 0);
    if (o_.SSL_CTX_set_ciphersuites(ctx_, "TLS_AES_128_GCM_SHA256") != 1) return false;
    if (o_.SSL_CTX_set_ex_data(ctx_, 0, this) != 1) return false;
    o_.SSL_CTX_set_psk_use_session_callback(ctx_, offer_key);
    o_.SSL_CTX_set_psk_find_session_callback(ctx_, find_key);
    return true;
  }

  std::unique_ptr<TlsSession> client() override { return std::make_unique<Session>(o_, o_.SSL_new(ctx_), false); }
  std::unique_ptr<TlsSession> server() override { return std::make_unique<Session>(o_, o_.SSL_new(ctx_), true); }

 private:
  // Callbacks come from C with the SSL only; the context's application data leads back to the object.
  static Context* of(SSL* ssl) {
    const OpenSsl& o = *openssl();
    return static_cast<Context*>(o.SSL_CTX_get_ex_data(o.SSL_get_SSL_CTX(ssl), 0));
  }

  SSL_SESSION* session_for(SSL* ssl, const Psk& p) const {
    SSL_SESSION* s = o_.SSL_SESSION_new();
    if (!s) return nullptr;
    const SSL_CIPHER* c = o_.SSL_CIPHER_find(ssl, kCipherSuite);
    if (c && o_.SSL_SESSION_set1_master_key(s, p.secret.data(), p.secret.size()) == 1 && o_.SSL_SESSION_set_cipher(s, c) == 1 &&
        o_.SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION) == 1)
      return s;
    o_.SSL_SESSION_free(s);
    return nullptr;
  }

  static int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* id_size, SSL_SESSION** session);
  static int find_key(SSL* ssl, const unsigned char* id, size_t id_size, SSL_SESSION** session);

  const OpenSsl& o_;
  std::vector<Psk> keys_;
  SSL_CTX* ctx_ = nullptr;
};

int Context::offer_key(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* id_size, SSL_SESSION** session) {
  Context* self = of(ssl);
  const Psk& p = self->keys_.front();
  *session = self->session_for(ssl, p);
  *id = reinterpret_cast<const unsigned char*>(p.identity.data());
  *id_size = p.identity.size();
  return *session ? 1 : 0;
}

// An unknown name gets no session: the handshake then fails, since there is no certificate to fall back on.
int Context::find_key(SSL* ssl, const unsigned char* id, size_t id_size, SSL_SESSION** session) {
  Context* self = of(ssl);
  std::string_view name(reinterpret_cast<const char*>(id), id_size);
  *session = nullptr;
  for (const Psk& p : self->keys_)
    if (p.identity == name) return (*session = self->session_for(ssl, p)) ? 1 : 0;
  return 1;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const std::vector<std::string>& keys) {
  const Result<OpenSsl>& o = openssl();
  if (!o) return std::unexpected(o.error());
  if (keys.empty()) return fail(Errc::kInvalidArgument, "no cluster key");
  std::vector<Psk> derived;
  for (const std::string& key : keys) {
    MUSTER_TRY(p, derive(*o, key));
    derived.push_back(std::move(p));
  }
  auto context = std::make_shared<Context>(*o, std::move(derived));
  if (!context->prepare()) return fail(Errc::kUnsupported, "TLS 1.3 with a pre-shared key is not available in OpenSSL");
  return context;
}

}  // namespace muster::net
