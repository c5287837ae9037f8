#include "cli/sacct/query.h"

#include <algorithm>

#include "base/bitmap.h"
#include "base/text.h"
#include "cli/common/job_ids.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "os/users.h"

namespace muster::cli {
namespace {

using Form = QueryMistake::Form;
using Filter = rpc::JobRecordFilter;
using Done = std::expected<void, QueryMistake>;

std::unexpected<QueryMistake> mistake(Form form, std::string text, std::string hint = {}) {
  return std::unexpected(QueryMistake{form, std::move(text), std::move(hint)});
}

// States that pass, such as COMPLETING, are not recorded. nullptr: none is asked for.
const std::string* unrecorded_state(const std::vector<std::string>& names) {
  constexpr uint32_t kRecorded = kJobRequeued | kJobResizing | kJobRevoked;
  for (const std::string& name : names)
    if (uint32_t states = 0, flags = 0; !add_job_states({name}, states, flags) && flags & ~kRecorded) return &name;
  return nullptr;
}

QueryMistake unknown_state(const std::string& typed) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kJobStateCount; ++i) names.push_back(job_state_name(static_cast<JobState>(i)));
  const std::string_view near = did_you_mean(typed, names);
  return {Form::kFatal, "unrecognized job state value '" + typed + "'", near.empty() ? "" : "did you mean " + std::string(near) + "?"};
}

Done add_states(const SacctOptions& o, Filter& f) {
  if (const std::string* unknown = add_job_states(o.states, f.states, f.state_flags)) return std::unexpected(unknown_state(*unknown));
  if (const std::string* name = unrecorded_state(o.states))
    return mistake(Form::kFatal, "job state " + *name + " is not supported / accounted");
  return {};
}

Done add_jobs(const SacctOptions& options, RecordQuery& out) {
  for (const std::string& text : options.jobs) {
    Result<rpc::JobSelector> s = parse_job_selector(text);
    if (!s) return mistake(Form::kFatal, "Bad job/step specified: " + text);
    // --whole-hetjob: all components of the job, or the one named alone, which a leader's own id means too.
    if (options.whole_hetjob == TriState::kYes) s->het_offset.reset();
    if (options.whole_hetjob == TriState::kNo && !s->het_offset && s->array_task == kNoArrayTask && s->array_tasks.empty())
      s->het_offset = 0;
    out.query.filter.jobs.push_back(std::move(*s));
  }
  const std::vector<rpc::JobSelector>& jobs = out.query.filter.jobs;
  // slurmdbd finds jobs and their runs. A step is picked from its answer.
  if (std::ranges::any_of(jobs, &rpc::JobSelector::has_step)) out.selectors = jobs;
  return {};
}

Bitmap tasks_of(std::string_view ranges) {
  Bitmap tasks;
  if (!Bitmap::parse_ranges(ranges.substr(0, ranges.find('%')), tasks, kMaxArrayTaskId + 1)) return {};
  return tasks;
}

void add_leader(std::vector<rpc::JobSelector>& selectors, const JobRecord& component) {
  const auto named = std::ranges::find_if(selectors, [&](const auto& s) { return s.job == component.key.id && !s.het_offset && !s.sluid; });
  if (named == selectors.end()) return;
  rpc::JobSelector whole = *named;
  whole.job = component.het.leader;
  const bool known =
      std::ranges::any_of(selectors, [&](const auto& s) { return s.job == whole.job && !s.het_offset && s.step == whole.step; });
  if (!known) selectors.push_back(std::move(whole));
}

// Whether the selector means the job, whatever its step. A record of pending tasks, "4-7%2", is meant by each list that names one of them.
bool meets(const rpc::JobSelector& s, const JobRecord& job) {
  if (s.sluid) return s.means_run(job.sluid()) || s.means_run(job.original_sluid());
  if (s.het_offset) return s.means_job(job.key.id, job.het) || (*s.het_offset == 0 && s.job == job.key.id);
  if (s.array_task == kNoArrayTask && s.array_tasks.empty()) return s.means_job(job.key.id, job.het) || s.job == job.array_job_id;
  if (s.job != job.array_job_id) return false;
  if (s.array_task != kNoArrayTask && job.array_task != kNoArrayTask) return s.array_task == job.array_task;
  if (s.array_task != kNoArrayTask) return tasks_of(job.array_tasks).test(s.array_task);
  if (job.array_task != kNoArrayTask) return tasks_of(s.array_tasks).test(job.array_task);
  return tasks_of(s.array_tasks).intersects(tasks_of(job.array_tasks));
}

