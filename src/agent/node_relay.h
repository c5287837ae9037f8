// NodeRelay: passes a request of this host's user on to the slurmd of a node (rpc::RelayToNode), since a user's command has no cluster key. That
// slurmd takes a daemon's word for who asks, so whoever passes a request on has found that the credential in it is the caller's. At most kMost
// connections at a time; users take turns. The loop's thread alone.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/identity.h"
#include "net/loop.h"
#include "net/turns.h"

namespace muster::agent {

// The parts of a request to a node that are judged before it is passed on. kUnexpectedMessage: nothing that is passed on; kAccessDenied: it would
// count as the daemon's own.
struct RelayedRequest {
  std::string credential;
  rpc::CredentialPurpose purpose{};
};
Result<RelayedRequest> relayed_request(const rpc::RelayToNode& relay);

// What a credential says that the cluster's authority has signed, or somebody to whom it has given a warrant. Whether what the latter says is within
// his warrant, whether it has expired and what it is for is the node's to judge, which has the last word. kInvalidCredential, kAuthFailed.
Result<rpc::StepCredential> signed_credential(const net::Security& security, const std::string& text);

class NodeRelay {
 public:
  static constexpr size_t kMost = 128;
  struct Way {
    net::Security security;
    Duration patience{};  // to connect
  };
  NodeRelay(net::Loop& loop, std::function<Way()> way) : loop_(loop), way_(std::move(way)), turns_(loop, kMost) {}

  // Asks the node at `to`, and answers the frame on the channel it came by. `user`: at whose cost.
  void pass_on(const net::ChannelPtr& channel, const net::Frame& frame, rpc::RelayToNode relay, rpc::NodeAddress to, Uid user);

 private:
  net::Loop& loop_;
  std::function<Way()> way_;
  net::Turns turns_;
};

}  // namespace muster::agent
