// Claims: what waiting jobs hold while others make room for them. A pass lays them over the supply before it looks at anybody: what the
// victims hold counts as the preemptor's already, and what they hold beyond that stays theirs until they are gone. So no other job takes
// what is freed for the preemptor, and none starts on a victim's rest too early. A heterogeneous job has one claim, at its first component, in which
// each component has its part.
//
// Cost: O(claims x their shares x victims' shares there).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/cluster.h"
#include "sched/future/profile.h"
#include "sched/queue/pending.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// What the victims hold on the nodes beyond what is claimed there.
std::vector<NodeShare> beyond_claim(const std::vector<const Allocation*>& victims, const Allocation& claimed);
// What several jobs hold, as one: each node once, and the licences of all.
Allocation held_together(const std::vector<const Allocation*>& all);

class Claims {
 public:
  Claims(const Cluster& cluster, const Pending& pending, Time now);

  bool empty() const { return of_.empty(); }
  bool has(uint32_t job) const { return of_.contains(job); }
  // What a job, or one component, gets.
  struct Part {
    const Job* job = nullptr;
    uint32_t partition = 0;
    AllocationPtr allocation;
  };
  // f(part) for each of all claims; of the claim of this job.
  template <class F>
  void each_part(F f) const {
    for (const auto& [id, e] : of_) std::ranges::for_each(e.parts, f);
  }
  template <class F>
  void each_part(uint32_t job, F f) const {
    std::ranges::for_each(of_.at(job).parts, f);
  }
  const std::set<uint32_t>& yielding() const { return yielding_; }  // victims, ascending
  // The claims all of whose victims are gone, by job.
  std::vector<uint32_t> ready() const;
  // When the last of the job's victims has to be gone.
  Time made_by(uint32_t job) const;

  // Licences that are free and kept for claims, beyond those that their victims hold still. One whose victims are gone takes its own.
  std::vector<Allocation> kept_licenses() const;
  // Lays all of them over the supply; says what those whose victims are not gone yet hold from now on, for the future.
  std::vector<Profile::Held> lay(Availability& nodes) const;
  // Takes one whose victims are gone off it, and lays it on again.
  void lift(uint32_t job, Availability& nodes) const;
  void put_back(uint32_t job, Availability& nodes) const;
  void forget(uint32_t job) { of_.erase(job); }

 private:
  struct Entry {
    const Job* job = nullptr;
    const Claim* claim = nullptr;
    std::vector<Part> parts;
    std::vector<uint32_t> victims;  // that hold something still
  };
  static void consume(const Entry& e, Availability& nodes);
  const Pending& pending_;
  const Time now_;
  std::map<uint32_t, Entry> of_;
  std::set<uint32_t> yielding_;
};

}  // namespace muster::sched
