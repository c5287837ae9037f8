#include "pam/ask.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "model/messages.h"
#include "net/frame.h"
#include "os/fd.h"
#include "wire/codec.h"

namespace muster::pam {
namespace {

constexpr size_t kLongestAnswer = 64 << 10;
constexpr uint64_t kId = 1;
constexpr int kBetweenTries = 20;  // ms

std::unexpected<Error> failed(const std::string& what, int error) { return fail(Errc::kConnectFailed, what + ": " + std::strerror(error)); }

class Asker {
 public:
  Asker(os::Fd fd, Duration patience) : fd_(std::move(fd)), until_(std::chrono::steady_clock::now() + patience) {}

  Result<> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) bytes.remove_prefix(static_cast<size_t>(sent));
      else if (errno != EINTR) MUSTER_TRY_VOID(again(POLLOUT, "send"));
    }
    return {};
  }
  Result<net::Frame> answer() {
    std::string buffer;
    for (;;) {
      const net::Parsed parsed = net::parse_frame(buffer);
      if (parsed.verdict == net::Parsed::Verdict::kMalformed) return fail(Errc::kFrameMalformed, parsed.why);
      if (parsed.verdict == net::Parsed::Verdict::kFrame) {
        const net::Frame frame = parsed.frame.to_frame();
        buffer.erase(0, parsed.size);
        if (frame.kind == net::FrameKind::kError) return std::unexpected(net::decode_error(frame.payload));
        if (frame.kind == net::FrameKind::kAnswer && frame.id == kId) return frame;
        continue;
      }
      if (parsed.size > kLongestAnswer) return fail(Errc::kFrameMalformed, "the answer is too long");
      MUSTER_TRY_VOID(read_more(buffer));
    }
  }

 private:
  Result<> read_more(std::string& buffer) {
    char bytes[4096];
    const ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (got > 0) {
      buffer.append(bytes, static_cast<size_t>(got));
      return {};
    }
    if (got == 0) return fail(Errc::kConnectFailed, "slurmd closed the connection");
    return errno == EINTR ? Result<>() : again(POLLIN, "recv");
  }
  // Waits where that is what the last call wants.
  Result<> again(short events, const char* call) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) return failed(call, errno);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(Errc::kTimedOut, "slurmd does not answer");
    pollfd waits{fd_.get(), events, 0};
    if (::poll(&waits, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) return failed("poll", errno);
    return {};
  }

  os::Fd fd_;
  std::chrono::steady_clock::time_point until_;
};

Result<os::Fd> connect_to(const std::string& path, Duration patience, uid_t server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(Errc::kConnectFailed, path + ": the name of the socket is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  os::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("socket", errno);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    if (errno != EAGAIN || std::chrono::steady_clock::now() >= until) return failed(path, errno);
    ::poll(nullptr, 0, kBetweenTries);  // many knock at once
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return failed(path, errno);
  if (peer.uid != server) return fail(Errc::kConnectFailed, path + " belongs to uid " + std::to_string(peer.uid));
  return fd;
}

}  // namespace

Result<rpc::ProcessAdopted> ask(const std::string& socket, const rpc::AdoptProcess& what, Duration patience, uid_t server) {
  MUSTER_TRY(fd, connect_to(socket, patience, server));
  Asker asker(std::move(fd), patience);
  const std::string payload = wire::encoded(what);
  std::string request;
  net::append_frame_header(request, net::FrameKind::kRequest, kId, number_of<rpc::AdoptProcess>, payload.size());
  MUSTER_TRY_VOID(asker.send(request + payload));
  MUSTER_TRY(answer, asker.answer());
  rpc::ProcessAdopted out;
  MUSTER_TRY_VOID(wire::decode(answer.payload, out));
  if (out.outcome > rpc::Adoption::kFailed) return fail(Errc::kFrameMalformed, "outcome: is none that this module knows");
  return out;
}

}  // namespace muster::pam
