#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/text.h"
#include "config/hosts.h"
#include "config/slurm_build.h"
#include "config/topology_raw.h"

namespace muster::config {
namespace {

constexpr size_t kMaxUnits = 65536;
constexpr uint64_t kMaxCells = 1u << 20;

class Builder {
 public:
  Builder(const RawTopology& raw, const TopologyWords& words, const Config& config, ForeignNodes& foreign, Findings& f)
      : raw_(raw), words_(words), config_(config), foreign_(foreign), f_(f) {}

  Topology run() {
    out_.name = raw_.name;
    out_.kind = raw_.kind;
    out_.cluster_default = raw_.cluster_default;
    out_.alpha_step_rank = raw_.alpha_step_rank;
    for (const RawUnit& u : raw_.units) add(u);
    if (raw_.kind == TopologyKind::kTree) link();
    if (raw_.kind == TopologyKind::kBlock) check_blocks();
    if (raw_.kind != TopologyKind::kFlat) check_coverage();
    return std::move(out_);
  }

 private:
  void add(const RawUnit& raw);
  std::vector<uint32_t> nodes_in_order(const RawText& text);
  std::vector<uint32_t> nodes_of_torus(const RawUnit& raw, const TopologyUnit& unit);
  void add_placements(const RawUnit& raw, TopologyUnit& unit);
  void link();
  void link_children(uint32_t i);
  std::string switch_hint(const std::string& text, const std::string& name) const;
  void read_sizes();
  void check_blocks();
  void check_coverage();

