// Members: hosts that are known by a certificate of their own, and the tokens by which they join (docs/adr/0019): their connections, what they may
// ask in their own name, and what is asked about them. Who may say what is core/peers.def, what counts of what they pass on core/passed_on.h.
// Lives on the I/O thread.
//
// A connection lasts no longer than the certificate that it began with, or the last one that was given out on it. One host has at most
// kMostOfHost of them: for the next one goes the oldest that is not registered, of the address that has most of them. The newest would be the
// wrong one to turn away, and so would the oldest of all: who has copied a certificate could then keep the host itself out, whose one
// connection comes from an address of its own. Cost: O(1) a frame, O(kMostOfHost²) a connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/channel.h"
#include "net/pace.h"
#include "os/log.h"
#include "slurmctld/core/caller.h"
#include "slurmctld/core/join_node.h"
#include "slurmctld/daemon/certificates.h"
#include "slurmctld/daemon/node_links.h"

namespace muster::slurmctld {

class Members {
 public:
  static constexpr size_t kMostOfHost = 8;
  // `certificates`: null, there are none (auth/munge). `drop` ends a connection; `choose` is choose_future() of the cluster as it is.
  using Choose = std::function<Result<std::string>(const rpc::JoinNode& machine, const FutureNames& names)>;
  Members(net::Loop& loop, os::Log& logger, NodeLinks& nodes, Certificates* certificates, std::function<void(const net::Channel*)> drop,
          Choose choose)
      : loop_(loop), logger_(logger), nodes_(nodes), certificates_(certificates), drop_(std::move(drop)), choose_(std::move(choose)) {
    look();
  }

  void add(const net::ChannelPtr& channel);
  void gone(const net::Channel* channel);
  // kAuthFailed: the host's certificate has expired meanwhile.
  Result<> check_life(const net::Channel* channel, Time now) const;
  void drop_expired(Time now);  // O(connections)

  // As whom a request counts that a host makes in its own name. kAccessDenied: it would be another, or takes a name from a machine that is there.
  Result<Caller> as_itself(const net::Channel& channel, uint16_t message, std::string_view payload, const Subject& who,
                           const Cluster& cluster, Caller caller) const;
  // Which names are kept from who joins over this connection: those of tokens, unless a certificate says who it is. Null: none.
  std::shared_ptr<const TokenNames> names_kept_from(const net::Channel& channel) const;
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
  void look();  // for those that expired; each minute

  net::Loop& loop_;
  os::Log& logger_;
  NodeLinks& nodes_;
  Certificates* certificates_;
  std::function<void(const net::Channel*)> drop_;
  Choose choose_;
  struct Open {
    std::string host;  // Subject::text()
    std::string from;  // its address without the port
    Time until{};      // when its certificate expires
  };
  const net::Channel* least_missed(const std::vector<const net::Channel*>& of_one_host) const;
  Result<> check_place(const net::Channel& channel, const std::string& node) const;
  Result<Caller> joining(const net::Channel& channel, const rpc::JoinNode& request, const Subject& who, const Cluster& cluster,
                         Caller caller) const;
  Result<std::string> future_name(const Subject& who, const rpc::AskCertificate& request) const;

  std::unordered_map<const net::Channel*, Open> channels_;
  std::unordered_map<std::string, std::vector<const net::Channel*>> of_host_;  // in the order in which they came
  std::unique_ptr<net::Loop::Timer> look_;
  mutable net::Pace told_{minutes(1), 4096};  // of what is refused, by host or address
};

}  // namespace muster::slurmctld
