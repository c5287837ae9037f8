#include "slurmctld/core/assoc_mgr_rows.h"

#include <algorithm>
#include <map>

#include "acct/shares.h"
#include "base/saturating.h"
#include "base/text.h"
#include "model/account_directory.h"
#include "slurmctld/core/accrual.h"
#include "slurmctld/core/share_rows.h"

namespace muster::slurmctld {
namespace {

constexpr double kMinute = 60;

bool named(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& n) { return iequals(n, name); });
}

// The ledger counts those that grow in priority by their age only where a limit on them is set (accrual.h); here all are. Cost: a look at
// each job, and a change of the ledger for each kind of those that wait, of which there are few.
Ledger with_all_accruing(const Cluster& cluster, Time now) {
  struct Alike {
    const Job* one = nullptr;
    uint32_t jobs = 0;
  };
  std::map<CountsFor, Alike> waiting;
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (!waits_its_turn(job, now) || job.accrues != kTimeUnset) return;
    Alike& alike = waiting[CountsFor::of(job)];
    alike.one = &job;
    alike.jobs += Charge::of(job, cluster.partitions).submitted;  // tasks of an array are jobs
  });
  Ledger ledger = cluster.ledger;
  for (const auto& [who, alike] : waiting) count_accruing(ledger, cluster, *alike.one, alike.jobs);
  return ledger;
}

class Writer {
 public:
  Writer(const Cluster& cluster, const std::vector<std::string>& tracked, Time now)
      : cluster_(cluster), now_(now), ledger_(with_all_accruing(cluster, now)) {
    for (const std::string& name : tracked) columns_.push_back(cluster.tres_table().find(to_lower(name)));
  }

  UseRow use(const Use& use, const Spent& spent) const {
    UseRow out;
    out.jobs = use.running;
    out.submitted = use.submitted;
    out.accruing = use.accruing;
    out.wall_s = spent.wall;
    out.raw_usage = spent.of(TresTable::kBilling);
    for (uint32_t tres : columns_) {
      const bool known = tres != TresTable::kUnknown;
      out.held.push_back(known ? use.held[tres] : 0);
      out.used_minutes.push_back(known ? to_count(spent.of(tres) / kMinute) : 0);
      out.run_minutes.push_back(known ? use.run_minutes(tres, now_) : 0);
    }
    return out;
  }
  UseRow of(const Holder& holder) const { return use(ledger_.use_of(holder), cluster_.used_by(holder, now_)); }
  const Ledger& ledger() const { return ledger_; }

 private:
  const Cluster& cluster_;
  const Time now_;
  const Ledger ledger_;
  std::vector<uint32_t> columns_;  // index of each tracked TRES
};

void add_users(const Cluster& cluster, const rpc::QueryAssocMgr& q, const Privacy& privacy, rpc::AssocMgrRows& out) {
  cluster.directory->users.for_each([&](const std::string& name, const AccountDirectory::User& u) {
    if (!named(q.users, name) || !privacy.shows_user(name)) return;
    UserRecord record = u.record;
    record.name = name;
    out.users.push_back(std::move(record));
  });
  std::ranges::sort(out.users, {}, &UserRecord::name);
}

void add_associations(const Cluster& cluster, const acct::FairShareRule& rule, Time now, const Writer& writer,
                      const rpc::QueryAssocMgr& query, const Privacy& privacy, rpc::AssocMgrRows& out) {
  const acct::Shares shares = acct::shares_of(cluster, rule, now);
  std::vector<uint64_t> level(shares.tree.size());  // the shares of those below each
  for (const acct::ShareNode& n : shares.tree)
    if (n.parent != acct::kNoParent && n.shares != kSharesOfParent) level[n.parent] = add_sat(level[n.parent], n.shares);
  for (size_t index : tree_order(cluster, shares.tree)) {
    const acct::ShareNode& node = shares.tree[index];
    const AssociationRecord& association = *cluster.directory->associations.find(node.association);
    if (!named(query.accounts, association.account) ||
        (!query.users.empty() && !association.user.empty() && !named(query.users, association.user)))
      continue;
    if (association.user.empty() ? !privacy.shows_account(association.account) : !privacy.shows_user_of(association)) continue;
    const acct::ShareView& v = shares.views[index];
    AssociationUse row;
    row.record = association;
    row.use = writer.of(Holder::association(association.id));
    row.norm_shares = v.norm_shares;
    row.factor = v.factor;
    row.norm_usage = v.norm_usage;
    row.effective_usage = v.effective_usage;
    row.level_shares = node.parent == acct::kNoParent ? node.shares : level[node.parent];
    out.associations.push_back(std::move(row));
  }
}

void add_qos(const Cluster& cluster, const Writer& writer, const rpc::QueryAssocMgr& query, const Privacy& privacy,
             rpc::AssocMgrRows& out) {
  cluster.directory->qos.for_each([&](const std::string& name, const QosRecord& record) {
    if (!named(query.qos, name)) return;
    QosUse row;
    row.record = record;
    row.use = writer.of(Holder::qos(name));
    writer.ledger().each_within(name, [&](std::string_view who, bool user, const Use& use) {
      const std::string party(who);
      if (user ? !privacy.shows_user(Uid(parse_number<uint32_t>(party).value_or(0))) : !privacy.shows_account(party)) return;
      (user ? row.users : row.accounts).push_back({party, writer.use(use, Spent{})});
    });
    for (std::vector<PartyUse>* list : {&row.users, &row.accounts}) std::ranges::sort(*list, {}, &PartyUse::name);
    out.qos.push_back(std::move(row));
  });
  std::ranges::sort(out.qos, {}, [](const QosUse& q) { return std::pair(q.record.id, q.record.name); });
}

}  // namespace

rpc::AssocMgrRows query_assoc_mgr(const Cluster& cluster, const acct::FairShareRule& rule, const std::vector<std::string>& tracked,
                                  Time now, const rpc::QueryAssocMgr& query, const Privacy& privacy) {
  rpc::AssocMgrRows out;
  out.tres = tracked;
  if (!cluster.directory) return out;
  if (query.show_users) add_users(cluster, query, privacy, out);
  if (!query.show_associations && !query.show_qos) return out;
  const Writer writer(cluster, tracked, now);
  if (query.show_associations) add_associations(cluster, rule, now, writer, query, privacy, out);
  if (query.show_qos) add_qos(cluster, writer, query, privacy, out);
  return out;
}

bool AssocMgrQuery::next(rpc::AssocMgrRows& part) {
  constexpr size_t kRowsPerPart = 500;
  part = {};
  part.tres = all_.tres;
  auto move = [](auto& from, size_t& sent, auto& to) {
    while (sent < from.size() && to.size() < kRowsPerPart) to.push_back(std::move(from[sent++]));
  };
  move(all_.users, users_, part.users);
  move(all_.associations, associations_, part.associations);
  move(all_.qos, qos_, part.qos);
  return !part.users.empty() || !part.associations.empty() || !part.qos.empty();
}

}  // namespace muster::slurmctld
