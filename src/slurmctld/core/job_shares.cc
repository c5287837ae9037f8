#include "slurmctld/core/job_shares.h"

#include <algorithm>

namespace muster::slurmctld {
namespace {

// A user whose ended jobs may go, and how many of them.
struct Giver {
  const UserJobs* jobs = nullptr;
  bool asks = false;
  uint64_t most = 0;
};

// The users who may give up ended jobs, the heaviest first. `after`: how many jobs the one who asks would hold.
std::vector<Giver> givers(const Indexes& indexes, Uid uid, uint64_t after) {
  std::vector<Giver> out;
  const UserJobs* own = nullptr;
  bool heavier = false;
  for (const auto& [user, jobs] : indexes.users()) {
    if (user == uid.value) {
      own = &jobs;
    } else if (jobs.count > after) {
      heavier = true;
      if (!jobs.ended.empty()) out.push_back({&jobs, false, std::min<uint64_t>(jobs.ended.size(), jobs.count - after)});
    }
  }
  if (own && heavier && !own->ended.empty()) out.push_back({own, true, own->ended.size()});
  std::ranges::sort(out, [](const Giver& a, const Giver& b) { return a.jobs->count > b.jobs->count; });
  return out;
}

}  // namespace

Result<std::vector<JobId>> make_room(const Indexes& indexes, Uid uid, uint32_t tasks, uint32_t max_job_count, Time now) {
  const uint64_t wanted = uint64_t{indexes.job_count()} + tasks, beside = jobs_beside(max_job_count);
  std::vector<JobId> forgotten;
  if (wanted <= max_job_count) return forgotten;
  const auto at = indexes.users().find(uid.value);
  const uint64_t held = at == indexes.users().end() ? 0 : at->second.count;
  uint64_t after = held + tasks, over = wanted - max_job_count;
  for (const Giver& g : givers(indexes, uid, after)) {
    uint64_t n = 0;
    const uint64_t most = std::min(over, g.most);
    for (auto job = g.jobs->ended.begin(); n < most && job->first < now; ++job, ++n) forgotten.push_back(job->second);
    over -= n;
    if (g.asks) after -= n;
  }
  if (over > 0 && (over > beside || after > beside - over))
    return fail(Errc::kTryAgainLater, {},
                "the queue holds MaxJobCount=" + std::to_string(max_job_count) + " jobs, " + std::to_string(held) +
                    " of them of this user; one that has ended counts until MinJobAge is over");
  return forgotten;
}

}  // namespace muster::slurmctld
