// Heterogeneous jobs: components that ask for different things, and start together or not at all. Each component is a job of its own; their
// ids follow one another, and the first component, the leader, gives the whole its id. Users write a component as "123+1".
// guide heterogeneous_jobs; sbatch(1), squeue(1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"

namespace muster {

// The most components of one job.
inline constexpr uint32_t kMostComponents = 128;

// Which component a job is. A job that is none has no leader.
struct HetPart {
  JobId leader{};
  uint16_t offset = 0, size = 0;  // size: how many components there are
  explicit operator bool() const { return leader.value != 0; }
  bool leads() const { return leader && offset == 0; }
  JobId component(uint32_t at) const { return JobId(leader.value + at); }
  bool operator==(const HetPart&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "leader", self.leader);
    field(2, "offset", self.offset);
    field(3, "size", self.size);
  }
};

// "123+1"; the plain id for a job that is no component.
std::string component_name(JobId id, const HetPart& het);
// "123-125": the ids of all components.
std::string component_ids(const HetPart& het);

// A component that has its nodes, as the variables of the job describe it.
struct HetComponent {
  JobId job{};
  std::string name, partition, account, qos, reservation, node_list;
  std::vector<uint32_t> cpus_per_node, tasks_per_node;
  uint32_t num_tasks = 0;                            // 0: none were asked for
  uint64_t mem_per_cpu_mb = 0, mem_per_node_mb = 0;  // 0: not asked for
  uint32_t cpus_per_task = 0;                        // 0: not asked for
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "name", self.name);
    field(3, "partition", self.partition);
    field(4, "account", self.account);
    field(5, "qos", self.qos);
    field(6, "reservation", self.reservation);
    field(7, "node_list", self.node_list);
    field(8, "cpus_per_node", self.cpus_per_node);
    field(9, "tasks_per_node", self.tasks_per_node);
    field(10, "num_tasks", self.num_tasks);
    field(11, "mem_per_cpu_mb", self.mem_per_cpu_mb);
    field(12, "mem_per_node_mb", self.mem_per_node_mb);
    field(13, "cpus_per_task", self.cpus_per_task);
  }
};

// SLURM_HET_SIZE and, for each component, the variables that end in _HET_GROUP_#: "NAME=value". sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
std::vector<std::string> het_variables(const std::vector<HetComponent>& components);

}  // namespace muster
