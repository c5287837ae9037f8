#include "net/connection.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace muster::net {
namespace {

constexpr int kReadsPerTurn = 4;  // fairness: one busy peer does not starve the others
constexpr size_t kWritePerTurn = 4u << 20;
constexpr size_t kEncryptAhead = 256u << 10;  // ciphertext made before the socket asks for more
constexpr size_t kWorthRoom = 64u << 10;

int64_t now_us() { return Loop::monotonic().count(); }

int64_t add_time(int64_t now, Duration d) {
  if (d.count() >= INT64_MAX / 2) return INT64_MAX;
  return now + std::max<int64_t>(d.count(), 0);
}

}  // namespace

Connection::Connection(Loop& loop, Established e)
    : loop_(loop),
      peer_(std::move(e.peer)),
      fd_(std::move(e.fd)),
      context_(std::move(e.context)),
      tls_(std::move(e.tls)),
      limits_(e.limits),
      throttle_(e.accepted && peer_.trust != Trust::kClusterKey),
      share_(std::move(e.share)),
      limited_(share_ && share_->counted()),
      partial_(std::move(e.first_bytes)) {}

Connection::~Connection() { close(); }

void Connection::start() {
  if (closed_) return;
  watch_ = loop_.watch(
      fd_.get(), [this] { readable(); }, [this] { flush(); });
  if (limited_ && !share_->of_host()) {
    idle_since_ = now_us();
    arm(add_time(idle_since_, limits_.idle));
  }
  // What arrived together with the handshake is handled in a callback of its own, like everything later.
  if (!partial_.empty() || tls_) {
    loop_.defer([self = shared_from_this()] {
      if (self->closed_) return;
      std::string first = std::move(self->partial_);
      self->partial_.clear();
      self->tls_ ? self->decrypt(first) : self->consume(first);
    });
  }
}

void Connection::refuse(const Error& error) {
  out_.push(FrameKind::kError, 0, 0, encode_error(error));
  if (!tls_ || encrypt_some()) write_some();
  close();
}

// ---- reading

void Connection::readable() {
  auto self = shared_from_this();  // a callback may drop the last owner
  if (limited_ && share_->must_wait()) return wait_for_turn();
  for (int i = 0; i < kReadsPerTurn && !closed_ && !paused_; ++i)
    if (!read_once()) break;
}

// Returns true when there may be more to read now.
bool Connection::read_once() {
  std::span<char> room = loop_.scratch();
  if (tls_) room = room.first(room.size() / 2);  // the other half takes the plain text
  ssize_t got = recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (got == 0) {
    lose(Error(Errc::kReceiveFailed, "connection to " + peer_.address + " was closed by the peer"));
    return false;
  }
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR)
      lose(Error(Errc::kReceiveFailed, "connection to " + peer_.address + " lost: " + system_text(errno)));
    return false;
  }
  std::string_view bytes(room.data(), static_cast<size_t>(got));
  tls_ ? decrypt(bytes) : consume(bytes);
  return static_cast<size_t>(got) == room.size();
}

void Connection::decrypt(std::string_view bytes) {
  tls_->receive(bytes);
  while (!closed_) {
    std::span<char> plain = loop_.scratch().subspan(loop_.scratch().size() / 2);
    Result<size_t> n = tls_->read(plain);
    if (!n) return lose(n.error());
    if (*n == 0) break;
    consume(std::string_view(plain.data(), *n));
  }
  if (!closed_ && !tls_->pending().empty()) schedule_flush();  // key updates, alerts
}

void Connection::consume(std::string_view bytes) {
  if (partial_.empty()) {
    size_t used = take_frames(bytes);
    if (closed_ || used == bytes.size()) return;
    partial_.assign(bytes.substr(used));
    partial_since_ = now_us();
    arm(add_time(partial_since_, limits_.frame));
    account_bytes();
    return;
  }
  partial_.append(bytes);
  if (!account_bytes() || partial_.size() < partial_need_ || paused_) return;
  size_t used = take_frames(partial_);
  if (closed_ || used == 0) return;
  partial_.erase(0, used);
  partial_since_ = now_us();
  if (partial_.empty() && partial_.capacity() > kWorthRoom) partial_.shrink_to_fit();
  account_bytes();
}

// Charges what this connection keeps in memory to its user's share. False: it was too much, and the connection is closed.
bool Connection::account_bytes() {
  if (!limited_ || closed_) return true;
  if (share_->hold((partial_.empty() ? 0 : partial_.capacity()) + queued_bytes())) return true;
  turn_away(share_->too_many_bytes());
  return false;
}

