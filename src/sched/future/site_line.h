// SiteLine: the future of amounts that belong to no node, as a rule counts them (rules/job_rule.h, SiteAmounts): what is left from slot to
// slot. A profile has one for each such rule.
//
// Cost: O(its rows · amounts), once for each alternative of a request.
#pragma once

#include <utility>
#include <vector>

#include "sched/future/timeline.h"
#include "sched/rules/job_rule.h"

namespace muster::sched {

class SiteLine {
 public:
  SiteLine(const SiteAmounts& of, const Params& params);

  const SiteAmounts& amounts() const { return of_; }
  const NodeLine& line() const { return line_; }
  bool empty() const { return empty_; }  // the site has none of it
  bool concerns(const RequestClass& c) const { return of_.concerns(c); }

  // A running job keeps its part until `end`.
  void hold(const Allocation& a, Slot end);
  // What others keep from a class for a time.
  struct Kept {
    Slot from = 0, until = 0;
    std::vector<uint64_t> amounts;
  };
  // The first slot from which a job of the class has what it wants for so long; kNever: there is none.
  Slot earliest(const RequestClass& asked, Slot from, Slot length, const std::vector<Kept>& kept = {}) const;
  // Takes these amounts out, by their places.
  void take(const std::vector<std::pair<size_t, uint64_t>>& amounts, Slot first, Slot end);
  // Takes what the class wants out; of several alternatives the first that is available.
  void promise(const RequestClass& asked, Slot first, Slot end);
  // The most of each amount that is promised at any one time from now until `end`.
  std::vector<uint64_t> promised(Slot end) const;

 private:
  Slot first_with(const std::vector<uint64_t>& wanted, Slot from, Slot length, const std::vector<Kept>& kept = {}) const;

  const SiteAmounts& of_;
  const Params& params_;
  NodeLine line_;
  bool empty_;
};

}  // namespace muster::sched
