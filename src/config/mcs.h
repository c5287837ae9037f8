// MCSPlugin and MCSParameters: labels of jobs, who may have which, and whether nodes are kept for jobs of one label. slurmctld/core/mcs.cc
// decides which label a job gets. Guide mcs; slurm.conf(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::config {

struct McsRules {
  enum class Plugin : uint8_t { kNone, kAccount, kGroup, kUser, kLabel };
  enum class Select : uint8_t { kNever, kAlways, kOnDemand };  // when a labelled job keeps others off its nodes
  Plugin plugin = Plugin::kNone;
  bool enforced = false;  // every job has a label
  Select select = Select::kOnDemand;
  bool private_data = false;        // PrivateData hides by label
  std::vector<std::string> groups;  // mcs/group: the only labels; empty = any group
  bool operator==(const McsRules&) const = default;
};

inline constexpr const char* kMcsWords =
    "there are: ondemand, enforced, noselect, select, ondemandselect, privatedata, and :group|group behind them";

// Texts such as "mcs/group" and "ondemand,noselect:groupA|groupB". For each part that makes no sense a sentence goes to `left_out`.
McsRules parse_mcs(std::string_view plugin, std::string_view parameters, std::vector<std::string>& left_out);

}  // namespace muster::config
