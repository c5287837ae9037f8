#include "sched/placement.h"

#include <algorithm>

#include "hostlist/hostlist.h"
#include "sched/gang.h"

namespace muster::sched {

std::vector<uint32_t> spread_tasks(const std::vector<uint32_t>& caps, uint32_t tasks, bool cyclic) {
  std::vector<uint32_t> out(caps.size(), 0);
  uint32_t left = tasks;
  for (size_t i = 0; i < caps.size() && left > 0; ++i) {
    out[i] = 1;
    --left;
  }
  if (!cyclic) {
    for (size_t i = 0; i < caps.size() && left > 0; ++i) {
      const uint32_t more = std::min(left, caps[i] - std::min(out[i], caps[i]));
      out[i] += more;
      left -= more;
    }
    return out;
  }
  // Round robin; as many rounds at once as the smallest remaining room allows.
  while (left > 0) {
    uint32_t open = 0, least = kManyTasks;
    for (size_t i = 0; i < caps.size(); ++i)
      if (out[i] < caps[i]) {
        ++open;
        least = std::min(least, caps[i] - out[i]);
      }
    if (open == 0) break;
    const uint32_t rounds = std::max(std::min(least, left / open), 1u);
    for (size_t i = 0; i < caps.size() && left > 0; ++i) {
      if (out[i] >= caps[i]) continue;
      out[i] += rounds;
      left -= rounds;
    }
  }
  return out;
}

namespace {

class Placer {
 public:
  Placer(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter,
         Duration waited, Uid user)
      : nodes_(nodes),
        c_(c),
        s_(c.shape),
        params_(params),
        filter_(filter),
        waited_(waited),
        user_(c.uid == RequestClass::kAnyone ? user : c.uid) {}

  Placement run() {
    open_ = c_.feasible & nodes_.usable();
    if (s_.whole) open_ &= nodes_.idle();
    if (s_.keeps_others_off()) open_ &= nodes_.idle() | nodes_.owned();
    if (s_.exclusive_topo && c_.topology) {
      const Bitmap busy = nodes_.known() - nodes_.idle();
      open_ -= c_.topology->leaf_mates(busy);
    }
    drop_kept_for_others();
    if (!open_.contains(c_.required)) return required_missing();
    if (c_.alternatives.empty()) return gang(open_);
    const Bitmap all = open_;
    Placement last = Later{};
    for (const Bitmap& alternative : c_.alternatives) {
      last = gang(all & alternative);
      if (std::holds_alternative<Placed>(last)) return last;
    }
    return last;
  }

 private:
  void drop_kept_for_others() {
    if (!nodes_.owned().intersects(open_)) return;
    const Bitmap owned = nodes_.owned() & open_;
    owned.for_each([&](size_t id) {
      if (!admits(nodes_.kept_for(static_cast<uint32_t>(id)), s_.newcomer(user_))) open_.reset(id);
    });
  }

  Placement required_missing() const {
    const Bitmap down = c_.required - nodes_.usable();
    if (down.none()) return Later{Reason::kResources, {}};
    std::vector<std::string> names;
    down.for_each([&](size_t id) {
      if (const Node* n = nodes_.node(static_cast<uint32_t>(id))) names.push_back(n->spec->name);
    });
    return Later{Reason::kReqNodeNotAvail, "ReqNodeNotAvail, UnavailableNodes:" + compress_hosts(names)};
  }

  Placement gang(const Bitmap& open) {
    // Each try gives fewer tasks to the nodes whose layout refused what counting had promised, and leaves out those
    // that take none.
    Bitmap refused;
    TaskCaps caps;
    for (int tries = 0; tries < 256; ++tries) {
      Gang gang(nodes_, c_, params_, filter_, open - refused, waited_, caps);
      if (!gang.choose()) return Later{Reason::kResources, gang.detail()};
      if (auto placed = fix(gang, refused, caps)) return std::move(*placed);
    }
    return Later{};
  }

  // The most tasks, fewer than picked, that the node's layout takes.
  uint32_t fewer_tasks(const Pick& p) const {
    uint32_t n = s_.num_tasks ? p.tasks - 1 : 0;
    while (n > 0 && !choose(p, n)) --n;
    return n;
  }
  std::optional<NodeShare> choose(const Pick& p, uint32_t tasks) const {
    return choose_on_node(s_, nodes_.kind(p.node), NodeId(p.node), nodes_.use_beyond(p.node, p.others), tasks, p.job_gres);
  }

  // Turns chosen nodes and task counts into CPUs and devices.
  std::optional<Placed> fix(const Gang& gang, Bitmap& refused, TaskCaps& caps) {
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
    bool asleep = false, complete = true;
    for (const Pick& p : gang.picks()) {
      auto share = choose(p, p.tasks);
      if (!share) {
        if (const uint32_t fewer = fewer_tasks(p)) caps[p.node] = fewer;
        else refused.set(p.node);
        complete = false;
        continue;
      }
      asleep |= nodes_.asleep().test(p.node);
      allocation->nodes.push_back(std::move(*share));
    }
    if (!complete) return std::nullopt;
    return Placed{std::move(allocation), asleep};
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

}  // namespace

Placement place(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter,
                Duration waited, Uid user) {
  if (c.never) return *c.never;
  if (c.preferred) {
    Placement first = Placer(nodes, *c.preferred, params, filter, waited, user).run();
    if (std::holds_alternative<Placed>(first)) return first;
  }
  return Placer(nodes, c, params, filter, waited, user).run();
}

}  // namespace muster::sched
