// show job, node, partition, step, licenses: the query for each and how a row of it is printed.
#include <algorithm>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/common/request_table.h"
#include "cli/scontrol/show_rows.h"
#include "fields/show_job.h"
#include "fields/show_license.h"
#include "fields/show_node.h"
#include "fields/show_partition.h"
#include "fields/show_reservation.h"
#include "fields/show_step.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

// Reports what was not found as Slurm does: on standard output, unless --quiet; exit code 1.
void not_found(Context& c, const std::string& text) {
  c.exit_code = 1;
  if (!c.options.quiet) Out().line(text);
}

// The ids in the words of one "show", each a list, with or without the entity's name before it: "show job=5,6 7".
std::vector<std::string> ids_of(Words words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    size_t equals = word.find('=');
    std::string_view list = equals == std::string::npos ? std::string_view(word) : std::string_view(word).substr(equals + 1);
    for (std::string_view one : split_outside_brackets(list)) out.emplace_back(one);
  }
  return out;
}

bool add_selectors(Context& c, Words words, std::string_view failed, std::vector<rpc::JobSelector>& out) {
  for (const std::string& one : ids_of(words)) {
    Result<rpc::JobSelector> s = parse_job_selector(one);
    if (!s) {
      c.complain(std::string(failed) + "Invalid job id specified");
      return false;
    }
    out.push_back(std::move(*s));
  }
  return true;
}

// Whether a record is the one that a word named. A record of pending tasks (no task of its own) stands for each of them.
bool means(const rpc::JobSelector& s, JobId job, const HetPart& het, JobId array, uint32_t task) {
  return s.means_job(job, het) || (s.job == array && (s.array_task == kNoArrayTask || s.array_task == task || task == kNoArrayTask));
}

struct Jobs {
  using Query = rpc::QueryJobs;
  static constexpr RowTexts kTexts{"jobs", "slurm_load_jobs error: ", "No jobs in the system"};
  RequestTable requests;
  struct Seen {
    JobId id{}, array{};
    uint32_t task = 0;
    HetPart het;
  };
  std::vector<Seen> seen;  // kept only when jobs were named
  bool named = false;
  std::vector<JobRow>& rows(rpc::JobRows& part) {
    requests.add(part);
    return part.jobs;
  }
  bool wanted(const JobRow& row) {
    if (named) seen.push_back({row.id, row.array_job_id, row.array_task, row.het});
    return true;
  }
  void text(const JobRow& row, Shown& s) { fields::show_job({row, requests.of(row), s.env}, s.options, s.out); }
  void json(const JobRow& row, Shown& s) { fields::json_job({row, requests.of(row), s.env}, *s.sink); }
};

struct Nodes {
  using Query = rpc::QueryNodes;
  static constexpr RowTexts kTexts{"nodes", "slurm_load_node error: ", "No nodes in the system"};
  bool future = false;
  std::vector<std::string> missing;
  std::vector<NodeRow>& rows(rpc::NodeRows& part) { return part.nodes; }
  bool wanted(const NodeRow& row) {
    std::erase(missing, row.name);
    return future || row.state != NodeState::kFuture;
  }
  void text(const NodeRow& row, Shown& s) { fields::show_node(row, s.env, s.options, s.out); }
  void json(const NodeRow& row, Shown& s) { fields::json_node(row, s.env, *s.sink); }
};

struct Partitions {
  using Query = rpc::QueryPartitions;
  static constexpr RowTexts kTexts{"partitions", "slurm_load_partitions error: ", "No partitions in the system"};
  std::vector<std::string> names, missing;
  std::vector<PartitionRow>& rows(rpc::PartitionRows& part) { return part.partitions; }
  bool wanted(const PartitionRow& row) {
    std::erase(missing, row.partition.name);
    return names.empty() || std::ranges::find(names, row.partition.name) != names.end();
  }
  void text(const PartitionRow& row, Shown& s) { fields::show_partition(row, s.env, s.options, s.out); }
  void json(const PartitionRow& row, Shown& s) { fields::json_partition(row, s.env, *s.sink); }
};

struct Steps {
  using Query = rpc::QueryJobs;
  static constexpr RowTexts kTexts{"steps", "slurm_get_job_steps error: ", "No job steps in the system"};
  std::vector<rpc::JobSelector> named;
  bool job_known = false;
  std::vector<StepRow>& rows(rpc::JobRows& part) {
    job_known = job_known || !part.jobs.empty();
    return part.steps;
  }
  bool wanted(const StepRow& row) const {
    return named.empty() || std::ranges::any_of(named, [&](const rpc::JobSelector& s) {
             return means(s, row.job, row.het, row.array_job_id, row.array_task) && (!s.has_step || s.step == row.id);
           });
  }
  void text(const StepRow& row, Shown& s) { fields::show_step({row, s.env}, s.options, s.out); }
  void json(const StepRow& row, Shown& s) { fields::json_step({row, s.env}, *s.sink); }
};

struct Reservations {
  using Query = rpc::QueryReservations;
  static constexpr RowTexts kTexts{"reservations", "slurm_load_reservations error: ", "No reservations in the system"};
  std::vector<ReservationRow>& rows(rpc::ReservationRows& part) { return part.reservations; }
  bool wanted(const ReservationRow& row) const { return name.empty() || iequals(row.name, name); }
  void text(const ReservationRow& row, Shown& s) { fields::show_reservation(row, s.options, s.out); }
  void json(const ReservationRow& row, Shown& s) { fields::json_reservation(row, *s.sink); }
  std::string name;
};

