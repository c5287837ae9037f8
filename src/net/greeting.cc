#include "net/greeting.h"

#include <errno.h>
#include <sys/socket.h>

namespace muster::net {
namespace {

constexpr size_t kPiece = 4096;

}  // namespace

Greeting::Greeting(Loop& loop, UniqueFd fd, Peer peer, Done done) : loop_(loop), done_(std::move(done)) {
  e_.fd = std::move(fd);
  e_.peer = std::move(peer);
}

std::shared_ptr<Greeting> Greeting::client(Loop& loop, UniqueFd fd, Peer peer, std::unique_ptr<Handshake> h, Done done) {
  std::shared_ptr<Greeting> g(new Greeting(loop, std::move(fd), std::move(peer), std::move(done)));
  g->handshake_ = std::move(h);
  g->start();
  loop.defer([g] {
    if (g->watch_) g->receive({});
  });
  return g;
}

std::shared_ptr<Greeting> Greeting::server(Loop& loop, UniqueFd fd, Peer peer, Choose choose, Done done) {
  std::shared_ptr<Greeting> g(new Greeting(loop, std::move(fd), std::move(peer), std::move(done)));
  g->choose_ = std::move(choose);
  g->e_.accepted = true;
  g->start();
  return g;
}

void Greeting::start() {
  watch_ = loop_.watch(
      e_.fd.get(), [this] { readable(); },
      [this] {
        auto self = shared_from_this();
        if (!send_pending()) finish(fail(Errc::kReceiveFailed, "lost during the handshake"));
      });
}

void Greeting::readable() {
  auto self = shared_from_this();
  char buffer[kPiece];
  ssize_t n = recv(e_.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return finish(fail(Errc::kAuthFailed, "the peer closed the connection during the handshake"));
  std::string_view bytes(buffer, static_cast<size_t>(n));
  handshake_ ? receive(bytes) : open(bytes);
}

void Greeting::open(std::string_view bytes) {
  opening_ += bytes;
  Opening opening = classify_opening(opening_);
  if (opening == Opening::kNeedMore) return;
  watch_.reset();  // the code that takes the descriptor may watch it itself
  Result<std::unique_ptr<Handshake>> h = choose_(opening, e_.fd, opening_);
  if (!h) return finish(std::unexpected(h.error()));
  if (!*h) {
    done_ = nullptr;
    return;
  }
  handshake_ = std::move(*h);
  start();
  receive(std::exchange(opening_, {}));
}

void Greeting::receive(std::string_view bytes) {
  Result<bool> outcome = handshake_->advance(bytes, out_);
  bool sent = send_pending();
  if (!outcome) return finish(std::move(outcome));
  if (!sent) return finish(fail(Errc::kReceiveFailed, "lost during the handshake"));
  if (*outcome) finish(true);
}

// Returns false when the connection is gone. Bytes that the socket does not take now follow when it is writable.
bool Greeting::send_pending() {
  while (!out_.empty()) {
    ssize_t n = send(e_.fd.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) break;
    out_.erase(0, static_cast<size_t>(n));
  }
  watch_->want_write(!out_.empty());
  return true;
}

void Greeting::abandon(Error error) { finish(std::unexpected(std::move(error))); }

void Greeting::finish(Result<bool> outcome) {
  if (!done_) return;
  auto self = shared_from_this();
  watch_.reset();
  Done done = std::exchange(done_, nullptr);
  if (!outcome) {
    e_.fd.reset();
    return done(std::unexpected(outcome.error()));
  }
  handshake_->complete(e_);
  // Bytes of the handshake that the socket did not take would have to go out before the first frame. A handshake is a few hundred bytes
  // on a fresh connection, so none should be left; if some are, the connection is given up.
  if (!out_.empty()) return done(fail(Errc::kReceiveFailed, "the peer does not read"));
  done(std::move(e_));
}

}  // namespace muster::net
