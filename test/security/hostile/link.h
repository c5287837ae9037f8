// A connection of an ordinary user to an agent socket, which he may use as badly as he likes: many requests at a time, no
// waiting for those that are never answered, a new connection when the daemon has had enough.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/frame.h"

namespace muster::hostile {

struct Counts {
  size_t sent = 0, answered = 0, refused = 0, reconnected = 0;
};

class Link {
 public:
  // on_answer gets every frame that comes.
  Link(std::string path, std::function<void(const net::FrameView&)> on_answer) : path_(std::move(path)), on_answer_(std::move(on_answer)) {}
  ~Link();
  Link(const Link&) = delete;

  // Ends the program when nobody listens any more.
  void send(net::FrameKind kind, uint16_t message, std::string_view payload);
  // Until the request sent last is answered or the connection ends; false after `seconds`.
  bool settle(int seconds);
  // Until all requests are answered, or nothing has come for so long: what waits, and what is made on another thread, comes late.
  void take_late_answers(int quiet_seconds);
  const Counts& counts() const { return counts_; }
  uint64_t last_id() const { return last_id_; }

 private:
  void connect();
  void hang_up();
  bool exchange(int timeout_ms);  // reads and writes what is possible; false when the connection ended
  void take_frames();

  std::string path_;
  std::function<void(const net::FrameView&)> on_answer_;
  Counts counts_;
  std::string in_, out_;
  uint64_t last_id_ = 0, seen_id_ = 0;
  size_t open_ = 0;
  int fd_ = -1;
};

}  // namespace muster::hostile
