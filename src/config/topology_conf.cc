#include "config/topology_conf.h"

#include "base/text.h"
#include "config/topology_raw.h"

namespace muster::config {
namespace {

constexpr TopologyWords kConfWords[] = {
    {"", "", "Nodes", "BlockSizes"},          {"SwitchName", "Switches", "Nodes", "BlockSizes"},
    {"BlockName", "", "Nodes", "BlockSizes"}, {"RingName", "", "Nodes", "BlockSizes"},
    {"", "", "Nodes", "BlockSizes"},
};
constexpr TopologyWords kYamlWords[] = {
    {"flat", "", "nodes", "block_sizes"}, {"switch", "children", "nodes", "block_sizes"}, {"block", "", "nodes", "block_sizes"},
    {"ring", "", "nodes", "block_sizes"}, {"torus3d", "", "nodes", "block_sizes"},
};

const std::vector<std::string_view>& known_params() {
  static const std::vector<std::string_view> kParams = {"Dragonfly",        "RoutePart",         "RouteTree",   "BlockAsNodeRank",
                                                        "SwitchAsNodeRank", "TopoMaxSizeUnroll", "TopoOptional"};
  return kParams;
}

TopologyKind kind_of_plugin(std::string_view plugin) {
  for (TopologyKind k : {TopologyKind::kTree, TopologyKind::kBlock, TopologyKind::kRing, TopologyKind::kTorus3d})
    if (plugin == "topology/" + std::string(topology_kind_name(k))) return k;
  return TopologyKind::kFlat;
}

RawText raw_text(const Record& r, const char* key) { return {std::string(r.text(key)), r.pos(key), r.has(key)}; }

// The lines of topology.conf, sorted by the kind of topology they describe. Lines of every kind are checked, whatever the plugin.
struct ConfLines {
  std::vector<RawUnit> units[5];
  RawText block_sizes;
};

ConfLines read_lines(const std::vector<Line>& lines, Findings& findings) {
  struct UnitLine {
    const char* key;
    Section section;
    TopologyKind kind;
  };
  constexpr UnitLine kLines[] = {{"SwitchName", Section::kSwitch, TopologyKind::kTree},
                                 {"BlockName", Section::kBlock, TopologyKind::kBlock},
                                 {"RingName", Section::kRing, TopologyKind::kRing}};
  ConfLines out;
  for (const Line& line : lines) {
    const UnitLine* of = nullptr;
    for (const UnitLine& u : kLines)
      if (line.find(u.key)) of = &u;
    Record record(ConfFile::kTopology, of ? of->section : Section::kGlobal);
    record.add(line, findings);
    if (!of) {
      if (record.has("BlockSizes")) out.block_sizes = raw_text(record, "BlockSizes");
      continue;
    }
    RawUnit unit{.pos = line.pos, .name = raw_text(record, of->key), .nodes = raw_text(record, "Nodes")};
    if (of->kind == TopologyKind::kTree) {
      unit.children = raw_text(record, "Switches");
      unit.link_speed = raw_text(record, "LinkSpeed");
    }
    out.units[static_cast<size_t>(of->kind)].push_back(std::move(unit));
  }
  return out;
}

// Gives a notice for lines that belong to another kind than TopologyPlugin's: nobody reads them.
void leave_out(const RawUnit& first, TopologyKind kind, const Config& config, Findings& f) {
  f.notice(first.pos, kConfWords[static_cast<size_t>(kind)].unit,
           "lines of this kind are not read: TopologyPlugin is " + config.topology_plugin);
}

void load_conf(FileSource& source, const Config& config, TopologyConf& out, Findings& findings) {
  const std::string path = config.directory + "/" + std::string(file_name(ConfFile::kTopology));
  ParsedFile parsed = parse_file(source, path);
  out.present = !parsed.missing;
  const TopologyKind wanted = kind_of_plugin(config.topology_plugin);
  if (wanted == TopologyKind::kFlat) {
    if (!parsed.lines.empty())
      findings.notice({std::make_shared<const std::string>(path), 0, 0}, "", "is not read: TopologyPlugin is " + config.topology_plugin,
                      "TopologyPlugin=topology/tree or topology/block reads it");
    return;
  }
  for (ConfigError& e : parsed.errors) findings.errors.push_back(std::move(e));
  ConfLines lines = read_lines(parsed.lines, findings);
  ForeignNodes foreign;
  for (TopologyKind kind : {TopologyKind::kTree, TopologyKind::kBlock, TopologyKind::kRing}) {
    const size_t k = static_cast<size_t>(kind);
    if (lines.units[k].empty()) continue;
    if (kind != wanted) {
      leave_out(lines.units[k].front(), kind, config, findings);
      continue;
    }
    RawTopology raw{.kind = kind, .cluster_default = true, .units = std::move(lines.units[k])};
    raw.pos = raw.units.front().pos;
    if (kind == TopologyKind::kBlock) raw.block_sizes = lines.block_sizes;
    out.topologies.all.push_back(build_topology(raw, kConfWords[k], config, foreign, findings));
  }
  foreign.tell("Nodes", findings);
  if (!out.topologies.all.empty() || !findings.errors.empty()) return;
  const ConfigValue* plugin = config.find_value("TopologyPlugin");
  if (wanted == TopologyKind::kTorus3d)
    return findings.error(plugin->pos, "TopologyPlugin", "topology/torus3d needs topology.yaml", "topology.conf has no lines for a torus");
  findings.error(plugin->pos, "TopologyPlugin",
                 config.topology_plugin + " needs " + kConfWords[static_cast<size_t>(wanted)].unit + " lines in topology.conf",
                 "TopologyPlugin=topology/flat needs no file");
}

void load_yaml(const std::string& text, const std::string& path, const Config& config, TopologyConf& out, Findings& findings) {
  out.present = true;
  bool seen_default = false;
  ForeignNodes foreign;
  for (RawTopology& raw : parse_topology_yaml(text, path, findings)) {
    if (out.topologies.find(raw.name)) {
      findings.error(raw.pos, "topology", raw.name + " is defined twice");
      continue;
    }
    raw.cluster_default = raw.cluster_default && !seen_default;  // the first that says so is the default
    seen_default = seen_default || raw.cluster_default;
    out.topologies.all.push_back(build_topology(raw, kYamlWords[static_cast<size_t>(raw.kind)], config, foreign, findings));
  }
  foreign.tell("nodes", findings);
}

void check_partitions(const Config& config, const TopologyConf& conf, Findings& f) {
  for (const PartitionConfig& p : config.partitions) {
    if (p.spec.topology.empty() || conf.topologies.find(p.spec.topology)) continue;
    std::vector<std::string_view> known;
    for (const Topology& t : conf.topologies.all) known.push_back(t.name);
    const std::string_view near = did_you_mean(p.spec.topology, known);
    f.error(p.where, "Topology", "partition " + p.spec.name + ": there is no topology " + p.spec.topology,
            near.empty() ? "topologies are named in topology.yaml" : "did you mean " + std::string(near) + "?");
  }
}

void check_params(const Config& config, Findings& findings) {
  const ConfigValue* given = config.find_value("TopologyParam");
  if (!given || !given->given) return;
  for (std::string_view item : split(given->text, ',')) {
    item = trim(item);
    const std::string_view name = item.substr(0, item.find('='));
    bool known = false;
    for (std::string_view p : known_params()) known = known || iequals(p, name);
    if (!known) {
      const std::string_view near = did_you_mean(name, known_params());
      findings.notice(given->pos, "TopologyParam", std::string(name) + " is not known and has no effect",
                      near.empty() ? "" : "did you mean " + std::string(near) + "?");
    } else if (iequals(name, "RoutePart") || iequals(name, "RouteTree")) {
      findings.notice(given->pos, "TopologyParam", std::string(name) + " has no effect: every node is connected to slurmctld itself");
    }
  }
}

// Topology= of NodeName lines overrides what the file says.
void place_nodes(const Config& config, TopologyConf& out, Findings& f) {
  for (uint32_t i = 0; i < config.nodes.size(); ++i) {
    const std::string& text = config.nodes[i].line->topology;
    if (text.empty()) continue;
    if (auto done = place_node(out.topologies, i, text); !done)
      f.error(config.nodes[i].line->where, "Topology", config.nodes[i].name + ": " + done.error().text, done.error().hint);
  }
}

}  // namespace

TopologyConf load_topology(FileSource& source, const Config& config, std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices) {
  Findings f{errors, notices};
  TopologyConf out;
  const std::string path = config.directory + "/topology.yaml";
  if (auto text = source.read(path)) load_yaml(*text, path, config, out, f);
  else load_conf(source, config, out, f);
  if (errors.empty()) place_nodes(config, out, f);
  if (errors.empty()) check_partitions(config, out, f);
  check_params(config, f);
  return out;
}

TopologyOptions topology_options(const Config& config) {
  const OptionList& p = config.topology_param;
  TopologyOptions out;
  out.dragonfly = p.has("Dragonfly");
  out.optional = p.has("TopoOptional");
  out.switch_as_node_rank = p.has("SwitchAsNodeRank");
  out.block_as_node_rank = p.has("BlockAsNodeRank");
  if (const int64_t n = p.number("TopoMaxSizeUnroll", -1); n > 0)
    out.max_size_unroll = static_cast<uint32_t>(std::min<int64_t>(n, kUnlimited32));
  return out;
}

}  // namespace muster::config
