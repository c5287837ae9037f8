// CertificateKeeper: this node's certificate while slurmd runs (docs/adr/0019): who signs and who is revoked, as slurmctld says, and a new
// certificate in time. What it does with them is agent/membership.h. Lives on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/membership.h"
#include "net/loop.h"
#include "os/log.h"
#include "slurmd/daemon/controller_link.h"

namespace muster::slurmd {

class CertificateKeeper {
 public:
  // `membership`: null with munge, then there is nothing to do. `drop` ends the connections of peers that are out, and says why in the log.
  using Drop = std::function<void(const std::string& why, const std::function<bool(const net::Peer&)>& which)>;
  CertificateKeeper(net::Loop& loop, os::Log& log, ControllerLink& link, std::shared_ptr<agent::Membership> membership, Drop drop)
      : loop_(loop), log_(log), link_(link), membership_(std::move(membership)), drop_(std::move(drop)) {}

  // Where a node with the cluster key keeps who signs credentials: a step can then be started before slurmctld has said so again.
  void start(const std::string& authority_file);
  void trust(const rpc::ClusterTrust& trust);
  // A connection does not outlive the certificate with which it began. Looked at with each request, and once a minute.
  static bool has_expired(const net::Peer& peer) { return peer.trust == net::Trust::kCertificate && net::Loop::now() >= peer.expires; }
  void drop_expired() { drop_("has expired", has_expired); }

 private:
  void look();

  net::Loop& loop_;
  os::Log& log_;
  ControllerLink& link_;
  std::shared_ptr<agent::Membership> membership_;
  Drop drop_;
  std::unique_ptr<net::Loop::Timer> look_;
};

}  // namespace muster::slurmd
