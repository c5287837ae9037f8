// What keeps the components of a heterogeneous job off each other's nodes, and whether they would all fit where nobody else is.
#pragma once

#include <map>
#include <vector>

#include "model/cluster.h"
#include "sched/future/profile.h"
#include "sched/params.h"
#include "sched/place/placement.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// What a component may not have beyond `inner`: the leaves that components before it fence, and, where others are promised nodes, what those
// components have of these nodes, for the future does not know yet that they start. `future`: the inner one where it is a profile; without it
// nothing is left of such nodes.
class Apart : public NodeFilter {
 public:
  Apart(const NodeFilter* inner, const Profile* future, uint32_t size)
      : inner_(inner), future_(future), promised_(inner ? inner->promised() : Bitmap(size)), closed_(size) {}
  void has_chosen(const Allocation& a, uint32_t partition);  // `a` outlives this
  const Bitmap& promised() const override { return promised_; }
  uint32_t tasks(uint32_t node, const RequestClass& c, uint32_t count) const override;

 private:
  void close(uint32_t id);
  const NodeFilter* inner_;
  const Profile* future_;
  std::map<uint32_t, std::vector<Profile::Beside>> taken_;  // of promised nodes
  Bitmap promised_, closed_;
};

struct ComponentAsked {
  const RequestBody* request = nullptr;
  std::vector<const RequestClass*> classes;  // it may be placed as any of them
};

// Whether all of them together have room on `nodes`, by a first fit (base/first_fit.h). Cost: that of placing each, and a copy of `nodes` for
// each order that is tried.
bool fit_together(const Cluster& cluster, const Params& params, const std::vector<ComponentAsked>& all, const Availability& nodes);

}  // namespace muster::sched
