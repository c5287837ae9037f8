#include "slurmctld/core/quarantine.h"

#include <algorithm>

#include "sched/supply/availability.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kMostReason = 512;
constexpr Duration kHour = minutes(60);

event::NodeQuarantined stands(const View& view, Quarantine quarantine, QuarantinePhase phase) {
  quarantine.phase = phase;
  quarantine.changed = view.now;
  return {std::move(quarantine), view.now};
}

event::NodeStateChanged drained(const View& view, const Node& node, const std::string& reason) {
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags |= kNodeDrain;
  change.reason = reason;
  change.by = view.settings.slurm_user;
  change.time = view.now;
  return change;
}

// Whether the node is as the quarantine left it.
bool is_ours(const Quarantine& quarantine, const Node& node) { return (node.flags & kNodeDrain) && node.reason == quarantine.reason; }

std::set<NodeId> held(const Cluster& cluster) {
  std::set<NodeId> out;
  cluster.quarantines.for_each([&](uint32_t node, const Quarantine& q) {
    if (q.holds()) out.insert(NodeId(node));
  });
  return out;
}

}  // namespace

uint32_t QuarantineWatch::most(const config::Config& config) {
  return static_cast<uint32_t>(config.slurmctld_parameters.number("quarantine", 0));
}

void QuarantineWatch::rebuild(const View& view) {
  book_.clear();
  touched_.clear();
  named_.clear();
  asked_.clear();
  untested_.clear();
  lines_.clear();
  next_ = kTimeInfinite;
  if (!most(view.settings.config())) return;
  std::vector<const Job*> over;
  view.cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (job.finished()) over.push_back(&job);
  });
  std::ranges::stable_sort(over, {}, [](const Job* job) { return job->ended; });
  for (const Job* job : over) {
    const std::vector<NodeId> bad = book_.take(*job);
    touched_.insert(bad.begin(), bad.end());
    // What was there before the node returned, or before somebody took it into his hands, is settled.
    for (NodeId node : bad)
      if (const Quarantine* known = view.cluster.quarantines.find(node.value); known && job->ended <= known->changed) book_.forget(node);
  }
}

void QuarantineWatch::ended(const View& view, const Job& job) {
  if (!most(view.settings.config())) return;
  const std::vector<NodeId> bad = book_.take(job);
  touched_.insert(bad.begin(), bad.end());
}

void QuarantineWatch::tested(const View& view, NodeId id, const node_rpc::NodeTested& report, Events& out) {
  const Quarantine* known = view.cluster.quarantines.find(id.value);
  const Node* node = view.cluster.nodes.find(id.value);
  if (!known || !node || known->phase != QuarantinePhase::kTesting || known->since != report.since || !is_ours(*known, *node)) return;
  if (!report.fault.empty()) {
    Quarantine failed = *known;
    failed.reason = one_line_reason("quarantine: the test failed: " + report.fault);
    out.push_back(drained(view, *node, failed.reason));
    lines_.push_back("node " + node->spec->name + " stays in " + failed.reason);
    out.push_back(stands(view, std::move(failed), QuarantinePhase::kFailed));
  } else if (report.tested) {
    give_back(view, *known, *node, out);
  } else {
    untested_[id] = known->since;
  }
}

void QuarantineWatch::give_back(const View& view, const Quarantine& now, const Node& node, Events& out) {
  Quarantine returned{.node = node.id, .returned = view.now};
  out.push_back(stands(view, std::move(returned), QuarantinePhase::kReturned));
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags &= ~kNodeDrain;
  change.reason.clear();
  out.push_back(std::move(change));
  lines_.push_back("node " + node.spec->name + " returns from quarantine" +
                   (untested_.contains(now.node) ? ": it has nothing to test itself with" : ": its test passed"));
  book_.forget(node.id);
  untested_.erase(node.id);
  asked_.erase(node.id);
}

