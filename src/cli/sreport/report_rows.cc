#include "cli/sreport/report_rows.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/saturating.h"
#include "base/text.h"
#include "model/reservation.h"
#include "model/tres_sums.h"

namespace muster::cli {
namespace {

constexpr size_t kMostDepth = 1000;  // of accounts: whatever an answer says, a walk up the tree ends

bool named(const TextList& list, const std::string& name) {
  return list.empty() || std::ranges::any_of(list, [&](const std::string& n) { return iequals(n, name); });
}

// Rows of one thing, a row for each TRES; those of no usage are left out.
class Rows {
 public:
  Rows(const RowContext& c, const ClusterUsage& usage) : c_(c), usage_(usage) {}
  void add(ReportRow row, const TresAmounts& used) {
    row.cluster = usage_.cluster;
    if (!row.login.empty()) row.proper_name = c_.proper_name(row.login);
    for (const ReportTres& t : c_.tres) {
      row.tres = t.shown;
      row.used = used.of(t.name);
      row.total = usage_.usage.cluster.reported.of(t.name);
      row.energy = used.energy.value_or(0);
      row.all_energy = usage_.usage.cluster.reported.energy.value_or(0);
      row.count = usage_.usage.cluster.count.of(t.name);
      if (row.used) rows_.push_back(row);
    }
  }
  std::vector<ReportRow> take() { return std::move(rows_); }

 private:
  const RowContext& c_;
  const ClusterUsage& usage_;
  std::vector<ReportRow> rows_;
};

std::string header_of(uint64_t from, std::optional<uint64_t> next, const std::string& unit) {
  if (!next) return ">= " + std::to_string(from) + " " + unit;
  return std::to_string(from) + "-" + std::to_string(*next - 1) + " " + unit;
}

// Which sizes go into which column.
class Groups {
 public:
  Groups(const ReportRequest& request, const std::vector<rpc::JobSize>& sizes, const ReportTres& tres) {
    if (request.each_size) {
      std::set<uint64_t> found;
      for (const rpc::JobSize& s : sizes) found.insert(s.each.of(tres.name));
      bounds_.assign(found.begin(), found.end());
    } else {
      bounds_ = request.bounds;
      if (bounds_.front() != 0) bounds_.insert(bounds_.begin(), 0);
    }
    const std::string unit = tres.shown == "cpu" ? "CPUs" : "TRES";
    for (size_t i = 0; i < bounds_.size(); ++i) {
      const auto next = i + 1 < bounds_.size() ? std::optional(bounds_[i + 1]) : std::nullopt;
      headers.push_back(request.each_size ? std::to_string(bounds_[i]) + " " + unit : header_of(bounds_[i], next, unit));
    }
  }
  size_t of(uint64_t size) const {
    const auto above = std::ranges::upper_bound(bounds_, size);
    return above == bounds_.begin() ? 0 : static_cast<size_t>(above - bounds_.begin()) - 1;
  }
  std::vector<std::string> headers;

 private:
  std::vector<uint64_t> bounds_;
};

// The accounts whose lines a job of `account` counts in.
std::vector<std::string> lines_of(const ReportRequest& request, const AccountTree& tree, const std::string& account) {
  if (request.flat) return named(request.accounts, account) ? std::vector{account} : std::vector<std::string>();
  TextList tops = request.accounts.empty() ? TextList{"root"} : request.accounts;
  std::vector<std::string> out;
  for (const std::string& top : tops) {
    if (!tree.is_below(account, to_lower(top))) continue;
    if (!request.as_parent) {
      out.push_back(to_lower(top));
      continue;
    }
    std::string layer = account;  // the account right below `top` that this one is in; of its own jobs `top` itself
    while (layer != to_lower(top) && tree.parent_of(layer) != to_lower(top)) layer = tree.parent_of(layer);
    out.push_back(layer);
  }
  return out;
}

}  // namespace

Result<std::vector<ReportTres>> parse_report_tres(std::string_view text) {
  std::vector<ReportTres> out;
  std::string unknown;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    if (part.empty()) continue;
    if (iequals(part, "all")) return std::vector<ReportTres>();
    TresName name = TresName::of(part);
    if (name.kind == TresKind::kOther && !iequals(part, "energy") && part.find('/') == part.npos) unknown = part;
    else out.push_back({std::move(name), to_lower(part)});
  }
  if (unknown.empty()) return out;
  if (out.empty()) return fail(Errc::kNotFound, "No valid TRES given", "'" + unknown + "' is none; sacctmgr show tres lists them");
  return fail(Errc::kInvalidReq, "Unknown TRES '" + unknown + "'", "sacctmgr show tres lists them");
}

std::vector<ReportTres> all_tres(const TresAmounts& there) {
  std::vector<ReportTres> out;
  each_tres(there, [&](std::string_view kind, std::string_view name, uint64_t) {
    const std::string text = name.empty() ? std::string(kind) : std::string(kind) + "/" + std::string(name);
    out.push_back({TresName::of(text), text});
  });
  return out;
}

