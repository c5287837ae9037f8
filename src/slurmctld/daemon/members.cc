#include "slurmctld/daemon/members.h"

#include <algorithm>

#include "model/message_bounds.h"
#include "net/authority.h"
#include "slurmctld/core/passed_on.h"
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
  const net::Peer& peer = channel->peer();
  if (peer.trust != net::Trust::kCertificate) return;
  const std::string host = peer.certified.text();
  std::vector<const net::Channel*>& all = of_host_[host];
  all.push_back(channel.get());
  channels_[channel.get()] = {host, host_of_peer(peer.address), peer.expires};
  if (all.size() <= kMostOfHost) return;
  if (auto untold = told_.tell("many " + host, net::Loop::monotonic()))
    logger_.error("{} has {} connections, at last from {}: the oldest ends{}", host, all.size(), peer.address, net::Pace::more(*untold));
  drop_(least_missed(all));
}

// There is one: a node is registered on one connection.
const net::Channel* Members::least_missed(const std::vector<const net::Channel*>& of_one_host) const {
  const auto as_many = [&](const net::Channel* c) {
    return std::ranges::count(of_one_host, channels_.at(c).from, [&](const net::Channel* other) { return channels_.at(other).from; });
  };
  const net::Channel* out = nullptr;
  for (const net::Channel* c : of_one_host)
    if (!nodes_.node_of(c) && (!out || as_many(c) > as_many(out))) out = c;
  return out;
}

void Members::gone(const net::Channel* channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) return;
  const auto all = of_host_.find(at->second.host);
  std::erase(all->second, channel);
  if (all->second.empty()) of_host_.erase(all);
  channels_.erase(at);
}

Result<> Members::check_life(const net::Channel* channel, Time now) const {
  const auto at = channels_.find(channel);
  if (at == channels_.end() || now < at->second.until) return {};
  return fail(Errc::kAuthFailed, "the certificate of " + at->second.host + " has expired");
}

void Members::drop_expired(Time now) {
  std::vector<const net::Channel*> out;
  for (const auto& [channel, open] : channels_)
    if (now >= open.until) out.push_back(channel);
  for (const net::Channel* channel : out) {
    logger_.info("the certificate of {} has expired: its connection ends", channels_.at(channel).host);
    drop_(channel);
  }
}

void Members::look() {
  drop_expired(net::Loop::now());
  look_ = loop_.after(minutes(1), [this] { look(); });
}

// The name of a node that is there is given to no other machine. What a host says of its boot is no proof: it lies on its disk.
Result<> Members::check_place(const net::Channel& channel, const std::string& node) const {
  const std::string from = host_of_peer(channel.peer().address);
  const auto there = nodes_.address_of(node);
  if (!there || *there == from) return {};
  return fail(Errc::kAccessDenied, {}, "node '" + node.substr(0, 64) + "' is another machine, at " + *there + ", which is connected");
}

// A node with a certificate joins as that node, whether slurmd describes it or slurm.conf has it as FUTURE.
Result<Caller> Members::joining(const net::Channel& channel, const rpc::JoinNode& request, const Subject& who, const Cluster& cluster,
                                Caller caller) const {
  const Node* node = who.kind == SubjectKind::kNode ? cluster.node(who.name) : nullptr;
  const bool is_future = node && (node->admin == NodeState::kFuture || (node->flags & kNodeDynamicFuture));
  if (request.as == rpc::JoinAs::kFuture ? !is_future : !who.is_node(request.name))
    return fail(Errc::kAccessDenied, {}, who.text() + " joins as itself and as nobody else");
  MUSTER_TRY_VOID(check_place(channel, who.name));
  caller.uid = Uid{0};
  if (node) caller.through_node = node->id;
  return caller;
}

