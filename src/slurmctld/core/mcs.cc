// The MCS label of a job: which one MCSPlugin gives it, and whether it may have the one asked for. Guide mcs.
#include <algorithm>

#include "base/text.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

using Plugin = config::McsRules::Plugin;
constexpr size_t kLabelLength = 256;

std::unexpected<Error> refuse(std::string why) { return fail(Errc::kInvalidMcsLabel, {}, std::move(why)); }

bool allowed_group(const config::McsRules& m, const std::string& group) {
  return m.groups.empty() || std::ranges::find(m.groups, group) != m.groups.end();
}

// For an operator, who may label jobs of others, only the list of allowed groups counts.
Result<> check_group(const View& v, const config::McsRules& m, const std::string& label) {
  if (!allowed_group(m, label)) return refuse("--mcs-label=" + label + ": MCSParameters allows the groups " + join(m.groups, ", "));
  if (!v.may(Right::kLabelForOthers) && std::ranges::find(v.caller.groups, label) == v.caller.groups.end())
    return refuse("--mcs-label=" + label + ": with mcs/group a label is a group that the user is in");
  return {};
}

// The first group that the user is in and that may be a label: the login group comes first.
std::string default_group(const View& v, const config::McsRules& m) {
  auto at = std::ranges::find_if(v.caller.groups, [&](const std::string& g) { return allowed_group(m, g); });
  return at == v.caller.groups.end() ? std::string() : *at;
}

Result<> check_own(std::string_view plugin, const std::string& label, const std::string& own) {
  if (label == own) return {};
  return refuse("--mcs-label=" + label + ": with " + std::string(plugin) + " the label of this job is " +
                (own.empty() ? std::string("the account that it lacks") : own));
}

Result<> check_label(const View& v, const config::McsRules& m, const JobRequest& r) {
  const std::string& label = r.mcs_label;
  const bool printable = std::ranges::all_of(label, [](char c) { return c > ' ' && c != 0x7f; });
  if (label.size() > kLabelLength || !printable)
    return refuse("--mcs-label: at most " + std::to_string(kLabelLength) + " printable characters without blanks");
  switch (m.plugin) {
    case Plugin::kUser: return check_own("mcs/user", label, r.user_name);
    case Plugin::kAccount: return check_own("mcs/account", label, r.account);
    case Plugin::kGroup: return check_group(v, m, label);
    default: return {};
  }
}

std::string default_label(const View& v, const config::McsRules& m, const JobRequest& r) {
  switch (m.plugin) {
    case Plugin::kUser: return r.user_name;
    case Plugin::kAccount: return r.account;
    case Plugin::kGroup: return default_group(v, m);
    default: return {};
  }
}

}  // namespace

Result<> complete_mcs_label(const View& view, JobRequest& request) {
  const config::McsRules& rules = view.settings.config().mcs;
  const bool keeps = request.exclusive == Exclusive::kMcs;
  if (rules.plugin == Plugin::kNone) {
    // --exclusive=mcs is taken: nobody has a label here, so there is nobody to keep off.
    if (request.mcs_label.empty()) return {};
    return refuse("--mcs-label needs an MCSPlugin, and this cluster has mcs/none; --exclusive=user keeps other users away");
  }
  if (!request.mcs_label.empty()) return check_label(view, rules, request);
  // A user who wants nodes kept for a label and names none means the user's own label.
  const bool keeps_own = keeps && rules.select != config::McsRules::Select::kNever;
  if (rules.enforced || keeps_own) request.mcs_label = default_label(view, rules, request);
  if (!request.mcs_label.empty()) return {};
  if (rules.enforced)
    return refuse("every job has a label here (MCSParameters=enforced), and there is none to take: name one with --mcs-label");
  if (keeps && rules.select == config::McsRules::Select::kOnDemand)
    return refuse("--exclusive=mcs keeps nodes for a label: name it with --mcs-label");
  return {};
}

void follow_account(const View& v, const std::string& before, JobRequest& r) {
  if (v.settings.config().mcs.plugin == Plugin::kAccount && r.mcs_label == before && !before.empty()) r.mcs_label = r.account;
}

}  // namespace muster::slurmctld
