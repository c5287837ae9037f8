#include "slurmdbd/core/edit_jobs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "slurmdbd/core/names.h"

namespace muster::slurmdbd {
namespace {

template <class T, class U>
bool set(T& field, const std::optional<U>& value) {
  if (!value || field == *value) return false;
  field = *value;
  return true;
}

void set_count(std::optional<uint64_t>& amount, const std::optional<uint64_t>& value) {
  if (value) amount = value;
}

// Sets those amounts that are listed, and leaves the others.
bool set_amounts(TresAmounts& amounts, const TresAmounts& wanted) {
  const TresAmounts before = amounts;
  set_count(amounts.cpus, wanted.cpus);
  set_count(amounts.mem_mb, wanted.mem_mb);
  set_count(amounts.nodes, wanted.nodes);
  set_count(amounts.billing, wanted.billing);
  set_count(amounts.energy, wanted.energy);
  const auto place = [](const GresAmount& g) { return std::tuple(!g.type.empty(), g.name, g.type); };  // the order of add_gres()
  for (const GresAmount& g : wanted.gres) {
    std::erase_if(amounts.gres, [&](const GresAmount& known) { return place(known) == place(g); });
    amounts.gres.insert(std::ranges::lower_bound(amounts.gres, place(g), {}, place), g);
  }
  for (const LicenseShare& l : wanted.licenses) {
    const auto known = std::ranges::find(amounts.licenses, l.name, &LicenseShare::name);
    if (known == amounts.licenses.end()) amounts.licenses.push_back(l);
    else known->count = l.count;
  }
  return !(amounts == before);
}

Result<> check_amounts(const TresAmounts& amounts, const Directory& directory) {
  std::string unknown;
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t) {
    const bool known = std::ranges::any_of(directory.tres, [&](const auto& t) { return t.second.type == kind && t.second.name == name; });
    if (!known) unknown = name.empty() ? std::string(kind) : std::string(kind) + "/" + std::string(name);
  });
  if (amounts.empty()) return fail(Errc::kError, "TRES: none is named");
  if (unknown.empty()) return {};
  return fail(Errc::kError, "TRES '" + unknown + "' is not known",
              "sacctmgr show tres lists those that are; AccountingStorageTRES of slurm.conf adds others");
}

// sacctmgr(1) SPECIFICATIONS FOR JOB: StartTime, EndTime. Runaway jobs have no end yet.
bool is_within(const JobRecord& record, const rpc::EditJobRecords& request) {
  const rpc::JobRecordFilter& where = request.where;
  if (request.end_as) return true;
  if (where.from != kTimeUnset && (record.started == kTimeUnset || record.started < where.from)) return false;
  return where.until == kTimeUnset || (record.ended != kTimeUnset && record.ended < where.until);
}

// A runaway job ended, as far as is known, at the last moment that anything was heard of it.
bool end(JobRecord& r, const std::optional<JobState>& state) {
  if (!state || r.over()) return false;
  r.state = *state;
  r.ended = std::max({r.started, r.eligible, r.key.submitted});
  return true;
}

}  // namespace

Result<> check_job_edit(const rpc::EditJobRecords& edit, bool is_operator, const Settings& settings, const Directory& directory) {
  const bool privileged = edit.admin_comment || edit.system_comment || edit.wckey || edit.tres_allocated || edit.end_as;
  if (!privileged && !edit.comment && !edit.extra && !edit.derived_exit_status) return fail(Errc::kError, "modify job: nothing to set");
  if (privileged && !is_operator)
    return fail(Errc::kAccessDenied, {}, "users may set Comment, Extra and DerivedExitCode of their own jobs");
  if (edit.end_as && *edit.end_as != JobState::kCompleted && *edit.end_as != JobState::kFailed)
    return fail(Errc::kError, "EndState: is one of Completed, Failed");
  if (edit.where.jobs.empty() && edit.where.users.empty() && edit.where.wckeys.empty())
    return fail(Errc::kError, "modify job: JobID, User or WCKey say which jobs are changed, and none of them is given");
  if (edit.wckey && !settings.tracks_wckeys)
    return fail(Errc::kError, "NewWCKey: wckeys of jobs are not tracked, for slurmdbd.conf has no TrackWCKey=yes");
  if (edit.wckey && !edit.wckey->empty()) MUSTER_TRY_VOID(check_new_wckey("NewWCKey", *edit.wckey));
  if (std::ranges::any_of(edit.where.jobs, &rpc::JobSelector::has_step))
    return fail(Errc::kError, "JobID: names a step, and records of jobs are modified");
  if (edit.tres_allocated) return check_amounts(*edit.tres_allocated, directory);
  return {};
}

Result<rpc::JobRecordFilter> jobs_to_edit(const rpc::EditJobRecords& request, Uid actor, bool is_operator) {
  rpc::JobRecordFilter out = request.where;
  if (is_operator) return out;
  if (std::ranges::any_of(out.users, [&](Uid named) { return named != actor; }))
    return fail(Errc::kAccessDenied, {}, "User: those who are no operators change their own jobs alone");
  out.users = {actor};
  return out;
}

size_t text_bytes(const JobRecord& record) {
  return record.comment.size() + record.admin_comment.size() + record.system_comment.size() + record.extra.size() +
         record.submit_line.size();
}
size_t text_bytes(const rpc::EditJobRecords& request) {
  size_t bytes = 0;
  for (const auto* text : {&request.comment, &request.admin_comment, &request.system_comment, &request.extra})
    if (*text) bytes += (*text)->size();
  return bytes;
}
Result<> check_edited_bytes(size_t bytes) {
  if (bytes <= kMostEditedBytes) return {};
  return fail(Errc::kResultTooLarge, "comments and the like of these jobs are more than " + std::to_string(kMostEditedBytes) + " bytes",
              "StartTime and EndTime, or JobID, say fewer jobs");
}

Result<std::vector<JobRecord>> edit_jobs(std::vector<JobRecord> records, const rpc::EditJobRecords& request, Uid actor, bool is_operator) {
  std::vector<JobRecord> out;
  for (JobRecord& record : records) {
    if (!is_within(record, request)) continue;
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
    if (request.tres_allocated) different |= set_amounts(record.tres_allocated, *request.tres_allocated);
    different |= set(record.derived_exit_status, request.derived_exit_status);
    different |= end(record, request.end_as);
    if (different) out.push_back(std::move(record));
  }
  return out;
}

}  // namespace muster::slurmdbd
