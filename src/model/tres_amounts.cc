#include "model/tres_amounts.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "base/tres_mem.h"
#include "model/hres.h"
#include "model/tres_list.h"

namespace muster {
namespace {

constexpr std::string_view kEnergy = "energy";

void add(std::optional<uint64_t>& amount, uint64_t more) {
  if (more) amount = amount.value_or(0) + more;
}

void add_all(TresAmounts& amounts, uint64_t cpus, uint64_t mem_mb, const std::vector<GresShare>& gres) {
  add(amounts.cpus, cpus);
  add(amounts.mem_mb, mem_mb);
  for (const GresShare& g : gres) amounts.add_gres(g.name, g.type, g.count);
}

// The entry of this name and type, which is made if it is not there.
GresAmount& entry_of(std::vector<GresAmount>& list, const std::string& name, const std::string& type) {
  const auto place = [](const GresAmount& g) {
    return std::make_tuple(!g.type.empty(), std::string_view(g.name), std::string_view(g.type));
  };
  const auto wanted = std::make_tuple(!type.empty(), std::string_view(name), std::string_view(type));
  auto at = std::ranges::lower_bound(list, wanted, {}, place);
  if (at == list.end() || place(*at) != wanted) at = list.insert(at, {name, type, 0});
  return *at;
}

}  // namespace

TresAmounts TresAmounts::from_text(std::string_view text) {
  TresAmounts out;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    if (istarts_with(part, "mem=")) {  // which may have a fraction: "1.50G"
      out.mem_mb = parse_tres_mem_mb(part.substr(4));
      continue;
    }
    const Result<TresList> list = TresList::parse(part);
    if (!list) continue;
    if (list->items().empty()) {  // a count of 0, which TresList leaves out
      out.put(TresName::of(part.substr(0, part.find('='))), 0);
      continue;
    }
    const Tres& t = list->items().front();
    if (t.is_gres()) out.gres.push_back({t.name, t.type, t.count});
    else if (t.kind == "license") out.licenses.push_back({t.name, t.count});
    else if (t.kind.empty()) out.put(TresName::of(t.name), t.count);
  }
  return out;
}

void TresAmounts::hold(const NodeShare& share) {
  add_all(*this, share.counted_cpus(), share.mem_mb, share.gres);
  add(nodes, 1);
}

void TresAmounts::hold(const StepShare& share) {
  add_all(*this, share.cpus.count(), share.mem_mb, share.gres);
  add(nodes, 1);
}

void TresAmounts::configure(const NodeSpec& node) {
  add(cpus, node.cpus);
  add(mem_mb, node.real_memory_mb);
  for (const GresDevices& g : node.gres) add_gres(g.name, g.type, g.count);
}

void TresAmounts::use(const Node& node) { add_all(*this, node.cpus_allocated(), node.mem_used_mb, node.gres_used); }

void TresAmounts::add_gres(const std::string& name, const std::string& type, uint64_t count) {
  entry_of(gres, name, {}).count += count;
  if (!type.empty()) entry_of(gres, name, type).count += count;
}

void TresAmounts::keep_gres(const std::vector<std::string>& tres) {
  std::erase_if(gres, [&](const GresAmount& g) { return std::ranges::find(tres, "gres/" + gres_name(g.name, g.type)) == tres.end(); });
}

uint64_t TresAmounts::of(const TresName& tres) const {
  uint64_t found = 0;
  switch (tres.kind) {
    case TresKind::kCpu: return cpus.value_or(0);
    case TresKind::kMem: return mem_mb.value_or(0);
    case TresKind::kNode: return nodes.value_or(0);
    case TresKind::kBilling: return billing.value_or(0);
    case TresKind::kGres:
      for (const GresAmount& g : gres)
        if (iequals(g.name, tres.name) && iequals(g.type, tres.type)) found += g.count;
      return found;
    case TresKind::kLicense:
      for (const LicenseShare& l : licenses)
        if (iequals(l.name, tres.name)) found += l.count;
      return found;
    case TresKind::kOther: return tres.name == kEnergy ? energy.value_or(0) : 0;
  }
  return 0;
}

void TresAmounts::put(const TresName& tres, uint64_t count) {
  switch (tres.kind) {
    case TresKind::kCpu: cpus = count; break;
    case TresKind::kMem: mem_mb = count; break;
    case TresKind::kNode: nodes = count; break;
    case TresKind::kBilling: billing = count; break;
    case TresKind::kGres: gres.push_back({tres.name, tres.type, count}); break;
    case TresKind::kLicense: licenses.push_back({tres.name, count}); break;
    case TresKind::kOther:
      if (tres.name == kEnergy) energy = count;
      break;
  }
}

TresAmounts held_by(const Allocation& allocation) {
  TresAmounts held{.cpus = 0, .nodes = 0};
  for (const NodeShare& s : allocation.nodes) held.hold(s);
  for (const LicenseShare& l : allocation.licenses)
    if (!names_layer(l.name)) held.licenses.push_back(l);  // layers are no TRES
  return held;
}

std::string tres_text(const TresAmounts& amounts) {
  std::string out;
  out.reserve(64);
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t count) {
    if (!out.empty()) out += ',';
    out += kind;
    if (!name.empty()) out.append("/").append(name);
    out += '=';
    out += kind == "mem" ? format_tres_mem(count) : std::to_string(count);
  });
  return out;
}

}  // namespace muster
