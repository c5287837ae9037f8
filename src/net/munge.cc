#include "net/munge.h"

#include <dlfcn.h>
#include <errno.h>
#include <munge.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/check.h"

namespace muster::net {
namespace {

#define MUSTER_MUNGE_FUNCTIONS(X)                                                             \
  X(munge_encode)                                                                             \
  X(munge_decode) X(munge_strerror) X(munge_ctx_create) X(munge_ctx_destroy) X(munge_ctx_get) \
      X(munge_ctx_set) X(munge_ctx_strerror)

struct Libmunge {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_MUNGE_FUNCTIONS(X)
#undef X
};

Result<Libmunge> load_libmunge() {
  Libmunge m;
  void* lib = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!lib) return fail(Errc::kUnsupported, "libmunge is needed for AuthType=auth/munge", dlerror());
  bool all = true;
#define X(name) all = (m.name = reinterpret_cast<decltype(&::name)>(dlsym(lib, #name))) && all;
  MUSTER_MUNGE_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "libmunge.so.2 lacks functions that are needed");
  return m;
}

const Result<Libmunge>& libmunge() {
  static const Result<Libmunge> table = load_libmunge();
  return table;
}

constexpr size_t kNonce = 32;
constexpr size_t kMaxMessage = 16u << 10;  // a credential is about 200 bytes
constexpr char kVersion = 1;
constexpr size_t kHead = 12;  // magic 6, version 1, kind 1, u32 length

enum class Kind : char { kHello = 1, kProof = 2, kClaim = 3, kWelcome = 4, kRefusal = 5 };

struct Message {
  Kind kind;
  std::string_view body;
};

std::string encode(Kind kind, std::string_view body) {
  std::string out(kMungeMagic);
  out += kVersion;
  out += static_cast<char>(kind);
  for (int i = 0; i < 4; ++i) out += static_cast<char>(body.size() >> (8 * i) & 0xff);
  out += body;
  return out;
}

// The first message of `in`; nullopt while it is not whole.
Result<std::optional<Message>> decode(std::string_view in) {
  size_t known = std::min(in.size(), kMungeMagic.size());
  if (in.substr(0, known) != kMungeMagic.substr(0, known))
    return fail(Errc::kAuthFailed, "the peer does not speak AuthType=auth/munge");
  if (in.size() < kHead) return std::optional<Message>();
  if (in[6] != kVersion)
    return fail(Errc::kProtocolVersion, "the peer speaks another version of the munge handshake");
  size_t size = 0;
  for (size_t i = 0; i < 4; ++i) size |= static_cast<size_t>(static_cast<uint8_t>(in[8 + i])) << (8 * i);
  if (size > kMaxMessage) return fail(Errc::kAuthFailed, "a message of the munge handshake is too long");
  if (in.size() < kHead + size) return std::optional<Message>();
  return std::optional<Message>(Message{static_cast<Kind>(in[7]), in.substr(kHead, size)});
}

class Munged {
 public:
  explicit Munged(const Libmunge& lib, std::string socket) : lib_(lib), socket_(std::move(socket)) {}

  struct Identity {
    uid_t uid;
    gid_t gid;
  };

  Result<std::string> encode(const std::string& payload) const {
    MUSTER_TRY(ctx, context());
    char* credential = nullptr;
    munge_err_t e =
        lib_.munge_encode(&credential, ctx.get(), payload.data(), static_cast<int>(payload.size()));
    std::unique_ptr<char, decltype(&free)> owned(credential, &free);
    if (e != EMUNGE_SUCCESS) return std::unexpected(error(e, ctx.get()));
    return std::string(credential);
  }

  // The credential must be valid and say exactly `payload`.
  Result<Identity> decode(std::string_view credential, const std::string& payload) const {
    MUSTER_TRY(ctx, context());
    void* data = nullptr;
    int size = 0;
    Identity who{};
    munge_err_t e =
        lib_.munge_decode(std::string(credential).c_str(), ctx.get(), &data, &size, &who.uid, &who.gid);
    std::unique_ptr<void, decltype(&free)> owned(data, &free);
    if (e != EMUNGE_SUCCESS) return std::unexpected(error(e, ctx.get()));
    if (!data || std::string_view(static_cast<char*>(data), static_cast<size_t>(size)) != payload)
      return fail(Errc::kAuthFailed, "a munge credential of another connection was presented");
    return who;
  }

 private:
  using Context = std::unique_ptr<munge_ctx, decltype(Libmunge::munge_ctx_destroy)>;

  Result<Context> context() const {
    Context ctx(lib_.munge_ctx_create(), lib_.munge_ctx_destroy);
    if (!ctx) return fail(Errc::kAuthFailed, "munge context: out of memory");
    if (!socket_.empty() &&
        lib_.munge_ctx_set(ctx.get(), MUNGE_OPT_SOCKET, socket_.c_str()) != EMUNGE_SUCCESS)
      return fail(Errc::kAuthFailed, "munge socket " + socket_ + " cannot be used");
    char* path = nullptr;
    if (lib_.munge_ctx_get(ctx.get(), MUNGE_OPT_SOCKET, &path) == EMUNGE_SUCCESS && path)
      MUSTER_TRY_VOID(somebody_there(path));
    return ctx;
  }

  static Result<> somebody_there(const std::string& path) {
    MUSTER_TRY(address, unix_address(path));
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd && (connect(fd.get(), address.get(), address.size) == 0 || errno == EAGAIN)) return {};
    return fail(Errc::kAuthFailed, "munged does not answer on " + path + ": " + system_text(errno));
  }

  Error error(munge_err_t e, munge_ctx_t ctx) const {
    const char* detail = lib_.munge_ctx_strerror(ctx);
    return Error(Errc::kAuthFailed, std::string("munge: ") + (detail ? detail : lib_.munge_strerror(e)));
  }

  const Libmunge& lib_;
  std::string socket_;
};

