#include "slurmd/daemon/controller_link.h"

#include <unistd.h>

#include <algorithm>

#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kFirstPause = milliseconds(10), kLongestPause = milliseconds(1000);

}  // namespace

void ControllerLink::dial() {
  timer_.reset();
  if (stopped_) return;
  const auto& hosts = setup_.config().slurmctld_hosts;
  std::string agent = setup_.controller_agent();
  bool local = ::access(agent.c_str(), F_OK) == 0 && attempt_ % (hosts.size() + 1) == 0;
  size_t which = attempt_++ % (hosts.size() + 1);
  if (local) {
    net::connect_unix(loop_, agent,
                      [this, agent](Result<net::ChannelPtr> c) { connected(std::move(c), agent); });
    return;
  }
  if (hosts.empty()) return retry("slurm.conf names no SlurmctldHost");
  const config::ControllerHost& host = hosts[which == 0 ? 0 : which - 1];
  std::string address =
      setup_.config().slurmctld_addr.empty() ? host.address : setup_.config().slurmctld_addr;
  uint16_t port = setup_.config().slurmctld_port.first;
  net::connect_tcp(loop_, address, port, setup_.security, setup_.config().message_timeout,
                   [this, where = address + ":" + std::to_string(port)](Result<net::ChannelPtr> c) {
                     connected(std::move(c), where);
                   });
}

void ControllerLink::connected(Result<net::ChannelPtr> c, const std::string& where) {
  if (stopped_) return;
  if (!c) return retry(where + ": " + std::string(c.error().message()));
  const net::Peer& peer = (*c)->peer();
  bool trusted =
      peer.trust == net::Trust::kClusterKey || peer.uid.value == 0 || peer.uid == setup_.slurm_user;
  if (!trusted)
    return retry(where + " belongs to uid " + std::to_string(peer.uid.value) +
                 ", which may not be the controller");
  channel_ = std::move(*c);
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this, where](const Error& e) {
    channel_ = nullptr;
    ports_.lost();
    retry(where + ": " + std::string(e.message()));
  };
  session_ =
      std::max<uint64_t>(session_ + 1, static_cast<uint64_t>(net::Loop::now().time_since_epoch().count()));
  sent_ = received_ = 0;
  complained_ = false;
  log_.verbose("connected to slurmctld at {}", where);
  node_rpc::Register r = ports_.registration();
  r.session = session_;
  send(std::move(r));
}

void ControllerLink::retry(const std::string& why) {
  if (stopped_) return;
  pause_ = pause_ == Duration{} ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  if (!complained_ && pause_ >= milliseconds(200)) {
    log_.error("Unable to register with slurmctld, trying on: {}", why);
    complained_ = true;
  } else {
    log_.debug("slurmctld: {}", why);
  }
  timer_ = loop_.after(pause_, [this] { dial(); });
}

void ControllerLink::send(NodeReport report) {
  if (!channel_) return;
  Numbered<NodeReport> m;
  m.session = session_;
  m.sequence = ++sent_;
  m.message = std::move(report);
  channel_->notify(wire::kNodeReport, wire::encoded(m));
}

void ControllerLink::relay(const rpc::Relay& request, std::function<void(net::Frame)> part,
                           std::function<void(Result<net::Frame>)> answered) {
  if (!channel_) return answered(fail(Errc::kConnectFailed, {}, "the node daemon has no connection to slurmctld"));
  channel_->request_stream(wire::number_of<rpc::Relay>, wire::encoded(request), net::kNoTimeout, std::move(part), std::move(answered));
}

void ControllerLink::on_frame(const net::Frame& f) {
  if (f.message != wire::kNodeOrder) return;
  Numbered<NodeOrder> m;
  if (auto ok = wire::decode(f.payload, m); !ok)
    return log_.error("slurmctld sent an order that cannot be read: {}", ok.error().message());
  if (m.session != session_ || m.sequence <= received_)
    return log_.debug("late order {} of session {} dropped", m.sequence, m.session);
  received_ = m.sequence;
  if (std::holds_alternative<node_rpc::Registered>(m.message)) {
    pause_ = {};
    attempt_ = attempt_ > 0 ? attempt_ - 1 : 0;  // next time the same one first
  }
  ports_.order(m.message);
}

void ControllerLink::stop() {
  stopped_ = true;
  timer_.reset();
  if (channel_) channel_->close();
  channel_ = nullptr;
}

}  // namespace muster::slurmd
