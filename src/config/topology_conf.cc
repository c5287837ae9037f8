#include "config/topology_conf.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/text.h"
#include "config/hosts.h"
#include "config/record.h"
#include "config/slurm_build.h"

namespace muster::config {

namespace {

constexpr uint32_t kMaxDepth = 16;
constexpr size_t kMaxSwitches = 65536;

class Builder {
 public:
  Builder(const Config& config, Findings& findings) : config_(config), f_(findings) { out_.present = true; }

  void take(const Line& line) {
    if (line.find("SwitchName")) return take_switch(line);
    if (line.find("BlockName")) return take_block(line);
    if (line.find("RingName")) return take_ring(line);
    Record r(ConfFile::kTopology, Section::kGlobal);
    r.add(line, f_);
    if (r.has("BlockSizes")) read_sizes(r);
  }
  TopologyConf finish() {
    link();
    check_coverage();
    for (const BlockConfig& b : out_.blocks)
      if (!out_.block_sizes.empty() && b.nodes.count() < out_.block_sizes.front())
        f_.error(b.where, "BlockName",
                 b.name + " has " + std::to_string(b.nodes.count()) +
                     " nodes, fewer than the smallest of BlockSizes (" +
                     std::to_string(out_.block_sizes.front()) + ")");
    return std::move(out_);
  }

 private:
  void take_switch(const Line& line);
  void take_block(const Line& line);
  void take_ring(const Line& line);
  void read_sizes(const Record& r);
  void link();
  void link_children(size_t i);
  bool gather(uint32_t i, uint32_t depth);
  void check_coverage();
  Bitmap nodes_of(const Record& r) {
    return resolve_nodes(r.text("Nodes"), r.pos("Nodes"), "Nodes", config_, *config_.index, f_);
  }

