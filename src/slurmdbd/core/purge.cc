#include "slurmdbd/core/purge.h"

#include <algorithm>

#include "base/text.h"
#include "model/message_bounds.h"
#include "model/usage_time.h"

namespace muster::slurmdbd {
namespace {

constexpr Duration kHalfDay = minutes(12 * 60), kDay = minutes(24 * 60);

using P = PurgeRules;
using A = ArchiveRules;
constexpr RecordKindRow kKinds[] = {
    {RecordKind::kJobs, "PurgeJobAfter", &P::jobs, "ArchiveJobs", &A::jobs, true, false, "jobs that ended", "job", "SLURM_ARCHIVE_JOBS",
     "SLURM_ARCHIVE_LAST_JOB"},
    {RecordKind::kSteps, "PurgeStepAfter", &P::steps, "ArchiveSteps", &A::steps, false, false, "steps that ended", "step",
     "SLURM_ARCHIVE_STEPS", "SLURM_ARCHIVE_LAST_STEP"},
    {RecordKind::kEvents, "PurgeEventAfter", &P::events, "ArchiveEvents", &A::events, true, false, "events that ended", "event",
     "SLURM_ARCHIVE_EVENTS", "SLURM_ARCHIVE_LAST_EVENT"},
    {RecordKind::kReservations, "PurgeResvAfter", &P::reservations, "ArchiveResvs", &A::reservations, true, false,
     "reservations that ended", "resv", "SLURM_ARCHIVE_RESVS", "SLURM_ARCHIVE_LAST_RESV"},
    {RecordKind::kTransactions, "PurgeTXNAfter", &P::transactions, "ArchiveTXN", &A::transactions, false, false, "transactions", "txn",
     "SLURM_ARCHIVE_TXN", "SLURM_ARCHIVE_LAST_TXN"},
    {RecordKind::kUsage, "PurgeUsageAfter", &P::usage, "ArchiveUsage", &A::usage, true, false, "rows of usage", "usage",
     "SLURM_ARCHIVE_USAGE", "SLURM_ARCHIVE_LAST_USAGE"},
    {RecordKind::kScripts, "PurgeJobScriptAfter", &P::scripts, "ArchiveJobScript", &A::scripts, false, true, "scripts of jobs that ended",
     "job_script", "", ""},
    {RecordKind::kEnvironments, "PurgeJobEnvAfter", &P::environments, "ArchiveJobEnv", &A::environments, false, true,
     "environments of jobs that ended", "job_env", "", ""},
};

Time months_before(Time begin, uint32_t count) {
  for (; count > 0 && begin > Time{}; --count) begin = period_begin(UsagePeriod::kMonth, begin - kDay);
  return begin;
}

Result<> check_choice(const rpc::ArchiveChoice& choice) {
  if (!choice.after || (choice.after->count > 0 && choice.after->count <= kLongestPurgeAge)) return {};
  return fail(Errc::kInvalidArgument, std::string(row_of(choice.kind).purge_key) + ": " + std::to_string(choice.after->count) +
                                          ": an age is a number from 1 to " + std::to_string(kLongestPurgeAge));
}

// ---- records out of a file
std::unexpected<Error> wrong(std::string what, const char* rule) { return fail(Errc::kInvalidArgument, std::move(what) + ": " + rule); }

Result<> check_span(const std::string& what, Time started, Time ended) {
  MUSTER_TRY_VOID(bounds_detail::check_time("started", started));
  MUSTER_TRY_VOID(bounds_detail::check_time("ended", ended));
  return ended == kTimeUnset ? Result<>(wrong(what, "it has not ended")) : Result<>();
}

Result<> check_key(const std::string& what, const JobRecordKey& key) {
  if (!key.id) return wrong(what, "it has no number");
  return bounds_detail::check_time("submitted", key.submitted);
}

Result<> check(const JobRecord& job) {
  const std::string what = "job " + std::to_string(job.key.id.value);
  MUSTER_TRY_VOID(check_key(what, job.key));
  if (!bounds_detail::known_value(job.state)) return wrong(what, "there is no such state");
  MUSTER_TRY_VOID(bounds_detail::check_time("eligible", job.eligible));
  MUSTER_TRY_VOID(bounds_detail::check_time("first_submitted", job.first_submitted));
  MUSTER_TRY_VOID(bounds_detail::check_span("suspended_total", job.suspended_total));
  return check_span(what, job.started, job.ended);
}

Result<> check(const StepRecord& step) {
  const std::string what = "step " + std::to_string(step.job.id.value) + "." + std::to_string(step.id.value);
  MUSTER_TRY_VOID(check_key(what, step.job));
  if (!bounds_detail::known_value(step.state)) return wrong(what, "there is no such state");
  MUSTER_TRY_VOID(bounds_detail::check_time("suspended", step.suspended));
  MUSTER_TRY_VOID(bounds_detail::check_span("suspended_total", step.suspended_total));
  return check_span(what, step.started, step.ended);
}

Result<> check(const EventRecord& event) {
  const std::string what = "event of node " + event.node;
  if (!bounds_detail::known_value(event.state)) return wrong(what, "there is no such state");
  return check_span(what, event.started, event.ended);
}

Result<> check(const ReservationRecord& reservation) {
  return check_span("reservation " + std::to_string(reservation.id), reservation.started, reservation.ended);
}

Result<> check(const ArchivedContent& content) {
  const std::string what = "content of job " + std::to_string(content.job.id.value);
  MUSTER_TRY_VOID(check_key(what, content.job));
  if (!bounds_detail::known_value(content.kind)) return wrong(what, "there is no such kind");
  if (content.bytes.size() > kMostKeptContent) return wrong(what, "it is longer than any that is kept");
  return check_span(what, {}, content.ended);
}

Result<> check(const TransactionRecord& transaction) {
  if (transaction.time == kTimeUnset) return wrong("transaction of " + transaction.actor, "it has no time");
  return bounds_detail::check_time("time", transaction.time);
}

Result<> check(const ArchivedUsage& usage) {
  if (!bounds_detail::known_value(usage.period)) return wrong("usage", "there is no such period");
  MUSTER_TRY_VOID(bounds_detail::check_time("at", usage.at));
  return usage.at == kTimeUnset || period_begin(usage.period, usage.at) != usage.at
             ? Result<>(wrong("usage of " + format_time(usage.at), "no period begins there"))
             : Result<>();
}

template <class Record>
Result<> check_each(const std::vector<Record>& records) {
  for (const Record& record : records) MUSTER_TRY_VOID(check(record));
  return {};
}

}  // namespace

std::span<const RecordKindRow> record_kinds() { return kKinds; }

const RecordKindRow& row_of(RecordKind kind) {
  const auto row = std::ranges::find(kKinds, kind, &RecordKindRow::kind);
  return row == std::end(kKinds) ? kKinds[0] : *row;
}

PurgeRules purge_rules(const config::SimpleConf& conf) {
  PurgeRules rules;
  for (const RecordKindRow& row : kKinds) rules.*row.age = config::parse_purge_age(conf.text(row.purge_key));
  rules.most_rows = static_cast<size_t>(std::max<int64_t>(1, conf.number("MaxPurgeLimit", 50'000)));
  return rules;
}

ArchiveRules archive_rules(const config::SimpleConf& conf) {
  ArchiveRules rules;
  for (const RecordKindRow& row : kKinds)
    if (const config::ConfigValue* said = conf.find(row.archive_key); said && said->given) rules.*row.archived = conf.yes(row.archive_key);
  if (const std::string_view directory = conf.text("ArchiveDir"); !directory.empty()) rules.directory = directory;
  rules.script = conf.text("ArchiveScript");
  rules.commands = !conf.yes("DisableArchiveCommands");
  return rules;
}

Time purge_before(config::PurgeAge age, Time now) {
  Time begin{};
  switch (age.unit) {
    case config::PurgeUnit::kHour:
      begin = period_begin(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now) - minutes(60 * int64_t{age.count}));
      break;
    case config::PurgeUnit::kDay:  // counted from noon, which every day has: a change of the clock may skip midnight
      begin =
          period_begin(UsagePeriod::kDay, add_local_days(period_begin(UsagePeriod::kDay, now) + kHalfDay, -static_cast<int>(age.count)));
      break;
    case config::PurgeUnit::kMonth: begin = months_before(period_begin(UsagePeriod::kMonth, now), age.count); break;
  }
  return std::max(begin, Time{});
}

std::optional<config::PurgeAge> age_of(const PurgeRules& rules, const RecordKindRow& row) {
  const std::optional<config::PurgeAge>& own = rules.*row.age;
  return own || !row.as_jobs ? own : rules.jobs;
}

bool archived(const ArchiveRules& rules, const RecordKindRow& row) {
  return (rules.*row.archived).value_or(row.as_jobs && rules.jobs.value_or(false));
}

bool archives(const ArchiveRules& rules, RecordKind kind) {
  return archived(rules, row_of(kind)) || (kind == RecordKind::kJobs && rules.steps.value_or(false));
}

std::vector<std::string> script_variables(const ArchiveRules& rules, std::span<const Time> before) {
  std::vector<std::string> out = {"SLURM_ARCHIVE_SUSPEND=0", "SLURM_ARCHIVE_LAST_SUSPEND=0"};
  for (size_t index = 0; index < std::size(kKinds); ++index) {
    const RecordKindRow& row = kKinds[index];
    if (std::string_view(row.variable).empty()) continue;
    const Time until = index < before.size() ? before[index] : kTimeUnset;
    const bool kept = until != kTimeUnset && archived(rules, row);
    out.push_back(std::string(row.variable) + (kept ? "=1" : "=0"));
    out.push_back(std::string(row.last) + "=" + std::to_string(kept ? unix_seconds(until) : 0));
  }
  return out;
}

Result<> apply_dump(const rpc::ArchiveDump& request, PurgeRules& purge, ArchiveRules& archive) {
  for (const rpc::ArchiveChoice& choice : request.choices) {
    const RecordKindRow& row = row_of(choice.kind);
    MUSTER_TRY_VOID(check_choice(choice));
    if (choice.after) purge.*row.age = choice.after;
    if (choice.archive) archive.*row.archived = true;
  }
  if (!request.script.empty()) archive.script = request.script;
  else if (!request.directory.empty()) archive.script.clear();  // who names a directory wants files in it
  return {};
}

Result<NamedPlace> named_place(const ArchiveRules& rules, std::string_view what, const std::string& named, bool anywhere) {
  std::string rest = named;
  std::string from = rules.directory;
  while (from.size() > 1 && from.ends_with('/')) from.pop_back();
  const bool inside = named.empty() || !named.starts_with('/') || named == from || named.starts_with(from + "/");
  if (named.starts_with('/')) rest = inside ? named.substr(from.size()) : named;
  std::vector<std::string> names;
  for (std::string_view name : split(rest, '/')) {
    if (name == "..") return fail(Errc::kInvalidArgument, std::string(what) + "=" + named + ": may not lead upwards (..)");
    if (name != ".") names.emplace_back(name);
  }
  if (rest.find('\0') != std::string::npos) return fail(Errc::kInvalidArgument, std::string(what) + "=: is no path");
  if (inside) return NamedPlace{std::move(from), std::move(names)};
  if (!anywhere)
    return fail(Errc::kAccessDenied, {},
                std::string(what) + "=" + named + " is not in ArchiveDir, " + from + ": only root and SlurmUser may name other places");
  if (names.empty()) return NamedPlace{"/", {}};
  NamedPlace place{"", {std::move(names.back())}};  // root and SlurmUser may go through links of theirs
  names.pop_back();
  for (const std::string& name : names) place.from += "/" + name;
  if (place.from.empty()) place.from = "/";
  return place;
}

Result<> check_archived(const ArchivePart& part) {
  if (part.cluster.empty() && part.records() != part.transactions.size()) return fail(Errc::kInvalidClusterName, "records of no cluster");
  MUSTER_TRY_VOID(check_each(part.jobs));
  MUSTER_TRY_VOID(check_each(part.steps));
  MUSTER_TRY_VOID(check_each(part.events));
  MUSTER_TRY_VOID(check_each(part.reservations));
  MUSTER_TRY_VOID(check_each(part.transactions));
  MUSTER_TRY_VOID(check_each(part.contents));
  return check_each(part.usage);
}

}  // namespace muster::slurmdbd
