// Placement: which nodes a gang gets, how its tasks spread over them, and the Allocation that results. All or nothing.
//
// Nodes are tried by tier (awake before asleep, then weight). Among equals a job gets the fewest that suffice: those with the least to
// spare first (LLN and --spread-job: those with the most), then the lowest number; fewest leaf switches where the site names them. Required
// nodes are always part, or the only ones considered if the list is longer than the job may be. Tasks: every node gets one, then block fill
// in rank order (guide cpu_management, examples 3 to 6), round with -m cyclic.
//
// Cost: one-node jobs and whole-node gangs O(words of a bitmap); others O(candidate nodes).
#pragma once

#include <string>
#include <variant>

#include "model/enums.h"
#include "model/resources.h"
#include "sched/fit/request_class.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// Not now. When it will start is not said here: whoever needs to know asks the future (future/profile.h) for Verdict::expected_start.
struct Later {
  Reason reason = Reason::kResources;
  std::string detail{};
};

// Not on this cluster, whatever is free.
struct Never {
  Error why;
};

// A verdict is a value (ADR 12).
using Placement = std::variant<AllocationPtr, Later, Never>;
inline const AllocationPtr* placed(const Placement& p) { return std::get_if<AllocationPtr>(&p); }

// What limits a node beyond its Availability: promises to other jobs within the time wanted.
class NodeFilter {
 public:
  virtual ~NodeFilter() = default;
  virtual const Bitmap& promised() const = 0;  // nodes to ask tasks() about; nothing is promised on others
  virtual uint32_t tasks(uint32_t node, const RequestClass& c, uint32_t count) const = 0;  // at most `count`
};

// `waited`: how long the job has been eligible, for --switches=count@time. `user`: the job's user, where the class does not name one; nodes
// kept for that user (--exclusive=user) are open to the job.
Placement place(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter, Duration waited,
                Uid user = RequestClass::kAnyone);

}  // namespace muster::sched
