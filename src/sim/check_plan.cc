// A planner with caches plans the same as a fresh one, reasons and expected starts included.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/world.h"

namespace muster::sim {
namespace {

// The first job that only the fresh plan starts, and what the other says of it: "job 12 (Priority): ".
std::string fresh_start_missed(const sched::Plan& plan, const sched::Plan& fresh) {
  for (const sched::StartItem& item : fresh.starts) {
    if (std::ranges::find(plan.starts, item.job, &sched::StartItem::job) != plan.starts.end()) continue;
    const auto verdict = std::ranges::find(plan.verdicts, item.job, [](const auto& v) { return v.first; });
    const std::string why = verdict == plan.verdicts.end() ? "not looked at" : std::string(reason_name(verdict->second.reason));
    return "job " + std::to_string(item.job.value) + " (" + why + "): ";
  }
  return "";
}

}  // namespace

void Checkers::planned(const Cluster& cluster, const sched::Params& params, Time now, sched::Pass pass, const sched::Plan& plan) {
  sched::Plan fresh = sched::Planner().plan(cluster, params, now, pass);
  bool same = fresh.starts.size() == plan.starts.size();
  for (size_t i = 0; same && i < plan.starts.size(); ++i) {
    const sched::StartItem &a = plan.starts[i], &b = fresh.starts[i];
    same = a.job == b.job && a.array_task == b.array_task && a.partition == b.partition && *a.allocation == *b.allocation &&
           a.together.size() == b.together.size();
    for (size_t k = 0; same && k < a.together.size(); ++k)
      same = a.together[k].job == b.together[k].job && *a.together[k].allocation == *b.together[k].allocation;
  }
  auto expected = [](const sched::Plan& p) {
    std::map<uint32_t, std::pair<Reason, Time>> out;
    for (const auto& [id, verdict] : p.verdicts) out[id.value] = {verdict.reason, verdict.expected_start};
    return out;
  };
  if (same && expected(plan) != expected(fresh)) fail("plan", "the planner gives other reasons or expected starts than a fresh one");
  auto claims = [](const sched::Plan& p) {
    std::map<uint32_t, std::vector<JobId>> out;
    for (const sched::PreemptItem& item : p.preemptions) out[item.job.value] = item.victims;
    return out;
  };
  if (same && claims(plan) != claims(fresh)) fail("plan", "the planner lets others make room than a fresh one");
  if (!same)
    fail("plan", fresh_start_missed(plan, fresh) + "the planner starts " + std::to_string(plan.starts.size()) + " jobs, a fresh one " +
                     std::to_string(fresh.starts.size()) + ", or elsewhere");
}

}  // namespace muster::sim
