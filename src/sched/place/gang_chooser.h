// GangChooser: which of the nodes that have room for a part of a job become its gang, and how the job's tasks and --gpus lie over them. The
// same policy serves for now (gang.cc, over what is free) and for later (future/profile_spread.cc, over what stays free for a stretch of
// time); a GangSupply says what a node has at the time in question.
//
// It takes the fewest nodes that suffice. Among sets of that many it takes the nodes with the smallest parts of the job that are enough
// together; of nodes with equal parts those with the least left, then the better rank, then the lowest number. LLN and --spread-job take
// the largest parts, and of equal ones the nodes with the most left. Tasks: every node gets one, then block fill in rank order, round with
// -m cyclic. --gpus: every node gets one at least, then the first nodes as many as they have.
//
// Cost: O(n log n) for n candidates; --contiguous is O(n) where a single run of neighbours does.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/fit/request_class.h"

namespace muster::sched {

// A node that has room for a part of the job.
struct Candidate {
  uint32_t node = 0, tasks = 0;  // at most so many there
  uint32_t units = 0;            // what it has left
  uint32_t others = 0;           // its CPUs are shared with so many jobs at most
  uint32_t rank = 0;             // among equals the lower first
};
using Candidates = std::vector<Candidate>;

// A node of the gang, and its part.
struct Pick {
  uint32_t node = 0;
  uint32_t tasks = 0;
  JobGres job_gres;
  uint32_t others = 0;
};

class GangSupply {
 public:
  virtual ~GangSupply() = default;
  // How many devices of shape.per_job[need] the node has for the job.
  virtual uint64_t devices(const Candidate& node, size_t need) const = 0;
};

class GangChooser {
 public:
  // `by_leaf`: nodes stand in rank order leaf by leaf. `grow`: a job that takes a range of nodes gets as many as there are.
  GangChooser(const RequestClass& c, const GangSupply& supply, bool by_leaf, bool grow)
      : c_(c), s_(c.shape), supply_(supply), by_leaf_(by_leaf), grow_(grow) {}

  // Each of these returns false, and leaves picks() as it was, where the candidates are not enough.
  bool pick(Candidates& list, size_t forced);                            // the first `forced` are part in any case
  bool settle(Candidates chosen);                                        // all of them
  bool neighbours(const Candidates& by_number, const Bitmap& required);  // the shortest run without a gap, the lowest of those

  // Adds the nodes of `list` with the least left to `required`, until `have` is `want.count` or the list ends.
  static void require(Candidates list, const CountedNodes& want, size_t& have, Bitmap& required);

  const std::vector<Pick>& picks() const { return picks_; }  // in rank order
  std::vector<Pick> take() { return std::move(picks_); }
  uint64_t least_devices(size_t need, uint32_t tasks) const;  // that a node with so many tasks must have

 private:
  bool enough(const Candidates& list, size_t first, size_t count) const;
  uint32_t least_number(const Candidates& list, size_t forced) const;
  void order(Candidates& list, size_t forced) const;
  bool pick_number(const Candidates& list, size_t forced, uint32_t count);
  bool spread_devices(const Candidates& chosen, std::vector<Pick>& picks) const;
  bool roomy() const { return s_.lln || s_.spread; }

  const RequestClass& c_;
  const Shape& s_;
  const GangSupply& supply_;
  const bool by_leaf_, grow_;
  std::vector<Pick> picks_;
};

// Whether a job's nodes are ranked leaf by leaf: in a topology of blocks always, in a tree with SwitchAsNodeRank.
bool ranked_by_leaf(const RequestClass& c, const TopologyRules& rules);

// Whether a job's tasks go round over its nodes rather than fill them one after the other.
inline bool spreads_evenly(const Shape& s) { return s.cyclic_nodes || s.spread || s.overcommit || (s.whole && !s.pack_nodes); }

// Spreads tasks over nodes that can take caps[i] each: one each, then block or round robin. Needs sum(caps)
// >= tasks and caps.size() <= tasks.
std::vector<uint32_t> spread_tasks(const std::vector<uint32_t>& caps, uint32_t tasks, bool cyclic);

}  // namespace muster::sched
