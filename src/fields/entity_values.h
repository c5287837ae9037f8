// Values of what sacctmgr lists that are made of what its records hold: members of its documents (entity_columns.cc). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fields/entity_kinds.h"
#include "fields/entity_view.h"

namespace muster::fields {

// A member of the view's record.
template <auto Record, auto Field>
const auto& of(const EntityView& v) {
  return (v.*Record)->*Field;
}
template <auto Field>
const auto& of_association(const EntityView& v) {
  return v.association->*Field;
}
template <auto Field>
const auto& of_qos(const EntityView& v) {
  return v.qos->*Field;
}

// Its flags, and DELETED.
template <auto Record>
std::vector<std::string> flags_of(const EntityView& v) {
  std::vector<std::string> out;
  if constexpr (requires { (v.*Record)->flags; }) out = (v.*Record)->flags;
  if ((v.*Record)->deleted) out.push_back("DELETED");
  return out;
}

inline const std::vector<::muster::Limit>& limits_of(const EntityView& v) { return v.qos ? v.qos->limits : v.association->limits; }
template <LimitKind Kind>
std::optional<uint64_t> limit(const EntityView& v) {
  return find_limit(limits_of(v), Kind);
}
template <LimitKind Kind>
TresLimits tres_limits(const EntityView& v) {
  return {&limits_of(v), Kind, v.known_tres};
}
constexpr std::optional<uint64_t> no_limit(const EntityView&) { return {}; }

uint64_t shares(const EntityView& v);  // 1 where nobody said
std::vector<std::string> qos_of_association(const EntityView& v);
std::optional<uint64_t> qos_priority(const EntityView& v);
uint64_t grace_seconds(const EntityView& v);
std::optional<double> usage_factor(const EntityView& v);
std::vector<std::string> preempt_words(const EntityView& v);   // "DISABLED" where the cluster's mode stands
std::vector<std::string> qos_flag_words(const EntityView& v);  // "DENY_LIMIT"
std::vector<std::string> cluster_flag_words(const EntityView& v);
std::string_view admin_word(const EntityView& v);
std::string cluster_tres_text(const TresAmounts& amounts);  // "billing=8,cpu=8,energy=0,…"
KnownAmounts tres_of_cluster(const EntityView& v);
Associations associations_of_account(const EntityView& v);
Associations associations_of_user(const EntityView& v);
const AssociationRecord* root_association(const EntityView& v);  // of a cluster; null: it is not there
constexpr std::string_view license_word(const EntityView&) { return "License"; }
uint32_t allocated(const EntityView& v);

// What no record has.
constexpr std::string_view no_text(const EntityView&) { return {}; }
constexpr int64_t zero(const EntityView&) { return 0; }

// The clusters that may use a resource, with how much of it.
void json_shares(const EntityView& v, std::string_view key, Members& members);

}  // namespace muster::fields