  const Config& config_;
  Findings& f_;
  TopologyConf out_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<Record> switch_records_;
  std::vector<uint8_t> state_;  // 0 new, 1 in progress, 2 done
};

void Builder::take_switch(const Line& line) {
  Record r(ConfFile::kTopology, Section::kSwitch);
  r.add(line, f_);
  SwitchConfig s;
  s.where = line.pos;
  s.name = r.text("SwitchName");
  s.link_speed = r.text("LinkSpeed");
  s.nodes_text = r.text("Nodes");
  s.switches_text = r.text("Switches");
  if (s.name.empty() || s.name.size() > 64)
    return f_.error(r.pos("SwitchName"), "SwitchName", "must be a name of at most 64 characters");
  if (out_.switches.size() >= kMaxSwitches)
    return f_.error(line.pos, "SwitchName", "there are too many switches");
  if (s.nodes_text.empty() && s.switches_text.empty())
    f_.error(line.pos, "SwitchName", s.name + " has neither Nodes nor Switches");
  if (!by_name_.try_emplace(s.name, static_cast<uint32_t>(out_.switches.size())).second)
    return f_.error(r.pos("SwitchName"), "SwitchName", s.name + " is defined twice");
  if (!s.nodes_text.empty()) s.nodes = nodes_of(r);
  out_.switches.push_back(std::move(s));
  switch_records_.push_back(std::move(r));
}

void Builder::take_block(const Line& line) {
  Record r(ConfFile::kTopology, Section::kBlock);
  r.add(line, f_);
  BlockConfig b;
  b.where = line.pos;
  b.name = r.text("BlockName");
  b.nodes_text = r.text("Nodes");
  b.nodes = nodes_of(r);
  for (const BlockConfig& other : out_.blocks) {
    if (other.name == b.name) f_.error(r.pos("BlockName"), "BlockName", b.name + " is defined twice");
    if (other.nodes.intersects(b.nodes))
      f_.error(r.pos("Nodes"), "Nodes", "block " + b.name + " shares nodes with block " + other.name,
               "a node belongs to one block");
  }
  out_.blocks.push_back(std::move(b));
}

void Builder::take_ring(const Line& line) {
  Record r(ConfFile::kTopology, Section::kRing);
  r.add(line, f_);
  RingConfig ring;
  ring.where = line.pos;
  ring.name = r.text("RingName");
  Result<std::vector<std::string>> names = expand_hosts(r.text("Nodes"), 4096);
  if (!names) return f_.error(r.pos("Nodes"), "Nodes", names.error().text);
  if (names->size() > 16) return f_.error(r.pos("Nodes"), "Nodes", "a ring has at most 16 nodes");
  for (const std::string& name : *names) {
    if (std::optional<uint32_t> i = config_.node_index(name))
      ring.nodes.push_back(*i);
    else
      f_.error(r.pos("Nodes"), "Nodes", "\"" + name + "\" is not a node");
  }
  out_.rings.push_back(std::move(ring));
}

void Builder::read_sizes(const Record& r) {
  out_.block_sizes.clear();
  for (std::string_view word : split(r.text("BlockSizes"), ',')) {
    std::optional<uint32_t> n = parse_number<uint32_t>(trim(word), 1, 1u << 20);
    if (!n) return f_.error(r.pos("BlockSizes"), "BlockSizes", "must be numbers such as 18,72");
    if (!out_.block_sizes.empty()) {
      uint32_t base = out_.block_sizes.front();
      if (*n <= out_.block_sizes.back() || *n % base || !std::has_single_bit(*n / base))
        return f_.error(r.pos("BlockSizes"), "BlockSizes",
                        "each size must be the first one times a power of two, ascending",
                        "for example " + std::to_string(base) + "," + std::to_string(base * 4));
    }
    out_.block_sizes.push_back(*n);
  }
}

void Builder::link_children(size_t i) {
  SwitchConfig& s = out_.switches[i];
  const SourcePos& pos = switch_records_[i].pos("Switches");
  Result<std::vector<std::string>> names = expand_hosts(s.switches_text, kMaxSwitches);
  if (!names) return f_.error(pos, "Switches", names.error().text);
  for (const std::string& name : *names) {
    auto it = by_name_.find(name);
    if (it == by_name_.end()) {
      std::string hint;
      if (size_t colon = name.find(':'); colon != std::string::npos) {
        std::string with_commas = s.switches_text;
        std::replace(with_commas.begin(), with_commas.end(), ':', ',');
        hint = "did you mean " + with_commas + "?";
      } else {
        std::vector<std::string_view> known;
        for (const SwitchConfig& other : out_.switches) known.push_back(other.name);
        if (std::string_view near = did_you_mean(name, known); !near.empty())
          hint = "did you mean " + std::string(near) + "?";
      }
      f_.error(pos, "Switches", "\"" + name.substr(0, 80) + "\" is not a switch", hint);
      continue;
    }
    SwitchConfig& child = out_.switches[it->second];
    if (child.parent >= 0) {
      f_.error(pos, "Switches",
               name + " is already below " + out_.switches[static_cast<size_t>(child.parent)].name);
      continue;
    }
    child.parent = static_cast<int32_t>(i);
    s.children.push_back(it->second);
  }
}

// Works out level and nodes of a switch from its children; false on a loop.
bool Builder::gather(uint32_t i, uint32_t depth) {
  if (state_[i] == 2) return true;
  if (state_[i] == 1 || depth > kMaxDepth) return false;
  state_[i] = 1;
  SwitchConfig& s = out_.switches[i];
  for (uint32_t c : s.children) {
    if (!gather(c, depth + 1)) return false;
    s.nodes |= out_.switches[c].nodes;
    s.level = std::max(s.level, out_.switches[c].level + 1);
  }
  state_[i] = 2;
  return true;
}

void Builder::link() {
  for (size_t i = 0; i < out_.switches.size(); ++i) link_children(i);
  state_.assign(out_.switches.size(), 0);
  for (uint32_t i = 0; i < out_.switches.size(); ++i)
    if (!gather(i, 0))
      return f_.error(out_.switches[i].where, "Switches",
                      out_.switches[i].name + " is below itself, or the tree is more than " +
                          std::to_string(kMaxDepth) + " deep");
  for (const SwitchConfig& s : out_.switches) out_.covered |= s.nodes;
}

void Builder::check_coverage() {
  for (const BlockConfig& b : out_.blocks) out_.covered |= b.nodes;
  for (const RingConfig& r : out_.rings)
    for (uint32_t n : r.nodes) out_.covered.set(n);
  size_t missing = 0;
  std::string first;
  for (size_t i = 0; i < config_.nodes.size(); ++i)
    if (!out_.covered.test(i) && missing++ == 0) first = config_.nodes[i].name;
  if (missing)
    f_.notice({std::make_shared<const std::string>("topology.conf"), 0, 0}, "",
              std::to_string(missing) + " nodes are not in it, the first is " + first,
              "jobs do not span these and the others");
}

}  // namespace

TopologyConf build_topology_conf(const std::vector<Line>& lines, const Config& config,
                                 std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices) {
  Findings findings{errors, notices};
  Builder builder(config, findings);
  for (const Line& line : lines) builder.take(line);
  return builder.finish();
}

}  // namespace muster::config
