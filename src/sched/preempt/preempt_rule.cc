#include "sched/preempt/preempt_rule.h"

#include <algorithm>

#include "base/text.h"
#include "model/het.h"

namespace muster::sched {

const PreemptRule::Qos& PreemptRule::qos(const std::string& name) const {
  auto [at, fresh] = qos_.try_emplace(name);
  Qos& out = at->second;
  const QosRecord* record = fresh && cluster_->directory ? cluster_->directory->qos.find(name) : nullptr;
  if (!record) return out;
  out.preempts.insert(record->preempt.begin(), record->preempt.end());
  out.modes = record->preempt_mode.value();
  out.has_mode = out.modes.how != PreemptHow::kOff;  // CLUSTER, OFF and nothing are one
  out.over_partition = std::ranges::any_of(record->flags, [](const std::string& f) { return iequals(f, "OverPartQOS"); });
  if (auto exempt = find_limit(record->limits, LimitKind::kPreemptExemptTime)) out.exempt = seconds(static_cast<int64_t>(*exempt));
  if (auto grace = find_limit(record->limits, LimitKind::kGraceTime)) out.grace = seconds(static_cast<int64_t>(*grace));
  out.priority = find_limit(record->limits, LimitKind::kPriority).value_or(0);
  return out;
}

bool PreemptRule::preempts(const Partition& partition, const RequestBody& request) const {
  if (!rules_.preempts()) return false;
  if (rules_.by == PreemptRules::By::kQos)
    return rules_.modes.within || !qos(request.qos).preempts.empty() || qos(request.qos).modes.within;
  bool below = false;
  cluster_->partitions.for_each([&](uint32_t, const Partition& p) { below = below || p.priority_tier < partition.priority_tier; });
  return below;
}

bool PreemptRule::goes_first(const RequestBody& request) const {
  return rules_.by == PreemptRules::By::kQos && rules_.preempts() && !qos(request.qos).preempts.empty();
}

const PreemptModes& PreemptRule::modes_of(const Job& victim) const {
  if (rules_.by == PreemptRules::By::kQos) {
    const Qos& q = qos(victim.request->qos);
    return q.has_mode ? q.modes : rules_.modes;
  }
  const Partition* p = cluster_->partitions.find(victim.partition);
  return p && !p->preempt_mode.empty() ? p->preempt_mode.value() : rules_.modes;
}

template <class F>
bool PreemptRule::all_of_whole(const Job& victim, F f) const {
  if (!victim.het) return f(victim);
  for (uint32_t i = 0; i < victim.het.size; ++i) {
    const Job* j = cluster_->jobs.find(victim.het.component(i).value);
    if (j && j->het.leader == victim.het.leader && !j->finished() && !f(*j)) return false;
  }
  return true;
}

PreemptHow PreemptRule::how(const Job& victim) const {
  if (!victim.het) return how_alone(victim);
  PreemptHow most = PreemptHow::kCancel;
  const bool all = all_of_whole(victim, [&](const Job& j) {
    const PreemptHow how = how_alone(j);
    if (how == PreemptHow::kRequeue) most = how;
    return how == PreemptHow::kRequeue || how == PreemptHow::kCancel;
  });
  return all ? most : PreemptHow::kOff;
}

PreemptHow PreemptRule::how_alone(const Job& victim) const {
  if (!rules_.preempts()) return PreemptHow::kOff;
  const PreemptHow how = modes_of(victim).how;
  if (how == PreemptHow::kSuspend) {
    // Without GANG nobody would ever resume it, and OverSubscribe=NO keeps resources to one job in all cases.
    const Partition* p = cluster_->partitions.find(victim.partition);
    const bool shares = p && (p->oversubscribe == OverSubscribe::kForce || victim.allocation->oversubscribe);
    return rules_.modes.gang && shares ? how : PreemptHow::kOff;
  }
  return how == PreemptHow::kRequeue ? how_it_goes(victim) : how;
}

PreemptHow PreemptRule::how_it_goes(const Job& victim) const {
  const bool may_come_back = victim.request->kind == JobKind::kBatch &&
                             (victim.request->requeue == TriState::kDefault ? rules_.requeue : victim.request->requeue == TriState::kYes);
  return may_come_back ? PreemptHow::kRequeue : PreemptHow::kCancel;
}

Time PreemptRule::eligible_at(const Job& victim) const {
  Time last{};
  all_of_whole(victim, [&](const Job& j) {
    last = std::max(last, eligible_alone(j));
    return true;
  });
  return last;
}

Time PreemptRule::eligible_alone(const Job& victim) const {
  if (how(victim) == PreemptHow::kOff) return kTimeInfinite;
  Duration exempt = rules_.exempt;
  const Qos& own = qos(victim.request->qos);
  const Partition* p = cluster_->partitions.find(victim.partition);
  const std::optional<Duration> of_partition = p && !p->qos.empty() ? qos(to_lower(p->qos)).exempt : std::nullopt;
  const std::optional<Duration> first = own.over_partition ? own.exempt : of_partition;
  const std::optional<Duration> then = own.over_partition ? of_partition : own.exempt;
  if (first) exempt = *first;
  else if (then) exempt = *then;
  return victim.started + std::max(exempt, Duration::zero());
}

Duration PreemptRule::grace(const Job& victim) const {
  if (rules_.by == PreemptRules::By::kQos) return qos(victim.request->qos).grace;
  const Partition* p = cluster_->partitions.find(victim.partition);
  return p ? seconds(p->grace_time_seconds) : Duration();
}

uint64_t PreemptRule::rank(const Job& victim) const {
  // The guide: with GANG and preempt/partition_prio the word is ignored.
  const bool by_tiers_alone = rules_.modes.gang && rules_.by == PreemptRules::By::kPartition;
  if (rules_.youngest_first && !by_tiers_alone) {
    // The later it started, the lower its rank.
    const int64_t age = std::max<int64_t>(0, to_seconds(now_ - victim.started));
    return static_cast<uint64_t>(age);
  }
  if (rules_.by == PreemptRules::By::kQos) return qos(victim.request->qos).priority;
  const Partition* p = cluster_->partitions.find(victim.partition);
  return p ? p->priority_tier : 0;
}

// Whether a label, or nodes kept for one user, keep the two from each other's place.
bool PreemptRule::kept_apart(const Preemptor& who, const Job& victim) {
  const RequestBody& theirs = *victim.request;
  if ((!who.request.mcs_label.empty() || !theirs.mcs_label.empty()) && who.request.mcs_label != theirs.mcs_label) return true;
  if (who.request.uid == theirs.uid) return false;
  if (victim.allocation->exclusive_user) return true;
  return who.exclusive_user && !victim.allocation->whole_nodes;
}

bool PreemptRule::may_by_qos(const Preemptor& who, const Job& victim, const PreemptModes& modes) const {
  const std::string& theirs = victim.request->qos;
  if (theirs == who.request.qos) {
    const bool within = rules_.modes.within || qos(theirs).modes.within;
    if (!within || who.priority <= victim.priority) return false;
  } else if (!qos(who.request.qos).preempts.contains(theirs)) {
    return false;
  }
  if (modes.how != PreemptHow::kSuspend) return true;
  const Partition* p = cluster_->partitions.find(victim.partition);
  return p && (p->index == who.partition.index || who.partition.priority_tier > p->priority_tier);
}

bool PreemptRule::may_ever(const Preemptor& who, const Job& victim) const {
  if (who.component && how(victim) == PreemptHow::kSuspend) return false;
  return all_of_whole(victim, [&](const Job& j) { return may_alone(who, j); });
}

bool PreemptRule::may_alone(const Preemptor& who, const Job& victim) const {
  if (!victim.allocation || victim.is_preempted() || (victim.state != JobState::kRunning && !victim.waits_for_turn())) return false;
  if (how(victim) == PreemptHow::kOff || kept_apart(who, victim)) return false;
  if (rules_.min_exempt_priority != kUnlimited32 && victim.priority >= rules_.min_exempt_priority) return false;
  const PreemptModes& modes = modes_of(victim);
  const bool by_priority =
      rules_.modes.priority || modes.priority || (rules_.by == PreemptRules::By::kQos && qos(victim.request->qos).modes.priority);
  if (by_priority && who.priority <= victim.priority) return false;
  if (rules_.by == PreemptRules::By::kQos) return may_by_qos(who, victim, modes);
  const Partition* p = cluster_->partitions.find(victim.partition);
  return p && p->priority_tier < who.partition.priority_tier;
}

}  // namespace muster::sched
