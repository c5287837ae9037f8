#include "sched/queue/backfill_limits.h"

#include <algorithm>

namespace muster::sched {
namespace {

std::string limit(const char* name, uint32_t count) { return std::string(name) + "=" + std::to_string(count); }

}  // namespace

std::string BackfillLimits::kept_from(Uid user, uint32_t association, const std::vector<uint32_t>& partitions) {
  auto reached = [](uint32_t limit, uint32_t count) { return limit && count >= limit; };
  if (reached(rules_.max_start, starts_)) return limit("bf_max_job_start", rules_.max_start);
  if (reached(rules_.max_test, tests_)) return limit("bf_max_job_test", rules_.max_test);
  if (reached(rules_.max_user, by_user_[user.value])) return limit("bf_max_job_user", rules_.max_user);
  if (association && reached(rules_.max_association, by_association_[association]))
    return limit("bf_max_job_assoc", rules_.max_association);
  auto all = [&](auto&& is_full) { return std::ranges::all_of(partitions, is_full); };
  if (all([&](uint32_t p) { return reached(rules_.max_partition, by_partition_[p]); }))
    return limit("bf_max_job_part", rules_.max_partition);
  if (all([&](uint32_t p) { return reached(rules_.max_user_partition, by_user_partition_[{user.value, p}]); }))
    return limit("bf_max_job_user_part", rules_.max_user_partition);
  ++tests_;
  ++by_user_[user.value];
  ++by_association_[association];
  for (uint32_t p : partitions) {
    ++by_partition_[p];
    ++by_user_partition_[{user.value, p}];
  }
  return {};
}

bool BackfillLimits::keeps_place(Time eligible, uint32_t priority, const std::vector<uint32_t>& partitions,
                                 std::optional<uint64_t> least_priority) {
  if (now_ - eligible < rules_.min_age_reserve || priority < least_priority.value_or(rules_.min_priority_reserve)) return false;
  if (!rules_.reserve_per_partition) return true;
  bool room = false;
  for (uint32_t p : partitions) room |= kept_[p]++ < rules_.reserve_per_partition;
  return room;
}

}  // namespace muster::sched
