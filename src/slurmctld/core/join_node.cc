// A slurmd that was started with -Z or -F asks which node it is (model/join_rpc.h). Once it has the answer it registers like any other, and
// stays a node until scontrol delete, or for -F until State=FUTURE: so a slurmd that merely connects again takes nothing back.
//
// Who has a certificate as a node joins as that node: View::caller.through_node says which. Everybody else has the cluster key or is root. Even so a name is not taken from a machine that is there: while its slurmd is connected, only
// the same machine, by the id of its boot or by its address, is given it. And a name that a token is for is joined with that token alone
// (docs/security.md); a machine that had joined as that node before there was the token keeps it.
#include <algorithm>

#include "base/text.h"
#include "model/request_texts.h"
#include "slurmctld/core/create_node.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/join_node.h"
#include "slurmctld/core/token_book.h"

namespace muster::slurmctld {
namespace {

std::string address_of(const View& view, const rpc::JoinNode& request) {
  return view.caller.address.empty() ? request.hostname : view.caller.address;
}

Result<> check_request(const rpc::JoinNode& request) {
  MUSTER_TRY_VOID(check_texts(request.definition));
  for (const rpc::KeyValue& kv : request.definition)
    for (const char* key : {"NodeName", "NodeHostname", "Port"})
      if (iequals(kv.key, key))
        return fail(Errc::kInvalidArgument, {}, std::string(key) + " is not for slurmd --conf: give the name with -N");
  if (request.name.size() > kMostText || request.hostname.size() > kMostText || request.feature.size() > kMostText)
    return fail(Errc::kInvalidNodeName, {}, "a name is longer than " + std::to_string(kMostText) + " bytes");
  return {};
}

Result<NodeSpec> one_node(const config::Config& config, const rpc::JoinNode& request) {
  MUSTER_TRY(specs, read_node_line(config, request.name, request.definition));
  if (specs.size() != 1 || specs.front().name != request.name) return fail(Errc::kInvalidNodeName, {}, "a slurmd is one node");
  return std::move(specs.front());
}

// The node that the request describes, where it is.
Result<NodeSpec> described(const View& view, const rpc::JoinNode& request) {
  MUSTER_TRY(spec, one_node(view.settings.config(), request));
  if (spec.cloud || spec.future || spec.external)
    return fail(Errc::kInvalidNodeState, {}, "State=" + spec.initial_state + " is of nodes that scontrol creates or slurm.conf has");
  const bool given = std::ranges::any_of(request.definition, [](const rpc::KeyValue& kv) { return iequals(kv.key, "NodeAddr"); });
  if (!given) spec.address = address_of(view, request);
  spec.hostname = request.hostname;
  spec.port = request.port ? request.port : view.settings.config().slurmd_port;
  return spec;
}

Result<> check_machine(const View& view, const Node& node, const rpc::JoinNode& request) {
  if (!node.connected || !node.hardware || node.hardware->boot_id == request.boot_id) return {};
  if (node.spec->address == address_of(view, request)) return {};
  return fail(Errc::kInvalidNodeName, "node " + node.spec->name + " is another machine, which is connected",
              "its slurmd runs at " + node.spec->address + "; choose another name with -N");
}

bool same_make(const NodeSpec& a, const NodeSpec& b) {
  return a.cpus == b.cpus && a.boards == b.boards && a.sockets == b.sockets && a.cores_per_socket == b.cores_per_socket &&
         a.threads_per_core == b.threads_per_core && a.real_memory_mb == b.real_memory_mb && a.gres == b.gres && a.features == b.features;
}

NodeSpec moved(NodeSpec spec, const NodeSpec& to) {
  spec.address = to.address;
  spec.hostname = to.hostname;
  spec.port = to.port;
  return spec;
}

// A node that is there already: a slurmd that was started again, or one whose node scontrol created.
Result<> join_known(const View& view, const Node& node, NodeSpec spec, Decision<rpc::NodeJoined>& out) {
  const NodeSpec& known = *node.spec;
  const bool created = known.cloud || known.future || known.external;
  const bool busy = !view.indexes.jobs_on(node.id).empty();
  if ((created || busy) && !same_make(known, spec))
    out.reply.note = created ? "node " + known.name + " was created by scontrol: what it was created with counts, not --conf"
                             : "jobs run on node " + known.name +
                                   ": it keeps the definition that it had before; start its slurmd again when they have ended";
  return redefine_node(view, node, created || busy ? moved(known, spec) : std::move(spec), out.events);
}

Result<> check_tokens(const View& view, const std::string& name, const rpc::JoinNode& request) {
  const TokenNames* tokens = view.caller.token_names.get();
  if (!tokens) return {};
  const Node* node = view.cluster.node(name);
  const bool has_it = node && node->hardware && iequals(node->spec->hostname, request.hostname);
  if (!tokens->is_given(name) && (has_it || !tokens->is_open(name))) return {};
  return fail(Errc::kInvalidNodeName, "the name of node " + name + " is for who joins by a token",
              "start its slurmd with --token-file; or see muster token list, and take the token or the node's certificate back");
}

// The names of FUTURE nodes that the caller may have without a certificate.
FutureNames names_without_token(const View& view) {
  const std::shared_ptr<const TokenNames> tokens = view.caller.token_names;
  return {[tokens](const std::string& node) { return !tokens || !tokens->is_given(node); },
          [tokens](const std::string& node) { return !tokens || !tokens->is_open(node); }};
}

Result<> join_as_itself(const View& view, const rpc::JoinNode& request, Decision<rpc::NodeJoined>& out) {
  MUSTER_TRY(spec, described(view, request));
  out.reply.name = spec.name;
  out.reply.definition = request.definition;
  MUSTER_TRY_VOID(check_tokens(view, spec.name, request));
  const Node* node = view.cluster.node(spec.name);
  if (!node) {
    std::vector<NodeSpec> one;
    one.push_back(std::move(spec));
    return add_nodes(view, std::move(one), out.events);
  }
  if (!node->spec->dynamic) return fail(Errc::kInvalidNodeName, {}, "node " + spec.name + " is in slurm.conf: start its slurmd without -Z");
  if (node->admin == NodeState::kFuture)
    return fail(Errc::kInvalidNodeState, {}, "node " + spec.name + " is FUTURE: start its slurmd with -F");
  MUSTER_TRY_VOID(check_machine(view, *node, request));
  return join_known(view, *node, std::move(spec), out);
}

// What slurmd has to know of the NodeName line of a node that its slurm.conf may not have.
std::vector<rpc::KeyValue> definition_of(const NodeSpec& spec) {
  std::vector<rpc::KeyValue> out;
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty() && value != "0") out.push_back({key, "=", value});
  };
  add("CPUs", std::to_string(spec.cpus));
  add("Boards", std::to_string(spec.boards));
  add("SocketsPerBoard", std::to_string(spec.sockets / std::max(1u, spec.boards)));
  add("CoresPerSocket", std::to_string(spec.cores_per_socket));
  add("ThreadsPerCore", std::to_string(spec.threads_per_core));
  add("RealMemory", std::to_string(spec.real_memory_mb));
  add("TmpDisk", std::to_string(spec.tmp_disk_mb));
  add("Port", std::to_string(spec.port));
  add("Features", join(spec.features, ","));
  add("Gres", spec.gres_text.text());
  add("Parameters", spec.parameters);
  return out;
}

