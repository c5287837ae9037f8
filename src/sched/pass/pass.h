// Pass: one run over the queue. planner.cc owns what outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sched/future/profile.h"
#include "sched/gate.h"
#include "sched/pass/apart.h"
#include "sched/pass/wants_power.h"
#include "sched/place/placement.h"
#include "sched/planner.h"
#include "sched/preempt/claims.h"
#include "sched/preempt/occupants.h"
#include "sched/preempt/victims.h"
#include "sched/queue/backfill_limits.h"
#include "sched/queue/pending.h"
#include "sched/rules/array_limit.h"
#include "sched/rules/job_rule.h"
#include "sched/stopped.h"

namespace muster::sched {

class PlanPass {
 public:
  // `memory`: of the full pass before, where the same nodes and queue are planned again; null: none.
  PlanPass(const Cluster& cluster, const Params& params, Time now, Pass kind, Availability& nodes, Pending& pending,
           ProfileMemory* memory = nullptr);
  ~PlanPass();
  Plan run();
  // After run(): when and where a request that is not in the queue would start, behind everything that is.
  Result<Planner::Forecast> forecast(const RequestBody& request, RequestClass asked);
  // After run(): what is promised to the jobs of the queue.
  const NodeFilter& promises() { return profile(); }

 private:
  struct Head {
    bool reserved;  // its jobs ask for a reservation: they come first (slurm.conf(5) PriorityType)
    bool first;     // it may preempt jobs of other QOS
    uint32_t tier, priority;
    QueueKey key;
    uint32_t class_id;
    bool operator<(const Head& o) const;  // for a heap: the best on top
  };
  // What is known of a class in this pass.
  struct ClassState {
    bool seen = false;
    RuleSet rules = 0;                  // those that may hold back a job of it
    Least least;                        // what a job of it takes; worked out where the gate judges
    Hold barred;                        // what holds back all of them, whatever is free
    bool full = false;                  // nothing fits any more in this pass
    std::optional<bool> beyond_layers;  // what it asks of layers is more than they have; unset: not asked yet
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
  enum class Try { kStarted, kClaimed, kNoRoom, kBarred };  // kClaimed: others make room for it
  Try try_class(const Job& job, uint32_t class_id, uint32_t array_task, Wait& why);
  Placement place_class(const Job& job, uint32_t class_id, const NodeFilter* filter, uint32_t& limit_min);
  // pass_preempt.cc: those that others make room for
  void settle_claims();
  void settle_claim(uint32_t id);
  // `grant`: the licences that the job gets, unless it lacks some, which others then have to give up.
  Try make_room(const Job& job, uint32_t class_id, uint32_t array_task, Wait& why, const NodeFilter* filter, Grant grant,
                bool lacks_licenses);
  struct Claimed {
    const Job* job = nullptr;
    uint32_t partition = 0, limit_min = 0;
    AllocationPtr allocation;
  };
  void hold_for(PreemptItem item, const std::vector<Claimed>& parts, const std::vector<uint32_t>& ending);
  void started_over(const Job& job, uint32_t class_id, uint32_t array_task, const MadeRoom& room);
  bool waits_for_room(const Job& job);  // always true
  ClassState& look_at(uint32_t class_id);
  struct ClassQuestion {  // what is the same for all jobs of a class
    uint32_t id = kUnlimited32;
    const Least* least = nullptr;
  };
  // `have`: null: what is held by all, or as if_gone_ says.
  Hold held_back(RuleSet rules, const RequestBody& request, const RequestClass& c, const ClassQuestion& of, Grant& grant,
                 const Held* have = nullptr) const;
  AllocationPtr with_grant(const AllocationPtr& allocation, Grant grant, const Partition& partition) const;
  Bar over_limit(const Job& job, uint32_t class_id, uint32_t limit_min, const Allocation& allocation);
  const NodeFilter* filter() const;  // what keeps nodes for others; null: nothing
  bool any_closed(const std::vector<uint32_t>& classes) const;
  // ---- pass_reservations.cc
  bool is_closed(const RequestClass& c) const;
  bool close_reservation(const RequestClass& c);
  // What is said beside the reason of a job that waits; of one that a rule holds back what the rule says.
  RareText said_of(const Wait& why, Reason reason, const std::vector<uint32_t>& classes) const;
  uint32_t limit_within(const RequestClass& c, uint32_t limit_min) const;
  bool say_never_within(const std::vector<uint32_t>& classes, Verdict& verdict);
  void close_partitions(const std::vector<uint32_t>& classes);
  void say(const Job& job, Reason reason, RareText detail = {}, Time start = {}, RareText nodes = {});
  void say_parked();
  void began(const Job& job, uint32_t class_id, uint32_t array_task, uint32_t limit_min, AllocationPtr allocation);
  void wait(const Job& job, const std::vector<uint32_t>& classes, const Wait& why, uint32_t tasks);
  // Says when the job is expected to start; keeps the place for it unless told not to.
  enum class Place { kKept, kTold };
  void promise(const Job& job, const std::vector<uint32_t>& classes, Verdict verdict, uint32_t tasks, Place place);
  // together.cc: the components of a heterogeneous job, which start together or not at all
  static constexpr uint32_t kTogether = kUnlimited32;  // class_id of a Head that stands for all components; its id is the leader's
  struct Component {
    const Job* job = nullptr;
    const std::vector<uint32_t>* classes = nullptr;
  };
  struct Chosen {  // of a component: where it would start now; null where nothing is chosen
    uint32_t class_id = 0;
    AllocationPtr allocation;
  };
  struct Places {  // when and where all components would start
    Slot slot = kNever;
    std::vector<std::pair<RequestClass, Profile::Spot>> of;
  };
  void meet_component(const Job& met);
  void start_together(const Job& leader);
  bool lacks_component(const Job& leader, std::vector<Component>& all);
  bool defer_turn(const std::vector<Component>& all);
  std::optional<size_t> choose_together(const std::vector<Component>& all, std::vector<Chosen>& chosen, Wait& why, bool& room_wanted);
  bool choose_in_plan(const std::vector<Component>& all, std::vector<Chosen>& chosen);
  using PlaceAs = std::function<Placement(const RequestClass& asked, const Apart& apart)>;
  bool choose_one(const Component& one, const std::vector<Chosen>& others, const Bitmap* only, Chosen& chosen, Wait& why, bool& room_wanted,
                  const PlaceAs& place_as = {});
  class RoomTogether;  // room_together.h: starts all of them, or others make room for all of them
  void lay_out(const Component& one, const Chosen& chosen);
  void take_back(const std::vector<Component>& all, const std::vector<Chosen>& chosen);
  void begin_together(const std::vector<Component>& all, std::vector<Chosen> chosen);
  void wait_together(const std::vector<Component>& all, const Component& which, const Wait& why, bool room_wanted);
  void say_no_room_together(const std::vector<Component>& all, Reason reason);
  void promise_together(const std::vector<Component>& all, Reason reason, Place place);
  Places places_apart(const std::vector<Component>& all);
  const Availability& deserted();
  bool fit_on_all_nodes(const std::vector<Component>& all) const;
  Places places_in_turn(const std::vector<Component>& all);
  Profile::Spot earliest_component(const Component& one, const Bitmap& without, Slot from, uint32_t first_id, RequestClass& of);

