// QuarantineWatch: takes suspects (suspicion.h) out of service, has them tested when they are empty, and gives back those that pass.
// SlurmctldParameters=quarantine=N, Muster's own; docs/operating.md, Bad nodes.
//
// How a quarantine stands is in the log (event::NodeQuarantined beside the NodeStateChanged that drains or returns the node); which nodes are
// suspects and when a test was asked for is not: after a restart it is asked for again, and a node tests itself as often as it is asked. A
// node that anybody else has drained, or touched since, is never given back. Cost: look() O(quarantines + suspects).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "slurmctld/core/decide.h"
#include "slurmctld/core/suspicion.h"

namespace muster::slurmctld {

class QuarantineWatch {
 public:
  static constexpr Duration kRemembered = minutes(24 * 60);
  static constexpr Duration kUntested = minutes(5);  // after which a node returns that has nothing to test itself with
  static constexpr Duration kAskAgain = minutes(2);

  // The most nodes that may be in quarantine at once; 0: none is put there.
  static uint32_t most(const config::Config& config);

  // Makes the book anew from what the state still has.
  void rebuild(const View& view);
  void ended(const View& view, const Job& job);
  void registered(NodeId node) { asked_.erase(node); }
  // A node's answer to its test; an answer to another one means nothing.
  void tested(const View& view, NodeId node, const node_rpc::NodeTested& report, Events& out);
  // Does what is due, with a line for slurmctld's log for each thing done. Returns when to look again.
  Time look(const View& view, Events& out, std::vector<Order>& orders);
  std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

 private:
  bool has_work(const Cluster& cluster) const { return !cluster.quarantines.empty() || !touched_.empty() || !named_.empty(); }
  void go_on(const View& view, const Quarantine& now, const Node& node, Events& out, std::vector<Order>& orders);
  void put(const View& view, const Node& node, const Suspicion& why, Events& out);
  void give_back(const View& view, const Quarantine& now, const Node& node, Events& out);
  void due(Time at) { next_ = std::min(next_, at); }

  SuspicionBook book_;
  std::set<NodeId> touched_;         // something bad ended there since the last look
  std::set<NodeId> named_;           // suspects for which there is no room
  std::map<NodeId, Time> asked_;     // when a test was last asked for
  std::map<NodeId, Time> untested_;  // `since` of those that have nothing to test themselves with
  std::vector<std::string> lines_;
  Time next_ = kTimeInfinite;
};

// A reason that a node gave: its first 512 bytes, without control characters.
std::string one_line_reason(std::string text);

// Somebody has changed the node's state or reason: it is his from now on. Nothing where it is in no quarantine.
void lift_quarantine(const View& view, const Node& node, Events& out);

}  // namespace muster::slurmctld
