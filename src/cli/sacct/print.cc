#include "cli/sacct/print.h"

#include <algorithm>
#include <iterator>

#include "base/bitmap.h"
#include "model/array_spec.h"

namespace muster::cli {
namespace {

std::string_view columns_of(const SacctOptions& o) {
  if (o.typed("format")) return o.format;
  if (o.long_output) return fields::kRecordLong;
  if (o.brief) return fields::kRecordBrief;
  return o.format.empty() ? fields::kRecordDefault : std::string_view(o.format);
}

using Steps = std::vector<StepRecord>::const_iterator;

std::span<const StepRecord> steps_of(const JobRecord& job, Steps first, Steps end) {
  return {first, std::find_if(first, end, [&](const StepRecord& s) { return s.job != job.key; })};
}

// Visits each pending task of the record's list as a record of its own.
template <class Visit>
void each_task(const JobRecord& job, Visit&& visit) {
  std::string_view list = std::string_view(job.array_tasks).substr(0, job.array_tasks.find('%'));
  Bitmap tasks;
  if (job.array_task != kNoArrayTask || list.empty() || !Bitmap::parse_ranges(list, tasks, kMaxArrayTaskId + 1)) return visit(job);
  JobRecord one = job;
  one.array_tasks.clear();
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks.test(i)) continue;
    one.array_task = static_cast<uint32_t>(i);
    visit(one);
  }
}

}  // namespace

Result<fields::Table<fields::RecordView>> record_table(const SacctOptions& options) {
  fields::TableStyle style;
  using Form = fields::TableStyle::Form;
  style.form = options.form == SacctOptions::Form::kAligned    ? Form::kAligned
               : options.form == SacctOptions::Form::kParsable ? Form::kEnded
                                                               : Form::kSeparated;
  style.delimiter = options.delimiter;
  style.header = !options.noheader;
  fields::Table<fields::RecordView> table(style);
  std::string_view columns = columns_of(options);
  if (!iequals(columns, "all")) {
    MUSTER_TRY_VOID(table.add(fields::record_fields(), columns));
    return table;
  }
  for (const fields::RecordField& f : fields::record_fields())
    if (!f.name.ends_with("GRES")) table.add(f);  // these are understood, not listed
  return table;
}

void print_records(const SacctOptions& options, const std::vector<rpc::JobSelector>& selectors,
                   const fields::Table<fields::RecordView>& table, const fields::RecordStyle& style, const fields::Environment& env,
                   const rpc::JobRecords& part, Out& out) {
  auto step = part.steps.begin();
  for (const JobRecord& job : part.jobs) {
    const bool job_line = selects_job(selectors, job);
    const std::span<const StepRecord> steps = steps_of(job, step, part.steps.end());
    auto line = [&](const JobRecord& one) {
      table.row({one, nullptr, env, style, steps}, out.buffer());
      out.put("");
    };
    if (job_line && options.array) each_task(job, line);
    else if (job_line) line(job);
    for (; step != part.steps.end() && step->job == job.key; ++step) {
      if (options.allocations || !selects_step(selectors, job, step->id)) continue;
      table.row({job, &*step, env, style}, out.buffer());
      out.put("");
    }
  }
}

void write_records(const SacctOptions& o, const std::vector<rpc::JobSelector>& selectors, const fields::RecordStyle& style,
                   const fields::Environment& env, const rpc::JobRecords& part, fields::TreeSink& sink, Out& out) {
  auto step = part.steps.begin();
  for (const JobRecord& job : part.jobs) {
    std::vector<StepRecord> chosen;
    const std::span<const StepRecord> steps = steps_of(job, step, part.steps.end());
    for (; step != part.steps.end() && step->job == job.key; ++step)
      if (!o.allocations && selects_step(selectors, job, step->id)) chosen.push_back(*step);
    fields::json_record({job, nullptr, env, style, steps}, chosen, sink);
    out.put("");
  }
}

void WholeJobs::add(rpc::JobRecords&& part) {
  if (part.jobs.empty()) return;
  const JobRecord& first = part.jobs.front();
  const bool goes_on = !last_.jobs.empty() && last_.jobs.front().key == first.key && last_.jobs.front().cluster == first.cluster;
  if (goes_on) {
    auto end = std::ranges::find_if(part.steps, [&](const StepRecord& s) { return s.job != first.key; });
    last_.steps.insert(last_.steps.end(), std::make_move_iterator(part.steps.begin()), std::make_move_iterator(end));
    part.steps.erase(part.steps.begin(), end);
    part.jobs.erase(part.jobs.begin());
    if (part.jobs.empty()) return;
  }
  end();
  last_.jobs = {std::move(part.jobs.back())};
  part.jobs.pop_back();
  auto steps = std::ranges::find_if(part.steps, [&](const StepRecord& s) { return s.job == last_.jobs.front().key; });
  last_.steps.assign(std::make_move_iterator(steps), std::make_move_iterator(part.steps.end()));
  part.steps.erase(steps, part.steps.end());
  each_(part);
}

void WholeJobs::end() {
  if (!last_.jobs.empty()) each_(last_);
  last_ = {};
}

}  // namespace muster::cli
