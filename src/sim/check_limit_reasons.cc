#include "sim/check_limit_reasons.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "sim/free_room.h"
#include "sim/limit_sums.h"
#include "sim/queue_order.h"

namespace muster::sim {
namespace {

using enum LimitKind;
using Kinds = std::vector<LimitKind>;

// What a part of a reason's name says of the kind of limit; the first that is found says it.
const std::pair<std::string_view, Kinds> kMeanings[] = {
    {"Submit", {}},  // such a job is refused
    {"WallDurationPerJob", {kMaxWall}},
    {"GrpWall", {kGrpWall}},
    {"JobsPerUser", {kMaxJobsPerUser}},
    {"JobsPerAccount", {kMaxJobsPerAccount}},
    {"GrpJobs", {kGrpJobs}},
    {"MaxJobs", {kMaxJobs}},
    {"RunMinutes", {kGrpTresRunMins}},
    {"MinutesPerJob", {kMaxTresMinsPerJob}},
    {"Minutes", {kGrpTresMins}},
    {"PerJob", {kMaxTresPerJob}},
    {"PerNode", {kMaxTresPerNode}},
    {"PerUser", {kMaxTresPerUser, kMaxTresRunMinsPerUser}},
    {"PerAccount", {kMaxTresPerAccount, kMaxTresRunMinsPerAccount}},
    {"QOSMin", {kMinTresPerJob}},
    {"Grp", {kGrpTres}},
};

const Kinds* kinds_of(std::string_view reason) {
  const bool of_limit = reason.starts_with("Assoc") || reason.starts_with("QOSGrp") || reason.starts_with("QOSM") ||
                        (reason.starts_with("Max") && reason.ends_with("PerAccount"));
  for (const auto& [part, kinds] : kMeanings)
    if (of_limit && reason.find(part) != std::string_view::npos) return &kinds;
  return nullptr;
}

// The TRES that the name of a reason is about: "cpu", "gres/" for all GRES …; "": it is about none.
std::string tres_of(std::string_view reason) {
  std::string name(reason);
  if (const size_t at = name.find("PerNode"); at != std::string::npos) name.resize(at);  // the node of these is no TRES
  const std::pair<std::string_view, std::string_view> words[] = {
      {"Cpu", "cpu"}, {"CPU", "cpu"}, {"Mem", "mem"}, {"Node", "node"}, {"Billing", "billing"}, {"GRES", "gres/"}, {"License", "license/"}};
  for (const auto& [word, tres] : words)
    if (name.find(word) != std::string::npos) return std::string(tres);
  return {};
}

bool names(const std::string& tres, const Limit& limit) {
  if (limit.tres.empty()) return tres.empty();
  return !tres.empty() && (tres.ends_with('/') ? limit.tres.starts_with(tres) : limit.tres == tres);
}

uint64_t most_minutes(const Job& job) { return job.time_limit_min == kUnlimited32 ? 365 * 24 * 60 : job.time_limit_min; }

// The components of a heterogeneous job start together, so what they take adds up.
uint64_t most_together(const LimitQuestion& question, const Limit& limit) {
  const bool of_node = limit.kind == kMaxTresPerNode;
  if (!question.job.het) return most_wanted(question.cluster, *question.job.request, question.partition, limit.tres, of_node);
  uint64_t out = 0;
  for (uint32_t i = 0; i < question.job.het.size; ++i) {
    const Job* one = question.cluster.jobs.find(question.job.het.component(i).value);
    uint64_t most = 0;
    for (const Partition* p : one ? asked_partitions(question.cluster, *one) : std::vector<const Partition*>())
      most = std::max(most, most_wanted(question.cluster, *one->request, *p, limit.tres, of_node));
    out = add_sat(out, most);
  }
  return out;
}

// With the most that the job may take; what a job takes none of, it does not wait for.
bool is_reached(const LimitQuestion& question, const BoundBy& bound) {
  const Limit& limit = bound.limit;
  const LimitSums sums(question.cluster, bound, *question.job.request, true);
  const uint64_t jobs = question.job.het ? question.job.het.size : 1;
  const uint64_t most = limit.tres.empty() ? jobs : most_together(question, limit);
  switch (limit.kind) {
    case kGrpJobs:
    case kMaxJobs:
    case kMaxJobsPerUser:
    case kMaxJobsPerAccount: return sums.running() + jobs > limit.value;
    case kGrpTres:
    case kMaxTresPerUser:
    case kMaxTresPerAccount: return most > 0 && add_sat(sums.held(limit.tres), most) > limit.value;
    case kGrpTresRunMins:
    case kMaxTresRunMinsPerUser:
    case kMaxTresRunMinsPerAccount:
      return most > 0 && add_sat(sums.run_minutes(limit.tres, question.now, true), mul_sat(most, most_minutes(question.job))) > limit.value;
    case kMaxTresPerJob:
    case kMaxTresPerNode: return most > limit.value;
    case kMinTresPerJob: return least_wanted(*question.job.request, limit.tres) < limit.value;
    case kMaxTresMinsPerJob: return mul_sat(most, question.job.time_limit_min) > limit.value;
    case kMaxWall: return question.job.time_limit_min > limit.value;
    default: return true;  // why_limit_is_unchecked
  }
}

}  // namespace

std::string_view why_limit_is_unchecked(Reason reason) {
  const Kinds* kinds = kinds_of(reason_name(reason));
  if (!kinds || kinds->empty() || (kinds->front() != kGrpTresMins && kinds->front() != kGrpWall)) return {};
  return "what was used by then would have to be known";
}

bool limit_is_reached(const LimitQuestion& question, Reason reason) {
  const std::string_view name = reason_name(reason);
  const Kinds* kinds = kinds_of(name);
  if (!kinds) return false;
  const std::string tres = tres_of(name);
  const bool of_user_of_partition = reason == Reason::kQOSMaxCpuPerUserLimit && question.partition.max_cpus_per_user != kUnlimited32;
  if (of_user_of_partition || !question.cluster.directory || !question.params.enforcement.limits) return of_user_of_partition;
  const AssociationRecord* own = own_association(question.cluster, *question.job.request, question.partition);
  for (const BoundBy& bound : bounds_of(question.cluster, *question.job.request, own ? own->id : 0, question.partition)) {
    const bool meant = std::ranges::find(*kinds, bound.limit.kind) != kinds->end() && (bound.qos == nullptr) == name.starts_with("Assoc");
    if (meant && names(tres, bound.limit) && is_reached(question, bound)) return true;
  }
  return false;
}

}  // namespace muster::sim
