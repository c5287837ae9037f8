// Connecting to an agent socket from a loop. A full backlog (EAGAIN) is retried shortly; a socket at which nobody listens, with growing pauses, as
// long as the caller's patience lasts. Any other error is final.
#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "net/connection.h"

namespace muster::net {
namespace {

using Connected = std::function<void(Result<ChannelPtr>)>;

constexpr Duration kBusyRetry = milliseconds(2);
constexpr Duration kFirstPause = milliseconds(5), kLongestPause = milliseconds(250);

class UnixConnect : public std::enable_shared_from_this<UnixConnect> {
 public:
  UnixConnect(Loop& loop, std::string path, Connected connected, Duration patience)
      : loop_(loop),
        path_(std::move(path)),
        connected_(std::move(connected)),
        busy_until_(Loop::monotonic() + Limits{}.handshake),
        absent_until_(Loop::monotonic() + patience) {}

  void attempt() {
    Result<Address> address = unix_address(path_);
    if (!address) return finish(std::unexpected(address.error()));
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd && connect(fd.get(), address->get(), address->size) == 0) return established(std::move(fd));
    const int why = errno;
    const std::optional<Duration> pause = pause_after(why);
    if (!pause) return finish(fail(Errc::kConnectFailed, "", path_ + ": " + system_text(why)));
    // The timer is owned by the object that its callback belongs to, which lives until the timer has fired.
    retry_ = loop_.after(*pause, [self = shared_from_this()] {
      self->retry_.reset();
      self->attempt();
    });
  }

 private:
  // nullopt: it is not tried again.
  std::optional<Duration> pause_after(int why) {
    const Duration now = Loop::monotonic();
    if (why == EAGAIN && now <= busy_until_) return kBusyRetry;
    if ((why != ECONNREFUSED && why != ENOENT) || now >= absent_until_) return std::nullopt;
    return std::min(std::exchange(pause_, std::min(pause_ * 2, kLongestPause)), absent_until_ - now);
  }
  void established(UniqueFd fd) {
    Result<Peer> peer = unix_peer(fd.get());
    if (!peer) return finish(std::unexpected(peer.error()));
    Established e;
    e.fd = std::move(fd);
    e.peer = std::move(*peer);
    auto c = std::make_shared<Connection>(loop_, std::move(e));
    c->start();
    finish(std::move(c));
  }
  void finish(Result<ChannelPtr> r) { connected_(std::move(r)); }

  Loop& loop_;
  std::string path_;
  Connected connected_;
  Duration busy_until_, absent_until_, pause_ = kFirstPause;
  std::unique_ptr<Loop::Timer> retry_;
};

}  // namespace

void connect_unix(Loop& loop, const std::string& path, Connected connected, Duration patience) {
  auto c = std::make_shared<UnixConnect>(loop, path, std::move(connected), patience);
  loop.defer([c] { c->attempt(); });
}

}  // namespace muster::net