// slurm.conf(5): the same sockets, cores and threads; and the feature that is asked for.
bool fits(const NodeSpec& s, const NodeSpec& machine, const std::string& feature) {
  return s.sockets == machine.sockets && s.cores_per_socket == machine.cores_per_socket && s.threads_per_core == machine.threads_per_core &&
         (feature.empty() || std::ranges::find(s.features, feature) != s.features.end());
}

// The machine that had a node before gets the same again.
const Node* future_for(const Cluster& cluster, const rpc::JoinNode& request, const NodeSpec& machine, const FutureNames& names) {
  const Node* free = nullptr;
  const Node* own = nullptr;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    if ((n.flags & kNodeDynamicFuture) && iequals(n.spec->hostname, request.name) && names.may_have(n.spec->name)) own = &n;
    if (free || n.admin != NodeState::kFuture || n.connected || !fits(*n.spec, machine, request.feature)) return;
    if (names.may_have(n.spec->name) && names.is_free(n.spec->name)) free = &n;
  });
  return own ? own : free;
}

// The node of the certificate: whatever the machine is called today.
const Node* bound_to(const View& view, const rpc::JoinNode& request, const NodeSpec& machine) {
  const Node* node = view.cluster.nodes.find(view.caller.through_node->value);
  if (!node) return nullptr;
  const bool waits = node->admin == NodeState::kFuture && fits(*node->spec, machine, request.feature);
  return waits || (node->flags & kNodeDynamicFuture) ? node : nullptr;
}

std::unexpected<Error> none_left(const rpc::JoinNode& request, const NodeSpec& machine, const char* also = "") {
  return fail(Errc::kInvalidNodeName, "no FUTURE node is left for this machine",
              "it needs one with Sockets=" + std::to_string(machine.sockets) + " CoresPerSocket=" +
                  std::to_string(machine.cores_per_socket) + " ThreadsPerCore=" + std::to_string(machine.threads_per_core) +
                  (request.feature.empty() ? "" : " Feature=" + request.feature) + also);
}

Result<> join_as_future(const View& view, const rpc::JoinNode& request, Decision<rpc::NodeJoined>& out) {
  MUSTER_TRY(machine, described(view, request));
  const Node* node =
      view.caller.through_node ? bound_to(view, request, machine) : future_for(view.cluster, request, machine, names_without_token(view));
  if (!node) return none_left(request, machine, view.caller.token_names ? ", and no token that is for it" : "");
  MUSTER_TRY_VOID(check_machine(view, *node, request));
  NodeSpec spec = *node->spec;
  spec.address = machine.address;
  spec.hostname = request.name;
  out.reply.name = spec.name;
  out.reply.definition = definition_of(spec);
  event::NodeStateChanged change = state_of(*node, view.now);
  change.flags |= kNodeDynamicFuture;
  if (change.admin == NodeState::kFuture) change.admin = NodeState::kUnknown;  // until it registers
  if (change.flags != node->flags || change.admin != node->admin) out.events.push_back(std::move(change));
  return redefine_node(view, *node, std::move(spec), out.events);
}

}  // namespace

Result<std::string> choose_future(const Cluster& cluster, const config::Config& config, const rpc::JoinNode& machine,
                                  const FutureNames& names) {
  MUSTER_TRY_VOID(check_request(machine));
  MUSTER_TRY(spec, one_node(config, machine));
  const Node* node = future_for(cluster, machine, spec, names);
  if (!node) return none_left(machine, spec);
  return node->spec->name;
}

Result<Decision<rpc::NodeJoined>> decide(const View& view, const rpc::JoinNode& request) {
  MUSTER_TRY_VOID(check_request(request));
  Decision<rpc::NodeJoined> out;
  MUSTER_TRY_VOID(request.as == rpc::JoinAs::kFuture ? join_as_future(view, request, out) : join_as_itself(view, request, out));
  return out;
}

}  // namespace muster::slurmctld
