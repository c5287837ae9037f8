// Availability: what the nodes have free, as arrays over node numbers, so that a placement looks at words and counters instead of Node
// records. Kept in step with a Cluster's node table by differences; placements made or taken back during a pass are laid over it and
// dropped at the next update.
//
// A node is usable when it is up (admin kIdle), carries none of the flags that forbid new jobs, and is in one of these states: registered;
// powered down, so that it can be woken; on its way up. Node::connected is not looked at.
//
// Units: what the site hands out, CPUs (CR_CPU) or whole cores (CR_Core, select/linear). Memory in MiB.
// Cost: update O(changed nodes), consume and give_back O(CPUs of a node / 64).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bitmap.h"
#include "base/pmap.h"
#include "model/cluster.h"
#include "model/node.h"
#include "model/resources.h"
#include "sched/params.h"
#include "sched/supply/node_owner.h"
#include "sched/supply/partition_limit.h"
#include "sched/supply/reserved.h"
#include "sched/supply/topology_index.h"

namespace muster::sched {

// Nodes of the same make share one Kind; how a request fits a kind is worked out once.
struct Kind {
  uint32_t sockets = 1, cores_per_socket = 1, threads = 1;  // as scheduled: product = cpus
  uint32_t cpus = 1, cores = 1;
  uint32_t spec_threads = 1;  // ThreadsPerCore of the node, for --threads-per-core
  uint64_t mem_mb = 0, tmp_disk_mb = 0;
  Bitmap specialized;                 // CPUs never handed out
  Bitmap restricted;                  // cores only for jobs with GPUs
  std::vector<Bitmap> restricted_of;  // of those, by GPU: the cores for jobs that have it or a share of it
  uint32_t restricted_units = 0;
  std::vector<GresDevices> gres;
  uint32_t units = 1;  // of an idle node
  uint32_t socket_of_cpu(uint32_t cpu) const { return cpu / threads / cores_per_socket; }
  uint32_t core_of_cpu(uint32_t cpu) const { return cpu / threads; }
};

// What is held on one node.
struct NodeUse {
  Bitmap cpus;
  std::vector<Bitmap> cpus_shared;  // as Node::cpus_shared
  Bitmap busy;                      // may be had, but only shared: taken after the others
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  Bitmap of_partition;  // CPUs of the job's own partition, where it limits them (partition_limit.h)
};

// How a job looks at a node that others use.
struct Onlooker {
  uint32_t partition = 0;
  PartitionLimit limit;           // of its partition
  uint32_t others = 0;            // its CPUs may have so many other jobs
  uint32_t most = 1;              // … of its own partition so many jobs, itself counted (OverSubscribe)
  const Bitmap* peers = nullptr;  // partitions whose jobs do not count against `most`: each counts its own
};

// Whether only one GPU of a node may be shared out at a time: the rule for MPS unless gres.conf says otherwise.
inline bool shares_one_gpu(const GresDevices& g) {
  return (g.flags & kGresOneSharing) || (g.name == "mps" && !(g.flags & kGresAllSharing));
}

// Free devices of each entry of kind.gres, in the same order.
using GresCounts = std::span<const uint64_t>;

class Availability {
 public:
  static constexpr uint32_t kNoKind = 0xffffffffu;

  // Brings the arrays in step with `nodes` and drops what consume() laid over them. `ideal`: as if every node were up and idle
  // (can_ever_run).
  void update(const PersistentMap<Node>& nodes, const Params& params, bool ideal = false);

  // What reservations keep at `now`; without this call they keep nothing.
  void reserve(const Cluster& cluster, const Params& params, Time now) { reserved_.update(cluster, now, params.default_time_limit); }
  Reserved& reserved() { return reserved_; }

  uint32_t size() const { return static_cast<uint32_t>(kind_.size()); }
  const Node* node(uint32_t id) const { return nodes_.find(id); }
  const Kind& kind(uint32_t id) const { return kinds_[kind_[id]]; }
  uint32_t kind_index(uint32_t id) const { return kind_[id]; }
  const std::vector<Kind>& kinds() const { return kinds_; }
  const Bitmap& of_kind(uint32_t k) const { return of_kind_[k]; }

