#include "slurmd/daemon/leftovers.h"

namespace muster::slurmd {
namespace {

constexpr Duration kPatience = seconds(60);

}  // namespace

void Leftovers::end(const std::optional<os::CgroupOptions>& groups, JobId job, std::optional<StepId> step) {
  if (!groups) return;
  auto here = os::Cgroups::open(*groups);
  if (!here) return log_.error("{}", here.error().message());
  auto group = here->find(os::group_levels(job, step));
  if (!group || attempt(*group, false)) return;
  const Key key{job, step};
  waiting_.erase(key);
  waiting_.try_emplace(key, loop_, kPatience, [this, key, group = std::move(*group)](bool last) mutable {
    if (!attempt(group, last) && !last) return false;
    waiting_.erase(key);
    return true;
  });
}

void Leftovers::leave(JobId job, StepId step) {
  waiting_.erase({job, std::nullopt});
  waiting_.erase({job, step});
}

bool Leftovers::attempt(os::Cgroup& group, bool last) {
  auto killed = group.kill(Duration{});
  auto removed = group.remove(Duration{});
  if (!removed && last) log_.error("{}", (killed ? removed : killed).error().message());
  return removed.has_value();
}

}  // namespace muster::slurmd
