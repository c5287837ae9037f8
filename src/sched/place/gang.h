// Gang: the choice of nodes and of the number of tasks on each, by counting, among what is free now. It finds the candidates, tier
// by tier and as the topology wants them; gang_chooser.h chooses among them. placement.cc turns it into CPUs and devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/place/gang_chooser.h"
#include "sched/place/placement.h"
#include "sched/topology/topology_choice.h"

namespace muster::sched {

// For nodes whose layout refused as many tasks as counting had promised: the most tasks that each may now be given.
using TaskCaps = std::map<uint32_t, uint32_t>;

// How long --switches=count@time keeps the job waiting at most.
Duration patience(const Shape& shape, const Params& params);

class Gang final : private GangSupply {
 public:
  Gang(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter, Bitmap open, Duration waited,
       const TaskCaps& caps);

  bool choose();                                                       // false: not now; detail() says why
  const std::vector<Pick>& picks() const { return chooser_.picks(); }  // in rank order
  uint32_t switches() const;                                           // leaves of the topology that picks() stand in
  const std::string& detail() const { return detail_; }

 private:
  uint64_t devices(const Candidate& node, size_t need) const override;

  bool choose_sharing();
  bool choose_within_room();
  bool choose_among_open();
  bool choose_in(const Bitmap& open);
  bool one_node(const Bitmap& open);
  bool idle_nodes(const Bitmap& open);
  bool by_tiers(const Bitmap& open);
  bool by_topology() const;
  bool within_topology();
  Bitmap able(std::vector<uint32_t>& tasks) const;
  bool runs_of_neighbours(const Bitmap& open);
  bool require_counted(const Bitmap& open);
  Candidate look(uint32_t node) const;
  uint32_t count_on(uint32_t node, uint32_t units) const;
  uint32_t units_on(uint32_t node, uint32_t others) const;
  JobGres job_gres_on(uint32_t node, uint32_t others, uint32_t tasks, bool most) const;

  Availability& nodes_;
  RequestClass& c_;
  const Shape& s_;
  const Params& params_;
  const NodeFilter* filter_;
  Bitmap open_, required_;
  Duration waited_;
  const TaskCaps& caps_;
  const bool limited_;  // by MaxCPUsPerNode, MaxCPUsPerSocket
  const bool no_devices_;
  // The last result of counting, kept because nodes that are alike come one after the other.
  struct Counted {
    uint32_t kind = Availability::kNoKind, units = 0;
    uint64_t mem_mb = 0;
    uint32_t tasks = 0;
  };
  mutable Counted last_;
  uint32_t others_ = 0;  // jobs that CPUs may be shared with at the moment
  GangChooser chooser_;
  std::string detail_;
};

}  // namespace muster::sched
