#include "sched/reserve/choose.h"

#include <algorithm>

#include "base/saturating.h"
#include "sched/fit/node_fit.h"

namespace muster::sched {
namespace {

constexpr int kDaysAhead = 15;  // in which repetitions are compared one by one: longer than the longest of them takes

struct Span {
  Time from{}, until{};
};
bool meet(const Span& a, const Span& b) { return a.from < b.until && b.from < a.until; }

Span span_of(const Reservation& r, Time now) { return {r.starts(now), r.ends(now)}; }

// Whether a repetition of r meets the span.
bool repeats_into(const Reservation& r, const Span& span) {
  Reservation at = r;
  if (at.end <= span.from) {
    at.start = next_repetition(r, span.from);
    at.end = at.start + (r.end - r.start);
  }
  return meet({at.start, at.end}, span);
}

class Choice {
 public:
  explicit Choice(const ReservationWish& wish)
      : w_(wish), c_(wish.cluster), r_(wish.reservation), from_(std::max(r_.starts(wish.now), wish.now)) {}

  Result<Reserving> run() {
    taken_.resize(c_.nodes.empty() ? 0 : c_.nodes.last_key() + 1);
    std::string by;
    look_at_others(by);
    if (w_.named && !w_.count) return with_parts(*w_.named, by);
    MUSTER_TRY(candidates, candidates_by_rank());
    if (!w_.count && !by_parts()) {  // all of the partition
      Bitmap all;
      for (const Node* n : candidates) all.set(n->id.value);
      return with_parts(all, by);
    }
    return by_parts() ? parts_of(candidates) : first_of(candidates);
  }

 private:
  bool by_parts() const { return !w_.cores.empty() || !w_.gres_in_all.empty() || !w_.gres_per_node.empty(); }

  // Notes what other reservations have at the same time.
  void look_at_others(std::string& by) {
    if (r_.overlaps()) return;
    c_.reservations.for_each([&](uint32_t, const Reservation& other) {
      if (other.id == r_.id || other.has(kResvAnyNodes) || other.nodes.none()) return;
      // What lay over each other before a change may stay so.
      if (w_.before && other.overlaps() && other.nodes.intersects(w_.before->nodes) && same_time(*w_.before, other, w_.now)) return;
      if (!same_time(r_, other, w_.now)) return;
      by = other.name;
      if (!other.by_cores()) taken_ |= other.nodes;
      for (const NodeShare& part : other.partial) parts_.push_back(&part);
    });
  }

  std::unexpected<Error> overlaps(const std::string& by) const {
    return fail(Errc::kReservationOverlap, {}, "reservation " + by + "; Flags=OVERLAP or MAINT lets them overlap");
  }

  bool reserved_in_part(uint32_t node) const {
    return std::ranges::any_of(parts_, [&](const NodeShare* p) { return p->node.value == node; });
  }

  bool runs_on(const Node& n) const { return !r_.has(kResvIgnoreJobs) && w_.held(n, from_).any; }

  // For nodes that are named: all of them, or nothing.
  Result<Reserving> with_parts(const Bitmap& nodes, const std::string& by) {
    if (nodes.intersects(taken_)) return overlaps(by);
    std::vector<const Node*> list;
    std::string busy;
    nodes.for_each([&](size_t id) {
      const Node* n = c_.nodes.find(static_cast<uint32_t>(id));
      if (!n || !n->spec) return;
      list.push_back(n);
      if (!by_parts() && !w_.keep.test(id) && runs_on(*n)) busy += (busy.empty() ? "" : ",") + n->spec->name;
    });
    if (by_parts()) return parts_of(list);
    for (const Node* n : list)
      if (reserved_in_part(n->id.value)) return overlaps(by);
    if (!busy.empty())
      return fail(Errc::kNodesBusy, {}, "jobs run on when it begins: " + busy + "; Flags=IGNORE_JOBS reserves the nodes in any case");
    return Reserving{nodes, {}};
  }

  Result<const Partition*> partition() const {
    const Partition* p = r_.partition.empty() ? c_.partitions.find(c_.default_partition) : c_.partition(r_.partition);
    if (p) return p;
    return fail(r_.partition.empty() ? Errc::kDefaultPartitionNotSet : Errc::kInvalidPartition);
  }

  Result<Bitmap> with_features(Bitmap nodes) const {
    if (r_.features.empty()) return nodes;
    MUSTER_TRY(wanted, r_.features.parsed());
    for (const std::string& name : wanted.names) {
      bool known = false;
      c_.nodes.for_each(
          [&](uint32_t, const Node& n) { known |= n.spec && std::ranges::find(n.features_active, name) != n.features_active.end(); });
      if (!known) return fail(Errc::kInvalidFeature, {}, "no node has the feature '" + name + "'");
    }
    auto fits = [&](const Node& n) {
      const auto has = [&](const FeatureExpr& e) { return has_features(e, n.features_active); };
      if (!std::ranges::all_of(wanted.base, has)) return false;
      if (!wanted.matching.empty() && std::ranges::none_of(wanted.matching, has)) return false;
      return wanted.counts.empty() || std::ranges::any_of(wanted.counts, [&](const auto& c) { return has(c.expr); });
    };
    nodes.for_each([&](size_t id) {
      const Node* n = c_.nodes.find(static_cast<uint32_t>(id));
      if (!n || !fits(*n)) nodes.reset(id);
    });
    return nodes;
  }