void collect(std::vector<ClusterUsage>& all, rpc::UsageAnswer&& part) {
  if (all.empty() || all.back().cluster != part.cluster) {
    all.push_back({part.cluster, std::move(part.usage)});
    return;
  }
  std::ranges::move(part.usage.entries, std::back_inserter(all.back().usage.entries));
}

AccountTree::AccountTree(const std::vector<AssociationRecord>& associations, std::string_view cluster) {
  for (const AssociationRecord& a : associations)
    if (a.cluster == cluster && a.user.empty() && parents_.try_emplace(a.account, a.parent_account).second) order_.push_back(a.account);
  if (parents_.try_emplace("root", "").second) order_.insert(order_.begin(), "root");
  parents_["root"].clear();
}

void AccountTree::know(const std::string& account) {
  if (parents_.try_emplace(account, "root").second) order_.push_back(account);
}

std::string AccountTree::parent_of(const std::string& account) const {
  const auto at = parents_.find(account);
  if (at == parents_.end()) return "root";
  return at->second.empty() && account != "root" ? "root" : at->second;
}

uint32_t AccountTree::depth_of(const std::string& account) const {
  uint32_t depth = 0;
  for (std::string a = account; a != "root" && depth < kMostDepth; a = parent_of(a)) ++depth;
  return depth;
}

bool AccountTree::is_below(const std::string& account, const std::string& top) const {
  std::string a = account;
  for (size_t steps = 0; steps < kMostDepth; ++steps) {
    if (a == top) return true;
    if (a == "root") return false;
    a = parent_of(a);
  }
  return false;
}

std::vector<ReportRow> tree_rows(const RowContext& context, const ClusterUsage& usage, AccountTree tree) {
  const ReportRequest& request = context.request;
  const bool by_qos = request.report == Report::kAccountsByQos;
  std::map<std::string, TresAmounts> sums;  // with the accounts below
  std::map<std::string, std::vector<const UsageEntry*>> own;
  for (const UsageEntry& e : usage.usage.entries) {
    tree.know(e.key.account);
    own[e.key.account].push_back(&e);
    std::string at = e.key.account;
    for (size_t steps = 0; steps < kMostDepth; ++steps, at = tree.parent_of(at)) {
      add_tres(sums[at], e.used);
      if (at == "root") break;
    }
  }
  Rows rows(context, usage);
  for (const std::string& account : tree.order()) {
    auto shown = [&](const std::string& top) { return tree.is_below(account, to_lower(top)); };
    if (!request.accounts.empty() && std::ranges::none_of(request.accounts, shown)) continue;
    ReportRow row;
    row.account = account;
    row.indent = request.tree ? tree.depth_of(account) : 0;
    if (request.users.empty()) rows.add(row, sums[account]);
    if (request.tree) ++row.indent;
    for (const UsageEntry* e : own[account]) {
      if ((by_qos ? e->key.qos : e->key.user).empty()) continue;  // the account's own: idle time of its reservations
      (by_qos ? row.qos : row.login) = by_qos ? e->key.qos : e->key.user;
      rows.add(row, e->used);
    }
  }
  return rows.take();
}

std::vector<ReportRow> user_rows(const RowContext& context, const ClusterUsage& usage) {
  const ReportRequest& request = context.request;
  struct Line {
    ReportRow row;
    TresAmounts used;
  };
  std::map<std::string, size_t> by_user;  // with Group
  std::vector<Line> lines;
  for (const UsageEntry& entry : usage.usage.entries) {
    if (entry.key.user.empty()) continue;
    if (request.report == Report::kUsersByWckey && entry.key.wckey.empty()) continue;
    if (request.group)
      if (const auto [at, fresh] = by_user.try_emplace(entry.key.user, lines.size()); !fresh) {
        Line& line = lines[at->second];
        line.row.account += ", " + entry.key.account;
        add_tres(line.used, entry.used);
        continue;
      }
    Line& line = lines.emplace_back();
    line.row.account = entry.key.account;
    line.row.login = entry.key.user;
    line.row.wckey = entry.key.wckey;
    line.used = entry.used;
  }
  if (!context.tres.empty())
    std::ranges::stable_sort(lines, std::greater<>(), [&](const Line& l) { return l.used.of(context.tres.front().name); });
  if (request.report == Report::kTopUsage && lines.size() > request.top) lines.resize(request.top);
  Rows rows(context, usage);
  for (Line& l : lines) rows.add(std::move(l.row), l.used);
  return rows.take();
}

