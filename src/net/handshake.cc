#include "net/handshake.h"

#include <array>

#include "net/munge.h"

namespace muster::net {
namespace {

constexpr size_t kTlsHead = 5, kLongestHello = 4096;  // ours have 300 bytes, with keys of the newest kinds 1,600

class TlsHandshake final : public Handshake {
 public:
  TlsHandshake(std::shared_ptr<TlsContext> context, std::unique_ptr<TlsSession> session)
      : context_(std::move(context)), session_(std::move(session)) {}

  Result<bool> advance(std::string_view in, std::string& out) override {
    session_->receive(in);
    Result<bool> done = session_->handshake();
    std::string_view pending = session_->pending();
    out += pending;
    session_->sent(pending.size());
    return done;
  }
  void complete(Established& e) override {
    const TlsProof& proof = session_->proof();
    e.peer.trust = proof.by == TlsProof::By::kKey     ? Trust::kClusterKey
                   : proof.by == TlsProof::By::kToken ? Trust::kToken
                                                      : Trust::kCertificate;
    e.peer.certified = proof.subject;
    e.peer.expires = proof.expires;
    e.peer.has_key = proof.has_key;
    e.context = std::move(context_);
    e.tls = std::move(session_);
  }

 private:
  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<TlsSession> session_;
};

class TlsProver final : public Prover {
 public:
  explicit TlsProver(std::shared_ptr<TlsContext> context) : context_(std::move(context)) {}
  std::unique_ptr<Handshake> client() override { return std::make_unique<TlsHandshake>(context_, context_->client()); }
  std::unique_ptr<Handshake> server() override { return std::make_unique<TlsHandshake>(context_, context_->server()); }

 private:
  std::shared_ptr<TlsContext> context_;
};

}  // namespace

Result<std::shared_ptr<Prover>> make_prover(const Security& security) {
  if (security.kind == Security::Kind::kMunge) return make_munge_prover(security);
  std::vector<std::string> keys;
  if (!security.key.empty() || !security.identity) keys.push_back(security.key);
  keys.insert(keys.end(), security.other_keys.begin(), security.other_keys.end());
  MUSTER_TRY(context, make_tls_context(keys, security.identity, security.expected));
  return std::make_shared<TlsProver>(std::move(context));
}

// TLS: a handshake record (22) of version 3.x. HTTP: a method and a space.
Opening classify_opening(std::string_view first) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH "};
  if (first.empty()) return Opening::kNeedMore;
  auto agrees = [&](std::string_view want) {
    size_t n = std::min(first.size(), want.size());
    return first.substr(0, n) == want.substr(0, n);
  };
  if (agrees(std::string_view("\x16\x03", 2))) {
    // Until its first record is complete, a peer costs no more than the bytes it sent.
    if (first.size() < kTlsHead) return Opening::kNeedMore;
    const size_t length = static_cast<size_t>(static_cast<uint8_t>(first[3])) << 8 | static_cast<uint8_t>(first[4]);
    if (length > kLongestHello) return Opening::kUnknown;
    return first.size() < kTlsHead + length ? Opening::kNeedMore : Opening::kTls;
  }
  if (agrees(kMungeMagic)) return first.size() < kMungeMagic.size() ? Opening::kNeedMore : Opening::kMunge;
  for (std::string_view m : kMethods)
    if (agrees(m)) return first.size() < m.size() ? Opening::kNeedMore : Opening::kHttp;
  return Opening::kUnknown;
}

}  // namespace muster::net
