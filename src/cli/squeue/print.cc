#include "cli/squeue/print.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/document.h"
#include "cli/common/request_table.h"
#include "cli/squeue/query.h"
#include "fields/squeue_formats.h"

namespace muster::cli {
namespace {

constexpr std::string_view kStateFormat = "%.18i %.2t";  // --only-job-state

template <class View>
fields::ParsedFormat<View> pick_format(const SqueueOptions& o, std::string_view usual) {
  if (!o.long_format.empty()) return fields::parse_long_format<View>(o.long_format);
  return fields::parse_format<View>(o.format.empty() ? usual : std::string_view(o.format));
}

template <class View>
std::vector<fields::SortKey<View>> pick_sort(const SqueueOptions& o, std::string_view usual, std::vector<std::string>& messages,
                                             bool& failed) {
  fields::ParsedSort<View> sort = fields::parse_sort<View>(o.sort.empty() ? usual : std::string_view(o.sort));
  if (!sort.messages.empty()) failed = true;
  for (std::string& m : sort.messages) messages.push_back(std::move(m));
  return std::move(sort.keys);
}

// The parts of the row from which the columns and keys are made.
template <class View>
uint32_t needed_parts(const fields::Format<View>& format, const std::vector<fields::SortKey<View>>& sort) {
  uint32_t parts = format.parts();
  for (const fields::SortKey<View>& key : sort)
    if (key.field) parts |= key.field->parts;
  return parts;
}

// Whether --only-job-state has values for the field.
bool is_state_field(const fields::JobField* f) {
  constexpr std::string_view kNames[] = {"JobArrayID", "JobID", "ArrayJobID", "ArrayTaskID", "StateCompact", "State"};
  return !f || std::ranges::any_of(kNames, [&](std::string_view n) { return iequals(n, f->name); });
}

// To be called when one job was named and nothing came: the job may be over, or unknown, which is an error.
Result<> check_named_job(Session& session, const rpc::QueryJobs& query) {
  if (query.filter.jobs.size() != 1) return {};
  rpc::QueryJobs any;
  any.filter.jobs = query.filter.jobs;
  any.show_all = true;
  bool known = false;
  MUSTER_TRY_VOID(session.stream(any, [&](rpc::JobRows&& part) -> Result<> {
    known = known || !part.jobs.empty();
    return {};
  }));
  if (!known) return fail(Errc::kInvalidJobId);
  return {};
}

}  // namespace

Listing make_listing(const SqueueOptions& options) {
  Listing listing;
  if (options.filters_steps) {
    auto parsed = pick_format<fields::StepView>(options, fields::kSqueueStepFormat);
    listing.steps = std::move(parsed.format);
    listing.messages = std::move(parsed.messages);
    listing.step_sort = pick_sort<fields::StepView>(options, fields::kSqueueStepSort, listing.messages, listing.failed);
    listing.parts = needed_parts(listing.steps, listing.step_sort);
    listing.failed = listing.failed || (listing.steps.columns.empty() && listing.steps.prefix.empty());
    return listing;
  }
  std::string_view usual = options.only_job_state ? kStateFormat
                           : options.start        ? fields::kSqueueStartFormat
                           : options.long_output  ? fields::kSqueueLongFormat
                                                  : fields::kSqueueFormat;
  auto parsed = pick_format<fields::JobView>(options, usual);
  listing.jobs = std::move(parsed.format);
  listing.messages = std::move(parsed.messages);
  std::string_view usual_sort = options.only_job_state ? "i" : options.start ? fields::kSqueueStartSort : fields::kSqueueSort;
  listing.queue_order = !options.priority && (options.sort.empty() ? usual_sort : std::string_view(options.sort)) == fields::kSqueueSort;
  listing.job_sort = pick_sort<fields::JobView>(options, usual_sort, listing.messages, listing.failed);
  if (options.priority) listing.job_sort = fields::with_partition_priority(listing.job_sort);
  listing.watch_sort = listing.job_sort;
  if (listing.queue_order) listing.job_sort.clear();
  listing.parts = needed_parts(listing.jobs, listing.job_sort);
  listing.failed = listing.failed || (listing.jobs.columns.empty() && listing.jobs.prefix.empty());
  if (options.only_job_state && std::ranges::any_of(listing.jobs.columns, [](const auto& c) { return !is_state_field(c.field); }))
    listing.messages.push_back("--only-job-state asks for ids and states only: the other fields are empty");
  return listing;
}

std::optional<std::string> format_help(const SqueueOptions& o) {
  bool jobs = !o.filters_steps;
  if (iequals(o.format, "help") || iequals(o.long_format, "help"))
    return jobs ? fields::field_help<fields::JobView>(false) : fields::field_help<fields::StepView>(false);
  return std::nullopt;
}

Result<> print_jobs(Session& session, const SqueueOptions& options, const Listing& listing, const rpc::QueryJobs& query,
                    const fields::Environment& env, Out& out) {
  RequestTable requests;
  Uid me{getuid()};
  bool sorted = !listing.job_sort.empty();
  bool begun = false, answered = false;
  Lines lines;
  fields::RowSorter<fields::JobView> sorter(listing.job_sort);
  auto begin = [&] {
    if (!begun && !options.noheader) listing.jobs.header(out.buffer());
    begun = true;
  };
  auto take = [&](const fields::JobView& view) {
    if (sorted) {
      sorter.add(view);
      listing.jobs.row(view, lines.text());
      lines.end();
    } else {
      listing.jobs.row(view, out.buffer());
      out.put("");
    }
  };
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    requests.add(part);
    answered = answered || !part.jobs.empty();
    if (!sorted) begin();
    for (JobRow& row : part.jobs) {
      if (!kept(options, row, requests.of(row).uid, me, env.now)) continue;
      each_line(options, std::move(row), [&](const JobRow& one) { take({one, requests.of(one), env}); });
    }
    return {};
  };
  rpc::QueryJobs ordered = query;
  if (listing.queue_order) ordered.order = rpc::RowOrder::kQueue;
  MUSTER_TRY_VOID(session.stream(ordered, on_part));
  if (!answered) MUSTER_TRY_VOID(check_named_job(session, query));
  begin();
  if (sorted)
    for (uint32_t i : sorter.order()) out.put(lines[i]);
  return {};
}

