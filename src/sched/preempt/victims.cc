#include "sched/preempt/victims.h"

#include <algorithm>

#include "sched/fit/node_fit.h"

namespace muster::sched {

bool VictimSearch::Offer::operator<(const Offer& o) const {
  if (rank != o.rank) return rank > o.rank;
  if (cost != o.cost) return cost > o.cost;
  return node > o.node;
}

VictimSearch::VictimSearch(Availability& nodes, const RequestClass& asked, const Params& params, const NodeFilter* filter,
                           const Occupants& occupants, const PreemptRule& rule, const Preemptor& who, Duration waited,
                           std::vector<uint32_t> sure)
    : nodes_(nodes),
      class_(asked.unchanged ? *asked.unchanged : asked),  // nobody makes room for a reboot
      s_(class_.shape),
      params_(params),
      filter_(filter),
      occupants_(occupants),
      rule_(rule),
      who_(who),
      waited_(waited),
      feasible_(class_.feasible & nodes.usable()),
      wanted_(s_.num_tasks ? 1 : std::max(s_.tasks_per_node, 1u)),
      target_(s_.num_tasks ? std::max(1u, (s_.num_tasks + std::max(s_.min_nodes, 1u) - 1) / std::max(s_.min_nodes, 1u)) : wanted_),
      need_nodes_(std::max({s_.min_nodes, 1u, static_cast<uint32_t>(asked.required.count())})),
      sure_(std::move(sure)),
      verdict_(occupants.size(), 0),
      lifted_(occupants.size(), false),
      gathered_(nodes.size()) {
  class_.preferred = nullptr;  // where it would like to be is not worth anybody's place
  class_.blocked_at = 0;
  class_.too_full = Bitmap();
  class_.too_full_at = 0;
}

bool VictimSearch::may_go(uint32_t index) {
  int8_t& v = verdict_[index];
  if (v == 0) v = !occupants_.at(index).taken && rule_.may(who_, *occupants_.at(index).job) ? 1 : -1;
  return v > 0;
}

// What the job adds to the cost of one of its nodes.
double VictimSearch::part_of(uint32_t index) const {
  const Occupant& o = occupants_.at(index);
  if (lifted_[index] || o.aside) return 0;
  return o.cost / static_cast<double>(std::min<size_t>(o.shares.size(), need_nodes_));
}

std::vector<uint32_t> VictimSearch::movable(uint32_t node) {
  std::vector<uint32_t> out;
  for (uint32_t index : occupants_.on(node))
    if (!lifted_[index] && may_go(index)) out.push_back(index);
  return out;
}

// Whether whoever is on the node could go, for a job that wants it whole.
bool VictimSearch::all_may_go(uint32_t node, const std::vector<uint32_t>& movable) const {
  const Node* n = nodes_.node(node);
  size_t lifted = 0;
  for (uint32_t index : occupants_.on(node)) lifted += lifted_[index];
  return n && n->jobs_running <= movable.size() + lifted;
}

// Puts the node among the offers with the least that it may cost.
void VictimSearch::open(uint32_t node) {
  Offer o{.node = node};
  const std::vector<uint32_t> all = movable(node);
  if (!all.empty() && s_.whole) {
    if (!all_may_go(node, all)) return;
    for (uint32_t index : all) {
      o.cost += part_of(index);
      o.rank = std::max(o.rank, occupants_.at(index).aside ? 0 : occupants_.at(index).rank);
    }
  }
  offers_.push(std::move(o));
}

VictimSearch::Left VictimSearch::left_now(uint32_t node) const {
  const GresCounts gres = nodes_.gres_free(node);
  return {nodes_.units_free(node), nodes_.mem_free(node), {gres.begin(), gres.end()}};
}

// Where jobs share CPUs or devices this is more than comes back; the placement says the truth.
void VictimSearch::add(uint32_t node, uint32_t index, Left& left) const {
  const Kind& kind = nodes_.kind(node);
  for (const NodeShare& share : occupants_.at(index).shares) {
    if (share.node.value != node) continue;
    const auto cpus = static_cast<uint32_t>(share.cpus.count());
    left.units = std::min(kind.units, left.units + (params_.allocate_cores || params_.linear ? cpus / kind.threads : cpus));
    left.mem_mb = std::min(kind.mem_mb, left.mem_mb + share.mem_mb);
    for (const GresShare& g : share.gres)
      for (size_t i = 0; i < kind.gres.size(); ++i) {
        const GresDevices& have = kind.gres[i];
        if (have.name != g.name || have.type != g.type) continue;
        uint64_t back = g.count;
        if (g.devices.any() && g.shares.empty()) {
          back = 0;
          for (size_t d = g.devices.next(have.first_index); d < have.first_index + have.count; d = g.devices.next(d + 1)) ++back;
        }
        left.gres[i] = std::min(have.count, left.gres[i] + back);
      }
  }
}

uint32_t VictimSearch::tasks(uint32_t node, const Left& left) const {
  return count_tasks(s_, nodes_.kind(node), {left.units, left.mem_mb, left.gres});
}

// The node with as few victims as it takes, the cheapest first.
std::optional<VictimSearch::Offer> VictimSearch::offer(uint32_t node) {
  Offer out{.node = node, .exact = true};
  const bool promised = filter_ && filter_->promised().test(node);
  std::vector<uint32_t> all = promised ? std::vector<uint32_t>() : movable(node);
  Left left = left_now(node);
  if (s_.whole) {
    if (!all_may_go(node, all)) return std::nullopt;
    for (uint32_t index : all) add(node, index, left);
    out.victims = std::move(all);
    out.tasks = tasks(node, left);
  } else {
    std::ranges::sort(all, [&](uint32_t a, uint32_t b) {
      const Occupant &x = occupants_.at(a), &y = occupants_.at(b);
      if (x.aside != y.aside) return x.aside;
      return x.rank != y.rank ? x.rank < y.rank : x.cost != y.cost ? x.cost < y.cost : a < b;
    });
    out.tasks = tasks(node, left);
    for (size_t i = 0; i < all.size() && out.tasks < target_; ++i) {
      out.victims.push_back(all[i]);
      add(node, all[i], left);
      out.tasks = tasks(node, left);
    }
  }
  if (promised && out.tasks) out.tasks = filter_->tasks(node, class_, out.tasks);
  if (out.tasks < wanted_) return std::nullopt;
  for (uint32_t index : out.victims) {
    out.cost += part_of(index);
    if (!occupants_.at(index).aside) out.rank = std::max(out.rank, occupants_.at(index).rank);
  }
  return out;
}

void VictimSearch::lift(uint32_t index) {
  lifted_[index] = true;
  victims_.push_back(index);
  occupants_.lift(index, nodes_);
}

// Takes the node, and whoever has to go from it; the other nodes of those become cheaper.
void VictimSearch::gather(Offer offer) {
  gathered_.set(offer.node);
  ++nodes_gathered_;
  tasks_ += offer.tasks;
  for (uint32_t index : offer.victims) lift(index);
  for (uint32_t index : offer.victims)
    for (const NodeShare& share : occupants_.at(index).shares)
      if (feasible_.test(share.node.value) && !gathered_.test(share.node.value)) open(share.node.value);
}

bool VictimSearch::enough() const { return nodes_gathered_ >= need_nodes_ && (!s_.num_tasks || s_.overcommit || tasks_ >= s_.num_tasks); }

bool VictimSearch::fits() {
  class_.feasible = gathered_;
  Placement got = place(nodes_, class_, params_, filter_, waited_, who_.request.uid);
  const AllocationPtr* allocation = muster::sched::placed(got);
  if (allocation) placed_ = *allocation;
  return allocation != nullptr;
}

bool VictimSearch::stands_in_place(uint32_t index) const {
  return std::ranges::any_of(occupants_.at(index).shares, [&](const NodeShare& share) {
    return std::ranges::find(placed_->nodes, share.node, &NodeShare::node) != placed_->nodes.end();
  });
}

// Whether the job stands on so many of the gathered nodes that too few are left without it, by counting: then no placement needs to be tried.
// Where CPUs are shared a node may have more room than is counted.
bool VictimSearch::is_needed(uint32_t index) const {
  if (s_.oversubscribe) return false;
  size_t left = nodes_gathered_;
  for (const NodeShare& share : occupants_.at(index).shares) {
    const uint32_t node = share.node.value;
    if (!gathered_.test(node)) continue;
    const bool enough = s_.whole ? nodes_.idle().test(node) : tasks(node, left_now(node)) >= wanted_;
    left -= !enough;
  }
  return left < need_nodes_;
}

void VictimSearch::drop_needless() {
  std::ranges::sort(victims_, [&](uint32_t a, uint32_t b) {
    const Occupant &x = occupants_.at(a), &y = occupants_.at(b);
    if (x.aside != y.aside) return y.aside;
    return x.rank != y.rank ? x.rank > y.rank : x.cost != y.cost ? x.cost > y.cost : a > b;
  });
  std::vector<uint32_t> needed;
  for (uint32_t index : victims_) {
    if (std::ranges::find(sure_, index) != sure_.end()) {
      needed.push_back(index);
      continue;
    }
    const AllocationPtr before = placed_;
    occupants_.put_back(index, nodes_);
    if (!stands_in_place(index) || (!is_needed(index) && fits())) continue;
    placed_ = before;
    occupants_.lift(index, nodes_);
    needed.push_back(index);
  }
  victims_ = std::move(needed);
}

void VictimSearch::put_all_back() {
  for (uint32_t index : victims_) occupants_.put_back(index, nodes_);
}

std::optional<MadeRoom> VictimSearch::settle() {
  drop_needless();
  put_all_back();
  std::ranges::sort(victims_);
  return MadeRoom{placed_, victims_};
}

std::optional<MadeRoom> VictimSearch::run() {
  if (occupants_.empty() || !feasible_.contains(class_.required)) return std::nullopt;
  for (uint32_t index : sure_) lift(index);
  bool possible = true;
  class_.required.for_each([&](size_t node) {
    if (!possible) return;
    auto got = offer(static_cast<uint32_t>(node));
    if (got) gather(std::move(*got));
    else possible = false;
  });
  if (possible)
    feasible_.for_each([&](size_t node) {
      if (!gathered_.test(node)) open(static_cast<uint32_t>(node));
    });
  size_t try_at = 0, step = 1;  // nodes; where counting says more than the layout or the topology allow, more and more are added
  while (possible) {
    if (enough() && nodes_gathered_ >= try_at) {
      if (fits()) return settle();
      try_at = nodes_gathered_ + step;
      step *= 2;
    }
    if (offers_.empty()) break;
    Offer next = offers_.top();
    offers_.pop();
    if (gathered_.test(next.node)) continue;
    auto exact = offer(next.node);
    if (!exact) continue;
    if (next < *exact) gather(std::move(*exact));  // it became cheaper
    else if (!(*exact < next)) gather(std::move(*exact));
    else offers_.push(std::move(*exact));
  }
  if (possible && enough() && fits()) return settle();
  put_all_back();
  return std::nullopt;
}

}  // namespace muster::sched
