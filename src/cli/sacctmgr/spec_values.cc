// The meanings of the values of sacctmgr's keys.
#include <algorithm>

#include "base/text.h"
#include "cli/sacctmgr/specs.h"
#include "model/limit_values.h"

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

// An error for "+=" and "-=" where they have no meaning.
Result<> only_equals(const Spec& s) {
  if (s.op == ChangeOp::kSet) return {};
  return fail(Errc::kInvalidReq, s.text + ": " + s.key + " takes = alone");
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

std::vector<std::string>& names_of(Entity e, EntityFilter& f) {
  switch (e) {
    case Entity::kUser:
    case Entity::kCoordinator: return f.users;
    case Entity::kQos: return f.qos;
    case Entity::kCluster: return f.clusters;
    case Entity::kWckey: return f.wckeys;
    case Entity::kTres: return f.tres;
    case Entity::kResource: return f.names;
    default: return f.accounts;
  }
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

Result<> condition(Entity e, Key key, LimitKind limit, const Spec& s, Time now, EntityFilter& f) {
  switch (key) {
    case Key::kNames: append(names_of(e, f), s.value); return {};
    case Key::kAccounts: append(f.accounts, s.value); return {};
    case Key::kClusters: append(f.clusters, s.value); return {};
    case Key::kUsers:
      append(f.users, s.value);
      if (s.value.empty()) f.users.emplace_back();  // those of accounts
      return {};
    case Key::kPartitions:
      append(f.partitions, s.value);
      if (s.value.empty()) f.partitions.emplace_back();  // those without a partition
      return {};
    case Key::kIds: return add_ids(s, f.ids);
    case Key::kParent: append(f.parents, s.value); return {};
    case Key::kDescription: append(f.descriptions, described(e, s.value)); return {};
    case Key::kOrganization: append(f.organizations, s.value); return {};
    case Key::kFlags: append(f.flags, s.value); return {};
    case Key::kQos: append(f.qos, s.value); return {};
    case Key::kDefaultQos: append(f.default_qos, s.value); return {};
    case Key::kDefaultAccount: append(f.default_accounts, s.value); return {};
    case Key::kDefaultWckey: append(f.default_wckeys, s.value); return {};
    case Key::kWckeys: append(f.wckeys, s.value); return {};
    case Key::kClassification: append(f.classifications, s.value); return {};
    case Key::kPreemptMode: append(f.preempt_modes, s.value); return {};
    case Key::kTypes: append(f.tres, s.value); return {};
    case Key::kServers: append(f.servers, s.value); return {};
    case Key::kServerType: append(f.server_types, s.value); return {};
    case Key::kActions: append(f.actions, s.value); return {};
    case Key::kActors: append(f.actors, s.value); return {};
    case Key::kWithDeleted: f.with_deleted = true; return {};
    case Key::kAdminLevel: {
      MUSTER_TRY(level, admin_level(s.value));
      f.admin_level = level;
      return {};
    }
    case Key::kStart:
    case Key::kEnd: {
      MUSTER_TRY(t, parse_time_point(s.value, now, ClockRule::kThisDayOrYear));
      (key == Key::kStart ? f.from : f.until) = t;
      return {};
    }
    default: break;
  }
  std::vector<LimitChange> wanted;  // a limit that is set to exactly this
  MUSTER_TRY_VOID(add_limit_changes(limit, s, wanted));
  for (LimitChange& c : wanted) f.limits.push_back({c.kind, std::move(c.tres), c.value});
  return {};
}

// Takes a word that only show has. False: it is none of those.
bool showing(Key key, const Spec& s, EntityFilter& f, ShowChoices& c) {
  switch (key) {
    case Key::kFormat: c.format += (c.format.empty() ? "" : ",") + s.value; return true;
    case Key::kWithAssociations: c.with_associations = true; return true;
    case Key::kWithCoordinators: c.with_coordinators = true; return true;
    case Key::kWithClusters: c.with_clusters = true; return true;
    case Key::kTree: c.tree = true; return true;
    case Key::kWithoutLimits: c.without_limits = true; return true;
    case Key::kWithoutParentInfo: c.without_parent_info = true; [[fallthrough]];
    case Key::kWithoutParentLimits: c.without_parent_limits = true; return true;
    case Key::kWithRawQos: c.with_raw_qos = true; return true;
    case Key::kOnlyDefaults: f.only_defaults = true; return true;
    case Key::kWithSubAccounts: f.with_sub_accounts = true; return true;
    default: return false;
  }
}

// Whether the word asks for something without a value, as "tree" and "withassoc" do.
bool stands_alone(Key key) { return key == Key::kWithDeleted || (key >= Key::kWithAssociations && key <= Key::kWithRawQos); }

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

Result<> add_condition(Entity e, const Spec& s, Time now, EntityFilter& f, ShowChoices* choices) {
  const uint8_t use = choices ? uint8_t{kCondition | kShowing} : uint8_t{kCondition};
  std::string meant;
  const bool bare = s.key.empty();
  std::optional<KeyMatch> match = find_key(e, use, bare ? s.value : s.key, meant);
  if (bare && (!match || !stands_alone(match->key))) {
    if (e == Entity::kAssociation || e == Entity::kTransaction) return unknown_condition(s, meant);
    append(names_of(e, f), s.value);
    return {};
  }
  if (!match) return unknown_condition(s, meant);
  if (match->key == Key::kRefused) return fail(Errc::kInvalidReq, s.text + ": " + match->reason);
  if (!bare) MUSTER_TRY_VOID(only_equals(s));
  if (choices && showing(match->key, s, f, *choices)) return {};
  return condition(e, match->key, match->limit, part_of_limit(*match, s), now, f);
}

Result<> add_setting(Entity e, const Spec& s, EntityChange& c) {
  std::string meant;
  std::optional<KeyMatch> match = s.key.empty() ? std::nullopt : find_key(e, kSetting, s.key, meant);
  if (!match) return unknown_option(s, meant);
  const std::string value(unquoted(s.value));
  switch (match->key) {
    case Key::kRefused: return fail(Errc::kInvalidReq, s.text + ": " + match->reason);
    case Key::kLimit: return add_limit_changes(match->limit, part_of_limit(*match, s), c.limits);
    case Key::kQos: return c.qos.push_back(names_change(s)), Result<>();
    case Key::kFlags: return c.flags.push_back(names_change(s)), Result<>();
    case Key::kPreempt: return c.preempt.push_back(names_change(s)), Result<>();
    case Key::kFeatures: return c.features.push_back(names_change(s)), Result<>();
    default: break;
  }
  MUSTER_TRY_VOID(only_equals(s));
  switch (match->key) {
    case Key::kParent: c.parent = value; break;
    case Key::kDescription: c.description = described(e, value); break;
    case Key::kOrganization: c.organization = value; break;
    case Key::kClassification: c.classification = value; break;
    case Key::kComment: c.comment = value; break;
    case Key::kDefaultAccount: c.default_account = value; break;
    case Key::kDefaultWckey: c.default_wckey = value; break;
    case Key::kDefaultQos: c.default_qos = value == "-1" ? "" : value; break;
    case Key::kNewName: c.new_name = value; break;
    case Key::kPreemptMode: c.preempt_mode = value; break;
    case Key::kServerType: c.server_type = value; break;
    case Key::kCount:
    case Key::kLastConsumed:
    case Key::kAllowed: {
      auto number = parse_number<uint32_t>(value, 0, 0x7fffffff);
      if (!number) return bad(s.key, value, "a whole number");
      (match->key == Key::kCount ? c.count : match->key == Key::kLastConsumed ? c.last_consumed : c.allowed) = *number;
      break;
    }
    case Key::kAdminLevel: {
      MUSTER_TRY(level, admin_level(value));
      c.admin_level = level;
      break;
    }
    case Key::kUsageFactor:
    case Key::kUsageThreshold:
    case Key::kLimitFactor:
    case Key::kRawUsage: {
      MUSTER_TRY(number, real(s));
      (match->key == Key::kUsageFactor      ? c.usage_factor
       : match->key == Key::kUsageThreshold ? c.usage_threshold
       : match->key == Key::kLimitFactor    ? c.limit_factor
                                            : c.raw_usage) = number;
      break;
    }
    default: break;
  }
  return {};
}

}  // namespace muster::cli
