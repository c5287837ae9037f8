// Node lists of requests (--nodelist, --exclude) against the cluster's names.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/topology_function.h"
#include "sched/fit/request_class.h"

namespace muster::sched {
namespace {

constexpr size_t kMaxListed = 1u << 20, kMostFunctions = 64;

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

}  // namespace

Result<std::string> without_functions(const Cluster& cluster, std::string_view text) {
  if (text.find('{') == text.npos) return std::string(text);
  if (static_cast<size_t>(std::ranges::count(text, '{')) > kMostFunctions)  // each is looked up among all nodes
    return bad(text.substr(0, 80), "at most " + std::to_string(kMostFunctions) + " functions in one list");
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{'), close = text.find('}', open);
    if (open == text.npos) return out + std::string(text);
    if (close == text.npos) return bad(text, "} is missing");
    size_t start = text.rfind(',', open);
    start = start == text.npos ? 0 : start + 1;
    MUSTER_TRY(nodes, nodes_of_function(cluster, trim(text.substr(start, open - start)), trim(text.substr(open + 1, close - open - 1))));
    out += std::string(text.substr(0, start)) + node_list(cluster, nodes);
    text.remove_prefix(close + 1);
  }
  return out;
}

Result<std::vector<uint32_t>> nodes_named(const Cluster& cluster, const std::string& text) {
  std::vector<uint32_t> out;
  for (std::string_view raw : split_outside_brackets(text)) {
    std::string_view part = trim(raw);
    uint32_t repeat = 1;
    const size_t star = part.rfind('*');
    if (star != part.npos && part.find(']', star) == part.npos) {
      auto n = parse_number<uint32_t>(part.substr(star + 1), 1, 1u << 20);
      if (!n) return bad(part, "a count must follow *");
      repeat = *n;
      part = part.substr(0, star);
    }
    if (part.empty()) continue;
    MUSTER_TRY(names, expand_hosts(part, kMaxListed));
    for (const std::string& name : names) {
      const Node* node = cluster.node(name);
      if (!node) return bad(name, "no such node");
      if (out.size() + repeat > kMaxListed) return bad(text, "too many names");
      out.insert(out.end(), repeat, node->id.value);
    }
  }
  return out;
}

std::string node_list(const Cluster& cluster, const Bitmap& nodes) {
  std::vector<std::string> names;
  nodes.for_each([&](size_t id) {
    if (const Node* n = cluster.nodes.find(static_cast<uint32_t>(id)); n && n->spec) names.push_back(n->spec->name);
  });
  return compress_hosts(names);
}

}  // namespace muster::sched
