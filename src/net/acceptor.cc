#include "net/acceptor.h"

#include <errno.h>
#include <sys/socket.h>

namespace muster::net {
namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr Duration kRest = milliseconds(100);

}  // namespace

Acceptor::Acceptor(Loop& loop, UniqueFd fd, std::function<void(UniqueFd)> accepted)
    : loop_(loop), fd_(std::move(fd)), accepted_(std::move(accepted)) {
  watch_ = loop_.watch(fd_.get(), [this] { accept_some(); });
}

void Acceptor::accept_some() {
  for (int index = 0; index < kAcceptsPerTurn; ++index) {
    UniqueFd peer(accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (peer) {
      accepted_(std::move(peer));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      rest_ = loop_.after(kRest, [this] {
        rest_.reset();
        watch_->pause_read(false);
      });
      watch_->pause_read(true);
    }
    if (errno != ECONNABORTED && errno != EINTR) return;
  }
}

}  // namespace muster::net
