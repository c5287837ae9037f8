#include "slurmctld/daemon/node_links.h"

#include <map>

#include "slurmctld/daemon/peer_host.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

constexpr Duration kMostAhead = minutes(24 * 60);  // of a node's clock

}  // namespace

Result<> NodeLinks::on_report(const net::ChannelPtr& channel, std::string_view payload) {
  Numbered<NodeReport> report;
  MUSTER_TRY_VOID(wire::decode(payload, report));
  auto at = links_.find(channel.get());
  if (auto* r = std::get_if<node_rpc::Register>(&report.message)) {
    MUSTER_TRY_VOID(accept_node(channel, report.session, *r));
    r->address = ports_.address_of(channel->peer());  // whatever it says itself
    at = links_.find(channel.get());
  } else if (at == links_.end()) {
    return fail(Errc::kUnexpectedMessage, "a node must register before it reports");
  }
  Link& link = at->second;
  switch (link.session.take(report)) {
    case LinkSession::Taken::kLate: break;
    case LinkSession::Taken::kGap:
      if (auto untold = told_.tell("gap of " + link.name, net::Loop::monotonic()))
        logger_.error("node {}: reports before the {}th of its session are missing; it has to connect again{}", link.name, report.sequence,
                      net::Pace::more(*untold));
      drop(link.node);
      break;
    case LinkSession::Taken::kInOrder: ports_.report(link.node, std::move(report.message)); break;
  }
  return {};
}

Result<> NodeLinks::accept_node(const net::ChannelPtr& channel, uint64_t session, const node_rpc::Register& registration) {
  if (const net::Peer& peer = channel->peer(); peer.trust == net::Trust::kCertificate && !peer.certified.is_node(registration.node)) {
    if (auto untold = told_.tell("certificate of " + peer.certified.text(), net::Loop::monotonic()))
      logger_.error("{} at {} registers as node '{}' and is refused{}", peer.certified.text(), peer.address,
                    registration.node.substr(0, 256), net::Pace::more(*untold));
    return fail(Errc::kAccessDenied, {}, peer.certified.text() + " registers as itself and as nobody else");
  }
  MUSTER_TRY_VOID(check_session(*channel, session, registration.node));
  std::shared_ptr<const Cluster> cluster = ports_.snapshot();
  const Node* node = cluster->node(registration.node);
  if (!node) {
    if (auto untold = told_.tell("no node " + registration.node, net::Loop::monotonic()))
      logger_.error("a slurmd at {} registers as node '{}', which slurm.conf does not have{}", channel->peer().address, registration.node,
                    net::Pace::more(*untold));
    return fail(Errc::kInvalidNodeName, {},
                "node '" + registration.node + "' is not in the controller's slurm.conf, and it was deleted or never joined (slurmd -Z)");
  }
  if (auto of = links_.find(channel.get()); of != links_.end() && of->second.node != node->id)
    return fail(Errc::kInvalidNodeName, {}, "this connection is of node " + of->second.name);
  if (auto old = by_node_.find(node->id.value); old != by_node_.end())
    MUSTER_TRY_VOID(may_replace(links_.at(old->second), *channel, session, registration));
  if (auto old = by_node_.find(node->id.value); old != by_node_.end() && old->second != channel.get()) {
    net::ChannelPtr gone = links_.at(old->second).channel;
    links_.erase(old->second);
    ports_.close(gone);
  }
  Link& link = links_[channel.get()];
  link = {channel, node->id, registration.node, registration.hardware.boot_id, LinkSession(session), {}, false, false};
  by_node_[node->id.value] = channel.get();
  channel->count_apart();
  logger_.debug("node {} registered from {}", registration.node, channel->peer().address);
  if (std::string trust = ports_.trust(); !trust.empty()) channel->notify(rpc::ClusterTrust::kNumber, std::move(trust));
  // The session's first order, before any that the registration gives rise to.
  node_rpc::Registered hello;
  hello.session = session;
  hello.config = ports_.config_version();
  send(node->id, hello);
  if (met_.insert(node->id.value).second && ports_.reconfigures_first())
    send(node->id, node_rpc::Reconfigure{false, ports_.config_version()});
  ports_.connected(node->id);
  return {};
}