// The user has had this turn's part, or has as much on the way as is allowed: stop reading until the next turn.
void Connection::wait_for_turn() {
  if (paused_ & kNotItsTurn) return;
  pause(kNotItsTurn, true);
  share_->wait([weak = weak_from_this()] {
    if (auto self = weak.lock(); self && !self->closed_) self->pause(kNotItsTurn, false);
  });
}

size_t Connection::take_frames(std::string_view bytes) {
  size_t used = 0;
  while (!closed_) {
    Parsed parsed = parse_frame(bytes.substr(used));
    if (parsed.verdict == Parsed::Verdict::kMalformed) {
      lose(Error(Errc::kFrameMalformed, "connection to " + peer_.address + ": " + parsed.why));
      break;
    }
    if (limited_ && !share_->of_host() && parsed.header && !fits(parsed)) break;
    if (parsed.verdict == Parsed::Verdict::kNeedMore) {
      partial_need_ = parsed.size;
      break;
    }
    if (limited_) {
      const Share::Verdict verdict = share_->take(parsed.frame.payload.size());
      if (verdict == Share::Verdict::kWait) {
        wait_for_turn();
        partial_need_ = 0;
        break;
      }
      // What a host has to say itself is no notice that may be lost.
      const bool request = parsed.frame.kind == FrameKind::kRequest;
      if (verdict == Share::Verdict::kRefuse && (request || !share_->of_host())) {
        if (request) enqueue(FrameKind::kError, parsed.frame.id, 0, encode_error(share_->too_many_requests()));
        used += parsed.size;
        continue;
      }
      if (!request && verdict == Share::Verdict::kTake) share_->answered();
      ++active_;
    }
    handle(parsed.frame);
    used += parsed.size;
    if (throttle_ && !closed_ && queued_bytes() > kHighMark) {
      pause(kAnswersPileUp, true);
      partial_need_ = 0;
      break;
    }
  }
  return used;
}

// Asked as soon as the header is complete: the rest of a frame that is too large is not read.
bool Connection::fits(const Parsed& frame) {
  if (!limits_.largest) return true;
  const size_t most = limits_.largest(frame.frame.message);
  if (frame.payload() <= most) return true;
  turn_away(Error(Errc::kFrameTooLong, "a request of " + std::to_string(frame.payload()) + " bytes is longer than the limit of " +
                                           std::to_string(most) + " for its kind"));
  return false;
}

void Connection::handle(const FrameView& frame) {
  switch (frame.kind) {
    case FrameKind::kRequest: return handle_request(frame);
    case FrameKind::kNotice:
      if (on_request) on_request(frame.to_frame());
      return;
    case FrameKind::kStreamPart: return handle_part(frame);
    case FrameKind::kAnswer: return handle_answer(frame);
    case FrameKind::kError:
      if (frame.id == 0) return lose(decode_error(frame.payload));
      return handle_answer(frame);
  }
}

void Connection::handle_request(const FrameView& f) {
  if (!on_request || unanswered_ >= kMaxPending) {
    ++unanswered_;
    answer_error(f.id, on_request
                           ? Error(Errc::kError, "more than " + std::to_string(kMaxPending) + " unanswered requests on one connection")
                           : Error(Errc::kUnsupported, "requests are not served on this connection"));
    return;
  }
  ++unanswered_;
  on_request(f.to_frame());
}

// An unknown id belongs to a request that was given up (timeout), or was never ours; either way nobody waits for it.
void Connection::handle_part(const FrameView& f) {
  auto it = pending_.find(f.id);
  if (it == pending_.end() || !it->second.part) return;
  if (it->second.deadline != INT64_MAX) it->second.deadline = add_time(now_us(), it->second.timeout);
  it->second.taken = true;
  auto part = std::move(it->second.part);  // the callback may end the request
  part(f.to_frame());
  it = pending_.find(f.id);
  if (it != pending_.end()) it->second.part = std::move(part);
}

void Connection::handle_answer(const FrameView& f) {
  auto it = pending_.find(f.id);
  if (it == pending_.end()) return;
  Answered answered = std::move(it->second.answered);
  pending_.erase(it);
  compact_deadlines();
  if (f.kind == FrameKind::kError) {
    answered(std::unexpected(decode_error(f.payload)));
  } else {
    answered(f.to_frame());
  }
}

