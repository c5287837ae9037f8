#include "slurmctld/core/minute_watch.h"

#include <algorithm>
#include <tuple>

#include "acct/exhaustion.h"
#include "model/account_directory.h"
#include "sched/gate.h"

namespace muster::slurmctld {
namespace {

constexpr LimitKind kOfMinutes[] = {LimitKind::kGrpTresMins, LimitKind::kGrpWall, LimitKind::kMaxTresMinsPerJob};

bool any_set(const Cluster& cluster) {
  bool found = false;
  auto look = [&](const std::vector<Limit>& limits) {
    for (const Limit& l : limits) found |= std::ranges::find(kOfMinutes, l.kind) != std::end(kOfMinutes);
  };
  cluster.directory->associations.for_each([&](uint32_t, const AssociationRecord& a) { look(a.limits); });
  cluster.directory->qos.for_each([&](const std::string&, const QosRecord& q) { look(q.limits); });
  return found;
}

bool runs(const Job* job) { return job && !job->pending() && !job->finished(); }

// The limits that bind jobs, gathered once for all that are alike.
class Parties {
 public:
  explicit Parties(const View& v) : v_(v) {}
  const std::vector<acct::Bound>& bounds_on(const Job& j) {
    const RequestBody& r = *j.request;
    auto [at, fresh] = bounds_.try_emplace({j.association, j.partition, r.uid.value, r.account, r.qos});
    if (fresh) at->second = acct::bounds_on(v_.cluster, sched::limits_held(v_.settings.sched), j);
    return at->second;
  }

 private:
  const View& v_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string, std::string>, std::vector<acct::Bound>> bounds_;
};

std::vector<MinuteWatch::Whom> holders_of(const View& v, const Job& job) {
  std::vector<MinuteWatch::Whom> out;
  for (uint32_t id : line_of(v.cluster.directory.get(), job.association)) out.push_back({id, {}, {}});
  Charge::of(job, v.cluster.partitions).each_qos([&](std::string_view qos) { out.push_back({0, std::string(qos), {}}); });
  return out;
}

Holder holder_of(const MinuteWatch::Whom& whom) { return whom.association ? Holder::association(whom.association) : Holder::qos(whom.qos); }

}  // namespace

void MinuteWatch::rebuild(const View& view) {
  times_.clear();
  queue_.clear();
  const acct::Enforcement& enforcement = view.settings.sched.enforcement;
  on_ = enforcement.limits && !enforcement.safe && view.cluster.directory && any_set(view.cluster);
  if (!on_) return;
  Parties parties(view);
  std::set<Whom> seen;
  view.cluster.jobs.for_each([&](uint32_t, const Job& j) {
    if (!runs(&j)) return;
    for (const Whom& whom : holders_of(view, j))
      if (seen.insert(whom).second) look_again(view, whom);
    const std::vector<acct::Bound>& bounds = parties.bounds_on(j);
    // Limits may have been lowered, or the controller may have been away.
    set({0, {}, j.id}, acct::used_up(bounds, view.cluster, j, view.now) ? view.now : acct::uses_up_own_at(bounds, view.cluster, j));
  });
}

void MinuteWatch::touch(const View& v, const Job* was, const Job* is) {
  if (!on_ || (!runs(was) && !runs(is))) return;
  for (const Job* job : {was, is})
    if (runs(job))
      for (const Whom& whom : holders_of(v, *job)) look_again(v, whom);
  if (runs(is)) look_at(v, *is);
  else set({0, {}, was->id}, kTimeInfinite);
}

std::vector<MinuteWatch::Whom> MinuteWatch::take_due(Time now) {
  std::vector<Whom> out;
  while (!queue_.empty() && queue_.begin()->first <= now) {
    out.push_back(queue_.begin()->second);
    set(out.back(), kTimeInfinite);
  }
  return out;
}

void MinuteWatch::look_again(const View& v, const Whom& whom) {
  if (!whom.job) return set(whom, acct::used_up_at(v.cluster, holder_of(whom), v.now));
  const Job* job = v.cluster.jobs.find(whom.job.value);
  if (runs(job)) look_at(v, *job);
}

void MinuteWatch::set(const Whom& whom, Time at) {
  if (auto known = times_.find(whom); known != times_.end()) {
    queue_.erase({known->second, whom});
    times_.erase(known);
  }
  if (at == kTimeInfinite) return;
  times_[whom] = at;
  queue_.insert({at, whom});
}

// A moment that has passed was looked at when it came: the job goes on because another limit took the place of this one.
void MinuteWatch::look_at(const View& v, const Job& job) {
  const auto bounds = acct::bounds_on(v.cluster, sched::limits_held(v.settings.sched), job);
  const Time at = acct::uses_up_own_at(bounds, v.cluster, job);
  set({0, {}, job.id}, at);
}

void end_used_up(const View& view, const MinuteWatch::Whom& whom, Events& out) {
  Parties parties(view);
  auto look = [&](const Job& j) {
    if (j.state != JobState::kRunning && j.state != JobState::kSuspended) return;
    const auto over = acct::used_up(parties.bounds_on(j), view.cluster, j, view.now);
    if (!over) return;
    Ending e;
    e.state = JobState::kTimeout;
    e.reason = over->reason(view.cluster.tres_table());
    e.detail = over->detail(view.cluster.tres_table());
    end_job(view, j, e, out);
  };
  if (whom.job) {
    if (const Job* j = view.cluster.jobs.find(whom.job.value)) look(*j);
    return;
  }
  const Holder holder = holder_of(whom);
  view.cluster.jobs.for_each([&](uint32_t, const Job& j) {
    if (runs(&j) && counts_for(Charge::of(j, view.cluster.partitions), holder, view.cluster.directory.get())) look(j);
  });
}

}  // namespace muster::slurmctld