Result<> NodeLinks::check_session(const net::Channel& channel, uint64_t session, const std::string& node) {
  if (session <= static_cast<uint64_t>((net::Loop::now() + kMostAhead).time_since_epoch().count())) return {};
  const std::string why = "session " + std::to_string(session) + ": the clock of the node is more than a day ahead of slurmctld's";
  if (auto untold = told_.tell("session of " + node, net::Loop::monotonic()))
    logger_.error("node {} at {} is refused: {}{}", node.substr(0, 256), channel.peer().address, why, net::Pace::more(*untold));
  return fail(Errc::kInvalidArgument, {}, why);
}

// An older registration that arrives late must not take the place of a newer one. Where there is no newer one any number is good: a node's
// clock may have stepped back.
Result<> NodeLinks::may_replace(const Link& link, const net::Channel& by, uint64_t session, const node_rpc::Register& registration) {
  if (!link.session.gives_way_to(session))
    return fail(Errc::kInvalidStateChange, "node " + link.name + " registers with session " + std::to_string(session) +
                                               " while its session " + std::to_string(link.session.number()) + " lasts");
  const std::string here = host_of_peer(link.channel->peer().address), there = host_of_peer(by.peer().address);
  const bool same_boot = by.peer().trust != net::Trust::kCertificate && link.boot_id == registration.hardware.boot_id;
  if (here == there || same_boot) return {};
  if (auto untold = told_.tell("name of " + link.name, net::Loop::monotonic()))
    logger_.error("a slurmd at {} registers as node {}, which is another machine at {} whose connection lives{}", by.peer().address,
                  link.name, link.channel->peer().address, net::Pace::more(*untold));
  return fail(Errc::kInvalidNodeName, {}, "node '" + link.name + "' is another machine, at " + here + ", which is connected");
}

void NodeLinks::on_closed(const net::Channel* channel) {
  auto at = links_.find(channel);
  if (at == links_.end()) return;
  NodeId node = at->second.node;
  if (auto untold = told_.tell(at->second.name, net::Loop::monotonic()))
    logger_.info("node {}: connection lost{}", at->second.name, net::Pace::more(*untold));
  if (auto n = by_node_.find(node.value); n != by_node_.end() && n->second == channel) {
    by_node_.erase(n);
    ports_.disconnected(node);
  }
  links_.erase(at);
}

void NodeLinks::ask(NodeId node, uint16_t message, std::string payload, Duration timeout,
                    std::function<void(Result<net::Frame>)> answered) {
  auto at = by_node_.find(node.value);
  if (at == by_node_.end())
    return ports_.later([answered = std::move(answered)] { answered(fail(Errc::kConnectFailed, {}, "the node is not connected")); });
  links_.at(at->second).channel->request(message, std::move(payload), timeout, std::move(answered));
}

// Whether an obligation stands behind the order: then it is said again when the core is asked for it.
bool is_repeated(const NodeOrder& order) {
  return std::holds_alternative<node_rpc::LaunchBatch>(order) || std::holds_alternative<node_rpc::TerminateJob>(order) ||
         std::holds_alternative<node_rpc::SuspendJob>(order) || std::holds_alternative<node_rpc::PrepareJob>(order) ||
         std::holds_alternative<node_rpc::ManageSteps>(order);
}

void NodeLinks::send(NodeId node, const NodeOrder& order) {
  auto at = by_node_.find(node.value);
  if (at == by_node_.end()) return;
  Link& link = links_.at(at->second);
  if (link.waiting.empty() && link.channel->queued_bytes() < kWindow) return send_now(link, order);
  if (link.waiting.size() >= kMostWaiting && is_repeated(order)) {
    link.left_out = true;
  } else if (link.waiting.size() >= 4 * kMostWaiting) {
    logger_.debug("node {} does not keep up: a signal or note for one of its jobs is dropped", link.name);
  } else {
    link.waiting.push_back(order);
  }
  flush_later(link);
}

