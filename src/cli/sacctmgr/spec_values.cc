// The meanings of the values of sacctmgr's keys.
#include <algorithm>
#include <span>

#include "base/text.h"
#include "cli/sacctmgr/specs.h"
#include "model/entity_flags.h"
#include "model/limit_values.h"
#include "model/transaction_names.h"

namespace muster::cli {
namespace {

const LimitInfo& info_of(LimitKind kind) {
  for (const LimitInfo& i : kLimits)
    if (i.kind == kind) return i;
  return kLimits[0];
}

std::unexpected<Error> bad(std::string_view field, std::string_view value, std::string rule) {
  return fail(Errc::kInvalidReq, "Invalid value for " + std::string(field) + " (" + std::string(value) + ")", std::move(rule));
}

Result<AdminLevel> admin_level(std::string_view value) {
  if (auto level = read_admin_level(value)) return *level;
  return bad("AdminLevel", value, "one of None, Operator, Administrator");
}

Result<double> real(const Spec& s) {
  if (auto number = read_factor(s.value)) return *number;
  return bad(s.key, s.value, "a number of 0 or more, or -1 for the default");
}

void append(std::vector<std::string>& list, std::string_view value) {
  for (std::string& name : split_names(value)) list.push_back(std::move(name));
}

Result<> add_ids(const Spec& s, std::vector<uint32_t>& out) {
  for (const std::string& text : split_names(s.value)) {
    auto id = parse_number<uint32_t>(text, 1);
    if (!id) return bad(s.key, text, "a list of numbers");
    out.push_back(*id);
  }
  return {};
}

Result<> add_actions(std::string_view value, std::vector<std::string>& out) {
  for (const std::string& text : split_names(value)) {
    auto action = read_transaction_action(text);
    if (!action) return fail(Errc::kInvalidReq, "You gave a bad action '" + text + "'.");
    out.push_back(std::move(*action));
  }
  return {};
}

std::vector<std::string>& names_of(Entity entity, EntityFilter& filter) {
  switch (entity) {
    case Entity::kUser:
    case Entity::kCoordinator: return filter.users;
    case Entity::kQos: return filter.qos;
    case Entity::kCluster: return filter.clusters;
    case Entity::kWckey: return filter.wckeys;
    case Entity::kTres: return filter.tres;
    case Entity::kResource: return filter.names;
    case Entity::kFederation: return filter.federations;
    default: return filter.accounts;
  }
}

std::span<const std::string_view> flags_of(Entity e) {
  if (e == Entity::kAccount) return kAccountFlags;
  if (e == Entity::kQos) return kQosFlags;
  return kResourceFlags;
}

// As they are spelled, whatever the case of the letters that were typed. A word that is none would be met by no record.
Result<> add_flags(Entity e, const Spec& s, std::vector<std::string>& out) {
  const std::span<const std::string_view> flags = flags_of(e);
  for (const std::string& word : split_names(s.value)) {
    const auto known = std::ranges::find_if(flags, [&](std::string_view flag) { return iequals(flag, word); });
    if (known == flags.end()) return bad(s.key, word, "one of " + join(std::vector<std::string>(flags.begin(), flags.end()), ", "));
    out.emplace_back(*known);
  }
  return {};
}

// Descriptions of accounts and QOS are kept in lower case: sacctmgr(1), the note at its beginning. Those of resources are names of products.
std::string described(Entity e, std::string_view text) { return e == Entity::kResource ? std::string(text) : to_lower(text); }

std::string_view unquoted(std::string_view v) {
  const bool both = v.size() >= 2 && v.front() == v.back() && (v[0] == '\'' || v[0] == '"');
  return both ? v.substr(1, v.size() - 2) : v;
}

}  // namespace

Result<> add_limit_changes(LimitKind kind, const Spec& s, std::vector<LimitChange>& out) {
  return read_limit(info_of(kind), s.op, s.value, out);
}

namespace {

Result<> condition(Entity entity, Key key, LimitKind limit, const Spec& spec, Time now, EntityFilter& filter) {
  switch (key) {
    case Key::kNames: append(names_of(entity, filter), spec.value); return {};
    case Key::kAccounts: append(filter.accounts, spec.value); return {};
    case Key::kClusters: append(filter.clusters, spec.value); return {};
    case Key::kUsers:
      append(filter.users, spec.value);
      if (spec.value.empty()) filter.users.emplace_back();  // those of accounts
      return {};
    case Key::kPartitions:
      append(filter.partitions, spec.value);
      if (spec.value.empty()) filter.partitions.emplace_back();  // those without a partition
      return {};
    case Key::kIds: return add_ids(spec, filter.ids);
    case Key::kParent: append(filter.parents, spec.value); return {};
    case Key::kDescription: append(filter.descriptions, described(entity, spec.value)); return {};
    case Key::kOrganization: append(filter.organizations, spec.value); return {};
    case Key::kFlags: return add_flags(entity, spec, filter.flags);
    case Key::kQos: append(filter.qos, spec.value); return {};
    case Key::kDefaultQos: append(filter.default_qos, spec.value); return {};
    case Key::kDefaultAccount: append(filter.default_accounts, spec.value); return {};
    case Key::kDefaultWckey: append(filter.default_wckeys, spec.value); return {};
    case Key::kWckeys: append(filter.wckeys, spec.value); return {};
    case Key::kClassification: append(filter.classifications, spec.value); return {};
    case Key::kPreemptMode: append(filter.preempt_modes, spec.value); return {};
    case Key::kTypes: append(filter.tres, spec.value); return {};
    case Key::kFederation: append(filter.federations, spec.value); return {};
    case Key::kServers: append(filter.servers, spec.value); return {};
    case Key::kServerType: append(filter.server_types, spec.value); return {};
    case Key::kActions: return add_actions(spec.value, filter.actions);
    case Key::kActors: append(filter.actors, spec.value); return {};
    case Key::kWithDeleted: filter.with_deleted = true; return {};
    case Key::kAdminLevel: {
      MUSTER_TRY(level, admin_level(spec.value));
      filter.admin_level = level;
      return {};
    }
    case Key::kStart:
    case Key::kEnd: {
      MUSTER_TRY(t, parse_time_point(spec.value, now, ClockRule::kThisDayOrYear));
      (key == Key::kStart ? filter.from : filter.until) = t;
      return {};
    }
    default: break;
  }
  std::vector<LimitChange> wanted;  // a limit that is set to exactly this
  MUSTER_TRY_VOID(add_limit_changes(limit, spec, wanted));
  for (LimitChange& c : wanted) filter.limits.push_back({c.kind, std::move(c.tres), c.value});
  return {};
}

// Takes a word that only show has. False: it is none of those.
bool showing(Key key, const Spec& spec, EntityFilter& filter, ShowChoices& choices) {
  switch (key) {
    case Key::kFormat: choices.format += (choices.format.empty() ? "" : ",") + spec.value; return true;
    case Key::kWithAssociations: choices.with_associations = true; return true;
    case Key::kWithCoordinators: choices.with_coordinators = true; return true;
    case Key::kWithClusters: choices.with_clusters = true; return true;
    case Key::kWithFederation: choices.with_federation = true; return true;
    case Key::kTree: choices.tree = true; return true;
    case Key::kWithoutLimits: choices.without_limits = true; return true;
    case Key::kWithoutParentInfo: choices.without_parent_info = true; [[fallthrough]];
    case Key::kWithoutParentLimits: choices.without_parent_limits = true; return true;
    case Key::kWithRawQos: choices.with_raw_qos = true; return true;
    case Key::kOnlyDefaults: filter.only_defaults = true; return true;
    case Key::kWithSubAccounts: filter.with_sub_accounts = true; return true;
    default: return false;
  }
}

// Whether the word asks for something without a value, as "tree" and "withassoc" do.
bool stands_alone(Key key) { return key == Key::kWithDeleted || (key >= Key::kWithAssociations && key <= Key::kWithFederation); }

// The error in Slurm's words, in two lines; the hint says what was probably meant.
std::unexpected<Error> unknown_condition(const Spec& s, const std::string& meant) {
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + s.text + "\n Use keyword 'set' to modify value",
              meant.empty() ? "" : "did you mean " + meant + "?");
}
std::unexpected<Error> unknown_option(const Spec& s, const std::string& meant) {
  return fail(Errc::kUnknownKeyword, " Unknown option: " + s.text + "\n Use keyword 'where' to modify condition",
              meant.empty() ? "" : "did you mean " + meant + "?");
}

// Turns "GrpCPUs=8" into the part of the limit that it means: "GrpTRES=cpu=8".
Spec part_of_limit(const KeyMatch& match, Spec s) {
  if (!match.tres.empty()) s.value = std::string(match.tres) + "=" + s.value;
  return s;
}

// '' and -1 take all names away.
NamesChange names_change(const Spec& s) {
  NamesChange change{s.op, split_names(s.value)};
  const bool none = s.value.empty() || change.names == std::vector<std::string>{""};
  if (s.value == "-1" || (s.op == ChangeOp::kSet && none)) change = {ChangeOp::kClear, {}};
  // "qos=+x,y" says the same as "qos+=x,y".
  if (change.op == ChangeOp::kSet && (change.names[0].starts_with('+') || change.names[0].starts_with('-'))) {
    change.op = change.names[0][0] == '+' ? ChangeOp::kAdd : ChangeOp::kSubtract;
    for (std::string& name : change.names) name.erase(0, name.starts_with('+') || name.starts_with('-') ? 1 : 0);
  }
  return change;
}

}  // namespace

