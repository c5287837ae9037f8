#include "slurmctld/core/completing_hold.h"

#include <ranges>

namespace muster::slurmctld {

CompletingHold::CompletingHold(const View& v) {
  const Duration wait = v.settings.config().complete_wait;
  if (wait == Duration::zero()) return;
  const bool by_partition = v.settings.config().scheduler_parameters.has("reduce_completing_frag");
  Bitmap seen;
  for (const auto& [ended, id] : std::views::reverse(v.indexes.completing())) {
    if (ended > v.now + wait) continue;  // the clock stepped back: it would keep everything back until it has caught up
    if (ended + wait <= v.now) return;   // its wait is over, and so is that of all others
    everywhere_ = !by_partition;
    if (everywhere_) return;
    const uint32_t index = v.cluster.jobs.at(id.value).partition;
    const Partition* p = v.cluster.partitions.find(index);
    if (!p || seen.test(index)) continue;
    seen.set(index);
    v.cluster.partitions.for_each([&](uint32_t i, const Partition& other) {
      if (i == index || other.nodes.intersects(p->nodes)) partitions_.set(i);
    });
  }
}

}  // namespace muster::slurmctld
