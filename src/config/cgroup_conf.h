// cgroup.conf as typed values, and SimpleConf: any file that consists only of key=value lines (mpi.conf, slurmdbd.conf …). cgroup.conf(5).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/parser.h"
#include "config/slurm_conf.h"

namespace muster::config {

// A file without record lines: every key of its table with the text in effect.
struct SimpleConf {
  ConfFile file = ConfFile::kCgroup;
  bool present = false;
  std::vector<ConfigValue> values;

  const ConfigValue* find(std::string_view key) const;
  std::string_view text(std::string_view key) const;  // "" when unset
  bool yes(std::string_view key) const;
  int64_t number(std::string_view key, int64_t otherwise = 0) const;
};
// An empty `lines` gives the defaults.
SimpleConf build_simple_conf(ConfFile file, const std::vector<Line>& lines, std::vector<ConfigError>& errors,
                             std::vector<ConfigNotice>& notices);

struct CgroupConf {
  SimpleConf raw;
  std::string mountpoint = "/sys/fs/cgroup", plugin = "autodetect", slice = "system.slice";
  bool job_id_paths = false, ignore_systemd = false, ignore_systemd_on_failure = false, enable_controllers = false;
  std::vector<std::string> extra_controllers;
  Duration systemd_timeout = milliseconds(1000);
  double allowed_ram_percent = 100, allowed_swap_percent = 0, max_ram_percent = 100, max_swap_percent = 100;
  bool constrain_cores = false, constrain_devices = false, constrain_ram = false, constrain_swap = false;
  bool signal_children = false;
  std::optional<uint32_t> memory_swappiness;
  uint64_t min_ram_mb = 30;
};
CgroupConf build_cgroup_conf(const std::vector<Line>& lines, std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices);

}  // namespace muster::config
