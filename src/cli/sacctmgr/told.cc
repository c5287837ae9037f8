#include "cli/sacctmgr/told.h"

#include <algorithm>

#include "base/text.h"
#include "fields/entity_view.h"
#include "fields/values.h"

namespace muster::cli {
namespace {

// The text, padded on the right to `width`.
std::string wide(std::string_view text, size_t width) {
  std::string out(text);
  out.resize(std::max(out.size(), width), ' ');
  return out;
}
std::string setting(std::string_view name, size_t width, std::string_view value) {
  return "  " + wide(name, width) + " = " + std::string(value) + "\n";
}
std::string names(const auto& records) {
  std::string out;
  for (const auto& r : records) out += "  " + r.name + "\n";
  return out;
}

// The name that sacctmgr's settings have for a limit; where lists name it "MaxTRESPU".
std::string label_of(const LimitInfo& info) {
  std::string name(info.name);
  if (name.ends_with("PU")) name.replace(name.size() - 1, 1, "erUser");
  else if (name.ends_with("PA")) name.replace(name.size() - 1, 1, "erAccount");
  return name;
}

std::string limit_setting(const std::vector<Limit>& set, LimitKind kind) {
  if (kind != LimitKind::kGraceTime) return fields::limit_text(set, kind);
  const auto seconds = find_limit(set, kind);
  return seconds ? std::to_string(*seconds) : std::string();
}

// A line for each limit.
std::vector<std::string> limit_lines(const EntityChange& change, size_t width) {
  std::vector<Limit> set;
  for (const LimitChange& l : change.limits)
    if (l.op != ChangeOp::kClear) set.push_back({l.kind, l.tres, l.value});
  auto cleared = [&](LimitKind kind) {
    return std::ranges::any_of(change.limits,
                               [&](const LimitChange& l) { return l.kind == kind && l.op == ChangeOp::kClear && l.tres.empty(); });
  };
  std::vector<std::string> out;
  for (const LimitInfo& i : kLimits) {
    if (std::string text = limit_setting(set, i.kind); !text.empty()) out.push_back(setting(label_of(i), width, text));
    else if (cleared(i.kind)) out.push_back(setting(label_of(i), width, "NONE"));
  }
  return out;
}

// Those of a QOS come by their names.
std::string qos_limits(const EntityChange& c) {
  std::vector<std::string> lines = limit_lines(c, 24);
  std::ranges::sort(lines);
  return join(lines, "");
}

std::string names_changes(std::string_view name, size_t width, const std::vector<NamesChange>& changes) {
  std::string text;
  for (const NamesChange& c : changes) {
    const std::string_view sign = c.op == ChangeOp::kAdd ? "+" : c.op == ChangeOp::kSubtract ? "-" : "";
    for (const std::string& n : c.names) text += (text.empty() ? "" : ",") + std::string(sign) + n;
  }
  return text.empty() ? "" : setting(name, width, text);
}

// QOS are listed by their names, as they are shown later.
std::vector<NamesChange> by_name(std::vector<NamesChange> changes) {
  for (NamesChange& c : changes) std::ranges::sort(c.names);
  return changes;
}

// The settings of accounts and users: limits, then the other members of an association.
std::string association_settings(const EntityChange& c, bool account) {
  std::string out = join(limit_lines(c, 13), "");
  if (account) out += setting("Parent", 13, c.parent.value_or("root"));
  out += names_changes("QOS", 13, by_name(c.qos));
  if (c.default_qos) out += setting("DefQOS", 13, *c.default_qos);
  return out;
}

// The lines of new associations; those of users begin with the user.
std::string new_associations(const rpc::Entities& e, bool users) {
  std::string out;
  for (const AssociationRecord& a : e.associations) {
    if (a.user.empty() == users) continue;
    out += "  " + (users ? "U = " + wide(a.user, 9) + " " : std::string()) + "A = " + wide(a.account, 10) + " C = " + wide(a.cluster, 10);
    if (!a.partition.empty()) out += " P = " + wide(a.partition, 10);
    out += "\n";
  }
  return out;
}

std::string add_account(const EntityEdit& edit, const rpc::Entities& e, bool typed) {
  std::string out;
  if (!e.accounts.empty()) {
    out += " Adding Account(s)\n" + names(e.accounts) + " Settings\n";
    out += setting("Description", 15, edit.set.description.value_or("Account Name"));
    out += setting("Organization", 15, edit.set.organization.value_or("Parent/Account Name"));
    out += names_changes("Flags", 15, edit.set.flags);
  }
  if (std::string lines = new_associations(e, false); !lines.empty()) out += " Associations\n" + lines;
  if (typed && !out.empty()) out += " Settings\n" + association_settings(edit.set, true);
  return out;
}

std::string wckey_lines(const rpc::Entities& changed) {
  std::string out;
  for (const WckeyRecord& w : changed.wckeys)
    out += "  U = " + wide(w.user, 9) + " W = " + wide(w.name, 10) + " C = " + wide(w.cluster, 10) + "\n";
  return out.empty() ? "" : " WCKeys =\n" + out;
}

std::string add_user(const EntityEdit& edit, const rpc::Entities& entities) {
  std::string out;
  const EntityChange& change = edit.set;
  if (!entities.users.empty()) {
    out += " Adding User(s)\n" + names(entities.users);
    std::string settings;
    if (change.default_account) settings += setting("Default Account", 15, *change.default_account);
    if (change.default_wckey) settings += setting("Default WCKey", 15, *change.default_wckey);
    if (change.admin_level) settings += setting("Admin Level", 15, fields::admin_level_name(*change.admin_level));
    if (!settings.empty()) out += " Settings =\n" + settings;
  }
  if (std::string lines = new_associations(entities, true); !lines.empty())
    out += " Associations =\n" + lines + " Non Default Settings\n" + association_settings(change, false);
  return out + wckey_lines(entities);
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char ch) { return ch >= 'a' && ch <= 'z' ? static_cast<char>(ch - 'a' + 'A') : ch; });
  return text;
}

