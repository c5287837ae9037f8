#include "slurmctld/core/settings.h"

namespace muster::slurmctld {
namespace {

sched::Params sched_params(const config::LoadedConfig& loaded) {
  const config::Config& c = loaded.config;
  sched::Params p;
  p.backfill = c.scheduler_type != "sched/builtin";
  p.allocate_cores = c.select_flags.unit != config::SelectFlags::Unit::kCpu;
  p.memory_consumable = c.select_flags.memory;
  p.linear = c.select_type == "select/linear";
  p.one_task_per_core = c.select_flags.one_task_per_core;
  p.lln = c.select_flags.lln;
  p.pack_nodes = c.select_flags.pack_nodes;
  p.def_mem_per_cpu_mb = c.def_mem_per_cpu_mb.value_or(0);
  p.def_mem_per_node_mb = c.def_mem_per_node_mb.value_or(0);
  p.max_mem_per_cpu_mb = c.max_mem_per_cpu_mb.value_or(0);
  p.max_mem_per_node_mb = c.max_mem_per_node_mb.value_or(0);
  p.bf_window_min = static_cast<uint32_t>(c.scheduler_parameters.number("bf_window", 1440));
  p.bf_resolution_s = static_cast<uint32_t>(c.scheduler_parameters.number("bf_resolution", 60));
  if (c.topology_plugin == "topology/tree")
    for (const config::SwitchConfig& s : loaded.topology.switches)
      if (s.level == 0) p.leaf_switches.push_back(s.nodes);
  if (c.topology_plugin == "topology/block")
    for (const config::BlockConfig& b : loaded.topology.blocks) p.leaf_switches.push_back(b.nodes);
  return p;
}

sched::PriorityParams priority_params(const config::Config& c) {
  sched::PriorityParams p;
  p.multifactor = c.priority_type == "priority/multifactor";
  p.weight_age = c.priority_weight_age;
  p.weight_job_size = c.priority_weight_job_size;
  p.weight_partition = c.priority_weight_partition;
  p.weight_qos = c.priority_weight_qos;
  p.weight_fairshare = c.priority_weight_fairshare;
  p.weight_assoc = c.priority_weight_assoc;
  p.max_age = c.priority_max_age;
  p.favor_small = c.priority_favor_small;
  return p;
}

}  // namespace

Settings make_settings(std::shared_ptr<const config::LoadedConfig> loaded, Uid slurm_user, bool rootless) {
  Settings s;
  s.sched = sched_params(*loaded);
  s.priority = priority_params(loaded->config);
  s.loaded = std::move(loaded);
  s.slurm_user = slurm_user;
  s.rootless = rootless;
  return s;
}

}  // namespace muster::slurmctld
