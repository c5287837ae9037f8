#include "sched/explain/placement_report.h"

#include <algorithm>
#include <functional>

#include "hostlist/hostlist.h"
#include "sched/fit/request_class.h"

namespace muster::sched {
namespace {

std::string count(uint64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

struct Leaf {
  const TopologyUnit* unit;
  Bitmap nodes;
};

// The leaves in the order of definition, as BlockSizes counts them.
std::vector<Leaf> leaves_of(const Topology& t) {
  std::vector<Leaf> out;
  for (const TopologyUnit& u : t.units) {
    if (!u.children.empty()) continue;
    Leaf leaf{&u, {}};
    for (uint32_t n : u.nodes)
      if (n != kNoNode) leaf.nodes.set(n);
    out.push_back(std::move(leaf));
  }
  return out;
}

class Report {
 public:
  Report(const Cluster& cluster, const Job& job, const Topology& t) : cluster_(cluster), job_(job), t_(t), leaves_(leaves_of(t)) {
    for (const NodeShare& s : job.allocation->nodes) held_.set(s.node.value);
    const Partition* p = cluster.partitions.find(job.partition);
    if (p) open_ = p->nodes;
  }

  void fill(PlacementView& v) {
    v.topology = t_.name;
    v.kind = topology_kind_name(t_.kind);
    v.unit_name = t_.kind == TopologyKind::kTree ? "leaf switch" : topology_unit_name(t_.kind);
    add_units(v);
    v.fewest = fewest();
    if (v.units.size() > 1) v.within = t_.kind == TopologyKind::kBlock ? blocks_around() : switch_around();
    if (t_.kind == TopologyKind::kTree) v.switches_asked = job_.request->switches;
    if (t_.kind == TopologyKind::kBlock) add_segments(v);
  }

 private:
  void add_units(PlacementView& v) {
    Bitmap elsewhere = held_;
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      Bitmap here = leaves_[i].nodes;
      here &= held_;
      if (here.none()) continue;
      used_.push_back(i);
      elsewhere -= here;
      v.units.push_back({leaves_[i].unit->name, static_cast<uint32_t>(here.count()), node_list(cluster_, here)});
    }
    if (elsewhere.any()) v.units.push_back({"", static_cast<uint32_t>(elsewhere.count()), node_list(cluster_, elsewhere)});
  }

  uint32_t fewest() const {
    std::vector<size_t> sizes;
    for (const Leaf& leaf : leaves_) sizes.push_back(leaf.nodes.count_and(open_));
    std::ranges::sort(sizes, std::greater());
    size_t left = held_.count();
    uint32_t n = 0;
    for (size_t size : sizes) {
      if (left == 0 || size == 0) break;
      left -= std::min(left, size);
      ++n;
    }
    return n;
  }

  std::string switch_around() const {
    const std::vector<uint32_t> levels = switch_levels(t_);
    const TopologyUnit* best = nullptr;
    uint32_t best_level = UINT32_MAX;
    for (uint32_t i = 0; i < levels.size(); ++i) {
      if (levels[i] >= best_level) continue;
      Bitmap below;
      for (uint32_t n : nodes_below(t_, i)) below.set(n);
      if (below.count_and(held_) != held_.count()) continue;
      best = &t_.units[i];
      best_level = levels[i];
    }
    return best ? best->name : "";
  }

  // How many base blocks, one after another, make up an aggregated block of that level.
  uint32_t blocks_at(size_t level) const { return t_.block_sizes[level] / t_.block_sizes[0]; }

  std::string blocks_around() const {
    for (size_t l = 1; l < t_.block_sizes.size(); ++l) {
      const uint32_t each = blocks_at(l), group = used_.front() / each;
      if (used_.back() / each != group) continue;
      std::vector<std::string> names;
      for (uint32_t b = group * each; b < std::min<size_t>((group + 1) * each, leaves_.size()); ++b) names.push_back(leaves_[b].unit->name);
      return compress_hosts(names);
    }
    return {};
  }

  void add_segments(PlacementView& view) const {
    const uint32_t size = job_.request->segment;
    const auto nodes = static_cast<uint32_t>(held_.count());
    if (!size || nodes <= size || t_.block_sizes.empty()) return;
    view.segment_size = size;
    view.segments = nodes / size;
    auto level = std::ranges::lower_bound(t_.block_sizes, size) - t_.block_sizes.begin();
    if (level == static_cast<ptrdiff_t>(t_.block_sizes.size())) return;
    const uint32_t each = blocks_at(static_cast<size_t>(level));
    std::vector<uint32_t> in_block(leaves_.size() / each + 1);
    for (uint32_t leaf : used_) in_block[leaf / each] += static_cast<uint32_t>(leaves_[leaf].nodes.count_and(held_));
    uint32_t whole = 0;
    for (uint32_t n : in_block) whole += n / size;
    view.segments_whole = whole == view.segments;
  }

  const Cluster& cluster_;
  const Job& job_;
  const Topology& t_;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> used_;  // leaves that hold some of the nodes
  Bitmap held_, open_;
};

PlacementView stands_in(const Cluster& cluster, const Job& job) {
  PlacementView v;
  if (!job.allocation || job.allocation->nodes.empty() || !cluster.topologies) return v;
  const Partition* p = cluster.partitions.find(job.partition);
  const Topology* t = p ? cluster.topologies->of(*p) : nullptr;
  if (t && t->kind != TopologyKind::kFlat) Report(cluster, job, *t).fill(v);
  return v;
}

void add_options(const Cluster& cluster, const Job& job, std::vector<std::string>& why) {
  const RequestBody& request = *job.request;
  if (!request.required_nodes.empty()) why.push_back("--nodelist asks for " + request.required_nodes.text());
  if (!request.excluded_nodes.empty()) why.push_back("--exclude leaves out " + request.excluded_nodes.text());
  if (!request.features.empty()) why.push_back("--constraint=" + request.features.text() + " narrows the choice");
  if (!request.extra_constraint.empty()) why.push_back("--extra=" + request.extra_constraint.text() + " narrows the choice");
  if (request.contiguous) why.push_back("--contiguous wants neighbours");
  if (request.spread_job) why.push_back("--spread-job spreads it, whatever the topology");
  const Partition* p = cluster.partitions.find(job.partition);
  if (!p) return;
  uint32_t lightest = UINT32_MAX, heaviest = 0;
  p->nodes.for_each([&](size_t n) {
    const Node* node = cluster.nodes.find(static_cast<uint32_t>(n));
    if (node && node->spec) lightest = std::min(lightest, node->spec->weight);
  });
  for (const NodeShare& s : job.allocation->nodes)
    if (const Node* node = cluster.nodes.find(s.node.value); node && node->spec) heaviest = std::max(heaviest, node->spec->weight);
  if (heaviest > lightest && lightest != UINT32_MAX)
    why.push_back("nodes of Weight " + std::to_string(heaviest) + " are among them: the lighter ones did not do");
}

void add_topology(const PlacementView& v, std::vector<std::string>& why) {
  if (v.units.size() == 1) why.push_back("one " + v.unit_name + " had room for all of it");
  else if (v.units.size() == v.fewest) why.push_back(count(v.units.size(), v.unit_name) + ", the fewest that hold so many nodes");
  else if (v.units.size() > v.fewest)
    why.push_back(count(v.units.size(), v.unit_name) + "; " + std::to_string(v.fewest) +
                  " would do with all nodes free, which they were not");
}

}  // namespace

PlacementView placement_of(const Cluster& cluster, const Job& job) {
  PlacementView v = stands_in(cluster, job);
  if (!job.allocation) return v;
  add_options(cluster, job, v.why);
  if (!v.kind.empty() && !job.request->spread_job) add_topology(v, v.why);
  return v;
}

std::string placement_word(const Cluster& cluster, const Job& job) {
  const PlacementView v = stands_in(cluster, job);
  if (v.kind.empty()) return {};
  std::string out = "kind=" + v.kind + (v.kind == "tree" ? ",switches=" : ",units=") + std::to_string(v.units.size());
  if (!v.within.empty()) out += ",within=" + v.within;
  if (v.segments)
    out += ",segments=" + std::to_string(v.segments) + "x" + std::to_string(v.segment_size) + (v.segments_whole ? "" : ":broken");
  for (const UnitNodes& u : v.units) out += "," + (u.unit.empty() ? "elsewhere" : u.unit) + "=" + u.nodes;
  return out;
}

}  // namespace muster::sched
