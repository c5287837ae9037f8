// Jobs of crontabs: a user's file and its jobs are replaced as a whole, and a job of an entry comes again and again under one number.
// scrontab(1). When a run is over, the next one is due at the first time of the entry after that moment, so runs never overlap and those
// that were missed are left out.
//
// A file that cannot be had as a whole changes nothing: its entries are tried on a cluster without the old jobs before these go.
#include <algorithm>
#include <utility>

#include "model/crontab.h"
#include "slurmctld/core/core.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/job_shares.h"

namespace muster::slurmctld {
namespace {

bool enabled(const View& v) { return v.settings.config().scron_parameters.has("enable"); }

std::unexpected<Error> at_line(const CrontabChange::Entry& entry, const Error& e) {
  return fail(e.code, "line " + std::to_string(entry.last_line) + ": " + std::string(e.message()), e.hint);
}

// A job that comes again has no place for what is said of one run alone.
Result<> check_entry(const CrontabChange& c, const CrontabChange::Entry& entry) {
  const JobRequest& r = entry.request;
  if (r.uid != c.user) return fail(Errc::kUserIdMissing, {}, "the job is another user's than the crontab");
  if (!entry.times.parsed()) return std::unexpected(entry.times.parsed().error());
  if (entry.times.empty()) return fail(Errc::kInvalidTime, {}, "it says no time");
  if (entry.first_line == 0 || entry.first_line > entry.last_line)
    return fail(Errc::kInvalidArgument, {}, "an entry has lines, counted from 1");
  if (!r.array.empty()) return fail(Errc::kInvalidArray, {}, "--array: a job of a crontab is one job");
  if (r.deadline != kTimeUnset) return fail(Errc::kInvalidTime, {}, "--deadline: a job of a crontab comes again and again");
  if (r.immediate_seconds) return fail(Errc::kInvalidArgument, {}, "--immediate: a job of a crontab waits for its time");
  return {};
}

// The job that an entry asks for, which waits for the entry's next time.
JobRequest job_of(const View& v, const CrontabChange::Entry& entry) {
  JobRequest r = entry.request;
  r.begin = entry.times->next(v.now).value_or(kTimeInfinite);
  r.requeue = TriState::kYes;  // it comes again whatever JobRequeue says
  return r;
}

// The jobs of the user's crontab that are queued.
std::vector<JobId> jobs_before(const Cluster& cluster, Uid user) {
  std::vector<JobId> out;
  cluster.cron_jobs.for_each([&](uint32_t id, const CronJob& entry) {
    const Job* j = cluster.jobs.find(id);
    if (j && !entry.over && j->request->uid == user) out.push_back(JobId(id));
  });
  return out;
}

// Whether all entries would be let into the queue, in the place of those before: nothing is given up for a crontab that is refused.
Result<> try_entries(const View& view, const CrontabChange& change) {
  if (change.entries.empty()) return {};
  MUSTER_TRY_VOID(
      make_room(view.indexes, change.user, static_cast<uint32_t>(change.entries.size()), view.settings.config().max_job_count, view.now));
  Cluster ahead = view.cluster;
  for (JobId id : jobs_before(ahead, change.user))
    if (const Job& j = view.cluster.jobs.at(id.value); j.pending()) ahead.recharge(Charge::of(j, ahead.partitions), {}, view.now);
  const View with{ahead, view.indexes, view.settings, view.feasibility, view.now, view.caller, view.of_job};
  MUSTER_TRY(id, JobIds(view.cluster, view.settings.config()).next());
  for (const CrontabChange::Entry& entry : change.entries) {
    if (Result<> ok = check_entry(change, entry); !ok) return at_line(entry, ok.error());
    auto accepted = accept_request(with, job_of(view, entry));
    if (!accepted) return at_line(entry, accepted.error());
    Events unused;
    if (Result<> ok = submit_as(with, id, {}, *accepted, unused); !ok) return at_line(entry, ok.error());
    count_submitted(ahead, id, *accepted, view.now);
  }
  return {};
}

}  // namespace

Result<Decision<CrontabOutcome>> decide(const View& view, const CrontabChange& change) {
  if (!enabled(view))
    return fail(Errc::kDisabled, "scrontab is disabled on this cluster", "ScronParameters=enable in slurm.conf allows it");
  if (change.user != view.caller.uid && !view.may(Right::kEditCrontabs))
    return fail(Errc::kAccessDenied, {}, "only root and SlurmUser may change another user's crontab");
  if (change.text.size() > Crontab::kMostBytes)
    return fail(Errc::kInvalidArgument, "the crontab has more than " + std::to_string(Crontab::kMostBytes) + " bytes");
  // Others read it, too: an administrator lists it on a terminal.
  if (std::ranges::any_of(change.text,
                          [](char x) { return x == 0x7f || (static_cast<unsigned char>(x) < ' ' && x != '\n' && x != '\t' && x != '\r'); }))
    return fail(Errc::kInvalidArgument, "the crontab has a control character");
  if (change.entries.size() > Crontab::kMostEntries)
    return fail(Errc::kInvalidArgument, "the crontab has more than " + std::to_string(Crontab::kMostEntries) + " entries");
  if (change.text.empty() && !change.entries.empty()) return fail(Errc::kInvalidArgument, "jobs without a crontab");
  MUSTER_TRY_VOID(try_entries(view, change));
  return Decision<CrontabOutcome>{};
}

void Core::finish(const CrontabChange& change, Decision<CrontabOutcome>& decision, size_t) {
  const auto view = [&] { return View{cluster_, indexes_, settings_, feasibility_, now_, change.who}; };
  const auto give_up = [&](const std::vector<JobId>& jobs) {
    for (JobId id : jobs) {
      Events out{event::CronJobOver{id, false}};
      Ending ending;
      ending.asked = true;
      if (const Job& j = cluster_.jobs.at(id.value); j.pending()) end_job(view(), j, ending, out);
      take(std::move(out));
    }
  };
  give_up(jobs_before(cluster_, change.user));
  for (const CrontabChange::Entry& entry : change.entries) {
    auto made = decide(view(), job_of(own(), entry));
    if (!made) {  // decide() has tried them all, so it is not to be expected. Text and jobs agree in any case: there are none
      give_up(std::exchange(decision.reply.jobs, {}));
      decision.reply.refused = at_line(entry, made.error()).error();
      take(Events{event::CrontabInstalled{change.user, ""}});
      return;
    }
    take(std::move(made->events));
    take(Events{event::CronJobMade{{made->reply.job, entry.times, entry.first_line, entry.last_line, false}}});
    decision.reply.jobs.push_back(made->reply.job);
  }
  take(Events{event::CrontabInstalled{change.user, change.text}});
}

const CronJob* recurrence_of(const Cluster& cluster, const Job& job) {
  const CronJob* entry = cluster.cron_jobs.find(job.id.value);
  if (!entry || entry->over) return nullptr;
  if (!job.finished() || (job.flags & (kJobRequeued | kJobRequeueHold))) return entry;
  // What ended before it ran ended for a reason that will not go away by itself.
  const bool ended_by_user = job.state == JobState::kCancelled && job.cancel_asked;
  return job.allocation && !ended_by_user ? entry : nullptr;
}

Time earliest_start(const View& v, const Job& job) {
  const CronJob* entry = v.cluster.cron_jobs.find(job.id.value);
  if (!entry || entry->over) return std::max(v.now, job.request->begin);
  return entry->times->next(v.now).value_or(kTimeInfinite);
}

void skip_next_run(const View& v, const Job& job, Events& out) {
  const CronJob& entry = v.cluster.cron_jobs.at(job.id.value);
  event::JobChanged e = changed(job);
  e.eligible = entry.times->next(std::max(v.now, job.eligible)).value_or(kTimeInfinite);
  if (job.priority > 0) e.reason = waiting_reason(v, job.dependencies.get(), e.eligible);
  out.push_back(std::move(e));
}

void settle_crontab(const View& v, const Job& job, Events& out) {
  const CronJob* entry = v.cluster.cron_jobs.find(job.id.value);
  if (entry && !entry->over && job.finished() && !recurrence_of(v.cluster, job)) out.push_back(event::CronJobOver{job.id, true});
}

bool needs_cron_flag(const View& v, const Job& job, const rpc::SignalJobs& command) {
  if (command.cron || !v.settings.config().scron_parameters.has("explicit_scancel")) return false;
  const CronJob* entry = v.cluster.cron_jobs.find(job.id.value);
  return entry && !entry->over;
}

}  // namespace muster::slurmctld