  const RawTopology& raw_;
  const TopologyWords& words_;
  const Config& config_;
  ForeignNodes& foreign_;
  Findings& f_;
  Topology out_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<const RawUnit*> source_;  // the source of each of out_.units
};

void Builder::add(const RawUnit& raw) {
  const std::string& name = raw.name.text;
  if (name.empty() || name.size() > 64) return f_.error(raw.name.pos, words_.unit, "must be a name of at most 64 characters");
  if (out_.units.size() >= kMaxUnits) return f_.error(raw.pos, words_.unit, "there are more than " + std::to_string(kMaxUnits));
  if (!by_name_.try_emplace(name, static_cast<uint32_t>(out_.units.size())).second)
    return f_.error(raw.name.pos, words_.unit, name + " is defined twice");
  TopologyUnit unit{.name = name, .link_speed = raw.link_speed.text};
  if (raw.dims) unit.dims = *raw.dims;
  switch (raw_.kind) {
    case TopologyKind::kFlat: break;
    case TopologyKind::kTree:
      if (raw.nodes.given && raw.children.given)
        f_.error(raw.pos, words_.unit, name + " has both " + words_.nodes + " and " + words_.children,
                 "a switch with nodes is a leaf; put the nodes below a switch of their own");
      if (!raw.nodes.given && !raw.children.given)
        f_.error(raw.pos, words_.unit, name + " has neither " + words_.nodes + " nor " + words_.children);
      [[fallthrough]];
    case TopologyKind::kBlock:
      if (raw.nodes.given)
        resolve_nodes(raw.nodes.text, raw.nodes.pos, words_.nodes, config_, *config_.index, f_, &foreign_).for_each([&](size_t n) {
          unit.nodes.push_back(static_cast<uint32_t>(n));
        });
      if (raw_.kind == TopologyKind::kBlock && unit.nodes.empty()) {  // a block of another cluster
        by_name_.erase(name);
        return;
      }
      break;
    case TopologyKind::kRing:
      unit.nodes = nodes_in_order(raw.nodes);
      if (unit.nodes.size() > kMaxRingNodes)
        f_.error(raw.nodes.pos, words_.nodes,
                 "a ring has at most " + std::to_string(kMaxRingNodes) + " nodes, " + name + " has " + std::to_string(unit.nodes.size()));
      break;
    case TopologyKind::kTorus3d:
      unit.nodes = nodes_of_torus(raw, unit);
      add_placements(raw, unit);
      break;
  }
  out_.units.push_back(std::move(unit));
  source_.push_back(&raw);
}

std::vector<uint32_t> Builder::nodes_in_order(const RawText& text) {
  std::vector<uint32_t> out;
  Result<std::vector<std::string>> names = expand_hosts(text.text);
  if (!names) {
    f_.error(text.pos, words_.nodes, names.error().text);
    return out;
  }
  std::vector<bool> seen(config_.nodes.size(), false);
  for (const std::string& name : *names) {
    const auto i = config_.node_index(name);
    if (!i) {
      foreign_.add(name, text.pos);
      if (raw_.kind == TopologyKind::kTorus3d) out.push_back(kNoNode);  // the cell of another cluster's node stays empty
    } else if (seen[*i]) {
      f_.error(text.pos, words_.nodes, name + " is there twice");
    } else {
      seen[*i] = true;
      out.push_back(*i);
    }
  }
  return out;
}

std::vector<uint32_t> Builder::nodes_of_torus(const RawUnit& raw, const TopologyUnit& unit) {
  const Cell3d& dims = unit.dims;
  if (dims.product() == 0 || dims.x > kMaxCells || dims.y > kMaxCells || dims.z > kMaxCells || dims.product() > kMaxCells) {
    f_.error(raw.pos, "dims", unit.name + ": x, y and z must be 1 or more, together at most 1048576 cells");
    return {};
  }
  if (raw.nodes.given == !raw.regions.empty()) f_.error(raw.pos, words_.unit, unit.name + " needs either nodes or regions");
  std::vector<uint32_t> cells(dims.product(), kNoNode);
  auto fill = [&](const Cell3d& from, const Cell3d& size, const RawText& text) {
    const std::vector<uint32_t> nodes = nodes_in_order(text);
    if (nodes.size() > size.product())
      return f_.error(text.pos, words_.nodes, std::to_string(nodes.size()) + " nodes for " + std::to_string(size.product()) + " cells");
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const uint32_t x = from.x + i % size.x, y = from.y + i / size.x % size.y, z = from.z + i / size.x / size.y;
      uint32_t& cell = cells[x + dims.x * (y + dims.y * z)];
      if (cell != kNoNode) return f_.error(text.pos, words_.nodes, "the regions overlap");
      cell = nodes[i];
    }
  };
  if (raw.nodes.given) fill({}, dims, raw.nodes);
  for (const RawRegion& r : raw.regions) {
    const Cell3d at = r.anchor.value_or(Cell3d{}), size = r.dims.value_or(Cell3d{});
    const bool inside =
        size.product() > 0 && uint64_t{at.x} + size.x <= dims.x && uint64_t{at.y} + size.y <= dims.y && uint64_t{at.z} + size.z <= dims.z;
    if (!inside) f_.error(r.pos, "regions", "a region must lie inside " + unit.name + " and have dims of 1 or more");
    else fill(at, size, r.nodes);
  }
  return cells;
}

void Builder::add_placements(const RawUnit& raw, TopologyUnit& unit) {
  const Cell3d& d = unit.dims;
  for (const RawPlacement& p : raw.placements) {
    TorusPlacement out{p.dims.value_or(Cell3d{}), p.anchor_seed.value_or(Cell3d{}), {}};
    out.anchor_spacing = p.anchor_spacing.value_or(out.dims);
    if (out.dims.product() == 0 || out.dims.x > d.x || out.dims.y > d.y || out.dims.z > d.z)
      f_.error(p.pos, "placements", "dims must be 1 or more each and fit into " + unit.name);
    else if (out.anchor_spacing.product() == 0) f_.error(p.pos, "anchor_spacing", "must be 1 or more in each direction");
    else unit.placements.push_back(out);
  }
  if (unit.placements.empty()) f_.notice(raw.pos, "placements", unit.name + " has none, so no job can be placed there");
}

// Users of other tools often write a colon between switches.
std::string Builder::switch_hint(const std::string& text, const std::string& name) const {
  if (name.find(':') != std::string::npos) {
    std::string with_commas = text;
    std::ranges::replace(with_commas, ':', ',');
    return "did you mean " + with_commas + "?";
  }
  std::vector<std::string_view> known;
  for (const TopologyUnit& u : out_.units) known.push_back(u.name);
  const std::string_view near = did_you_mean(name, known);
  return near.empty() ? "" : "did you mean " + std::string(near) + "?";
}

void Builder::link_children(uint32_t i) {
  const RawText& text = source_[i]->children;
  Result<std::vector<std::string>> names = expand_hosts(text.text, kMaxUnits);
  if (!names) return f_.error(text.pos, words_.children, names.error().text);
  auto& children = out_.units[i].children;
  for (const std::string& name : *names) {
    auto it = by_name_.find(name);
    if (it == by_name_.end())
      f_.error(text.pos, words_.children, "\"" + name.substr(0, 80) + "\" is not a switch", switch_hint(text.text, name));
    else if (std::ranges::find(children, it->second) == children.end()) children.push_back(it->second);
  }
}

void Builder::link() {
  for (uint32_t i = 0; i < out_.units.size(); ++i)
    if (source_[i]->children.given) link_children(i);
  if (out_.units.empty() || !switch_levels(out_).empty()) return;
  // The error names one switch of the loop or of the overly high tree: the first whose subtree cannot be measured.
  f_.error(raw_.pos, words_.children, "some switch is below itself, or the tree is more than " + std::to_string(kMaxSwitchDepth) + " deep");
  for (TopologyUnit& u : out_.units) u.children.clear();
}

void Builder::read_sizes() {
  const RawText& text = raw_.block_sizes;
  for (std::string_view word : split(text.text, ',')) {
    std::optional<uint32_t> n = parse_number<uint32_t>(trim(word), 1, 1u << 20);
    if (!n) return f_.error(text.pos, words_.block_sizes, "must be numbers such as 18,72");
    if (!out_.block_sizes.empty()) {
      const uint32_t base = out_.block_sizes.front();
      if (*n <= out_.block_sizes.back() || *n % base || !std::has_single_bit(*n / base))
        return f_.error(text.pos, words_.block_sizes, "each size must be the first one times a power of two, ascending",
                        "for example " + std::to_string(base) + "," + std::to_string(base * 4));
    }
    out_.block_sizes.push_back(*n);
  }
}

void Builder::check_blocks() {
  read_sizes();
  std::unordered_map<uint32_t, uint32_t> block_of;
  for (uint32_t index = 0; index < out_.units.size(); ++index) {
    const TopologyUnit& u = out_.units[index];
    for (uint32_t n : u.nodes)
      if (auto [at, fresh] = block_of.try_emplace(n, index); !fresh) {
        f_.error(source_[index]->nodes.pos, words_.nodes, "block " + u.name + " shares nodes with block " + out_.units[at->second].name,
                 "a node belongs to one block");
        break;
      }
    if (!out_.block_sizes.empty() && u.nodes.size() < out_.block_sizes.front())
      f_.error(source_[index]->pos, words_.unit,
               u.name + " has " + std::to_string(u.nodes.size()) + " nodes, fewer than the smallest of " + words_.block_sizes + " (" +
                   std::to_string(out_.block_sizes.front()) + ")");
  }
  if (!out_.block_sizes.empty() || out_.units.empty()) return;
  // Without BlockSizes the base block is as large as the smallest block.
  size_t least = SIZE_MAX;
  for (const TopologyUnit& u : out_.units) least = std::min(least, u.nodes.size());
  out_.block_sizes.push_back(static_cast<uint32_t>(std::max<size_t>(least, 1)));
}

void Builder::check_coverage() {
  std::vector<bool> covered(config_.nodes.size(), false);
  for (const TopologyUnit& u : out_.units)
    for (uint32_t n : u.nodes)
      if (n != kNoNode) covered[n] = true;
  size_t missing = 0;
  std::string first;
  for (size_t i = 0; i < covered.size(); ++i)
    if (!covered[i] && missing++ == 0) first = config_.nodes[i].name;
  if (missing)
    f_.notice({raw_.pos.file, 0, 0}, "",
              "topology " + out_.name + ": " + std::to_string(missing) + " nodes are not in it, the first is " + first,
              "jobs do not span these and the others");
}

}  // namespace

Topology build_topology(const RawTopology& raw, const TopologyWords& words, const Config& config, ForeignNodes& foreign,
                        Findings& findings) {
  return Builder(raw, words, config, foreign, findings).run();
}

}  // namespace muster::config
