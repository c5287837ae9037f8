// A cluster's accounts as the text of a flat file. The order of titles and options is that of Slurm's sacctmgr dump.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "config/accounts_file.h"

namespace muster::config {
namespace {

constexpr std::string_view kHead =
    "# Accounts, users and limits of one cluster: sacctmgr load reads this file, sacctmgr dump writes it.\n"
    "# QOS - 'name':Priority=100\n"
    "# Cluster - 'name':Fairshare=1:QOS='normal'\n"
    "# Parent - 'root'\n"
    "# Account - 'physics':Description='all of it':Organization='science':Fairshare=30:MaxJobs=4\n"
    "# Parent - 'physics'\n"
    "# User - 'alice':DefaultAccount='physics':Fairshare=2:MaxWallDurationPerJob=40\n"
    "# Options may be left out and may be in any order. A parent stands before its children; root is there always.\n";

std::string quoted(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  if (!out.contains('\'')) return "'" + out + "'";
  if (!out.contains('"')) return "\"" + out + "\"";
  std::ranges::replace(out, '\'', '`');
  return "'" + out + "'";
}

void put(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out += ":" + std::string(name) + "=" + quoted(value);
}
void put_names(std::string& out, std::string_view name, std::vector<std::string> names) {
  std::ranges::sort(names);
  put(out, name, join(names, ","));
}
void put_number(std::string& out, std::string_view name, const std::optional<double>& value) {
  if (!value) return;
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, *value).ptr;
  out += ":" + std::string(name) + "=" + std::string(text, end);
}

struct LimitName {
  LimitKind kind;
  std::string_view name;
};
constexpr LimitName kOrder[] = {
    {LimitKind::kShares, "Fairshare"},
    {LimitKind::kGrpTresMins, "GrpTRESMins"},
    {LimitKind::kGrpTresRunMins, "GrpTRESRunMins"},
    {LimitKind::kGrpTres, "GrpTRES"},
    {LimitKind::kGrpJobs, "GrpJobs"},
    {LimitKind::kGrpJobsAccrue, "GrpJobsAccrue"},
    {LimitKind::kGrpSubmitJobs, "GrpSubmitJobs"},
    {LimitKind::kGrpWall, "GrpWall"},
    {LimitKind::kMaxTresMinsPerJob, "MaxTRESMinsPerJob"},
    {LimitKind::kMaxTresPerJob, "MaxTRESPerJob"},
    {LimitKind::kMaxTresPerNode, "MaxTRESPerNode"},
    {LimitKind::kMaxTresPerAccount, "MaxTRESPerAccount"},
    {LimitKind::kMaxTresPerUser, "MaxTRESPerUser"},
    {LimitKind::kMaxTresRunMinsPerAccount, "MaxTRESRunMinsPerAccount"},
    {LimitKind::kMaxTresRunMinsPerUser, "MaxTRESRunMinsPerUser"},
    {LimitKind::kMaxJobs, "MaxJobs"},
    {LimitKind::kMaxJobsAccrue, "MaxJobsAccrue"},
    {LimitKind::kMaxSubmitJobs, "MaxSubmitJobs"},
    {LimitKind::kMaxJobsPerAccount, "MaxJobsPerAccount"},
    {LimitKind::kMaxJobsPerUser, "MaxJobsPerUser"},
    {LimitKind::kMaxJobsAccruePerAccount, "MaxJobsAccruePerAccount"},
    {LimitKind::kMaxJobsAccruePerUser, "MaxJobsAccruePerUser"},
    {LimitKind::kMaxSubmitJobsPerAccount, "MaxSubmitJobsPerAccount"},
    {LimitKind::kMaxSubmitJobsPerUser, "MaxSubmitJobsPerUser"},
    {LimitKind::kMaxWall, "MaxWallDurationPerJob"},
    {LimitKind::kMinTresPerJob, "MinTRESPerJob"},
    {LimitKind::kMinPriority, "MinPrioThreshold"},
    {LimitKind::kPriority, "Priority"},
    {LimitKind::kGraceTime, "GraceTime"},
    {LimitKind::kPreemptExemptTime, "PreemptExemptTime"},
};
static_assert(std::size(kOrder) == std::size(kLimits), "every limit has its name in the file");

// The number as read_limit() reads it: times in minutes, GraceTime alone in seconds.
std::string amount_text(const Limit& l) {
  if (l.tres == "mem") return format_mem_mb(l.value);
  if (l.kind == LimitKind::kPreemptExemptTime) return std::to_string((l.value + 59) / 60);
  return std::to_string(l.value);
}

void put_limits(std::string& out, const std::vector<Limit>& limits) {
  std::vector<const Limit*> of;
  for (const LimitName& row : kOrder) {
    of.clear();
    for (const Limit& l : limits)
      if (l.kind == row.kind) of.push_back(&l);
    std::ranges::sort(of, {}, [](const Limit* l) { return std::string_view(l->tres); });
    std::string value;
    for (const Limit* l : of) value += (value.empty() ? "" : ",") + (l->tres.empty() ? "" : l->tres + "=") + amount_text(*l);
    if (value.contains(':')) put(out, row.name, value);
    else if (!value.empty()) out += ":" + std::string(row.name) + "=" + value;
  }
}

// Everybody has a share; 1 where none was set.
std::vector<Limit> with_share(std::vector<Limit> limits) {
  if (!find_limit(limits, LimitKind::kShares)) limits.push_back({LimitKind::kShares, {}, 1});
  return limits;
}
void put_association(std::string& out, const AssociationRecord& a) {
  put(out, "DefaultQOS", a.default_qos);
  put_limits(out, with_share(a.limits));
  put_names(out, "QOS", a.qos);
}

std::string qos_line(const QosRecord& q) {
  std::string out = "QOS - " + quoted(q.name);
  put(out, "Description", q.description);
  put_names(out, "Flags", q.flags);
  put_limits(out, q.limits);
  put_names(out, "Preempt", q.preempt);
  put(out, "PreemptMode", q.preempt_mode.text());
  put_number(out, "UsageFactor", q.usage_factor);
  put_number(out, "UsageThreshold", q.usage_threshold);
  put_number(out, "LimitFactor", q.limit_factor);
  return out + "\n";
}

class Writer {
 public:
  Writer(const std::string& cluster, const rpc::Entities& what) : cluster_(cluster), what_(what) {
    for (const AccountRecord& a : what.accounts) accounts_[a.name] = &a;
    for (const UserRecord& u : what.users) users_[u.name] = &u;
    for (const WckeyRecord& w : what.wckeys)
      if (!w.deleted && w.cluster == cluster) wckeys_[w.user].push_back(w.name);
    for (const AssociationRecord& a : what.associations) {
      if (a.deleted || a.cluster != cluster) continue;
      if (a.user.empty() && a.parent_id == 0) root_ = &a;
      else children_[a.parent_id].push_back(&a);
      if (a.is_default) defaults_[a.user] = a.account;
    }
  }

