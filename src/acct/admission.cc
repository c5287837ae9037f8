#include "acct/admission.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"

namespace muster::acct {
namespace {

constexpr size_t kNamesShown = 12;
constexpr std::string_view kNormal = "normal";  // the QOS of an association that may use several and has no default of its own or above it

struct Question {
  const AccountDirectory* directory;
  const Enforcement& enforcement;
  const Asked& asked;
  const Admitted& would_be;
};

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kNamesShown)));
  return join(shown, ", ") + (names.size() > kNamesShown ? " and " + std::to_string(names.size() - kNamesShown) + " more" : "");
}

// ---- rules: each says why it is broken, or nothing
using Broken = std::optional<std::string>;

Broken never_heard(const Question& q) {
  if (!q.enforcement.associations || q.directory) return {};
  return "slurmdbd, which knows the accounts that AccountingStorageEnforce asks for, has not been reached yet";
}

Broken no_association(const Question& q) {
  if (!q.enforcement.associations || q.would_be.association) return {};
  const std::string user(q.asked.user);
  const std::vector<std::string> accounts = q.directory->accounts_of(q.asked.user);
  if (accounts.empty()) return "user " + user + " has no account on this cluster";
  if (q.would_be.account.empty()) return "user " + user + " has no default account; name one of " + listed(accounts);
  return "user " + user + " may not use account " + q.would_be.account + " in partition " + std::string(q.asked.partition) +
         "; accounts of that user: " + listed(accounts);
}

Broken unknown_qos(const Question& q) {
  if (!q.enforcement.qos || q.directory->qos.contains(q.would_be.qos)) return {};
  return "no QOS is called '" + q.would_be.qos + "'";
}

Broken qos_of_others(const Question& q) {
  const AssociationRecord* a = q.would_be.association;
  if (!q.enforcement.qos || q.asked.qos_granted || !a || std::ranges::find(a->qos, q.would_be.qos) != a->qos.end()) return {};
  return "user " + a->user + " may not use QOS " + q.would_be.qos + " with account " + a->account + "; it may use: " + listed(a->qos);
}

Broken without_reservation(const Question& q) {
  const QosRecord* qos = q.enforcement.qos && !q.asked.reserved ? q.directory->qos.find(q.would_be.qos) : nullptr;
  if (!qos || !has_flag(*qos, "RequiresReservation")) return {};
  return "QOS " + qos->name + " is for jobs in a reservation (RequiresReservation); name one with --reservation";
}

// A QOS whose limits are parts of a partition means nothing for a job by itself. Guide qos, Relative QOS.
Broken qos_of_a_partition(const Question& q) {
  const QosRecord* qos = q.enforcement.qos && q.asked.partitions ? q.directory->qos.find(q.would_be.qos) : nullptr;
  if (!qos || !has_flag(*qos, "Relative")) return {};
  Broken why;
  q.asked.partitions->for_each([&](uint32_t, const Partition& p) {
    if (iequals(p.qos, qos->name)) why = "QOS " + qos->name + " is Relative and that of partition " + p.name + "; jobs cannot ask for it";
  });
  return why;
}

Broken foreign_wckey(const Question& q) {
  if (!q.enforcement.wckeys) return {};
  const std::vector<std::string>& own = q.directory->wckeys_of(q.asked.user);
  if (std::ranges::binary_search(own, q.asked.wckey)) return {};
  const std::string user(q.asked.user);
  if (own.empty()) return "user " + user + " has no wckey on this cluster";
  if (q.asked.wckey.empty()) return "user " + user + " has no default wckey; name one of " + listed(own);
  return "user " + user + " may not use wckey " + std::string(q.asked.wckey) + "; it may use: " + listed(own);
}

enum class AtSubmission : uint8_t { kRefused, kLetIn };  // kLetIn: it waits, with the reason
struct Rule {
  Broken (*broken)(const Question&);
  Errc error;
  Reason reason;
  AtSubmission at_submission;
};
// The first rule that is broken gives the verdict.
constexpr Rule kRules[] = {
    {never_heard, Errc::kAccountingUnavailable, Reason::kInvalidAccount, AtSubmission::kRefused},
    {no_association, Errc::kInvalidAccount, Reason::kInvalidAccount, AtSubmission::kRefused},
    {unknown_qos, Errc::kInvalidQos, Reason::kInvalidQOS, AtSubmission::kRefused},
    {qos_of_others, Errc::kInvalidQos, Reason::kInvalidQOS, AtSubmission::kRefused},
    {without_reservation, Errc::kInvalidQos, Reason::kInvalidQOS, AtSubmission::kRefused},
    {qos_of_a_partition, Errc::kInvalidQos, Reason::kInvalidQOS, AtSubmission::kRefused},
    // squeue(1) has no reason for it; the text says which.
    {foreign_wckey, Errc::kInvalidWckey, Reason::kInvalidAccount, AtSubmission::kRefused},
};

// Where an association may use one QOS alone, that is what its jobs have: nothing else is left to them.
std::string default_qos(const AssociationRecord& association) {
  if (association.default_qos.empty() && association.qos.size() == 1) return association.qos.front();
  return association.default_qos;
}

Admitted with_defaults(const AccountDirectory* directory, const Asked& asked) {
  Admitted out;
  out.account = asked.account;
  out.qos = asked.qos;
  if (!directory) return out;
  if (out.account.empty()) {
    out.association = directory->default_association(asked.user, asked.partition);
    out.account = directory->default_account(asked.user);
  } else {
    out.association = directory->association(asked.user, asked.account, asked.partition);
  }
  if (out.qos.empty() && out.association) out.qos = default_qos(*out.association);
  if (out.qos.empty() && directory->qos.contains(kNormal)) out.qos = kNormal;
  return out;
}

}  // namespace

Admission admit(const AccountDirectory* directory, const Enforcement& enforcement, const Asked& asked, Moment moment) {
  Admitted would_be = with_defaults(directory, asked);
  const Question question{directory, enforcement, asked, would_be};
  for (const Rule& rule : kRules) {
    Broken why = rule.broken(question);
    if (!why) continue;
    const bool refused = moment != Moment::kStart && rule.at_submission == AtSubmission::kRefused;
    if (refused) return Never{rule.error, std::move(*why)};
    if (moment == Moment::kStart) return Wait{rule.reason, std::move(*why)};
  }
  return would_be;
}

uint32_t association_of(const Cluster& cluster, const RequestBody& r, uint32_t partition) {
  if (!cluster.directory) return 0;
  auto in = [&](const Partition* p) {
    const AssociationRecord* a =
        p ? with_defaults(cluster.directory.get(), {r.user_name, r.account, r.qos, p->name, r.qos_granted}).association : nullptr;
    return a ? a->id : 0;
  };
  uint32_t found = in(cluster.partitions.find(partition));
  for (size_t i = 0; !found && i < r.partitions.size(); ++i) found = in(cluster.partition(r.partitions[i]));
  return found;
}

std::vector<std::pair<JobId, uint32_t>> associations_found(const Cluster& cluster) {
  std::vector<std::pair<JobId, uint32_t>> out;
  cluster.jobs.for_each([&](uint32_t id, const Job& j) {
    if (!j.pending() || !j.request || (j.association && cluster.directory->associations.contains(j.association))) return;
    const uint32_t now = association_of(cluster, *j.request, j.partition);
    if (now && now != j.association) out.emplace_back(JobId(id), now);
  });
  return out;
}

}  // namespace muster::acct
