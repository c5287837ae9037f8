// ControllerConnection: the one connection that a daemon of another host keeps to slurmctld; slurmd's and sackd's. Dials slurmctld's agent
// socket where it is on this host, else the controllers in turn; when the connection is lost, tries again at once and then often. A
// controller that takes us and soon drops us (its disk is full) is asked less and less often: only a session that lasted for kLasting counts
// as one. What is said on the connection is the daemon's business.
//
// Lives on the loop's thread. Requests without a connection, or when it is lost meanwhile, end with a connection error (kConnectFailed …).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "config/slurm_conf.h"
#include "model/rpc.h"
#include "net/backoff.h"
#include "net/channel.h"
#include "os/log.h"

namespace muster::agent {

class ControllerConnection {
 public:
  struct Way {  // to slurmctld
    std::string agent_socket;
    std::vector<std::string> hosts;
    uint16_t port = 0;
    net::Security security;
    Duration timeout = seconds(10);
    Uid slurm_user{};
    // As slurm.conf has it.
    static Way of(const config::Config& config, std::string agent_socket, const net::Security& security, Uid slurm_user);
  };
  struct Ports {
    std::function<Way()> way;  // asked before each attempt: the files may have been read again
    std::function<void()> opened, lost;
    std::function<void(const net::Frame&)> frame;  // requests and notices of slurmctld
  };
  // `complaint`: what the log says, before the reason, while it cannot be had: "Unable to register with slurmctld, trying on".
  ControllerConnection(net::Loop& loop, os::Log& log, std::string complaint, Ports ports)
      : loop_(loop), log_(log), complaint_(std::move(complaint)), ports_(std::move(ports)) {}

  void start() { dial(); }
  void stop();
  bool connected() const { return channel_ != nullptr; }
  const net::ChannelPtr& channel() const { return channel_; }
  // Slurmctld has taken us: from now on the session counts. Returns whether the log was told of the trouble before.
  bool taken();
  void give_up(const std::string& why);  // ends the connection from this side, and makes another one
  void notify(uint16_t message, std::string payload);
  // As net::Channel::request_stream().
  void ask(uint16_t message, std::string payload, Duration timeout, std::function<void(net::Frame)> part,
           std::function<void(Result<net::Frame>)> answered);
  // Passes a user's request on, which waits behind what this daemon has to say itself.
  void relay(const rpc::Relay& request, std::function<void(net::Frame)> part, std::function<void(Result<net::Frame>)> answered);

 private:
  void dial();
  void connected(Result<net::ChannelPtr> channel, const std::string& where, Uid slurm_user);
  void lost(const std::string& why);
  void retry(const std::string& why);
  void retry_in(Duration pause, const std::string& why);

  net::Loop& loop_;
  os::Log& log_;
  const std::string complaint_;
  Ports ports_;
  net::ChannelPtr channel_;
  std::unique_ptr<net::Loop::Timer> timer_;
  size_t attempt_ = 0;  // goes round the controllers
  static constexpr Duration kLasting = minutes(1);
  net::Backoff dials_{milliseconds(10), seconds(1), net::Backoff::random_seed()};
  net::Backoff sessions_{milliseconds(20), seconds(30), net::Backoff::random_seed()};
  Duration taken_at_{};       // 0: there is no session
  Duration failing_since_{};  // 0: the last session lasted
  bool stopped_ = false, complained_ = false;
};

}  // namespace muster::agent
