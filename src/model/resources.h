// What nodes have and what jobs hold of it: CPUs, memory, generic resources. Plain values.
//
// A CPU is a hardware thread with the node's abstract number: (socket · cores + core) · threads + thread. A core is handed out whole
// (all its threads) unless the site allocates CPUs (CR_CPU). GRES devices are numbered per node and name (gpu 0 … 7 whatever their
// types), as `scontrol show job -d` prints in GRES=gpu:h100:2(IDX:0-1).
//
// Shared kinds (mps, shard) are shares of GPUs: an entry says how many shares one GPU has, and its first_index, type and cores are
// those of that GPU. A GPU is handed out whole or in shares of one kind, never both at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "base/ids.h"

namespace muster {

// A group of devices of a node that have one name, one type and the same affinity, as one line of gres.conf gives them.
struct GresDevices {
  std::string name;  // "gpu"
  std::string type;  // "h100", "" = none given
  uint64_t count = 0;
  uint32_t first_index = 0;  // devices have the numbers first_index … first_index+count-1 within `name`
  bool count_only = false;   // no devices behind it: a number (licence-like)
  std::vector<std::string> files;
  Bitmap cores;  // affinity by core number; empty = all
  std::vector<int32_t> links;
  uint32_t flags = 0;   // GresFlag
  bool shared = false;  // `count` shares of GPU number first_index
  bool operator==(const GresDevices&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "type", self.type);
    field(3, "count", self.count);
    field(4, "first_index", self.first_index);
    field(5, "count_only", self.count_only);
    field(6, "files", self.files);
    field(7, "cores", self.cores);
    field(8, "links", self.links);
    field(9, "flags", self.flags);
    field(10, "shared", self.shared);
  }
};

// Flags= of gres.conf, and no_consume of Gres=.
enum GresFlag : uint32_t {
  kGresCountOnly = 1u << 0,
  kGresEnvUuid = 1u << 1,
  kGresExplicit = 1u << 2,
  kGresOneSharing = 1u << 3,
  kGresAllSharing = 1u << 4,
  kGresEnvNvidia = 1u << 5,
  kGresEnvAmd = 1u << 6,
  kGresEnvIntel = 1u << 7,
  kGresEnvOpencl = 1u << 8,
  kGresNoEnv = 1u << 9,
  kGresNoConsume = 1u << 10,  // a job that asks for it takes nothing away
};

inline bool is_shared_gres(std::string_view name) { return name == "mps" || name == "shard"; }

// A part of one node's GRES that a job or step holds.
struct GresShare {
  std::string name, type;
  uint64_t count = 0;
  Bitmap devices;                // by index within `name` (of shared kinds: of the GPUs); empty for count-only kinds
  std::vector<uint64_t> shares;  // of shared kinds: how many of each of `devices`, in their order
  bool operator==(const GresShare&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "type", self.type);
    field(3, "count", self.count);
    field(4, "devices", self.devices);
    field(5, "shares", self.shares);
  }
  // How many shares of this GPU are held; 0 if it is none of `devices`.
  uint64_t shares_on(size_t device) const;
};

// Add to and take from a list with one entry per name and type; an entry that comes to nothing is removed.
void add_gres(std::vector<GresShare>& list, const GresShare& what);

// "gpu:h100"; "gpu:h100:8"; "gpu:h100:8,nic:1".
std::string gres_name(const std::string& name, const std::string& type);
std::string gres_text(const std::string& name, const std::string& type, uint64_t count);
std::string gres_text(const std::vector<GresShare>& gres);
// What shares of several nodes (or of several steps) hold together.
template <class Shares>
std::vector<GresShare> gres_sum(const Shares& shares) {
  std::vector<GresShare> out;
  for (const auto& share : shares)
    for (const GresShare& g : share.gres) add_gres(out, {g.name, g.type, g.count, {}, {}});
  return out;
}
void remove_gres(std::vector<GresShare>& list, const GresShare& what);
// Whether all of `asked` is in `held`, device by device.
bool holds_gres(const std::vector<GresShare>& held, const std::vector<GresShare>& asked);

// What a job holds on one node.
struct NodeShare {
  NodeId node{};
  Bitmap cpus;  // CPU numbers (threads)
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  uint32_t tasks = 0;               // tasks of the job placed here (SLURM_TASKS_PER_NODE)
  Bitmap taken_back;                // the system's part of `cpus`, left to the job by --core-spec: its steps use them, it is not charged
  std::optional<uint32_t> channel;  // IMEX channel of the job, or of this segment of it (ADR 25); given when it starts
  uint32_t counted_cpus() const { return static_cast<uint32_t>(cpus.count() - taken_back.count()); }
  bool operator==(const NodeShare&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "cpus", self.cpus);
    field(3, "mem_mb", self.mem_mb);
    field(4, "gres", self.gres);
    field(5, "tasks", self.tasks);
    field(6, "taken_back", self.taken_back);
    field(7, "channel", self.channel);
  }
};

// Licences of the cluster that a job holds. slurm.conf(5) Licenses.
struct LicenseShare {
  std::string name;
  uint64_t count = 0;
  bool operator==(const LicenseShare&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "count", self.count);
  }
};

// A gang's nodes, in rank order (the order of SLURM_JOB_NODELIST). Immutable while a job holds it, so it is shared.
struct Allocation {
  std::vector<NodeShare> nodes;
  bool whole_nodes = false;      // --exclusive or an EXCLUSIVE partition: nobody else on these nodes
  bool exclusive_user = false;   // its nodes are kept for jobs of its user
  bool oversubscribe = false;    // shares its CPUs with others
  uint32_t switches = 0;         // leaf switches crossed (blocks, rings, tori), 0 = no topology
  std::vector<uint32_t> fenced;  // NodeIds kept from others by --exclusive=topo: the rest of its leaves
  std::vector<LicenseShare> licenses;
  std::string mcs_label;            // its nodes are kept for jobs with this label; "" = not so
  std::optional<uint64_t> billing;  // by TRESBillingWeights of the partition; unset: the number of its CPUs
  bool operator==(const Allocation&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "nodes", self.nodes);
    field(2, "whole_nodes", self.whole_nodes);
    field(3, "exclusive_user", self.exclusive_user);
    field(4, "oversubscribe", self.oversubscribe);
    field(5, "switches", self.switches);
    field(6, "fenced", self.fenced);
    field(7, "licenses", self.licenses);
    field(8, "mcs_label", self.mcs_label);
    field(9, "billing", self.billing);
  }
  uint32_t total_cpus() const {
    uint32_t n = 0;
    for (const auto& s : nodes) n += s.counted_cpus();
    return n;
  }
  uint32_t total_tasks() const {
    uint32_t n = 0;
    for (const auto& s : nodes) n += s.tasks;
    return n;
  }
};
using AllocationPtr = std::shared_ptr<const Allocation>;

}  // namespace muster
