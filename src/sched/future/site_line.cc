#include "sched/future/site_line.h"

#include <algorithm>

namespace muster::sched {

SiteLine::SiteLine(const SiteAmounts& of, const Params& params) : of_(of), params_(params) {
  std::vector<uint64_t> all = of.all(params);
  empty_ = all.empty();
  line_.begin(0, {.gres = std::move(all), .sharing = {}});
}

void SiteLine::hold(const Allocation& a, Slot end) {
  if (empty()) return;
  std::vector<uint64_t> held = of_.held(params_, a);
  if (std::ranges::any_of(held, [](uint64_t n) { return n > 0; })) line_.take(0, end, {.gres = std::move(held), .sharing = {}});
}

Slot SiteLine::first_with(const std::vector<uint64_t>& wanted, Slot from, Slot length) const {
  std::vector<Window> windows;
  find_windows(
      line_,
      [&](size_t row) {
        const std::span<const uint64_t> free = line_.gres(row);
        for (size_t i = 0; i < wanted.size(); ++i)
          if (free[i] < wanted[i]) return false;
        return true;
      },
      windows);
  return first_start(windows, from, length);
}

Slot SiteLine::earliest(const RequestClass& c, Slot from, Slot length) const {
  Slot best = kNever;
  for (const std::vector<uint64_t>& one : of_.wanted(params_, c)) best = std::min(best, first_with(one, from, length));
  return best;
}

void SiteLine::promise(const RequestClass& c, Slot first, Slot end) {
  const auto alternatives = of_.wanted(params_, c);
  auto it = std::ranges::find_if(alternatives, [&](const auto& one) { return first_with(one, first, end - first) == first; });
  if (it != alternatives.end()) line_.take(first, end, {.gres = *it, .sharing = {}});
}

std::vector<uint64_t> SiteLine::promised(Slot end) const {
  const Amounts now = line_.least(0, 1), least = line_.least(0, end);
  std::vector<uint64_t> out;
  for (size_t i = 0; i < now.gres.size(); ++i) out.push_back(now.gres[i] - std::min(now.gres[i], least.gres[i]));
  return out;
}

}  // namespace muster::sched
