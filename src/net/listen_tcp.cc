// Accepting over TCP: looks at the first bytes, lets the peer prove itself, and hands it over. Limits bounds how many peers may do so
// at a time, and for how long. New ones are always accepted: when too many have not proved who they are, the oldest of the address that
// has most of them is closed. So a host that opens connections and says nothing only displaces its own.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <unistd.h>

#include <map>
#include <set>

#include "net/acceptor.h"
#include "net/greeting.h"
#include "net/munge.h"

namespace muster::net {
namespace {

class TcpListener final : public Listener {
 public:
  TcpListener(Loop& loop, UniqueFd fd, Security::Kind kind, std::shared_ptr<Prover> prover, std::function<void(ChannelPtr)> accepted,
              const Limits& limits)
      : loop_(loop), kind_(kind), prover_(std::move(prover)), accepted_(std::move(accepted)), limits_(limits), pace_(limits.told_again) {
    if (!limits_.shares) limits_.shares = Shares::make(loop, {0, ::geteuid()});
    if (limits_.unauthenticated == 0) limits_.unauthenticated = limits_.shares->figures().unproved();
    sockaddr_storage a{};
    socklen_t n = sizeof a;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&a), &n);
    // The port has the same place in both families.
    port_ = ntohs(reinterpret_cast<const sockaddr_in&>(a).sin_port);
    acceptor_ = std::make_unique<Acceptor>(loop, std::move(fd), [this](UniqueFd peer) { greet(std::move(peer)); });
  }
  ~TcpListener() override {
    *alive_ = false;
    limits_.shares->unproved -= waiting_.size();
  }

  uint16_t port() const override { return port_; }
  void on_http(std::function<void(int, std::string, std::string)> f) override { http_ = std::move(f); }
  void on_refused(std::function<void(const std::string&, const Error&)> f) override { refused_ = std::move(f); }

 private:
  struct Waiting {
    std::shared_ptr<Greeting> greeting;
    Duration until;
    std::string host;
  };

  void greet(UniqueFd fd) {
    tune_tcp(fd.get());
    Peer peer;
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    if (getpeername(fd.get(), reinterpret_cast<sockaddr*>(&from), &size) != 0) return;  // gone already
    peer.address = address_text(from);
    std::string host = address_key(from);
    uint64_t number = ++last_;
    auto choose = [this, address = peer.address, number](Opening o, UniqueFd& socket, std::string& first) {
      return this->choose(o, socket, first, address, number);
    };
    // A greeting that is still under way when the listener goes must not call back into it.
    auto done = [this, alive = alive_, number](Result<Established> e) {
      if (*alive) finished(number, std::move(e));
    };
    waiting_[number] = {Greeting::server(loop_, std::move(fd), std::move(peer), choose, done), Loop::monotonic() + limits_.handshake, host};
    ++limits_.shares->unproved;
    count(host, [number](Host& h) { h.insert(number); });
    if (!timer_) arm();
    if (limits_.shares->unproved > limits_.unauthenticated) drop_one();
  }

  using Host = std::set<uint64_t>;  // its connections here, the oldest first

  template <class F>
  void count(const std::string& host, F change) {
    Host& h = hosts_[host];
    by_size_.erase({h.size(), host});
    change(h);
    if (h.empty()) hosts_.erase(host);
    else by_size_.emplace(h.size(), host);
  }

  void drop_one() {
    if (by_size_.empty()) return;
    const uint64_t oldest = *hosts_[by_size_.rbegin()->second].begin();
    auto greeting = waiting_.at(oldest).greeting;
    // Not done inside the accepting loop: a callback told of it may destroy the listener.
    loop_.defer([this, alive = alive_, greeting, oldest] {
      greeting->abandon(
          Error(Errc::kTryAgainLater, "of all hosts, this one has the most connections open that have not proved who they are"));
      if (*alive) dropped_.erase(oldest);
    });
    dropped_[oldest] = waiting_.at(oldest);
    forget(oldest);
  }

  Result<std::unique_ptr<Handshake>> choose(Opening opening, UniqueFd& fd, std::string& first, const std::string& address,
                                            uint64_t number) {
    if (opening == Opening::kHttp && http_) {
      auto http = http_;
      http(fd.release(), std::move(first), address);
      loop_.defer([this, alive = alive_, number] {
        if (*alive) forget(number);
      });
      return nullptr;
    }
    if (opening == Opening::kTls && kind_ == Security::Kind::kSlurmKey) return prover_->server();
    if (opening == Opening::kMunge && kind_ == Security::Kind::kMunge) return prover_->server();
    if (opening == Opening::kMunge) {
      std::string no = munge_refusal("this cluster uses AuthType=auth/slurm");
      send(fd.get(), no.data(), no.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return fail(Errc::kAuthFailed, "the peer uses AuthType=auth/munge, this daemon auth/slurm");
    }
    if (opening == Opening::kTls) return fail(Errc::kAuthFailed, "the peer uses AuthType=auth/slurm, this daemon auth/munge");
    return fail(Errc::kFrameMalformed, opening == Opening::kHttp ? "HTTP is not served here" : "an unknown protocol");
  }

  void finished(uint64_t number, Result<Established> established) {
    std::shared_ptr<Greeting> greeting;
    std::string host;
    if (auto it = waiting_.find(number); it != waiting_.end()) {
      greeting = it->second.greeting;
      host = it->second.host;
      forget(number);
    } else if (auto dropped = dropped_.find(number); dropped != dropped_.end()) {
      greeting = dropped->second.greeting;
      host = dropped->second.host;
      dropped_.erase(dropped);
    } else {
      return;
    }
    if (!established) return tell_refused(host, greeting->peer().address, established.error());
    established->limits = limits_;
    auto share = limits_.shares->open(established->peer);
    if (share) established->share = std::move(*share);
    auto c = std::make_shared<Connection>(loop_, std::move(*established));
    if (!share) return c->refuse(share.error());
    c->start();
    auto accepted = accepted_;  // the callee may end the listener
    accepted(std::move(c));
  }

  // Calls on_refused for the log, once per host in a while.
  void tell_refused(const std::string& host, const std::string& address, const Error& e) {
    auto refused = refused_;
    if (!refused) return;
    auto untold = pace_.tell(host + std::string(e.message()).substr(0, 100), Loop::monotonic());
    if (!untold) return;
    refused(address, *untold ? Error(e.code, std::string(e.message()) + Pace::more(*untold), e.hint) : e);
  }

  void forget(uint64_t number) {
    auto at = waiting_.find(number);
    if (at == waiting_.end()) return;
    count(at->second.host, [number](Host& h) { h.erase(number); });
    waiting_.erase(at);
    --limits_.shares->unproved;
  }

  // Every peer gets the same time, so the first in line is the next to be late: one timer serves all.
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
  std::map<uint64_t, Waiting> dropped_;  // kept until the end of the turn
  std::map<std::string, Host> hosts_;
  std::set<std::pair<size_t, std::string>> by_size_;
  Pace pace_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(Loop& loop, const std::string& address, uint16_t port, const Security& security,
                                             std::function<void(ChannelPtr)> accepted, const Limits& limits) {
  MUSTER_TRY(prover, make_prover(security));
  MUSTER_TRY(fd, bind_tcp(address, port));
  return std::make_unique<TcpListener>(loop, std::move(fd), security.kind, std::move(prover), std::move(accepted), limits);
}

}  // namespace muster::net
