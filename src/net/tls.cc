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

#include "net/x509.h"

namespace muster::net {
namespace {

// clang-format off
#define MUSTER_SSL_FUNCTIONS(X) \
  X(TLS_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl) X(SSL_CTX_set_options) X(SSL_CTX_set_ciphersuites) X(SSL_set_verify) \
  X(SSL_CTX_set_psk_use_session_callback) X(SSL_CTX_set_psk_find_session_callback) X(SSL_CTX_set_num_tickets) X(SSL_new) X(SSL_free) \
  X(SSL_set_bio) X(SSL_set_accept_state) X(SSL_set_connect_state) X(SSL_do_handshake) X(SSL_get_error) X(SSL_read_ex) \
  X(SSL_write_ex) X(SSL_session_reused) X(SSL_get_SSL_CTX) X(SSL_CTX_set_ex_data) X(SSL_CTX_get_ex_data) X(SSL_version) \
  X(SSL_SESSION_new) X(SSL_SESSION_free) X(SSL_SESSION_up_ref) X(SSL_SESSION_set1_master_key) X(SSL_SESSION_set_cipher) \
  X(SSL_SESSION_set_protocol_version) X(SSL_CIPHER_find) X(SSL_set_session_id_context) X(SSL_use_certificate) \
  X(SSL_use_PrivateKey) X(SSL_ctrl) X(SSL_set_verify_depth) X(SSL_get1_peer_certificate) X(SSL_get_verify_result) X(SSL_set_ex_data) \
  X(SSL_get_ex_data)
#define MUSTER_CRYPTO_FUNCTIONS(X) \
  X(BIO_new) X(BIO_free) X(BIO_s_mem) X(BIO_write) X(BIO_ctrl) X(ERR_peek_error) X(ERR_clear_error) X(ERR_reason_error_string) \
  X(EVP_KDF_fetch) X(EVP_KDF_free) X(EVP_KDF_CTX_new) X(EVP_KDF_CTX_free) X(EVP_KDF_derive) X(OSSL_PARAM_construct_utf8_string) \
  X(OSSL_PARAM_construct_octet_string) X(OSSL_PARAM_construct_end) X(OPENSSL_cleanse) X(X509_verify_cert_error_string)
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

// The identity as OpenSSL takes it.
struct Shown {
  x509::Certificate certificate;
  x509::Key key;
  x509::Store believed;
};

Result<Shown> to_show(const Identity& identity) {
  Shown out;
  MUSTER_TRY(certificate, x509::parse(identity.certificate));
  MUSTER_TRY(key, x509::private_key(identity.private_key));
  MUSTER_TRY(believed, x509::store_of(identity.authority));
  out.certificate = std::move(certificate);
  out.key = std::move(key);
  out.believed = std::move(believed);
  return out;
}

class Session final : public TlsSession {
 public:
  // `shown`: null, by certificate nobody is proved here. `expected`: of a client.
  Session(const OpenSsl& o, SSL* ssl, bool is_server, const Shown* shown, std::shared_ptr<const Identity> identity, std::string expected)
      : o_(o), ssl_(ssl), server_(is_server), identity_(std::move(identity)), expected_(std::move(expected)), by_certificate_(shown) {
    in_ = o_.BIO_new(o_.BIO_s_mem());
    out_ = o_.BIO_new(o_.BIO_s_mem());
    o_.BIO_ctrl(in_, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nullptr);  // empty means wait, not end
    o_.SSL_set_bio(ssl_, in_, out_);                              // owned by ssl_ from here on
    server_ ? o_.SSL_set_accept_state(ssl_) : o_.SSL_set_connect_state(ssl_);
    o_.SSL_set_ex_data(ssl_, 0, this);
    // A server that verifies peers has to name the context of its sessions, and a pre-shared key is one.
    if (server_) o_.SSL_set_session_id_context(ssl_, reinterpret_cast<const unsigned char*>(kProtocol), sizeof kProtocol - 1);
    if (shown) show(*shown);
    // Where nobody is believed by certificate, a server that offers one instead of the key is refused: there is no authority in the store.
    if (!server_ || shown) o_.SSL_set_verify(ssl_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  ~Session() override { o_.SSL_free(ssl_); }

  Result<bool> handshake() override {
    o_.ERR_clear_error();
    int rc = o_.SSL_do_handshake(ssl_);
    if (rc == 1) {
      if (o_.SSL_version(ssl_) != TLS1_3_VERSION) return fail(Errc::kAuthFailed, kOtherKey);
      // The peer must have been authenticated by a key that was offered and taken, else by a certificate, and by nothing else.
      if (o_.SSL_session_reused(ssl_) == 1) return take_key();
      MUSTER_TRY_VOID(take_certificate());
      return true;
    }
    if (o_.SSL_get_error(ssl_, rc) == SSL_ERROR_WANT_READ) return false;
    return std::unexpected(handshake_error());
  }

  const TlsProof& proof() const override { return proof_; }
  // Called from inside the handshake, with the name of a token's key.
  void token(std::string_view name) { token_ = name; }

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
  void show(const Shown& shown) {
    o_.SSL_use_certificate(ssl_, shown.certificate.get());
    o_.SSL_use_PrivateKey(ssl_, shown.key.get());
    o_.SSL_ctrl(ssl_, SSL_CTRL_SET_VERIFY_CERT_STORE, 1, shown.believed.get());
    o_.SSL_set_verify_depth(ssl_, 0);
  }

  Result<bool> take_key() {
    proof_.by = token_.empty() ? TlsProof::By::kKey : TlsProof::By::kToken;
    if (!token_.empty()) proof_.subject = {SubjectKind::kToken, token_};
    return true;
  }

  Result<> take_certificate() {
    const x509::Certificate shown(by_certificate_ ? o_.SSL_get1_peer_certificate(ssl_) : nullptr);
    if (!shown || o_.SSL_get_verify_result(ssl_) != X509_V_OK) return fail(Errc::kAuthFailed, kOtherKey);
    MUSTER_TRY(facts, x509::facts_of(shown.get()));
    const std::string who = facts.subject.text();
    if (!server_ && who != expected_) return fail(Errc::kAuthFailed, "the peer has the certificate of " + who + ", not of " + expected_);
    if (server_ && facts.subject.kind == SubjectKind::kController)
      return fail(Errc::kAuthFailed, "the peer has slurmctld's certificate, and slurmctld calls nobody with it");
    if (identity_->refuses(facts.subject, unix_seconds(facts.issued)))
      return fail(Errc::kAuthFailed, "the certificate of " + who + " was revoked");
    proof_ = {TlsProof::By::kCertificate, std::move(facts.subject), facts.expires, facts.has_key};
    return {};
  }

  std::string reason() const {
    const char* s = o_.ERR_reason_error_string(o_.ERR_peek_error());
    return s ? std::string(": ") + s : std::string();
  }

  // The server sees an unknown identity as "no certificate to fall back on", and a wrong key as a binder that does not verify; the
  // client then gets an alert. To a person, all of these mean the same.
  Error handshake_error() const {
    unsigned long code = o_.ERR_peek_error();
    Error out(Errc::kAuthFailed, "the peer did not complete the TLS handshake", "TLS" + reason());
    if (ERR_GET_LIB(code) != ERR_LIB_SSL) return out;
    int why = ERR_GET_REASON(code);
    if (why == SSL_R_CERTIFICATE_VERIFY_FAILED && by_certificate_) {
      out.text =
          std::string("the peer's certificate is not to be believed: ") + o_.X509_verify_cert_error_string(o_.SSL_get_verify_result(ssl_));
      return out;
    }
    if (why == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE || why == SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_REQUIRED) {
      out.text = "the peer has another cluster key, or none, and no certificate of this cluster";
      return out;
    }
    bool key = why == SSL_R_BINDER_DOES_NOT_VERIFY || why == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM || why == SSL_R_NO_SHARED_CIPHER ||
               why == SSL_R_CERTIFICATE_VERIFY_FAILED || why == SSL_R_BAD_PSK || why == SSL_R_NO_CERTIFICATE_SET ||
               why == SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS || why == SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE ||
               why == SSL_AD_REASON_OFFSET + SSL_AD_DECRYPT_ERROR || why == SSL_AD_REASON_OFFSET + SSL_AD_ILLEGAL_PARAMETER ||
               why == SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_PSK_IDENTITY || why == SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_CA ||
               why == SSL_AD_REASON_OFFSET + SSL_AD_BAD_CERTIFICATE;
    if (key) out.text = kOtherKey;
    return out;
  }

  const OpenSsl& o_;
  SSL* ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  bool server_;
  std::shared_ptr<const Identity> identity_;
  std::string expected_;
  bool by_certificate_;
  std::string token_;
  TlsProof proof_;
  size_t sent_ = 0;
};

class Context final : public TlsContext {
 public:
  Context(const OpenSsl& o, std::vector<Psk> keys, std::shared_ptr<const Identity> identity, std::string expected)
      : o_(o), keys_(std::move(keys)), identity_(std::move(identity)), expected_(std::move(expected)) {}
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

  // A client that knows of nobody to expect shows no certificate either.
  std::unique_ptr<TlsSession> client() override {
    return std::make_unique<Session>(o_, o_.SSL_new(ctx_), false, expected_.empty() ? nullptr : shown(), identity_, expected_);
  }
  std::unique_ptr<TlsSession> server() override {
    return std::make_unique<Session>(o_, o_.SSL_new(ctx_), true, shown(), identity_, std::string());
  }

 private:
  // Callbacks come from C with the SSL only; the context's application data leads back to the object.
  static Context* of(SSL* ssl) {
    const OpenSsl& o = *openssl();
    return static_cast<Context*>(o.SSL_CTX_get_ex_data(o.SSL_get_SSL_CTX(ssl), 0));
  }

  // Made anew when the identity has changed; null while it has no certificate.
  const Shown* shown() {
    if (!identity_ || !identity_->has_certificate()) return nullptr;
    if (!shown_ || shown_of_ != identity_->changes) {
      auto made = to_show(*identity_);
      shown_ = made ? std::make_unique<Shown>(std::move(*made)) : nullptr;
      shown_of_ = identity_->changes;
    }
    return shown_.get();
  }

  SSL_SESSION* session_for(SSL* ssl, const Secret& secret) const {
    SSL_SESSION* s = o_.SSL_SESSION_new();
    if (!s) return nullptr;
    const SSL_CIPHER* c = o_.SSL_CIPHER_find(ssl, kCipherSuite);
    if (c && o_.SSL_SESSION_set1_master_key(s, secret.data(), secret.size()) == 1 && o_.SSL_SESSION_set_cipher(s, c) == 1 &&
        o_.SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION) == 1)
      return s;
    o_.SSL_SESSION_free(s);
    return nullptr;
  }

  static int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* id_size, SSL_SESSION** session);
  static int find_key(SSL* ssl, const unsigned char* id, size_t id_size, SSL_SESSION** session);