void QuarantineWatch::put(const View& view, const Node& node, const Suspicion& why, Events& out) {
  const Quarantine* before = view.cluster.quarantines.find(node.id.value);
  const bool again = before && before->phase == QuarantinePhase::kReturned && view.now < before->returned + kRemembered;
  Quarantine quarantine{.node = node.id, .since = view.now, .returned = again ? before->returned : Time{}};
  quarantine.reason = std::string("quarantine: ") + (again ? "again after a passed test: " : "") + why.text();
  lines_.push_back("node " + node.spec->name + " is put into " + quarantine.reason);
  // The node's own event comes last: of a turn that is cut short in the log, a record without its drain is lifted at the next look.
  event::NodeStateChanged change = drained(view, node, quarantine.reason);
  out.push_back(stands(view, std::move(quarantine), again ? QuarantinePhase::kAgain : QuarantinePhase::kEmptying));
  out.push_back(std::move(change));
}

void QuarantineWatch::go_on(const View& view, const Quarantine& now, const Node& node, Events& out, std::vector<Order>& orders) {
  if (!now.holds()) {
    if (view.now < now.changed + kRemembered) return due(now.changed + kRemembered);
    out.push_back(stands(view, now, QuarantinePhase::kNone));
    return;
  }
  if (!is_ours(now, node)) return lift_quarantine(view, node, out);
  const bool begins = now.phase == QuarantinePhase::kEmptying && !node.has_jobs();
  if (begins) out.push_back(stands(view, now, QuarantinePhase::kTesting));
  else if (now.phase != QuarantinePhase::kTesting) return;
  if (const auto at = untested_.find(node.id); !begins && at != untested_.end() && at->second == now.since) {
    if (view.now >= now.changed + kUntested) return give_back(view, now, node, out);
    return due(now.changed + kUntested);
  }
  if (!node.connected) return;  // asked when it registers
  Time& asked = asked_[node.id];
  if (begins || asked == Time{} || asked + kAskAgain <= view.now || asked > view.now) {
    asked = view.now;
    orders.push_back({node.id, node_rpc::TestNode{now.since}});
  }
  due(asked + kAskAgain);
}

Time QuarantineWatch::look(const View& view, Events& out, std::vector<Order>& orders) {
  next_ = kTimeInfinite;
  if (!has_work(view.cluster)) return next_;
  view.cluster.quarantines.for_each([&](uint32_t id, const Quarantine& now) {
    if (const Node* node = view.cluster.nodes.find(id)) go_on(view, now, *node, out, orders);
  });
  const uint32_t most_held = most(view.settings.config());
  std::set<NodeId> holding = held(view.cluster), broken = holding;
  view.cluster.quarantines.for_each([&](uint32_t node, const Quarantine& q) {
    if (q.changed + kHour > view.now) broken.insert(NodeId(node));  // what failed there within the hour was its fault, too
  });
  std::set<NodeId> suspects = std::exchange(touched_, {});
  suspects.insert(named_.begin(), named_.end());
  for (NodeId id : suspects) {
    const Node* node = view.cluster.nodes.find(id.value);
    const Quarantine* known = view.cluster.quarantines.find(id.value);
    if (known && known->phase == QuarantinePhase::kLifted) book_.forget_until(id, known->changed);  // whoever has it knows of that
    const auto why = node && most_held ? book_.suspect(id, view.now, broken) : std::nullopt;
    if (!why || !sched::node_usable(*node) || (known && known->holds())) {
      named_.erase(id);  // it is none any more, or is out of service already
    } else if (holding.size() < most_held) {
      named_.erase(id);
      put(view, *node, *why, out);
      holding.insert(id);
      broken.insert(id);
    } else if (named_.insert(id).second) {
      lines_.push_back("node " + node->spec->name + " is a suspect: " + why->text() + "; " + std::to_string(holding.size()) +
                       " in quarantine, which is the most that may be");
    }
  }
  return next_;
}

std::string one_line_reason(std::string text) {
  text.resize(std::min(text.size(), kMostReason));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

void lift_quarantine(const View& view, const Node& node, Events& out) {
  const Quarantine* known = view.cluster.quarantines.find(node.id.value);
  if (!known || !known->holds()) return;
  out.push_back(stands(view, Quarantine{.node = node.id}, QuarantinePhase::kLifted));
}

}  // namespace muster::slurmctld
