// Commands about nodes: reboot, cancel_reboot, power. scontrol(1).
#include "base/text.h"
#include "cli/scontrol/context.h"

namespace muster::cli {
namespace {

void send(Context& c, const rpc::ControlNodes& request, const std::string& failed) {
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  if (!answer) return c.complain_input(failed, answer.error());
  for (const rpc::PerJobError& e : answer->errors) c.complain(failed + e.text + " for node " + e.job);
}

}  // namespace

// reboot [ASAP] [FORCE] [nextstate=…] [reason=…] [action=…] {ALL|nodes}
void reboot_nodes(Context& context, Words words) {
  rpc::ControlNodes request;
  for (const std::string& word : words) {
    if (iequals(word, "ASAP")) request.asap = true;
    else if (iequals(word, "FORCE")) request.force = true;
    else if (istarts_with(word, "nextstate=") || istarts_with(word, "next_state=")) request.next_state = word.substr(word.find('=') + 1);
    else if (istarts_with(word, "reason=")) request.reason = word.substr(7);
    else if (istarts_with(word, "action=")) request.power_action = word.substr(7);
    else if (!request.nodes.empty()) return context.complain("invalid reboot argument: " + word);
    else request.nodes = word;
  }
  if (request.nodes.empty()) return context.complain("Missing node list. Specify ALL|<NodeList>");
  if (!request.next_state.empty() && !iequals(request.next_state, "DOWN") && !iequals(request.next_state, "RESUME")) {
    context.complain("Invalid state: " + request.next_state);
    return context.complain("Valid states: DOWN, RESUME");
  }
  send(context, request, "scontrol_reboot_nodes error: ");
}

void cancel_reboot(Context& c, Words words) {
  rpc::ControlNodes request;
  request.action = rpc::NodeAction::kCancelReboot;
  request.nodes = words[0];
  send(c, request, "slurm_update error: ");
}

// power {up|down} [asap|force] {ALL|nodes} [Action=…] [Reason=…]
void power_nodes(Context& context, Words words) {
  rpc::ControlNodes request;
  bool up = iequals(words[0], "up");
  if (!up && !iequals(words[0], "down")) return context.complain("invalid power argument: " + words[0] + "; use up or down");
  request.action = up ? rpc::NodeAction::kPowerUp : rpc::NodeAction::kPowerDown;
  for (const std::string& word : words.subspan(1)) {
    if (iequals(word, "asap")) request.asap = true;
    else if (iequals(word, "force")) request.force = true;
    else if (istarts_with(word, "reason=")) request.reason = word.substr(7);
    else if (istarts_with(word, "action=")) request.power_action = word.substr(7);
    else if (!request.nodes.empty()) return context.complain("invalid power argument: " + word);
    else request.nodes = word;
  }
  if (up && (request.asap || request.force)) return context.complain("power up takes neither ASAP nor FORCE");
  if (up && !request.reason.empty()) return context.complain("a reason can be given only when powering down");
  if (request.nodes.empty()) return context.complain("Missing node list. Specify ALL|<NodeList>|<NodeSet>");
  send(context, request, "slurm_update error: ");
}

// Prints a line for each node: its name and the address that the controller has for it.
void get_addresses(Context& context, Words words) {
  rpc::QueryNodes query;
  query.nodes = words[0];
  query.show_all = true;
  Session* session = context.query_session();
  if (!session) return;
  Out out;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::NodeRows&& part) -> Result<> {
    for (const NodeRow& n : part.nodes) out.line(n.name + " " + (n.address.empty() ? n.name : n.address) + ":" + std::to_string(n.port));
    return {};
  });
  out.flush();
  if (!done) context.complain("slurm_get_node_addresses error: ", Error(done.error().code, std::string(errc_text(done.error().code))));
}

}  // namespace muster::cli
