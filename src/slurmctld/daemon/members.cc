#include "slurmctld/daemon/members.h"

#include <vector>

#include "model/message_bounds.h"
#include "slurmctld/daemon/peer_host.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

std::unexpected<Error> no_tokens() {
  return fail(Errc::kUnsupported, {}, "tokens are for AuthType=auth/slurm: with auth/munge one key, munged's, proves every host");
}

}  // namespace

void Members::add(const net::ChannelPtr& channel) {
  if (channel->peer().trust == net::Trust::kCertificate) channels_[channel.get()] = channel;
}

Result<Caller> Members::as_itself(uint16_t message, std::string_view payload, const Subject& who, Caller caller) {
  switch (message) {
    case number_of<rpc::FetchConfig>:
    case number_of<rpc::FetchConfigFile>: caller.uid = Uid{0}; return caller;
    case number_of<rpc::JoinNode>: {
      rpc::JoinNode request;
      MUSTER_TRY_VOID(wire::decode(payload, request));
      if (request.as != rpc::JoinAs::kNormal || !who.is_node(request.name))
        return fail(Errc::kAccessDenied, {}, who.text() + " joins as itself and as nobody else");
      caller.uid = Uid{0};
      return caller;
    }
    default: caller.through = who; return caller;
  }
}

void Members::set_through(Caller& caller, const net::Peer& peer, const Cluster& cluster) {
  if (peer.trust != net::Trust::kCertificate) return;
  caller.through = peer.certified;
  caller.host = peer.certified.name;
  if (peer.certified.kind != SubjectKind::kNode) return;
  if (const Node* node = cluster.node(peer.certified.name)) caller.through_node = node->id;
}

Result<rpc::TokenCreated> Members::answer(const net::Channel&, const Subject&, const Caller& caller, const rpc::CreateToken& request) {
  if (!certificates_) return no_tokens();
  MUSTER_TRY(created, certificates_->create(request, net::Loop::now()));
  logger_.info("token {} for {} made by uid {}", created.id, request.hosts.text(), caller.uid.value);
  return created;
}

Result<rpc::TokenRows> Members::answer(const net::Channel&, const Subject&, const Caller&, const rpc::QueryTokens&) {
  if (!certificates_) return no_tokens();
  return certificates_->rows();
}

Result<rpc::TokenRevoked> Members::answer(const net::Channel&, const Subject&, const Caller& caller, const rpc::RevokeToken& request) {
  if (!certificates_) return no_tokens();
  MUSTER_TRY(revoked, certificates_->revoke(request, net::Loop::now()));
  for (const std::string& subject : revoked.subjects) {
    logger_.info("the certificate of {} was revoked by uid {}", subject, caller.uid.value);
    std::vector<const net::Channel*> out;
    for (const auto& [raw, channel] : channels_)
      if (auto open = channel.lock(); open && open->peer().certified.text() == subject) out.push_back(raw);
    for (const net::Channel* raw : out) drop_(raw);
  }
  nodes_.tell_trust();
  return revoked;
}

Result<rpc::CertificateIssued> Members::answer(const net::Channel& channel, const Subject& who, const Caller&,
                                               const rpc::AskCertificate& request) {
  if (!certificates_) return no_tokens();
  const std::string from = host_of_peer(channel.peer().address), name = request.name.substr(0, 64);
  const bool by_token = who.kind == SubjectKind::kToken;
  // As for a registration: the name of a node that is there is given to nobody else.
  if (by_token && request.role == rpc::TokenRole::kNode)
    if (const auto there = nodes_.address_of(request.name); there && *there != from)
      return fail(Errc::kAccessDenied, {}, "node '" + name + "' is another machine, at " + *there + ", which is connected");
  // Who has only copied a node's certificate cannot keep it alive beside that node, which is registered.
  if (who.kind == SubjectKind::kNode && !nodes_.node_of(&channel))
    return fail(Errc::kAccessDenied, {}, who.text() + " is given a new certificate on the connection on which it is registered");
  auto issued = certificates_->issue(who, from, request, net::Loop::now());
  if (!issued) logger_.error("no certificate for {} at {}: {} {}", name, from, issued.error().message(), issued.error().hint);
  else if (by_token) logger_.info("{} at {} has joined by a token", name, from);
  return issued;
}

}  // namespace muster::slurmctld