// ---- asking and answering

void Connection::request(uint16_t message, std::string payload, Duration timeout, Answered answered) {
  request_stream(message, std::move(payload), timeout, {}, std::move(answered));
}

void Connection::request_stream(uint16_t message, std::string payload, Duration timeout, std::function<void(Frame)> part,
                                Answered answered) {
  Error refused(Errc::kOk);
  if (closed_) {
    refused = Error(Errc::kSendFailed, "connection to " + peer_.address + " is closed");
  } else if (payload.size() > kMaxPayload) {
    refused = Error(Errc::kFrameTooLong,
                    "request of " + std::to_string(payload.size()) + " bytes is longer than the limit of " + std::to_string(kMaxPayload));
  } else if (pending_.size() >= kMaxPending || queued_bytes() + payload.size() > kMaxQueued) {
    refused = Error(Errc::kSendFailed, "connection to " + peer_.address + ": too many requests are waiting");
  }
  if (refused.code != Errc::kOk) {
    loop_.defer([answered = std::move(answered), refused] { answered(std::unexpected(refused)); });
    return;
  }
  uint64_t id = next_id_++;
  int64_t deadline = add_time(now_us(), timeout);
  pending_.emplace(id, Pending{deadline, timeout, std::move(part), std::move(answered), false});
  if (deadline != INT64_MAX) {
    deadlines_.push_back({deadline, id});
    std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
    arm(deadline);
  }
  enqueue(FrameKind::kRequest, id, message, std::move(payload));
}

void Connection::answer(uint64_t id, uint16_t message, std::string payload) {
  if (unanswered_ > 0) --unanswered_;
  if (limited_ && !closed_) share_->answered();
  enqueue(FrameKind::kAnswer, id, message, std::move(payload));
}

void Connection::answer_part(uint64_t id, uint16_t message, std::string payload) {
  enqueue(FrameKind::kStreamPart, id, message, std::move(payload));
}

void Connection::answer_error(uint64_t id, const Error& error) {
  if (unanswered_ > 0) --unanswered_;
  if (limited_ && !closed_) share_->answered();
  enqueue(FrameKind::kError, id, 0, encode_error(error));
}

void Connection::notify(uint16_t message, std::string payload) {
  notified_ = true;
  enqueue(FrameKind::kNotice, 0, message, std::move(payload));
}

// ---- writing

size_t Connection::queued_bytes() const { return out_.bytes() + (tls_ && !closed_ ? tls_->pending().size() : 0); }

bool Connection::enqueue(FrameKind kind, uint64_t id, uint16_t message, std::string payload) {
  if (closed_) return false;
  if (payload.size() > kMaxPayload) {
    // Daemons have to avoid this (long answers are streams); the peer gets an error instead of silence.
    Error e(Errc::kFrameTooLong, "an answer of " + std::to_string(payload.size()) + " bytes does not fit in a frame");
    if (kind == FrameKind::kNotice) return false;
    return enqueue(FrameKind::kError, id, 0, encode_error(e));
  }
  if (queued_bytes() + payload.size() > kMaxQueued) {
    lose(Error(Errc::kSendFailed,
               "connection to " + peer_.address + ": the peer does not read; " + std::to_string(queued_bytes()) + " bytes were waiting"));
    return false;
  }
  out_.push(kind, id, message, std::move(payload));
  schedule_flush();
  ++active_;
  return account_bytes();
}

void Connection::schedule_flush() {
  if (flush_scheduled_ || !watch_) return;
  flush_scheduled_ = true;
  loop_.defer([self = shared_from_this()] {
    self->flush_scheduled_ = false;
    self->flush();
  });
}

void Connection::flush() {
  if (closed_) return;
  auto self = shared_from_this();
  bool progress = false;
  for (size_t written = 0; written < kWritePerTurn && queued_bytes() > 0;) {
    size_t before = queued_bytes();
    if (tls_ && !encrypt_some()) return;
    if (!write_some()) break;
    progress = true;
    written += before > queued_bytes() ? before - queued_bytes() : 1;
  }
  if (!closed_) after_write(progress);
}

bool Connection::encrypt_some() {
  while (!out_.empty() && tls_->pending().size() < kEncryptAhead) {
    std::string_view piece = out_.front().substr(0, kEncryptAhead);
    Result<> ok = tls_->write(piece);
    if (!ok) {
      lose(ok.error());
      return false;
    }
    out_.consume(piece.size());
  }
  return true;
}

