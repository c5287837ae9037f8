// Profile: what every node has free from now on, given when running jobs end, what started in this pass and what has been promised to
// pending jobs. Backfill asks it for the earliest start of each job in the order of the queue and takes the place out, so that no later job
// can delay it.
//
// Expectations are by counting (units, memory, devices); which CPUs a job gets is decided when it starts. Where counts do not say
// everything (CPUs that jobs share, cores kept for jobs with GPUs) the worse case is taken: a job may start sooner, not later. Only amounts
// shrink while a pass runs, so each class keeps the slot before which it cannot start and is never searched twice.
//
// Expectations ask, for the need of one node, which nodes have room from slot to slot: a line of bitmaps (fit_line.h), shared by all
// classes with that need. A line is brought up to date when several nodes are asked for at once; a job of one node only looks at the node
// that the line names, and most changes never have to be brought into it.
//
// Cost: built O(nodes + shares of running jobs); earliest: see fit_line.h, and O(nodes that have room) where tasks are counted. Memory:
// O(reservations), and the lines, bounded by kLineBytes beyond which they are worked out anew.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sched/future/far_future.h"
#include "sched/future/fit_line.h"
#include "sched/future/layers_in_time.h"
#include "sched/future/profile_memory.h"
#include "sched/future/profile_partitions.h"
#include "sched/future/reserved_time.h"
#include "sched/future/site_line.h"
#include "sched/future/spot.h"
#include "sched/future/timeline.h"
#include "sched/place/placement.h"
#include "sched/queue/pending.h"

namespace muster::sched {

// How many tasks a node has to take at least to be of use.
inline uint32_t wanted_on_a_node(const Shape& s) { return s.num_tasks ? 1 : std::max(s.tasks_per_node, 1u); }

class Profile : public NodeFilter, public SitePromises {
 public:
  struct Held {
    AllocationPtr allocation;
    uint32_t time_limit_min = 0;
    uint32_t partition = 0;
  };
  // `starts`: what is held from now on and is in `nodes` already: by jobs that started in this pass, and for those that others make room
  // for. `yielding`: jobs whose place those have. `memory`: of the pass before; null: none.
  Profile(const Cluster& cluster, const Params& params, Time now, Availability& nodes, const Pending& pending,
          const std::vector<Held>& starts, size_t classes, const std::set<uint32_t>& yielding = {}, ProfileMemory* memory = nullptr);
  ~Profile();  // leaves its lines to the memory

  using Spot = sched::Spot;

  // The earliest slot after now at which a job of the class can start; slot kNever: not with the nodes that are up. `family`: the same
  // number for classes that differ in nothing but the time limit. `from`: no slot before this one; the same for all of a class and of its
  // family. `lasting`: the class is one of the pending table's, not a copy that is gone when the next pass asks.
  Spot earliest(uint32_t class_id, uint32_t family, RequestClass& asked, Slot from = 1, bool lasting = false);
  void promise(const RequestClass& asked, const Spot& spot);
  void started(const Allocation& allocation, uint32_t time_limit_min, uint32_t partition);

  std::vector<uint64_t> promised(const SiteAmounts& of, uint32_t time_limit_min) const override;

  Time time_of(Slot slot) const;
  Slot slot_of(Time t) const;  // the first slot at t or after, at least 1
  Slot horizon() const { return horizon_; }

  const Bitmap& promised() const override { return promised_; }
  uint32_t tasks(uint32_t node, const RequestClass& asked, uint32_t count) const override;
  // What a job that starts now, of which the profile is not told yet, takes of one node.
  struct Beside {
    const NodeShare* share = nullptr;
    const Allocation* of = nullptr;
    uint32_t partition = 0;
  };
  // The same as tasks(), beside those; kNoTasks where counts alone do not say it: where one of them shares CPUs, keeps others off or has
  // devices.
  uint32_t tasks_beside(uint32_t node, const RequestClass& asked, uint32_t count, std::span<const Beside> others) const;

