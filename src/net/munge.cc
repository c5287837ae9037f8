#include "net/munge.h"

#include <sys/random.h>

#include <algorithm>

#include "base/check.h"
#include "net/munged.h"

namespace muster::net {
namespace {

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

// The first message of `in`; nullopt while it is not complete.
Result<std::optional<Message>> decode(std::string_view in) {
  size_t known = std::min(in.size(), kMungeMagic.size());
  if (in.substr(0, known) != kMungeMagic.substr(0, known)) return fail(Errc::kAuthFailed, "the peer does not speak AuthType=auth/munge");
  if (in.size() < kHead) return std::optional<Message>();
  if (in[6] != kVersion) return fail(Errc::kProtocolVersion, "the peer speaks another version of the munge handshake");
  size_t size = 0;
  for (size_t i = 0; i < 4; ++i) size |= static_cast<size_t>(static_cast<uint8_t>(in[8 + i])) << (8 * i);
  if (size > kMaxMessage) return fail(Errc::kAuthFailed, "a message of the munge handshake is too long");
  if (in.size() < kHead + size) return std::optional<Message>();
  return std::optional<Message>(Message{static_cast<Kind>(in[7]), in.substr(kHead, size)});
}

std::string fresh_nonce() {
  std::string n(kNonce, '\0');
  MUSTER_CHECK(getrandom(n.data(), n.size(), 0) == static_cast<ssize_t>(n.size()));
  return n;
}

std::string covered(std::string_view who, std::string_view first, std::string_view second) {
  return std::string("muster munge 1 ").append(who).append(first).append(second);
}

// Who made a credential over exactly `words`, just now.
Result<MungeWord> fresh(const Munged& munged, std::string_view credential, const std::string& words) {
  MUSTER_TRY(word, munged.decode(credential));
  if (!word.fresh) return fail(Errc::kAuthFailed, "munge: the credential is old or was used before");
  if (word.payload != words) return fail(Errc::kAuthFailed, "a munge credential of another connection was presented");
  return word;
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
      if ((*m)->kind == Kind::kRefusal) return fail(Errc::kAuthFailed, "the peer refused: " + std::string((*m)->body.substr(0, 500)));
      Result<bool> step = receive(**m, out);
      if (!step) return give_up(step.error(), out);
      buffer_.erase(0, size);
      done_ = *step;
    }
    return true;
  }
  void complete(Established& e) final {
    e.peer.trust = Trust::kMungeUser;
    e.peer.uid = who_.uid;
    e.peer.gid = who_.gid;
    e.first_bytes = std::move(buffer_);
  }

 protected:
  virtual void begin(std::string&) {}
  virtual Result<bool> receive(const Message& m, std::string& out) = 0;
  static std::unexpected<Error> unexpected_message() { return fail(Errc::kAuthFailed, "a message out of turn in the munge handshake"); }
  MungeWord who_;

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
  explicit ClientDialogue(std::shared_ptr<const Munged> munged) : munged_(std::move(munged)) {}

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
    MUSTER_TRY(who, fresh(*munged_, m.body.substr(kNonce), covered("server", nonce_, server)));
    MUSTER_TRY_VOID(munged_->must_be_daemon(who.uid));
    who_ = std::move(who);
    MUSTER_TRY(claim, munged_->encode(covered("client", server, nonce_)));
    out += encode(Kind::kClaim, claim);
    claimed_ = true;
    return false;
  }

  std::shared_ptr<const Munged> munged_;
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
    MUSTER_TRY(who, fresh(*munged_, m.body, covered("client", nonce_, client_)));
    who_ = std::move(who);
    out += encode(Kind::kWelcome, {});
    return true;
  }

  std::shared_ptr<const Munged> munged_;
  std::string client_, nonce_;
};

class MungeProver final : public Prover {
 public:
  explicit MungeProver(std::shared_ptr<const Munged> munged) : munged_(std::move(munged)) {}
  std::unique_ptr<Handshake> client() override { return std::make_unique<ClientDialogue>(munged_); }
  std::unique_ptr<Handshake> server() override { return std::make_unique<ServerDialogue>(munged_); }

 private:
  std::shared_ptr<const Munged> munged_;
};

}  // namespace

Result<std::shared_ptr<Prover>> make_munge_prover(const Security& security) {
  MUSTER_TRY(munged, Munged::open(security));
  return std::make_shared<MungeProver>(std::make_shared<const Munged>(std::move(munged)));
}

std::string munge_refusal(std::string_view reason) { return encode(Kind::kRefusal, reason); }

}  // namespace muster::net
