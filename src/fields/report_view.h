// The columns of sreport: usage of accounts, users, QOS and wckeys, a cluster's time, reservations. sreport(1) FORMAT OPTIONS. How tables are
// printed: columns.h. What the rows are and where they come from: cli/sreport. Amounts are TRES × seconds; `total` of a row is what 100 % is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "fields/columns.h"
#include "fields/tree_sink.h"

namespace muster::fields {

enum class Report : uint8_t {
  kAccountsByUser,
  kAccountsByQos,
  kUsersByAccount,
  kUsersByWckey,
  kUtilization,
  kWckeysByUser,
  kSizesByAccount,
  kSizesByAccountAndWckey,
  kSizesByWckey,
  kReservations,
  kTopUsage,
};

enum class ReportTime : uint8_t { kSeconds, kMinutes, kHours, kPercent, kSecondsPer, kMinutesPer, kHoursPer };
// "MinPer", "hours"; abbreviations are letters enough to tell them apart. nullopt: none.
std::optional<ReportTime> parse_report_time(std::string_view word);
std::string_view report_time_name(ReportTime time);  // "Minutes", "Hours/Percentage of Total"
bool shows_both(ReportTime time);                    // an amount and its part of the total

struct ReportRow {
  std::string cluster, account, login, proper_name, qos, wckey, tres;
  uint32_t indent = 0;  // of the account, with Tree
  uint64_t count = 0;   // TRES that there are
  uint64_t used = 0, total = 0;
  uint64_t energy = 0, all_energy = 0;  // joules: of whose usage it is, and of the cluster
  // A cluster's time; allocated and idle of reservations too.
  uint64_t allocated = 0, down = 0, planned_down = 0, planned = 0, idle = 0, over_committed = 0, reported = 0;
  // Reservations.
  uint32_t reservation = 0;
  std::string name, nodes, flags, associations;
  Time start{}, end{};
};
struct ReportView {
  const ReportRow& row;
  ReportTime time = ReportTime::kMinutes;
};

using ReportField = ColumnField<ReportView>;
std::span<const ReportField> report_fields(Report report);
// The columns without format=. `tres`: also the name of the TRES, where several are asked for.
std::string report_default_columns(Report report, ReportTime time, bool tres, bool tree = false);

// "538", "10.94%", "538(10.94%)"; no part of a total of 0 but 0.
std::string report_amount(uint64_t amount, uint64_t total, ReportTime time);

// One row as an object; amounts in TRES-seconds, whatever the time format.
void json_report_row(Report report, const ReportRow& row, TreeSink& sink);

}  // namespace muster::fields
