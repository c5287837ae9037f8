// Sackd: passes on what users of a login host ask of slurmctld and of the slurmds of their steps, and keeps the configuration's files there. It
// starts as root, or as SlurmUser, and goes on as SlurmUser; with root gone it has the key in memory. One thread, one loop. sackd(8).
#pragma once

#include <memory>
#include <string>

#include "agent/conf_servers.h"
#include "agent/membership.h"
#include "agent/node_relay.h"
#include "agent/user_relay.h"
#include "config/load.h"
#include "net/channel_set.h"
#include "net/loop.h"
#include "os/log.h"
#include "sackd/arguments.h"

namespace muster::sackd {

struct Setup {
  config::Config config;
  net::Security security;
  Uid slurm_user{};
  std::string host;                               // this one
  std::string conf_file;                          // "" where the files come from slurmctld
  std::string folder, version, key;               // of the files that come from slurmctld
  std::shared_ptr<agent::Membership> membership;  // by --token-file or by the cluster key; null: there is munge
  bool by_token() const { return membership && membership->by_token(); }
};

class Sackd {
 public:
  Sackd(Setup setup, Arguments arguments, os::Log& log);
  Result<> start(net::BoundSocket socket);
  void run() { loop_.run(); }

 private:
  agent::ControllerConnection::Ports connection_ports();
  net::ChannelSet::Events channel_events();
  void wire_signals();
  void on_frame(const net::Frame& frame);
  void fetch();  // the files, if slurmctld has others
  void fetched(Result<agent::FetchedConfig> config);
  void read_again();
  Result<> ask_node(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<rpc::StepCredential> own_credential(const net::Peer& peer, const rpc::RelayToNode& relay) const;
  void renew();  // the certificate, when it is time

  Setup setup_;
  Arguments arguments_;
  os::Log& log_;
  net::Loop loop_;
  agent::ControllerConnection link_;
  agent::UserRelay relay_;
  agent::NodeRelay to_nodes_;
  net::ChannelSet users_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<net::Loop::Timer> renewal_;
  bool fetching_ = false, again_ = false;
};

int run_sackd(int argc, char** argv);

}  // namespace muster::sackd
