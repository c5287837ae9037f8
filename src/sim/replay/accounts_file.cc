#include "sim/replay/accounts_file.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "config/accounts_file.h"

namespace muster::sim::replay {
namespace {

using config::AccountEntry;
using config::AccountsEntry;
using config::AccountsFile;
using config::UserEntry;

void put_limits(const EntityChange& set, std::vector<Limit>& out) {
  for (const LimitChange& l : set.limits)
    if (l.op != ChangeOp::kClear) out.push_back({l.kind, l.tres, l.value});
}

bool is_delta(const std::string& name) { return name.starts_with('+') || name.starts_with('-'); }

// The list above, with what "+name" adds and "-name" takes away.
std::vector<std::string> with_deltas(std::vector<std::string> above, const std::vector<std::string>& own) {
  for (const std::string& name : own) {
    std::erase(above, name.substr(1));
    if (name.starts_with('+')) above.push_back(name.substr(1));
  }
  return above;
}

// Builds entities entry by entry.
class Builder {
 public:
  Builder() { account("root", 0, ""); }

  void take(const AccountsFile& file) {
    for (const AccountsEntry& q : file.qos) qos(q.name);
    for (const AccountsEntry& q : file.qos) take_qos(q);
    set_members(root(), file.cluster.set);
    for (const AccountEntry& a : file.accounts) {
      if (!a.parent.empty()) account(a.name, accounts_.at(a.parent), a.parent);
      set_members(a.parent.empty() ? root() : out_.associations.back(), a.set);
    }
    for (const UserEntry& u : file.users) {
      AssociationRecord& a = user(u.name, u.account);
      a.partition = u.partition;
      if (u.set.default_account) out_.users[users_.at(u.name)].default_account = *u.set.default_account;
      set_members(a, u.set);
    }
  }

  // Adds a user's association with an account.
  AssociationRecord& user(const std::string& name, const std::string& account) {
    AssociationRecord a;
    a.id = ++last_;
    a.parent_id = accounts_.at(account);
    a.account = a.parent_account = account;
    a.user = name;
    if (users_.emplace(name, out_.users.size()).second) {
      out_.users.emplace_back().name = name;
      out_.users.back().default_account = account;
    }
    out_.associations.push_back(std::move(a));
    return out_.associations.back();
  }
  void account(const std::string& name, uint32_t parent, const std::string& parent_name) {
    AssociationRecord a;
    a.id = ++last_;
    a.parent_id = parent;
    a.account = name;
    a.parent_account = parent_name;
    accounts_[name] = a.id;
    out_.accounts.emplace_back().name = name;
    out_.associations.push_back(std::move(a));
  }
  void qos(const std::string& name) {
    if (std::ranges::none_of(out_.qos, [&](const QosRecord& q) { return q.name == name; })) {
      QosRecord q;
      q.id = static_cast<uint32_t>(out_.qos.size()) + 1;
      q.name = name;
      out_.qos.push_back(std::move(q));
    }
  }
  bool has_account(const std::string& name) const { return accounts_.contains(name); }

  // What each association inherits: QOS from above where it has none; where nobody has any, all.
  rpc::Entities finish() {
    qos("normal");
    std::vector<std::string> all;
    for (const QosRecord& q : out_.qos) all.push_back(q.name);
    std::map<uint32_t, const AssociationRecord*> by_id;
    for (AssociationRecord& a : out_.associations) {
      const auto above = by_id.find(a.parent_id);
      const std::vector<std::string>& inherited = above == by_id.end() ? all : above->second->qos;
      if (std::ranges::all_of(a.qos, is_delta)) a.qos = with_deltas(inherited, a.qos);
      if (a.default_qos.empty() && above != by_id.end()) a.default_qos = above->second->default_qos;
      by_id[a.id] = &a;
    }
    for (AssociationRecord& a : out_.associations)
      if (!a.user.empty()) a.is_default = a.account == out_.users[users_.at(a.user)].default_account;
    return std::move(out_);
  }

 private:
  AssociationRecord& root() { return out_.associations.front(); }

  void set_members(AssociationRecord& a, const EntityChange& set) {
    put_limits(set, a.limits);
    for (const NamesChange& change : set.qos)
      for (const std::string& name : change.names) {
        qos(name);
        a.qos.push_back((change.op == ChangeOp::kAdd ? "+" : change.op == ChangeOp::kSubtract ? "-" : "") + name);
      }
    if (set.default_qos) a.default_qos = *set.default_qos;
    if (!a.default_qos.empty()) qos(a.default_qos);
  }
  void take_qos(const AccountsEntry& entry) {
    QosRecord& q = *std::ranges::find(out_.qos, entry.name, &QosRecord::name);
    const EntityChange& set = entry.set;
    put_limits(set, q.limits);
    for (auto [into, value] : {std::pair(&q.usage_factor, set.usage_factor), std::pair(&q.limit_factor, set.limit_factor),
                               std::pair(&q.usage_threshold, set.usage_threshold)})
      if (value && *value >= 0) *into = value;
    for (const NamesChange& change : set.preempt) q.preempt = change.names;
    for (const NamesChange& change : set.flags) q.flags = change.names;
    if (set.preempt_mode) q.preempt_mode = *set.preempt_mode;
  }

  rpc::Entities out_;
  std::map<std::string, uint32_t> accounts_;
  std::map<std::string, size_t> users_;  // index in out_.users
  uint32_t last_ = 0;
};

}  // namespace

Result<rpc::Entities> read_accounts(std::string_view text) {
  MUSTER_TRY(file, config::read_accounts_file(text));
  Builder builder;
  builder.take(file);
  return builder.finish();
}

rpc::Entities accounts_of(const Trace& trace) {
  Builder builder;
  for (uint32_t q = 1; q < trace.qos.size(); ++q) builder.qos(to_lower(trace.qos.of(q)));
  std::set<std::pair<uint32_t, uint32_t>> seen;
  std::set<std::pair<std::string, std::string>> made;  // accounts may differ in the case of letters alone
  for (const TraceJob& j : trace.jobs) {
    if (!seen.emplace(j.account, j.user).second) continue;
    const std::string account = j.account ? to_lower(trace.accounts.of(j.account)) : kNoAccount;
    const std::string user = j.user ? trace.users.of(j.user) : kNoUser;
    if (!builder.has_account(account)) builder.account(account, 1, "root");
    if (made.emplace(account, user).second) builder.user(user, account);
  }
  return builder.finish();
}

}  // namespace muster::sim::replay
