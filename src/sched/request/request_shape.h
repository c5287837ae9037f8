// Shape: what a JobRequest asks of nodes, with all defaults and derived values filled in (sbatch(1) and the guides cpu_management and
// gres). Two requests with equal shape_key() in one partition can stand in for each other everywhere in the scheduler. Which nodes qualify
// is said elsewhere (availability.h, request_class.h).
//
// Memory in MiB. Errors name the option. Cost: O(text).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/saturating.h"
#include "model/distribution.h"
#include "model/extra_constraint.h"
#include "model/feature_constraint.h"
#include "model/job_request.h"
#include "model/license_needs.h"
#include "model/node_names.h"
#include "model/partition.h"
#include "sched/params.h"
#include "sched/supply/node_owner.h"
#include "sched/supply/partition_limit.h"

namespace muster::sched {

struct GresNeed {
  std::string name, type;  // "" = any type
  uint64_t count = 0;
  bool one_device = false;  // shares (mps, shard) that must come from one device of a node
  bool operator==(const GresNeed&) const = default;
};

enum class MemoryMode : uint8_t { kNone, kPerNode, kPerCpu, kPerGpu, kAll };

struct Shape {
  // nodes
  uint32_t min_nodes = 1, max_nodes = kUnlimited32;
  std::vector<uint32_t> node_sizes;  // counts allowed, ascending; empty = all within min … max
  bool grow = false;                 // a range was given: as many nodes as there are
  bool contiguous = false;           // on a flat topology only
  bool spread = false;
  NodeList required_nodes, excluded_nodes;
  bool arbitrary = false;
  uint32_t switches = 0;  // at most so many leaf switches, 0 = any
  Duration switches_wait{};
  uint32_t segment = 0;  // nodes of a segment, 0 = none
  bool spread_segments = false, consolidate_segments = false;
  // tasks and CPUs
  uint32_t num_tasks = 0;                             // 0: tasks_per_node on each node
  uint32_t tasks_per_node = 0;                        // a maximum beside num_tasks; 0 = none
  uint32_t tasks_per_socket = 0, tasks_per_core = 0;  // maxima, 0 = none
  uint32_t tasks_per_gpu = 0;                         // tasks of a node = its GPUs times this
  uint32_t cpus_per_task = 1;
  uint32_t min_cpus_per_node = 0;
  uint32_t cpus_per_gpu = 0;
  uint32_t sockets = 0, cores_per_socket = 0, threads_per_core = 0;  // node has at least
  uint32_t use_threads = 0;                                          // threads of a core that tasks may use, 0 = all
  bool one_core_per_socket = false;                                  // --hint=memory_bound
  bool block_sockets = false;                                        // -m *:block
  bool cyclic_nodes = false;                                         // -m cyclic
  bool overcommit = false;
  bool own_core_spec = false;  // core_spec holds in place of what the node keeps for the system
  uint32_t core_spec = 0;      // cores (or threads) per node kept from the job
  bool core_spec_is_threads = false, spec_cores_first = false;
  // memory, disk, devices
  MemoryMode memory = MemoryMode::kNone;
  uint64_t mem_mb = 0;
  bool mem_consumable = false;
  uint64_t max_mem_per_node_mb = 0;  // MaxMemPerNode, 0 = none
  uint64_t tmp_disk_mb = 0;
  std::vector<GresNeed> per_node, per_job, per_task, per_socket;
  bool enforce_binding = false;
  // Shares of a device (shard, mps): may tasks, and may the job, use several devices of a node?
  bool one_task_per_sharing = false, several_sharing = false, spread_shared = false;
  // which nodes and with whom
  FeatureConstraint features, prefer;
  bool nodes_as_they_are = false;  // no node is rebooted for its features
  bool reboot = false;             // --reboot: of all its nodes, so nobody else may be there
  Duration delay_boot{};           // eligible for less than this, it gets no node that has to be rebooted for its features
  ExtraConstraint extra;           // what the nodes' Extra has to say
  bool whole = false;              // no other job on its nodes; all their CPUs and GRES
  bool exclusive_user = false;
  std::string mcs_label;         // MCS label of the job, "" = none
  bool exclusive_label = false;  // its nodes are for jobs with its label
  bool exclusive_topo = false;   // nobody else in its leaves (blocks, switches, rings, tori)
  bool oversubscribe = false;
  bool all_cpus = false;  // select/linear: all CPUs of its nodes, also where it shares them
  uint32_t oversubscribe_count = 1;
  bool lln = false, pack_nodes = false;
  bool whole_cores = false, whole_sockets = false, one_task_per_core = false;
  LicenseNeeds licenses;
  uint32_t time_min_min = 0;                                                      // --time-min; 0 = none
  uint32_t max_cpus_per_node = kUnlimited32, max_cpus_per_socket = kUnlimited32;  // of the partition

  bool operator==(const Shape&) const = default;

  bool keeps_others_off() const { return exclusive_user || exclusive_label; }  // without taking whole nodes
  // The job as a node that others use sees it (supply/node_owner.h), for that user; borrows the label.
  Newcomer newcomer(Uid user) const { return {user, mcs_label, exclusive_user, exclusive_label}; }
  bool has_gres() const { return !(per_node.empty() && per_job.empty() && per_task.empty() && per_socket.empty()); }
  // The largest count of nodes that the job may have and that is at most n; the smallest that is at least n. 0: there is none.
  uint32_t nodes_up_to(uint32_t n) const;
  uint32_t nodes_from(uint32_t n) const;
  // GPUs (any type) that the request asks for on each node, for each task and for the job.
  uint64_t gpus_per_node() const;
  uint64_t gpus_per_task() const;
  uint64_t gpus_per_job() const;
  // GPUs or shares of GPUs are asked for.
  bool wants_gpu() const;
  // Counts of CPUs, memory and devices alone decide whether tasks fit; the layout of the node need not be looked at.
  bool counts_decide() const;
  // Every node runs the same number of tasks; otherwise num_tasks are spread.
  bool per_node_tasks() const { return num_tasks == 0; }
};

// The limit that the partition sets on what all its jobs hold together; none for a job that has all CPUs of its nodes.
PartitionLimit limit_of(const Shape& shape);

// What is handed out in the partition: sockets (or else cores, CPUs), memory. A partition's SelectTypeParameters take the place
// of the cluster's where that hands out cores or sockets itself. slurm.conf(5).
struct HandedOut {
  bool sockets = false, memory = false;
};
HandedOut handed_out(const Partition& partition, const Params& params);

Result<Shape> make_shape(const RequestBody& request, const Partition& partition, const Params& params);

// Equal for requests that have the same shape in every partition. Cost: a walk over the fields, and O(size of the texts).
std::string shape_key(const RequestBody& request);
// The fields of a request that say nothing of its shape, by name.
std::span<const std::string_view> fields_without_shape();

// Reads a list of GRES; the error names `option` where the text is not valid.
Result<std::vector<GresNeed>> gres_needs(const TresText& list, std::string_view option);

}  // namespace muster::sched
