// The rows of a report, made from slurmdbd's answers: sums along the tree of accounts, orders, sizes of jobs in groups. sreport(1). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sreport/report_words.h"
#include "fields/report_view.h"
#include "model/accounts.h"
#include "model/tres_name.h"
#include "model/usage_report.h"

namespace muster::cli {

using fields::ReportRow;

// What a report counts: a TRES with its name as shown ("cpu", "gres/gpu").
struct ReportTres {
  TresName name;
  std::string shown;
};
// Reads -T: names with commas, or ALL, which means every TRES of `there`. kInvalidReq: one that is no TRES.
Result<std::vector<ReportTres>> parse_report_tres(std::string_view text);
std::vector<ReportTres> all_tres(const TresAmounts& there);

// Usage of one cluster, as answered in parts.
struct ClusterUsage {
  std::string cluster;
  Usage usage;
};
void collect(std::vector<ClusterUsage>& all, rpc::UsageAnswer&& part);

// The accounts of one cluster in the order of their tree. Accounts that it does not have (their associations are gone, or may not be seen)
// stand below root.
class AccountTree {
 public:
  // Associations in the order of QueryEntities.
  AccountTree(const std::vector<AssociationRecord>& associations, std::string_view cluster);
  const std::vector<std::string>& order() const { return order_; }
  std::string parent_of(const std::string& account) const;  // "" of root
  uint32_t depth_of(const std::string& account) const;
  bool is_below(const std::string& account, const std::string& top) const;  // or the same
  void know(const std::string& account);                                    // adds one that it does not have

 private:
  std::map<std::string, std::string> parents_;
  std::vector<std::string> order_;
};

// Rows of usage, for each TRES one. `names` gives users' own names.
using NameOf = std::string (*)(const std::string& login);
struct RowContext {
  const ReportRequest& request;
  const std::vector<ReportTres>& tres;
  NameOf proper_name;
};
std::vector<ReportRow> tree_rows(const RowContext& context, const ClusterUsage& usage, AccountTree tree);  // AccountUtilizationBy…
std::vector<ReportRow> user_rows(const RowContext& context, const ClusterUsage& usage);                    // UserUtilizationBy…, TopUsage
std::vector<ReportRow> wckey_rows(const RowContext& context, const ClusterUsage& usage);                   // WCKeyUtilizationByUser
std::vector<ReportRow> cluster_rows(const RowContext& context, const ClusterUsage& usage);                 // Utilization
std::vector<ReportRow> reservation_rows(const RowContext& context, const rpc::ReservationUsage& usage);

// Sizes of jobs: a line for each account, wckey or both, with an amount for each group of sizes.
struct SizeLine {
  std::string cluster, label;
  std::vector<uint64_t> amounts;  // TRES × seconds, or jobs
  uint64_t used = 0, total = 0;   // TRES × seconds; that of all lines of the cluster, which is 100 % of it
};
struct SizeTable {
  std::vector<std::string> headers;  // "0-49 CPUs", ">= 1000 CPUs"
  std::vector<SizeLine> lines;
};
SizeTable size_table(const RowContext& context, const std::vector<rpc::JobSize>& sizes, const std::vector<AssociationRecord>& associations);

}  // namespace muster::cli
