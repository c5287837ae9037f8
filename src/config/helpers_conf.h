// helpers.conf: which features of nodes programs of the site report and change, who may have nodes rebooted for them, and how long that may
// take. Read where NodeFeaturesPlugins=node_features/helpers; else the file is only checked. helpers.conf(5). Cost: O(bytes + nodes named).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/parser.h"
#include "model/changeable_features.h"

namespace muster::config {

struct Config;
struct Findings;

struct FeatureHelper {  // one Feature line
  FeatureList features;
  std::string program;
  bool rebootless = false;                        // a node that gets these features need not reboot
  std::optional<std::vector<std::string>> nodes;  // unset: all
  bool is_of(std::string_view node) const;
  bool operator==(const FeatureHelper&) const = default;
};

struct HelpersConf {
  std::vector<FeatureHelper> helpers;
  ChangeableFeatures changeable;
  Duration boot_time = seconds(300), exec_time = seconds(10);

  // The line by which that node changes the feature; null: it does not. The last that names it counts.
  const FeatureHelper* find(std::string_view node, std::string_view feature) const;
  FeatureList features_of(std::string_view node) const;
  std::vector<std::string> programs_of(std::string_view node) const;  // each once, in the order of the lines
};

// NodeFeaturesPlugins names node_features/helpers.
bool has_helpers(const Config& config);
// `keys`: takes what is wrong with single keys and values; `findings`: lines that mean nothing.
HelpersConf build_helpers_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings);

}  // namespace muster::config
