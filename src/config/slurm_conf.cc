#include "config/slurm_conf.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/slurm_build.h"

namespace muster::config {

Section section_of(const Line& line) {
  // The kinds are tried in this order: `Nodes=a PartitionName=p` is a partition, whichever key comes first.
  constexpr std::pair<const char*, Section> kKinds[] = {{"PartitionName", Section::kPartition},
                                                        {"NodeName", Section::kNode},
                                                        {"NodeSet", Section::kNodeSet},
                                                        {"DownNodes", Section::kDownNodes},
                                                        {"PowerAction", Section::kPowerAction}};
  for (const auto& [key, section] : kKinds)
    if (line.find(key)) return section;
  return Section::kGlobal;
}

Config build_slurm_config(const std::vector<Line>& lines, const std::string& path, std::vector<ConfigError>& errors,
                          std::vector<ConfigNotice>& notices) {
  Config config;
  config.path = path;
  size_t slash = path.rfind('/');
  config.directory = slash == std::string::npos ? "." : path.substr(0, slash);
  std::array<std::vector<const Line*>, 6> by_section;
  for (const Line& line : lines) by_section[static_cast<size_t>(section_of(line))].push_back(&line);
  auto of = [&](Section s) -> const std::vector<const Line*>& { return by_section[static_cast<size_t>(s)]; };

  Findings findings{errors, notices};
  auto index = std::make_shared<NodeIndex>();
  build_globals(of(Section::kGlobal), config, findings);
  build_nodes(of(Section::kNode), config, *index, findings);
  build_node_sets(of(Section::kNodeSet), config, *index, findings);
  apply_down_nodes(of(Section::kDownNodes), config, *index, findings);
  build_partitions(of(Section::kPartition), config, *index, findings);
  build_power_actions(of(Section::kPowerAction), config, findings);
  config.index = std::move(index);
  if (config.max_node_count && *config.max_node_count < config.nodes.size())
    findings.notice(config.find_value("MaxNodeCount")->pos, "MaxNodeCount",
                    "is less than the " + std::to_string(config.nodes.size()) + " nodes defined, and does not count",
                    "leave it out, or give a number that has room for nodes to come");
  return config;
}

const ConfigValue* Config::find_value(std::string_view key) const {
  for (const ConfigValue& v : values)
    if (iequals(v.row->name, key)) return &v;
  return nullptr;
}

bool Config::is_given(std::string_view key) const {
  const ConfigValue* v = find_value(key);
  return v && v->given;
}

const PartitionConfig* Config::default_partition() const {
  for (const PartitionConfig& p : partitions)
    if (p.spec.is_default) return &p;
  return nullptr;
}

std::optional<uint32_t> Config::node_index(std::string_view name) const { return index ? index->find(name) : std::nullopt; }

}  // namespace muster::config
