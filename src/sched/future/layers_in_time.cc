#include "sched/future/layers_in_time.h"

#include <algorithm>

namespace muster::sched {

SiteLine* LayersInTime::line_of(const RequestClass& c) const {
  if (!params_.layers || !asks_layers(params_, c.shape.licenses)) return nullptr;
  const auto line = std::ranges::find_if(lines_, [&](const SiteLine& l) { return l.concerns(c); });
  return line == lines_.end() ? nullptr : &*line;
}

std::optional<LayerRoom> LayersInTime::room(const RequestClass& asked, Slot first, Slot end) const {
  const SiteLine* line = line_of(asked);
  if (!line) return std::nullopt;
  std::vector<uint64_t> free = line->line().least(first, end).gres;
  if (asked.reserved)
    for (const SiteLine::Kept& kept : reserved_.amounts(*asked.reserved->side, line->amounts(), params_))
      if (kept.from < end && first < kept.until)
        for (size_t i = 0; i < free.size(); ++i) free[i] -= std::min(free[i], kept.amounts[i]);
  return std::optional<LayerRoom>(std::in_place, params_, asked.shape.licenses, [&](size_t i) { return free[i]; });
}

Slot LayersInTime::next_gain(const RequestClass& asked, Slot after) const {
  const SiteLine* line = line_of(asked);
  if (!line) return kNever;
  Slot next = line->line().next_gain(after);
  if (asked.reserved)
    for (const SiteLine::Kept& kept : reserved_.amounts(*asked.reserved->side, line->amounts(), params_))
      if (kept.until > after) next = std::min(next, kept.until);
  return next;
}

void LayersInTime::promise(const RequestClass& asked, const Spot& spot, Slot end) {
  const std::optional<LayerRoom> left = room(asked, spot.slot, end);
  if (!left) return;
  Bitmap nodes;
  for (const Spot::Part& part : spot.parts) nodes.set(part.node);
  if (const auto taken = left->amounts(nodes)) line_of(asked)->take(*taken, spot.slot, end);
}

}  // namespace muster::sched
