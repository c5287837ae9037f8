// What licences are called otherwise than the controller counts them. With LicenseParameters=RemoteFuzzyMatch a remote licence may be asked
// for without its server (slurm.conf(5)); of a hierarchical resource a variable may stand for the count ("power:full_node"), and the nodes of a
// layer, by which a reservation names it, may be written in any way (guide hres).
#include <algorithm>

#include "base/saturating.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

// The full name of a licence that is asked for as `name`: a local one as it is, else the only remote one of that name.
std::string full_name(const View& v, const std::string& name) {
  const auto& known = v.settings.sched.licenses;
  if (std::ranges::any_of(known, [&](const auto& l) { return l.first == name; })) return name;
  const std::string* found = nullptr;
  for (const auto& [full, count] : known) {
    if (full.size() <= name.size() || !full.starts_with(name) || full[name.size()] != '@') continue;
    if (found) return name;  // of several servers: it has to be said which
    found = &full;
  }
  return found ? *found : name;
}

// With the number in place of a variable; as it is where it has none, or one that is not there.
LicenseShare in_numbers(const View& v, const LicenseShare& l) {
  const size_t mark = l.name.find(':');
  const HierarchiesPtr& all = v.settings.sched.hierarchies;
  if (mark == l.name.npos || !all) return l;
  const Hres* h = all->find(std::string_view(l.name).substr(0, mark));
  const HresVariable* variable = h ? h->variable(std::string_view(l.name).substr(mark + 1)) : nullptr;
  return variable ? LicenseShare{h->name, std::min(mul_sat(variable->value, l.count), LicenseNeeds::kMost)} : l;
}

}  // namespace

void name_licenses_as_counted(const View& view, JobRequest& request) {
  if (request.licenses.empty()) return;
  const bool fuzzy = view.settings.config().license_parameters.has("RemoteFuzzyMatch");
  const LicenseNeeds& needs = request.licenses.value();
  std::string text;
  bool other = false;
  for (const LicenseShare& asked : needs.list) {
    LicenseShare l = in_numbers(view, asked);
    if (fuzzy) l.name = full_name(view, l.name);
    other = other || !(l == asked);
    text += (text.empty() ? "" : needs.any ? "|" : ",") + l.name + ":" + std::to_string(l.count);
  }
  if (other) request.licenses = text;
}

Result<std::string> pool_named(const View& view, const std::string& name) {
  const auto& known = view.settings.sched.licenses;
  if (std::ranges::any_of(known, [&](const auto& l) { return l.first == name; })) return name;
  const PoolName parts = PoolName::of(name);
  const HierarchiesPtr& all = view.settings.sched.hierarchies;
  const Hres* hres = all ? all->find(parts.resource) : nullptr;
  if (!hres) return fail(Errc::kLicenses, {}, "no licence is called '" + name + "'");
  if (parts.nodes.empty())
    return fail(Errc::kLicenses, {},
                hres->name + " is a hierarchical resource: name the layer by its nodes, as in " + hres->layers.front().name);
  MUSTER_TRY(found, select_nodes(view, std::string(parts.nodes)));
  Bitmap nodes;
  for (const Node* n : found) nodes.set(n->id.value);
  const HresLayer* layer = hres->layer(nodes);
  if (layer) return layer->name;
  std::string there;
  for (const HresLayer& l : hres->layers)
    if (there.size() < 200) there += (there.empty() ? "" : ", ") + std::string(PoolName::of(l.name).nodes);
  return fail(Errc::kLicenses, {}, "no layer of " + hres->name + " has just the nodes " + std::string(parts.nodes) + "; it has " + there);
}

}  // namespace muster::slurmctld
