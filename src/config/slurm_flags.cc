// Values of slurm.conf that have a grammar of their own: flag lists and option lists.
#include "base/text.h"
#include "config/slurm_conf.h"

namespace muster::config {

OptionList OptionList::parse(std::string_view text) {
  OptionList out;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    if (word.empty()) continue;
    size_t eq = word.find('=');
    out.items_.emplace_back(word.substr(0, eq), eq == std::string_view::npos ? std::string_view() : word.substr(eq + 1));
  }
  return out;
}

const std::pair<std::string, std::string>* OptionList::find(std::string_view name) const {
  for (auto it = items_.rbegin(); it != items_.rend(); ++it)
    if (iequals(it->first, name)) return &*it;
  return nullptr;
}

void OptionList::remove(std::string_view name) {
  std::erase_if(items_, [&](const auto& item) { return iequals(item.first, name); });
}

std::optional<std::string_view> OptionList::get(std::string_view name) const {
  const auto* item = find(name);
  if (!item) return std::nullopt;
  return std::string_view(item->second);
}

int64_t OptionList::number(std::string_view name, int64_t otherwise) const {
  const auto* item = find(name);
  if (!item) return otherwise;
  return parse_number<int64_t>(item->second).value_or(otherwise);
}

SelectFlags parse_select_flags(std::string_view text) {
  SelectFlags flags;
  bool unit_given = false;
  flags.memory = false;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    auto is = [&](std::string_view name) { return iequals(word, name); };
    auto unit = [&](SelectFlags::Unit u, bool memory) {
      flags.unit = u;
      flags.memory = flags.memory || memory;
      unit_given = true;
    };
    if (is("CR_CPU")) unit(SelectFlags::Unit::kCpu, false);
    else if (is("CR_CPU_Memory")) unit(SelectFlags::Unit::kCpu, true);
    else if (is("CR_Core")) unit(SelectFlags::Unit::kCore, false);
    else if (is("CR_Core_Memory")) unit(SelectFlags::Unit::kCore, true);
    else if (is("CR_Socket")) unit(SelectFlags::Unit::kSocket, false);
    else if (is("CR_Socket_Memory")) unit(SelectFlags::Unit::kSocket, true);
    else if (is("CR_Memory")) flags.memory = true;
    else if (is("CR_ONE_TASK_PER_CORE")) flags.one_task_per_core = true;
    else if (is("CR_CORE_DEFAULT_DIST_BLOCK")) flags.core_default_dist_block = true;
    else if (is("CR_LLN")) flags.lln = true;
    else if (is("CR_Pack_Nodes")) flags.pack_nodes = true;
    else if (is("LL_SHARED_GRES")) flags.ll_shared_gres = true;
    else if (is("MULTIPLE_SHARING_GRES_PJ")) flags.multiple_sharing_gres_pj = true;
    else if (is("ENFORCE_BINDING_GRES")) flags.enforce_binding_gres = true;
    else if (is("ONE_TASK_PER_SHARING_GRES")) flags.one_task_per_sharing_gres = true;
    else if (is("CR_NO_DIST_TOPO_BLOCK")) flags.no_dist_topo_block = true;
  }
  // With only modifiers given, the default unit, which counts memory, stays.
  if (!unit_given && !flags.memory && !iequals(trim(text), "NONE")) flags.memory = true;
  return flags;
}

PreemptModes parse_preempt_modes(std::string_view text) { return *PreemptModes::parse(text); }

Enforce parse_enforce(std::string_view text) {
  Enforce enforce;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    auto is = [&](std::string_view name) { return iequals(word, name); };
    if (is("all")) enforce.associations = enforce.limits = enforce.qos = enforce.safe = enforce.wckeys = true;
    else if (is("associations") || is("1")) enforce.associations = true;
    else if (is("limits") || is("2")) enforce.associations = enforce.limits = true;
    else if (is("qos")) enforce.associations = enforce.qos = true;
    else if (is("safe")) enforce.associations = enforce.limits = enforce.safe = true;
    else if (is("wckeys")) enforce.associations = enforce.wckeys = true;
    else if (is("nojobs")) enforce.no_jobs = enforce.no_steps = true;
    else if (is("nosteps")) enforce.no_steps = true;
  }
  return enforce;
}

}  // namespace muster::config
