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
#include "model/gres_items.h"
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
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "address", s.address);
    v(3, "hostname", s.hostname);
    v(4, "port", s.port);
    v(5, "cpus", s.cpus);
    v(6, "boards", s.boards);
    v(7, "sockets", s.sockets);
    v(8, "cores_per_socket", s.cores_per_socket);
    v(9, "threads_per_core", s.threads_per_core);
    v(10, "real_memory_mb", s.real_memory_mb);
    v(11, "tmp_disk_mb", s.tmp_disk_mb);
    v(12, "weight", s.weight);
    v(13, "features", s.features);
    v(14, "gres", s.gres);
    v(15, "gres_text", s.gres_text);
    v(16, "specialized_cpus", s.specialized_cpus);
    v(17, "specialized_mem_mb", s.specialized_mem_mb);
    v(18, "core_spec_count", s.core_spec_count);
    v(19, "cloud", s.cloud);
    v(20, "future", s.future);
    v(21, "external", s.external);
    v(22, "dynamic", s.dynamic);
    v(23, "topology", s.topology);
    v(24, "parameters", s.parameters);
    v(25, "comment", s.comment);
    v(26, "extra", s.extra);
    v(27, "suspend_time_seconds", s.suspend_time_seconds);
    v(28, "initial_state", s.initial_state);
    v(29, "initial_reason", s.initial_reason);
    v(30, "tres_weights", s.tres_weights);
    v(31, "restricted_cores_per_gpu", s.restricted_cores_per_gpu);
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
  std::string step_key;  // public key of its slurmd for steps that it manages (steps/warrant.h); "": it manages none
  bool operator==(const NodeHardware&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "cpus", s.cpus);
    v(2, "boards", s.boards);
    v(3, "sockets", s.sockets);
    v(4, "cores_per_socket", s.cores_per_socket);
    v(5, "threads_per_core", s.threads_per_core);
    v(6, "real_memory_mb", s.real_memory_mb);
    v(7, "tmp_disk_mb", s.tmp_disk_mb);
    v(8, "gres", s.gres);
    v(9, "arch", s.arch);
    v(10, "os", s.os);
    v(11, "version", s.version);
    v(12, "boot_id", s.boot_id);
    v(13, "boot_time", s.boot_time);
    v(14, "slurmd_start", s.slurmd_start);
    v(15, "features", s.features);
    v(40, "step_key", s.step_key);
  }
};

// What the jobs of one partition hold of a node. A partition's limits (MaxCPUsPerNode, OverSubscribe=FORCE:n) count its own jobs only.
struct PartitionUse {
  uint32_t partition = 0;
  Bitmap cpus;
  std::vector<Bitmap> cpus_shared;  // as Node::cpus_shared
  bool operator==(const PartitionUse&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "partition", s.partition);
    v(2, "cpus", s.cpus);
    v(3, "cpus_shared", s.cpus_shared);
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
  Uid exclusive_uid{};    // owner while an --exclusive=user job is here
  bool exclusive_user = false;
  std::string mcs_label;  // the MCS label whose jobs alone may use the node, while a job here wants that; "" = not so
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
  Time out_since{};                        // since when accounting has it as not at work (EventRecord); unset: it is
  // volatile: not in the log, unknown after a restart until slurmd connects again
  bool connected = false;
  Time last_response{};
  uint32_t cpu_load = 0;  // hundredths
  uint64_t free_mem_mb = 0;

  bool has_jobs() const { return jobs_running + jobs_completing + jobs_off > 0; }
  NodeState state() const;             // admin state with IDLE, MIXED, ALLOCATED derived
  uint32_t cpus_allocated() const;     // without those of the system that a job took back (--core-spec)
  bool operator==(const Node&) const;  // of what the log determines; volatile members excluded
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "id", s.id);
    v(2, "spec", s.spec);
    v(3, "hardware", s.hardware);
    v(4, "admin", s.admin);
    v(5, "flags", s.flags);
    v(6, "reason", s.reason);
    v(7, "reason_uid", s.reason_uid);
    v(8, "reason_time", s.reason_time);
    v(9, "cpus_used", s.cpus_used);
    v(10, "mem_used_mb", s.mem_used_mb);
    v(11, "gres_used", s.gres_used);
    v(12, "jobs_running", s.jobs_running);
    v(13, "jobs_completing", s.jobs_completing);
    v(14, "whole_node_jobs", s.whole_node_jobs);
    v(15, "shared_jobs", s.shared_jobs);
    v(16, "exclusive_uid", s.exclusive_uid);
    v(17, "exclusive_user", s.exclusive_user);
    v(18, "weight", s.weight);
    v(19, "features_active", s.features_active);
    v(20, "comment", s.comment);
    v(21, "extra", s.extra);
    v(22, "suspend_count", s.suspend_count);
    v(23, "last_busy", s.last_busy);
    v(24, "resume_deadline", s.resume_deadline);
    v(25, "resume_after", s.resume_after);
    v(26, "next_state", s.next_state);
    v(27, "reboot_issued", s.reboot_issued);
    v(28, "instance_id", s.instance_id);
    v(29, "instance_type", s.instance_type);
    v(30, "action_drained", s.action_drained);
    v(31, "topology", s.topology);
    v(32, "fences", s.fences);
    v(33, "cpus_shared", s.cpus_shared);
    v(34, "mcs_label", s.mcs_label);
    v(35, "by_partition", s.by_partition);
    v(45, "jobs_off", s.jobs_off);
    v(60, "out_since", s.out_since);
  }
};

}  // namespace muster