// Makes one system call. Returns false when the socket takes no more, or is gone.
bool Connection::write_some() {
  std::array<iovec, 64> pieces;
  size_t count = 1;
  if (tls_) {
    pieces[0] = {const_cast<char*>(tls_->pending().data()), tls_->pending().size()};
  } else {
    count = out_.gather(pieces);
  }
  msghdr m{};
  m.msg_iov = pieces.data();
  m.msg_iovlen = count;
  ssize_t n = sendmsg(fd_.get(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0) {
    if (errno != EAGAIN && errno != EINTR)
      lose(Error(Errc::kSendFailed, "connection to " + peer_.address + " lost: " + system_text(errno)));
    return false;
  }
  tls_ ? tls_->sent(static_cast<size_t>(n)) : out_.consume(static_cast<size_t>(n));
  return true;
}

void Connection::after_write(bool progress) {
  size_t queued = queued_bytes();
  watch_->want_write(queued > 0);
  if (queued <= kHighMark) {
    stalled_since_ = 0;
  } else if (progress || stalled_since_ == 0) {
    stalled_since_ = now_us();
    arm(add_time(stalled_since_, limits_.stall));
  }
  if (throttle_) pause(kAnswersPileUp, paused_ & kAnswersPileUp ? queued > kLowMark : queued > kHighMark);
  account_bytes();
  if (queued <= kLowMark && !when_writable_.empty()) {
    auto calls = std::move(when_writable_);
    when_writable_.clear();
    for (auto& f : calls) loop_.defer(std::move(f));
  }
}

// The requests of a user who does not take the answers wait: those already read in partial_, the others in the socket.
void Connection::pause(Pause why, bool on) {
  if (on == static_cast<bool>(paused_ & why)) return;
  paused_ ^= why;
  watch_->pause_read(paused_ != 0);
  if (paused_) return;
  partial_since_ = now_us();
  loop_.defer([self = shared_from_this()] {
    if (!self->closed_ && !self->paused_ && !self->partial_.empty()) self->consume({});
  });
}

void Connection::when_writable(std::function<void()> f) {
  if (closed_) return;
  if (queued_bytes() <= kLowMark) {
    loop_.defer(std::move(f));
  } else {
    when_writable_.push_back(std::move(f));
  }
}

void Connection::hold(bool on) {
  if (!closed_) pause(kHeld, on);
}

// ---- time

// Each connection has one timer, for the earliest thing it waits for. An answered request leaves its entry behind, so the timer may
// fire for nothing; it then goes on to the next one.
void Connection::arm(int64_t at) {
  if (at >= armed_at_) return;
  armed_at_ = at;
  timer_ = loop_.after(Duration(std::max<int64_t>(at - now_us(), 0)), [this] { on_timer(); });
}

void Connection::on_timer() {
  auto self = shared_from_this();
  armed_at_ = INT64_MAX;
  int64_t now = now_us();
  int64_t frame_at = partial_.empty() || paused_ ? INT64_MAX : add_time(partial_since_, limits_.frame);
  if (frame_at <= now) return lose(Error(Errc::kTimedOut, "connection to " + peer_.address + ": a frame did not arrive whole in time"));
  int64_t stall_at = stalled_since_ == 0 ? INT64_MAX : add_time(stalled_since_, limits_.stall);
  if (stall_at <= now) return lose(Error(Errc::kTimedOut, "connection to " + peer_.address + ": the peer does not read"));
  const int64_t idle_at = look_if_idle(now);
  if (closed_) return;
  int64_t next = std::min({frame_at, stall_at, idle_at, expire_requests(now)});
  if (!closed_ && next != INT64_MAX) arm(next);
}

// Returns when to look again. A user's connection ends after limits_.idle in which nothing happened on it and nothing was on its way.
int64_t Connection::look_if_idle(int64_t now) {
  if (!limited_ || share_->of_host() || limits_.idle == kNoTimeout) return INT64_MAX;
  const bool at_work =
      active_ != active_before_ || notified_ || unanswered_ > 0 || !pending_.empty() || queued_bytes() > 0 || !partial_.empty();
  if (at_work) {
    active_before_ = active_;
    idle_since_ = now;
  } else if (add_time(idle_since_, limits_.idle) <= now) {
    turn_away(Error(Errc::kTryAgainLater, "The daemon ended this connection, on which nothing was asked for long",
                    "a new connection is welcome"));
    return INT64_MAX;
  }
  return add_time(idle_since_, limits_.idle);
}

// Returns the earliest deadline that is left.
int64_t Connection::expire_requests(int64_t now) {
  std::vector<Answered> late;
  while (!deadlines_.empty()) {
    Deadline deadline = deadlines_.front();
    auto it = pending_.find(deadline.id);
    bool live = it != pending_.end();
    if (live && deadline.at > now) break;
    std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
    deadlines_.pop_back();
    if (!live) continue;
    if (it->second.deadline > now) {  // a stream's part moved it
      deadlines_.push_back({it->second.deadline, deadline.id});
      std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
      continue;
    }
    late.push_back(std::move(it->second.answered));
    pending_.erase(it);
  }
  for (Answered& answered : late) answered(fail(Errc::kTimedOut, "", "no answer from " + peer_.address + " in time"));
  return deadlines_.empty() ? INT64_MAX : deadlines_.front().at;
}

// Keeps the heap within a constant factor of what is really pending.
void Connection::compact_deadlines() {
  if (deadlines_.size() < 1024 || deadlines_.size() < 4 * pending_.size()) return;
  std::erase_if(deadlines_, [&](const Deadline& d) { return !pending_.contains(d.id); });
  std::make_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
}

// ---- end

// Ends the connection for a reason that the owner did not give. Any method may get here, so callbacks wait.
void Connection::lose(Error error) {
  if (closed_) return;
  closed_ = true;
  end();
  fail_pending(error);
  loop_.defer([f = std::move(on_closed), error = std::move(error)] {
    if (f) f(error);
  });
  // on_request may be running now, and often holds this channel: it is destroyed at the end of the turn.
  loop_.defer([f = std::move(on_request), w = std::move(when_writable_)] {});
}

// Tells the peer why, as far as the socket takes it now, and ends the connection.
void Connection::turn_away(Error error) {
  if (closed_) return;
  limited_ = false;  // its last words are not counted
  if (queued_bytes() < kLowMark) {
    Error words = error;
    if (unanswered_ > 0 && words.code == Errc::kTryAgainLater) words.code = Errc::kReceiveFailed;  // that request was taken
    out_.push(FrameKind::kError, 0, 0, encode_error(words));
    if (!tls_ || encrypt_some()) write_some();
  }
  lose(std::move(error));
}

void Connection::end() {
  share_.reset();
  limited_ = false;
  watch_.reset();
  timer_.reset();
  fd_.reset();
  out_ = OutQueue();
}

void Connection::fail_pending(const Error& error) {
  if (pending_.empty()) return;
  std::vector<std::pair<uint64_t, Pending>> waiting;
  waiting.reserve(pending_.size());
  for (auto& [id, p] : pending_) waiting.emplace_back(id, std::move(p));
  pending_.clear();
  deadlines_.clear();
  std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Error e(Errc::kReceiveFailed, error.text, error.hint);
  if (error.code == Errc::kFrameMalformed || error.code == Errc::kFrameTooLong || error.code == Errc::kAuthFailed ||
      error.code == Errc::kTryAgainLater)
    e.code = error.code;
  loop_.defer([waiting = std::move(waiting), e = std::move(e)] {
    for (const auto& [id, p] : waiting)
      p.answered(std::unexpected(p.taken && e.code == Errc::kTryAgainLater ? Error(Errc::kReceiveFailed, e.text, e.hint) : e));
  });
}

void Connection::close() {
  if (closed_) return;
  if (watch_ && queued_bytes() > 0 && (!tls_ || encrypt_some())) {
    while (!closed_ && queued_bytes() > 0 && write_some()) {
      if (tls_ && !encrypt_some()) break;
    }
    if (closed_) return;  // lost meanwhile
  }
  closed_ = true;
  end();
  fail_pending(Error(Errc::kReceiveFailed, "connection to " + peer_.address + " was closed here"));
  loop_.defer([a = std::move(on_request), b = std::move(on_closed), w = std::move(when_writable_)] {});
}

ChannelPtr adopt_channel(Loop& loop, int fd, Peer peer, const Limits& limits) {
  Established e;
  e.fd = UniqueFd(fd);
  e.limits = limits;
  e.peer = std::move(peer);
  if (limits.shares)
    if (auto share = limits.shares->open(e.peer)) e.share = std::move(*share);
  auto c = std::make_shared<Connection>(loop, std::move(e));
  c->start();
  return c;
}

}  // namespace muster::net
