#include "slurmd/daemon/controller_link.h"

#include <unistd.h>

#include <algorithm>

#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kComplainAfter = milliseconds(200);
constexpr Duration kFetchTimeout = minutes(1);

}  // namespace

void ControllerLink::dial() {
  timer_.reset();
  if (stopped_) return;
  const auto& hosts = setup_.config().slurmctld_hosts;
  std::string agent = setup_.controller_agent();
  bool local = ::access(agent.c_str(), F_OK) == 0 && attempt_ % (hosts.size() + 1) == 0;
  size_t which = attempt_++ % (hosts.size() + 1);
  if (local) {
    net::connect_unix(loop_, agent, [this, agent](Result<net::ChannelPtr> c) { connected(std::move(c), agent); });
    return;
  }
  if (hosts.empty()) return retry("slurm.conf names no SlurmctldHost");
  const config::ControllerHost& host = hosts[which == 0 ? 0 : which - 1];
  std::string address = setup_.config().slurmctld_addr.empty() ? host.address : setup_.config().slurmctld_addr;
  uint16_t port = setup_.config().slurmctld_port.first;
  net::connect_tcp(loop_, address, port, setup_.security, setup_.config().message_timeout,
                   [this, where = address + ":" + std::to_string(port)](Result<net::ChannelPtr> c) { connected(std::move(c), where); });
}

void ControllerLink::connected(Result<net::ChannelPtr> opened, const std::string& where) {
  if (stopped_) return;
  if (!opened) return retry(where + ": " + std::string(opened.error().message()));
  const net::Peer& peer = (*opened)->peer();
  if (!peer.is_daemon(setup_.slurm_user))
    return retry(where + " belongs to uid " + std::to_string(peer.uid.value) + ", which may not be the controller");
  channel_ = std::move(*opened);
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this, where](const Error& e) {
    channel_ = nullptr;
    ports_.lost();
    lost(where + ": " + std::string(e.message()));
  };
  session_ = session_.next(net::Loop::now());
  log_.verbose("connected to slurmctld at {}", where);
  node_rpc::Register r = ports_.registration();
  r.session = session_.number();
  send(std::move(r));
}

// Ends the connection from this side, and makes another one.
void ControllerLink::give_up(const std::string& why) {
  std::exchange(channel_, nullptr)->close();
  ports_.lost();
  lost(why);
}

void ControllerLink::lost(const std::string& why) {
  const Duration registered = std::exchange(registered_at_, Duration{});
  if (registered == Duration{}) return retry(why);
  dials_.reset();
  if (net::Loop::monotonic() - registered < kLasting) return retry_in(sessions_.next(), why);
  sessions_.reset();
  failing_since_ = {};
  complained_ = false;
  retry(why);
}

void ControllerLink::retry(const std::string& why) { retry_in(dials_.next(), why); }

void ControllerLink::retry_in(Duration pause, const std::string& why) {
  if (stopped_) return;
  const Duration now = net::Loop::monotonic();
  if (failing_since_ == Duration{}) failing_since_ = now;
  if (!complained_ && now - failing_since_ >= kComplainAfter) {
    log_.error("Unable to register with slurmctld, trying on: {}", why);
    complained_ = true;
  } else {
    log_.debug("slurmctld: {}", why);
  }
  timer_ = loop_.after(pause, [this] { dial(); });
}

void ControllerLink::send(NodeReport report) {
  if (!channel_) return;
  channel_->notify(wire::kNodeReport, wire::encoded(session_.numbered(std::move(report))));
}

void ControllerLink::relay(const rpc::Relay& request, std::function<void(net::Frame)> part,
                           std::function<void(Result<net::Frame>)> answered) {
  if (!channel_) return answered(fail(Errc::kConnectFailed, {}, "the node daemon has no connection to slurmctld"));
  // What this node has to say itself comes first: users' requests wait with those who asked.
  if (channel_->queued_bytes() > net::kHighMark)
    return answered(fail(Errc::kTryAgainLater, {}, "slurmctld does not keep up with what is asked from this node; try again later"));
  channel_->request_stream(wire::number_of<rpc::Relay>, wire::encoded(request), net::kNoTimeout, std::move(part), std::move(answered));
}

void ControllerLink::fetch(const rpc::FetchContent& what, std::function<void(Result<rpc::ContentPiece>)> answered) {
  if (!channel_) return answered(fail(Errc::kConnectFailed, {}, "the node daemon has no connection to slurmctld"));
  channel_->request(wire::number_of<rpc::FetchContent>, wire::encoded(what), kFetchTimeout,
                    [answered = std::move(answered)](Result<net::Frame> r) {
                      if (!r) return answered(std::unexpected(r.error()));
                      rpc::ContentPiece piece;
                      if (auto ok = wire::decode(r->payload, piece); !ok) return answered(std::unexpected(ok.error()));
                      answered(std::move(piece));
                    });
}

void ControllerLink::ask(uint16_t message, std::string payload, std::function<void(net::Frame)> part,
                         std::function<void(Result<net::Frame>)> answered) {
  if (!channel_) return answered(fail(Errc::kConnectFailed, {}, "the node daemon has no connection to slurmctld"));
  channel_->request_stream(message, std::move(payload), kFetchTimeout, std::move(part), std::move(answered));
}

void ControllerLink::asker_gone(uint64_t asker) {
  if (channel_) channel_->notify(wire::number_of<rpc::AskerGone>, wire::encoded(rpc::AskerGone{asker}));
}

void ControllerLink::on_frame(const net::Frame& frame) {
  if (frame.kind == net::FrameKind::kRequest) return ports_.asked(channel_, frame);
  if (frame.message != wire::kNodeOrder) return;
  Numbered<NodeOrder> order;
  if (auto ok = wire::decode(frame.payload, order); !ok)
    return log_.error("slurmctld sent an order that cannot be read: {}", ok.error().message());
  switch (session_.take(order)) {
    case LinkSession::Taken::kLate: return log_.debug("late order {} of session {} dropped", order.sequence, order.session);
    case LinkSession::Taken::kGap: return give_up("orders before the " + std::to_string(order.sequence) + "th of the session are missing");
    case LinkSession::Taken::kInOrder: break;
  }
  if (std::holds_alternative<node_rpc::Registered>(order.message)) {
    registered_at_ = net::Loop::monotonic();
    // Logged again only after a session that lasted: a controller that drops us soon would fill the log.
    log_.at(complained_ ? os::LogLevel::kVerbose : os::LogLevel::kInfo, "registered with slurmctld as {}", setup_.node);
    attempt_ = attempt_ > 0 ? attempt_ - 1 : 0;  // next time the same one first
  }
  ports_.order(order.message);
}

void ControllerLink::stop() {
  stopped_ = true;
  timer_.reset();
  if (channel_) channel_->close();
  channel_ = nullptr;
}

}  // namespace muster::slurmd
