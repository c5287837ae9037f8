#include "sched/preempt/time_slicer.h"

#include <algorithm>
#include <map>

namespace muster::sched {
namespace {

// What the jobs that run hold of one node.
struct Held {
  Bitmap cpus;
  std::vector<const Job*> jobs;
};

// Those that run, of a tier or of a partition.
class Active {
 public:
  void add(const Job& job) {
    for (const NodeShare& share : job.allocation->nodes) {
      Held& held = on_[share.node.value];
      held.cpus |= share.cpus;
      held.jobs.push_back(&job);
    }
  }
  bool has_room(const Job& job) const {
    return std::ranges::all_of(job.allocation->nodes, [&](const NodeShare& share) {
      auto at = on_.find(share.node.value);
      if (at == on_.end()) return true;
      return !at->second.cpus.intersects(share.cpus);
    });
  }
  // One of those in whose way the job is.
  const Job* in_the_way_of(const Job& job) const {
    for (const NodeShare& share : job.allocation->nodes)
      if (auto at = on_.find(share.node.value); at != on_.end())
        for (const Job* other : at->second.jobs)
          for (const NodeShare& theirs : other->allocation->nodes)
            if (theirs.node == share.node && theirs.cpus.intersects(share.cpus)) return other;
    return nullptr;
  }

 private:
  std::map<uint32_t, Held> on_;
};

struct Turn {
  const Job* job = nullptr;
  uint32_t tier = 0;
  bool waits = false;
  Time since{};  // it waits, or runs
};

Turn turn_of(const Cluster& cluster, const Job& job) {
  const Partition* p = cluster.partitions.find(job.partition);
  const bool waits = job.waits_for_turn();
  const Time since = waits ? job.run->suspended : job.run->slice_began != kTimeUnset ? job.run->slice_began : job.started;
  return {&job, p ? p->priority_tier : 0, waits, since};
}

}  // namespace

bool takes_turns(const Job& job) {
  if (!job.allocation) return false;
  return job.waits_for_turn() || (job.state == JobState::kRunning && !job.het);
}

std::vector<Shift> shifts(const Cluster& cluster, std::span<const Job* const> jobs, bool next_slice) {
  std::vector<Turn> turns;
  std::vector<Shift> out;
  for (const Job* job : jobs) {
    if (!takes_turns(*job)) continue;
    if (job->het) out.push_back({.job = job->id, .resume = true});  // an older version suspended it
    else turns.push_back(turn_of(cluster, *job));
  }
  std::ranges::stable_sort(turns, [&](const Turn& a, const Turn& b) {
    if (a.tier != b.tier) return a.tier > b.tier;
    if (a.waits != b.waits) return next_slice ? a.waits : b.waits;
    return a.since != b.since ? a.since < b.since : a.job->id < b.job->id;
  });
  Active above;  // of higher tiers
  for (size_t begin = 0; begin < turns.size();) {
    std::map<uint32_t, Active> of_partition;
    std::vector<const Job*> run;
    size_t end = begin;
    for (; end < turns.size() && turns[end].tier == turns[begin].tier; ++end) {
      const Turn& t = turns[end];
      Active& peers = of_partition[t.job->partition];
      const Job* shadow = above.has_room(*t.job) ? nullptr : above.in_the_way_of(*t.job);
      if (!shadow && peers.has_room(*t.job)) {
        peers.add(*t.job);
        run.push_back(t.job);
        if (t.waits) out.push_back({.job = t.job->id, .resume = true});
      } else if (!t.waits) {
        out.push_back({t.job->id, false, shadow ? SuspendCause::kPreempted : SuspendCause::kTimeSlice, shadow ? shadow->id : JobId()});
      }
    }
    for (const Job* job : run) above.add(*job);
    begin = end;
  }
  // First those go that have to, then others come.
  std::ranges::stable_sort(out, [](const Shift& a, const Shift& b) { return !a.resume && b.resume; });
  return out;
}

}  // namespace muster::sched
