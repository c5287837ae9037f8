#include "slurmd/daemon/certificate_keeper.h"

namespace muster::slurmd {
namespace {

constexpr Duration kLook = minutes(1);

}  // namespace

void CertificateKeeper::start(const std::string& authority_file) {
  if (!membership_) return;
  if (!membership_->by_token())
    if (auto ok = membership_->keep_authority(authority_file); !ok) log_.error("{}: {}", authority_file, ok.error().message());
  look();
}

// Connections of those who are revoked end now; those of hosts that joined again are made anew.
void CertificateKeeper::trust(const rpc::ClusterTrust& trust) {
  if (!membership_) return;
  if (auto ok = membership_->trust(trust); !ok) return log_.error("{}", ok.error().message());
  drop_("was revoked", [this](const net::Peer& peer) { return membership_->refuses(peer); });
  membership_->renew(link_.connection(), log_, net::Loop::now());
}

void CertificateKeeper::look() {
  drop_expired();
  membership_->renew(link_.connection(), log_, net::Loop::now());
  look_ = loop_.after(kLook, [this] { look(); });
}

}  // namespace muster::slurmd
