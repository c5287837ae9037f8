#include "net/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>

#include "net/handshake.h"

namespace muster::net {
namespace {

constexpr size_t kFirstBuffer = 16u << 10;
constexpr size_t kFullBuffer = 256u << 10;

int64_t monotonic_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

// Tools grep for the texts of these two errors; the hint says what happened.
std::unexpected<Error> send_failed(const std::string& why) { return fail(Errc::kSendFailed, "", why); }
std::unexpected<Error> receive_failed(const std::string& why) { return fail(Errc::kReceiveFailed, "", why); }

void set_send_timeout(int fd, Duration d) {
  timeval t{static_cast<time_t>(d.count() / 1000000), static_cast<suseconds_t>(d.count() % 1000000)};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

}  // namespace

Deadline Deadline::in(Duration d) {
  Deadline x;
  if (d.count() < INT64_MAX / 2) x.at_ = monotonic_us() + std::max<int64_t>(d.count(), 0);
  return x;
}

Duration Deadline::left() const {
  if (at_ == INT64_MAX) return kNoTimeout;
  return Duration(std::max<int64_t>(0, at_ - monotonic_us()));
}

int Deadline::poll_timeout() const {
  if (at_ == INT64_MAX) return -1;
  return static_cast<int>(std::min<int64_t>((left().count() + 999) / 1000, INT32_MAX));
}

Result<BlockingStream> BlockingStream::to_unix(const std::string& path, Duration timeout) {
  MUSTER_TRY(address, unix_address(path));
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail(Errc::kConnectFailed, "", system_text(errno));
  set_send_timeout(fd.get(), timeout);  // bounds connect() while the backlog is full
  if (connect(fd.get(), address.get(), address.size) != 0)
    return fail(errno == EAGAIN ? Errc::kTimedOut : Errc::kConnectFailed, "", system_text(errno));
  MUSTER_TRY(peer, unix_peer(fd.get()));
  BlockingStream stream(std::move(fd), std::move(peer));
  stream.local_ = true;
  return stream;
}

Result<BlockingStream> BlockingStream::to_tcp(const std::string& host, uint16_t port, const Security& security, Duration timeout) {
  MUSTER_TRY(addresses, resolve(host, port));
  Deadline until = Deadline::in(timeout);
  std::string why = "no address";
  for (size_t index = 0; index < addresses.size(); ++index) {
    const Address& address = addresses[index];
    UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    Deadline share = Deadline::in(until.left() / static_cast<int64_t>(addresses.size() - index));
    int error = 0;
    socklen_t length = sizeof error;
    if (!fd || (connect(fd.get(), address.get(), address.size) != 0 && errno != EINPROGRESS)) {
      why = system_text(errno);
      continue;
    }
    tune_tcp(fd.get());
    Peer peer;
    peer.address = address_text(address.storage);
    BlockingStream s(std::move(fd), std::move(peer));
    MUSTER_TRY(ready, s.wait(POLLOUT, share));
    getsockopt(s.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (!ready || error != 0) {
      why = ready ? system_text(error) : "no answer in time";
      continue;
    }
    MUSTER_TRY_VOID(s.prove(security, until));
    return s;
  }
  return fail(Errc::kConnectFailed, "", why);
}

Result<> BlockingStream::prove(const Security& security, Deadline until) {
  MUSTER_TRY(prover, make_prover(security));
  std::unique_ptr<Handshake> handshake = prover->client();
  std::string out;
  char buffer[4096];
  size_t got = 0;
  for (;;) {
    out.clear();
    Result<bool> done = handshake->advance(std::string_view(buffer, got), out);
    Result<> sent = send_bytes(out, {}, until);
    if (!done) return std::unexpected(done.error());
    if (!sent) return fail(Errc::kAuthFailed, "", "the peer closed the connection during the handshake");
    if (*done) break;
    MUSTER_TRY(ready, wait(POLLIN, until));
    if (!ready) return fail(Errc::kTimedOut, "", "no end of the handshake in time");
    ssize_t n = recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      return fail(Errc::kAuthFailed, "", "the peer closed the connection during the handshake");
    got = n > 0 ? static_cast<size_t>(n) : 0;
  }
  Established e;
  e.peer = std::move(peer_);
  handshake->complete(e);
  peer_ = std::move(e.peer);
  context_ = std::move(e.context);
  tls_ = std::move(e.tls);
  in_ = std::move(e.first_bytes);
  filled_ = in_.size();
  return {};
}

Result<bool> BlockingStream::wait(short events, Deadline until) {
  for (;;) {
    pollfd p{fd_.get(), events, 0};
    int rc = poll(&p, 1, until.poll_timeout());
    if (rc > 0) return true;
    if (rc == 0) return false;
    if (errno != EINTR) return receive_failed(system_text(errno));
  }
}

Result<> BlockingStream::send_frame(FrameKind kind, uint64_t id, uint16_t message, std::string_view payload, Deadline until) {
  if (!fd_) return send_failed("the connection is closed");
  std::string header;
  append_frame_header(header, kind, id, message, payload.size());
  Result<> sent = tls_ ? send_tls(header, payload, until) : send_bytes(header, payload, until);
  // A part of the frame may have left: the peer would understand nothing that follows.
  if (!sent) take_last_words();
  return sent;
}

// A peer that turns us away says why and closes; its message may be here before ours has left completely.
void BlockingStream::take_last_words() {
  for (int i = 0; i < 4; ++i) {
    Result<bool> more = receive(Deadline::in(Duration{}));
    if (!more || !*more) break;
  }
  fd_.reset();
}

Result<> BlockingStream::send_bytes(std::string_view head, std::string_view body, Deadline until) {
  while (!head.empty() || !body.empty()) {
    iovec pieces[2] = {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = head.empty() ? pieces + 1 : pieces;
    message.msg_iovlen = head.empty() ? 1 : 2;
    ssize_t n = sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return send_failed(system_text(errno));
    if (n < 0) {
      MUSTER_TRY(ready, wait(POLLOUT, until));
      if (!ready) return send_failed("the peer does not read");
      continue;
    }
    size_t first = std::min(head.size(), static_cast<size_t>(n));
    head.remove_prefix(first);
    body.remove_prefix(static_cast<size_t>(n) - first);
  }
  return {};
}

Result<> BlockingStream::send_tls(std::string_view a, std::string_view b, Deadline until) {
  MUSTER_TRY_VOID(tls_->write(a));
  for (; !b.empty(); b.remove_prefix(std::min(b.size(), kFullBuffer))) {
    MUSTER_TRY_VOID(tls_->write(b.substr(0, kFullBuffer)));
    MUSTER_TRY_VOID(flush_tls(until));
  }
  return flush_tls(until);
}

Result<> BlockingStream::flush_tls(Deadline until) {
  std::string_view out = tls_->pending();
  if (out.empty()) return {};
  MUSTER_TRY_VOID(send_bytes(out, {}, until));
  tls_->sent(out.size());
  return {};
}

Result<std::optional<FrameView>> BlockingStream::next_frame(Deadline until) {
  for (;;) {
    Parsed parsed = parse_frame(std::string_view(in_).substr(used_, filled_ - used_));
    if (parsed.verdict == Parsed::Verdict::kFrame) {
      used_ += parsed.size;
      return std::optional<FrameView>(parsed.frame);
    }
    if (parsed.verdict == Parsed::Verdict::kMalformed) {
      fd_.reset();
      return fail(Errc::kFrameMalformed, "", parsed.why);
    }
    if (!fd_) return receive_failed("the connection is closed");
    if (used_ > 0) {
      in_.erase(0, used_);
      filled_ -= used_;
      used_ = 0;
    }
    Result<bool> more = receive(until);
    if (!more) {
      fd_.reset();
      return std::unexpected(more.error());
    }
    if (!*more) return std::optional<FrameView>();
  }
}

// The buffer grows with what has arrived, never with what a peer claims is coming.
Result<bool> BlockingStream::receive(Deadline until) {
  if (in_.size() - filled_ < kFirstBuffer / 4) in_.resize(filled_ + std::clamp(filled_, kFirstBuffer, kFullBuffer));
  if (tls_) {
    MUSTER_TRY(n, tls_->read(std::span<char>(in_.data() + filled_, in_.size() - filled_)));
    filled_ += n;
    if (n > 0) return true;
  }
  MUSTER_TRY(ready, wait(POLLIN, until));
  if (!ready) return false;
  char cipher[16384];
  char* to = tls_ ? cipher : in_.data() + filled_;
  ssize_t n = recv(fd_.get(), to, tls_ ? sizeof cipher : in_.size() - filled_, MSG_DONTWAIT);
  if (n == 0) return receive_failed("the peer closed the connection");
  if (n < 0 && errno == ECONNRESET && local_) return send_failed("the daemon went before it had read the request");
  if (n < 0 && errno != EAGAIN && errno != EINTR) return receive_failed(system_text(errno));
  if (n < 0) return true;
  if (tls_) {
    tls_->receive(std::string_view(cipher, static_cast<size_t>(n)));
  } else {
    filled_ += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace muster::net