struct Licenses {
  using Query = rpc::QueryLicenses;
  static constexpr RowTexts kTexts{"licenses", "slurm_load_licenses error: ", "No licenses configured in Slurm."};
  std::vector<LicenseRow>& rows(rpc::LicenseRows& part) { return part.licenses; }
  bool wanted(const LicenseRow&) const { return true; }
  void text(const LicenseRow& row, Shown& s) { fields::show_license(row, s.options, s.out); }
  void json(const LicenseRow& row, Shown& s) { fields::json_license(row, *s.sink); }
};

// To be called after all rows: says that there are none when nothing was named and nothing came.
template <class Kind>
void say_none(Context& c, size_t count, Words words) {
  bool say = !count && words.empty() && !Kind::kTexts.none.empty() && c.options.data.kind == DataOutput::Kind::kText;
  if (say && !c.options.quiet) Out().line(Kind::kTexts.none);
}

}  // namespace

void show_jobs(Context& context, Words words) {
  rpc::QueryJobs query;
  query.parts = kRowNodes | kRowTres | kRowVerdict | kRowRequest | (context.options.details ? kRowDetail | kRowPlacement : 0u);
  // A job that was named is shown wherever it is.
  query.show_all = context.options.visibility != Visibility::kHide;
  if (!add_selectors(context, words, "scontrol_print_job error: ", query.filter.jobs)) return;
  Jobs kind;
  kind.named = !words.empty();
  size_t count = 0;
  if (!show_rows(context, query, kind, count)) return;
  say_none<Jobs>(context, count, words);
  bool unknown = std::ranges::any_of(query.filter.jobs, [&](const rpc::JobSelector& s) {
    return std::ranges::none_of(kind.seen, [&](const Jobs::Seen& r) { return means(s, r.id, r.het, r.array, r.task); });
  });
  if (!unknown) return;
  const rpc::JobSelector& last = query.filter.jobs.back();
  if (last.array_task != kNoArrayTask) return context.complain("Job " + selector_text(last) + " not found");
  context.complain("slurm_load_jobs error: Invalid job id specified");
}

void show_steps(Context& context, Words words) {
  for (const std::string& word : words)
    if (istarts_with(word, "container-id=")) return not_found(context, "Job step with container-id " + word.substr(13) + " not found");
  rpc::QueryJobs query;
  query.parts = kRowSteps | kRowNodes | kRowTres;
  query.show_all = true;
  if (!add_selectors(context, words, "scontrol_print_step error: ", query.filter.jobs)) return;
  Steps kind;
  kind.named = query.filter.jobs;
  for (rpc::JobSelector& s : query.filter.jobs) s.has_step = false;
  size_t count = 0;
  if (!show_rows(context, query, kind, count)) return;
  say_none<Steps>(context, count, words);
  if (count || words.empty()) return;
  if (!kind.job_known && !kind.named.front().has_step) {
    context.exit_code = 1;
    return context.log.error("scontrol_print_step: slurm_get_job_steps({}) failed: Invalid job id specified", kind.named.front().job.value);
  }
  not_found(context, "Job step " + ids_of(words)[0] + " not found");
}

void show_nodes(Context& context, Words words) {
  rpc::QueryNodes query;
  query.nodes = join(ids_of(words), ",");
  if (iequals(query.nodes.text(), "ALL")) query.nodes.clear();
  query.show_all = context.options.visibility != Visibility::kHide;
  query.known_only = true;
  Nodes kind;
  kind.future = context.options.future || !words.empty();
  const Result<NodeNames>& named = query.nodes.parsed();
  if (!named) return context.complain("slurm_load_node error: ", named.error());
  if (!named->has_functions()) kind.missing = named->names();  // block{b1}: only the controller knows which nodes that means
  size_t count = 0;
  if (!show_rows(context, query, kind, count)) return;
  say_none<Nodes>(context, count, words);
  for (const std::string& name : kind.missing) not_found(context, "Node " + name + " not found");
}

void show_partitions(Context& c, Words words) {
  rpc::QueryPartitions query;
  Partitions kind;
  kind.names = kind.missing = ids_of(words);
  query.show_all = c.options.visibility == Visibility::kAll || !words.empty();
  size_t count = 0;
  if (!show_rows(c, query, kind, count)) return;
  say_none<Partitions>(c, count, words);
  for (const std::string& name : kind.missing) not_found(c, "Partition " + name + " not found");
}

// All are asked for: an unknown name is no error of the controller's.
void show_reservations(Context& c, Words words) {
  Reservations kind;
  if (!words.empty()) kind.name = words[0].substr(words[0].find('=') + 1);
  size_t count = 0;
  if (!show_rows(c, rpc::QueryReservations{}, kind, count)) return;
  say_none<Reservations>(c, count, words);
  if (!count && !words.empty()) not_found(c, "Reservation " + kind.name + " not found");
}

void show_licenses(Context& c, Words words) {
  rpc::QueryLicenses query;
  if (!words.empty()) query.name = ids_of(words).empty() ? "" : ids_of(words)[0];
  Licenses kind;
  size_t count = 0;
  if (show_rows(c, query, kind, count)) say_none<Licenses>(c, count, {});
}

}  // namespace muster::cli
