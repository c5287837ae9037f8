// Connection: the Channel over a socket whose peer is known, plain or through a TlsSession. Internal to net/.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "net/channel.h"
#include "net/out_queue.h"
#include "net/shares.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::net {

// What a completed handshake hands over.
struct Established {
  UniqueFd fd;  // non-blocking
  Peer peer;
  std::shared_ptr<TlsContext> context;  // both empty: plain
  std::unique_ptr<TlsSession> tls;
  std::string first_bytes;  // already received, plain connections only
  Limits limits;
  bool accepted = false;         // by a listener; a user's connection is then throttled
  std::unique_ptr<Share> share;  // of an accepted one
};

class Connection final : public Channel, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop& loop, Established e);
  ~Connection() override;
  // Begins to read. Separate from construction, because the owner sets on_request in between.
  void start();
  // Call instead of start(): tells the peer why there is no place for it, and closes.
  void refuse(const Error& error);

  const Peer& peer() const override { return peer_; }
  void request(uint16_t message, std::string payload, Duration timeout, std::function<void(Result<Frame>)> answered) override;
  void request_stream(uint16_t message, std::string payload, Duration timeout, std::function<void(Frame)> part,
                      std::function<void(Result<Frame>)> answered) override;
  void answer(uint64_t id, uint16_t message, std::string payload) override;
  void answer_part(uint64_t id, uint16_t message, std::string payload) override;
  void answer_error(uint64_t id, const Error& error) override;
  void notify(uint16_t message, std::string payload) override;
  size_t queued_bytes() const override;
  void when_writable(std::function<void()> f) override;
  void hold(bool on) override;
  void close() override;
  bool closed() const override { return closed_; }
  void count_apart() override {
    if (share_) share_->count_apart();
  }

 private:
  using Answered = std::function<void(Result<Frame>)>;
  struct Pending {
    int64_t deadline = 0;  // microseconds of Loop::monotonic(); INT64_MAX: none
    Duration timeout{};
    std::function<void(Frame)> part;
    Answered answered;
    bool taken = false;  // a part of the answer has come
  };
  struct Deadline {
    int64_t at;
    uint64_t id;
    bool operator>(const Deadline& o) const { return at != o.at ? at > o.at : id > o.id; }
  };

  // Reading.
  void readable();
  bool read_once();
  void decrypt(std::string_view bytes);
  void consume(std::string_view bytes);
  bool fits(const Parsed& frame);
  size_t take_frames(std::string_view bytes);
  void handle(const FrameView& frame);
  void handle_request(const FrameView& f);
  void handle_part(const FrameView& f);
  void handle_answer(const FrameView& f);
  // Writing.
  bool enqueue(FrameKind kind, uint64_t id, uint16_t message, std::string payload);
  void schedule_flush();
  void flush();
  bool write_some();
  bool encrypt_some();
  void after_write(bool progress);
  enum Pause : uint8_t { kAnswersPileUp = 1, kNotItsTurn = 2, kHeld = 4 };
  void pause(Pause why, bool on);
  void wait_for_turn();
  bool account_bytes();
  void turn_away(Error error);
  // Time.
  void arm(int64_t at);
  void on_timer();
  int64_t expire_requests(int64_t now);
  int64_t look_if_idle(int64_t now);
  void compact_deadlines();
  // End.
  void lose(Error error);
  void end();
  void fail_pending(const Error& error);

  Loop& loop_;
  Peer peer_;
  UniqueFd fd_;
  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<TlsSession> tls_;
  std::unique_ptr<Loop::Watch> watch_;
  Limits limits_;
  bool throttle_ = false;
  bool closed_ = false;
  bool flush_scheduled_ = false;
  uint8_t paused_ = 0;  // of Pause
  std::unique_ptr<Share> share_;
  bool limited_ = false;                     // share_ counts this connection, and it ends when idle
  bool notified_ = false;                    // this end sends notices: the peer watches something
  uint64_t active_ = 0, active_before_ = 0;  // how many frames there were, now and at the last look
  int64_t idle_since_ = 0;

  std::string partial_;      // a frame whose end has not come yet
  size_t partial_need_ = 0;  // bytes until parsing makes sense
  int64_t partial_since_ = 0;
  int64_t stalled_since_ = 0;
  uint32_t unanswered_ = 0;  // the peer's requests

  uint64_t next_id_ = 1;
  std::unordered_map<uint64_t, Pending> pending_;
  std::vector<Deadline> deadlines_;  // heap; entries of answered requests stay until they come up or are compacted
  std::unique_ptr<Loop::Timer> timer_;
  int64_t armed_at_ = INT64_MAX;

  OutQueue out_;
  std::vector<std::function<void()>> when_writable_;
};

}  // namespace muster::net
