#include "slurmdbd/core/edit_jobs.h"

#include <algorithm>
#include <utility>

namespace muster::slurmdbd {
namespace {

template <class T, class U>
bool set(T& field, const std::optional<U>& value) {
  if (!value || field == *value) return false;
  field = *value;
  return true;
}

// A runaway job ended, as far as is known, at the last moment that anything was heard of it.
bool end(JobRecord& r, const std::optional<JobState>& state) {
  if (!state || r.over()) return false;
  r.state = *state;
  r.ended = std::max({r.started, r.eligible, r.key.submitted});
  return true;
}

}  // namespace

Result<> check_job_edit(const rpc::EditJobRecords& q, bool is_operator) {
  const bool privileged = q.admin_comment || q.system_comment || q.wckey || q.tres_allocated || q.end_as;
  if (!privileged && !q.comment && !q.extra && !q.derived_exit_status) return fail(Errc::kError, "modify job: nothing to set");
  if (privileged && !is_operator)
    return fail(Errc::kAccessDenied, {}, "users may set Comment, Extra and DerivedExitCode of their own jobs");
  if (q.end_as && *q.end_as != JobState::kCompleted && *q.end_as != JobState::kFailed)
    return fail(Errc::kError, "EndState: is one of Completed, Failed");
  if (q.where.jobs.empty() && q.where.users.empty() && q.where.wckeys.empty())
    return fail(Errc::kError, "modify job: JobID, User or WCKey say which jobs are changed, and none of them is given");
  return {};
}

Result<std::vector<JobRecord>> edit_jobs(std::vector<JobRecord> records, const rpc::EditJobRecords& request, Uid actor, bool is_operator) {
  std::vector<JobRecord> out;
  for (JobRecord& record : records) {
    if (!is_operator && record.uid != actor)
      return fail(Errc::kAccessDenied, {}, "job " + std::to_string(record.key.id.value) + " is another user's");
    if ((request.tres_allocated || request.derived_exit_status) && !record.over() && !request.end_as)
      return fail(Errc::kError,
                  "job " + std::to_string(record.key.id.value) + " has not ended: TRES and DerivedExitCode are set after the end");
    bool different = set(record.comment, request.comment);
    different |= set(record.admin_comment, request.admin_comment);
    different |= set(record.system_comment, request.system_comment);
    different |= set(record.extra, request.extra);
    different |= set(record.wckey, request.wckey);
    if (request.wckey) different |= std::exchange(record.wckey_is_default, false);  // somebody has named it
    different |= set(record.tres_allocated, request.tres_allocated);
    different |= set(record.derived_exit_status, request.derived_exit_status);
    different |= end(record, request.end_as);
    if (different) out.push_back(std::move(record));
  }
  return out;
}

}  // namespace muster::slurmdbd
