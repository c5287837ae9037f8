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
  static void describe(S& s, V&& v) {
    v(1, "leader", s.leader);
    v(2, "offset", s.offset);
    v(3, "size", s.size);
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
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "name", s.name);
    v(3, "partition", s.partition);
    v(4, "account", s.account);
    v(5, "qos", s.qos);
    v(6, "reservation", s.reservation);
    v(7, "node_list", s.node_list);
    v(8, "cpus_per_node", s.cpus_per_node);
    v(9, "tasks_per_node", s.tasks_per_node);
    v(10, "num_tasks", s.num_tasks);
    v(11, "mem_per_cpu_mb", s.mem_per_cpu_mb);
    v(12, "mem_per_node_mb", s.mem_per_node_mb);
    v(13, "cpus_per_task", s.cpus_per_task);
  }
};

// SLURM_HET_SIZE and, for each component, the variables that end in _HET_GROUP_#: "NAME=value". sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
std::vector<std::string> het_variables(const std::vector<HetComponent>& components);

}  // namespace muster