  const OpenSsl& o_;
  std::vector<Psk> keys_;
  std::shared_ptr<const Identity> identity_;
  std::string expected_;
  std::unique_ptr<Shown> shown_;
  uint64_t shown_of_ = 0;
  SSL_CTX* ctx_ = nullptr;
};

Session* session_of(SSL* ssl) { return static_cast<Session*>(openssl()->SSL_get_ex_data(ssl, 0)); }

bool secret_of(std::string_view key, Secret& out) {
  if (key.size() != out.size()) return false;
  memcpy(out.data(), key.data(), out.size());
  return true;
}

// Without a key there is nothing to offer: the certificate has to do.
int Context::offer_key(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* id_size, SSL_SESSION** session) {
  Context* self = of(ssl);
  *session = nullptr;
  *id = nullptr;
  *id_size = 0;
  Secret secret;
  const std::string* name = nullptr;
  if (!self->keys_.empty()) {
    secret = self->keys_.front().secret;
    name = &self->keys_.front().identity;
  } else if (self->identity_ && secret_of(self->identity_->token_key, secret)) {
    name = &self->identity_->token_name;
    session_of(ssl)->token(*name);
  }
  if (!name) return 1;
  *session = self->session_for(ssl, secret);
  *id = reinterpret_cast<const unsigned char*>(name->data());
  *id_size = name->size();
  return *session ? 1 : 0;
}

// An unknown name gets no session: the handshake then takes certificates, or fails.
int Context::find_key(SSL* ssl, const unsigned char* id, size_t id_size, SSL_SESSION** session) {
  Context* self = of(ssl);
  std::string_view name(reinterpret_cast<const char*>(id), id_size);
  *session = nullptr;
  for (const Psk& p : self->keys_)
    if (p.identity == name) return (*session = self->session_for(ssl, p.secret)) ? 1 : 0;
  if (!self->identity_) return 1;
  const auto token = self->identity_->tokens.find(std::string(name));
  Secret secret;
  if (token == self->identity_->tokens.end() || !secret_of(token->second, secret)) return 1;
  session_of(ssl)->token(name);
  return (*session = self->session_for(ssl, secret)) ? 1 : 0;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const std::vector<std::string>& keys, std::shared_ptr<const Identity> identity,
                                                     std::string expected) {
  const Result<OpenSsl>& o = openssl();
  if (!o) return std::unexpected(o.error());
  if (keys.empty() && !identity) return fail(Errc::kInvalidArgument, "no cluster key");
  std::vector<Psk> derived;
  for (const std::string& key : keys) {
    MUSTER_TRY(p, derive(*o, key));
    derived.push_back(std::move(p));
  }
  auto context = std::make_shared<Context>(*o, std::move(derived), std::move(identity), std::move(expected));
  if (!context->prepare()) return fail(Errc::kUnsupported, "TLS 1.3 with a pre-shared key is not available in OpenSSL");
  return context;
}

}  // namespace muster::net