Result<> only_equals(const Spec& s) {
  if (s.op == ChangeOp::kSet) return {};
  return fail(Errc::kInvalidReq, s.text + ": " + s.key + " takes = alone");
}

Result<> add_condition(Entity entity, const Spec& spec, Time now, EntityFilter& filter, ShowChoices* choices) {
  const uint8_t use = choices ? uint8_t{kCondition | kShowing} : uint8_t{kCondition};
  std::string meant;
  const bool bare = spec.key.empty();
  std::optional<KeyMatch> match = find_key(entity, use, bare ? spec.value : spec.key, meant);
  if (bare && (!match || !stands_alone(match->key))) {
    if (entity == Entity::kAssociation || entity == Entity::kTransaction) return unknown_condition(spec, meant);
    append(names_of(entity, filter), spec.value);
    return {};
  }
  if (!match) return unknown_condition(spec, meant);
  if (match->key == Key::kRefused) return fail(Errc::kInvalidReq, spec.text + ": " + match->reason);
  if (!bare) MUSTER_TRY_VOID(only_equals(spec));
  if (!bare && stands_alone(match->key)) return bad(spec.key, spec.value, "it stands alone, without a value");
  if (choices && showing(match->key, spec, filter, *choices)) return {};
  return condition(entity, match->key, match->limit, part_of_limit(*match, spec), now, filter);
}

