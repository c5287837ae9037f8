// RequestClass: the pending jobs that ask for the same thing of the same partition with the same time limit. What is worked out for one
// holds for all: which nodes can ever serve them, how many tasks a kind of node takes, whether they are known not to fit at the moment.
//
// The rules decide which nodes those are (rules/node_rule.h, resolve).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "model/cluster.h"
#include "sched/fit/node_fit.h"
#include "sched/request/layers.h"
#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// The nodes of a list, in the order listed, repeats kept; the error names the first that does not exist.
Result<std::vector<uint32_t>> nodes_named(const Cluster& cluster, const NodeList& list);

// The list as a text, with its functions replaced by the nodes they mean: block{b1} switch{s1} ring{r1} torus{t1} are the nodes of that
// unit, blockwith{n1} … those of the unit that n1 is in, feature{f1} the nodes that have the feature. Guide topology. The error names the
// part that means nothing. Cost: O(names), and O(nodes) for each function.
Result<std::string> without_functions(const Cluster& cluster, const NodeList& list);

// The names that a list means, including those its functions stand for; whether such nodes exist is not checked.
Result<std::vector<std::string>> names_meant(const Cluster& cluster, const NodeList& list);

// Host list of nodes in the order of their numbers: "n[1-3,7]".
std::string node_list(const Cluster& cluster, const Bitmap& nodes);

struct CountedNodes {
  Bitmap nodes;
  uint32_t count = 0;
};

struct RequestClass {
  Shape shape;
  uint32_t partition = 0;
  static constexpr Uid kAnyone = NodeOwner::kAnyone;
  Uid uid = kAnyone;  // set where the user matters
  uint32_t time_limit_min = kUnlimited32;
  uint32_t reservation = 0;  // that its jobs would run in; 0: in none
  Duration warned{};         // --signal=R:: they may be ended so long after they were told to go, for those of a reservation
  Reserver reserver() const { return {reservation, time_limit_min, warned}; }
  std::optional<Error> never;  // the request as such is wrong for this partition
  // resolved against the nodes
  Bitmap feasible;                                // could serve if idle: partition, features, exclusions, kind
  std::vector<Bitmap> alternatives;               // matching OR: one of these; empty = feasible as it is
  std::vector<CountedNodes> counts;               // --constraint counts, within feasible
  std::shared_ptr<const TopologyIndex> topology;  // null: flat
  Bitmap required;
  std::vector<uint32_t> places;             // --distribution=arbitrary: tasks by node, as the list says; empty: another
  Bitmap peers;                             // partitions that may share CPUs with this one: of the same PriorityTier
  std::shared_ptr<RequestClass> preferred;  // the same with --prefer in place of --constraint; null: none
  // The same with nodes that have the features now, where others can be rebooted for them; null: no feature asked for is changeable.
  std::shared_ptr<RequestClass> unchanged;
  std::vector<uint32_t> idle_tasks;  // per kind: tasks that an idle node takes
  uint32_t best_idle_tasks = 0;
  std::vector<uint32_t> taken;  // nodes of the partition that each of narrowing_rules() took from it
  ReservedViewPtr reserved;     // what reservations keep from it now; null: nothing
  LayerRoomPtr layers;          // while one of its jobs is placed: what hierarchical resources leave to it; null: all
  uint64_t resolved_at = 0;
  // A class that did not fit does not fit either when more is taken. That does not hold where counting is only a bound, or where the choice
  // of nodes is one of few that are tried.
  bool monotone = true;
  // The class is known not to fit while Availability::freed() (or changed(), see version) is still this.
  uint64_t blocked_at = 0;
  // Nodes known to have too little for all of the job, while Availability::freed() stays the same.
  Bitmap too_full;
  uint64_t too_full_at = 0;
  uint64_t version(const Availability& nodes) const { return monotone ? nodes.freed() : nodes.changed(); }
  // A promise to others takes nodes away as a start does. So where less can make a class fit (not monotone), promises mean that it must be
  // tried again.
  bool known_not_to_fit(const Availability& nodes, bool promises) const { return blocked_at == version(nodes) && (monotone || !promises); }

  // Whether it matters where free nodes stand, so that their number alone does not say if the job fits.
  bool bound_by_topology() const;
  // Whether what did not fit may fit later though no node changes: --switches=count@time, --delay-boot.
  bool bound_by_time() const { return shape.switches || (unchanged && shape.delay_boot > Duration{}); }
};

// How a job of the class looks at a node where its CPUs may have at most so many other jobs; borrows from the class.
Onlooker onlooker_of(const RequestClass& c, uint32_t others);

}  // namespace muster::sched
