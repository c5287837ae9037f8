// Node: a machine that runs jobs. `spec` is what slurm.conf says, `hardware` what slurmd found; the rest is state. Manual pages:
// slurm.conf(5) NODE CONFIGURATION, scontrol(1) show node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/gpu_fabric.h"
#include "model/gres_items.h"
#include "model/node_energy.h"
#include "model/node_extra.h"
#include "model/resources.h"

namespace muster {

struct NodeSpec {
  std::string name, address, hostname;
  uint16_t port = 0;
  uint32_t cpus = 1, boards = 1, sockets = 1, cores_per_socket = 1, threads_per_core = 1;
  uint64_t real_memory_mb = 1, tmp_disk_mb = 0;
  uint32_t weight = 1;
  std::vector<std::string> features;
  std::vector<GresDevices> gres;
  Parsed<GresItems> gres_text;  // as configured, "gpu:h100:8"
  Bitmap specialized_cpus;      // CpuSpecList / CoreSpecCount: never handed out
  uint64_t specialized_mem_mb = 0;
  uint32_t core_spec_count = 0;
  uint32_t restricted_cores_per_gpu = 0;  // kept for jobs with GPUs
  bool cloud = false, future = false, external = false, dynamic = false;
  std::string topology, parameters, comment, extra;
  uint32_t suspend_time_seconds = kUnsetSeconds;
  static constexpr uint32_t kUnsetSeconds = 0xfffffffeu;
  std::string initial_state, initial_reason;  // State= and Reason= of the NodeName line, upper case
  std::string tres_weights;

  uint32_t cores() const { return sockets * cores_per_socket; }
  bool operator==(const NodeSpec&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "address", self.address);
    field(3, "hostname", self.hostname);
    field(4, "port", self.port);
    field(5, "cpus", self.cpus);
    field(6, "boards", self.boards);
    field(7, "sockets", self.sockets);
    field(8, "cores_per_socket", self.cores_per_socket);
    field(9, "threads_per_core", self.threads_per_core);
    field(10, "real_memory_mb", self.real_memory_mb);
    field(11, "tmp_disk_mb", self.tmp_disk_mb);
    field(12, "weight", self.weight);
    field(13, "features", self.features);
    field(14, "gres", self.gres);
    field(15, "gres_text", self.gres_text);
    field(16, "specialized_cpus", self.specialized_cpus);
    field(17, "specialized_mem_mb", self.specialized_mem_mb);
    field(18, "core_spec_count", self.core_spec_count);
    field(19, "cloud", self.cloud);
    field(20, "future", self.future);
    field(21, "external", self.external);
    field(22, "dynamic", self.dynamic);
    field(23, "topology", self.topology);
    field(24, "parameters", self.parameters);
    field(25, "comment", self.comment);
    field(26, "extra", self.extra);
    field(27, "suspend_time_seconds", self.suspend_time_seconds);
    field(28, "initial_state", self.initial_state);
    field(29, "initial_reason", self.initial_reason);
    field(30, "tres_weights", self.tres_weights);
    field(31, "restricted_cores_per_gpu", self.restricted_cores_per_gpu);
  }
};
using NodeSpecPtr = std::shared_ptr<const NodeSpec>;

// Chooses `count` cores of a node to set aside for the system: the last core of the last socket, then of the sockets before it, then
// the next to last cores … (`first`: the same from the other end). Guide core_spec.
Bitmap specialized_cores(uint32_t sockets, uint32_t cores_per_socket, uint32_t count, bool first);

// Adds a job to these CPUs, and removes one. `shared`: [0] holds the CPUs of two jobs or more, [1] those of three …
void hold_cpus(Bitmap& used, std::vector<Bitmap>& shared, const Bitmap& cpus);
void free_cpus(Bitmap& used, std::vector<Bitmap>& shared, const Bitmap& cpus);

// Whether `share` is taken from what others can get: not if Gres= says no_consume.
bool is_consumed(const NodeSpec& spec, const GresShare& share);

