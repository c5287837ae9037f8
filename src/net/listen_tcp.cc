// Accepting over TCP: look at the first bytes, let the peer prove itself, hand over; only so many at a time,
// each only for so long (Limits).
#include <arpa/inet.h>
#include <netinet/in.h>

#include <map>

#include "net/acceptor.h"
#include "net/greeting.h"
#include "net/munge.h"

namespace muster::net {
namespace {

class TcpListener final : public Listener {
 public:
  TcpListener(Loop& loop, UniqueFd fd, Security::Kind kind, std::shared_ptr<Prover> prover,
              std::function<void(ChannelPtr)> accepted, const Limits& limits)
      : loop_(loop),
        kind_(kind),
        prover_(std::move(prover)),
        accepted_(std::move(accepted)),
        limits_(limits) {
    sockaddr_storage a{};
    socklen_t n = sizeof a;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&a), &n);
    // The port has the same place in both families.
    port_ = ntohs(reinterpret_cast<const sockaddr_in&>(a).sin_port);
    acceptor_ =
        std::make_unique<Acceptor>(loop, std::move(fd), [this](UniqueFd peer) { greet(std::move(peer)); });
  }
  ~TcpListener() override { *alive_ = false; }

  uint16_t port() const override { return port_; }
  void on_http(std::function<void(int, std::string, std::string)> f) override { http_ = std::move(f); }
  void on_refused(std::function<void(const std::string&, const Error&)> f) override {
    refused_ = std::move(f);
  }

 private:
  struct Waiting {
    std::shared_ptr<Greeting> greeting;
    Duration until;
  };

  void greet(UniqueFd fd) {
    tune_tcp(fd.get());
    Peer peer;
    peer.address = remote_address_text(fd.get());
    uint64_t number = ++last_;
    auto choose = [this, address = peer.address, number](Opening o, UniqueFd& socket, std::string& first) {
      return this->choose(o, socket, first, address, number);
    };
    // A greeting that is being served when the listener goes must not call back into it.
    auto done = [this, alive = alive_, number](Result<Established> e) {
      if (*alive) finished(number, std::move(e));
    };
    waiting_[number] = {Greeting::server(loop_, std::move(fd), std::move(peer), choose, done),
                        Loop::monotonic() + limits_.handshake};
    if (waiting_.size() >= limits_.unauthenticated) acceptor_->pause(true);
    if (!timer_) arm();
  }

  Result<std::unique_ptr<Handshake>> choose(Opening o, UniqueFd& fd, std::string& first,
                                            const std::string& address, uint64_t number) {
    if (o == Opening::kHttp && http_) {
      auto http = http_;
      http(fd.release(), std::move(first), address);
      loop_.defer([this, alive = alive_, number] {
        if (*alive) forget(number);
      });
      return nullptr;
    }
    if (o == Opening::kTls && kind_ == Security::Kind::kSlurmKey) return prover_->server();
    if (o == Opening::kMunge && kind_ == Security::Kind::kMunge) return prover_->server();
    if (o == Opening::kMunge) {
      std::string no = munge_refusal("this cluster uses AuthType=auth/slurm");
      send(fd.get(), no.data(), no.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return fail(Errc::kAuthFailed, "the peer uses AuthType=auth/munge, this daemon auth/slurm");
    }
    if (o == Opening::kTls)
      return fail(Errc::kAuthFailed, "the peer uses AuthType=auth/slurm, this daemon auth/munge");
    return fail(Errc::kFrameMalformed,
                o == Opening::kHttp ? "HTTP is not served here" : "an unknown protocol");
  }

  void finished(uint64_t number, Result<Established> e) {
    auto it = waiting_.find(number);
    if (it == waiting_.end()) return;
    std::string address = it->second.greeting->peer().address;
    forget(number);
    if (!e) {
      if (auto refused = refused_) refused(address, e.error());
      return;
    }
    e->limits = limits_;
    auto c = std::make_shared<Connection>(loop_, std::move(*e));
    c->start();
    auto accepted = accepted_;  // the callee may end the listener
    accepted(std::move(c));
  }

  void forget(uint64_t number) {
    if (waiting_.erase(number) > 0 && waiting_.size() == limits_.unauthenticated - 1) acceptor_->pause(false);
  }

  // All wait equally long, so the first is the next to be late: one timer for all.
  void arm() {
    if (waiting_.empty()) return timer_.reset();
    timer_ = loop_.after(waiting_.begin()->second.until - Loop::monotonic(), [this] { drop_late(); });
  }
  void drop_late() {
    timer_.reset();
    Duration now = Loop::monotonic();
    auto alive = alive_;
    while (*alive && !waiting_.empty() && waiting_.begin()->second.until <= now) {
      auto late = waiting_.begin()->second.greeting;
      uint64_t number = waiting_.begin()->first;
      late->abandon(Error(Errc::kTimedOut, "did not prove who it is in time"));
      if (*alive) forget(number);
    }
    if (*alive) arm();
  }

  Loop& loop_;
  Security::Kind kind_;
  std::shared_ptr<Prover> prover_;
  std::function<void(ChannelPtr)> accepted_;
  Limits limits_;
  std::function<void(int, std::string, std::string)> http_;
  std::function<void(const std::string&, const Error&)> refused_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  uint16_t port_ = 0;
  uint64_t last_ = 0;
  std::map<uint64_t, Waiting> waiting_;  // in the order of arrival
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(Loop& loop, const std::string& address, uint16_t port,
                                             const Security& security,
                                             std::function<void(ChannelPtr)> accepted, const Limits& limits) {
  MUSTER_TRY(prover, make_prover(security));
  MUSTER_TRY(fd, bind_tcp(address, port));
  return std::make_unique<TcpListener>(loop, std::move(fd), security.kind, std::move(prover),
                                       std::move(accepted), limits);
}

}  // namespace muster::net
