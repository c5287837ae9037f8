#include "sched/place/placement.h"

#include <algorithm>

#include "sched/place/gang.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {

namespace {

class Placer {
 public:
  Placer(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter, Duration waited, Uid user)
      : nodes_(nodes),
        c_(c),
        s_(c.shape),
        params_(params),
        filter_(filter),
        waited_(waited),
        user_(c.uid == RequestClass::kAnyone ? user : c.uid) {}

  Placement run() {
    const NodeQuestion question{nodes_, c_, user_};
    open_ = nodes_left(question);
    if (Hold missing = nodes_missing(question, open_)) return Later{missing.reason, std::move(missing.detail)};
    if (c_.alternatives.empty()) return gang(open_);
    const Bitmap all = open_;
    Placement last = Later{};
    for (size_t i = 0; i < c_.alternatives.size(); ++i) {
      last = gang((all & c_.alternatives[i]) - not_to_reboot(i));
      if (placed(last)) return last;
    }
    return last;
  }

 private:
  // Nodes that could have the features only after a reboot, and that others use.
  Bitmap not_to_reboot(size_t alternative) const {
    if (!c_.unchanged || alternative >= c_.unchanged->alternatives.size()) return {};
    return c_.alternatives[alternative] - c_.unchanged->alternatives[alternative] -
           (params_.reboots ? nodes_.idle() : nodes_.idle() & nodes_.asleep());
  }

  Placement gang(const Bitmap& open) {
    // Each try gives fewer tasks to the nodes whose layout refused what counting had promised, and leaves out those
    // that take none.
    Bitmap refused;
    TaskCaps caps;
    for (int tries = 0; tries < 256; ++tries) {
      Gang gang(nodes_, c_, params_, filter_, open - refused, waited_, caps);
      if (!gang.choose()) return Later{Reason::kResources, gang.detail().empty() ? rules_say({nodes_, c_, user_}) : gang.detail()};
      if (AllocationPtr fixed = fix(gang, refused, caps)) return fixed;
    }
    return Later{};
  }

  // The most tasks that the node's layout takes, fewer than were picked for it.
  uint32_t fewer_tasks(const Pick& p) const {
    uint32_t n = s_.num_tasks ? p.tasks - 1 : 0;
    while (n > 0 && !choose(p, n)) --n;
    return n;
  }
  std::optional<NodeShare> choose(const Pick& p, uint32_t tasks) const {
    return choose_on_node(s_, nodes_.kind(p.node), NodeId(p.node), nodes_.use_for(p.node, onlooker_of(c_, p.others)), tasks, p.job_gres);
  }

  // Turns chosen nodes and task counts into CPUs and devices; null: a layout refused.
  AllocationPtr fix(const Gang& gang, Bitmap& refused, TaskCaps& caps) {
    auto allocation = std::make_shared<Allocation>();
    allocation->whole_nodes = s_.whole;
    allocation->exclusive_user = s_.exclusive_user;
    if (s_.exclusive_label) allocation->mcs_label = s_.mcs_label;
    allocation->oversubscribe = s_.oversubscribe;
    allocation->switches = gang.switches();
    if (s_.exclusive_topo && c_.topology) {
      Bitmap used(nodes_.size());
      for (const Pick& p : gang.picks()) used.set(p.node);
      (c_.topology->leaf_mates(used) & nodes_.known()).for_each([&](size_t id) {
        allocation->fenced.push_back(static_cast<uint32_t>(id));
      });
    }
    allocation->nodes.reserve(gang.picks().size());
    bool complete = true;
    for (const Pick& p : gang.picks()) {
      auto share = choose(p, p.tasks);
      if (!share) {
        if (const uint32_t fewer = fewer_tasks(p)) caps[p.node] = fewer;
        else refused.set(p.node);
        complete = false;
        continue;
      }
      allocation->nodes.push_back(std::move(*share));
    }
    return complete ? std::move(allocation) : nullptr;
  }

  Availability& nodes_;
  RequestClass& c_;
  const Shape& s_;
  const Params& params_;
  const NodeFilter* filter_;
  Duration waited_;
  Uid user_;
  Bitmap open_;
};

// Lays over the nodes what reservations of cores and devices keep from the class, and takes it away again. So other classes look anew after a
// placement of such a class, which is the price of those reservations.
class KeptParts {
 public:
  KeptParts(Availability& nodes, const RequestClass& c) : nodes_(nodes) {
    if (!c.reserved) return;
    for (NodeShare part : c.reserved->parts) {
      const uint32_t id = part.node.value;
      if (!nodes_.usable().test(id)) continue;
      const NodeUse use = nodes_.use(id);
      part.cpus -= use.cpus;  // who is there keeps it as it is
      for (GresShare& kept : part.gres) {
        for (const GresShare& held : use.gres)
          if (held.name == kept.name) kept.devices -= held.devices;
        kept.count = kept.devices.count();
      }
      std::erase_if(part.gres, [](const GresShare& g) { return g.count == 0; });
      if (part.cpus.none() && part.gres.empty()) continue;
      nodes_.consume(part, kNothing, {}, kNoPartition);
      laid_.push_back(std::move(part));
    }
  }
  ~KeptParts() {
    for (const NodeShare& part : laid_) nodes_.give_back(part, kNothing, kNoPartition);
  }
  KeptParts(const KeptParts&) = delete;
  KeptParts& operator=(const KeptParts&) = delete;

 private:
  static inline const Allocation kNothing{};
  static constexpr uint32_t kNoPartition = Cluster::kNoPartition;
  Availability& nodes_;
  std::vector<NodeShare> laid_;
};

}  // namespace

Placement place(Availability& nodes, RequestClass& asked, const Params& params, const NodeFilter* filter, Duration waited, Uid user) {
  if (asked.never) return Never{*asked.never};
  const KeptParts kept(nodes, asked);
  if (asked.preferred) {
    Placement first = Placer(nodes, *asked.preferred, params, filter, waited, user).run();
    if (placed(first)) return first;
  }
  if (asked.unchanged) {
    asked.unchanged->time_limit_min = asked.time_limit_min;
    Placement now = Placer(nodes, *asked.unchanged, params, filter, waited, user).run();
    if (placed(now)) return now;
    if (waited < asked.shape.delay_boot)
      return Later{Reason::kResources, "no node is rebooted for its features before --delay-boot is over"};
  }
  return Placer(nodes, asked, params, filter, waited, user).run();
}

}  // namespace muster::sched
