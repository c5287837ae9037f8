#include "fields/show_assoc_mgr.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace muster::fields {
namespace {

using Amounts = std::vector<uint64_t>;

uint64_t amount(const Amounts& list, size_t i) { return i < list.size() ? list[i] : 0; }

std::string number(const std::vector<Limit>& limits, LimitKind kind) {
  const auto limit = find_limit(limits, kind);
  return limit ? std::to_string(*limit) : "";
}

// "4(2)", "N(2)".
std::string with_use(const std::optional<uint64_t>& limit, const std::string& used) {
  return (limit ? std::to_string(*limit) : "N") + "(" + used + ")";
}
std::string count(const std::vector<Limit>& limits, LimitKind kind, uint64_t used) {
  return with_use(find_limit(limits, kind), std::to_string(used));
}

// Of all TRES, set or not: "cpu=4(2),mem=N(100)".
std::string all_tres(const std::vector<Limit>& limits, LimitKind kind, const Amounts& used, const std::vector<std::string>& tres) {
  std::string out;
  for (size_t i = 0; i < tres.size(); ++i)
    out += (i ? "," : "") + tres[i] + "=" + with_use(find_limit(limits, kind, to_lower(tres[i])), std::to_string(amount(used, i)));
  return out;
}

// Of those that are set: "cpu=4".
std::string set_tres(const std::vector<Limit>& limits, LimitKind kind) {
  std::string out;
  for (const Limit& l : limits)
    if (l.kind == kind) out += (out.empty() ? "" : ",") + l.tres + "=" + std::to_string(l.value);
  return out;
}

bool any(const std::vector<Limit>& limits, LimitKind kind) {
  for (const Limit& l : limits)
    if (l.kind == kind) return true;
  return false;
}

std::string named(const std::string& user, const AssocMgrNames& names) {
  const std::string uid = user.empty() ? "" : names.number_of(user);
  return uid.empty() ? user : user + "(" + uid + ")";
}

std::string in_capitals(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string level_name(AdminLevel level) {
  if (level == AdminLevel::kAdministrator) return "Administrator";
  return level == AdminLevel::kOperator ? "Operator" : "None";
}

// What associations and QOS have in common.
void group_limits(const std::vector<Limit>& limits, const UseRow& u, const std::vector<std::string>& tres, bool of_qos, std::string& out) {
  using enum LimitKind;
  constexpr double kMinute = 60;
  out += "    GrpJobs=" + count(limits, kGrpJobs, u.jobs) + " GrpJobsAccrue=" + count(limits, kGrpJobsAccrue, u.accruing);
  out += of_qos ? " " : "\n    ";
  out += "GrpSubmitJobs=" + count(limits, kGrpSubmitJobs, u.submitted);
  out += " GrpWall=" + with_use(find_limit(limits, kGrpWall), fmt::format("{:.2f}", u.wall_s / kMinute)) + "\n";
  out += "    GrpTRES=" + all_tres(limits, kGrpTres, u.held, tres) + "\n";
  out += "    GrpTRESMins=" + all_tres(limits, kGrpTresMins, u.used_minutes, tres) + "\n";
  out += "    GrpTRESRunMins=" + all_tres(limits, kGrpTresRunMins, u.run_minutes, tres) + "\n";
}

struct Party {
  const char* suffix;  // of the names of limits
  LimitKind jobs, accrue, submit, tres, run_minutes;
};
constexpr Party kAccounts{"PA",
                          LimitKind::kMaxJobsPerAccount,
                          LimitKind::kMaxJobsAccruePerAccount,
                          LimitKind::kMaxSubmitJobsPerAccount,
                          LimitKind::kMaxTresPerAccount,
                          LimitKind::kMaxTresRunMinsPerAccount};
constexpr Party kUsers{"PU",
                       LimitKind::kMaxJobsPerUser,
                       LimitKind::kMaxJobsAccruePerUser,
                       LimitKind::kMaxSubmitJobsPerUser,
                       LimitKind::kMaxTresPerUser,
                       LimitKind::kMaxTresRunMinsPerUser};

void party(const Party& p, const std::string& name, const UseRow& u, const std::vector<Limit>& limits, const std::vector<std::string>& tres,
           std::string& out) {
  const std::string s = p.suffix, in = "        ";
  out += "      " + name + "\n" + in + "MaxJobs" + s + "=" + count(limits, p.jobs, u.jobs);
  out += " MaxJobsAccrue" + s + "=" + count(limits, p.accrue, u.accruing);
  out += " MaxSubmitJobs" + s + "=" + count(limits, p.submit, u.submitted) + "\n";
  out += in + "MaxTRES" + s + "=" + all_tres(limits, p.tres, u.held, tres) + "\n";
  if (any(limits, p.run_minutes)) out += in + "MaxTRESRunMins" + s + "=" + all_tres(limits, p.run_minutes, u.run_minutes, tres) + "\n";
}

}  // namespace

void show_user_record(const UserRecord& u, const AssocMgrNames& names, std::string& out) {
  out += "UserName=" + named(u.name, names) + " DefAccount=" + u.default_account + " DefWckey=" + u.default_wckey +
         " AdminLevel=" + level_name(u.admin_level) + "\n";
}

void show_association(const AssociationUse& row, const std::vector<std::string>& tres, const AssocMgrNames& names, std::string& out) {
  using enum LimitKind;
  const AssociationRecord& association = row.record;
  const std::vector<Limit>& limits = association.limits;
  const uint64_t shares = find_limit(limits, kShares).value_or(1);
  out += "ClusterName=" + association.cluster + " Account=" + association.account + " UserName=" + named(association.user, names) +
         " Partition=" + association.partition + " Priority=" + std::to_string(find_limit(limits, kPriority).value_or(0)) +
         " ID=" + std::to_string(association.id) + "\n";
  out += fmt::format("    SharesRaw/Norm/Level/Factor={}/{:.2f}/{}/{:.2f}\n", shares == kSharesOfParent ? "parent" : std::to_string(shares),
                     row.norm_shares, row.level_shares, row.factor);
  out += fmt::format("    UsageRaw/Norm/Efctv={:.2f}/{:.2f}/{:.2f}\n", row.use.raw_usage, row.norm_usage, row.effective_usage);
  out += "    ParentAccount=" +
         (association.parent_account.empty() || !association.user.empty()
              ? ""
              : association.parent_account + "(" + std::to_string(association.parent_id) + ")") +
         " Lineage=" + association.lineage + " DefAssoc=" + (association.is_default ? "Yes" : "No") + "\n";
  group_limits(limits, row.use, tres, false, out);
  out += "    MaxJobs=" + (find_limit(limits, kMaxJobs) ? count(limits, kMaxJobs, row.use.jobs) : "");
  out += " MaxJobsAccrue=" + (find_limit(limits, kMaxJobsAccrue) ? count(limits, kMaxJobsAccrue, row.use.accruing) : "");
  out += " MaxSubmitJobs=" + (find_limit(limits, kMaxSubmitJobs) ? count(limits, kMaxSubmitJobs, row.use.submitted) : "");
  out += " MaxWallPJ=" + number(limits, kMaxWall) + "\n";
  out += "    MaxTRESPJ=" + set_tres(limits, kMaxTresPerJob) + "\n    MaxTRESPN=" + set_tres(limits, kMaxTresPerNode) +
         "\n    MaxTRESMinsPJ=" + set_tres(limits, kMaxTresMinsPerJob) + "\n    MinPrioThresh=\n";
}

void show_qos(const QosUse& row, const std::vector<std::string>& tres, const AssocMgrNames& names, std::string& out) {
  using enum LimitKind;
  const QosRecord& qos = row.record;
  const std::vector<Limit>& limits = qos.limits;
  out += "QOS=" + qos.name + "(" + std::to_string(qos.id) + ")\n" + fmt::format("    UsageRaw={:.6f}\n", row.use.raw_usage);
  group_limits(limits, row.use, tres, true, out);
  out += "    MaxWallPJ=" + number(limits, kMaxWall) + "\n    MaxTRESPJ=" + set_tres(limits, kMaxTresPerJob) +
         "\n    MaxTRESPN=" + set_tres(limits, kMaxTresPerNode) + "\n    MaxTRESMinsPJ=" + set_tres(limits, kMaxTresMinsPerJob) +
         "\n    MinPrioThresh=" + number(limits, kMinPriority) + " \n    MinTRESPJ=" + set_tres(limits, kMinTresPerJob) +
         "\n    PreemptMode=" +
         (qos.preempt_mode.empty() || iequals(qos.preempt_mode.text(), "cluster") ? "OFF" : in_capitals(qos.preempt_mode.text())) +
         "\n    Priority=" + std::to_string(find_limit(limits, kPriority).value_or(0)) + "\n    Account Limits\n";
  if (row.accounts.empty()) out += "        No Accounts\n";
  for (const PartyUse& p : row.accounts) party(kAccounts, p.name, p.use, limits, tres, out);
  out += "    User Limits\n";
  if (row.users.empty()) out += "        No Users\n";
  for (const PartyUse& p : row.users) {
    const std::string name = names.user_of(p.name);
    party(kUsers, name.empty() ? p.name : name + "(" + p.name + ")", p.use, limits, tres, out);
  }
}

}  // namespace muster::fields
