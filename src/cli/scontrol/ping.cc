// scontrol ping: which of the configured controllers answers. Each is asked once, without retry.
#include "cli/scontrol/context.h"

namespace muster::cli {
namespace {

std::string role_of(size_t index) {
  return index == 0 ? "primary" : "backup" + (index == 1 ? "" : std::to_string(index));
}

bool answers(const net::ClientOptions& how, uint32_t& index) {
  Result<std::unique_ptr<net::Client>> client = net::connect_client(how);
  if (!client) return false;
  std::string bytes;
  wire::encode(rpc::Ping{}, bytes);
  Result<net::Frame> frame = (*client)->request(wire::number_of<rpc::Ping>, bytes, how.timeout);
  rpc::Pong pong;
  if (!frame || !wire::decode(frame->payload, pong)) return false;
  index = pong.index;
  return true;
}

}  // namespace

std::string ping_text(Context& c, bool& all_up) {
  all_up = false;
  Session* session = c.query_session();
  if (!session) return {};
  const ClientConf& conf = session->conf();
  std::vector<bool> up(conf.controllers.size());
  net::ClientOptions how = client_options(conf, Patience::kNone);
  net::ClientOptions any = how;
  uint32_t index = 0;
  // Whoever the usual way leads to; then the others, one by one, where the key allows it.
  if (answers(any, index) && index < up.size()) up[index] = true;
  for (size_t i = 0; i < up.size() && up.size() > 1; ++i) {
    if (up[i]) continue;
    net::ClientOptions one = how;
    one.agent_sockets.clear();
    one.controllers = {how.controllers[i]};
    up[i] = answers(one, index);
  }
  std::string out;
  all_up = true;
  bool any_up = false;
  for (size_t i = 0; i < up.size(); ++i) {
    out += "Slurmctld(" + role_of(i) + ") at " + conf.controllers[i].name + " is " + (up[i] ? "UP" : "DOWN") +
           "\n";
    all_up = all_up && up[i];
    any_up = any_up || up[i];
  }
  if (!any_up)
    out +=
        "*****************************************\n"
        "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"
        "*****************************************\n";
  return out;
}

void ping(Context& c) {
  bool all_up = false;
  std::string text = ping_text(c, all_up);
  Out out;
  out.put(text);
  if (!all_up) c.exit_code = 1;
}

}  // namespace muster::cli
