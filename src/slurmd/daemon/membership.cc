// This node's certificate (docs/adr/0019): whom slurmctld believes and revokes, and the renewal in time. What is done is agent/membership.h.
#include <algorithm>

#include "slurmd/daemon/slurmd.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kAskAgain = minutes(1);

}  // namespace

// Connections of those who are revoked end now; those of hosts that joined again are made anew.
void Slurmd::trusted(const rpc::ClusterTrust& trust) {
  if (!membership_) return;
  if (auto ok = membership_->trust(trust); !ok) return log_.error("{}", ok.error().message());
  std::vector<net::ChannelPtr> gone;
  for (const auto& [raw, channel] : clients_)
    if (membership_->refuses(channel->peer())) gone.push_back(channel);
  for (const net::ChannelPtr& channel : gone) {
    log_.info("the certificate of {} was revoked: its connection from {} ends", channel->peer().certified.text(), channel->peer().address);
    relay_.closed(channel.get());
    clients_.erase(channel.get());
    channel->close();
  }
  loop_.defer([gone = std::move(gone)] {});
  renew_certificate();
}

void Slurmd::renew_certificate() {
  const Time now = net::Loop::now();
  if (!membership_ || renewing_ || !link_.connected() || now < renew_again_ || !membership_->due(now)) return;
  auto request = membership_->ask();
  if (!request) return log_.error("no certificate: {}", request.error().message());
  renewing_ = true;
  renew_again_ = now + kAskAgain;
  link_.connection().ask(
      wire::number_of<rpc::AskCertificate>, wire::encoded(*request), ControllerLink::kAnswerTime, [](const net::Frame&) {},
      [this](Result<net::Frame> answer) {
        renewing_ = false;
        if (!answer) return log_.error("slurmctld gives no certificate: {}", answer.error().message());
        rpc::CertificateIssued issued;
        Result<> taken = wire::decode(answer->payload, issued);
        if (taken) taken = membership_->take(issued, net::Loop::now());
        if (taken) log_.verbose("a new certificate of {}", membership_->subject().text());
        else log_.error("the certificate that slurmctld gave is not good: {}", taken.error().message());
      });
}

}  // namespace muster::slurmd
