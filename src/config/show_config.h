// The text of `scontrol show config`: every key with its value in effect in Slurm's layout, the controller's own facts between them, then
// the cgroup and MPI keys and the state of the controllers. Pure; cost O(keys). scontrol(1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/load.h"

namespace muster::config {

struct ShowFacts {
  Time now{}, boot{};
  uint32_t next_job_id = 1;
  std::string version;  // "26.05.0"
  uint32_t slurm_user_uid = 0, slurmd_user_uid = 0;
  bool multiple_slurmd = false;  // several node names share a host
  bool hash_matches = true;
  struct Controller {
    std::string host;
    bool up = false;
  };
  std::vector<Controller> controllers;  // in order; empty: no line
};

std::string show_config(const LoadedConfig& loaded, const ShowFacts& facts);
// One line, "Key                     = value".
std::string config_line(std::string_view key, std::string_view value);
// A value as it is printed: 30 → "30 sec", unset → "(null)", yes → "Yes".
std::string shown_value(const ConfigValue& value);

}  // namespace muster::config