std::string factor_text(double value) {
  std::string out;
  fields::put_fixed(out, value, 4);
  return out;
}

std::string add_qos(const EntityEdit& edit, const rpc::Entities& e) {
  if (e.qos.empty()) return {};
  const EntityChange& c = edit.set;
  std::string out = " Adding QOS(s)\n" + names(e.qos) + " Settings\n";
  out += setting("Description", 14, c.description.value_or(e.qos.back().name));
  out += names_changes("Flags", 24, c.flags) + qos_limits(c) + names_changes("Preempt", 24, by_name(c.preempt));
  if (c.preempt_mode) out += setting("PreemptMode", 24, upper(*c.preempt_mode));
  for (const auto& [name, value] :
       {std::pair("UsageFactor", c.usage_factor), std::pair("UsageThreshold", c.usage_threshold), std::pair("LimitFactor", c.limit_factor)})
    if (value) out += setting(name, 24, factor_text(*value));
  return out;
}

std::string cluster_settings(const EntityChange& c) {
  std::string out;
  if (c.classification) out += setting("Classification", 14, *c.classification);
  out += names_changes("Features", 14, c.features);
  if (c.federation) out += setting("Federation", 14, *c.federation);
  if (c.fed_state) out += setting("FedState", 14, *c.fed_state);
  if (std::string l = association_settings(c, false); !l.empty()) out += "  Default Limits:\n" + l;
  return out;
}

std::string add_cluster(const EntityEdit& edit, const rpc::Entities& e) {
  if (e.clusters.empty()) return {};
  std::string out = " Adding Cluster(s)\n";
  for (const ClusterRecord& c : e.clusters) out += setting("Name", 14, c.name);
  if (std::string s = cluster_settings(edit.set); !s.empty()) out += " Setting\n" + s;
  return out;
}

