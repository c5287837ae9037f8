#include "cli/sreport/report_words.h"

#include <algorithm>

#include "base/text.h"
#include "model/usage_time.h"

namespace muster::cli {
namespace {

struct ReportName {
  std::string_view kind, name;
  Report report;
  std::string_view title;
  size_t least = 1;  // letters of its name
};
constexpr size_t kByWhat = 18;  // "UserUtilizationByA": fewer would not say which
constexpr ReportName kReports[] = {
    {"cluster", "AccountUtilizationByUser", Report::kAccountsByUser, "Cluster/Account/User Utilization"},
    {"cluster", "AccountUtilizationByQOS", Report::kAccountsByQos, "Cluster/Account/QOS Utilization"},
    {"cluster", "UserUtilizationByAccount", Report::kUsersByAccount, "Cluster/User/Account Utilization", kByWhat},
    {"cluster", "UserUtilizationByWckey", Report::kUsersByWckey, "Cluster/User/WCKey Utilization", kByWhat},
    {"cluster", "Utilization", Report::kUtilization, "Cluster Utilization"},
    {"cluster", "WCKeyUtilizationByUser", Report::kWckeysByUser, "Cluster/WCKey/User Utilization"},
    {"job", "SizesByAccount", Report::kSizesByAccount, "Job Sizes"},
    {"job", "SizesByAccountAndWcKey", Report::kSizesByAccountAndWckey, "Job Sizes"},
    {"job", "SizesByWckey", Report::kSizesByWckey, "Job Sizes by Wckey"},
    {"reservation", "Utilization", Report::kReservations, "Reservation Utilization"},
    {"user", "TopUsage", Report::kTopUsage, ""},
};
constexpr std::string_view kKinds[] = {"cluster", "job", "reservation", "user"};

// Which reports know a word.
constexpr uint32_t bit(Report r) { return 1u << static_cast<unsigned>(r); }
constexpr uint32_t kAll = ~0u, kTrees = bit(Report::kAccountsByUser) | bit(Report::kAccountsByQos),
                   kSizes = bit(Report::kSizesByAccount) | bit(Report::kSizesByAccountAndWckey) | bit(Report::kSizesByWckey),
                   kWckeys = bit(Report::kUsersByWckey) | bit(Report::kWckeysByUser), kTop = bit(Report::kTopUsage),
                   kReserved = bit(Report::kReservations), kOfUsers = kTrees | kWckeys | kSizes | kTop | bit(Report::kUsersByAccount);

using Setter = Result<> (*)(ReportRequest&, std::string_view value, Time now);

struct ReportWord {
  std::string_view name;
  uint32_t reports;
  bool has_value;
  Setter set;
};

template <TextList ReportRequest::*Member>
Result<> list(ReportRequest& r, std::string_view value, Time) {
  for (std::string_view part : split(value, ',')) (r.*Member).emplace_back(trim(part));
  return {};
}
template <bool ReportRequest::*Member>
Result<> flag(ReportRequest& r, std::string_view, Time) {
  r.*Member = true;
  return {};
}
template <Time ReportRequest::*Member>
Result<> moment(ReportRequest& r, std::string_view value, Time now) {
  Result<Time> t = parse_time_point(value, now, ClockRule::kThisDayOrYear);
  if (!t) return fail(Errc::kInvalidTime, "Invalid time specification (" + std::string(value) + ")", t.error().hint);
  r.*Member = *t;
  return {};
}
Result<> nodes(ReportRequest& r, std::string_view value, Time) {
  r.nodes.emplace_back(value);
  return {};
}
Result<> format(ReportRequest& r, std::string_view value, Time) {
  r.format += (r.format.empty() ? "" : ",") + std::string(value);
  return {};
}
Result<> grouping(ReportRequest& request, std::string_view value, Time) {
  request.each_size = istarts_with("individual", value) && value.size() >= 3;
  if (request.each_size) return {};
  constexpr size_t kMostBounds = 100;
  request.bounds.clear();
  for (std::string_view part : split(value, ',')) {
    const auto bound = parse_number<uint64_t>(trim(part), 1, UINT64_MAX);
    const bool ascends = bound && (request.bounds.empty() || *bound > request.bounds.back());
    if (!ascends || request.bounds.size() == kMostBounds)
      return fail(Errc::kInvalidReq, "Invalid grouping (" + std::string(value) + ")",
                  "numbers that ascend, such as 50,100,150, at most 100 of them; or individual");
    request.bounds.push_back(*bound);
  }
  if (request.bounds.empty()) return fail(Errc::kInvalidReq, "Invalid grouping ()", "numbers that ascend, or individual");
  return {};
}
Result<> top(ReportRequest& r, std::string_view value, Time) {
  const auto n = parse_number<uint32_t>(value, 1, UINT32_MAX);
  if (!n) return fail(Errc::kInvalidReq, "Invalid value for TopCount (" + std::string(value) + ")", "a number from 1");
  r.top = *n;
  return {};
}

// A word may be shortened; where that fits several, the first of them is meant.
constexpr ReportWord kWords[] = {
    {"All_Clusters", kAll, false, flag<&ReportRequest::all_clusters>},
    {"Clusters", kAll, true, list<&ReportRequest::clusters>},
    {"End", kAll, true, moment<&ReportRequest::until>},
    {"Format", kAll, true, format},
    {"Start", kAll, true, moment<&ReportRequest::from>},
    {"Accounts", kTrees | kSizes | kTop | bit(Report::kUsersByAccount), true, list<&ReportRequest::accounts>},
    {"AcctAsParent", kSizes, false, flag<&ReportRequest::as_parent>},
    {"FlatView", kSizes, false, flag<&ReportRequest::flat>},
    {"GID", kSizes, true, list<&ReportRequest::gids>},
    {"Grouping", kSizes, true, grouping},
    {"Group", kTop, false, flag<&ReportRequest::group>},
    {"Jobs", kSizes, true, list<&ReportRequest::jobs>},
    {"Names", kReserved, true, list<&ReportRequest::names>},
    {"Nodes", kSizes | kReserved, true, nodes},
    {"Partitions", kSizes, true, list<&ReportRequest::partitions>},
    {"PrintJobCount", kSizes, false, flag<&ReportRequest::job_count>},
    {"TopCount", kTop, true, top},
    {"Tree", kTrees, false, flag<&ReportRequest::tree>},
    {"Users", kOfUsers, true, list<&ReportRequest::users>},
    {"Wckeys", kWckeys | kSizes, true, list<&ReportRequest::wckeys>},
};

const ReportWord* find_word(Report report, std::string_view name, bool has_value) {
  for (const ReportWord& w : kWords)
    if ((w.reports & bit(report)) && w.has_value == has_value && iequals(w.name, name)) return &w;
  for (const ReportWord& w : kWords)
    if ((w.reports & bit(report)) && w.has_value == has_value && !name.empty() && istarts_with(w.name, name)) return &w;
  return nullptr;
}

// Valid cluster reports are, "A", "B", and "C"
std::string valid_reports(std::string_view kind) {
  std::vector<std::string> names;
  for (const ReportName& r : kReports)
    if (r.kind == kind) names.push_back("\"" + std::string(r.name) + "\"");
  if (names.size() > 1) names.back().insert(0, "and ");
  return "Valid " + std::string(kind) + " reports are, " + join(names, ", ");
}

Result<const ReportName*> find_report(std::span<const std::string> words) {
  const std::string_view typed = words.empty() ? std::string_view() : std::string_view(words[0]);
  std::string_view kind;
  for (std::string_view k : kKinds)
    if (kind.empty() && !typed.empty() && istarts_with(k, typed)) kind = k;
  if (kind.empty())
    return fail(Errc::kUnknownKeyword, "invalid keyword: " + std::string(typed), "reports are of a cluster, job, reservation or user");
  if (words.size() < 2) return fail(Errc::kUnknownKeyword, "too few arguments for keyword:" + std::string(kind));
  const std::string_view wanted = words[1];
  for (const ReportName& r : kReports)
    if (r.kind == kind && wanted.size() >= r.least && istarts_with(r.name, wanted)) return &r;
  return fail(Errc::kUnknownKeyword, "Not valid report " + std::string(wanted) + "\n" + valid_reports(kind));
}

// Reports are of whole hours, and of one at least.
void round(ReportRequest& r, Time now) {
  const Time today = period_begin(UsagePeriod::kDay, now);
  const bool began = r.from != kTimeUnset;
  r.from = began ? hour_not_before(r.from) : period_begin(UsagePeriod::kDay, today - minutes(60));
  if (r.until == kTimeUnset) r.until = r.from < today ? today : period_begin(UsagePeriod::kHour, now);
  else r.until = period_begin(UsagePeriod::kHour, r.until);
  if (r.until <= r.from) r.until = period_after(UsagePeriod::kHour, r.from);
}

}  // namespace

Result<ReportRequest> parse_report(std::span<const std::string> words, Time now) {
  MUSTER_TRY(report, find_report(words));
  ReportRequest request;
  request.report = report->report;
  for (const std::string& word : words.subspan(2)) {
    const size_t equals = word.find('=');
    const bool has_value = equals != word.npos;
    const ReportWord* known = find_word(request.report, std::string_view(word).substr(0, equals), has_value);
    if (!known) return fail(Errc::kUnknownKeyword, " Unknown condition: " + word + "\nUse keyword set to modify value");
    std::string_view value = has_value ? std::string_view(word).substr(equals + 1) : std::string_view();
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    MUSTER_TRY_VOID(known->set(request, value, now));
  }
  round(request, now);
  return request;
}

std::string report_title(const ReportRequest& r) {
  const auto* known = std::ranges::find(kReports, r.report, &ReportName::report);
  std::string out(known->title);
  if (r.report == Report::kTopUsage) out = "Top " + std::to_string(r.top) + " Users";
  out += " " + format_time(r.from) + " - " + format_time(r.until - seconds(1));
  if (r.report == Report::kUtilization || r.report == Report::kReservations) return out;
  return out + " (" + std::to_string(to_seconds(r.until - r.from)) + " secs)";
}

}  // namespace muster::cli