  const Bitmap& known() const { return known_; }    // nodes that exist and are not FUTURE
  const Bitmap& usable() const { return usable_; }  // a job may start there now (if there is room)
  const Bitmap& idle() const { return idle_; }      // usable or not: nobody holds anything there
  const Bitmap& asleep() const { return asleep_; }  // powered down or still booting: a start has to wait for power
  const Bitmap& powered_down() const { return powered_down_; }
  // max_powered_nodes: how many more nodes may be powered up, those that jobs laid over it wake counted; kUnlimited32: any number. A job that waits for
  // room keeps what there is from those behind it, until the next update().
  uint32_t room_to_wake() const;
  bool may_wake(const Bitmap& nodes) const { return !max_powered_ || powered_down_.count_and(nodes) <= room_to_wake(); }
  // Whether it matters how many of these are woken.
  bool limits_waking(const Bitmap& nodes) const { return max_powered_ && powered_down_.intersects(nodes); }
  bool limits_waking() const { return limits_waking(powered_down_); }
  void keep_room_to_wake() { room_kept_ = true; }
  bool room_is_kept() const { return room_kept_; }
  std::string said_of_room_to_wake() const;         // "4 nodes are powered up, of 4 that may be (max_powered_nodes)"
  const Bitmap& owned() const { return owned_; }    // kept for a user or a label
  const Bitmap& shared() const { return shared_; }  // all jobs there share their CPUs
  uint32_t units_free(uint32_t id) const { return units_free_[id]; }
  uint64_t mem_free(uint32_t id) const { return mem_free_[id]; }
  GresCounts gres_free(uint32_t id) const { return {gres_free_.data() + gres_at_[id], kinds_[kind_[id]].gres.size()}; }
  NodeUse use(uint32_t id) const;
  // The same as this job sees it: CPUs that it may share do not count as held.
  NodeUse use_for(uint32_t id, const Onlooker& job) const;
  // Units that the job may have.
  uint32_t units_for(uint32_t id, const Onlooker& job) const;
  // An upper bound for the number of jobs on any CPU.
  uint32_t most_on_a_cpu() const { return most_on_a_cpu_; }
  const std::vector<PartitionUse>& by_partition(uint32_t id) const;
  const NodeOwner& kept_for(uint32_t id) const;
  Uid owner(uint32_t id) const { return kept_for(id).user; }

  // Usable nodes with exactly so many free units.
  const Bitmap& with_units(uint32_t units) const { return by_units_[units]; }
  uint32_t max_units() const { return static_cast<uint32_t>(by_units_.size()); }
  bool any_with_units(uint32_t units) const { return count_by_units_[units] > 0; }

  // Usable nodes in the order in which they are tried: awake before asleep, then by weight.
  const std::vector<Bitmap>& tiers();

  const Bitmap* feature(const std::string& name) const;
  // Which features a reboot changes, null: none; and the nodes that have this one or would have it after a reboot.
  const ChangeableFeatures* changeable() const { return changeable_.get(); }
  Bitmap could_have(const std::string& name) const;
  // The topology that the partition's jobs are placed by; null: flat.
  std::shared_ptr<const TopologyIndex> topology(const Cluster& cluster, const Partition& partition) {
    return topologies_.of(cluster.topologies, partition, size());
  }

  // Takes a share from the node until the next update().
  void consume(const NodeShare& share, const Allocation& of, Uid owner, uint32_t partition);

  // The reverse: as if a job that is there, by the snapshot or by consume(), had gone (preemption, what-if).
  void give_back(const NodeShare& share, const Allocation& of, uint32_t partition);

  // Keeps others off a node until the next update().
  void fence(uint32_t id);

