#include "sched/future/reserved_time.h"

#include <algorithm>

namespace muster::sched {
namespace {

// The windows less [from, until).
void cut(std::vector<Window>& windows, Slot from, Slot until) {
  std::vector<Window> out;
  for (const Window& w : windows) {
    if (w.until <= from || until <= w.from) {
      out.push_back(w);
      continue;
    }
    if (w.from < from) out.push_back({w.from, from});
    if (until < w.until) out.push_back({until, w.until});
  }
  windows = std::move(out);
}

}  // namespace

Slot ReservedTime::floor(Time t) const {
  if (t <= now_) return 0;
  if (t == kTimeInfinite) return kNever;
  return static_cast<Slot>(std::clamp<int64_t>(unix_seconds(t) / resolution_ - base_, 0, 1 << 30));
}

Slot ReservedTime::ceiling(Time t) const {
  if (t == kTimeInfinite) return kNever;
  if (t <= now_) return 0;
  return static_cast<Slot>(std::clamp<int64_t>((unix_seconds(t) + resolution_ - 1) / resolution_ - base_, 1, 1 << 30));
}

void ReservedTime::cut_closed(const ReservedSide& side, uint32_t node, std::vector<Window>& windows) const {
  if (side.closed_for_good(node)) return windows.clear();
  if (node >= side.closed.size()) return;
  for (const Stretch& s : side.closed[node]) cut(windows, floor(s.from), ceiling(s.until));
}

void ReservedTime::cut_parts(const std::vector<KeptPart>& parts, const NodeLine& line, const std::function<bool(Slot)>& fits,
                             std::vector<Window>& windows) const {
  std::vector<Slot> edges{0};
  for (size_t row = 0; row < line.rows(); ++row) edges.push_back(line.row(row).slot);
  for (const KeptPart& p : parts) edges.push_back(floor(p.when.from)), edges.push_back(ceiling(p.when.until));
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (size_t i = 0; i < edges.size() && edges[i] != kNever; ++i)
    if (!fits(edges[i])) cut(windows, edges[i], i + 1 < edges.size() ? edges[i + 1] : kNever);
}

void ReservedTime::each_part(const std::vector<KeptPart>& parts, Slot first, Slot end,
                             const std::function<void(const NodeShare&)>& f) const {
  for (const KeptPart& p : parts)
    if (floor(p.when.from) < end && first < ceiling(p.when.until)) f(p.share);
}

std::vector<SiteLine::Kept> ReservedTime::amounts(const ReservedSide& side, const SiteAmounts& of, const Params& params) const {
  std::vector<SiteLine::Kept> out;
  for (const KeptLicenses& kept : side.licenses) {
    Allocation all;
    all.licenses = *kept.all;
    out.push_back({floor(kept.when.from), ceiling(kept.when.until), of.held(params, all)});
  }
  return out;
}

Slot ReservedTime::last_start(const RequestClass& c) const {
  const Reservation* own = c.reserved ? c.reserved->side->own : nullptr;
  return own && own->confines() ? std::max<Slot>(floor(own->end), 1) : kNever;
}

void lessen(Amounts& least, const Amounts& kept) {
  auto less = [](auto& have, auto lost) { have -= std::min(have, lost); };
  less(least.units, kept.units);
  less(least.open, kept.units);
  for (size_t g = 0; g < least.gres.size() && g < kept.gres.size(); ++g) less(least.gres[g], kept.gres[g]);
  least.jobs = std::max(least.jobs, 1u);
}

}  // namespace muster::sched
