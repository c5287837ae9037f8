// Connecting over TCP from a loop: looks the name up, tries its addresses in turn, and proves both ends.
#include <errno.h>
#include <sys/socket.h>

#include <thread>

#include "net/greeting.h"

namespace muster::net {
namespace {

using Connected = std::function<void(Result<ChannelPtr>)>;

class TcpConnect : public std::enable_shared_from_this<TcpConnect> {
 public:
  TcpConnect(Loop& loop, std::string host, uint16_t port, Connected connected)
      : loop_(loop), host_(std::move(host)), port_(port), connected_(std::move(connected)) {}

  void begin(const Security& security, Duration timeout) {
    Result<std::shared_ptr<Prover>> prover = make_prover(security);
    if (!prover) return finish(std::unexpected(prover.error()));
    prover_ = std::move(*prover);
    timer_ = loop_.after(
        timeout, [self = shared_from_this()] { self->finish(fail(Errc::kTimedOut, "", self->where() + ": no connection in time")); });
    std::vector<Address> numeric = numeric_addresses(host_, port_);
    numeric.empty() ? look_up() : try_addresses(std::move(numeric));
  }

 private:
  std::string where() const { return host_ + ":" + std::to_string(port_); }

  // The resolver of libc blocks, so it gets a thread of its own for the moment; the loop may be gone when it answers.
  void look_up() {
    std::thread([self = shared_from_this(), post = loop_.poster(), host = host_, port = port_]() mutable {
      auto found = std::make_shared<Result<std::vector<Address>>>(resolve(host, port));
      post([self, found] {
        if (!self->connected_) return;
        if (!*found) return self->finish(std::unexpected(found->error()));
        self->try_addresses(std::move(**found));
      });
      // The last reference may not be dropped on this thread: what the object owns belongs to the loop's thread.
      post([self = std::move(self)] {});
    }).detach();
  }

  void try_addresses(std::vector<Address> addresses) {
    addresses_ = std::move(addresses);
    try_next();
  }

  void try_next() {
    watch_.reset();
    for (; next_ < addresses_.size(); ++next_) {
      const Address& a = addresses_[next_];
      fd_ = UniqueFd(socket(a.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (fd_ && (connect(fd_.get(), a.get(), a.size) == 0 || errno == EINPROGRESS)) {
        watch_ = loop_.watch(
            fd_.get(), [] {}, [self = shared_from_this()] { self->writable(); });
        watch_->pause_read(true);
        watch_->want_write(true);
        return;
      }
      why_ = system_text(errno);
    }
    finish(fail(Errc::kConnectFailed, "", where() + ": " + why_));
  }

  void writable() {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
      why_ = system_text(error);
      ++next_;
      return try_next();
    }
    watch_.reset();
    tune_tcp(fd_.get());
    Peer peer;
    peer.address = address_text(addresses_[next_].storage);
    greeting_ = Greeting::client(loop_, std::move(fd_), std::move(peer), prover_->client(),
                                 [self = shared_from_this()](Result<Established> e) { self->greeted(std::move(e)); });
  }

  void greeted(Result<Established> e) {
    if (!e) {
      Error why = e.error();
      if (why.hint.empty()) why.hint = where();
      return finish(std::unexpected(std::move(why)));
    }
    auto c = std::make_shared<Connection>(loop_, std::move(*e));
    c->start();
    finish(std::move(c));
  }

  void finish(Result<ChannelPtr> r) {
    if (!connected_) return;
    auto self = shared_from_this();
    Connected connected = std::exchange(connected_, nullptr);
    watch_.reset();
    timer_.reset();
    if (auto g = std::exchange(greeting_, nullptr)) g->abandon(Error(Errc::kTimedOut));
    fd_.reset();
    connected(std::move(r));
  }

  Loop& loop_;
  std::string host_;
  uint16_t port_;
  Connected connected_;
  std::shared_ptr<Prover> prover_;
  std::vector<Address> addresses_;
  size_t next_ = 0;
  std::string why_ = "no address";
  UniqueFd fd_;
  std::unique_ptr<Loop::Watch> watch_;
  std::unique_ptr<Loop::Timer> timer_;
  std::shared_ptr<Greeting> greeting_;
};

}  // namespace

void connect_tcp(Loop& loop, const std::string& host, uint16_t port, const Security& security, Duration timeout, Connected connected) {
  auto c = std::make_shared<TcpConnect>(loop, host, port, std::move(connected));
  loop.defer([c, security, timeout] { c->begin(security, timeout); });
}

}  // namespace muster::net