void NodeLinks::send_now(Link& link, const NodeOrder& order) {
  link.channel->notify(wire::kNodeOrder, wire::encoded(link.session.numbered(order)));
}

void NodeLinks::flush_later(Link& link) {
  if (std::exchange(link.flushing, true)) return;
  link.channel->when_writable([this, raw = link.channel.get(), session = link.session.number()] { flush(raw, session); });
}

void NodeLinks::flush(const net::Channel* channel, uint64_t session) {
  auto at = links_.find(channel);
  if (at == links_.end() || at->second.session.number() != session) return;
  Link& link = at->second;
  link.flushing = false;
  while (!link.waiting.empty() && link.channel->queued_bytes() < kWindow) {
    send_now(link, link.waiting.front());
    link.waiting.pop_front();
  }
  if (!link.waiting.empty()) return flush_later(link);
  if (std::exchange(link.left_out, false)) ports_.behind(link.node);
}

std::optional<NodeId> NodeLinks::node_of(const net::Channel* channel) const {
  auto at = links_.find(channel);
  return at == links_.end() ? std::nullopt : std::optional(at->second.node);
}

size_t NodeLinks::waiting(NodeId node) const {
  auto at = by_node_.find(node.value);
  return at == by_node_.end() ? 0 : links_.at(at->second).waiting.size();
}

namespace {

// Exporters know some kinds of orders by Slurm's names and numbers.
rpc::CallCount kind_of(const NodeOrder& order) {
  if (std::holds_alternative<node_rpc::LaunchBatch>(order)) return {"REQUEST_BATCH_JOB_LAUNCH", 4005, 0, 0};
  if (std::holds_alternative<node_rpc::TerminateJob>(order)) return {"REQUEST_TERMINATE_JOB", 6011, 0, 0};
  if (std::holds_alternative<node_rpc::PrepareJob>(order)) return {"REQUEST_LAUNCH_PROLOG", 6017, 0, 0};
  const auto name = std::visit([](const auto& o) { return wire::type_name<std::decay_t<decltype(o)>>(); }, order);
  return {"MUSTER_" + std::string(name), 61000u + static_cast<uint32_t>(order.index()), 0, 0};
}

}  // namespace

void NodeLinks::add_pending(rpc::Statistics& out) const {
  std::map<uint32_t, rpc::CallCount> kinds;
  for (const auto& [channel, link] : links_)
    for (const NodeOrder& order : link.waiting) {
      rpc::CallCount kind = kind_of(order);
      if (out.pending_orders.size() < kPendingShown) out.pending_orders.push_back({kind.name, link.name});
      ++kinds.try_emplace(kind.id, kind).first->second.count;
    }
  for (auto& [id, kind] : kinds) out.orders_waiting.push_back(std::move(kind));
}

void NodeLinks::drop(NodeId node) {
  auto at = by_node_.find(node.value);
  if (at == by_node_.end()) return;
  net::ChannelPtr channel = links_.at(at->second).channel;
  on_closed(channel.get());
  ports_.close(channel);
}

void NodeLinks::tell_trust() {
  const std::string trust = ports_.trust();
  if (trust.empty()) return;
  for (const auto& [raw, link] : links_) link.channel->notify(rpc::ClusterTrust::kNumber, trust);
}

std::optional<std::string> NodeLinks::address_of(const std::string& node) const {
  const std::shared_ptr<const Cluster> cluster = ports_.snapshot();
  const Node* known = cluster->node(node);
  const auto at = known ? by_node_.find(known->id.value) : by_node_.end();
  if (at == by_node_.end()) return std::nullopt;
  return host_of_peer(links_.at(at->second).channel->peer().address);
}

void NodeLinks::send_to_all(const NodeOrder& order) {
  std::vector<NodeId> nodes;
  for (const auto& [id, channel] : by_node_) nodes.push_back(NodeId(id));
  for (NodeId n : nodes) send(n, order);
}

}  // namespace muster::slurmctld
