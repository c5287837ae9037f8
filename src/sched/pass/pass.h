// Pass: one run over the queue. planner.cc owns what outlives it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "sched/future/profile.h"
#include "sched/gate.h"
#include "sched/place/placement.h"
#include "sched/planner.h"
#include "sched/queue/backfill_limits.h"
#include "sched/queue/pending.h"
#include "sched/rules/array_limit.h"
#include "sched/rules/job_rule.h"

namespace muster::sched {

class PlanPass {
 public:
  PlanPass(const Cluster& cluster, const Params& params, Time now, Pass kind, Availability& nodes, Pending& pending);
  ~PlanPass();
  Plan run();
  // After run(): when and where a request that is not in the queue would start, behind everything that is.
  Result<Planner::Forecast> forecast(const RequestBody& request, RequestClass c);
  // After run(): what is promised to the jobs of the queue.
  const NodeFilter& promises() { return profile(); }

 private:
  struct Head {
    uint32_t tier, priority;
    QueueKey key;
    uint32_t class_id;
    bool operator<(const Head& o) const;  // for a heap: the best on top
  };
  // What is known of a class in this pass.
  struct ClassState {
    bool seen = false;
    RuleSet rules = 0;  // those that may hold back a job of it
    TresCounts least;   // what a job of it takes; worked out where the gate judges
    Hold barred;        // what holds back all of them, whatever is free
    bool full = false;  // nothing fits any more in this pass
  };

  void walk();
  bool job(uint32_t id);  // true: go on with the class of the job
  bool start_tasks(const Job& job, const std::vector<uint32_t>& classes);
  // Why a job does not start in a class.
  struct Wait {
    Reason reason = Reason::kResources;
    std::string detail;
    bool ruled = false;  // a rule says so, not the want of nodes or the order of the queue
  };
  enum class Try { kStarted, kNoRoom, kBarred };
  Try try_class(const Job& job, uint32_t class_id, uint32_t array_task, Wait& why);
  Placement place_class(const Job& job, uint32_t class_id, const NodeFilter* filter, uint32_t& limit_min);
  ClassState& look_at(uint32_t class_id);
  struct ClassQuestion {  // what is the same for all jobs of a class
    uint32_t id = kUnlimited32;
    const TresCounts* least = nullptr;
  };
  Hold held_back(RuleSet rules, const RequestBody& request, const RequestClass& c, const ClassQuestion& of, Grant& grant) const;
  static AllocationPtr with_grant(const AllocationPtr& allocation, Grant grant);
  Bar over_limit(const Job& job, uint32_t class_id, uint32_t limit_min, const Allocation& allocation);
  bool any_closed(const std::vector<uint32_t>& classes) const;
  void close_partitions(const std::vector<uint32_t>& classes);
  void say(const Job& job, Reason reason, RareText detail = {}, Time start = {}, RareText nodes = {});
  void say_parked();
  void began(const Job& job, uint32_t class_id, uint32_t array_task, uint32_t limit_min, AllocationPtr allocation);
  void wait(const Job& job, const std::vector<uint32_t>& classes, const Wait& why, uint32_t tasks);
  // Says when the job is expected to start; keeps the place for it unless told not to.
  enum class Place { kKept, kTold };
  void promise(const Job& job, const std::vector<uint32_t>& classes, Reason reason, uint32_t tasks, Place place);
  void keep_or_tell(const RequestClass& c, const Profile::Spot& spot, Place place, Verdict& verdict);
  void wait_for_own_tasks(const Job& job, const std::vector<uint32_t>& classes, const ArrayLimit& limit);
  Time array_has_room(uint32_t array, uint32_t limit);
  Reason awaited(const std::vector<uint32_t>& classes) const;
  std::vector<uint32_t> partitions(const std::vector<uint32_t>& classes) const;
  Profile::Spot earliest(uint32_t class_id, uint32_t family, RequestClass& c, Time eligible);
  // The same, or sooner with the limit lowered as far as --time-min lets it; `of` says which of the two classes it is.
  Profile::Spot earliest_of_class(uint32_t class_id, Time eligible, const RequestClass*& of);
  void say_why_never(const std::vector<uint32_t>& classes, Verdict& verdict) const;
  bool has_room_when_idle(const RequestClass& c) const;
  std::string_view never_in_sight(const RequestClass& c) const;
  Profile& profile();
  bool backfills() const { return full_ && params_.backfill; }

  const Cluster& cluster_;
  const Params& params_;
  const Time now_;
  const bool full_;
  Availability& nodes_;
  Pending& pending_;
  Plan plan_;
  const PriorityRule rule_;
  uint32_t priority_ = 0;  // of the job that is looked at
  const RuleSet foreseen_ = rules_foreseen();
  HeldCounter held_;
  std::vector<ClassState> state_;
  Bitmap closed_;  // partitions behind a job that waits
  class HeldBack;
  std::unique_ptr<HeldBack> held_back_;  // their nodes, where backfill does not look ahead
  std::unordered_set<uint32_t> done_;
  std::unordered_set<uint32_t> owners_;                 // users who hold nodes with --exclusive=user
  std::set<std::pair<uint32_t, uint32_t>> owner_full_;  // class, such a user: nothing fits any more
  BackfillLimits limits_;
  std::map<uint32_t, uint32_t> array_started_;
  std::optional<std::map<uint32_t, std::vector<Time>>> array_ends_;  // of tasks that run, by array
  std::vector<Profile::Held> started_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Gate> gate_;
  uint32_t forecasts_ = 0;
};

}  // namespace muster::sched
