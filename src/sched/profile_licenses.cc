// Licences in the profile: one line of amounts, as a node's devices have it.
#include <algorithm>

#include "sched/profile.h"

namespace muster::sched {

std::vector<uint64_t> Profile::license_amounts(const std::vector<LicenseShare>& list) const {
  std::vector<uint64_t> out(params_.licenses.size(), 0);
  for (size_t i = 0; i < out.size(); ++i)
    for (const LicenseShare& l : list)
      if (l.name == params_.licenses[i].first) out[i] += l.count;
  return out;
}

void Profile::begin_licenses(const Pending& pending, const std::vector<Held>& starts) {
  Amounts all;
  for (const auto& [name, count] : params_.licenses) all.gres.push_back(count);
  licenses_.begin(0, all);
  auto hold = [&](const Allocation& a, Slot end) {
    if (!a.licenses.empty()) licenses_.take(0, end, {.gres = license_amounts(a.licenses)});
  };
  for (const auto& [id, r] : pending.running())
    if (!r.finished)
      hold(*r.allocation,
           r.ends == kTimeInfinite ? slot_of(now_ + params_.default_time_limit) : slot_of(r.ends));
  for (const Held& h : starts) hold(*h.allocation, end_from_now(h.time_limit_min));
}

// Each alternative of any of several for itself: a job keeps the licence that it starts with.
Slot Profile::licenses_earliest(const LicenseNeeds& needs, Slot from, Slot length) const {
  auto earliest = [&](const std::vector<LicenseShare>& list) {
    const std::vector<uint64_t> want = license_amounts(list);
    for (const LicenseShare& l : list)
      if (std::none_of(params_.licenses.begin(), params_.licenses.end(),
                       [&](const auto& have) { return have.first == l.name; }))
        return kNever;
    std::vector<Window> windows;
    find_windows(
        licenses_,
        [&](size_t row) {
          const std::span<const uint64_t> free = licenses_.gres(row);
          for (size_t i = 0; i < want.size(); ++i)
            if (free[i] < want[i]) return false;
          return true;
        },
        windows);
    return first_start(windows, from, length);
  };
  if (!needs.any) return earliest(needs.list);
  Slot best = kNever;
  for (const LicenseShare& one : needs.list) best = std::min(best, earliest({one}));
  return best;
}

void Profile::promise_licenses(const LicenseNeeds& needs, Slot first, Slot end) {
  std::vector<LicenseShare> list = needs.list;
  if (needs.any) {
    const auto fits = [&](const LicenseShare& one) {
      return licenses_earliest({{one}, false}, first, end - first) == first;
    };
    auto it = std::find_if(list.begin(), list.end(), fits);
    if (it == list.end()) return;
    list = {*it};
  }
  licenses_.take(first, end, {.gres = license_amounts(list)});
}

std::vector<LicenseShare> Profile::licenses_promised(uint32_t time_limit_min) const {
  std::vector<LicenseShare> out;
  const Amounts now = licenses_.least(0, 1), least = licenses_.least(0, end_from_now(time_limit_min));
  for (size_t i = 0; i < params_.licenses.size(); ++i)
    if (now.gres[i] > least.gres[i]) out.push_back({params_.licenses[i].first, now.gres[i] - least.gres[i]});
  return out;
}

}  // namespace muster::sched
