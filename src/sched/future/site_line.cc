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

Slot SiteLine::first_with(const std::vector<uint64_t>& wanted, Slot from, Slot length, const std::vector<Kept>& kept) const {
  std::vector<Slot> edges;  // between two of them nothing changes
  for (size_t row = 0; row < line_.rows(); ++row) edges.push_back(line_.row(row).slot);
  for (const Kept& k : kept) edges.push_back(k.from), edges.push_back(k.until);
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  auto enough = [&](Slot at) {
    const std::span<const uint64_t> free = line_.gres(line_.row_at(at));
    for (size_t i = 0; i < wanted.size(); ++i) {
      uint64_t needed = wanted[i];
      for (const Kept& k : kept)
        if (wanted[i] && k.from <= at && at < k.until) needed += k.amounts[i];
      if (free[i] < needed) return false;
    }
    return true;
  };
  std::vector<Window> windows;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] == kNever || !enough(edges[i])) continue;
    const Slot until = i + 1 < edges.size() ? edges[i + 1] : kNever;
    if (!windows.empty() && windows.back().until == edges[i]) windows.back().until = until;
    else windows.push_back({edges[i], until});
  }
  return first_start(windows, from, length);
}

Slot SiteLine::earliest(const RequestClass& c, Slot from, Slot length, const std::vector<Kept>& kept) const {
  Slot best = kNever;
  for (const std::vector<uint64_t>& one : of_.wanted(params_, c)) best = std::min(best, first_with(one, from, length, kept));
  return best;
}

void SiteLine::take(const std::vector<std::pair<size_t, uint64_t>>& amounts, Slot first, Slot end) {
  std::vector<uint64_t> all(line_.gres(0).size(), 0);
  for (const auto& [place, amount] : amounts) all[place] = amount;
  line_.take(first, end, {.gres = std::move(all), .sharing = {}});
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
