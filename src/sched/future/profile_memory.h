// ProfileMemory: what the last full pass asked its profile, and what it was answered, kept from pass to pass (ADR 14).
//
// A profile is a function of the future that running jobs leave and of what was asked and promised before. So while a new pass meets the
// same future and asks the same, in the same order, the answers are the same and nothing is searched: a job submitted behind the others
// costs the search for that job alone, and so does the passing of time. At the first question that differs the pass goes on by itself, from
// what it has promised so far. The plan is always the one that a pass without memory would make.
//
// Moments are slots of the absolute grid, so that they mean the same later. It does not go on where the answers follow from more than what
// is compared: nodes kept for users, reservations, bf_busy_nodes.
//
// Cost: a pass compares O(nodes + ends of running jobs) once, and O(nodes of a place) for each answer. Memory: the places of all waiting
// jobs, and two lines for each node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sched/fit/request_class.h"
#include "sched/future/site_line.h"
#include "sched/future/spot.h"
#include "sched/future/timeline.h"

namespace muster::sched {

class ProfileMemory {
 public:
  // What all answers depend on besides the nodes: numbers of the pending table's classes, and settings.
  struct Ground {
    uint64_t classes_epoch = 0;
    std::string settings;
    bool operator==(const Ground&) const = default;
  };

  // A pass begins, whose slot 0 is `base` of the absolute grid: whether it may be answered from memory. Keeps its future for the next one.
  bool begin(Ground ground, int64_t base, const std::vector<NodeLine>& nodes, const std::vector<SiteLine>& site);
  size_t recalled() const { return recalled_; }  // answers of this pass that were in memory
  void forget() { *this = ProfileMemory(); }

  // The answer, if this question is the one that came next. `from`: no start before it.
  std::optional<Spot> recall(const RequestClass& c, Slot from);
  // The place, but for its slot, if what came next is that it was kept for a job of the class; else null.
  std::shared_ptr<const Spot> recall_promise(const RequestClass& c, const Spot& spot);
  // What came instead; from here on nothing is recalled. `c` null: nobody can ask the same again.
  void learn(const RequestClass* c, Slot from, const Spot& spot);
  void learn_promise(const RequestClass& c, const Spot& spot);

  // The nodes' lines after all that came, promises taken out: kept when a pass ends, and given back to one that met all of it again and now goes
  // on behind it. Nothing: it is not there yet, or slot 0 has moved meanwhile.
  void keep_end(std::vector<NodeLine> lines);
  std::optional<std::vector<NodeLine>> take_end();

 private:
  struct Event {
    const RequestClass* of = nullptr;  // lives as long as the ground is the same
    bool promise = false;
    uint64_t resolved_at = 0;
    std::shared_ptr<const TopologyIndex> topology;
    int64_t from = 0, at = 0;  // on the absolute grid; at kAbsent: no start is in sight
    std::shared_ptr<const Spot> spot;
  };
  static constexpr int64_t kAbsent = INT64_MAX;
  int64_t absolute(Slot slot) const { return slot == kNever ? kAbsent : base_ + slot; }
  const Event* coming(const RequestClass& c, bool promise) const;
  void add(Event event);

  Ground ground_;
  int64_t base_ = 0;
  std::vector<NodeLine> nodes_;
  std::vector<NodeLine> site_;
  std::vector<Event> events_;
  size_t recalled_ = 0;
  size_t next_ = 0;            // event that comes next; those before it are of this pass
  std::vector<NodeLine> end_;  // after all events, with slot 0 at end_base_; empty: not known
  int64_t end_base_ = 0;
};

}  // namespace muster::sched
