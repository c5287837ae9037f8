// FairFactors: the fair-share factor of each association as priorities use it: worked out once in a PriorityCalcPeriod by the scheduler's
// pass (acct/shares.h), and then the same for the pass, squeue, sprio and scontrol. Not in the log: after a restart the next pass works them
// out again. Guide fair_tree, slurm.conf(5) PriorityCalcPeriod.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/time.h"

namespace muster {

struct AccountDirectory;

// The start of the PriorityCalcPeriod that `now` is in: priorities, and what they are made of, move in steps of it. Without one: `now`.
inline Time period_start(Time now, Duration period) { return period.count() > 0 ? Time(now.time_since_epoch() / period * period) : now; }

struct FairFactors {
  struct Rule {  // by which they were worked out (acct/fair_share.h)
    bool fair_tree = true, depth_oblivious = false;
    double dampening = 1;
    bool operator==(const Rule&) const = default;
  };
  Time period{};                                      // the start of the period that they hold for
  std::shared_ptr<const AccountDirectory> directory;  // the tree that they were made from
  Rule rule;
  std::unordered_map<uint32_t, double> by_association;
  double of(uint32_t association) const {
    auto at = by_association.find(association);
    return at == by_association.end() ? 0 : at->second;
  }
};
using FairFactorsPtr = std::shared_ptr<const FairFactors>;

}  // namespace muster