Done add_people(const SacctOptions& options, Uid me, Filter& filter) {
  for (const std::string& name : options.users) {
    Result<Uid> uid = os::find_uid(name);
    if (!uid) return mistake(Form::kError, "Invalid user id: " + name);
    filter.users.push_back(*uid);
  }
  for (const std::string& name : options.groups) {
    Result<os::Group> group = os::find_group(name);
    std::optional<uint32_t> number = parse_number<uint32_t>(name);
    if (!group && !number) return mistake(Form::kError, "Invalid group id: " + name);
    filter.groups.push_back(Uid{group ? group->gid.value : *number});
  }
  const bool own = options.users.empty() && !options.all_users && options.jobs.empty() && me != Uid{};
  if (own) filter.users.push_back(me);
  return {};
}

// Reads "4" or "4-8".
Done add_range(const std::string& text, const char* what, uint32_t& low, uint32_t& high) {
  if (text.empty()) return {};
  const size_t dash = text.find('-');
  auto from = parse_number<uint32_t>(std::string_view(text).substr(0, dash), 1);
  auto to = dash == text.npos ? from : parse_number<uint32_t>(std::string_view(text).substr(dash + 1), 1);
  if (!from || !to || *to < *from)
    return mistake(Form::kError, "Invalid numeric value \"" + text + "\" for requested " + what + " range.",
                   "a number, or the lowest and the highest with a dash between");
  low = *from;
  high = *to;
  return {};
}

Done add_limits(const SacctOptions& options, Filter& filter) {
  auto of = [](const std::string& text) -> std::optional<uint32_t> {
    Result<TimeLimit> limit = parse_time_limit(text);
    if (!limit) return {};
    return limit->minutes.value_or(kUnlimited32);
  };
  const bool bounded = !options.limit_min.empty();
  const std::optional<uint32_t> low = bounded ? of(options.limit_min) : 0, high = options.limit_max.empty() ? low : of(options.limit_max);
  if (!low || !high) return mistake(Form::kFatal, "Invalid time limit specification");
  if (!bounded) return {};  // sacct(1): --timelimit-max alone means nothing
  filter.min_limit_min = *low;
  filter.max_limit_min = *high;
  return {};
}

bool add_flag(std::string_view name, Filter& filter) {
  if (iequals(name, "StartReceived")) return filter.start_recorded = true;
  for (const StartedByWord& w : kStartedByWords)
    if (iequals(name, w.word)) return filter.started_by |= w.bit, true;
  return false;
}

Done add_names(const SacctOptions& options, const std::string& cluster, Filter& filter) {
  filter.accounts = options.accounts;
  filter.partitions = options.partitions;
  filter.names = options.names;
  filter.qos = options.qos;
  filter.wckeys = options.wckeys;
  filter.features = options.features;
  for (const std::string& name : options.flags)
    if (!add_flag(name, filter))
      return mistake(Form::kError, "Invalid job flag " + name, "SchedSubmit, SchedMain, SchedBackfill or StartReceived");
  for (const std::string& name : options.reasons) {
    std::optional<Reason> reason = parse_reason(name);
    if (!reason) return mistake(Form::kError, "unrecognized job reason value " + name);
    filter.reasons.emplace_back(reason_name(*reason));
  }
  if (!options.nodes.empty()) {
    Result<std::vector<std::string>> hosts = expand_hosts(options.nodes);
    if (!hosts) return mistake(Form::kFatal, "Invalid nodelist specified: " + options.nodes);
    filter.nodes = std::move(*hosts);
  }
  std::vector<std::string_view> clusters = split(options.clusters, ',');
  const bool all = options.all_clusters || std::ranges::any_of(clusters, [](std::string_view c) { return iequals(trim(c), "all"); });
  if (!all)
    for (std::string_view name : clusters) filter.clusters.emplace_back(trim(name));
  if (!all && clusters.empty()) filter.clusters.push_back(cluster);
  return {};
}

std::expected<Time, QueryMistake> point(const std::string& text, Time now) {
  Result<Time> t = parse_time_point(text, now, ClockRule::kThisDayOrYear);
  if (t) return *t;
  std::string said(t.error().message());
  return mistake(Form::kPlain, said.starts_with("Invalid time specification") ? said : "Invalid time specification (pos=0): " + text);
}

Time midnight(Time now) { return parse_time_point("00:00", now, ClockRule::kThisDayOrYear).value_or(now); }

