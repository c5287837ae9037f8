#include "cli/squeue/query.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/common/job_setup.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "os/users.h"

namespace muster::cli {
namespace {

constexpr uint32_t state_bit(JobState s) { return 1u << static_cast<unsigned>(s); }

// The states shown without -t: those of jobs that are not over.
constexpr uint32_t kActive = state_bit(JobState::kPending) | state_bit(JobState::kRunning) | state_bit(JobState::kSuspended);

Result<> add_states(const SqueueOptions& options, rpc::JobFilter& filter) {
  if (const std::string* unknown = add_job_states(options.states, filter.states, filter.state_flags)) {
    std::string valid;
    for (int i = 0; i < kJobStateCount; ++i) valid += (i ? "," : "") + std::string(job_state_name(static_cast<JobState>(i)));
    return fail(Errc::kInvalidReq, "Invalid job state specified: " + *unknown, "Valid job states include: " + valid);
  }
  if (options.states.empty() && options.start) {
    filter.states = state_bit(JobState::kPending);
  } else if (options.states.empty()) {
    filter.states = kActive;
    filter.state_flags = kJobCompleting | kJobStopped;
  }
  return {};
}

Result<> add_users(const SqueueOptions& o, rpc::JobFilter& f) {
  if (o.me) f.users.push_back(Uid{getuid()});
  for (const std::string& name : o.users) {
    Result<Uid> uid = os::find_uid(name);
    if (!uid) return fail(Errc::kUserIdMissing, "Invalid user: " + name);
    f.users.push_back(*uid);
  }
  return {};
}

Result<> add_jobs(const TextList& list, rpc::JobFilter& f) {
  for (const std::string& text : list)
    for (std::string_view one : split_outside_brackets(text)) {
      MUSTER_TRY(s, parse_job_selector(trim(one)));
      f.jobs.push_back(std::move(s));
    }
  return {};
}

}  // namespace

Result<rpc::QueryJobs> make_query(const SqueueOptions& options) {
  rpc::QueryJobs query;
  rpc::JobFilter& filter = query.filter;
  MUSTER_TRY_VOID(add_states(options, filter));
  MUSTER_TRY_VOID(add_users(options, filter));
  MUSTER_TRY_VOID(add_jobs(options.jobs, filter));
  filter.partitions = options.partitions;
  filter.qos = options.qos;
  filter.names = options.names;  // for steps, the names of their jobs, too
  if (!options.filters_steps) filter.accounts = options.accounts;
  filter.licenses = options.licenses;
  if (!options.reservation.empty())
    for (std::string_view r : split(options.reservation, ',')) filter.reservations.emplace_back(r);
  if (!options.nodes.empty()) {
    std::string list = options.nodes;
    if (list.find('/') != std::string::npos) {
      MUSTER_TRY(read, read_node_file(list));
      list = read;
    }
    MUSTER_TRY(hosts, expand_hosts(list));
    for (std::string& host : hosts)
      if (host == "localhost") host = short_hostname();
    filter.nodes = std::move(hosts);
  }
  if (options.filters_steps) {
    for (const std::string& s : options.steps) {
      MUSTER_TRY(selector, parse_job_selector(s));
      selector.has_step = false;
      filter.jobs.push_back(std::move(selector));
    }
  }
  query.show_all = options.visibility == Visibility::kAll;
  query.parts = options.only_job_state ? kRowStateOnly : kRowNodes | kRowVerdict | kRowRequest;
  if (options.filters_steps) query.parts |= kRowSteps;
  if (options.priority) query.parts |= kRowTiers;
  return query;
}

Result<std::vector<rpc::JobSelector>> step_selectors(const SqueueOptions& o) {
  std::vector<rpc::JobSelector> out;
  for (const std::string& s : o.steps) {
    MUSTER_TRY(selector, parse_job_selector(s));
    out.push_back(std::move(selector));
  }
  return out;
}

bool shows_step(const SqueueOptions& o, const std::vector<rpc::JobSelector>& wanted, const StepRow& row, Uid me) {
  return (!o.notme || row.uid != me) && selects(wanted, row);
}

bool selects(const std::vector<rpc::JobSelector>& wanted, const StepRow& row) {
  if (wanted.empty()) return true;
  for (const rpc::JobSelector& s : wanted) {
    bool job =
        s.means_job(row.job, row.het) || (s.job == row.array_job_id && (s.array_task == kNoArrayTask || s.array_task == row.array_task));
    if (job && (!s.has_step || s.step == row.id)) return true;
  }
  return false;
}

bool kept(const SqueueOptions& o, const JobRow& row, Uid owner, Uid me, Time now) {
  if (o.notme && owner == me) return false;
  if (!o.running_over_seconds && !o.running_under_seconds) return true;
  if (row.state != JobState::kRunning && row.state != JobState::kSuspended) return false;
  int64_t ran = to_seconds(now - row.started - row.suspended_total);
  if (o.running_over_seconds && ran <= static_cast<int64_t>(*o.running_over_seconds)) return false;
  return !o.running_under_seconds || ran < static_cast<int64_t>(*o.running_under_seconds);
}

namespace {

void each_partition(JobRow& row, const RowVisitor& visit) {
  std::string all = std::move(row.partition);
  std::vector<uint32_t> tiers = std::move(row.tiers);
  std::vector<std::string_view> names = split(all, ',');
  for (size_t i = 0; i < names.size(); ++i) {
    row.partition = names[i];
    row.tiers.assign(1, i < tiers.size() ? tiers[i] : 0);
    visit(row);
  }
}

// Visits each task of a record of pending tasks.
void each_task(JobRow& row, const RowVisitor& visit) {
  Result<ArrayTasks> tasks = parse_array_spec(row.array_tasks, kMaxArrayTaskId);
  if (!tasks) return visit(row);
  row.array_tasks.clear();
  tasks->pending.for_each([&](size_t task) {
    row.array_task = static_cast<uint32_t>(task);
    visit(row);
  });
}

}  // namespace

void each_line(const SqueueOptions& o, JobRow&& row, const RowVisitor& visit) {
  auto tasks = [&](JobRow& one) {
    if ((o.array || o.array_unique) && !one.array_tasks.empty()) {
      JobRow whole = one;
      each_task(whole, visit);
    } else {
      visit(one);
    }
  };
  if (o.priority && row.state == JobState::kPending && row.partition.find(',') != std::string::npos) each_partition(row, tasks);
  else tasks(row);
}

}  // namespace muster::cli
