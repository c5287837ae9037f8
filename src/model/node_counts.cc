#include "model/node_counts.h"

#include <algorithm>

namespace muster {

Bitmap nodes_of(const Allocation& allocation) {
  Bitmap out;
  for (const NodeShare& share : allocation.nodes) out.set(share.node.value);
  return out;
}

void NodeCounts::add(Bitmap nodes, size_t digit) {
  for (; nodes.any(); ++digit) {
    if (digit >= digits_.size()) digits_.resize(digit + 1);
    Bitmap& here = digits_[digit];
    Bitmap carried = here & nodes;
    here |= nodes;
    here -= carried;
    nodes = std::move(carried);
  }
}

void NodeCounts::take(Bitmap nodes, size_t digit) {
  Bitmap enough;  // a digit from here on is set, so there is something to take
  for (size_t d = digit; d < digits_.size(); ++d) enough |= digits_[d];
  nodes &= enough;
  for (; nodes.any(); ++digit) {
    Bitmap& here = digits_[digit];
    Bitmap borrowed = nodes - here;
    here |= borrowed;
    here -= nodes - borrowed;
    nodes = std::move(borrowed);
  }
  while (!digits_.empty() && digits_.back().none()) digits_.pop_back();
}

void NodeCounts::add(const NodeCounts& more) {
  for (size_t d = 0; d < more.digits_.size(); ++d) add(more.digits_[d], d);
}

void NodeCounts::take(const NodeCounts& less) {
  for (size_t d = less.digits_.size(); d-- > 0;) take(less.digits_[d], d);
}

Bitmap NodeCounts::nodes() const {
  Bitmap out;
  for (const Bitmap& digit : digits_) out |= digit;
  return out;
}

}  // namespace muster
