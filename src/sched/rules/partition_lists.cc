#include "sched/rules/partition_lists.h"

#include <algorithm>

#include "base/text.h"
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

using Names = std::vector<std::string>;

bool bars(const Names& allowed, const Names& denied, const std::string& name) {
  auto listed = [&](const Names& list) { return std::ranges::any_of(list, [&](const std::string& x) { return iequals(x, name); }); };
  return (!allowed.empty() && !listed(allowed)) || (!name.empty() && listed(denied));
}

bool bars_account(const RequestBody& r, const Partition& p) { return bars(p.allow_accounts, p.deny_accounts, r.account); }
bool bars_qos(const RequestBody& r, const Partition& p) { return bars(p.allow_qos, p.deny_qos, r.qos); }

bool has_lists(const RequestClass&, const Partition& p, const Params&) {
  return !(p.allow_accounts.empty() && p.deny_accounts.empty() && p.allow_qos.empty() && p.deny_qos.empty());
}

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  if (bars_account(q.request, q.partition)) return {Reason::kAccountNotAllowed};
  return {bars_qos(q.request, q.partition) ? Reason::kQOSNotAllowed : Reason::kNone};
}

Result<> at_start(const StartQuestion& q) {
  if (bars_account(q.request, q.partition) || bars_qos(q.request, q.partition)) return fail(Errc::kPartitionNotAvailable);
  return {};
}

std::unexpected<Error> closed(Errc code, const Partition& p, const char* what, const Names& open_to, const std::string& name) {
  return fail(code, {},
              "partition " + p.name +
                  (open_to.empty() ? " is closed to " + std::string(what) + " " + name
                                   : " is open to " + std::string(what) + " " + join(open_to, ", ")));
}

}  // namespace

Result<> lists_admit(const RequestBody& r, const Partition& p) {
  if (bars_account(r, p)) return closed(Errc::kInvalidAccount, p, "account", p.allow_accounts, r.account);
  if (bars_qos(r, p)) return closed(Errc::kInvalidQos, p, "QOS", p.allow_qos, r.qos);
  return {};
}

constinit const JobRule kPartitionLists{.name = "AllowAccounts, AllowQos", .concerns = has_lists, .holds = holds, .at_start = at_start};

}  // namespace muster::sched