std::string fresh_nonce() {
  std::string n(kNonce, '\0');
  MUSTER_CHECK(getrandom(n.data(), n.size(), 0) == static_cast<ssize_t>(n.size()));
  return n;
}

std::string covered(std::string_view who, std::string_view first, std::string_view second) {
  return std::string("muster munge 1 ").append(who).append(first).append(second);
}

// Collects bytes and hands over whole messages.
class Dialogue : public Handshake {
 public:
  Result<bool> advance(std::string_view in, std::string& out) final {
    buffer_ += in;
    begin(out);
    while (!done_) {
      Result<std::optional<Message>> m = decode(buffer_);
      if (!m) return give_up(m.error(), out);
      if (!*m) return false;
      size_t size = kHead + (*m)->body.size();
      if ((*m)->kind == Kind::kRefusal)
        return fail(Errc::kAuthFailed, "the peer refused: " + std::string((*m)->body.substr(0, 500)));
      Result<bool> step = receive(**m, out);
      if (!step) return give_up(step.error(), out);
      buffer_.erase(0, size);
      done_ = *step;
    }
    return true;
  }
  void complete(Established& e) final {
    e.peer.trust = Trust::kMungeUser;
    e.peer.uid = Uid(who_.uid);
    e.peer.gid = Gid(who_.gid);
    e.first_bytes = std::move(buffer_);
  }

 protected:
  virtual void begin(std::string&) {}
  virtual Result<bool> receive(const Message& m, std::string& out) = 0;
  static std::unexpected<Error> unexpected_message() {
    return fail(Errc::kAuthFailed, "a message out of turn in the munge handshake");
  }
  Munged::Identity who_{};

 private:
  std::unexpected<Error> give_up(const Error& e, std::string& out) {
    out += encode(Kind::kRefusal, e.message());
    return std::unexpected(e);
  }
  std::string buffer_;
  bool done_ = false;
};

class ClientDialogue final : public Dialogue {
 public:
  ClientDialogue(std::shared_ptr<const Munged> munged, std::vector<uint32_t> trusted)
      : munged_(std::move(munged)), trusted_(std::move(trusted)) {}

 private:
  void begin(std::string& out) override {
    if (!nonce_.empty()) return;
    nonce_ = fresh_nonce();
    out += encode(Kind::kHello, nonce_);
  }
  Result<bool> receive(const Message& m, std::string& out) override {
    if (m.kind == Kind::kWelcome && claimed_) return true;
    if (m.kind != Kind::kProof || claimed_ || m.body.size() <= kNonce) return unexpected_message();
    std::string server(m.body.substr(0, kNonce));
    MUSTER_TRY(who, munged_->decode(m.body.substr(kNonce), covered("server", nonce_, server)));
    if (who.uid != 0 && std::find(trusted_.begin(), trusted_.end(), who.uid) == trusted_.end())
      return fail(Errc::kAuthFailed,
                  "the daemon runs as uid " + std::to_string(who.uid) + ", which is not trusted");
    who_ = who;
    MUSTER_TRY(claim, munged_->encode(covered("client", server, nonce_)));
    out += encode(Kind::kClaim, claim);
    claimed_ = true;
    return false;
  }

  std::shared_ptr<const Munged> munged_;
  std::vector<uint32_t> trusted_;
  std::string nonce_;
  bool claimed_ = false;
};

class ServerDialogue final : public Dialogue {
 public:
  explicit ServerDialogue(std::shared_ptr<const Munged> munged) : munged_(std::move(munged)) {}

 private:
  Result<bool> receive(const Message& m, std::string& out) override {
    if (client_.empty()) {
      if (m.kind != Kind::kHello || m.body.size() != kNonce) return unexpected_message();
      client_ = m.body;
      nonce_ = fresh_nonce();
      MUSTER_TRY(proof, munged_->encode(covered("server", client_, nonce_)));
      out += encode(Kind::kProof, nonce_ + proof);
      return false;
    }
    if (m.kind != Kind::kClaim) return unexpected_message();
    MUSTER_TRY(who, munged_->decode(m.body, covered("client", nonce_, client_)));
    who_ = who;
    out += encode(Kind::kWelcome, {});
    return true;
  }

  std::shared_ptr<const Munged> munged_;
  std::string client_, nonce_;
};

class MungeProver final : public Prover {
 public:
  MungeProver(std::shared_ptr<const Munged> munged, std::vector<uint32_t> trusted)
      : munged_(std::move(munged)), trusted_(std::move(trusted)) {}
  std::unique_ptr<Handshake> client() override { return std::make_unique<ClientDialogue>(munged_, trusted_); }
  std::unique_ptr<Handshake> server() override { return std::make_unique<ServerDialogue>(munged_); }

 private:
  std::shared_ptr<const Munged> munged_;
  std::vector<uint32_t> trusted_;
};

}  // namespace

Result<std::shared_ptr<Prover>> make_munge_prover(const Security& security) {
  const Result<Libmunge>& lib = libmunge();
  if (!lib) return std::unexpected(lib.error());
  return std::make_shared<MungeProver>(std::make_shared<const Munged>(*lib, security.munge_socket),
                                       security.trusted_uids);
}

std::string munge_refusal(std::string_view reason) { return encode(Kind::kRefusal, reason); }

}  // namespace muster::net
