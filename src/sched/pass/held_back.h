// HeldBack: nodes that are kept for the first job that waits, where backfill does not look ahead.
#pragma once

#include "sched/pass/pass.h"

namespace muster::sched {

// In a partition whose first job waits, nodes are not given to jobs behind that one, whatever partition those jobs are in.
class PlanPass::HeldBack : public NodeFilter {
 public:
  explicit HeldBack(uint32_t size) : nodes_(size) {}
  void add(const Bitmap& nodes) { nodes_ |= nodes; }
  const Bitmap& promised() const override { return nodes_; }
  uint32_t tasks(uint32_t, const RequestClass&, uint32_t) const override { return kNoTasks; }

 private:
  Bitmap nodes_;
};

}  // namespace muster::sched
