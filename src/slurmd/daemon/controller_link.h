// ControllerLink: the one connection to slurmctld. Dials its agent socket on this host, else its hosts in turn; registers; numbers what it
// sends and drops orders that come late; when the connection is lost, tries again at once and then often. A controller that takes a
// registration and soon drops the node (its disk is full) is asked less and less often: only a session that lasted for kLasting counts as
// one. The contents of the messages are NodeCore's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/link_session.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
#include "net/backoff.h"
#include "net/channel.h"
#include "os/log.h"
#include "slurmd/daemon/setup.h"
#include "wire/codec.h"
#include "wire/messages.h"

namespace muster::slurmd {

class ControllerLink {
 public:
  struct Ports {
    std::function<node_rpc::Register()> registration;  // session is filled in here
    std::function<void(const NodeOrder&)> order;
    std::function<void()> lost;
    std::function<void(const net::ChannelPtr&, const net::Frame&)> asked;  // requests of slurmctld
  };
  ControllerLink(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports)
      : loop_(loop), log_(log), setup_(setup), ports_(std::move(ports)) {}

  void start() { dial(); }
  void send(NodeReport report);
  // Whether slurmctld keeps reading what it is sent. Reports that may come later wait while it does not.
  bool has_room() const { return channel_ && channel_->queued_bytes() <= net::kHighMark; }
  // Passes a user's request on; `part` and `answered` as in net::Channel. Without a controller: kConnectFailed.
  void relay(const rpc::Relay& request, std::function<void(net::Frame)> part, std::function<void(Result<net::Frame>)> answered);
  // Fetches a piece of a script or environment. Without a controller, or when it is lost meanwhile: a connection error.
  void fetch(const rpc::FetchContent& what, std::function<void(Result<rpc::ContentPiece>)> answered);
  // Asks slurmctld a question of this node's own. Without a controller: kConnectFailed.
  template <class Request>
  void ask(const Request& request, std::function<void(Result<std::vector<wire::PartOf<Request>>>)> answered) {
    auto parts = std::make_shared<std::vector<std::string>>();
    ask(
        wire::number_of<Request>, wire::encoded(request), [parts](net::Frame part) { parts->push_back(std::move(part.payload)); },
        [parts, answered = std::move(answered)](Result<net::Frame> last) {
          if (!last) return answered(std::unexpected(last.error()));
          std::vector<wire::PartOf<Request>> out;
          for (const std::string& bytes : *parts)
            if (auto ok = wire::decode(bytes, out.emplace_back()); !ok) return answered(std::unexpected(ok.error()));
          answered(std::move(out));
        });
  }
  void asker_gone(uint64_t asker);  // an asker of relay() whose connection is over
  void stop();
  bool connected() const { return channel_ != nullptr; }

 private:
  void ask(uint16_t message, std::string payload, std::function<void(net::Frame)> part, std::function<void(Result<net::Frame>)> answered);
  void dial();
  void connected(Result<net::ChannelPtr> channel, const std::string& where);
  void give_up(const std::string& why);
  void lost(const std::string& why);
  void retry(const std::string& why);
  void retry_in(Duration pause, const std::string& why);
  void on_frame(const net::Frame& frame);

  net::Loop& loop_;
  os::Log& log_;
  const Setup& setup_;
  Ports ports_;
  net::ChannelPtr channel_;
  std::unique_ptr<net::Loop::Timer> timer_;
  LinkSession session_;
  size_t attempt_ = 0;  // goes round the controllers
  static constexpr Duration kLasting = minutes(1);
  net::Backoff dials_{milliseconds(10), seconds(1), net::Backoff::random_seed()};
  net::Backoff sessions_{milliseconds(20), seconds(30), net::Backoff::random_seed()};
  Duration registered_at_{};  // 0: there is no session
  Duration failing_since_{};  // 0: the last session lasted
  bool stopped_ = false, complained_ = false;
};

}  // namespace muster::slurmd