Done add_window(const SacctOptions& options, Time now, Filter& filter) {
  const bool states = filter.states || filter.state_flags;
  filter.from = !options.jobs.empty() ? kTimeUnset : states ? now : midnight(now);
  if (!options.start.empty()) {
    auto t = point(options.start, now);
    if (!t) return std::unexpected(t.error());
    filter.from = *t;
  }
  // With a start but no end, states of jobs that run or wait are looked for at that moment: the window is as short as the clock's tick.
  const bool moment = states && !options.start.empty() && (filter.states & ~kEndedStates || filter.state_flags);
  filter.until = moment ? filter.from + seconds(1) : now + seconds(1);
  if (!options.end.empty()) {
    auto t = point(options.end, now);
    if (!t) return std::unexpected(t.error());
    filter.until = *t + seconds(1) - Duration(1);  // users see whole seconds: the whole second named is in the window
  }
  if (filter.until < filter.from)
    return mistake(Form::kError,
                   "Start time (" + format_time(filter.from) + ") requested is after end time (" + format_time(filter.until) + ").");
  return {};
}

// A job's CPU times are those of its steps, so they are asked for although --allocations shows no step.
bool shows_cpu_times(const SacctOptions& o) {
  const std::string format = to_lower(o.format);
  const auto names = [&](std::string_view column) { return format.find(column) != format.npos; };
  return o.data.kind != DataOutput::Kind::kText || names("totalc") || names("userc") || names("systemc") || iequals(format, "all");
}

}  // namespace

namespace {

Done check_contents(const SacctOptions& o) {
  if (o.batch_script && o.environment) return mistake(Form::kFatal, "Options --batch-script and --env-vars are mutually exclusive");
  if ((o.batch_script || o.environment) && o.jobs.empty())
    return mistake(Form::kFatal, "When requesting job scripts you must also request specific jobs with the '-j' option.");
  return {};
}

}  // namespace

std::expected<RecordQuery, QueryMistake> make_record_query(const SacctOptions& o, const std::string& cluster, Time now, Uid me) {
  RecordQuery q;
  Filter& f = q.query.filter;
  f.duplicates = o.duplicates;
  f.steps = !o.allocations || shows_cpu_times(o);
  for (Done done : {check_contents(o), add_states(o, f), add_jobs(o, q), add_people(o, me, f),
                    add_range(o.node_counts, "node", f.min_nodes, f.max_nodes), add_range(o.cpu_counts, "cpu", f.min_cpus, f.max_cpus),
                    add_limits(o, f), add_names(o, cluster, f)})
    if (!done) return std::unexpected(std::move(done).error());
  if (Done done = add_window(o, now, f); !done) return std::unexpected(std::move(done).error());
  return q;
}

std::optional<rpc::QueryRecords> wholes_question(const SacctOptions& options, const RecordQuery& query) {
  if (options.whole_hetjob != TriState::kYes || query.query.filter.jobs.empty()) return std::nullopt;
  rpc::QueryRecords out;
  out.filter.jobs = query.query.filter.jobs;
  out.filter.clusters = query.query.filter.clusters;
  out.filter.until = query.query.filter.until;
  out.filter.steps = false;
  out.filter.ineligible = true;
  return out;
}

void mean_whole(RecordQuery& query, const JobRecord& component) {
  if (!component.het || component.het.leader == component.key.id) return;
  add_leader(query.query.filter.jobs, component);
  add_leader(query.selectors, component);
}

std::string window_text(const Filter& filter) {
  std::string states;
  for (int i = 0; i < kJobStateCount; ++i)
    if (filter.states >> i & 1) states += (states.empty() ? "" : ",") + std::string(job_state_name(static_cast<JobState>(i)));
  auto moment = [](Time t) {
    if (t == kTimeUnset) return std::string("Epoch 0");
    const time_t clock = static_cast<time_t>(unix_seconds(t));
    std::tm local{};
    localtime_r(&clock, &local);
    char text[64];
    return std::string(text, strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &local));
  };
  return "Jobs " + (states.empty() ? "Eligible" : states) + " in the time window from " + moment(filter.from) + " to " +
         moment(filter.until);
}

bool selects_job(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](const rpc::JobSelector& s) { return !s.has_step && meets(s, job); });
}

bool selects_step(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job, StepId step) {
  return wanted.empty() ||
         std::ranges::any_of(wanted, [&](const rpc::JobSelector& s) { return (!s.has_step || s.step == step) && meets(s, job); });
}

}  // namespace muster::cli
