// NodeRule: what decides which nodes are left to a request. A rule is a row of functions over bitmaps; the lists below are the rows
// in the orders in which they are asked. A request class, the placement, the start, the submission and explain ask the lists and know
// no rule by name. To add one: README.md.
//
//   narrow     which nodes could serve the class at all, if all were up and idle; `lacking` says what the others lack; `awaits` says why
//              there is no start within sight, where nodes may come back to the class though nobody changes what the job asks for
//   leave      which of these nodes the rule leaves to a job now
//   missing    what a job is told where no choice among the nodes left can serve it
//   says       what the rule adds to that
//   waits      the reason for which such a job waits, where that is not simply resources
//   sort_out   sorts the same nodes by cause, for explain; and `by`: what can help there
//   at_start   whether it lets a job have its share of a node in the cluster of the moment
//   ever       whether a request names only what exists; asked at submission
//   together   why nodes that are free one by one do not serve a job together
//
// A null function means that the rule has nothing to say to that. While a job is placed, nothing here is asked node by node: rules take and
// give bitmaps, O(nodes / 64), and only rules that have to look at single nodes do so, at a few.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"
#include "model/explanation.h"
#include "sched/fit/request_class.h"
#include "sched/params.h"
#include "sched/rules/job_rule.h"

namespace muster::sched {

// A class while it is worked out; a rule writes what it finds besides nodes into `asked`.
struct ClassQuestion {
  const Cluster& cluster;
  Availability& nodes;
  RequestClass& asked;
};

struct NodeQuestion {
  const Availability& nodes;
  const RequestClass& asked;  // worked out
  Uid user = RequestClass::kAnyone;
};

// Asked by explain, which pays for looking at each node by itself.
struct CensusQuestion {
  NodeQuestion node;
  const Bitmap& with_features;
  std::function<bool(uint32_t)> promised;        // whether a node that could serve the job now is promised to others
  std::function<void(NodeCause, uint32_t)> out;  // takes a node from those left
};

struct ShareQuestion {
  const StartQuestion& start;
  const Node& node;
  const NodeShare& share;
  bool memory = false;  // is handed out in the partition
};

struct NamesQuestion {
  const Cluster& cluster;
  const Params& params;
  const Availability& nodes;  // all up and idle
  const Shape& shape;
};

struct NodeRule {
  std::string_view name;
  HelpedBy by = HelpedBy::kChange;
  void (*narrow)(const ClassQuestion&) = nullptr;
  std::string_view lacking{};  // said of the nodes that it takes from a class: " lack the features,"
  std::string_view awaits{};
  void (*leave)(const NodeQuestion&, Bitmap& open) = nullptr;
  Hold (*missing)(const NodeQuestion&, const Bitmap& open) = nullptr;
  std::string (*says)(const NodeQuestion&) = nullptr;
  Reason (*waits)(const NodeQuestion&) = nullptr;  // kNone: simply for resources
  void (*sort_out)(const CensusQuestion&, const Bitmap& left) = nullptr;
  Result<> (*at_start)(const ShareQuestion&) = nullptr;
  Result<> (*ever)(const NamesQuestion&) = nullptr;
  std::string (*together)(const Shape&) = nullptr;
};

// All node rules, in the order in which they leave nodes to a job.
std::span<const NodeRule* const> node_rules();
// The rules that narrow a class, in order; RequestClass::taken counts along them.
std::span<const NodeRule* const> narrowing_rules();

// Works the class out against the nodes; does nothing if that has been done since the nodes last changed. Cost: O(nodes / 64 x features +
// kinds); with --extra O(nodes), for each may say something else.
void resolve(RequestClass& asked, const Cluster& cluster, Availability& nodes, const Partition& partition);

// The nodes that are left to a job of the class now.
Bitmap nodes_left(const NodeQuestion& question);
Hold nodes_missing(const NodeQuestion& question, const Bitmap& open);
// What the rules add to the message where no choice among the nodes left serves the job.
std::string rules_say(const NodeQuestion& question);
// What a job of the class that found no place waits for: resources, unless a rule has a name for it.
Reason nodes_awaited(const NodeQuestion& question);
// What has to change for nodes to come back that a rule took from the class; "": no rule that did says so.
std::string_view change_awaited(const RequestClass& asked);
// What a node has free for a job of the class.
NodeFree free_for(const NodeQuestion& question, uint32_t node);
// Sorts the nodes out by cause; those that no rule takes are free for the job. Cost: O(nodes of the partition).
void sort_out(const CensusQuestion& question, Bitmap nodes, const std::function<void(NodeCause, const NodeRule&, uint32_t)>& out);
Result<> let_have(const ShareQuestion& question);
Result<> names_exist(const NamesQuestion& question);
std::string not_together(const Shape& shape);

// The error of at_start: the node and what is wrong with it.
std::unexpected<Error> busy(const Node& node, std::string_view what);

}  // namespace muster::sched