// What slurmd reports at registration.
struct NodeHardware {
  uint32_t cpus = 0, boards = 1, sockets = 0, cores_per_socket = 0, threads_per_core = 0;
  uint64_t real_memory_mb = 0, tmp_disk_mb = 0;
  std::vector<GresDevices> gres;
  std::string arch, os, version;  // "x86_64", "Linux 6.1.0 …", "slurm 26.05.x"
  std::string boot_id;
  Time boot_time{}, slurmd_start{};
  std::vector<std::string> features;
  std::vector<std::string> changeable;         // features that its helpers change
  std::vector<std::string> changeable_told;    // of those, the ones that they said something about; of the others slurmctld knows
  std::vector<std::string> changeable_active;  // … and that are active
  std::string step_key;                        // public key of its slurmd for steps that it manages (steps/warrant.h); "": it manages none
  GpuFabric fabric;                            // that all its GPUs belong to
  bool operator==(const NodeHardware&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "cpus", self.cpus);
    field(2, "boards", self.boards);
    field(3, "sockets", self.sockets);
    field(4, "cores_per_socket", self.cores_per_socket);
    field(5, "threads_per_core", self.threads_per_core);
    field(6, "real_memory_mb", self.real_memory_mb);
    field(7, "tmp_disk_mb", self.tmp_disk_mb);
    field(8, "gres", self.gres);
    field(9, "arch", self.arch);
    field(10, "os", self.os);
    field(11, "version", self.version);
    field(12, "boot_id", self.boot_id);
    field(13, "boot_time", self.boot_time);
    field(14, "slurmd_start", self.slurmd_start);
    field(15, "features", self.features);
    field(40, "step_key", self.step_key);
    field(41, "changeable", self.changeable);
    field(42, "changeable_told", self.changeable_told);
    field(43, "changeable_active", self.changeable_active);
    field(44, "fabric", self.fabric);
  }
};

// What the jobs of one partition hold of a node. A partition's limits (MaxCPUsPerNode, OverSubscribe=FORCE:n) count its own jobs only.
struct PartitionUse {
  uint32_t partition = 0;
  Bitmap cpus;
  std::vector<Bitmap> cpus_shared;  // as Node::cpus_shared
  bool operator==(const PartitionUse&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "partition", self.partition);
    field(2, "cpus", self.cpus);
    field(3, "cpus_shared", self.cpus_shared);
  }
};
const PartitionUse* use_of_partition(const std::vector<PartitionUse>& list, uint32_t partition);  // null: holds nothing
// Add to the list and take from it; an entry that comes to nothing is removed.
void hold_cpus_of(std::vector<PartitionUse>& list, uint32_t partition, const Bitmap& cpus);
void free_cpus_of(std::vector<PartitionUse>& list, uint32_t partition, const Bitmap& cpus);