  // Grows whenever something may have become startable. While it stays equal, what did not fit still does not.
  uint64_t freed() const { return freed_; }
  // Grows whenever what any node holds changes at all, also by consume() and fence().
  uint64_t changed() const { return changed_; }
  // Grows when nodes come, go or change their make, features, weight or usability.
  uint64_t shape_version() const { return shape_version_; }
  // Grows when a node's Extra changes. It stands apart because sites change it often, and few requests ask about it.
  uint64_t extra_version() const { return extra_version_; }
  bool ideal() const { return ideal_; }

 private:
  bool note_features(uint32_t id, const Node& node);
  void refresh(uint32_t id, const Node* node, const NodeUse& was);
  void forget(uint32_t id);
  uint32_t kind_for(const Node& node);
  void count_free(uint32_t id, const Node& node, const NodeUse& was);
  void set_units(uint32_t id, uint32_t units);
  bool set_owner(uint32_t id, NodeOwner owner);
  uint32_t powered() const { return static_cast<uint32_t>(powered_up_.count() + woken_.size()); }
  void note_depth(size_t partitions, size_t levels);
  Bitmap closed_to(uint32_t id, const NodeUse& use, const Onlooker& job) const;
  void grow(uint32_t size);

  PersistentMap<Node> nodes_;
  bool whole_cores_ = false, started_ = false, ideal_ = false;
  std::vector<Kind> kinds_;
  std::vector<Bitmap> of_kind_;
  std::unordered_map<std::string, uint32_t> kind_index_;
  std::unordered_map<const NodeSpec*, std::pair<NodeSpecPtr, uint32_t>> kind_of_spec_;
  Bitmap known_, usable_, idle_, asleep_, powered_down_, powered_up_, owned_, shared_;
  std::vector<uint32_t> kind_, units_free_, weight_, gres_at_;
  std::vector<uint64_t> mem_free_;
  std::vector<uint64_t> gres_free_;
  std::vector<Bitmap> by_units_;
  std::vector<uint32_t> count_by_units_;
  std::map<std::string, Bitmap> features_, possible_;  // active; changeable and available
  ChangeableFeaturesPtr changeable_;
  std::vector<Bitmap> tiers_;
  bool tiers_stale_ = true;
  struct Laid {
    NodeUse use;
    NodeOwner owner;
    std::vector<PartitionUse> by_partition;
    uint32_t jobs = 0, completing = 0, whole = 0, sharing = 0;  // whole: that have the node to themselves
  };
  Laid& laid_over(uint32_t id);
  std::map<uint32_t, Laid> overlay_;
  std::map<uint32_t, NodeOwner> owners_;  // of owned_, without what is laid over
  std::optional<uint32_t> max_powered_;   // of Params
  std::map<uint32_t, uint32_t> woken_;    // powered-down nodes with jobs laid over them, and how many of these
  bool room_kept_ = false;
  uint64_t freed_ = 1, changed_ = 1, shape_version_ = 1, extra_version_ = 0;
  uint32_t most_on_a_cpu_ = 0;
  TopologyCache topologies_;
  Reserved reserved_;
};

// Whether the node counts for max_powered_nodes: it is up, down, coming up or going down. One that a start is about to power up counts by its job.
bool counts_as_powered(const Node& node);
bool node_usable(const Node& node);
// The same, if the node did not carry these flags.
bool node_usable_but_for(const Node& node, uint32_t flags);
Kind make_kind(const Node& node, bool whole_cores);
// How many whole units are free on a node of this kind where `used` is held.
uint32_t free_units(const Kind& kind, const Bitmap& used, bool whole_cores);
// Of an idle node with cores kept for GPUs: the units that are not kept; the most of the kept units that so many GPUs open; the CPUs kept
// from a job that has these GPUs.
uint32_t open_units(const Kind& kind);
uint32_t units_opened(const Kind& kind, uint64_t gpus);
Bitmap restricted_cpus(const Kind& kind, const Bitmap& gpus = {});
NodeUse use_of(const Node& node);
void add_share(NodeUse& use, const NodeShare& share);
// Counts what is free of each entry of kind.gres.
void free_gres(const Kind& kind, const std::vector<GresShare>& used, uint64_t* out);

}  // namespace muster::sched