std::string federation_lines(std::string_view title, const EntityEdit& edit, const rpc::Entities& e) {
  if (e.federations.empty()) return {};
  std::string out = " " + std::string(title) + "\n" + names(e.federations);
  if (std::string s = names_changes("Cluster", 14, edit.set.clusters); !s.empty()) out += " Settings\n" + s;
  return out;
}

// "  nastran@flex_host", and a line for each cluster.
std::string resource_lines(const rpc::Entities& e, bool shares) {
  std::string out;
  for (const ResourceRecord& r : e.resources) {
    out += "  " + r.name + "@" + r.server + "\n";
    for (const ResourceShare& s : r.clusters)
      out += shares ? "   Cluster - " + wide(s.cluster, 11) + std::to_string(s.allowed) + "\n"
                    : "  Cluster - " + wide(s.cluster, 10) + "- " + r.name + "@" + r.server + "\n";
  }
  return out;
}

std::string add_resource(const rpc::Entities& e) {
  if (e.resources.empty()) return {};
  const ResourceRecord& r = e.resources.back();
  std::string out = " Adding Resource(s)\n" + resource_lines(e, true) + " Settings\n";
  out += setting("Name", 14, r.name) + setting("Server", 14, r.server) + setting("Description", 14, r.description);
  if (!r.server_type.empty()) out += setting("ServerType", 14, r.server_type);
  out += setting("Count", 14, std::to_string(r.count));
  if (!r.flags.empty()) out += setting("Flags", 14, join(r.flags, ","));
  return out + setting("Type", 14, "License");
}

// What is deleted is the resource itself, or, where clusters were named, their shares of it.
std::string remove_resource(const EntityEdit& edit, const rpc::Entities& e) {
  if (e.resources.empty()) return {};
  if (edit.where.clusters.empty()) return " Deleting resource(s)...\n" + resource_lines(e, false);
  std::string out = " Deleting resource(s)...\n";
  for (const ResourceRecord& r : e.resources)
    for (const ResourceShare& s : r.clusters) out += "  Cluster - " + wide(s.cluster, 10) + "- " + r.name + "@" + r.server + "\n";
  return out;
}

std::string coordinators(const EntityEdit& edit, const rpc::Entities& entities) {
  if (entities.accounts.empty()) return {};
  const bool add = edit.verb == EditVerb::kAdd;
  std::string out = add ? " Adding Coordinator User(s)\n" : " Removing Coordinators with user name\n";
  for (const std::string& u : edit.where.users) out += "  " + u + "\n";
  out += add ? " To Account(s) and all sub-accounts\n" : " From Account(s)\n";
  out += names(entities.accounts);
  if (add) return out;
  out += " Removed Coordinators (sub accounts not listed)...\n";
  for (const std::string& u : edit.where.users)
    for (const AccountRecord& a : entities.accounts) out += "  U = " + wide(u, 9) + " A = " + wide(a.name, 10) + "\n";
  return out;
}

// A line such as "  C = oracle     A = team-a               U = root     " or "  C = oracle     A = team-a of root".
std::string association_line(const AssociationRecord& a) {
  std::string out = "  C = " + wide(a.cluster, 10) + " A = ";
  if (a.user.empty()) return out + a.account + (a.parent_account.empty() ? "" : " of " + a.parent_account) + "\n";
  out += wide(a.account, 20) + " U = " + wide(a.user, 9);
  if (!a.partition.empty()) out += " P = " + a.partition;
  return out + "\n";
}
std::string association_lines(const rpc::Entities& e) {
  std::string out;
  for (const AssociationRecord& a : e.associations) out += association_line(a);
  return out;
}

