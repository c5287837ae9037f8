#include "slurmd/daemon/controller_link.h"

#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {

ControllerLink::ControllerLink(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports)
    : log_(log),
      setup_(setup),
      ports_(std::move(ports)),
      connection_(loop, log, "Unable to register with slurmctld, trying on", connection_ports()) {}

agent::ControllerConnection::Ports ControllerLink::connection_ports() {
  agent::ControllerConnection::Ports ports;
  ports.way = [this] {
    // A host that joined with a token is known by its certificate alone, also beside slurmctld.
    std::string agent = setup_.by_token ? std::string() : setup_.controller_agent();
    return agent::ControllerConnection::Way::of(setup_.config(), std::move(agent), setup_.security, setup_.slurm_user);
  };
  ports.opened = [this] {
    session_ = session_.next(net::Loop::now());
    node_rpc::Register r = ports_.registration();
    r.session = session_.number();
    send(std::move(r));
  };
  ports.lost = [this] { ports_.lost(); };
  ports.frame = [this](const net::Frame& frame) { on_frame(frame); };
  return ports;
}

void ControllerLink::send(NodeReport report) {
  if (connected()) connection_.notify(wire::kNodeReport, wire::encoded(session_.numbered(std::move(report))));
}

void ControllerLink::fetch(const rpc::FetchContent& what, std::function<void(Result<rpc::ContentPiece>)> answered) {
  connection_.ask(
      wire::number_of<rpc::FetchContent>, wire::encoded(what), kAnswerTime, [](const net::Frame&) {},
      [answered = std::move(answered)](Result<net::Frame> r) {
        if (!r) return answered(std::unexpected(r.error()));
        rpc::ContentPiece piece;
        if (auto ok = wire::decode(r->payload, piece); !ok) return answered(std::unexpected(ok.error()));
        answered(std::move(piece));
      });
}

void ControllerLink::on_frame(const net::Frame& frame) {
  if (frame.kind == net::FrameKind::kRequest) return ports_.asked(connection_.channel(), frame);
  if (frame.message == rpc::ClusterTrust::kNumber) {
    rpc::ClusterTrust trust;
    if (auto ok = wire::decode(frame.payload, trust); ok) ports_.trust(trust);
    else log_.error("slurmctld sent a notice that cannot be read: {}", ok.error().message());
    return;
  }
  if (frame.message != wire::kNodeOrder) return;
  Numbered<NodeOrder> order;
  if (auto ok = wire::decode(frame.payload, order); !ok)
    return log_.error("slurmctld sent an order that cannot be read: {}", ok.error().message());
  switch (session_.take(order)) {
    case LinkSession::Taken::kLate: return log_.debug("late order {} of session {} dropped", order.sequence, order.session);
    case LinkSession::Taken::kGap:
      return connection_.give_up("orders before the " + std::to_string(order.sequence) + "th of the session are missing");
    case LinkSession::Taken::kInOrder: break;
  }
  // Logged again only after a session that lasted: a controller that drops us soon would fill the log.
  if (std::holds_alternative<node_rpc::Registered>(order.message))
    log_.at(connection_.taken() ? os::LogLevel::kVerbose : os::LogLevel::kInfo, "registered with slurmctld as {}", setup_.node);
  ports_.order(order.message);
}

}  // namespace muster::slurmd
