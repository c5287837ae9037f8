#include "cli/sprio/print.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "os/users.h"

namespace muster::cli {
namespace {

using fields::PriorityView;

// Who asks for the jobs of users sees whose each of them is, as --long shows it.
std::string usual_format(const SprioOptions& o) {
  if (o.long_output) return std::string(o.normalized ? fields::kSprioNormalLongFormat : fields::kSprioLongFormat);
  std::string format(o.normalized ? fields::kSprioNormalFormat : fields::kSprioFormat);
  constexpr std::string_view partition = "%9r ";
  if (!o.users.empty()) format.insert(format.find(partition) + partition.size(), "%.8u ");
  return format;
}

// A typed --format wins over --norm; --long and --norm win over SPRIO_FORMAT.
bool has_own_columns(const SprioOptions& o) { return o.format.empty() || (!o.typed("format") && (o.long_output || o.normalized)); }

bool means(const rpc::JobSelector& s, const PriorityRow& row) { return s.job == row.job && s.means_run(row.sluid); }

}  // namespace

PriorityListing make_priority_listing(const SprioOptions& o) {
  PriorityListing l;
  l.own_columns = has_own_columns(o);
  auto format = fields::parse_format<PriorityView>(l.own_columns ? usual_format(o) : o.format);
  l.format = std::move(format.format);
  l.messages = std::move(format.messages);
  auto sort = fields::parse_sort<PriorityView>(o.sort.empty() ? fields::kSprioSort : std::string_view(o.sort));
  l.sort = std::move(sort.keys);
  l.failed = !sort.messages.empty() || (l.format.columns.empty() && l.format.prefix.empty());
  for (std::string& m : sort.messages) l.messages.push_back(std::move(m));
  return l;
}

bool PriorityFilter::keeps(const PriorityRow& row) const {
  if (!jobs.empty() && std::ranges::none_of(jobs, [&](const rpc::JobSelector& s) { return means(s, row); })) return false;
  if (!users.empty() && std::ranges::find(users, row.user) == users.end()) return false;
  return partitions.empty() || std::ranges::find(partitions, row.partition) != partitions.end();
}

Result<PriorityFilter> make_priority_filter(const SprioOptions& options) {
  PriorityFilter filter;
  for (const std::string& text : options.jobs) {
    MUSTER_TRY(job, parse_job_selector(text));
    if (job.has_step || !job.array_tasks.empty() || job.array_task != kNoArrayTask)
      return fail(Errc::kInvalidJobId, "Invalid job id " + text,
                  "sprio takes the numbers and SLUIDs of jobs: a priority is of a whole record");
    filter.jobs.push_back(std::move(job));
  }
  for (const std::string& name : options.users) {
    Result<Uid> uid = os::find_uid(name);
    if (!uid) return fail(Errc::kUserIdMissing, "Invalid user: " + name);
    filter.users.push_back(*uid);
  }
  filter.partitions = options.partitions;
  return filter;
}

PriorityLines::PriorityLines(const SprioOptions& options, PriorityListing listing, PriorityFilter filter, const fields::Environment& env)
    : options_(options),
      listing_(std::move(listing)),
      filter_(std::move(filter)),
      env_(env),
      sorter_(listing_.sort),
      found_(filter_.jobs.size(), false) {}

void PriorityLines::begin(const PriorityRow& weights) {
  begun_ = true;
  weights_ = weights;
  if (!listing_.own_columns) return;
  auto& columns = listing_.format.columns;
  std::erase_if(columns, [&](const auto& c) { return c.field && !fields::has_weight(c.field->letter, weights_); });
  if (!columns.empty()) columns.back().suffix.clear();  // the blank before a column that was left out
}

void PriorityLines::add(const rpc::PriorityRows& part) {
  if (!begun_) begin(part.weights);
  if (options_.weights) return;
  for (const PriorityRow& row : part.jobs) {
    for (size_t i = 0; i < found_.size(); ++i)
      if (means(filter_.jobs[i], row)) found_[i] = true;
    if (!filter_.keeps(row)) continue;
    const PriorityView view{row, env_};
    sorter_.add(view);
    listing_.format.row(view, lines_.emplace_back());
  }
}

bool PriorityLines::found_nothing() const { return !options_.weights && !found_.empty() && std::ranges::none_of(found_, std::identity()); }

void PriorityLines::print(std::string& out) const {
  if (!options_.noheader) listing_.format.header(out);
  if (options_.weights) listing_.format.row({weights_, env_, true}, out);
  for (uint32_t line : sorter_.order()) out += lines_[line];
}

std::vector<std::string> PriorityLines::missing() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < found_.size() && !options_.weights; ++i)
    if (!found_[i]) out.push_back(selector_text(filter_.jobs[i]));
  return out;
}

}  // namespace muster::cli