 private:
  // What one node must have free for the part of a job that comes to it.
  struct Need {
    bool possible = false, open_only = false;
    uint32_t tasks = 0, units = 0;
    uint64_t mem_mb = 0;
    struct Devices {
      std::vector<uint32_t> entries;  // of kind.gres, together at least
      uint64_t count = 0;
      bool one = false;  // … in one of them
      auto operator<=>(const Devices&) const = default;
    };
    std::vector<Devices> gres;
    auto operator<=>(const Need&) const = default;
  };
  // Everything that decides when one node has room for its part of a job.
  struct FitKey {
    bool idle = false;        // nobody there at all, and nothing else counts
    std::vector<Need> needs;  // per kind
    bool whole = false, exclusive_user = false, exclusive_label = false;
    uint32_t sharers = 0;  // jobs that may share a CPU with it, itself counted; 0: it shares none
    Uid uid{};
    std::string label;
    uint32_t side = 0;  // of the reservations, as they keep nodes from it; 0: none
    auto operator<=>(const FitKey&) const = default;
  };
  struct Fit {
    FitLine line;
    uint32_t asked = 0;
    size_t changes_seen = 0;
  };
  // What was taken of a node since the lines were built.
  struct Change {
    uint32_t node = 0;
    Slot first = 0, end = 0;
  };
  struct Family {
    // Length → slot: a job of the family that is at least that long cannot start before that slot. Both ascend.
    std::map<Slot, Slot> not_before;
  };
  enum class Mode : uint8_t { kIdleNodes, kOneNode, kSpread };
  struct ClassPlan {
    bool ready = false;
    Mode mode = Mode::kSpread;
    Slot cursor = 1, length = 1;
    uint32_t family = 0;
    uint32_t count = 1;  // of whole nodes
    std::pair<const FitKey, Fit>* fit = nullptr;
    FitLine::Search search;  // of one node
  };

