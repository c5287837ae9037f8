// Members: hosts that are known by a certificate of their own, and the tokens by which they join (docs/adr/0019): their connections, what they may
// ask in their own name, and what is asked about them. Who may say what is core/peers.def, what counts of what they pass on core/passed_on.h.
// Lives on the I/O thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "net/channel.h"
#include "os/log.h"
#include "slurmctld/core/caller.h"
#include "slurmctld/daemon/certificates.h"
#include "slurmctld/daemon/node_links.h"

namespace muster::slurmctld {

class Members {
 public:
  // `certificates`: null, there are none (auth/munge). `drop` ends a connection.
  Members(os::Log& logger, NodeLinks& nodes, Certificates* certificates, std::function<void(const net::Channel*)> drop)
      : logger_(logger), nodes_(nodes), certificates_(certificates), drop_(std::move(drop)) {}

  void add(const net::ChannelPtr& channel);
  void gone(const net::Channel* channel) { channels_.erase(channel); }

  // As whom a request counts that a host makes in its own name. kAccessDenied: it would be another.
  static Result<Caller> as_itself(uint16_t message, std::string_view payload, const Subject& who, Caller caller);
  // Notes in a caller whom a peer names that this peer is to be believed only so far.
  static void set_through(Caller& caller, const net::Peer& peer, const Cluster& cluster);

  // `channel` asks: `who` is what its connection proves, `caller` as whom the request counts. kUnsupported with munge.
  Result<rpc::TokenCreated> answer(const net::Channel& channel, const Subject& who, const Caller& caller, const rpc::CreateToken& request);
  Result<rpc::TokenRows> answer(const net::Channel& channel, const Subject& who, const Caller& caller, const rpc::QueryTokens& request);
  // Who is revoked is gone when this returns.
  Result<rpc::TokenRevoked> answer(const net::Channel& channel, const Subject& who, const Caller& caller, const rpc::RevokeToken& request);
  Result<rpc::CertificateIssued> answer(const net::Channel& channel, const Subject& who, const Caller& caller,
                                        const rpc::AskCertificate& request);

 private:
  os::Log& logger_;
  NodeLinks& nodes_;
  Certificates* certificates_;
  std::function<void(const net::Channel*)> drop_;
  std::map<const net::Channel*, std::weak_ptr<net::Channel>> channels_;
};

}  // namespace muster::slurmctld
