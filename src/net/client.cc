// Finds somebody to talk to: agent sockets, then controllers, again and again while patience lasts.
#include "net/client.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <deque>

#include "model/messages.h"
#include "net/blocking.h"

namespace muster::net {
namespace {

constexpr Duration kFirstPause = milliseconds(2);
constexpr Duration kLongestPause = milliseconds(50);

// The outcome of one round of attempts.
struct Attempts {
  std::string tried;             // "path: why; host:port: why"
  std::optional<Error> refusal;  // somebody answered and refused: no use in trying again
  void note(const std::string& what) { tried += (tried.empty() ? "" : "; ") + what; }
  void note(const std::string& where, const Error& e) {
    note(where + ": " + std::string(e.hint.empty() ? e.message() : e.hint));
    if (e.code != Errc::kConnectFailed && !refusal) refusal = e;
  }
};

bool trusted(const ClientOptions& o, uint32_t uid) {
  return uid == 0 || std::find(o.trusted_uids.begin(), o.trusted_uids.end(), uid) != o.trusted_uids.end();
}

// Whether a daemon has stopped that still has its socket: the kernel takes connections for it, and nothing is ever answered. Asked on a
// connection of its own, so that whatever a daemon in difficulties says to the next one reaches the request.
bool hangs(const std::string& path, Duration patience) {
  const Deadline until = Deadline::in(patience);
  Result<BlockingStream> probe = BlockingStream::to_unix(path, patience);
  if (!probe) return probe.error().code == Errc::kTimedOut;
  if (!probe->send_frame(FrameKind::kRequest, 1, number_of<rpc::Ping>, {}, until)) return false;
  const Result<std::optional<FrameView>> heard = probe->next_frame(until);
  return heard && !*heard;
}

Result<BlockingStream> connect_agent(const ClientOptions& o, const std::string& path, Duration timeout) {
  if (o.agent_answers_in && hangs(path, std::min(timeout, *o.agent_answers_in)))
    return fail(Errc::kConnectFailed, "", "it takes connections and answers nothing");
  MUSTER_TRY(stream, BlockingStream::to_unix(path, timeout));
  if (!trusted(o, stream.peer().uid.value))
    return fail(Errc::kAuthFailed, "",
                path + " belongs to uid " + std::to_string(stream.peer().uid.value) + ", which is not trusted to be the controller");
  return stream;
}

// What one attempt may take.
Duration time_for_one(const ClientOptions& options, const Deadline& until) {
  return options.in_all ? std::min(options.timeout, until.left()) : options.timeout;
}

Result<BlockingStream> try_all(const ClientOptions& options, Attempts& attempts) {
  const Deadline until = Deadline::in(options.in_all.value_or(options.timeout));
  for (const std::string& path : options.agent_sockets) {
    const Duration timeout = time_for_one(options, until);
    if (timeout <= Duration::zero()) return fail(Errc::kConnectFailed);
    Result<BlockingStream> s = connect_agent(options, path, timeout);
    if (s) return s;
    attempts.note(path, s.error());
  }
  if (!options.security.can_prove()) {
    if (!options.controllers.empty()) attempts.note("no cluster key to speak with the controllers directly");
    return fail(Errc::kConnectFailed);
  }
  for (const Endpoint& e : options.controllers) {
    const Duration timeout = time_for_one(options, until);
    if (timeout <= Duration::zero()) return fail(Errc::kConnectFailed);
    Result<BlockingStream> s = BlockingStream::to_tcp(e.host, e.port, options.security, timeout);
    if (s) return s;
    attempts.note(e.host + ":" + std::to_string(e.port), s.error());
  }
  return fail(Errc::kConnectFailed);
}

class BlockingClient final : public Client {
 public:
  explicit BlockingClient(BlockingStream stream) : stream_(std::move(stream)) {}

  const Peer& peer() const override { return stream_.peer(); }
  int fd() const override { return stream_.fd(); }
  bool turned_away() const override { return turned_away_; }

  Result<Frame> request(uint16_t message, std::string_view payload, Duration timeout) override {
    return request_stream(message, payload, timeout, [](std::string_view) { return Result<>(); });
  }

