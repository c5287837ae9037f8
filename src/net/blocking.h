// BlockingStream: frames over one blocking connection, for commands. No loop, no thread. Internal to net/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/channel.h"
#include "net/frame.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::net {

class Deadline {
 public:
  static Deadline in(Duration d);
  Duration left() const;     // never negative; kNoTimeout if there is no deadline
  int poll_timeout() const;  // milliseconds, rounded up; -1 if there is no deadline

 private:
  int64_t at_ = INT64_MAX;  // microseconds of the monotonic clock
};

class BlockingStream {
 public:
  static Result<BlockingStream> to_unix(const std::string& path, Duration timeout);
  static Result<BlockingStream> to_tcp(const std::string& host, uint16_t port, const Security& security, Duration timeout);

  const Peer& peer() const { return peer_; }
  int fd() const { return fd_.get(); }

  Result<> send_frame(FrameKind kind, uint64_t id, uint16_t message, std::string_view payload, Deadline until);
  // nullopt at the deadline. The view is valid until the next call. Frames that came before the connection broke can still be read.
  // kSendFailed: the peer went and had not read all that was sent. Only a local socket tells (ECONNRESET: unix(7) has the kernel report
  // a close with unread data, and one of a listener that had not accepted yet); over TCP it is kReceiveFailed.
  Result<std::optional<FrameView>> next_frame(Deadline until);

 private:
  BlockingStream(UniqueFd fd, Peer peer) : fd_(std::move(fd)), peer_(std::move(peer)) {}
  Result<> prove(const Security& security, Deadline until);
  Result<> send_bytes(std::string_view head, std::string_view body, Deadline until);
  Result<> send_tls(std::string_view a, std::string_view b, Deadline until);
  Result<> flush_tls(Deadline until);
  // Appends the bytes that arrived to `in_`; false at the deadline.
  Result<bool> receive(Deadline until);
  Result<bool> wait(short events, Deadline until);
  void take_last_words();

  UniqueFd fd_;
  Peer peer_;
  bool local_ = false;  // a unix socket
  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<TlsSession> tls_;
  std::string in_;
  size_t used_ = 0;    // bytes of in_ already handed out
  size_t filled_ = 0;  // bytes of in_ that hold data
};

}  // namespace muster::net
