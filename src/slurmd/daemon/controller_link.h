// ControllerLink: the node's session with slurmctld, on the connection that agent/controller_connection.h keeps. Registers; numbers what it
// sends and drops orders that come late. The contents of the messages are NodeCore's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/controller_connection.h"
#include "model/link_session.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
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
    std::function<void(const rpc::ClusterTrust&)> trust;                   // who signs, and who is revoked
  };
  ControllerLink(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports);

  void start() { connection_.start(); }
  void send(NodeReport report);
  // Whether slurmctld keeps reading what it is sent. Reports that may come later wait while it does not.
  bool has_room() const { return connected() && connection_.channel()->queued_bytes() <= net::kHighMark; }
  // Fetches a piece of a script or environment. Without a controller, or when it is lost meanwhile: a connection error.
  void fetch(const rpc::FetchContent& what, std::function<void(Result<rpc::ContentPiece>)> answered);
  // Asks slurmctld a question of this node's own. Without a controller: kConnectFailed.
  template <class Request>
  void ask(const Request& request, std::function<void(Result<std::vector<wire::PartOf<Request>>>)> answered) {
    auto parts = std::make_shared<std::vector<std::string>>();
    connection_.ask(
        wire::number_of<Request>, wire::encoded(request), kAnswerTime,
        [parts](net::Frame part) { parts->push_back(std::move(part.payload)); },
        [parts, answered = std::move(answered)](Result<net::Frame> last) {
          if (!last) return answered(std::unexpected(last.error()));
          std::vector<wire::PartOf<Request>> out;
          for (const std::string& bytes : *parts)
            if (auto ok = wire::decode(bytes, out.emplace_back()); !ok) return answered(std::unexpected(ok.error()));
          answered(std::move(out));
        });
  }
  agent::ControllerConnection& connection() { return connection_; }
  void stop() { connection_.stop(); }
  bool connected() const { return connection_.connected(); }
  static constexpr Duration kAnswerTime = minutes(1);

 private:
  agent::ControllerConnection::Ports connection_ports();
  void on_frame(const net::Frame& frame);

  os::Log& log_;
  const Setup& setup_;
  Ports ports_;
  LinkSession session_;
  agent::ControllerConnection connection_;
};

}  // namespace muster::slurmd
