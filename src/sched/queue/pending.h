// Pending: the jobs that wait, grouped into request classes and ordered within them; and what running jobs hold until when. Kept in step
// with a Cluster by differences of its job table.
//
// Order: partition tier, then job priority, both descending, then job id. Within a class the order never changes while jobs wait: either
// their priorities differ only by age, so that the job that was eligible first stays ahead, or their priorities are fixed numbers. So the
// passing of time costs a pass O(classes). Jobs that cannot run whatever is free (held, a begin time to come, a dependency) are parked and
// cost nothing in a pass that does not have to name their reason. Cost: update O(changed jobs x log jobs).
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "sched/fit/request_class.h"
#include "sched/place/placement.h"
#include "sched/queue/priority.h"
#include "sched/rules/eligibility.h"

namespace muster::sched {

struct QueueKey {
  uint64_t rank = 0;  // the smaller the sooner: from a fixed priority, or since when the job is eligible
  uint32_t id = 0;
  bool operator<(const QueueKey& o) const { return rank != o.rank ? rank < o.rank : id < o.id; }
};

struct WaitingClass {
  RequestClass shape;   // the class itself
  uint32_t family = 0;  // the same for classes that differ only in the time limit
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t lowered = kNone;  // the class with the limit of --time-min; it has no jobs
  RequestBodyPtr request;    // of one of its jobs
  bool named = false;        // its jobs ask for its reservation; else that draws them in (MAGNETIC)
  bool draws_in() const { return shape.reservation != 0 && !named; }
  bool ages = false;               // the priorities of its jobs follow from their age and request
  uint32_t association = 0;        // of those that age, where it matters to their priority
  uint32_t kept = 0, kept_in = 0;  // INCR_ONLY: a priority that theirs do not fall below, and the partition that it is of
  // What the priorities of those that age have in common.
  struct Common {
    double fixed = 0;
    uint32_t least = 0;
  };
  Common common(const PriorityRule& rule) const {
    if (!ages) return {};
    return {rule.fixed_part(*request, shape.partition, shape.time_limit_min, association),
            rule.least(*request, shape.partition, kept, kept_in)};
  }
  uint32_t priority_at(const QueueKey& key, const PriorityRule& rule, const Common& common) const {
    if (!ages) return static_cast<uint32_t>(~key.rank);
    return std::max(common.least, PriorityRule::total(common.fixed, rule.age_part(Time(Duration(static_cast<int64_t>(key.rank))))));
  }
  std::set<QueueKey> jobs;
  Later why;  // why it did not fit last time
};

struct RunningJob {
  Time ends{};                     // kTimeInfinite: no limit
  Time soft_end{};                 // time_min_as_soft_limit: what plans count on until it is over; Time{}: none
  std::optional<Duration> left{};  // of a suspended job: the time that it still has when it goes on
  Time expected_end(Time now) const { return left ? now + *left : soft_end > now ? soft_end : ends; }
  AllocationPtr allocation;
  Bitmap releasing;
  bool finished = false;  // only the releasing nodes are still held
  uint32_t partition = 0;
  uint32_t reservation = 0;
  Uid uid{};
};

class Pending {
 public:
  void update(const Cluster& cluster, const Params& params, Time now);

  std::vector<std::unique_ptr<WaitingClass>>& classes() { return classes_; }
  const std::vector<uint32_t>& classes_of(uint32_t job) const;
  const std::map<uint32_t, RunningJob>& running() const { return running_; }
  const std::set<uint32_t>& claiming() const { return claiming_; }  // waiting jobs that others make room for
  // f(job, why) for each job that is parked.
  template <class F>
  void each_parked(Time now, F&& f) const {
    parked_.for_each([&](uint32_t id, const Time&) { f(JobId(id), not_eligible(jobs_.at(id), now)); });
  }
  uint32_t classes_in_use() const;
  // Grows when all classes are made anew. While it stays equal a class stays where it is, and what it is.
  uint64_t classes_epoch() const { return classes_epoch_; }
  uint32_t families() const { return static_cast<uint32_t>(families_.size()); }
  // The class for a request in a partition; made if it is new. `aging`: a job of it whose priority follows from its age and its request.
  uint32_t class_of(const Cluster& cluster, const Params& params, const RequestBodyPtr& request, uint32_t partition,
                    uint32_t time_limit_min, const Job* aging = nullptr, uint32_t reservation = 0);
  // The reservations in which a job with this request may run in the partition, in the order in which they are tried; 0: outside of them.
  // No magnetic one draws in a component of a heterogeneous job.
  std::vector<uint32_t> reservations_for(const Cluster& cluster, const RequestBody& request, uint32_t partition,
                                         const HetPart& het = {}) const;

 private:
  // What the priorities of jobs that age have in common: nice and site factor, what they do not fall below, and where those have a weight,
  // association and QOS. Where QOS says who may preempt whom, the QOS of any job.
  struct Standing {
    bool ages = false;  // jobs with a fixed priority are ordered by it, so they share no class with those that age
    int64_t own = 0;
    uint32_t association = 0;
    std::string qos;
    uint32_t kept = 0, kept_in = 0;
    auto operator<=>(const Standing&) const = default;
  };
  static Standing standing(const Job& job, const Params& params);
  // shape, partition, time limit, uid, reservation and warning for one, standing of those that age
  using Stay = std::pair<uint32_t, uint32_t>;
  using ClassKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, Stay, std::optional<Standing>>;
  bool learn_reservations(const Cluster& cluster);
  void reset(const Params& params);
  void drop(uint32_t id);
  // What is the same for all jobs that one update sorts in.
  struct Round {
    const Cluster& cluster;
    const Params& params;
    const PriorityRule rule;  // only asked whether a job ages, not how much, so the time given to it does not matter
    Time now;
  };
  void add(const Round& round, const Job& job);
  void enqueue(const Round& round, const Job& job);
  uint32_t list_id(std::vector<uint32_t> classes);
  uint32_t shape_id(const RequestBodyPtr& request);
  void forget_unused();

  PersistentMap<Job> jobs_;
  PersistentMap<Partition> partitions_;
  PersistentMap<Reservation> reservations_;
  std::map<std::string, uint32_t> reservation_ids_;  // by name in lower case
  std::vector<uint32_t> magnetic_;
  bool started_ = false;
  uint64_t classes_epoch_ = 0;
  Time last_{};  // of the last update
  std::string params_key_;
  std::unordered_map<const RequestBody*, std::pair<RequestBodyPtr, uint32_t>> shape_of_request_;
  std::unordered_map<std::string, uint32_t> shape_ids_;
  std::map<ClassKey, uint32_t> class_ids_, families_;
  std::vector<std::unique_ptr<WaitingClass>> classes_;
  // Lists of classes by number: jobs submitted alike are of the same ones. Never forgotten but with the classes.
  std::map<std::vector<uint32_t>, uint32_t> list_ids_;
  std::vector<const std::vector<uint32_t>*> lists_;
  struct Entry {
    uint64_t rank = 0;
    uint32_t list = 0;
  };
  PersistentMap<Entry> entries_;
  PersistentMap<Time> parked_;                 // by job id: until when; unset: until something else changes
  std::set<std::pair<Time, uint32_t>> timed_;  // parked until a time
  std::map<uint32_t, RunningJob> running_;
  std::set<uint32_t> claiming_;
};

// Partitions a job may run in, best guess first.
std::vector<uint32_t> partitions_of(const Cluster& cluster, const Job& job);
std::string params_key(const Params& params);

}  // namespace muster::sched