  void begin_memory(const Pending& pending, ProfileMemory* memory);
  void go_on_alone();
  void catch_up(uint32_t node) const;
  Spot search_anew(ClassPlan& plan, const RequestClass& asked, Slot length);
  Spot search(ClassPlan& plan, const RequestClass& c);
  void promise_site(const RequestClass& c, const Spot& spot, Slot end);
  void begin_site(const Pending& pending, const std::vector<Held>& starts);
  Slot site_earliest(const RequestClass& asked, Slot from, Slot length) const;
  void prepare(ClassPlan& plan, const RequestClass& asked);
  void build_lines(const Pending& pending, const std::vector<Held>& starts, const std::set<uint32_t>& yielding);
  void begin_line(uint32_t node);
  void idle_from(uint32_t node, Slot from, bool held);
  Amounts amounts_of(const NodeShare& share, const Allocation& of, const Bitmap& cpus, uint32_t partition) const;
  // What the part takes. Where several entries of one kind could give it, those that have something left in `least` do.
  Amounts amounts_of(const RequestClass& asked, const Spot::Part& part, const Amounts& least) const;
  Slot length_of(uint32_t time_limit_min) const;
  Slot end_from_now(uint32_t time_limit_min) const;
  Slot find(const ClassPlan& plan, const RequestClass& c, const FitLine::Question& question, Bitmap& out);
  Slot find_one(ClassPlan& plan, const RequestClass& asked, const Bitmap& among, uint32_t& node);
  FitLine& line_built(const ClassPlan& plan, const RequestClass& c);
  FitLine& line_of(const ClassPlan& plan, const RequestClass& asked);
  std::vector<NodeWindow> windows_of(const FitKey& key, const RequestClass& c, const Bitmap& among) const;
  // When the node has room for the need, as far as that lies in the rows that `within` touches.
  void windows_on(const FitKey& key, const RequestClass& asked, uint32_t node, std::vector<Window>& out, Window within = {}) const;
  void taken(const std::vector<uint32_t>& nodes, Slot first, Slot end);
  static std::vector<uint32_t> kinds_of_devices(const Kind& kind);
  static std::vector<Need::Devices> devices_needed(const Shape& shape, const Kind& kind, uint32_t tasks);
  std::optional<Spot> first_alike(const RequestClass& asked, Slot slot, const Bitmap& nodes) const;
  bool may_share(const RequestClass& c, uint32_t node, Slot slot, uint32_t jobs) const;
  template <class Row>
  uint32_t units_for_job(const RequestClass& c, const Kind& k, const Row& row, std::span<const uint64_t> gres) const;
  static uint64_t units_to_share(uint32_t all, uint32_t most, const Sharing& held);
  bool row_fits(const Need& need, const RequestClass& asked, uint32_t node, size_t row, const Amounts* kept = nullptr) const;
  // The limit that counts for a job of the class: that of its reservation may be nearer.
  uint32_t limit_of(const RequestClass& c) const { return nodes_.reserved().limit_of(c.reserver()); }
  // Takes out of the windows when reservations keep the node from the class.
  void keep_out(const FitKey& key, const RequestClass& asked, uint32_t node, std::vector<Window>& windows) const;
  // What they keep of the node from it at most at any moment of [first, end); nothing: none of it.
  std::optional<Amounts> kept_parts(const RequestClass& asked, uint32_t node, Slot first, Slot end) const;
  uint64_t devices_on(const RequestClass& c, uint32_t node, size_t need, const Amounts& least) const;
  uint32_t tasks_within(const RequestClass& c, uint32_t node, Slot first, Slot end, Amounts& least) const;
  Spot idle_nodes(ClassPlan& plan, const RequestClass& asked);
  Spot one_node(ClassPlan& plan, const RequestClass& c);
  class Spread;
  Spot spread(ClassPlan& plan, const RequestClass& asked);
  Amounts all_of(uint32_t node) const;
  void take_whole(const std::vector<uint32_t>& nodes, Slot from, Slot end, std::vector<uint32_t>& ids);
  void promise_leaves(const RequestClass& c, Slot from, Slot end, std::vector<uint32_t>& ids);
  Bitmap leaves_free(const RequestClass& c, const Bitmap& free) const;
  bool exceeds_switches(const RequestClass& c, const Spot& spot) const;
  std::optional<Spot> spread_at(const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes) const;
  std::optional<Spot> spread_in_room(const RequestClass& asked, Slot slot, Slot end, const Bitmap& nodes) const;
  static Slot floor_of(const Family& family, Slot length);
  static void raise_floor(Family& family, Slot length, Slot slot);

  static constexpr size_t kLineBytes = 256u << 20;
  static constexpr uint32_t kRare = 3;  // questions about a need before it gets a line

  const Params& params_;
  const Time now_;
  int64_t resolution_, base_;  // seconds; slot 0 of the absolute grid
  const ReservedTime reserved_;
  Availability& nodes_;
  const FarFuture far_;
  const PartitionAmounts partitions_;
  mutable std::vector<NodeLine> lines_;  // empty: node cannot be used
  // What was promised while answers came from memory, by node in that order, and is not taken out of its line yet.
  struct Deferred {
    const RequestClass* of;
    std::shared_ptr<const Spot> place;
    uint32_t part = 0;
    Slot from = 0, end = 0;
  };
  mutable std::vector<std::vector<Deferred>> deferred_;
  ProfileMemory* memory_ = nullptr;
  bool recalling_ = false;
  struct Owned {
    NodeOwner by;
    Slot until = 0;  // the last job there has ended
  };
  std::vector<Owned> owned_;    // per node: whom the jobs there keep it for
  std::vector<SiteLine> site_;  // of each rule that counts amounts of no node
  LayersInTime layers_;         // of hierarchical resources, in site_
  std::vector<ClassPlan> plans_;
  std::vector<Family> families_;
  std::map<FitKey, Fit> fits_;
  std::vector<Change> changes_;
  Bitmap promised_;
  Slot horizon_ = 0;
};

}  // namespace muster::sched
