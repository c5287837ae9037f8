#include "slurmctld/core/completing_hold.h"

#include <ranges>

namespace muster::slurmctld {

CompletingHold::CompletingHold(const View& view) {
  const Duration wait = view.settings.config().complete_wait;
  if (wait == Duration::zero()) return;
  const bool by_partition = view.settings.config().scheduler_parameters.has("reduce_completing_frag");
  Bitmap seen;
  for (const auto& [ended, id] : std::views::reverse(view.indexes.completing())) {
    if (ended > view.now + wait) continue;  // the clock stepped back: it would keep everything back until it has caught up
    if (ended + wait <= view.now) return;   // its wait is over, and so is that of all others
    everywhere_ = !by_partition;
    if (everywhere_) return;
    const uint32_t index = view.cluster.jobs.at(id.value).partition;
    const Partition* p = view.cluster.partitions.find(index);
    if (!p || seen.test(index)) continue;
    seen.set(index);
    view.cluster.partitions.for_each([&](uint32_t i, const Partition& other) {
      if (i == index || other.nodes.intersects(p->nodes)) partitions_.set(i);
    });
  }
}

}  // namespace muster::slurmctld
