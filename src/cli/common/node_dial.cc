#include "cli/common/node_dial.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "config/hosts.h"
#include "site/trust.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::cli {
namespace {

// The daemon of this host that passes a request on: a slurmd, else sackd. In a job there is a slurmd, even where its socket is gone for now.
struct Neighbour {
  std::string socket;  // "": there is none
  bool is_slurmd = false;
};
Neighbour neighbour(const NodeDialer& d) {
  for (const std::string& name : {own_node_name(), short_hostname()})
    if (!name.empty() && d.is_local(name)) return {d.socket_of(name), true};
  for (const std::string& socket : d.sackd_sockets)
    if (::access(socket.c_str(), F_OK) == 0) return {socket, false};
  const std::string own = own_node_name();
  return own.empty() ? Neighbour{} : Neighbour{d.socket_of(own), true};
}

}  // namespace

Error cannot_reach(Error e) {
  if (e.code == Errc::kConnectFailed && e.text.empty()) e.text = "cannot reach " + (e.hint.empty() ? "it" : std::exchange(e.hint, {}));
  return e;
}

std::string own_node_name() {
  const char* own = ::getenv("SLURMD_NODENAME");
  return own ? own : "";
}

NodeDialer NodeDialer::of(const ClientConf& conf) {
  NodeDialer out{conf.slurmd_pid_file, client_options(conf, Patience::kNone).security, site::sackd_sockets(conf.path)};
  out.patience = seconds(conf.message_timeout_seconds);
  return out;
}

std::string NodeDialer::socket_of(const std::string& node) const {
  return site::slurmd_agent_socket(config::substitute_node(slurmd_pid_file, node, short_hostname()), node);
}

bool NodeDialer::is_local(const std::string& node) const { return ::access(socket_of(node).c_str(), F_OK) == 0; }

void ask_node(net::Loop& loop, const NodeDialer& dialer, NodeRequest request, std::function<void(Result<net::Frame>)> answered) {
  auto send = [answered, &loop, timeout = request.timeout](Result<net::ChannelPtr> c, uint16_t message, std::string payload) {
    if (!c) return answered(std::unexpected(cannot_reach(c.error())));
    net::ChannelPtr channel = *c;
    channel->request(message, std::move(payload), timeout, [answered, &loop, kept = loop.keep(channel)](Result<net::Frame> r) {
      loop.let_go(kept);
      answered(std::move(r));
    });
  };
  auto direct = [send, message = request.message, payload = request.payload](Result<net::ChannelPtr> c) {
    send(std::move(c), message, payload);
  };
  const Duration patience = std::min(dialer.patience, request.timeout);
  const std::string socket = dialer.socket_of(request.node.name);
  if (dialer.is_local(request.node.name)) return net::connect_unix(loop, socket, direct, patience);
  const Neighbour beside = neighbour(dialer);
  const bool is_here = beside.socket == socket;  // and is away for now
  // `refused`: why the node itself was not reached, which is what is told where nobody is there to pass it on.
  auto pass_on = [&loop, send, direct, beside, request, patience, is_here](const std::optional<Error>& refused) {
    auto or_refused = [refused](Result<net::ChannelPtr> c) { return c || !refused ? std::move(c) : std::unexpected(*refused); };
    auto here = [direct, or_refused](Result<net::ChannelPtr> c) { direct(or_refused(std::move(c))); };
    if (is_here || (request.any_slurmd && beside.is_slurmd)) return net::connect_unix(loop, beside.socket, here, patience);
    std::string relay = wire::encoded(rpc::RelayToNode{request.node.name, request.message, request.payload});
    auto relayed = [send, relay, or_refused](Result<net::ChannelPtr> c) {
      send(or_refused(std::move(c)), wire::number_of<rpc::RelayToNode>, relay);
    };
    net::connect_unix(loop, beside.socket, relayed, patience);
  };
  // A node that joined with a token has a certificate and no key; slurmds know each other by theirs.
  auto with_key = [direct, pass_on, beside, is_here](Result<net::ChannelPtr> c) {
    const Errc why = c ? Errc::kOk : c.error().code;
    if ((why == Errc::kAuthFailed && !beside.socket.empty()) || (why == Errc::kConnectFailed && is_here)) pass_on(c.error());
    else direct(std::move(c));
  };
  if (dialer.security.kind == net::Security::Kind::kMunge || !dialer.security.key.empty())
    return net::connect_tcp(loop, request.node.host, request.node.port, dialer.security, dialer.connect_timeout, with_key);
  if (!beside.socket.empty()) return pass_on(std::nullopt);
  loop.defer([answered] {
    answered(fail(Errc::kConnectFailed,
                  "the cluster key cannot be read, and neither slurmd nor sackd runs on this host to pass the request on"));
  });
}

}  // namespace muster::cli
