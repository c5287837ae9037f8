// scontrol ping: which of the configured controllers answer. Each is asked once, without retry.
#include <algorithm>

#include "cli/common/document.h"
#include "cli/scontrol/context.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

std::string role_of(size_t index) { return index == 0 ? "primary" : "backup" + (index == 1 ? "" : std::to_string(index)); }

bool answers(const net::ClientOptions& how, uint32_t& index) {
  Result<std::unique_ptr<net::Client>> client = net::connect_client(how);
  if (!client) return false;
  Result<net::Frame> frame = (*client)->request(wire::number_of<rpc::Ping>, wire::encoded(rpc::Ping{}), how.timeout);
  rpc::Pong pong;
  if (!frame || !wire::decode(frame->payload, pong)) return false;
  index = pong.index;
  return true;
}

// The answer of each configured controller, in order; empty after a complaint.
std::vector<fields::ControllerPing> ping_all(Context& context) {
  Session* session = context.query_session();
  if (!session) return {};
  const ClientConf& conf = session->conf();
  std::vector<fields::ControllerPing> out;
  for (const ControllerHost& h : conf.controllers) out.push_back({h.name, false, out.empty(), 0});
  net::ClientOptions how = client_options(conf, Patience::kNone);
  auto try_one = [&](const net::ClientOptions& options, uint32_t& index) {
    Time began = os::monotonic_now();
    bool up = answers(options, index);
    if (up && index < out.size()) {
      out[index].up = true;
      out[index].microseconds = (os::monotonic_now() - began).count();
    }
  };
  // First the controller that the usual way leads to; then the others, one by one, where the key allows it.
  uint32_t index = 0;
  try_one(how, index);
  for (size_t i = 0; i < out.size() && out.size() > 1; ++i) {
    if (out[i].up) continue;
    net::ClientOptions one = how;
    one.agent_sockets.clear();
    one.controllers = {how.controllers[i]};
    index = static_cast<uint32_t>(i);
    try_one(one, index);
  }
  return out;
}

bool all_of_them_up(const std::vector<fields::ControllerPing>& pings) {
  return !pings.empty() && std::ranges::all_of(pings, [](const auto& p) { return p.up; });
}

std::string text_of(const std::vector<fields::ControllerPing>& pings) {
  std::string out;
  bool any_up = false;
  for (size_t i = 0; i < pings.size(); ++i) {
    out += "Slurmctld(" + role_of(i) + ") at " + pings[i].host + " is " + (pings[i].up ? "UP" : "DOWN") + "\n";
    any_up = any_up || pings[i].up;
  }
  if (!any_up && !pings.empty())
    out += "*****************************************\n"
           "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"
           "*****************************************\n";
  return out;
}

}  // namespace

std::string ping_text(Context& c, bool& all_up) {
  std::vector<fields::ControllerPing> pings = ping_all(c);
  all_up = all_of_them_up(pings);
  return text_of(pings);
}

void ping(Context& context) {
  std::vector<fields::ControllerPing> pings = ping_all(context);
  if (!all_of_them_up(pings)) context.exit_code = 1;
  if (pings.empty()) return;
  Out out;
  if (context.options.data.kind == DataOutput::Kind::kText) return out.put(text_of(pings));
  if (auto code = data_parser_asked(context.options.data, context.log)) {
    context.exit_code = *code;
    return;
  }
  Document document(context.options.data, context.options, "pings", context.query_session()->conf(), out);
  for (const fields::ControllerPing& p : pings) fields::json_ping(p, document.sink());
}

}  // namespace muster::cli
