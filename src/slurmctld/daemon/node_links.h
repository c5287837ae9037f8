// NodeLinks: the one connection of each node daemon, with its session and sequence numbers. Lives on the I/O thread.
// Reports go to the core as commands; orders of effects are sent here, in order, or dropped when the node is away (an
// obligation is repeated when it comes back).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/channel.h"
#include "os/log.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class NodeLinks {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Cluster>()> snapshot;
    std::function<void(NodeId, NodeReport)> report;
    std::function<void(NodeId)> connected, disconnected;
  };
  NodeLinks(os::Log& logger, Ports ports) : logger_(logger), ports_(std::move(ports)) {}

  // A kNodeReport frame of a trusted peer. The first of a connection must be a Register.
  Result<> on_report(const net::ChannelPtr& channel, std::string_view payload);
  void on_closed(const net::Channel* channel);
  void send(NodeId node, const NodeOrder& order);
  void drop(NodeId node);   // ends its connection; it connects and registers again
  void send_to_all(const NodeOrder& order);
  size_t connected() const { return by_node_.size(); }

 private:
  struct Link {
    net::ChannelPtr channel;
    NodeId node{};
    std::string name;
    uint64_t session = 0, received = 0, sent = 0;
  };
  Result<> accept_node(const net::ChannelPtr& channel, uint64_t session, const node_rpc::Register& r);

  os::Log& logger_;
  Ports ports_;
  std::unordered_map<const net::Channel*, Link> links_;
  std::unordered_map<uint32_t, const net::Channel*> by_node_;
};

}  // namespace muster::slurmctld