  // The nodes that may be taken, the best first.
  Result<std::vector<const Node*>> candidates_by_rank() {
    Bitmap nodes;
    if (w_.named) {
      nodes = *w_.named;  // more or fewer than named: these first, then others
      if (w_.count && nodes.count() < *w_.count) {
        MUSTER_TRY(p, partition());
        nodes |= p->nodes;
      }
    } else {
      MUSTER_TRY(p, partition());
      nodes = p->nodes;
      if (!w_.count && !by_parts()) return all_of(nodes);
    }
    MUSTER_TRY(fitting, with_features(std::move(nodes)));
    struct Ranked {
      const Node* node;
      uint32_t kept, named, busy, weight;
    };
    std::vector<Ranked> ranked;
    fitting.for_each([&](size_t id) {
      const Node* n = c_.nodes.find(static_cast<uint32_t>(id));
      if (!n || !n->spec || n->admin == NodeState::kFuture) return;
      const bool kept = w_.keep.test(id), named = w_.named && w_.named->test(id);
      if (taken_.test(id) || (!by_parts() && reserved_in_part(n->id.value))) return;
      if (!named && !node_usable_but_for(*n, kNodeCompleting | kNodeBlocked)) return;
      if (!by_parts() && !kept && runs_on(*n)) return;
      ranked.push_back({n, kept ? 0u : 1u, named ? 0u : 1u, n->jobs_running + n->jobs_completing > 0 ? 1u : 0u, n->weight});
    });
    std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
      return std::tie(a.named, a.kept, a.busy, a.weight) < std::tie(b.named, b.kept, b.busy, b.weight);
    });
    std::vector<const Node*> out;
    for (const Ranked& r : ranked) out.push_back(r.node);
    return out;
  }

  std::vector<const Node*> all_of(const Bitmap& nodes) const {
    std::vector<const Node*> out;
    nodes.for_each([&](size_t id) {
      if (const Node* n = c_.nodes.find(static_cast<uint32_t>(id)); n && n->spec && n->admin != NodeState::kFuture) out.push_back(n);
    });
    return out;
  }

  std::unexpected<Error> too_few(size_t found, uint64_t wanted, const char* what) const {
    return fail(Errc::kNodesBusy, {},
                std::to_string(wanted) + " " + what + " are asked for, " + std::to_string(found) +
                    " can be reserved at that time (down, in use or reserved ones do not count)");
  }

  Result<Reserving> first_of(const std::vector<const Node*>& candidates) const {
    Bitmap out;
    if (!r_.features.empty()) MUSTER_TRY_VOID(take_counted(candidates, out));
    for (const Node* n : candidates)
      if (out.count() < *w_.count) out.set(n->id.value);
    if (out.count() < *w_.count) return too_few(out.count(), *w_.count, "nodes");
    return Reserving{std::move(out), {}};
  }

  // Features with counts: [knl*4&haswell*2].
  Result<> take_counted(const std::vector<const Node*>& candidates, Bitmap& out) const {
    MUSTER_TRY(wanted, r_.features.parsed());
    for (const auto& counted : wanted.counts) {
      uint32_t have = 0;
      for (const Node* n : candidates) {
        if (have == counted.count) break;
        if (out.test(n->id.value) || !has_features(counted.expr, n->features_active)) continue;
        out.set(n->id.value);
        ++have;
      }
      if (have < counted.count) return too_few(have, counted.count, "nodes of one feature");
    }
    return {};
  }

  // So many cores (tasks of one core each) and devices of a node; nullopt: it has not so much left.
  std::optional<NodeShare> part_of(const Node& node, uint32_t cores, const std::vector<GresNeed>& gres) const {
    const bool whole_cores = true;
    const Kind kind = make_kind(node, whole_cores);
    Shape shape;
    shape.whole_cores = true;
    shape.num_tasks = std::max(cores, 1u);
    shape.cpus_per_task = kind.threads;
    shape.per_node = gres;
    NodeUse use = r_.has(kResvIgnoreJobs) ? NodeUse{} : w_.held(node, from_).use;
    if (use.cpus.size() == 0) use.cpus = Bitmap(kind.cpus);
    for (const NodeShare* part : parts_)
      if (part->node == node.id) add_share(use, *part);
    if (r_.has(kResvFirstCores))
      for (size_t cpu = size_t{shape.num_tasks} * kind.threads; cpu < kind.cpus; ++cpu) use.cpus.set(cpu);  // no other cores will do
    return choose_on_node(shape, kind, node.id, use, shape.num_tasks, {});
  }

  static uint64_t sum(const std::vector<GresNeed>& gres) {
    uint64_t n = 0;
    for (const GresNeed& g : gres) n = add_sat(n, g.count);
    return n;
  }