  void keep_or_tell(JobId job, const RequestClass& c, const Profile::Spot& spot, Place place, Verdict& verdict);
  void wait_for_own_tasks(const Job& job, const std::vector<uint32_t>& classes, const ArrayLimit& limit);
  Time array_has_room(uint32_t array, uint32_t limit);
  Reason awaited(const std::vector<uint32_t>& classes) const;
  std::vector<uint32_t> partitions(const std::vector<uint32_t>& classes) const;
  Profile::Spot earliest(uint32_t class_id, uint32_t family, RequestClass& c, Time eligible);
  // The same, or sooner with the limit lowered as far as --time-min lets it; `of` says which of the two classes it is.
  Profile::Spot earliest_of_class(uint32_t class_id, Time eligible, const RequestClass*& of);
  void say_why_never(const std::vector<uint32_t>& classes, Verdict& verdict) const;
  bool has_room_when_idle(const RequestClass& asked) const;
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
  std::shared_ptr<PlannedNodes> planned_;  // while a full pass runs
  const PriorityRule rule_;
  uint32_t priority_ = 0;  // of the job that is looked at
  uint32_t tier_ = 0;      // of the class that it was met in
  const RuleSet foreseen_ = rules_foreseen();
  HeldCounter held_;
  const Held* if_gone_ = nullptr;  // while others make room on trial: what is held without them
  std::vector<ClassState> state_;
  Bitmap closed_;  // partitions behind a job that waits
  Stopped stopped_;
  std::set<uint32_t> closed_reservations_;
  std::set<uint32_t> foretold_;  // reservations of whose next repetition the first place is told
  class HeldBack;
  class OverOthers;
  std::unique_ptr<HeldBack> held_back_;  // their nodes, where backfill does not look ahead
  std::unordered_set<uint32_t> done_;
  std::vector<Head> due_;                               // heterogeneous jobs whose turn comes later
  std::unordered_set<uint32_t> owners_;                 // users who hold nodes with --exclusive=user
  std::set<std::pair<uint32_t, uint32_t>> owner_full_;  // class, such a user: nothing fits any more
  BackfillLimits limits_;
  std::map<uint32_t, uint32_t> array_started_;
  std::optional<std::map<uint32_t, std::vector<Time>>> array_ends_;  // of tasks that run, by array
  std::vector<Profile::Held> started_;
  const PreemptRule preempt_rule_;
  Claims claims_;
  std::set<uint32_t> yielding_;  // jobs whose place others hold already
  std::unique_ptr<Occupants> occupants_;
  struct Asked {  // jobs of which one found no room whoever goes
    uint32_t class_id, uid, priority;
    std::string qos;
    auto operator<=>(const Asked&) const = default;
  };
  std::set<Asked> no_room_made_;
  std::set<std::vector<Asked>> no_room_made_together_;  // of heterogeneous jobs: all components in all of their classes
  std::unique_ptr<Availability> deserted_;              // made when it is asked for
  ProfileMemory* memory_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Gate> gate_;
  uint32_t forecasts_ = 0;
};

}  // namespace muster::sched