std::vector<ReportRow> wckey_rows(const RowContext& context, const ClusterUsage& usage) {
  std::map<std::string, TresAmounts> sums;
  std::map<std::string, std::vector<const UsageEntry*>> users;
  for (const UsageEntry& e : usage.usage.entries) {
    if (e.key.wckey.empty()) continue;
    add_tres(sums[e.key.wckey], e.used);
    users[e.key.wckey].push_back(&e);
  }
  Rows rows(context, usage);
  for (const auto& [wckey, sum] : sums) {
    ReportRow row;
    row.wckey = wckey;
    if (context.request.users.empty()) rows.add(row, sum);
    for (const UsageEntry* e : users[wckey]) {
      row.login = e->key.user;
      if (!row.login.empty()) rows.add(row, e->used);
    }
  }
  return rows.take();
}

std::vector<ReportRow> cluster_rows(const RowContext& context, const ClusterUsage& usage) {
  std::vector<ReportRow> out;
  const ClusterTime& time = usage.usage.cluster;
  for (const ReportTres& tres : context.tres) {
    if (tres.name.kind == TresKind::kNode) continue;  // a node may be counted for several jobs at a time
    ReportRow row;
    row.cluster = usage.cluster;
    row.tres = tres.shown;
    row.count = time.count.of(tres.name);
    row.reported = row.total = time.reported.of(tres.name);
    row.allocated = time.allocated.of(tres.name);
    row.down = time.down.of(tres.name);
    row.planned_down = time.planned_down.of(tres.name);
    row.planned = time.planned.of(tres.name);
    row.over_committed = time.over_committed.of(tres.name);
    row.idle = row.reported - std::min(row.reported, row.allocated + row.down + row.planned_down + row.planned);
    if (row.reported) out.push_back(std::move(row));
  }
  return out;
}

std::vector<ReportRow> reservation_rows(const RowContext& context, const rpc::ReservationUsage& usage) {
  const ReservationRecord& reservation = usage.reservation;
  ReportRow row;
  row.cluster = reservation.cluster;
  row.reservation = reservation.id;
  row.name = reservation.name;
  row.nodes = reservation.nodes;
  row.flags = reservation_flags_text(reservation.flags, Duration::zero());
  row.associations = reservation.accounts + (reservation.accounts.empty() || reservation.users.empty() ? "" : ",") + reservation.users;
  row.start = reservation.started;
  row.end = reservation.ended;
  const auto length = static_cast<uint64_t>(std::max<int64_t>(0, to_seconds(reservation.ended - reservation.started)));
  std::vector<ReportRow> out;
  const auto asked = [&](const ReportTres& t) {
    return context.tres.empty() || std::ranges::find(context.tres, t.shown, &ReportTres::shown) != context.tres.end();
  };
  for (const ReportTres& t : all_tres(reservation.tres)) {  // in their own order, whatever the order that was asked for
    if (!asked(t)) continue;
    row.tres = t.shown;
    row.count = reservation.tres.of(t.name);
    row.reported = row.total = mul_sat(row.count, length);
    row.allocated = usage.allocated.of(t.name);
    row.idle = row.reported - std::min(row.reported, row.allocated);
    if (row.count) out.push_back(row);
  }
  return out;
}

SizeTable size_table(const RowContext& context, const std::vector<rpc::JobSize>& sizes,
                     const std::vector<AssociationRecord>& associations) {
  const ReportRequest& request = context.request;
  const ReportTres& tres = context.tres.front();
  const Groups groups(request, sizes, tres);
  std::map<std::string, AccountTree> trees;
  std::map<std::pair<std::string, std::string>, SizeLine> lines;
  std::map<std::string, uint64_t> totals;  // of the lines of each cluster
  for (const rpc::JobSize& part : sizes) {
    if (request.report != Report::kSizesByAccount && part.wckey.empty()) continue;  // as in the reports of a cluster's wckeys
    const AccountTree& tree = trees.try_emplace(part.cluster, associations, part.cluster).first->second;
    std::vector<std::string> labels = lines_of(request, tree, part.account);
    if (request.report == Report::kSizesByAccountAndWckey)
      for (std::string& l : labels) l += ":" + part.wckey;
    if (request.report == Report::kSizesByWckey) labels = {part.wckey};
    const uint64_t size = part.each.of(tres.name), used = mul_sat(size, part.seconds);
    for (const std::string& label : labels) {
      SizeLine& line = lines[{part.cluster, label}];
      line.amounts.resize(groups.headers.size());
      uint64_t& amount = line.amounts[groups.of(size)];
      amount = add_sat(amount, request.job_count ? part.jobs : used);
      line.used = add_sat(line.used, used);
      uint64_t& total = totals[part.cluster];
      total = add_sat(total, used);
    }
  }
  SizeTable out;
  out.headers = groups.headers;
  for (auto& [key, line] : lines) {
    line.cluster = key.first;
    line.label = key.second;
    line.total = totals[key.first];
    out.lines.push_back(std::move(line));
  }
  return out;
}

}  // namespace muster::cli
