// ControllerLink: the one connection to slurmctld. Dials its agent socket on this host, else its hosts in
// turn; registers; numbers what it sends and drops what is late; when the connection is lost, tries again at
// once and then often. What is in the messages is NodeCore's business.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/node_rpc.h"
#include "model/rpc.h"
#include "net/channel.h"
#include "os/log.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

class ControllerLink {
 public:
  struct Ports {
    std::function<node_rpc::Register()> registration;  // session is filled in here
    std::function<void(const NodeOrder&)> order;
    std::function<void()> lost;
  };
  ControllerLink(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports)
      : loop_(loop), log_(log), setup_(setup), ports_(std::move(ports)) {}

  void start() { dial(); }
  void send(NodeReport report);
  // Passes a user's request on; `part` and `answered` as of net::Channel. Without a controller: kConnectFailed.
  void relay(const rpc::Relay& request, std::function<void(net::Frame)> part, std::function<void(Result<net::Frame>)> answered);
  void stop();

 private:
  void dial();
  void connected(Result<net::ChannelPtr> channel, const std::string& where);
  void retry(const std::string& why);
  void on_frame(const net::Frame& frame);

  net::Loop& loop_;
  os::Log& log_;
  const Setup& setup_;
  Ports ports_;
  net::ChannelPtr channel_;
  std::unique_ptr<net::Loop::Timer> timer_;
  uint64_t session_ = 0, sent_ = 0, received_ = 0;
  size_t attempt_ = 0;  // rotates over the controllers
  Duration pause_{};
  bool stopped_ = false, complained_ = false;
};

}  // namespace muster::slurmd
