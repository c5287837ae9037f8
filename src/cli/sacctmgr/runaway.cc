// show runawayjobs: jobs of this cluster that the database has as running or waiting and that slurmctld does not know, and their repair.
// sacctmgr(1) SPECIFICATIONS FOR RUNAWAYJOB.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/accounting/fresh_records.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/listing.h"
#include "fields/runaway_view.h"
#include "model/rows.h"
#include "os/clock.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

constexpr size_t kMostInOneRequest = 1000;

struct Choices {
  std::string format;
  JobState end_as = JobState::kCompleted;
};

Result<> take(const Spec& spec, const std::string& cluster, Choices& choices) {
  if (spec.part == Spec::Part::kSet) {
    if (!iequals(spec.key, "EndState")) return fail(Errc::kUnknownKeyword, " Unknown option: " + spec.text);
    const bool failed = istarts_with("Failed", spec.value);
    if (spec.value.empty() || (!failed && !istarts_with("Completed", spec.value)))
      return fail(Errc::kInvalidReq, " Bad EndState value: " + spec.value, "Completed or Failed");
    choices.end_as = failed ? JobState::kFailed : JobState::kCompleted;
    return {};
  }
  if (!spec.key.empty() && istarts_with("Format", spec.key)) return choices.format = spec.value, Result<>();
  const bool names_cluster = !spec.key.empty() && istarts_with("Clusters", spec.key);
  if (names_cluster && iequals(spec.value, cluster)) return {};
  if (names_cluster)
    return fail(Errc::kInvalidReq, " Cluster " + spec.value + " is another one: only its own slurmctld knows its jobs", "run it there");
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + spec.text);
}

// The runs that have no end in the database, of these jobs or (empty) of all; of all, those that were never eligible, such as held ones, are
// not among them: sacct does not show them either.
Result<std::vector<JobRecord>> without_end(Session& database, const std::string& cluster, std::span<const JobRecord> of) {
  rpc::QueryRecords query;
  query.filter.clusters = {cluster};
  query.filter.duplicates = true;
  query.filter.steps = false;
  query.filter.from = os::wall_now();
  query.filter.until = query.filter.from + seconds(1);
  for (const JobRecord& job : of) query.filter.jobs.emplace_back().job = job.key.id;
  std::vector<JobRecord> out;
  MUSTER_TRY_VOID(database.stream(query, [&](rpc::JobRecords&& part) -> Result<> {
    for (JobRecord& job : part.jobs)
      if (!is_finished(job.state)) out.push_back(std::move(job));
    return {};
  }));
  return out;
}

Result<std::set<uint32_t>> known_to_controller(const ClientConf& conf) {
  Session controller(conf, Patience::kNone);
  rpc::QueryJobs query;
  query.show_all = true;
  std::set<uint32_t> known;
  MUSTER_TRY_VOID(controller.stream(query, [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs) known.insert({row.id.value, row.array_job_id.value});
    return {};
  }));
  return known;
}

// A job whose number slurmctld knows is none: its end will be told, and a request by number would end the wrong run. Those that seem to be
// are looked up once more, for their end may have come meanwhile.
Result<std::vector<JobRecord>> find_runaways(Session& database, const ClientConf& conf) {
  MUSTER_TRY(open, without_end(database, conf.cluster_name, {}));
  MUSTER_TRY(known, known_to_controller(conf));
  auto is_known = [&](const JobRecord& job) { return known.contains(job.key.id.value); };
  std::erase_if(open, is_known);
  if (!open.empty()) {
    rpc::JobRecordFilter ours;
    ours.clusters = {conf.cluster_name};
    wait_for_records(conf, ours);
  }
  std::vector<JobRecord> out;
  for (std::span<const JobRecord> rest = open; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kMostInOneRequest));
    MUSTER_TRY(still, without_end(database, conf.cluster_name, some));
    std::ranges::move(still, std::back_inserter(out));
    rest = rest.subspan(some.size());
  }
  const auto by_key = [](const JobRecord& job) -> const JobRecordKey& { return job.key; };
  std::ranges::sort(out, {}, by_key);  // two runs of one number may have been in two questions
  const auto twice = std::ranges::unique(out, {}, by_key);
  out.erase(twice.begin(), twice.end());
  return out;
}

// Ends them, or with `commit` false asks only whether that may be done.
Result<> end_all(Session& database, const std::string& cluster, std::span<const JobRecord> jobs, JobState end_as, bool commit) {
  while (!jobs.empty()) {
    const auto some = jobs.first(std::min(jobs.size(), kMostInOneRequest));
    rpc::EditJobRecords request;
    request.commit = commit;
    request.end_as = end_as;
    request.where.clusters = {cluster};
    request.where.duplicates = true;
    request.where.steps = false;
    request.where.until = os::wall_now() + seconds(1);
    for (const JobRecord& job : some) request.where.jobs.emplace_back().job = job.key.id;
    MUSTER_TRY_VOID(database.call(request));
    jobs = jobs.subspan(some.size());
  }
  return {};
}

void print(const std::vector<JobRecord>& jobs, const fields::Table<fields::RunawayView>& table) {
  Out out;  // at its end all of it is printed
  out.put("NOTE: Runaway jobs are jobs that don't exist in the controller but have a start time and no end time in the database\n");
  table.header(out.buffer());
  for (const JobRecord& job : jobs) table.row({job}, out.buffer());
}

void write(const Context& context, const ClientConf& conf, const std::vector<JobRecord>& jobs) {
  Names names;
  const fields::Environment env = print_environment(conf, context.options, names);
  const fields::RecordStyle style;
  Out out;
  DatabaseDocument document(context, "jobs", conf, out);
  for (const JobRecord& job : jobs) fields::json_record({job, nullptr, env, style}, {}, document.sink());
}

std::string question(JobState end_as) {
  return "\nWould you like to fix these runaway jobs?\n(This will set the end time for each job to the latest out of the start, eligible, "
         "or submit "
         "times, and set the state to " +
         to_lower(job_state_name(end_as)) +
         ".\nOnce corrected, this will trigger the rollup to reroll usage from before the earliest submit time of all the runaway jobs.)\n";
}

}  // namespace

void show_runaway_jobs(Context& context, Words words) {
  Session* session = context.session();
  if (!session) return;
  const std::string& cluster = session->conf().cluster_name;
  Choices choices;
  for (const Spec& spec : parse_specs(words))
    if (Result<> done = take(spec, cluster, choices); !done) return context.complain(done.error());
  fields::Table<fields::RunawayView> table(table_style(context.options));
  if (!add_columns(context, table, fields::runaway_fields(), choices.format, fields::kRunawayDefaultColumns)) return;
  Result<std::vector<JobRecord>> found = find_runaways(*session, session->conf());
  if (!found) return context.complain(found.error());
  const bool data = as_data(context);
  if (data) write(context, session->conf(), *found);
  if (found->empty() && data) return;
  if (found->empty()) return context.say("Runaway Jobs: No runaway jobs found on cluster " + cluster + "\n");
  if (Result<> may = end_all(*session, cluster, *found, choices.end_as, false); !may) return context.complain(may.error());
  if (!data) print(*found, table);
  // Whoever reads a document is not asked.
  if (context.options.readonly || (data && !context.options.immediate)) return;
  if (!context.options.immediate && !confirmed(question(choices.end_as))) return context.say(" Changes Discarded\n");
  if (Result<> done = end_all(*session, cluster, *found, choices.end_as, true); !done) context.complain(done.error());
}

}  // namespace muster::cli
