#include "fields/entity_values.h"

#include <algorithm>

#include "base/text.h"
#include "base/tres_mem.h"

namespace muster::fields {
namespace {

// Flags of QOS as the description spells them.
constexpr std::pair<std::string_view, std::string_view> kQosFlags[] = {
    {"PartitionMinNodes", "PARTITION_MINIMUM_NODE"},
    {"PartitionMaxNodes", "PARTITION_MAXIMUM_NODE"},
    {"PartitionTimeLimit", "PARTITION_TIME_LIMIT"},
    {"EnforceUsageThreshold", "ENFORCE_USAGE_THRESHOLD"},
    {"NoReserve", "NO_RESERVE"},
    {"RequiresReservation", "REQUIRED_RESERVATION"},
    {"DenyOnLimit", "DENY_LIMIT"},
    {"OverPartQOS", "OVERRIDE_PARTITION_QOS"},
    {"PartitionQOS", "PARTITION_QOS"},
    {"NoDecay", "NO_DECAY"},
    {"UsageFactorSafe", "USAGE_FACTOR_SAFE"},
    {"Relative", "RELATIVE"},
};
constexpr std::string_view kClusterFlags[] = {"REGISTERING", "MULTIPLE_SLURMD", "FEDERATION", "EXTERNAL"};

template <class Belongs>
Associations chosen(const EntityView& v, Belongs&& belongs) {
  Associations out;
  if (v.associations)
    for (const AssociationRecord& a : *v.associations)
      if (belongs(a)) out.push_back(&a);
  return out;
}

}  // namespace

uint64_t shares(const EntityView& v) { return limit<LimitKind::kShares>(v).value_or(1); }

std::vector<std::string> qos_of_association(const EntityView& v) {
  std::vector<std::string> out = v.association->qos;
  std::ranges::sort(out);
  return out;
}

std::optional<uint64_t> qos_priority(const EntityView& v) { return limit<LimitKind::kPriority>(v).value_or(0); }
uint64_t grace_seconds(const EntityView& v) { return limit<LimitKind::kGraceTime>(v).value_or(0); }
std::optional<double> usage_factor(const EntityView& v) { return v.qos->usage_factor.value_or(1); }

std::vector<std::string> preempt_words(const EntityView& v) {
  const PreemptModes& modes = v.qos->preempt_mode.value();
  std::vector<std::string> out;
  if (modes.how == PreemptHow::kCancel) out.push_back("CANCEL");
  else if (modes.how == PreemptHow::kRequeue) out.push_back("REQUEUE");
  else if (modes.how == PreemptHow::kSuspend) out.push_back("SUSPEND");
  else out.push_back("DISABLED");
  if (modes.gang) out.push_back("GANG");
  return out;
}

std::vector<std::string> qos_flag_words(const EntityView& v) {
  std::vector<std::string> out;
  if (v.qos->deleted) out.push_back("DELETED");
  for (const std::string& flag : v.qos->flags) {
    const auto is_it = [&](const auto& known) { return iequals(known.first, flag); };
    if (const auto* at = std::ranges::find_if(kQosFlags, is_it); at != std::end(kQosFlags)) out.emplace_back(at->second);
  }
  return out;
}

std::vector<std::string> cluster_flag_words(const EntityView& v) {
  std::vector<std::string> out;
  if (v.cluster->deleted) out.push_back("DELETED");
  for (const std::string& flag : v.cluster->flags)
    for (std::string_view known : kClusterFlags)
      if (iequals(known, flag)) out.emplace_back(known);
  return out;
}

std::string_view admin_word(const EntityView& v) { return admin_level_name(v.user->admin_level); }
KnownAmounts tres_of_cluster(const EntityView& v) { return {&v.cluster->tres, v.known_tres}; }

Associations associations_of_account(const EntityView& v) {
  return chosen(v, [&](const AssociationRecord& a) { return a.account == v.account->name; });
}
Associations associations_of_user(const EntityView& v) {
  return chosen(v, [&](const AssociationRecord& a) { return a.user == v.user->name; });
}
const AssociationRecord* root_association(const EntityView& v) {
  const Associations roots =
      chosen(v, [&](const AssociationRecord& a) { return a.cluster == v.cluster->name && a.user.empty() && a.parent_account.empty(); });
  return roots.empty() ? nullptr : roots.front();
}

uint32_t allocated(const EntityView& v) { return v.resource->allocated(); }

// By their names, a kind of device before all devices; with those that every cluster counts and none has.
std::string cluster_tres_text(const TresAmounts& amounts) {
  if (amounts.empty()) return {};
  std::string out;
  std::vector<std::pair<std::string, std::string>> all;
  bool bills = false;
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t count) {
    bills = bills || kind == "billing";
    std::string text = kind == "mem" ? format_tres_mem(count) : std::to_string(count);
    all.emplace_back(std::string(kind) + (name.empty() ? "" : "/") + std::string(name), std::move(text));
  });
  if (!bills) all.emplace_back("billing", std::to_string(amounts.cpus.value_or(0)));
  for (const char* counted : {"energy", "fs/disk", "pages", "vmem"}) all.emplace_back(counted, "0");
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    if (a.first.starts_with(b.first + ":") || b.first.starts_with(a.first + ":")) return a.first.size() > b.first.size();
    return a.first < b.first;
  });
  for (bool first = true; const auto& [name, text] : all) {
    if (!std::exchange(first, false)) out += ',';
    out.append(name).append("=").append(text);
  }
  return out;
}

void json_shares(const EntityView& v, std::string_view key, Members& members) {
  TreeSink& sink = members.sink();
  sink.key(key);
  sink.begin_list();
  for (const ResourceShare& share : v.resource->clusters) {
    sink.begin_object();
    members.text("cluster", share.cluster).number("allowed", share.allowed);
    sink.end_object();
  }
  sink.end_list();
}

}  // namespace muster::fields
