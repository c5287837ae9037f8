// NodeCounts: how many jobs stand on each node, of the jobs of one holder (ledger.h), so that a node which several of them share counts once.
// The counts are kept as their binary digits, a bitmap for each digit: all nodes of a job are added at once, and a copy costs little.
//
// Cost: add and take O(highest node / 64 x digits); count and has the same.
#pragma once

#include <cstddef>
#include <vector>

#include "base/bitmap.h"
#include "model/resources.h"

namespace muster {

// By node id.
Bitmap nodes_of(const Allocation& allocation);

class NodeCounts {
 public:
  void add(const Bitmap& nodes) { add(nodes, 0); }
  void add(const NodeCounts& more);
  // What was never added is not taken.
  void take(const Bitmap& nodes) { take(nodes, 0); }
  void take(const NodeCounts& less);
  Bitmap nodes() const;  // those with a job
  bool none() const { return digits_.empty(); }
  bool operator==(const NodeCounts& o) const { return digits_ == o.digits_; }

 private:
  void add(Bitmap nodes, size_t digit);
  void take(Bitmap nodes, size_t digit);
  std::vector<Bitmap> digits_;  // the lowest first; the last one has members
};

}  // namespace muster
