// Which mails an event calls for: --mail-type of the job. Their text is slurmctld/daemon/mail_text.h's. sbatch(1).
#include "model/mail.h"

#include "slurmctld/core/core.h"

namespace muster::slurmctld {
namespace {

class Mails {
 public:
  Mails(const Cluster& before, const Cluster& cluster) : before_(before), cluster_(cluster) {}

  template <class E>
  void operator()(const E&) {}
  void operator()(const event::JobSubmitted& e) { never_satisfied(e.job, e.reason); }
  void operator()(const event::JobChanged& e) { never_satisfied(e.job, e.reason); }
  void operator()(const event::JobStarted& e) {
    if (const Job* j = wants(e.task_job ? e.task_job : e.job, kMailBegin)) add(*j, kMailBegin);
  }
  void operator()(const event::JobEnding& ending) {
    if (ending.array_task != kNoArrayTask && !ending.task_job) return;  // it never ran
    JobId id = ending.task_job ? ending.task_job : ending.job;
    never_satisfied(id, ending.reason);
    const Job* job = wants(id, kMailEnd | kMailFail | kMailRequeue | kMailTimeLimit);
    if (!job) return;
    uint16_t asked = job->request->mail_type;
    if (ending.flags & (kJobRequeued | kJobRequeueHold)) {
      if ((asked & kMailRequeue) && !summary(*job)) add(*job, kMailRequeue);
      return;
    }
    bool failed = ending.state >= JobState::kFailed && ending.state != JobState::kPreempted;
    if (summary(*job)) failed = cluster_.arrays.at(job->array_job_id.value).ended_bad > 0;
    if (ending.state == JobState::kTimeout && (asked & kMailTimeLimit) && !summary(*job)) add(*job, kMailTimeLimit);
    // END is for ends that are no failures: whoever wants both says so.
    uint16_t what = failed ? kMailFail : kMailEnd;
    if (asked & what) add(*job, what);
  }
  void operator()(const event::JobWarned& e) {
    uint16_t what = e.what == kWarnedHalf ? kMailTimeLimit50
                    : e.what == kWarned80 ? kMailTimeLimit80
                    : e.what == kWarned90 ? kMailTimeLimit90
                                          : 0;
    if (const Job* j = wants(e.job, what)) add(*j, what);
  }
  std::vector<SendMail> take() { return std::move(out_); }

 private:
  const Job* wants(JobId id, unsigned types) const {
    const Job* j = cluster_.jobs.find(id.value);
    return j && j->het.offset == 0 && (j->request->mail_type & types) ? j : nullptr;  // of components the first one's alone
  }
  // Mails are about an array as a whole, unless ARRAY_TASKS asks for a mail for each task.
  static bool summary(const Job& j) { return j.array_job_id && !(j.request->mail_type & kMailArrayTasks); }

  void never_satisfied(JobId id, Reason reason) {
    if (reason != Reason::kDependencyNeverSatisfied) return;
    const Job* old = before_.jobs.find(id.value);
    if (old && old->reason == reason) return;
    if (const Job* j = wants(id, kMailInvalidDepend)) out_.push_back({*j, kMailInvalidDepend, false, {}});
  }
  void add(const Job& j, uint16_t what) {
    SendMail mail{j, what, summary(j), {}};
    if (mail.array) {
      mail.group = cluster_.arrays.at(j.array_job_id.value);
      const ArrayGroup& g = mail.group;
      uint32_t ended = g.ended_ok + g.ended_bad;
      // An array begins with its first task and ends with its last.
      if (what == kMailBegin ? g.running != 1 || ended != 0 || j.restarts != 0 : ended < g.total) return;
    }
    out_.push_back(std::move(mail));
  }

  const Cluster& before_;
  const Cluster& cluster_;
  std::vector<SendMail> out_;
};

}  // namespace

std::vector<SendMail> mails_for(const Cluster& before, const Cluster& cluster, const Event& event) {
  Mails mails(before, cluster);
  std::visit(mails, event);
  return mails.take();
}

}  // namespace muster::slurmctld
