// Tokens and certificates (docs/adr/0019), and what hosts say that are known by a certificate of their own: what of it counts is peers.def and
// passed_on.h.
#include "slurmctld/core/passed_on.h"
#include "slurmctld/daemon/certificates.h"
#include "slurmctld/daemon/peer_host.h"
#include "slurmctld/daemon/service_handlers.h"

namespace muster::slurmctld {
namespace {

std::unexpected<Error> no_tokens() {
  return fail(Errc::kUnsupported, {}, "tokens are for AuthType=auth/slurm: with auth/munge one key, munged's, proves every host");
}

std::optional<NodeId> node_named(const Cluster& cluster, const std::string& name) {
  const Node* node = cluster.node(name);
  return node ? std::optional(node->id) : std::nullopt;
}

}  // namespace

void Service::accept(net::ChannelPtr channel) {
  if (channel->peer().trust == net::Trust::kCertificate) certified_[channel.get()] = channel;
  channels_.accept(std::move(channel));
}

// What a host with a certificate asks in its own name.
Result<> Service::ask_for_itself(Call call, const Subject& who, std::string_view payload) {
  switch (call.message) {
    case number_of<rpc::FetchConfig>:
    case number_of<rpc::FetchConfigFile>: call.who.uid = Uid{0}; return serve(call, payload);
    case number_of<rpc::JoinNode>: {
      rpc::JoinNode request;
      MUSTER_TRY_VOID(read(payload, request));
      if (request.as != rpc::JoinAs::kNormal || !who.is_node(request.name))
        return fail(Errc::kAccessDenied, {}, who.text() + " joins as itself and as nobody else");
      call.who.uid = Uid{0};
      return serve(call, payload);
    }
    default: call.who.through = who; return serve(call, payload);
  }
}

// A request of a user that a host passes on, once his name is known where it is asked for.
Result<> Service::serve_passed_on(Call call, std::string_view payload) {
  if (call.who.through.kind == SubjectKind::kUser) return serve(call, payload);
  const auto cluster = core_.snapshot();
  MUSTER_TRY(who, passed_on(*cluster, *ports_.settings(), cluster->directory, *command_row(call.message), call.who));
  call.who = std::move(who);
  return serve(call, payload);
}

void Service::set_through(Call& call, const net::Peer& peer) const {
  if (peer.trust != net::Trust::kCertificate) return;
  call.who.through = peer.certified;
  call.who.host = peer.certified.name;
  if (peer.certified.kind == SubjectKind::kNode) call.who.through_node = node_named(*core_.snapshot(), peer.certified.name);
}

Result<> Service::create_token(const Call& call, rpc::CreateToken request) {
  if (!ports_.certificates) return no_tokens();
  MUSTER_TRY(created, ports_.certificates->create(request, net::Loop::now()));
  logger_.info("token {} for {} made by uid {}", created.id, request.hosts.text(), call.who.uid.value);
  finish<rpc::CreateToken>(call, created);
  return {};
}

Result<> Service::query_tokens(const Call& call, rpc::QueryTokens) {
  if (!ports_.certificates) return no_tokens();
  finish<rpc::QueryTokens>(call, ports_.certificates->rows());
  return {};
}

// Who is revoked is gone in this turn; the answer leaves after that.
Result<> Service::revoke_token(const Call& call, rpc::RevokeToken request) {
  if (!ports_.certificates) return no_tokens();
  MUSTER_TRY(revoked, ports_.certificates->revoke(request, net::Loop::now()));
  for (const std::string& subject : revoked.subjects) {
    logger_.info("the certificate of {} was revoked by uid {}", subject, call.who.uid.value);
    std::vector<const net::Channel*> gone;
    for (const auto& [raw, channel] : certified_)
      if (auto open = channel.lock(); open && open->peer().certified.text() == subject) gone.push_back(raw);
    for (const net::Channel* raw : gone) channels_.drop(raw);
  }
  nodes_.tell_trust();
  finish<rpc::RevokeToken>(call, revoked);
  return {};
}

Result<> Service::ask_certificate(const Call& call, rpc::AskCertificate request) {
  if (!ports_.certificates) return no_tokens();
  const auto channel = call.channel.lock();
  if (!channel) return {};
  const Subject who = callers_.subject(channel->peer());
  const std::string from = host_of_peer(channel->peer().address);
  // As for a registration: the name of a node that is there is given to nobody else.
  if (who.kind == SubjectKind::kToken && request.role == rpc::TokenRole::kNode)
    if (const auto there = nodes_.address_of(request.name); there && *there != from)
      return fail(Errc::kAccessDenied, {},
                  "node '" + request.name.substr(0, 64) + "' is another machine, at " + *there + ", which is connected");
  auto issued = ports_.certificates->issue(who, from, request, net::Loop::now());
  if (!issued) {
    logger_.error("no certificate for {} at {}: {}", request.name.substr(0, 64), from, issued.error().message());
    return std::unexpected(issued.error());
  }
  if (who.kind == SubjectKind::kToken) logger_.info("{} at {} has joined by a token", request.name, from);
  finish<rpc::AskCertificate>(call, *issued);
  return {};
}

}  // namespace muster::slurmctld