Result<> add_setting(Entity entity, const Spec& spec, EntityChange& change) {
  std::string meant;
  std::optional<KeyMatch> match = spec.key.empty() ? std::nullopt : find_key(entity, kSetting, spec.key, meant);
  if (!match) return unknown_option(spec, meant);
  const std::string value(unquoted(spec.value));
  switch (match->key) {
    case Key::kRefused: return fail(Errc::kInvalidReq, spec.text + ": " + match->reason);
    case Key::kLimit: return add_limit_changes(match->limit, part_of_limit(*match, spec), change.limits);
    case Key::kQos: return change.qos.push_back(names_change(spec)), Result<>();
    case Key::kFlags: return change.flags.push_back(names_change(spec)), Result<>();
    case Key::kPreempt: return change.preempt.push_back(names_change(spec)), Result<>();
    case Key::kMembers: return change.clusters.push_back(names_change(spec)), Result<>();
    case Key::kFeatures: return change.features.push_back(names_change(spec)), Result<>();
    default: break;
  }
  MUSTER_TRY_VOID(only_equals(spec));
  switch (match->key) {
    case Key::kParent: change.parent = value; break;
    case Key::kDescription: change.description = described(entity, value); break;
    case Key::kOrganization: change.organization = value; break;
    case Key::kClassification: change.classification = value; break;
    case Key::kComment: change.comment = value; break;
    case Key::kDefaultAccount: change.default_account = value; break;
    case Key::kDefaultWckey: change.default_wckey = value; break;
    case Key::kDefaultQos: change.default_qos = value == "-1" ? "" : value; break;
    case Key::kNewName: change.new_name = value; break;
    case Key::kPreemptMode: change.preempt_mode = value; break;
    case Key::kServerType: change.server_type = value; break;
    case Key::kFederation: change.federation = value; break;
    case Key::kFedState: change.fed_state = value; break;
    case Key::kCount:
    case Key::kLastConsumed:
    case Key::kAllowed: {
      auto number = parse_number<uint32_t>(value, 0, 0x7fffffff);
      if (!number) return bad(spec.key, value, "a whole number");
      (match->key == Key::kCount ? change.count : match->key == Key::kLastConsumed ? change.last_consumed : change.allowed) = *number;
      break;
    }
    case Key::kAdminLevel: {
      MUSTER_TRY(level, admin_level(value));
      change.admin_level = level;
      break;
    }
    case Key::kUsageFactor:
    case Key::kUsageThreshold:
    case Key::kLimitFactor:
    case Key::kRawUsage: {
      MUSTER_TRY(number, real(spec));
      (match->key == Key::kUsageFactor      ? change.usage_factor
       : match->key == Key::kUsageThreshold ? change.usage_threshold
       : match->key == Key::kLimitFactor    ? change.limit_factor
                                            : change.raw_usage) = number;
      break;
    }
    default: break;
  }
  return {};
}

}  // namespace muster::cli