  std::string run() {
    std::string out(kHead);
    for (const QosRecord& q : what_.qos)
      if (!q.deleted) out += qos_line(q);
    out += "Cluster - " + quoted(cluster_);
    for (const ClusterRecord& c : what_.clusters)
      if (c.name == cluster_) put(out, "Classification", c.classification);
    if (root_) put_association(out, *root_);
    out += "\n";
    if (root_) put_below(out, *root_);
    return out;
  }

 private:
  void put_below(std::string& out, const AssociationRecord& above) const {
    const auto of = children_.find(above.id);
    if (of == children_.end()) return;
    out += "Parent - " + quoted(above.account) + "\n";
    for (const AssociationRecord* a : of->second) out += a->user.empty() ? account_line(*a) : user_line(*a);
    for (const AssociationRecord* a : of->second)
      if (a->user.empty()) put_below(out, *a);
  }
  std::string account_line(const AssociationRecord& a) const {
    std::string out = "Account - " + quoted(a.account);
    if (const auto of = accounts_.find(a.account); of != accounts_.end()) {
      put(out, "Description", of->second->description);
      put(out, "Organization", of->second->organization);
      put_names(out, "Flags", of->second->flags);
    }
    put_association(out, a);
    return out + "\n";
  }
  std::string user_line(const AssociationRecord& a) const {
    std::string out = "User - " + quoted(a.user);
    put(out, "Partition", a.partition);
    if (const auto of = defaults_.find(a.user); of != defaults_.end()) put(out, "DefaultAccount", of->second);
    const auto record = users_.find(a.user);
    if (record != users_.end()) put(out, "DefaultWCKey", record->second->default_wckey);
    if (record != users_.end()) put(out, "AdminLevel", level_name(record->second->admin_level));
    if (record != users_.end()) put_names(out, "Coordinator", record->second->coordinator_of);
    if (const auto of = wckeys_.find(a.user); of != wckeys_.end()) put_names(out, "WCKeys", of->second);
    put_association(out, a);
    return out + "\n";
  }
  static std::string_view level_name(AdminLevel level) {
    return level == AdminLevel::kAdministrator ? "Administrator" : level == AdminLevel::kOperator ? "Operator" : "";
  }

  const std::string& cluster_;
  const rpc::Entities& what_;
  const AssociationRecord* root_ = nullptr;
  std::map<std::string_view, const AccountRecord*> accounts_;
  std::map<std::string_view, const UserRecord*> users_;
  std::map<std::string_view, std::vector<std::string>> wckeys_;
  std::map<std::string_view, std::string_view> defaults_;
  std::map<uint32_t, std::vector<const AssociationRecord*>> children_;
};

}  // namespace

std::string write_accounts_file(const std::string& cluster, const rpc::Entities& what) { return Writer(cluster, what).run(); }

}  // namespace muster::config
