#include <cstdio>

#include "fields/json_values.h"
#include "fields/report_view.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const ReportView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr int kBothWidth = 17;  // of "538(10.94%)"

struct TimeWord {
  std::string_view word;
  size_t least;  // letters
  ReportTime time;
  std::string_view name;
};
constexpr TimeWord kTimes[] = {
    {"SecPer", 4, ReportTime::kSecondsPer, "Seconds/Percentage of Total"},
    {"MinPer", 4, ReportTime::kMinutesPer, "Minutes/Percentage of Total"},
    {"HourPer", 5, ReportTime::kHoursPer, "Hours/Percentage of Total"},
    {"Seconds", 1, ReportTime::kSeconds, "Seconds"},
    {"Minutes", 1, ReportTime::kMinutes, "Minutes"},
    {"Hours", 1, ReportTime::kHours, "Hours"},
    {"Percent", 1, ReportTime::kPercent, "Percentage of Total"},
};

template <uint64_t ReportRow::*Member>
void amount(V v, S o) {
  o += report_amount(v.row.*Member, v.row.total, v.time);
}
void energy(V v, S o) { o += report_amount(v.row.energy, v.row.all_energy, v.time); }
template <std::string ReportRow::*Member>
void text(V v, S o) {
  o += v.row.*Member;
}
void account(V v, S o) {
  o.append(v.row.indent, ' ');
  o += v.row.account;
}
void count(V v, S o) {
  if (v.row.count) put_number(o, v.row.count);
}

constexpr ReportField kCluster = {"Cluster", "Cluster", 9, Fit::kMarked, kWorks, "The cluster", text<&ReportRow::cluster>};
constexpr ReportField kAccount = {"Accounts", "Account", 15, Fit::kMarked, kWorks, "The account", account};
constexpr ReportField kLogin = {"Login", "Login", 9, Fit::kMarked, kWorks, "The user's login name", text<&ReportRow::login>};
constexpr ReportField kProper = {"Proper", "Proper Name", 15, Fit::kMarked, kWorks, "The user's own name", text<&ReportRow::proper_name>};
constexpr ReportField kQos = {"QOS", "QOS", 9, Fit::kMarked, kWorks, "The QOS", text<&ReportRow::qos>};
constexpr ReportField kWckey = {"Wckey", "WCKey", 15, Fit::kMarked, kWorks, "The workload characterization key", text<&ReportRow::wckey>};
constexpr ReportField kCount = {"TresCount", "TRES Count", 10, Fit::kWhole, kWorks, "How many of the TRES there are", count, "Count"};
constexpr ReportField kTres = {"TresName", "TRES Name", 14, Fit::kMarked, kWorks, "The TRES", text<&ReportRow::tres>};
constexpr ReportField kUsed = {"Used", "Used", 8, Fit::kWhole, kWorks, "Usage", amount<&ReportRow::used>};
constexpr ReportField kEnergy = {"Energy", "Energy", 8, Fit::kWhole, kWorks, "Energy, in joules by the unit of time, as any TRES", energy};
constexpr ReportField kAllocated = {"Allocated", "Allocated", 8, Fit::kWhole, kWorks, "In use by jobs", amount<&ReportRow::allocated>};
constexpr ReportField kIdle = {"Idle", "Idle", 8, Fit::kWhole, kWorks, "In use by nobody", amount<&ReportRow::idle>};

