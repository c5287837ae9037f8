#include "cli/sshare/print.h"

#include <algorithm>

#include "base/text.h"
#include "model/accounts.h"

namespace muster::cli {
namespace {

using fields::TableStyle;

TableStyle::Form form_of(SacctOptions::Form form) {
  switch (form) {
    case SacctOptions::Form::kAligned: break;
    case SacctOptions::Form::kParsable: return TableStyle::Form::kEnded;
    case SacctOptions::Form::kParsable2: return TableStyle::Form::kSeparated;
  }
  return TableStyle::Form::kAligned;
}

}  // namespace

ShareFilter::ShareFilter(const SshareOptions& o, std::string own_user)
    : all_users_(o.all_users), only_users_(o.only_users), own_user_(std::move(own_user)) {
  for (const std::string& name : o.accounts)
    if (!name.empty()) accounts_.push_back({name});
  for (const std::string& name : o.users)
    if (!name.empty()) users_.push_back({name});
}

// Every name is looked for in every row, so that none counts as unknown only because another option leaves its rows out.
bool ShareFilter::shows(const ShareRow& row) {
  bool account_named = accounts_.empty(), user_named = false;
  for (Named& a : accounts_)
    if (iequals(a.name, row.account)) a.seen = account_named = true;
  for (Named& u : users_)
    if (u.name == row.user || to_lower(u.name) == row.user) u.seen = user_named = true;
  if (!account_named) return false;
  if (fields::is_account(row)) return !only_users_;
  if (!users_.empty()) return user_named;
  return all_users_ || row.user == own_user_ || row.user == to_lower(own_user_);
}

std::vector<std::string> ShareFilter::unknown() const {
  std::vector<std::string> out;
  for (const Named& a : accounts_)
    if (!a.seen) out.push_back("account " + a.name);
  for (const Named& u : users_)
    if (!u.seen) out.push_back("user " + u.name);
  return out;
}

uint32_t ShownAbove::of(const ShareRow& row, bool shown) {
  while (!depths_.empty() && depths_.back() >= row.depth) depths_.pop_back();
  const auto above = static_cast<uint32_t>(depths_.size());
  if (shown) depths_.push_back(row.depth);
  return above;
}

Result<fields::Table<fields::ShareView>> share_table(const SshareOptions& o, bool fair_tree) {
  TableStyle style;
  style.form = form_of(o.form);
  style.header = !o.noheader;
  fields::Table<fields::ShareView> table(style);
  const std::string usual = fields::share_default_columns({o.long_output, o.partitions, fair_tree});
  MUSTER_TRY_VOID(table.add(fields::share_fields(), o.format.empty() ? usual : o.format));
  return table;
}

Result<> ShareLines::add(const rpc::ShareRows& part, std::string& out) {
  if (!table_) {
    MUSTER_TRY(table, share_table(options_, part.fair_tree));
    table_.emplace(std::move(table));
    table_->header(out);
  }
  for (const ShareRow& row : part.shares) {
    const bool shown = filter_.shows(row);
    const uint32_t indent = above_.of(row, shown);
    if (shown) table_->row({row, part.fair_tree, cluster_, indent}, out);
  }
  return {};
}

void ShareTree::add(rpc::ShareRows&& part) {
  document_.fair_tree = part.fair_tree;
  for (ShareRow& row : part.shares) {
    if (row.depth == 1 && row.shares != kSharesOfParent) document_.total_shares += row.shares;
    if (fields::is_account(row)) account_names_[row.association] = row.account;
    if (!filter_.shows(row)) continue;
    std::string parent = row.account;
    if (fields::is_account(row)) {
      auto above = account_names_.find(row.parent);
      parent = fields::is_root(row) || above == account_names_.end() ? std::string() : above->second;
    }
    entries_.push_back({std::move(row), std::move(parent)});
  }
}

}  // namespace muster::cli
