// Billing: to how many units of the TRES `billing` that what a job has comes. slurm.conf(5) TRESBillingWeights, PriorityFlags=MAX_TRES and
// MAX_TRES_GRES; guide tres. Without weights it is the number of CPUs.
//
// What a job is billed is settled when it starts, or gives up nodes, and stands in its Allocation: weights that are changed later hold for
// jobs that start later. What a waiting job would be billed follows from what it asks for. Cost: O(weights x kinds of devices).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parsed.h"
#include "base/result.h"
#include "model/tres_name.h"

namespace muster {

class TresCounts;
class TresTable;
struct TresAmounts;

// "CPU=1.0,Mem=0.25G,GRES/gpu=2".
struct BillingWeights {
  struct Weight {
    TresName tres;
    double each = 0;  // of one; of memory of one MiB
    std::string written;
    bool operator==(const Weight&) const = default;
  };
  std::vector<Weight> list;

  // A suffix K, M, G, T or P of a weight makes it that of so many: of memory and burst buffers of a KiB … PiB. Errors: kInvalidArgument,
  // with the entry that is no resource=weight. Whether there is such a resource is not asked.
  static Result<BillingWeights> parse(std::string_view text);
  bool operator==(const BillingWeights&) const = default;
};
using BillingText = Parsed<BillingWeights>;

// PriorityFlags, and what AccountingStorageTRES tracks: what is not tracked is not billed.
struct BillingMethod {
  enum class Of : uint8_t { kSum, kMax, kMaxButGres };  // MAX_TRES, MAX_TRES_GRES
  Of of = Of::kSum;
  std::vector<std::string> tracked;  // in lower case, sorted
  bool tracks(const TresName& tres) const;
  bool operator==(const BillingMethod&) const = default;
};

// Of a partition with these weights. Cut to a whole number, as the guide has it.
uint64_t billing_of(const BillingText& weights, const BillingMethod& method, const TresAmounts& held);
uint64_t billing_of(const BillingText& weights, const BillingMethod& method, const TresCounts& wanted, const TresTable& table);

}  // namespace muster
