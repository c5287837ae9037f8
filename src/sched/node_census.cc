#include "sched/node_census.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace muster::sched {
namespace {

constexpr uint32_t kPlenty = 1u << 20;
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

// Which of the three is too little in `have`, the others being as in `enough`.
NodeCause too_little(const Shape& s, const Kind& kind, const Amounts& have, const Amounts& enough, NodeCause cpus,
                     NodeCause memory, NodeCause devices, NodeCause otherwise) {
  if (tasks_on(s, kind, {have.units, enough.mem_mb, enough.gres}) == kNoTasks) return cpus;
  if (tasks_on(s, kind, {enough.units, have.mem_mb, enough.gres}) == kNoTasks) return memory;
  if (tasks_on(s, kind, {enough.units, enough.mem_mb, have.gres}) == kNoTasks) return devices;
  return otherwise;
}

Amounts of_idle(const Kind& kind) {
  Amounts a{kind.units, kind.mem_mb, std::vector<uint64_t>(kind.gres.size())};
  free_gres(kind, {}, a.gres.data());
  return a;
}

NodeCause why_unusable(const Node& n) {
  if (n.flags & (kNodeDrain | kNodeFail)) return NodeCause::kDrained;
  if (n.admin == NodeState::kDown || n.admin == NodeState::kUnknown || n.admin == NodeState::kError ||
      (n.flags & (kNodeNoRespond | kNodeInvalid)))
    return NodeCause::kDown;
  return NodeCause::kUnavailable;
}

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
  Counter(const Cluster& cluster, Availability& nodes, const Pending& pending, const Params& params,
          const RequestClass& c, Uid user, WhatIf& queue)
      : cluster_(cluster), nodes_(nodes), pending_(pending), params_(params), c_(c), user_(user), queue_(queue) {
    for (Bitmap& b : by_cause_) b = Bitmap(nodes.size());
    out_.busy = Bitmap(nodes.size());
  }

  Census run() {
    const Partition& p = cluster_.partitions.at(c_.partition);
    never_features();
    p.nodes.for_each([&](size_t id) {
      if (id >= nodes_.size()) return;
      const NodeCause cause = cause_of(static_cast<uint32_t>(id));
      by_cause_[static_cast<size_t>(cause)].set(id);
      if (cause >= NodeCause::kOtherUser && cause != NodeCause::kPromised) out_.busy.set(id);
    });
    when_free();
    for (int i = 1; i < kNodeCauseCount; ++i) add(static_cast<NodeCause>(i));
    add(NodeCause::kFree);
    return std::move(out_);
  }

 private:
  void never_features() {
    with_features_ = Bitmap(nodes_.size(), true);
    const FeatureIndex index = [&](const std::string& name) { return nodes_.feature(name); };
    for (const FeatureExpr& e : c_.shape.features.base) with_features_ &= eval_features(e, index);
    Bitmap any(nodes_.size());
    for (const FeatureExpr& e : c_.shape.features.matching) any |= eval_features(e, index);
    if (!c_.shape.features.matching.empty()) with_features_ &= any;
  }

  NodeCause cause_of(uint32_t id) {
    const Node* node = nodes_.node(id);
    if (!node || !nodes_.known().test(id)) return NodeCause::kUnavailable;
    if (!with_features_.test(id)) return NodeCause::kFeatures;
    const Kind& kind = nodes_.kind(id);
    if (!c_.feasible.test(id)) return why_never(kind);
    if (!nodes_.usable().test(id)) return why_unusable(*node);
    return why_not_now(id, kind);
  }

  NodeCause why_never(const Kind& kind) const {
    if (!kind_qualifies(c_.shape, kind)) return NodeCause::kMake;
    const Amounts idle = of_idle(kind);
    if (tasks_on(c_.shape, kind, idle.free()) != kNoTasks) return NodeCause::kListed;
    const Amounts plenty{kPlenty, uint64_t{1} << 50, std::vector<uint64_t>(kind.gres.size(), kPlenty)};
    // A kind without the device at all has no entry that plenty could fill.
    for (const auto* needs : {&c_.shape.per_node, &c_.shape.per_job, &c_.shape.per_task, &c_.shape.per_socket})
      for (const GresNeed& need : *needs)
        if (gres_available(need, kind, idle.gres) == 0) return NodeCause::kTooFewDevices;
    return too_little(c_.shape, kind, idle, plenty, NodeCause::kTooFewCpus, NodeCause::kTooLittleMemory,
                      NodeCause::kTooFewDevices, NodeCause::kTooFewCpus);
  }

