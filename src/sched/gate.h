// Gate: asks accounts and QOS (acct/admission.h) and limits (acct/limits.h) whether a job may start, whatever nodes are free. A pass has
// one gate: it asks the gate about each job before nodes are chosen, with the least that the job takes, and again with the nodes that were
// chosen; it tells the gate of each start, which then counts for the jobs that follow. The start itself asks again, of the cluster of that
// moment.
//
// Cost: a question is O(limits that bound the job x log n), however many jobs run or wait; which limits bound whom is worked out once for
// all requests of the same account, QOS and user. Where there is nothing to judge by, there is no gate.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "acct/limits.h"
#include "model/cluster.h"
#include "sched/least.h"
#include "sched/params.h"

namespace muster::sched {

struct Bar {
  Reason reason = Reason::kNone;  // kNone: there is none
  std::string detail;
};

class Gate {
 public:
  // Null where nothing is enforced and no partition has a limit for users. With the fair-share factors given, else with those of the
  // cluster (UsageThreshold of a QOS).
  static std::unique_ptr<Gate> make(const Cluster& cluster, const Params& params, Time now, FairFactorsPtr factors = nullptr);
  static bool judges_accounts(const Params& params) { return params.enforcement.associations; }
  static bool judges_limits(const Params& params, const Partition& partition);

  static constexpr uint32_t kNotAlike = kUnlimited32 - 1;  // what a limit says of its nodes holds for no other job

  // `alike` is the same number for jobs that would be given the same nodes.
  struct Question {
    const RequestBody& request;
    const Partition& partition;
    uint32_t time_limit_min = kUnlimited32;
    uint32_t alike = kUnlimited32;
  };
  // Whether its account and QOS keep the job from starting in the partition, whatever is free and whoever holds what.
  Bar bars(const Question& question);
  // Also the limit that the job would exceed if it took at least `least`.
  Bar bars(const Question& question, const Least& least);
  // Also the limit that it would exceed with the nodes chosen for it. A limit found here also holds back the jobs that are `alike`.
  Bar bars(const Question& question, const Allocation& chosen);
  void started(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min);
  // The reverse: it does not start after all.
  void taken_back(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min);

  // The limit that holds the job back, and the holder whose jobs use it up.
  struct Full {
    LimitView view;
    Holder holder;
  };
  std::optional<Full> full(const Question& question, const Least& least);
  bool uses(const Full& full, const Job& running) const;

 private:
  // Requests with the same key are bound by the same limits.
  struct PartyKey {
    uint32_t association, user, partition;
    std::string account, qos;
    auto operator<=>(const PartyKey&) const = default;
  };
  struct Party {
    std::vector<acct::Bound> bounds;
    std::map<uint32_t, Bar> barred;  // by `alike`: the limit exceeded with the chosen nodes
  };
  struct Known {  // of a request in a partition
    Bar bar;      // by accounts and QOS
    uint32_t association = 0;
    Party* party = nullptr;
  };
  Gate(const Cluster& cluster, const Params& params, Time now, FairFactorsPtr factors)
      : cluster_(cluster), params_(params), now_(now), factors_(std::move(factors)), ledger_(cluster.ledger) {}
  Known& know(const Question& question);
  Charge charge_of(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min);
  std::optional<acct::Excess> excess(Known& known, const Question& question, acct::Wanted wanted, acct::When when) const;
  Bar bar_of(const acct::Excess& excess) const;

  const Cluster& cluster_;
  const Params& params_;
  const Time now_;
  const FairFactorsPtr factors_;
  Ledger ledger_;                                                            // with what this pass started
  std::map<uint32_t, std::unordered_map<const RequestBody*, Known>> known_;  // by partition
  std::map<PartyKey, Party> parties_;
};

// Which limits of accounts hold.
acct::Held limits_held(const Params& params);
// Whether limits let a job be submitted: those on the number of submitted jobs and, where its QOS has DenyOnLimit, those that the job would
// exceed all by itself. The answer: whether its age counts only when it is its turn (slurmctld/core/accrual.h).
Result<bool> may_be_submitted(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                              const acct::Wanted& wanted);
// The questions of a pass, asked of the cluster as it is now; for a start.
Result<> admitted_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition);
struct AtStart {
  const Allocation& allocation;
  Time now{};
  uint32_t time_limit_min = kUnlimited32;
};
Result<> within_limits_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                           const AtStart& start);

}  // namespace muster::sched
