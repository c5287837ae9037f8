// Gang: the choice of nodes and of the number of tasks on each, by counting. placement.cc turns it into CPUs
// and devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/place/placement.h"
#include "sched/topology/topology_choice.h"

namespace muster::sched {

struct Pick {
  uint32_t node = 0;
  uint32_t tasks = 0;
  JobGres job_gres;
  uint32_t others = 0;  // its CPUs are shared with so many jobs at most
};

// Of nodes whose layout refused what counting had promised: the most tasks there.
using TaskCaps = std::map<uint32_t, uint32_t>;

// How long --switches=count@time keeps the job waiting at most.
Duration patience(const Shape& shape, const Params& params);

class Gang {
 public:
  Gang(Availability& nodes, RequestClass& c, const Params& params, const NodeFilter* filter, Bitmap open, Duration waited,
       const TaskCaps& caps);

  bool choose();                                             // false: not now; detail() says why
  const std::vector<Pick>& picks() const { return picks_; }  // in rank order
  uint32_t switches() const { return switches_; }
  const std::string& detail() const { return detail_; }

 private:
  struct Candidate {
    uint32_t node = 0, tasks = 0, units = 0;
    uint32_t others = 0;
  };
  using Candidates = std::vector<Candidate>;

  bool choose_sharing();
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
  uint64_t devices_on(const GresNeed& need, uint32_t node, uint32_t others) const;
  uint64_t least_of(const GresNeed& need, uint32_t tasks) const;
  uint32_t least_number(const Candidates& list) const;
  bool pick(Candidates& list);
  bool enough(const Candidates& list, size_t first, size_t n) const;
  bool settle(Candidates chosen);
  bool take(Candidates chosen, const std::vector<uint32_t>& tasks);
  bool spread_job_gres(std::vector<Pick>& picks) const;

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
  // What counting said last: nodes alike come one after the other.
  struct Counted {
    uint32_t kind = Availability::kNoKind, units = 0;
    uint64_t mem_mb = 0;
    uint32_t tasks = 0;
  };
  mutable Counted last_;
  uint32_t others_ = 0;  // jobs that CPUs may be shared with at the moment
  std::vector<Pick> picks_;
  uint32_t switches_ = 0;
  std::string detail_;
};

}  // namespace muster::sched