  Result<Frame> request_stream(uint16_t message, std::string_view payload, Duration timeout,
                               const std::function<Result<>(std::string_view)>& on_part) override {
    if (payload.size() > kMaxPayload)
      return fail(Errc::kFrameTooLong,
                  "request of " + std::to_string(payload.size()) + " bytes is longer than the limit of " + std::to_string(kMaxPayload));
    uint64_t id = next_id_++;
    auto sent = stream_.send_frame(FrameKind::kRequest, id, message, payload, Deadline::in(timeout));
    if (!sent) return std::unexpected(last_words().value_or(sent.error()));
    Deadline until = Deadline::in(timeout);
    for (bool taken = false;;) {
      MUSTER_TRY(next, stream_.next_frame(until));
      if (!next) return fail(Errc::kTimedOut, "", "no answer from " + peer().address + " in time");
      if (next->kind == FrameKind::kNotice) {
        MUSTER_TRY_VOID(keep(*next));
      } else if (next->id != id) {
        // The frame answers a request that was given up, or asks something of a command, which serves no requests.
        if (next->kind == FrameKind::kError && next->id == 0) return std::unexpected(end_of(*next, taken));
      } else if (next->kind == FrameKind::kStreamPart) {
        taken = true;
        MUSTER_TRY_VOID(on_part(next->payload));
        until = Deadline::in(timeout);
      } else if (next->kind == FrameKind::kAnswer) {
        return next->to_frame();
      } else if (next->kind == FrameKind::kError) {
        return std::unexpected(decode_error(next->payload));
      }
    }
  }

  Result<std::optional<Frame>> next_notice(Duration timeout) override {
    if (!notices_.empty()) {
      std::optional<Frame> f = std::move(notices_.front());
      notices_.pop_front();
      kept_bytes_ -= f->payload.size();
      return f;
    }
    Deadline until = Deadline::in(timeout);
    for (;;) {
      MUSTER_TRY(next, stream_.next_frame(until));
      if (!next) return std::optional<Frame>();
      if (next->kind == FrameKind::kNotice) return std::optional<Frame>(next->to_frame());
      if (next->kind == FrameKind::kError && next->id == 0) return std::unexpected(decode_error(next->payload));
    }
  }

 private:
  // An error frame without a request ends the connection. A request that was answered in part was taken, whatever the frame says.
  Error end_of(const FrameView& f, bool taken) {
    Error e = decode_error(f.payload);
    if (taken && e.code == Errc::kTryAgainLater) e.code = Errc::kReceiveFailed;
    turned_away_ = e.code == Errc::kTryAgainLater;
    return e;
  }
  std::optional<Error> last_words() {
    while (auto next = stream_.next_frame(Deadline::in(Duration{}))) {
      if (!*next) break;
      if ((*next)->kind == FrameKind::kError && (*next)->id == 0) return end_of(**next, false);
    }
    return std::nullopt;
  }
  Result<> keep(const FrameView& f) {
    if (notices_.size() >= kMaxPending || kept_bytes_ + f.payload.size() > kMaxQueued)
      return fail(Errc::kReceiveFailed, "", "more notices came than can be kept");
    kept_bytes_ += f.payload.size();
    notices_.push_back(f.to_frame());
    return {};
  }

  BlockingStream stream_;
  uint64_t next_id_ = 1;
  bool turned_away_ = false;
  std::deque<Frame> notices_;
  size_t kept_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Client>> connect_client(const ClientOptions& options) {
  Deadline until = Deadline::in(options.patience);
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Attempts attempts;
    Result<BlockingStream> stream = try_all(options, attempts);
    if (stream) return std::make_unique<BlockingClient>(std::move(*stream));
    if (attempts.refusal) {
      Error e = *attempts.refusal;
      if (e.hint.empty()) e.hint = attempts.tried;
      return std::unexpected(std::move(e));
    }
    Duration left = until.left();
    if (left <= Duration::zero())
      return fail(Errc::kConnectFailed, "", attempts.tried.empty() ? "no controller and no agent socket is known" : attempts.tried);
    poll(nullptr, 0, static_cast<int>(std::max<int64_t>(1, std::min(pause, left).count() / 1000)));
  }
}

}  // namespace muster::net
