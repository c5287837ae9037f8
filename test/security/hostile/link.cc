#include "hostile/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace muster::hostile {

namespace {
constexpr size_t kMostOpen = 2000;        // unanswered, before we wait a moment
constexpr size_t kMostWaiting = 1 << 20;  // bytes to write
}  // namespace

Link::~Link() { hang_up(); }

void Link::hang_up() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  in_.clear();
  out_.clear();
  open_ = 0;
}

void Link::connect() {
  hang_up();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  // A daemon that is busy or has too many of ours turns us away for a while; one that is gone stays away.
  for (int attempt = 0; attempt < 400; ++attempt) {
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ >= 0 && ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      ::fcntl(fd_, F_SETFL, O_NONBLOCK);
      return;
    }
    hang_up();
    ::usleep(25000);
  }
  std::fprintf(stderr, "%s: nobody listens: %s\n", path_.c_str(), std::strerror(errno));
  std::exit(3);
}

void Link::send(net::FrameKind kind, uint16_t message, std::string_view payload) {
  if (payload.size() > net::kMaxPayload) return;
  if (fd_ < 0) connect();
  net::append_frame_header(out_, kind, ++last_id_, message, payload.size());
  out_.append(payload);
  ++counts_.sent;
  open_ += kind == net::FrameKind::kRequest;
  int patience = 0;
  while (fd_ >= 0 && (out_.size() > kMostWaiting || (open_ > kMostOpen && patience++ < 1)))
    if (!exchange(5)) hang_up(), ++counts_.reconnected;
}

bool Link::settle(int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (fd_ >= 0 && seen_id_ < last_id_) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (!exchange(50)) hang_up(), ++counts_.reconnected;
  }
  return seen_id_ >= last_id_;
}

void Link::take_late_answers(int quiet_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto decided = [this] { return counts_.answered + counts_.refused; };
  size_t before = decided();
  for (auto end = Clock::now() + std::chrono::seconds(quiet_seconds); fd_ >= 0 && open_ > 0 && Clock::now() < end;) {
    if (!exchange(50)) hang_up(), ++counts_.reconnected;
    if (decided() == before) continue;
    before = decided();
    end = Clock::now() + std::chrono::seconds(quiet_seconds);
  }
}

bool Link::exchange(int timeout_ms) {
  pollfd p{fd_, static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0};
  if (::poll(&p, 1, timeout_ms) <= 0) return true;
  if (p.revents & (POLLIN | POLLHUP | POLLERR)) {
    char buffer[65536];
    const ssize_t n = ::read(fd_, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n > 0) in_.append(buffer, static_cast<size_t>(n)), take_frames();
  }
  if (p.revents & POLLOUT) {
    const ssize_t n = ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n > 0) out_.erase(0, static_cast<size_t>(n));
  }
  return true;
}

void Link::take_frames() {
  size_t used = 0;
  for (;;) {
    net::Parsed p = net::parse_frame(std::string_view(in_).substr(used));
    if (p.verdict != net::Parsed::Verdict::kFrame) break;
    used += p.size;
    on_answer_(p.frame);
    if (p.frame.kind == net::FrameKind::kAnswer || p.frame.kind == net::FrameKind::kError) {
      if (open_ > 0) --open_;
      ++(p.frame.kind == net::FrameKind::kAnswer ? counts_.answered : counts_.refused);
      seen_id_ = std::max(seen_id_, p.frame.id);
    }
  }
  in_.erase(0, used);
}

}  // namespace muster::hostile
