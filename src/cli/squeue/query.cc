#include "cli/squeue/query.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/common/job_setup.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "os/users.h"

namespace muster::cli {
namespace {

constexpr uint32_t state_bit(JobState s) { return 1u << static_cast<unsigned>(s); }

// Without -t: what is neither over nor forgotten.
constexpr uint32_t kActive =
    state_bit(JobState::kPending) | state_bit(JobState::kRunning) | state_bit(JobState::kSuspended);

Result<> add_states(const SqueueOptions& o, rpc::JobFilter& f) {
  for (const std::string& name : o.states) {
    if (iequals(name, "all")) {
      f.states = f.state_flags = 0;
      return {};
    }
    std::optional<JobStateFilter> bits = parse_job_state(name);
    if (!bits) {
      std::string valid;
      for (int i = 0; i < kJobStateCount; ++i)
        valid += (i ? "," : "") + std::string(job_state_name(static_cast<JobState>(i)));
      return fail(Errc::kInvalidReq, "Invalid job state specified: " + name,
                  "Valid job states include: " + valid);
    }
    f.states |= bits->states;
    f.state_flags |= bits->flags;
  }
  if (o.states.empty()) {
    f.states = kActive;
    f.state_flags = kJobCompleting;
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

Result<rpc::QueryJobs> make_query(const SqueueOptions& o) {
  rpc::QueryJobs q;
  rpc::JobFilter& f = q.filter;
  MUSTER_TRY_VOID(add_states(o, f));
  MUSTER_TRY_VOID(add_users(o, f));
  MUSTER_TRY_VOID(add_jobs(o.jobs, f));
  f.partitions = o.partitions;
  f.accounts = o.accounts;
  f.qos = o.qos;
  f.names = o.names;
  f.licenses = o.licenses;
  if (!o.reservation.empty())
    for (std::string_view r : split(o.reservation, ',')) f.reservations.emplace_back(r);
  if (!o.nodes.empty()) {
    std::string list = o.nodes;
    if (list.find('/') != std::string::npos) {
      MUSTER_TRY(read, read_node_file(list));
      list = read;
    }
    MUSTER_TRY(hosts, expand_hosts(list));
    f.nodes = std::move(hosts);
  }
  if (o.filters_steps) {
    for (const std::string& s : o.steps) {
      MUSTER_TRY(selector, parse_job_selector(s));
      selector.has_step = false;
      f.jobs.push_back(std::move(selector));
    }
  }
  q.show_all = o.visibility == Visibility::kAll;
  q.parts = kRowNodes | kRowVerdict | kRowRequest;
  if (o.filters_steps) q.parts |= kRowSteps;
  return q;
}

Result<std::vector<rpc::JobSelector>> step_selectors(const SqueueOptions& o) {
  std::vector<rpc::JobSelector> out;
  for (const std::string& s : o.steps) {
    MUSTER_TRY(selector, parse_job_selector(s));
    out.push_back(std::move(selector));
  }
  return out;
}

bool selects(const std::vector<rpc::JobSelector>& wanted, const StepRow& row) {
  if (wanted.empty()) return true;
  for (const rpc::JobSelector& s : wanted) {
    bool job = s.job == row.job || (s.job == row.array_job_id &&
                                    (s.array_task == kNoArrayTask || s.array_task == row.array_task));
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

void expand_array(JobRow&& row, std::vector<JobRow>& out) {
  if (row.array_tasks.empty()) {
    out.push_back(std::move(row));
    return;
  }
  Result<ArrayTasks> tasks = parse_array_spec(row.array_tasks, kMaxArrayTaskId);
  if (!tasks) {
    out.push_back(std::move(row));
    return;
  }
  row.array_tasks.clear();
  tasks->pending.for_each([&](size_t task) {
    row.array_task = static_cast<uint32_t>(task);
    out.push_back(row);
  });
}

}  // namespace muster::cli