  Result<Reserving> parts_of(const std::vector<const Node*>& candidates) {
    const uint32_t nodes = w_.count ? *w_.count : w_.named ? static_cast<uint32_t>(candidates.size()) : 0;
    if (w_.cores.size() > 1 && w_.cores.size() != nodes)
      return fail(Errc::kInvalidCoreCount, {}, "one count of cores, or one for each of " + std::to_string(nodes) + " nodes");
    if (w_.cores.size() == 1 && nodes && w_.cores[0] % nodes != 0)
      return fail(Errc::kInvalidCoreCount, {},
                  std::to_string(w_.cores[0]) + " cores cannot be divided among " + std::to_string(nodes) + " nodes");
    return nodes ? evenly(candidates, nodes) : greedily(candidates);
  }

  // The same from each node.
  Result<Reserving> evenly(const std::vector<const Node*>& candidates, uint32_t nodes) {
    Reserving out;
    uint32_t found = 0;
    std::vector<GresNeed> gres = w_.gres_per_node;
    for (const GresNeed& g : w_.gres_in_all) {
      if (g.count % nodes) return fail(Errc::kInvalidGres, {}, "gres/" + g.name + " cannot be divided among the nodes");
      gres.push_back({g.name, g.type, g.count / nodes, false});
    }
    const auto devices = static_cast<uint32_t>(std::min<uint64_t>(sum(gres), 1u << 20));
    for (const Node* n : candidates) {
      if (found == nodes) break;
      const uint32_t cores = w_.cores.empty() ? devices : w_.cores.size() > 1 ? w_.cores[found] : w_.cores[0] / nodes;
      if (taken_.test(n->id.value)) continue;
      if (auto part = part_of(*n, cores, gres)) {
        out.nodes.set(n->id.value);
        out.partial.push_back(std::move(*part));
        ++found;
      }
    }
    if (found < nodes) return too_few(found, nodes, "nodes with such cores and devices");
    std::ranges::sort(out.partial, {}, &NodeShare::node);
    return out;
  }

  // From each node as much as it has, until there is enough.
  Result<Reserving> greedily(const std::vector<const Node*>& candidates) {
    Reserving out;
    uint64_t cores = w_.cores.empty() ? 0 : w_.cores[0], wanted = cores + sum(w_.gres_in_all);
    std::vector<GresNeed> left = w_.gres_in_all;
    for (const Node* node : candidates) {
      if (cores == 0 && sum(left) == 0) break;
      uint32_t take = static_cast<uint32_t>(std::min<uint64_t>(cores, node->spec->cores()));
      std::vector<GresNeed> here;
      for (GresNeed& g : left) {
        uint64_t has = 0;
        for (const GresDevices& d : node->spec->gres)
          if (d.name == g.name && (g.type.empty() || d.type == g.type)) has += d.count;
        if (const uint64_t some = std::min(g.count, has)) here.push_back({g.name, g.type, some, false});
      }
      if (!w_.gres_in_all.empty() && here.empty() && cores == 0) continue;
      if (w_.cores.empty()) take = static_cast<uint32_t>(std::min<uint64_t>(sum(here), node->spec->cores()));
      std::optional<NodeShare> part;
      while (take > 0 && !(part = part_of(*node, take, here))) {
        --take;
        for (GresNeed& g : here) g.count = w_.cores.empty() ? std::min<uint64_t>(g.count, take) : g.count;
      }
      if (!part) continue;
      cores -= std::min<uint64_t>(cores, w_.cores.empty() ? 0 : take);
      for (const GresShare& got : part->gres)
        for (GresNeed& g : left)
          if (g.name == got.name && (g.type.empty() || g.type == got.type)) g.count -= std::min(g.count, got.count);
      out.nodes.set(node->id.value);
      out.partial.push_back(std::move(*part));
    }
    if (cores || sum(left)) return too_few(static_cast<size_t>(wanted - cores - sum(left)), wanted, "cores and devices");
    std::ranges::sort(out.partial, {}, &NodeShare::node);
    return out;
  }

  const ReservationWish& w_;
  const Cluster& c_;
  const Reservation& r_;
  const Time from_;
  Bitmap taken_;
  std::vector<const NodeShare*> parts_;
};

}  // namespace

bool same_time(const Reservation& one, const Reservation& another, Time now) {
  const Span first = span_of(one, now), second = span_of(another, now);
  if (meet(first, second)) return true;
  if (!one.repeats() && !another.repeats()) return false;
  if (!another.repeats()) return repeats_into(one, second);
  if (!one.repeats()) return repeats_into(another, first);
  const Reservation& often = one.has(kResvHourly) ? another : one;
  const Reservation& other = &often == &one ? another : one;
  Reservation at = often;
  const Time from = std::max({first.from, second.from, now}), last = from + minutes(kDaysAhead * 24 * 60);
  while (at.start < last) {
    if (at.end > from && repeats_into(other, {at.start, at.end})) return true;
    const Time next = next_repetition(at, at.end > from ? at.end : from);
    at.end = next + (at.end - at.start);
    at.start = next;
  }
  return false;
}

Result<Reserving> choose_for_reservation(const ReservationWish& wish) { return Choice(wish).run(); }

}  // namespace muster::sched
