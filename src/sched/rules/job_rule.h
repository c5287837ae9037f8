// JobRule: what can hold a job back whatever nodes are free. A rule is a row of functions; job_rules() is the list of them in the
// order in which they are asked, and the first that holds a job back gives it its reason. The pass, the start, the submission,
// explain and the future ask the list and know no rule by name. To add one: README.md.
//
//   concerns   whether the rule can hold back jobs of the class in the partition; asked once for a class in a pass
//   holds      whether it holds back this one job
//   at_start   whether it lets an item of a plan start in the cluster of the moment
//   ever       whether a request could ever pass it; asked at submission
//   limit      for a rule about an amount: how much there is, how much is used and is wanted, and who uses it
//   by         what can help
//
// A null function means that the rule has nothing to say to that. Cost: `holds` is asked for each job that a pass looks at, so it has to
// cost about as little as a look at a list of the partition.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/explanation.h"
#include "sched/fit/request_class.h"
#include "sched/params.h"
#include "sched/request/layers.h"
#include "sched/request/licenses.h"

namespace muster::sched {

// What the running jobs, and those started in this pass, hold of what rules count. Each rule that counts has a member.
struct Held {
  LicensePool licenses;  // what is left
};

// One job's share of that.
struct Holding {
  const Allocation& allocation;
};

// What a job gets beside nodes when it starts.
struct Grant {
  std::vector<LicenseShare> licenses;
  LayerRoomPtr layers;  // what is left of the hierarchical resources that it asks for; null: of none
};

// Amounts that belong to no node, as the future sees them. Each is a list of numbers in an order of the rule's own.
struct SiteAmounts {
  std::vector<uint64_t> (*all)(const Params&);
  std::vector<uint64_t> (*held)(const Params&, const Allocation&);
  // What a job of the class needs: any one of these lists; none: it can never have enough.
  std::vector<std::vector<uint64_t>> (*wanted)(const Params&, const RequestClass&);
  bool (*concerns)(const RequestClass&);
};

// The most of a rule's amounts that is promised to waiting jobs at any one time from now until a job with this limit would end.
class SitePromises {
 public:
  virtual ~SitePromises() = default;
  virtual std::vector<uint64_t> promised(const SiteAmounts& of, uint32_t time_limit_min) const = 0;
};

struct JobRule;
struct Least;
class Gate;

struct JobQuestion {
  const Cluster& cluster;
  const Params& params;
  const Partition& partition;
  const RequestBody& request;
  const RequestClass& asked;               // the request as it is meant in the partition
  const SitePromises* promised = nullptr;  // null: nothing is
  Gate* gate = nullptr;                    // accounts, QOS and limits; null: there are none
  const Least* least = nullptr;            // what the class takes at least, where that is known already
  uint32_t alike = kUnlimited32;           // the same for all jobs of the class
  const Reserved* reserved = nullptr;      // null: reservations keep nothing
};

struct StartQuestion {
  const Cluster& cluster;
  const Params& params;
  const Partition& partition;
  const RequestBody& request;
  const Allocation& allocation;
  Time now{};
  uint32_t time_limit_min = kUnlimited32;
  uint32_t reservation = 0;  // that the job would run in
};

struct Hold {
  Reason reason = Reason::kNone;  // kNone: it lets the job pass
  std::string detail{};
  const JobRule* rule = nullptr;
  explicit operator bool() const { return reason != Reason::kNone; }
};

// What lets a job start that the rule holds back.
enum class HelpedBy : uint8_t {
  kChange,    // somebody changes the partition, the configuration or the request
  kJobsEnd,   // jobs end; nobody foresees which
  kForeseen,  // jobs end, and the future knows when: the job is promised a start
  kTurn,      // the job's turn comes: those ahead of it start elsewhere, or go
};

// What the rule is about.
enum class Of : uint8_t { kPartition, kRequest, kAmount };

// A limit that holds a job back, and which of the running jobs use it up. Valid no longer than the gate that was asked.
struct LimitUsed {
  LimitView view;
  std::function<bool(const Job& running)> by;
};

struct JobRule {
  std::string_view name;
  Of of = Of::kPartition;
  HelpedBy by = HelpedBy::kChange;
  bool same_for_class = false;                                                       // `holds` looks at the class and the partition only
  bool (*concerns)(const RequestClass&, const Partition&, const Params&) = nullptr;  // null: all
  Hold (*holds)(const JobQuestion&, const Held&, Grant&) = nullptr;
  Result<> (*at_start)(const StartQuestion&) = nullptr;
  Result<> (*ever)(const Params&, const Shape&) = nullptr;
  std::optional<LimitUsed> (*limit)(const JobQuestion&, const Held&) = nullptr;
  // For rules that count: whether there is anything to count at all; sets the amounts at first; takes a job's share out of them.
  bool (*counts)(const Cluster&, const Params&) = nullptr;
  void (*begin)(Held&, const Cluster&, const Params&) = nullptr;
  void (*take)(Held&, const Holding&) = nullptr;
  const SiteAmounts* amounts = nullptr;  // where the future knows of it
};

std::span<const JobRule* const> job_rules();

// Which of job_rules() concern a class: bit by bit, in their order.
using RuleSet = uint32_t;
RuleSet rules_concerning(const RequestClass& c, const Partition& p, const Params& params);
// The rules of a kind.
RuleSet rules_of(Of of);
RuleSet rules_foreseen();

// The first of the rules that holds the job back.
Hold first_to_hold(RuleSet rules, const JobQuestion& question, const Held& held, Grant& grant);
// The first that holds back all jobs of the class alike; the request is any of them.
Hold first_to_hold_class(RuleSet rules, const JobQuestion& question);
// Of the rules that concern a class, those that must still be asked about each of its jobs, `barred` being the answer for the whole class.
RuleSet rules_left(RuleSet rules, const Hold& barred);

// Whether all rules let an item of a plan start.
Result<> let_start(const StartQuestion& question);
// Whether the request could ever pass all rules.
Result<> could_ever_pass(const Params& params, const Shape& shape);

// Keeps Held; counts nothing where no rule counts.
class HeldCounter {
 public:
  HeldCounter(const Cluster& cluster, const Params& params);
  bool counts() const { return counting_ != 0; }
  void add(const Holding& job);
  const Held& held() const { return held_; }

 private:
  RuleSet counting_ = 0;
  Held held_;
};

}  // namespace muster::sched