constexpr ReportField kAccountsByUser[] = {kAccount, kCluster, kLogin, kQos, kProper, kCount, kUsed, kEnergy, kTres};
constexpr ReportField kAccountsByQos[] = {kAccount, kCluster, kQos, kCount, kUsed, kEnergy, kTres};
constexpr ReportField kUsersByAccount[] = {kAccount, kCluster, kLogin, kProper, kCount, kUsed, kEnergy, kTres};
constexpr ReportField kWithWckeys[] = {kCluster, kLogin, kProper, kCount, kUsed, kEnergy, kWckey, kTres};
constexpr ReportField kUtilization[] = {
    kAllocated,
    kCluster,
    {"Down", "Down", 8, Fit::kWhole, kWorks, "On nodes that were down or drained", amount<&ReportRow::down>},
    kIdle,
    {"OverCommitted", "Over Comm", 8, Fit::kWhole, kWorks, "Asked for by waiting jobs, beyond what there was",
     amount<&ReportRow::over_committed>},
    {"PlannedDown", "Planned", 8, Fit::kWhole, kWorks, "In maintenance, powered down or not there yet", amount<&ReportRow::planned_down>,
     "PlndDown"},
    {"Reported", "Reported", 8, Fit::kWhole, kWorks, "All of it", amount<&ReportRow::reported>},
    {"Planned", "Planned", 8, Fit::kWhole, kWorks, "Idle while jobs waited that could not start", amount<&ReportRow::planned>, "Reserved"},
    kCount,
    kTres,
};
constexpr int16_t kHeldWidth = 20, kHeldBothWidth = 29;  // amounts of reservations
constexpr ReportField kReservations[] = {
    {"Allocated", "Allocated", kHeldWidth, Fit::kWhole, kWorks, "In use by jobs", amount<&ReportRow::allocated>},
    {"Associations", "Associations", 15, Fit::kMarked, kWorks, "Whom it is for", text<&ReportRow::associations>},
    kCluster,
    {"End", "End", 19, Fit::kCut, kWorks, "Its end", [](V v, S o) { o += format_time(v.row.end, ""); }},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", text<&ReportRow::flags>},
    {"Idle", "Idle", kHeldWidth, Fit::kWhole, kWorks, "In use by nobody", amount<&ReportRow::idle>},
    {"Name", "Name", 9, Fit::kMarked, kWorks, "Its name", text<&ReportRow::name>},
    {"Nodes", "Nodes", 15, Fit::kMarked, kWorks, "Its nodes", text<&ReportRow::nodes>},
    {"ReservationId", "ReservationId", 13, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.row.reservation); }},
    {"Start", "Start", 19, Fit::kCut, kWorks, "Its start", [](V v, S o) { o += format_time(v.row.start, ""); }},
    {"TotalTime", "TotalTime", 9, Fit::kWhole, kWorks, "How long it was, in seconds",
     [](V v, S o) { put_number(o, static_cast<uint64_t>(to_seconds(v.row.end - v.row.start))); }},
    {"TresCount", "TRES count", 10, Fit::kWhole, kWorks, "How many of the TRES there are", count, "Count"},
    kTres,
    {"TresTime", "TRES Time", 9, Fit::kWhole, kWorks, "All of it", amount<&ReportRow::reported>},
};
// Of reports of sizes: the columns before the amounts.
constexpr ReportField kOfAccounts[] = {{"Account", "Account", 9, Fit::kMarked, kWorks, "The account", account}, kCluster};
constexpr ReportField kOfAccountsAndWckeys[] = {{"Account", "Account", -20, Fit::kMarked, kWorks, "The account and its key", account},
                                                kCluster};
constexpr ReportField kOfWckeys[] = {{"Wckey", "Wckey", 9, Fit::kMarked, kWorks, "The workload characterization key", account}, kCluster};
constexpr ReportField kTopUsage[] = {kAccount, kCluster, kLogin, kProper, kUsed, kEnergy, kCount, kTres};

struct ReportColumns {
  std::span<const ReportField> fields;
  std::string_view usual;  // columns before the TRES and the amounts
  std::string_view amounts;
};
ReportColumns columns_of(Report report) {
  switch (report) {
    case Report::kAccountsByUser: return {kAccountsByUser, "Cluster,Accounts,Login,Proper", "Used"};
    case Report::kAccountsByQos: return {kAccountsByQos, "Cluster,Accounts,QOS", "Used"};
    case Report::kUsersByAccount: return {kUsersByAccount, "Cluster,Login,Proper,Accounts", "Used"};
    case Report::kUsersByWckey: return {kWithWckeys, "Cluster,Login,Proper,Wckey", "Used"};
    case Report::kWckeysByUser: return {kWithWckeys, "Cluster,Wckey,Login,Proper", "Used"};
    case Report::kUtilization: return {kUtilization, "Cluster", "Allocated,Down,PlannedDown,Idle,Planned,Reported"};
    case Report::kReservations: return {kReservations, "Cluster,Name,Start,End", "Allocated,Idle"};
    case Report::kTopUsage: return {kTopUsage, "Cluster,Login,Proper,Accounts", "Used"};
    case Report::kSizesByAccount: return {kOfAccounts, "Cluster,Account", ""};
    case Report::kSizesByAccountAndWckey: return {kOfAccountsAndWckeys, "Cluster,Account", ""};
    case Report::kSizesByWckey: return {kOfWckeys, "Cluster,Wckey", ""};
  }
  return {};
}

