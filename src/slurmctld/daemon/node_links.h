// NodeLinks: the one connection of each node daemon, with its session and sequence numbers. Lives on the I/O thread. Reports go to the core
// as commands. The orders among the core's effects are sent here, in order, or dropped when the node is away (an obligation is repeated
// when the node comes back).
//
// Orders flow at the node's pace: what its socket does not take waits here, kWindow bytes of it encoded and the rest as orders, which share
// the jobs they are about. Beyond kMostWaiting orders those that an obligation repeats are left out, and when the queue is empty the core
// is asked for them again. So a slow node costs its own memory, and a bounded part of ours. Its connection ends when it is silent, never
// because its queue is long.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/link_session.h"
#include "net/channel.h"
#include "net/pace.h"
#include "os/log.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class NodeLinks {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Cluster>()> snapshot;
    std::function<void(NodeId, NodeReport)> report;
    std::function<void(NodeId)> connected, disconnected;
    std::function<void(std::function<void()>)> later;  // in another turn of the loop
    std::function<void(NodeId)> behind;                // obligations were left out, and the node has caught up
    // Ends a connection, with all that was begun for it.
    std::function<void(const net::ChannelPtr&)> close = [](const net::ChannelPtr& channel) { channel->close(); };
    std::function<std::string(const net::Peer&)> address_of = [](const net::Peer& peer) { return peer.address; };
    std::function<std::string()> config_version = [] { return ""; };  // of the files for nodes without slurm.conf
    std::function<bool()> reconfigures_first = [] { return false; };  // SlurmctldParameters=reconfig_on_restart
    std::function<std::string()> trust = [] { return ""; };           // rpc::ClusterTrust, encoded; "": there is none
  };
  static constexpr size_t kWindow = 256u << 10;
  static constexpr size_t kMostWaiting = 4096;
  // Contents up to this size travel with each launch: that is cheaper than to ask for them and keep a file of each.
  static constexpr size_t kInline = 64u << 10;
  NodeLinks(os::Log& logger, Ports ports) : logger_(logger), ports_(std::move(ports)) {}

  // Takes a kNodeReport frame of a trusted peer. The first one on a connection must be a Register.
  Result<> on_report(const net::ChannelPtr& channel, std::string_view payload);
  void on_closed(const net::Channel* channel);
  void send(NodeId node, const NodeOrder& order);
  // Sends a request to the node's slurmd. Without a connection, or when it ends, the answer is an error of the connection. `answered` is
  // never called from inside ask().
  void ask(NodeId node, uint16_t message, std::string payload, Duration timeout, std::function<void(Result<net::Frame>)> answered);
  void drop(NodeId node);  // ends its connection; it connects and registers again
  void send_to_all(const NodeOrder& order);
  void tell_trust();                                                     // all nodes: what is revoked is different now
  std::optional<std::string> address_of(const std::string& node) const;  // of its connection, without the port; none: it has none
  size_t connected() const { return by_node_.size(); }
  std::optional<NodeId> node_of(const net::Channel* channel) const;
  size_t waiting(NodeId node) const;  // orders that the node's socket has not taken
  // The same of all nodes for sdiag: how many of each kind, and the first of them one by one. Cost: O(nodes + orders that wait).
  void add_pending(rpc::Statistics& out) const;
  static constexpr size_t kPendingShown = 25;

 private:
  struct Link {
    net::ChannelPtr channel;
    NodeId node{};
    std::string name;
    std::string boot_id;  // of the machine
    LinkSession session;
    std::list<NodeOrder> waiting;  // mostly none, for which a deque would keep 2 KB at each of thousands of nodes
    bool left_out = false, flushing = false;
  };
  void send_now(Link& link, const NodeOrder& order);
  void flush(const net::Channel* channel, uint64_t session);
  void flush_later(Link& link);
  // A session's number is the node's clock. Who wrote a great one would keep the node itself from registering.
  Result<> check_session(const net::Channel& channel, uint64_t session, const std::string& node);
  Result<> accept_node(const net::ChannelPtr& channel, uint64_t session, const node_rpc::Register& r);
  // Whether the registration may take the place of this link: a later session of the same machine, by the id of its boot or by its address. What
  // a node with a mere certificate says of its boot does not count: it lies on its disk, and disks are copied.
  Result<> may_replace(const Link& link, const net::Channel& by, uint64_t session, const node_rpc::Register& r);

  os::Log& logger_;
  Ports ports_;
  std::unordered_map<const net::Channel*, Link> links_;
  std::unordered_map<uint32_t, const net::Channel*> by_node_;
  std::unordered_set<uint32_t> met_;  // nodes that have registered since slurmctld started
  net::Pace told_{minutes(1), 16384};
};

}  // namespace muster::slurmctld
