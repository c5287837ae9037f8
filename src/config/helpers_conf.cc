#include "config/helpers_conf.h"

#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

constexpr std::string_view kPlugin = "node_features/helpers";

FeatureList names_of(std::string_view text) {
  FeatureList out;
  for (std::string_view word : split(text, ','))
    if (std::string_view name = trim(word); !name.empty() && std::ranges::find(out, name) == out.end()) out.emplace_back(name);
  return out;
}

// Characters that mean something in --constraint.
bool can_be_asked_for(std::string_view name) { return name.find_first_of("&|,*[]() ") == name.npos; }

class Reader {
 public:
  Reader(const Config& config, Findings& keys, Findings& findings) : config_(config), keys_(keys), findings_(findings) {}

  HelpersConf run(const std::vector<Line>& lines) {
    for (const Line& line : lines)
      if (line.find("Feature")) feature_line(line);
      else plain_line(line);
    for (const auto& [names, pos] : exclusive_) exclusive_line(names, pos);
    return std::move(out_);
  }

 private:
  void feature_line(const Line& line) {
    Record record(ConfFile::kHelpers, Section::kFeature);
    record.add(line, keys_);
    FeatureHelper helper;
    helper.features = names_of(record.text("Feature"));
    helper.program = trim(record.text("Helper"));
    if (helper.features.empty()) return findings_.error(record.where(), "Feature", "names no feature");
    for (const std::string& name : helper.features)
      if (!can_be_asked_for(name))
        return findings_.error(record.pos("Feature"), "Feature",
                               "\"" + name + "\" has a character that means something in --constraint: & | , * ( ) [ ]");
    if (helper.program.empty() || helper.program[0] != '/')
      return findings_.error(record.where(), "Helper", "has to be the absolute path of a program, for " + join(helper.features, ","));
    for (const std::string& flag : names_of(record.text("Flags"))) {
      if (iequals(flag, "rebootless")) helper.rebootless = true;
      else findings_.odd(record.pos("Flags"), "Flags", "\"" + flag + "\" is not a flag; there is: rebootless", "it is left out");
    }
    if (record.has("NodeName")) {
      auto nodes = expand_hosts(record.text("NodeName"));
      if (!nodes) return findings_.error(record.pos("NodeName"), "NodeName", std::string(nodes.error().message()));
      for (const std::string& name : *nodes)
        if (!config_.node_index(name))
          findings_.odd(record.pos("NodeName"), "NodeName", "slurm.conf has no node " + name, "it is left out");
      helper.nodes = std::move(*nodes);
    }
    out_.changeable.names.insert(helper.features.begin(), helper.features.end());
    out_.helpers.push_back(std::move(helper));
  }

  void plain_line(const Line& line) {
    for (const KeyValue& given : line.values) {
      const auto pair = check_pair(ConfFile::kHelpers, Section::kGlobal, given, keys_);
      if (!pair) continue;
      const std::string_view key = pair->row->name;
      const std::string& value = pair->kv.value;
      if (key == "MutuallyExclusive") exclusive_.emplace_back(names_of(value), given.pos);
      else if (key == "AllowUserBoot")
        for (const std::string& user : names_of(value)) out_.changeable.users.insert(user);
      else if (key == "BootTime") out_.boot_time = seconds(parse_number<int64_t>(value).value_or(300));
      else if (key == "ExecTime") out_.exec_time = seconds(parse_number<int64_t>(value).value_or(10));
    }
  }

  // Asked when all features are known.
  void exclusive_line(const FeatureList& names, const SourcePos& pos) {
    if (names.size() < 2) return findings_.odd(pos, "MutuallyExclusive", "needs two features or more", "it is left out");
    for (const std::string& name : names)
      if (!out_.changeable.has(name))
        findings_.odd(pos, "MutuallyExclusive", "no Feature line has \"" + name + "\"", "it excludes nothing");
    out_.changeable.exclusive.push_back(names);
  }

  const Config& config_;
  Findings& keys_;
  Findings& findings_;
  HelpersConf out_;
  std::vector<std::pair<FeatureList, SourcePos>> exclusive_;
};

}  // namespace

bool FeatureHelper::is_of(std::string_view node) const { return !nodes || std::ranges::find(*nodes, node) != nodes->end(); }

const FeatureHelper* HelpersConf::find(std::string_view node, std::string_view feature) const {
  const FeatureHelper* found = nullptr;
  for (const FeatureHelper& helper : helpers)
    if (helper.is_of(node) && std::ranges::find(helper.features, feature) != helper.features.end()) found = &helper;
  return found;
}

FeatureList HelpersConf::features_of(std::string_view node) const {
  FeatureList out;
  for (const FeatureHelper& helper : helpers)
    for (const std::string& name : helper.features)
      if (helper.is_of(node) && std::ranges::find(out, name) == out.end()) out.push_back(name);
  return out;
}

std::vector<std::string> HelpersConf::programs_of(std::string_view node) const {
  std::vector<std::string> out;
  for (const FeatureHelper& helper : helpers)
    if (helper.is_of(node) && std::ranges::find(out, helper.program) == out.end()) out.push_back(helper.program);
  return out;
}

bool has_helpers(const Config& config) {
  return std::ranges::find(config.node_features_plugins, kPlugin) != config.node_features_plugins.end();
}

HelpersConf build_helpers_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings) {
  const ConfigValue* given = config.find_value("NodeFeaturesPlugins");
  for (const std::string& plugin : config.node_features_plugins)
    if (plugin != kPlugin)
      findings.odd(given ? given->pos : SourcePos{}, "NodeFeaturesPlugins",
                   "\"" + plugin + "\" is not there; there is: " + std::string(kPlugin), "it is left out");
  HelpersConf out = Reader(config, keys, findings).run(lines);
  if (config.reboot_program.empty() && has_helpers(config) && !std::ranges::all_of(out.helpers, &FeatureHelper::rebootless))
    findings.notice(given ? given->pos : SourcePos{}, "NodeFeaturesPlugins",
                    "slurm.conf names no RebootProgram: nodes that are up get no other features");
  return out;
}

}  // namespace muster::config
