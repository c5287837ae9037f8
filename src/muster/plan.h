// The kind of cluster that `muster up` makes, and the configuration files for it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::front {

inline constexpr uint32_t kMaxNodes = 64;

enum class Action : uint8_t { kUp, kDown, kStatus, kLogs };

struct Plan {
  Action action = Action::kUp;
  uint32_t nodes = 4, gpus_per_node = 8, cpus = 16;
  uint64_t memory_mb = 65536;
  std::string gpu_type = "h100";
  bool accounting = true;  // with slurmdbd, so that sacct and sacctmgr work
  std::string state;       // --state; "" = the default place
  std::string log_name;    // logs: slurmctld or a node; "" = all
};

// Reads the words after the verb. Errors name the option, its value and the rule.
Result<Plan> parse_plan(Action action, std::span<const std::string> arguments);

struct ConfInputs {
  std::string directory;  // absolute
  std::string host, user;
  uint16_t first_port = 0;  // slurmctld's; the nodes' follow, then slurmdbd's
};
std::string slurm_conf(const Plan& plan, const ConfInputs& in);
// What its user has added to such a file.
std::string lines_of_the_site(const std::string& conf);
std::string slurmdbd_conf(const Plan& plan, const ConfInputs& in);
std::string gres_conf(const Plan& plan);
std::vector<std::string> node_names(const Plan& plan);

}  // namespace muster::front
