// How a command reaches the slurmd of a node: over its unix socket where that exists on this host, by TCP with the cluster key or through
// munge, else through a slurmd or the sackd of this host, which passes a request on (rpc::RelayToNode); so also to a node that has a certificate
// and no key (docs/adr/0019). A daemon of this host that is known to belong here, by the socket that it left when it was killed or by the job that
// this runs in (SLURMD_NODENAME), is waited for while it is started again; where there is none, that is said at once. For programs with a loop.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common/client_conf.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/loop.h"

namespace muster::cli {

struct NodeDialer {
  std::string slurmd_pid_file;             // as in slurm.conf: names the directory of slurmd's sockets, with %n and %h
  net::Security security;                  // an empty key: no TCP
  std::vector<std::string> sackd_sockets;  // that may be on this host
  Duration connect_timeout = seconds(10);
  Duration patience = seconds(10);  // with a daemon of this host that is being started again

  static NodeDialer of(const ClientConf& conf);
  std::string socket_of(const std::string& node) const;
  bool is_local(const std::string& node) const;
};

// One request to a node. `answered` is called exactly once: with the node's answer, its refusal, or the reason why it cannot be reached.
// The channel lives until then. Errors: kConnectFailed, and those of the request.
struct NodeRequest {
  rpc::NodeAddress node;
  uint16_t message = 0;
  std::string payload;
  bool any_slurmd = false;  // any slurmd of this host does as well: it passes the request on by itself. sackd does not
  Duration timeout = seconds(60);
};
void ask_node(net::Loop& loop, const NodeDialer& dialer, NodeRequest request, std::function<void(Result<net::Frame>)> answered);

// The error of a connection to a node, in words that fit behind the node's name: "cannot reach host n7.cloud: Name or service not known".
// The table's text for kConnectFailed speaks of the controller, which has nothing to do with it.
Error cannot_reach(Error of_connection);

// The node that this process runs on as part of a job (SLURMD_NODENAME); "" outside of jobs.
std::string own_node_name();

}  // namespace muster::cli