  NodeCause why_not_now(uint32_t id, const Kind& kind) {
    const bool idle = nodes_.idle().test(id);
    const NodeOwner& owner = nodes_.kept_for(id);
    if (owner.user != NodeOwner::kAnyone && owner.user != user_) return NodeCause::kOtherUser;
    if (!owner.label.empty() && owner.label != c_.shape.mcs_label) return NodeCause::kOtherLabel;
    if (c_.shape.whole && !idle) return NodeCause::kNotIdle;
    if (!idle && !admits(owner, c_.shape.newcomer(user_))) return NodeCause::kNotIdle;
    const GresCounts gres = nodes_.gres_free(id);
    const Amounts have{c_.shape.oversubscribe ? kind.units : nodes_.units_free(id), nodes_.mem_free(id),
                       {gres.begin(), gres.end()}};
    const uint32_t tasks = tasks_on(c_.shape, kind, have.free());
    if (tasks == kNoTasks)
      return too_little(c_.shape, kind, have, of_idle(kind), NodeCause::kCpusInUse, NodeCause::kMemoryInUse,
                        NodeCause::kDevicesInUse, NodeCause::kCpusInUse);
    JobGres whole;
    for (const GresNeed& need : c_.shape.per_job) whole.counts.push_back(std::min<uint64_t>(need.count, 1));
    const uint32_t least = c_.shape.num_tasks ? 1 : std::max(c_.shape.tasks_per_node, 1u);
    if (!c_.shape.oversubscribe && !counts_decide(c_.shape, kind) &&
        !choose_on_node(c_.shape, kind, NodeId(id), nodes_.use(id), least, whole))
      return NodeCause::kLayoutInUse;
    if (queue_.promised(id, c_)) return NodeCause::kPromised;
    out_.tasks_free += tasks == kManyTasks ? 0 : tasks;
    return NodeCause::kFree;
  }

  // For each busy node: the jobs there go by their time limits, until the request fits.
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
    for (size_t i = 0; i < leaving.size();) {
      const uint32_t node = leaving[i].node;
      NodeUse use = nodes_.use(node);
      Time free_at{};
      size_t end = i;
      while (end < leaving.size() && leaving[end].node == node) ++end;
      for (; i < end && free_at == Time{}; ++i) {
        take_away(use, *leaving[i].share);
        if (i + 1 == end || fits_with(node, use)) free_at = leaving[i].end;
      }
      i = end;
      free_at_.push_back({node, free_at});
    }
  }

  bool fits_with(uint32_t node, const NodeUse& use) const {
    if (c_.shape.whole || c_.shape.keeps_others_off() || nodes_.owned().test(node)) return false;
    const Kind& kind = nodes_.kind(node);
    Amounts have{free_units(kind, use.cpus, params_.allocate_cores || params_.linear),
                 kind.mem_mb - std::min(kind.mem_mb, use.mem_mb), std::vector<uint64_t>(kind.gres.size())};
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
      if (n && !n->reason.empty() && shown.size() < kReasonsShown &&
          std::find(shown.begin(), shown.end(), n->reason) == shown.end())
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
  Bitmap with_features_;
  std::array<Bitmap, kNodeCauseCount> by_cause_;
  std::vector<std::pair<uint32_t, Time>> free_at_;
  Census out_;
};

}  // namespace

Census take_census(const Cluster& cluster, Availability& nodes, const Pending& pending, const Params& params,
                   RequestClass& c, Uid user, WhatIf& queue) {
  c.resolve(cluster, nodes, cluster.partitions.at(c.partition));
  return Counter(cluster, nodes, pending, params, c, user, queue).run();
}

}  // namespace muster::sched