Result<Caller> Members::as_itself(const net::Channel& channel, uint16_t message, std::string_view payload, const Subject& who,
                                  const Cluster& cluster, Caller caller) const {
  switch (message) {
    case number_of<rpc::FetchConfig>:
    case number_of<rpc::FetchConfigFile>: caller.uid = Uid{0}; return caller;
    case number_of<rpc::JoinNode>: {
      rpc::JoinNode request;
      MUSTER_TRY_VOID(wire::decode(payload, request));
      return joining(channel, request, who, cluster, std::move(caller));
    }
    default: caller.through = who; return caller;
  }
}

std::shared_ptr<const TokenNames> Members::names_kept_from(const net::Channel& channel) const {
  if (!certificates_ || channel.peer().trust == net::Trust::kCertificate) return nullptr;
  return certificates_->names_of_nodes(net::Loop::now());
}

void Members::set_through(Caller& caller, const net::Peer& peer, const Cluster& cluster) {
  if (peer.trust != net::Trust::kCertificate) return;
  caller.through = peer.certified;
  caller.gid = Gid{kNobody.value};  // it may write any
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
    const auto all = of_host_.find(subject);
    if (all == of_host_.end()) continue;
    const std::vector<const net::Channel*> out = all->second;
    for (const net::Channel* raw : out) drop_(raw);
  }
  nodes_.tell_trust();
  return revoked;
}

// Of slurmd -F: a FUTURE node that the token names, and that nobody has joined as. From here on it is asked for as if by that name.
Result<std::string> Members::future_name(const Subject& who, const rpc::AskCertificate& request) const {
  if (who.kind != SubjectKind::kToken || request.role != rpc::TokenRole::kNode || !request.name.empty())
    return fail(Errc::kAccessDenied, {}, "a FUTURE node is chosen for who joins by a token and names none");
  MUSTER_TRY(names, certificates_->book().names(who.name, request.role, net::Loop::now()));
  FutureNames usable;
  usable.may_have = [&names](const std::string& node) { return std::ranges::binary_search(names, node); };
  usable.is_free = [tokens = certificates_->names_of_nodes(net::Loop::now())](const std::string& node) { return !tokens->is_given(node); };
  return choose_(*request.future, usable);
}

Result<rpc::CertificateIssued> Members::answer(const net::Channel& channel, const Subject& who, const Caller& caller,
                                               const rpc::AskCertificate& request) {
  if (!certificates_) return no_tokens();
  if (request.future) {
    rpc::AskCertificate by_name = request;
    by_name.future.reset();
    auto name = future_name(who, request);
    if (!name) {
      if (auto untold = told_.tell("future " + host_of_peer(channel.peer().address), net::Loop::monotonic()))
        logger_.error("no FUTURE node for {}: {} {}{}", channel.peer().address, name.error().message(), name.error().hint,
                      net::Pace::more(*untold));
      return std::unexpected(name.error());
    }
    by_name.name = std::move(*name);
    return answer(channel, who, caller, by_name);
  }
  const std::string from = host_of_peer(channel.peer().address), name = request.name.substr(0, 64);
  const bool by_token = who.kind == SubjectKind::kToken;
  // As for a registration.
  if (by_token && request.role == rpc::TokenRole::kNode) MUSTER_TRY_VOID(check_place(channel, request.name));
  // Who has only copied a node's certificate cannot keep it alive beside that node, which is registered.
  if (who.kind == SubjectKind::kNode && !nodes_.node_of(&channel))
    return fail(Errc::kAccessDenied, {}, who.text() + " is given a new certificate on the connection on which it is registered");
  auto issued = certificates_->issue(who, from, request, net::Loop::now());
  if (issued) {
    if (by_token) logger_.info("{} at {} has joined by a token", name, from);
    if (const auto at = channels_.find(&channel); at != channels_.end())
      if (auto facts = net::read_certificate(issued->certificate)) at->second.until = facts->expires;
  } else if (auto untold = told_.tell("refused " + from, net::Loop::monotonic())) {
    logger_.error("no certificate for {} at {}: {} {}{}", name, from, issued.error().message(), issued.error().hint,
                  net::Pace::more(*untold));
  }
  return issued;
}

}  // namespace muster::slurmctld
