#include "slurmctld/core/gres_texts.h"

#include <algorithm>

#include "sched/supply/availability.h"

namespace muster::slurmctld {
namespace {

// "(6/10,0/10)": for each GPU that has such shares, how many of them are held.
std::string by_gpu(const GresShare& g, const NodeSpec& node) {
  std::string out;
  for (const GresDevices& d : node.gres)
    if (d.shared && d.name == g.name && d.type == g.type)
      out += (out.empty() ? "(" : ",") + std::to_string(g.shares_on(d.first_index)) + "/" + std::to_string(d.count);
  return out.empty() ? out : out + ")";
}

// The place of these devices in Gres=; what that does not name comes last.
size_t place_of(const std::vector<GresItem>& order, const GresDevices& g) {
  auto typed = std::ranges::find_if(order, [&](const auto& i) { return i.name == g.name && i.type == g.type; });
  if (typed == order.end()) typed = std::ranges::find_if(order, [&](const auto& i) { return i.name == g.name; });
  return static_cast<size_t>(typed - order.begin());
}

}  // namespace

std::string gres_held_text(const std::vector<GresShare>& gres, const NodeSpec& node) {
  std::string out;
  for (const GresShare& g : gres) {
    if (!out.empty()) out += ',';
    out += gres_name(g.name, g.type);
    if (is_shared_gres(g.name)) out += ":" + std::to_string(g.count) + by_gpu(g, node);
    else if (g.devices.any()) out += ":" + std::to_string(g.count) + "(IDX:" + g.devices.to_ranges() + ")";
    else out += "(CNT:" + std::to_string(g.count) + ")";
  }
  return out;
}

std::string gres_used_text(const Node& node) {
  std::vector<const GresDevices*> kinds;  // one for each name and type
  for (const GresDevices& g : node.spec->gres)
    if (std::ranges::none_of(kinds, [&](const GresDevices* k) { return k->name == g.name && k->type == g.type; })) kinds.push_back(&g);
  std::ranges::stable_sort(kinds, {}, [&](const GresDevices* g) { return place_of(node.spec->gres_text->list, *g); });
  std::string out;
  for (const GresDevices* g : kinds) {
    GresShare used{g->name, g->type, 0, {}, {}};
    for (const GresShare& u : node.gres_used)
      if (u.name == g->name && u.type == g->type) used = u;
    out += (out.empty() ? "" : ",") + gres_name(g->name, g->type) + ":" + std::to_string(used.count);
    if (g->shared) out += by_gpu(used, *node.spec);
    else if (!g->count_only) out += "(IDX:" + (used.devices.any() ? used.devices.to_ranges() : std::string("N/A")) + ")";
  }
  return out;
}

std::string restricted_text(const Node& n) {
  if (!n.spec->restricted_cores_per_gpu) return {};
  const sched::Kind kind = sched::make_kind(n, true);
  return std::to_string(n.spec->restricted_cores_per_gpu) + "(" + kind.restricted.to_ranges() + ")";
}

}  // namespace muster::slurmctld
