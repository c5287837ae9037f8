#include "sched/preempt/license_victims.h"

#include <algorithm>

namespace muster::sched {
namespace {

bool holds_any(const Occupant& o, const LicenseNeeds& needs) {
  return std::ranges::any_of(o.job->allocation->licenses, [&](const LicenseShare& held) {
    return std::ranges::any_of(needs.list, [&](const LicenseShare& l) { return l.name == held.name; });
  });
}

}  // namespace

std::optional<std::vector<uint32_t>> license_victims(const Occupants& occupants, const PreemptRule& rule, const Preemptor& who,
                                                     const LicenseNeeds& needs,
                                                     const std::function<bool(const std::vector<uint32_t>&)>& enough) {
  if (needs.any) return std::nullopt;
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < occupants.size(); ++i) {
    const Occupant& o = occupants.at(i);
    const bool ends = o.how == PreemptHow::kRequeue || o.how == PreemptHow::kCancel;
    if (!o.taken && ends && holds_any(o, needs) && rule.may(who, *o.job)) all.push_back(i);
  }
  std::ranges::sort(all, [&](uint32_t a, uint32_t b) {
    const Occupant &x = occupants.at(a), &y = occupants.at(b);
    return x.rank != y.rank ? x.rank < y.rank : x.cost != y.cost ? x.cost < y.cost : a < b;
  });
  std::vector<uint32_t> chosen;
  bool found = false;
  for (size_t i = 0; i < all.size() && !found; ++i) {
    chosen.push_back(all[i]);
    found = enough(chosen);
  }
  if (!found) return std::nullopt;
  for (size_t i = chosen.size(); i-- > 0;) {  // the dearest first
    std::vector<uint32_t> fewer = chosen;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    if (enough(fewer)) chosen = std::move(fewer);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace muster::sched
