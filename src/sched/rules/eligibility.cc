#include "sched/rules/eligibility.h"

#include <algorithm>
#include <string_view>

namespace muster::sched {
namespace {

Verdict held(const Job& job, Time) {
  Verdict v;
  if (job.priority != 0) return v;
  v.reason = job.reason != Reason::kNone ? job.reason : job.flags & kJobHeldByUser ? Reason::kJobHeldUser : Reason::kJobHeldAdmin;
  return v;
}

// The job was requeued, and its last run is still being cleaned up.
Verdict cleaning(const Job& job, Time) {
  Verdict v;
  if (job.flags & kJobCompleting) v.reason = Reason::kCleaning;
  return v;
}

Verdict dependent(const Job& job, Time) {
  Verdict v;
  if (!job.dependencies || job.dependencies->list.empty()) return v;
  const auto& list = job.dependencies->list;
  auto count = [&](DependencyState s) { return std::ranges::count_if(list, [&](const Dependency& d) { return d.state == s; }); };
  const auto all = static_cast<ptrdiff_t>(list.size());
  const auto fulfilled = count(DependencyState::kFulfilled), failed = count(DependencyState::kFailed);
  const bool any = job.dependencies->any;
  if (any ? fulfilled > 0 : fulfilled == all) return v;
  v.reason = (any ? failed == all : failed > 0) ? Reason::kDependencyNeverSatisfied : Reason::kDependency;
  return v;
}

Verdict too_early(const Job& job, Time now) {
  Verdict v;
  const Time begin = job.request ? std::max(job.eligible, job.request->begin) : job.eligible;
  if (begin <= now) return v;
  v.reason = Reason::kBeginTime;
  v.expected_start = begin;
  return v;
}

// Even with the least time that it may have, the job would not end before its deadline.
Verdict too_late(const Job& job, Time now) {
  Verdict v;
  if (job.request->deadline == Time{}) return v;
  const uint32_t least = job.request->time_min_min ? job.request->time_min_min : job.time_limit_min;
  if (now >= job.request->deadline || (least != kUnlimited32 && now + minutes(least) > job.request->deadline)) v.reason = Reason::kDeadLine;
  return v;
}

struct Rule {
  std::string_view name;
  // Reason kNone: the rule does not apply. An expected start says when to look again; without one something has to happen first.
  Verdict (*holds)(const Job&, Time now);
  // Whether the job stays in the queue and the rule is asked when its turn comes: so for what time alone may change at any moment.
  bool in_turn = false;
};

constexpr Rule kRules[] = {
    {"hold", held}, {"cleaning", cleaning}, {"dependency", dependent}, {"begin time", too_early}, {"deadline", too_late, true}};

Verdict first(const Job& job, Time now, bool in_turn) {
  for (const Rule& rule : kRules) {
    if (rule.in_turn != in_turn) continue;
    Verdict v = rule.holds(job, now);
    if (v.reason != Reason::kNone) return v;
  }
  return {};
}

}  // namespace

Verdict not_eligible(const Job& job, Time now) { return first(job, now, false); }
Verdict not_in_turn(const Job& job, Time now) { return first(job, now, true); }

}  // namespace muster::sched