std::string modify(const EntityEdit& edit, const rpc::Entities& entities) {
  std::string lines = association_lines(entities), out;
  switch (edit.entity) {
    case Entity::kAccount:
      if (!entities.accounts.empty()) out += " Modified accounts...\n" + names(entities.accounts);
      return lines.empty() ? out : out + " Modified account associations...\n" + lines;
    case Entity::kUser:
      if (!entities.users.empty()) out += " Modified users...\n" + names(entities.users);
      return lines.empty() ? out : out + " Modified user associations...\n" + lines;
    case Entity::kQos: return entities.qos.empty() ? out : " Modified qos...\n" + names(entities.qos);
    case Entity::kResource: return entities.resources.empty() ? out : " Modified server resource ...\n" + resource_lines(entities, false);
    case Entity::kFederation: return federation_lines("Modified federation...", edit, entities);
    case Entity::kCluster:
      if (entities.clusters.empty() && lines.empty()) return out;
      out = " Setting\n" + cluster_settings(edit.set);
      if (!entities.clusters.empty()) out += " Modified cluster...\n" + names(entities.clusters);
      return lines.empty() ? out : out + " Modified cluster defaults for associations...\n" + lines;
    default: return lines.empty() ? out : " Modified associations...\n" + lines;
  }
}

std::string remove(const EntityEdit& edit, const rpc::Entities& entities) {
  std::string lines;
  for (const AssociationRecord& a : entities.associations) {
    lines += "  C = " + wide(a.cluster, 10) + " A = " + wide(a.account, 10);
    if (!a.user.empty()) lines += " U = " + wide(a.user, 9);
    if (!a.partition.empty()) lines += " P = " + a.partition;
    lines += "\n";
  }
  switch (edit.entity) {
    case Entity::kAccount:
      if (!entities.accounts.empty() && edit.where.clusters.empty()) return " Deleting accounts...\n" + names(entities.accounts);
      return lines.empty() ? "" : " Deleting account associations...\n" + lines;
    case Entity::kUser:
      if (!entities.users.empty()) return " Deleting users...\n" + names(entities.users);
      if (!lines.empty()) return " Deleting user associations...\n" + lines;
      return entities.wckeys.empty() ? "" : " Deleting wckeys...\n" + names(entities.wckeys);
    case Entity::kQos: return entities.qos.empty() ? "" : " Deleting QOS(s)...\n" + names(entities.qos);
    case Entity::kResource: return remove_resource(edit, entities);
    case Entity::kFederation: return federation_lines("Deleting federations...", edit, entities);
    case Entity::kCluster: return entities.clusters.empty() ? "" : " Deleting clusters...\n" + names(entities.clusters);
    case Entity::kWckey: return entities.wckeys.empty() ? "" : " Deleting wckeys...\n" + names(entities.wckeys);
    default: return {};
  }
}

}  // namespace

std::string told(const EntityEdit& edit, const rpc::Entities& changed, bool typed_settings) {
  if (edit.entity == Entity::kCoordinator) return coordinators(edit, changed);
  if (edit.verb == EditVerb::kModify) return modify(edit, changed);
  if (edit.verb == EditVerb::kDelete) return remove(edit, changed);
  switch (edit.entity) {
    case Entity::kAccount: return add_account(edit, changed, typed_settings);
    case Entity::kUser: return add_user(edit, changed);
    case Entity::kQos: return add_qos(edit, changed);
    case Entity::kCluster: return add_cluster(edit, changed);
    case Entity::kResource: return add_resource(changed);
    case Entity::kFederation: return federation_lines("Adding Federation(s)", edit, changed);
    case Entity::kWckey: return wckey_lines(changed);
    default: return {};
  }
}

std::string told_nothing(const EntityEdit& edit) {
  if (edit.verb == EditVerb::kAdd && edit.entity == Entity::kCluster) {
    std::string out;
    for (const std::string& name : edit.where.clusters) out += " This cluster " + name + " already exists.  Not adding.\n";
    return out;
  }
  switch (edit.verb) {
    case EditVerb::kAdd: return " Nothing new added.\n";
    case EditVerb::kModify: return " Nothing modified\n";
    case EditVerb::kDelete: return " Nothing deleted\n";
  }
  return {};
}

}  // namespace muster::cli
