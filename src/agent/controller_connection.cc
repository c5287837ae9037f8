#include "agent/controller_connection.h"

#include <unistd.h>

#include <algorithm>

#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::agent {
namespace {

constexpr Duration kComplainAfter = milliseconds(200);

std::unexpected<Error> no_connection() { return fail(Errc::kConnectFailed, {}, "the daemon of this host has no connection to slurmctld"); }

}  // namespace

ControllerConnection::Way ControllerConnection::Way::of(const config::Config& config, std::string agent_socket,
                                                        const net::Security& security, Uid slurm_user) {
  Way way{.agent_socket = std::move(agent_socket), .port = config.slurmctld_port.first, .security = security};
  for (const config::ControllerHost& host : config.slurmctld_hosts)
    way.hosts.push_back(config.slurmctld_addr.empty() ? host.address : config.slurmctld_addr);
  way.timeout = config.message_timeout;
  way.slurm_user = slurm_user;
  return way;
}

void ControllerConnection::dial() {
  timer_.reset();
  if (stopped_) return;
  const Way way = ports_.way();
  const bool local = ::access(way.agent_socket.c_str(), F_OK) == 0 && attempt_ % (way.hosts.size() + 1) == 0;
  const size_t which = attempt_++ % (way.hosts.size() + 1);
  auto done = [this, user = way.slurm_user](const std::string& where) {
    return [this, where, user](Result<net::ChannelPtr> c) { connected(std::move(c), where, user); };
  };
  if (local) return net::connect_unix(loop_, way.agent_socket, done(way.agent_socket));
  if (way.hosts.empty()) return retry("slurm.conf names no SlurmctldHost");
  const std::string& host = way.hosts[which == 0 ? 0 : which - 1];
  net::connect_tcp(loop_, host, way.port, way.security.expecting("controller"), way.timeout, done(host + ":" + std::to_string(way.port)));
}

void ControllerConnection::connected(Result<net::ChannelPtr> opened, const std::string& where, Uid slurm_user) {
  if (stopped_) return;
  if (!opened) return retry(where + ": " + std::string(opened.error().message()));
  const net::Peer& peer = (*opened)->peer();
  if (!peer.may_be_controller(slurm_user))
    return retry(where + " belongs to uid " + std::to_string(peer.uid.value) + ", which may not be the controller");
  channel_ = std::move(*opened);
  channel_->on_request = [this](net::Frame f) { ports_.frame(f); };
  channel_->on_closed = [this, where](const Error& e) {
    channel_ = nullptr;
    ports_.lost();
    lost(where + ": " + std::string(e.message()));
  };
  log_.verbose("connected to slurmctld at {}", where);
  ports_.opened();
}

bool ControllerConnection::taken() {
  taken_at_ = net::Loop::monotonic();
  attempt_ = attempt_ > 0 ? attempt_ - 1 : 0;  // next time the same one first
  return complained_;
}

void ControllerConnection::give_up(const std::string& why) {
  std::exchange(channel_, nullptr)->close();
  ports_.lost();
  lost(why);
}

void ControllerConnection::lost(const std::string& why) {
  const Duration taken = std::exchange(taken_at_, Duration{});
  if (taken == Duration{}) return retry(why);
  dials_.reset();
  if (net::Loop::monotonic() - taken < kLasting) return retry_in(sessions_.next(), why);
  sessions_.reset();
  failing_since_ = {};
  complained_ = false;
  retry(why);
}

void ControllerConnection::retry(const std::string& why) { retry_in(dials_.next(), why); }

void ControllerConnection::retry_in(Duration pause, const std::string& why) {
  if (stopped_) return;
  const Duration now = net::Loop::monotonic();
  if (failing_since_ == Duration{}) failing_since_ = now;
  if (!complained_ && now - failing_since_ >= kComplainAfter) {
    log_.error("{}: {}", complaint_, why);
    complained_ = true;
  } else {
    log_.debug("slurmctld: {}", why);
  }
  timer_ = loop_.after(pause, [this] { dial(); });
}

void ControllerConnection::notify(uint16_t message, std::string payload) {
  if (channel_) channel_->notify(message, std::move(payload));
}

void ControllerConnection::ask(uint16_t message, std::string payload, Duration timeout, std::function<void(net::Frame)> part,
                               std::function<void(Result<net::Frame>)> answered) {
  if (!channel_) return answered(no_connection());
  channel_->request_stream(message, std::move(payload), timeout, std::move(part), std::move(answered));
}

void ControllerConnection::relay(const rpc::Relay& request, std::function<void(net::Frame)> part,
                                 std::function<void(Result<net::Frame>)> answered) {
  if (!channel_) return answered(no_connection());
  if (channel_->queued_bytes() > net::kHighMark)
    return answered(fail(Errc::kTryAgainLater, {}, "slurmctld does not keep up with what is asked from this host; try again later"));
  channel_->request_stream(wire::number_of<rpc::Relay>, wire::encoded(request), net::kNoTimeout, std::move(part), std::move(answered));
}

void ControllerConnection::stop() {
  stopped_ = true;
  timer_.reset();
  if (channel_) channel_->close();
  channel_ = nullptr;
}

}  // namespace muster::agent
