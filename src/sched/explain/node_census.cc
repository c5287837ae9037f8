#include "sched/explain/node_census.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

constexpr size_t kReasonsShown = 3;

uint32_t tasks_on(const Shape& s, const Kind& kind, const NodeFree& free) {
  const uint32_t tasks = count_tasks(s, kind, free);
  return s.num_tasks == 0 && tasks < s.tasks_per_node ? kNoTasks : tasks;
}

struct Amounts {
  uint32_t units = 0;
  uint64_t mem_mb = 0;
  std::vector<uint64_t> gres;
  NodeFree free() const { return {units, mem_mb, gres}; }
};

void take_away(NodeUse& use, const NodeShare& share) {
  use.cpus -= share.cpus;
  use.mem_mb -= std::min(use.mem_mb, share.mem_mb);
  for (const GresShare& g : share.gres)
    for (GresShare& held : use.gres)
      if (held.name == g.name && held.type == g.type) {
        held.count -= std::min(held.count, g.count);
        held.devices -= g.devices;
      }
}

class Counter {
 public:
  Counter(const Cluster& cluster, Availability& nodes, const Pending& pending, const Params& params, const RequestClass& c, Uid user,
          WhatIf& queue)
      : cluster_(cluster), nodes_(nodes), pending_(pending), params_(params), c_(c), user_(user), queue_(queue) {
    for (Bitmap& b : by_cause_) b = Bitmap(nodes.size());
    out_.busy = Bitmap(nodes.size());
  }

  Census run() {
    const Partition& partition = cluster_.partitions.at(c_.partition);
    Bitmap left(nodes_.size());
    partition.nodes.for_each([&](size_t id) {
      if (id < nodes_.size()) left.set(id);
    });
    by_cause_[static_cast<size_t>(NodeCause::kFree)] = left;
    const NodeQuestion question{nodes_, c_, user_};
    const Bitmap features = with_features();
    sort_out({question, features, [&](uint32_t id) { return queue_.promised(id, c_); }, {}}, left,
             [&](NodeCause cause, const NodeRule& rule, uint32_t id) {
               by_cause_[static_cast<size_t>(NodeCause::kFree)].reset(id);
               by_cause_[static_cast<size_t>(cause)].set(id);
               if (rule.by == HelpedBy::kJobsEnd || rule.by == HelpedBy::kForeseen) out_.busy.set(id);
             });
    by_cause_[static_cast<size_t>(NodeCause::kFree)].for_each([&](size_t at) {
      const auto id = static_cast<uint32_t>(at);
      const uint32_t tasks = tasks_on(c_.shape, nodes_.kind(id), free_for(question, id));
      out_.tasks_free += tasks == kManyTasks ? 0 : tasks;
    });
    when_free();
    for (int i = 1; i < kNodeCauseCount; ++i) add(static_cast<NodeCause>(i));
    add(NodeCause::kFree);
    return std::move(out_);
  }

 private:
  Bitmap with_features() const {
    Bitmap out(nodes_.size(), true);
    std::map<std::string, Bitmap> after_boot;
    const FeatureIndex index = [&](const std::string& name) {
      return c_.unchanged ? &(after_boot[name] = nodes_.could_have(name)) : nodes_.feature(name);
    };
    for (const FeatureExpr& e : c_.shape.features.base) out &= eval_features(e, index);
    Bitmap any(nodes_.size());
    for (const FeatureExpr& e : c_.shape.features.matching) any |= eval_features(e, index);
    if (!c_.shape.features.matching.empty()) out &= any;
    return out;
  }

  // Finds when each busy node is free for the request, assuming that the jobs there leave at their time limits until the request fits.
  void when_free() {
    struct Leaving {
      uint32_t node;
      Time end;
      const NodeShare* share;
    };
    std::vector<Leaving> leaving;
    for (const auto& [id, r] : pending_.running())
      for (const NodeShare& s : r.allocation->nodes)
        if (s.node.value < nodes_.size() && out_.busy.test(s.node.value)) leaving.push_back({s.node.value, r.ends, &s});
    std::sort(leaving.begin(), leaving.end(),
              [](const Leaving& a, const Leaving& b) { return a.node != b.node ? a.node < b.node : a.end < b.end; });
    for (size_t index = 0; index < leaving.size();) {
      const uint32_t node = leaving[index].node;
      NodeUse use = nodes_.use(node);
      Time free_at{};
      size_t end = index;
      while (end < leaving.size() && leaving[end].node == node) ++end;
      for (; index < end && free_at == Time{}; ++index) {
        take_away(use, *leaving[index].share);
        if (index + 1 == end || fits_with(node, use)) free_at = leaving[index].end;
      }
      index = end;
      free_at_.push_back({node, free_at});
    }
  }

  bool fits_with(uint32_t node, const NodeUse& use) const {
    if (c_.shape.whole || c_.shape.keeps_others_off() || nodes_.owned().test(node)) return false;
    const Kind& kind = nodes_.kind(node);
    Amounts have{free_units(kind, use.cpus, params_.allocate_cores || params_.linear), kind.mem_mb - std::min(kind.mem_mb, use.mem_mb),
                 std::vector<uint64_t>(kind.gres.size())};
    free_gres(kind, use.gres, have.gres.data());
    return tasks_on(c_.shape, kind, have.free()) != kNoTasks;
  }

  void add(NodeCause cause) {
    const Bitmap& nodes = by_cause_[static_cast<size_t>(cause)];
    NodesLeftOut out;
    out.cause = cause;
    out.count = static_cast<uint32_t>(nodes.count());
    if (!out.count && cause != NodeCause::kFree) return;
    out.nodes = node_list(cluster_, nodes);
    for (const auto& [node, at] : free_at_) {
      if (!nodes.test(node)) continue;
      if (out.first == Time{} || at < out.first) out.first = at;
      out.last = std::max(out.last, at);
    }
    if (cause == NodeCause::kDown || cause == NodeCause::kDrained) out.detail = reasons(nodes);
    out_.causes.push_back(std::move(out));
  }

  std::string reasons(const Bitmap& nodes) const {
    std::vector<std::string> shown;
    nodes.for_each([&](size_t id) {
      const Node* n = nodes_.node(static_cast<uint32_t>(id));
      if (n && !n->reason.empty() && shown.size() < kReasonsShown && std::find(shown.begin(), shown.end(), n->reason) == shown.end())
        shown.push_back(n->reason);
    });
    return join(shown, "; ");
  }

  const Cluster& cluster_;
  Availability& nodes_;
  const Pending& pending_;
  const Params& params_;
  const RequestClass& c_;
  const Uid user_;
  WhatIf& queue_;
  std::array<Bitmap, kNodeCauseCount> by_cause_;
  std::vector<std::pair<uint32_t, Time>> free_at_;
  Census out_;
};

}  // namespace

Census take_census(const Cluster& cluster, Availability& nodes, const Pending& pending, const Params& params, RequestClass& c, Uid user,
                   WhatIf& queue) {
  resolve(c, cluster, nodes, cluster.partitions.at(c.partition));
  return Counter(cluster, nodes, pending, params, c, user, queue).run();
}

}  // namespace muster::sched