Result<> print_steps(Session& session, const SqueueOptions& options, const Listing& listing, const rpc::QueryJobs& query,
                     const fields::Environment& env, Out& out) {
  MUSTER_TRY(wanted, step_selectors(options));
  Uid me{getuid()};
  Lines lines;
  fields::RowSorter<fields::StepView> sorter(listing.step_sort);
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const StepRow& row : part.steps) {
      if (!shows_step(options, wanted, row, me)) continue;
      sorter.add({row, env});
      listing.steps.row({row, env}, lines.text());
      lines.end();
    }
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (!options.noheader) listing.steps.header(out.buffer());
  for (uint32_t i : sorter.order()) out.put(lines[i]);
  return {};
}

Result<> print_document(Session& session, const SqueueOptions& options, const rpc::QueryJobs& query, const fields::Environment& env,
                        Out& out) {
  rpc::QueryJobs whole = query;
  if (!options.only_job_state) whole.parts = kRowNodes | kRowDetail | kRowTres | kRowVerdict | kRowRequest;
  if (options.filters_steps) whole.parts |= kRowSteps;
  // Nothing is printed before the controller has answered: a script must not find half a document.
  MUSTER_TRY_VOID(session.connect());
  MUSTER_TRY(wanted, step_selectors(options));
  const char* list = options.filters_steps ? "steps" : "jobs";
  RequestTable requests;
  Uid me{getuid()};
  std::optional<Document> document;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    if (!document) document.emplace(options.data, options, list, session.conf(), out);
    requests.add(part);
    for (JobRow& row : part.jobs) {
      if (options.filters_steps || !kept(options, row, requests.of(row).uid, me, env.now)) continue;
      each_line(options, std::move(row), [&](const JobRow& one) {
        fields::json_job({one, requests.of(one), env}, document->sink());
        out.put("");
      });
    }
    for (const StepRow& row : part.steps) {
      if (!shows_step(options, wanted, row, me)) continue;
      fields::json_step({row, env}, document->sink());
      out.put("");
    }
    return {};
  };
  MUSTER_TRY_VOID(session.stream(whole, on_part));
  if (!document) document.emplace(options.data, options, list, session.conf(), out);
  return {};
}

}  // namespace muster::cli
