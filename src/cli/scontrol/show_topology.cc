// scontrol show topology [NAME] [unit=NAME] [node=NAMES], scontrol show topoconf.
#include "fields/show_topology.h"

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/scontrol/context.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

std::optional<rpc::TopologyAnswer> ask(Context& c) {
  Session* session = c.query_session();
  if (!session) return std::nullopt;
  Result<rpc::TopologyAnswer> answer = session->call(rpc::QueryTopology{});
  if (!answer) {
    c.complain("slurm_load_topo error: ", answer.error());
    return std::nullopt;
  }
  return std::move(*answer);
}

bool read_words(Context& context, Words words, fields::TopologyWanted& wanted) {
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      wanted.topology = word;
      continue;
    }
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (iequals(key, "node")) {
      Result<std::vector<std::string>> hosts = expand_hosts(value);
      if (!hosts) {
        context.complain("", hosts.error());
        return false;
      }
      wanted.nodes = std::move(*hosts);
    } else if (iequals(key, "unit") || iequals(key, "switch") || iequals(key, "block") || iequals(key, "ring") || iequals(key, "torus")) {
      wanted.unit = value;
    } else {
      context.complain("invalid option:" + std::string(key) + " for show topology (known: unit, switch, block, ring, torus, node)");
      return false;
    }
  }
  return true;
}

}  // namespace

void show_topology(Context& context, Words words) {
  fields::TopologyWanted wanted;
  wanted.line_length = context.options.topology_length.value_or(0);
  if (!read_words(context, words, wanted)) return;
  std::optional<rpc::TopologyAnswer> site = ask(context);
  if (!site) return;
  // A single word may also be the name of a switch, block or ring, as in older releases.
  if (!wanted.topology.empty() && wanted.unit.empty() && !site->topologies.find(wanted.topology))
    if (const Topology* t = site->topologies.cluster_default(); t && t->unit(wanted.topology))
      wanted.unit = std::exchange(wanted.topology, "");
  Result<std::string> text = fields::show_topology({site->topologies, site->nodes}, wanted);
  if (!text) return context.complain("", text.error());
  Out out;
  out.put(*text);
}

void show_topoconf(Context& c) {
  if (std::optional<rpc::TopologyAnswer> site = ask(c)) {
    Out out;
    out.put(fields::show_topoconf({site->topologies, site->nodes}));
  }
}

}  // namespace muster::cli
