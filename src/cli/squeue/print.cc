#include "cli/squeue/print.h"

#include <unistd.h>

#include <deque>

#include "base/text.h"
#include "cli/common/document.h"
#include "cli/common/request_table.h"
#include "cli/squeue/query.h"
#include "fields/squeue_formats.h"

namespace muster::cli {
namespace {

template <class View>
fields::ParsedFormat<View> pick_format(const SqueueOptions& o, std::string_view usual) {
  if (!o.long_format.empty()) return fields::parse_long_format<View>(o.long_format);
  return fields::parse_format<View>(o.format.empty() ? usual : std::string_view(o.format));
}

template <class View>
std::vector<fields::SortKey<View>> pick_sort(const SqueueOptions& o, std::string_view usual,
                                             std::vector<std::string>& messages) {
  fields::ParsedSort<View> sort = fields::parse_sort<View>(o.sort.empty() ? usual : std::string_view(o.sort));
  for (std::string& m : sort.messages) messages.push_back(std::move(m));
  return std::move(sort.keys);
}

// TRES texts are the only costly ones that few formats print.
template <class View>
uint32_t needed_parts(const fields::Format<View>& format) {
  for (const fields::Column<View>& c : format.columns)
    if (c.field && (c.field->letter == 'b' || c.field->name.find("tres") != std::string_view::npos ||
                    c.field->name.find("gres") != std::string_view::npos))
      return kRowTres;
  return 0;
}

// Rows that must be kept until all are there; addresses stay.
class Collected {
 public:
  void add(JobRow&& row) { rows_.push_back(std::move(row)); }
  const std::deque<JobRow>& rows() const { return rows_; }

 private:
  std::deque<JobRow> rows_;
};

// One job was named and nothing came: it may be over, or unknown, which is an error.
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

Listing make_listing(const SqueueOptions& o) {
  Listing l;
  if (o.filters_steps) {
    auto parsed = pick_format<fields::StepView>(o, fields::kSqueueStepFormat);
    l.steps = std::move(parsed.format);
    l.messages = std::move(parsed.messages);
    l.step_sort = pick_sort<fields::StepView>(o, fields::kSqueueStepSort, l.messages);
    l.parts = needed_parts(l.steps);
    l.failed = l.steps.columns.empty();
    return l;
  }
  std::string_view usual = o.start         ? fields::kSqueueStartFormat
                           : o.long_output ? fields::kSqueueLongFormat
                                           : fields::kSqueueFormat;
  auto parsed = pick_format<fields::JobView>(o, usual);
  l.jobs = std::move(parsed.format);
  l.messages = std::move(parsed.messages);
  l.job_sort =
      pick_sort<fields::JobView>(o, o.start ? fields::kSqueueStartSort : fields::kSqueueSort, l.messages);
  l.parts = needed_parts(l.jobs);
  l.failed = l.jobs.columns.empty();
  return l;
}

std::optional<std::string> format_help(const SqueueOptions& o) {
  bool jobs = !o.filters_steps;
  if (iequals(o.format, "help") || iequals(o.long_format, "help"))
    return jobs ? fields::field_help<fields::JobView>(false) : fields::field_help<fields::StepView>(false);
  return std::nullopt;
}

Result<> print_jobs(Session& session, const SqueueOptions& o, const Listing& l, const rpc::QueryJobs& query,
                    const fields::Environment& env, Out& out) {
  RequestTable requests;
  Collected collected;
  Uid me{getuid()};
  bool sorted = !l.job_sort.empty();
  bool begun = false, answered = false;
  std::vector<JobRow> expanded;
  auto begin = [&] {
    if (!begun && !o.noheader) l.jobs.header(out.buffer());
    begun = true;
  };
  auto take = [&](JobRow&& row) {
    if (sorted) return collected.add(std::move(row));
    l.jobs.row({row, requests.of(row), env}, out.buffer());
    out.put("");
  };
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    requests.add(std::move(part.requests));
    answered = answered || !part.jobs.empty();
    if (!sorted) begin();
    for (JobRow& row : part.jobs) {
      if (!kept(o, row, requests.of(row).uid, me, env.now)) continue;
      if (o.start && row.state != JobState::kPending) continue;
      if (!o.array) {
        take(std::move(row));
        continue;
      }
      expanded.clear();
      expand_array(std::move(row), expanded);
      for (JobRow& one : expanded) take(std::move(one));
    }
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (!answered) MUSTER_TRY_VOID(check_named_job(session, query));
  begin();
  if (!sorted) return {};
  std::vector<fields::JobView> views;
  views.reserve(collected.rows().size());
  for (const JobRow& row : collected.rows()) views.push_back({row, requests.of(row), env});
  for (uint32_t i : fields::sorted_order(views, l.job_sort)) {
    l.jobs.row(views[i], out.buffer());
    out.put("");
  }
  return {};
}

Result<> print_steps(Session& session, const SqueueOptions& o, const Listing& l, const rpc::QueryJobs& query,
                     const fields::Environment& env, Out& out) {
  MUSTER_TRY(wanted, step_selectors(o));
  std::deque<StepRow> rows;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (StepRow& row : part.steps)
      if (selects(wanted, row)) rows.push_back(std::move(row));
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (!o.noheader) l.steps.header(out.buffer());
  std::vector<fields::StepView> views;
  for (const StepRow& row : rows) views.push_back({row, env});
  for (uint32_t i : fields::sorted_order(views, l.step_sort)) {
    l.steps.row(views[i], out.buffer());
    out.put("");
  }
  return {};
}

Result<> print_document(Session& session, const SqueueOptions& o, const rpc::QueryJobs& query,
                        const fields::Environment& env, Out& out) {
  rpc::QueryJobs whole = query;
  whole.parts = kRowNodes | kRowDetail | kRowTres | kRowVerdict | kRowRequest;
  // Nothing is printed before the controller answered: a script must not find half a document.
  MUSTER_TRY_VOID(session.connect());
  RequestTable requests;
  Uid me{getuid()};
  std::optional<Document> document;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    if (!document) document.emplace(o.data, o, "jobs", session.conf(), out);
    requests.add(std::move(part.requests));
    for (const JobRow& row : part.jobs) {
      if (!kept(o, row, requests.of(row).uid, me, env.now)) continue;
      fields::json_job({row, requests.of(row), env}, document->sink());
      out.put("");
    }
    return {};
  };
  MUSTER_TRY_VOID(session.stream(whole, on_part));
  if (!document) document.emplace(o.data, o, "jobs", session.conf(), out);
  return {};
}

}  // namespace muster::cli