struct Node {
  NodeId id{};
  NodeSpecPtr spec;
  std::shared_ptr<const NodeHardware> hardware;  // null: never registered
  NodeState admin = NodeState::kUnknown;         // kUnknown, kDown, kIdle (= up), kFuture; allocated/mixed are derived
  uint32_t flags = 0;                            // NodeFlag
  std::string reason;
  Uid reason_uid{};
  Time reason_time{};
  // held by jobs; kept up by apply from the allocations
  Bitmap cpus_used;
  std::vector<Bitmap> cpus_shared;         // [0]: CPUs of two jobs or more (OverSubscribe), [1]: of three …
  std::vector<PartitionUse> by_partition;  // of cpus_used; in the order of the first that came
  uint64_t mem_used_mb = 0;
  std::vector<GresShare> gres_used;
  uint32_t jobs_running = 0, jobs_completing = 0;
  uint32_t whole_node_jobs = 0, shared_jobs = 0;
  uint32_t jobs_off = 0;  // suspended jobs that keep memory and devices here while others may have their CPUs; not in jobs_running
  uint32_t fences = 0;    // --exclusive=topo jobs that keep others off (kNodeBlocked)
  Uid exclusive_uid{};    // the owner, from an --exclusive=user job on until the last job here has gone
  bool exclusive_user = false;
  std::string
      mcs_label;  // the MCS label whose jobs alone may use the node, from a job on that wants that until the last has gone; "" = not so
  // overrides by scontrol update
  uint32_t weight = 1;
  std::vector<std::string> features_active;
  std::string comment;
  Parsed<NodeExtra> extra;              // any text; jobs may ask what it says (extra_constraint.h)
  std::optional<std::string> topology;  // Topology= of scontrol; unset: as in the files
  uint32_t suspend_count = 0;
  Time last_busy{};
  Time resume_deadline{};  // powering up: node must register before
  Time resume_after{};
  NodeState next_state = NodeState::kUnknown;  // after a reboot: kIdle (RESUME), kDown, or as it was
  Time reboot_issued{};
  bool action_drained = false;             // DRAIN is of `reboot ASAP` or `power down asap`, and goes with them
  std::string instance_id, instance_type;  // of a cloud
  std::string power_action;  // the PowerAction that was asked for by name, while its reboot, power-down or power-up is under way
  std::vector<std::string> boot_features;  // changeable features that the reboot under way is to bring
  Time out_since{};                        // since when accounting has it as not at work (EventRecord); unset: it is
  // volatile: not in the log, unknown after a restart until slurmd connects again
  bool connected = false;
  Time last_response{};
  uint32_t cpu_load = 0;  // hundredths
  uint64_t free_mem_mb = 0;
  std::optional<NodeEnergy> energy;

  bool has_jobs() const { return jobs_running + jobs_completing + jobs_off > 0; }
  NodeState state() const;             // admin state with IDLE, MIXED, ALLOCATED derived
  uint32_t cpus_allocated() const;     // without those of the system that a job took back (--core-spec)
  bool operator==(const Node&) const;  // of what the log determines; volatile members excluded
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "spec", self.spec);
    field(3, "hardware", self.hardware);
    field(4, "admin", self.admin);
    field(5, "flags", self.flags);
    field(6, "reason", self.reason);
    field(7, "reason_uid", self.reason_uid);
    field(8, "reason_time", self.reason_time);
    field(9, "cpus_used", self.cpus_used);
    field(10, "mem_used_mb", self.mem_used_mb);
    field(11, "gres_used", self.gres_used);
    field(12, "jobs_running", self.jobs_running);
    field(13, "jobs_completing", self.jobs_completing);
    field(14, "whole_node_jobs", self.whole_node_jobs);
    field(15, "shared_jobs", self.shared_jobs);
    field(16, "exclusive_uid", self.exclusive_uid);
    field(17, "exclusive_user", self.exclusive_user);
    field(18, "weight", self.weight);
    field(19, "features_active", self.features_active);
    field(20, "comment", self.comment);
    field(21, "extra", self.extra);
    field(22, "suspend_count", self.suspend_count);
    field(23, "last_busy", self.last_busy);
    field(24, "resume_deadline", self.resume_deadline);
    field(25, "resume_after", self.resume_after);
    field(26, "next_state", self.next_state);
    field(27, "reboot_issued", self.reboot_issued);
    field(28, "instance_id", self.instance_id);
    field(29, "instance_type", self.instance_type);
    field(30, "action_drained", self.action_drained);
    field(31, "topology", self.topology);
    field(32, "fences", self.fences);
    field(33, "cpus_shared", self.cpus_shared);
    field(34, "mcs_label", self.mcs_label);
    field(35, "by_partition", self.by_partition);
    field(45, "jobs_off", self.jobs_off);
    field(60, "out_since", self.out_since);
    field(61, "power_action", self.power_action);
    field(62, "boot_features", self.boot_features);
  }
};

}  // namespace muster
