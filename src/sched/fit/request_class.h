// RequestClass: the pending jobs that ask for the same thing of the same partition with the same time limit.
// What is worked out for one holds for all: which nodes can ever serve them, how many tasks a kind of node
// takes, whether they are known not to fit at the moment.
//
// Which nodes those are the rules say (rules/node_rule.h, resolve).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "model/cluster.h"
#include "sched/fit/node_fit.h"
#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// The names of a node list that exist, in the order listed, repeats kept; an error names the first that does
// not.
Result<std::vector<uint32_t>> nodes_named(const Cluster& cluster, const NodeNames& list);

// The list as a text, with its functions replaced by the nodes they mean: block{b1} switch{s1} ring{r1} torus{t1} are the nodes of that
// unit, blockwith{n1} … those of the unit that n1 is in, feature{f1} the nodes that have it. Guide topology. An error names
// the part that means nothing. Cost: O(names), and O(nodes) for each function.
Result<std::string> without_functions(const Cluster& cluster, const NodeNames& list);

// The names that a list means, those of its functions among them; whether there are such nodes is not asked.
Result<std::vector<std::string>> names_meant(const Cluster& cluster, const NodeNames& list);

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
  std::optional<Error> never;  // the request as such is wrong for this partition
  // resolved against the nodes
  Bitmap feasible;                                // could serve if idle: partition, features, exclusions, kind
  std::vector<Bitmap> alternatives;               // matching OR: one of these; empty = feasible as it is
  std::vector<CountedNodes> counts;               // --constraint counts, within feasible
  std::shared_ptr<const TopologyIndex> topology;  // null: flat
  Bitmap required;
  std::vector<uint32_t> places;             // --distribution=arbitrary: tasks of each node as the list has it, by node; empty: another
  Bitmap peers;                             // partitions that may share CPUs with this one: of the same PriorityTier
  std::shared_ptr<RequestClass> preferred;  // the same with --prefer in place of --constraint; null: none
  std::vector<uint32_t> idle_tasks;         // per kind: tasks that an idle node takes
  uint32_t best_idle_tasks = 0;
  std::vector<uint32_t> taken;  // nodes of the partition that each of narrowing_rules() took from it
  uint64_t resolved_at = 0;
  // What did not fit does not fit either when more is taken. Not so where counting is a bound only, or where the
  // choice of nodes is one of few that are tried.
  bool monotone = true;
  // known not to fit while Availability::freed(), or changed(), stays the same
  uint64_t blocked_at = 0;
  // Nodes known to have too little for all of the job, while Availability::freed() stays the same.
  Bitmap too_full;
  uint64_t too_full_at = 0;
  uint64_t version(const Availability& nodes) const { return monotone ? nodes.freed() : nodes.changed(); }
  // What is promised to others takes away as a start does: only where less never helps, nothing is to be tried again.
  bool known_not_to_fit(const Availability& nodes, bool promises) const { return blocked_at == version(nodes) && (monotone || !promises); }

  // Free nodes alone do not say whether the job fits: it matters where they stand.
  bool bound_by_topology() const;
};

// A job of the class beside at most so many others on its CPUs; borrows from the class.
Onlooker onlooker_of(const RequestClass& c, uint32_t others);

}  // namespace muster::sched
