#include "slurmctld/core/accrual.h"

#include <algorithm>
#include <map>

#include "acct/limits.h"
#include "model/account_directory.h"
#include "model/stopped_age.h"
#include "sched/gate.h"
#include "sched/queue/priority.h"

namespace muster::slurmctld {
namespace {

constexpr LimitKind kOfAccrual[] = {LimitKind::kGrpJobsAccrue, LimitKind::kMaxJobsAccrue, LimitKind::kMaxJobsAccruePerAccount,
                                    LimitKind::kMaxJobsAccruePerUser};

}  // namespace

bool takes_turns(const Cluster& cluster) {
  if (!cluster.directory) return false;
  const AccountDirectory& directory = *cluster.directory;
  bool found = false;
  auto look = [&](const std::vector<Limit>& limits) {
    for (const Limit& l : limits) found |= std::ranges::find(kOfAccrual, l.kind) != std::end(kOfAccrual);
  };
  directory.associations.for_each([&](uint32_t, const AssociationRecord& a) { look(a.limits); });
  directory.qos.for_each([&](const std::string&, const QosRecord& q) { look(q.limits); });
  return found;
}

bool is_of_partition_limit(Reason reason) { return reason == Reason::kPartitionTimeLimit || reason == Reason::kPartitionNodeLimit; }

bool waits_its_turn(const Job& job, Time now) {
  return job.pending() && job.priority != 0 && !job.dependencies && job.eligible != kTimeUnset && job.eligible <= now;
}

bool is_eligible_anew(const View& v, const Job& job, const event::JobChanged& e) {
  if (e.dependencies) return false;
  if (e.eligible == kTimeUnset) return true;
  return job.pending() && job.priority == 0 && e.eligible <= v.now && !v.cluster.cron_jobs.contains(job.id.value);
}

CountsFor CountsFor::of(const Job& job) {
  return {job.association, job.partition, job.request->uid, job.request->account, job.request->qos};
}

void count_accruing(Ledger& ledger, const Cluster& cluster, const Job& job, uint32_t jobs) {
  const Charge was = Charge::of(job, cluster.partitions);
  Charge is = was;
  is.accruing = jobs;
  ledger.take(was, cluster.directory.get(), cluster.tres_table());
  ledger.add(is, cluster.directory.get(), cluster.tres_table());
}

namespace {

bool is_withheld(const Cluster& cluster, const Job& job) {
  const Verdict* verdict = cluster.moment.verdicts.find(job.id.value);
  return verdict && is_of_partition_limit(verdict->reason);
}

class Turns {
 public:
  explicit Turns(const View& v) : v_(v), limited_(takes_turns(v.cluster)), ledger_(v.cluster.ledger) {}

  Events run() {
    std::vector<const Job*> waiting;
    v_.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      if (!waits_its_turn(j, v_.now)) return;
      if (is_withheld(v_.cluster, j)) {
        if (!stopped_age(j.accrues)) stop(j);
      } else if (stopped_age(j.accrues)) waiting.push_back(&j);
      else if (j.accrues == kTimeUnset && limited_ && bounded(j)) begin(j, before_);  // it was there before the limit, and keeps its age
    });
    std::ranges::stable_sort(waiting, {}, &Job::eligible);
    for (const Job* j : waiting)
      if (!acct::first_exceeded(bounds_of(*j), {v_.cluster, ledger_, v_.now}, {}, acct::kToAccrue))
        begin(*j, from_[v_.now - *stopped_age(j->accrues)]);
    Events out;
    if (!before_.empty()) out.push_back(event::JobsAccrue{std::move(before_), v_.now, true});
    for (auto& [since, jobs] : from_) out.push_back(event::JobsAccrue{std::move(jobs), since, false});
    return out;
  }

 private:
  const std::vector<acct::Bound>& bounds_of(const Job& j) {
    auto [at, fresh] = bounds_.try_emplace(CountsFor::of(j));
    if (fresh) at->second = acct::bounds_on(v_.cluster, sched::limits_held(v_.settings.sched), j);
    return at->second;
  }
  bool bounded(const Job& j) { return acct::any_asked(bounds_of(j), acct::kToAccrue); }
  void begin(const Job& j, std::vector<JobId>& list) {
    list.push_back(j.id);
    count_accruing(ledger_, v_.cluster, j, 1);
  }

  // Its age stays what it is in this period.
  void stop(const Job& j) {
    const Time since = sched::PriorityRule(v_.cluster, v_.settings.priority, v_.now).age_from(j);
    from_[stopped_at(period_start(v_.now, v_.settings.priority.period) - since)].push_back(j.id);
    count_accruing(ledger_, v_.cluster, j, 0);
  }

  const View& v_;
  const bool limited_;
  Ledger ledger_;  // with those whose turn it is
  std::map<CountsFor, std::vector<acct::Bound>> bounds_;
  std::vector<JobId> before_;
  std::map<Time, std::vector<JobId>> from_;  // by Job::accrues
};

}  // namespace

Events decide_accrual(const View& v) {
  if (!v.settings.priority.multifactor || v.settings.priority.accrue_always) return {};
  return Turns(v).run();
}

}  // namespace muster::slurmctld
