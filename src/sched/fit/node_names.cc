// Node lists of requests (--nodelist, --exclude) against the cluster's names.
#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/topology_function.h"
#include "sched/fit/request_class.h"

namespace muster::sched {
namespace {

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(Errc::kInvalidNodeName, {}, "\"" + std::string(text) + "\": " + std::string(why));
}

Result<Bitmap> nodes_of_function(const Cluster& cluster, std::string_view function, std::string_view value) {
  Bitmap out;
  if (function == "feature") {
    cluster.nodes.for_each([&](uint32_t id, const Node& n) {
      if (std::ranges::find(n.features_active, value) != n.features_active.end()) out.set(id);
    });
  } else if (std::optional<TopologyFunction> unit = topology_function(function)) {
    static const Topologies kFlat;
    const Topologies& all = cluster.topologies ? *cluster.topologies : kFlat;
    const Node* node = unit->with ? cluster.node(value) : nullptr;
    if (unit->with && !node) return bad(value, "no such node");
    out = node ? nodes_beside(all, unit->kind, node->id.value) : nodes_of_unit(all, unit->kind, value);
  } else {
    return bad(function, "no function of node lists: block, switch, ring, torus, each with {unit} or as in blockwith{node}, "
                         "or feature{name}");
  }
  if (out.none()) return bad(std::string(function) + "{" + std::string(value) + "}", "means no node here");
  return out;
}

// A topology may still name a node that was deleted: it is left out.
std::vector<std::string> names_of(const Cluster& cluster, const Bitmap& nodes) {
  std::vector<std::string> out;
  nodes.for_each([&](size_t id) {
    if (const Node* n = cluster.nodes.find(static_cast<uint32_t>(id)); n && n->spec) out.push_back(n->spec->name);
  });
  return out;
}

}  // namespace

Result<std::string> without_functions(const Cluster& cluster, const NodeList& list) {
  if (!list.parsed()) return std::unexpected(list.parsed().error());
  std::vector<std::string> out;
  for (const NodeNames::Part& part : list->parts) {
    if (!part.is_function()) {
      out.push_back(part.text);
      continue;
    }
    MUSTER_TRY(nodes, nodes_of_function(cluster, part.function, part.unit));
    out.push_back(node_list(cluster, nodes));
  }
  return join(out, ",");
}

Result<std::vector<std::string>> names_meant(const Cluster& cluster, const NodeList& list) {
  if (!list.parsed()) return std::unexpected(list.parsed().error());
  std::vector<std::string> out;
  for (const NodeNames::Part& part : list->parts) {
    for (const std::string& name : part.hosts) out.insert(out.end(), part.repeat, name);
    if (!part.is_function()) continue;
    MUSTER_TRY(nodes, nodes_of_function(cluster, part.function, part.unit));
    std::ranges::move(names_of(cluster, nodes), std::back_inserter(out));
  }
  return out;
}

Result<std::vector<uint32_t>> nodes_named(const Cluster& cluster, const NodeList& list) {
  if (!list.parsed()) return std::unexpected(list.parsed().error());
  std::vector<uint32_t> out;
  out.reserve(list->count());
  for (const NodeNames::Part& part : list->parts) {
    if (part.is_function()) return bad(part.text, "means nodes of the cluster as it was when the job was submitted");
    for (const std::string& name : part.hosts) {
      const Node* node = cluster.node(name);
      if (!node) return bad(name, "no such node");
      out.insert(out.end(), part.repeat, node->id.value);
    }
  }
  return out;
}

std::string node_list(const Cluster& cluster, const Bitmap& nodes) { return compress_hosts(names_of(cluster, nodes)); }

}  // namespace muster::sched