void append_number(S o, const char* format, double value) {
  char text[64];
  const int n = snprintf(text, sizeof text, format, value);
  o.append(text, static_cast<size_t>(n));
}

}  // namespace

std::optional<ReportTime> parse_report_time(std::string_view word) {
  for (const TimeWord& t : kTimes)
    if (word.size() >= t.least && istarts_with(t.word, word)) return t.time;
  return std::nullopt;
}

std::string_view report_time_name(ReportTime time) {
  for (const TimeWord& t : kTimes)
    if (t.time == time) return t.name;
  return {};
}

bool shows_both(ReportTime time) { return time >= ReportTime::kSecondsPer; }

std::string report_amount(uint64_t amount, uint64_t total, ReportTime time) {
  std::string out;
  const auto value = static_cast<double>(amount);
  switch (time) {
    case ReportTime::kSeconds:
    case ReportTime::kSecondsPer: out = std::to_string(amount); break;
    case ReportTime::kMinutes:
    case ReportTime::kMinutesPer: append_number(out, "%.0f", value / 60); break;
    case ReportTime::kHours:
    case ReportTime::kHoursPer: append_number(out, "%.0f", value / 3600); break;
    case ReportTime::kPercent: break;
  }
  const double part = total ? value / static_cast<double>(total) * 100 : 0;
  if (time == ReportTime::kPercent) append_number(out, "%.2f%%", part);
  else if (shows_both(time)) append_number(out, "(%.2f%%)", part);
  return out;
}

std::span<const ReportField> report_fields(Report report) { return columns_of(report).fields; }

std::string report_default_columns(Report report, ReportTime time, bool tres, bool tree) {
  const ReportColumns c = columns_of(report);
  std::string out(c.usual);
  if (c.amounts.empty()) return out;
  if (tree) out.insert(out.find("Accounts") + 8, "%-20");
  if (tres || report == Report::kReservations) out += ",TresName";
  const int wide = report == Report::kReservations ? kHeldBothWidth : kBothWidth;
  const std::string both = shows_both(time) ? "%" + std::to_string(wide) : std::string();
  for (std::string_view name : split(c.amounts, ',')) out.append(",").append(name).append(both);
  const bool of_wckeys = report == Report::kUsersByWckey || report == Report::kWckeysByUser;
  if (!tres && !of_wckeys && c.amounts == "Used") out.append(",Energy").append(both);
  return out;
}

void json_report_row(Report report, const ReportRow& row, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  members.text("cluster", row.cluster);
  auto amount = [&](std::string_view key, uint64_t value) {
    sink.key(key);
    sink.number_unsigned(value);
  };
  if (report == Report::kReservations) {
    members.number("reservation_id", row.reservation)
        .text("name", row.name)
        .text("nodes", row.nodes)
        .text("associations", row.associations);
    members.words("flags", row.flags).number("start", unix_seconds(row.start)).number("end", unix_seconds(row.end)).text("tres", row.tres);
    amount("count", row.count);
    amount("allocated_seconds", row.allocated);
    amount("idle_seconds", row.idle);
    amount("total_seconds", row.reported);
  } else if (report == Report::kUtilization) {
    members.text("tres", row.tres);
    amount("count", row.count);
    amount("allocated_seconds", row.allocated);
    amount("down_seconds", row.down);
    amount("planned_down_seconds", row.planned_down);
    amount("idle_seconds", row.idle);
    amount("planned_seconds", row.planned);
    amount("over_committed_seconds", row.over_committed);
    amount("reported_seconds", row.reported);
  } else {
    members.text("account", row.account)
        .text("user", row.login)
        .text("proper_name", row.proper_name)
        .text("qos", row.qos)
        .text("wckey", row.wckey);
    members.number("depth", row.indent).text("tres", row.tres);
    amount("used_seconds", row.used);
    amount("total_seconds", row.total);
    amount("energy_joules", row.energy);
  }
  sink.end_object();
}

}  // namespace muster::fields
