#include "sched/request/licenses.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/hres.h"

namespace muster::sched {

Result<> add_task_licenses(const TresList& per_task, uint64_t tasks, LicenseNeeds& needs) {
  for (const Tres& t : per_task.items()) {
    if (t.kind != "license") continue;
    if (needs.any) return fail(Errc::kLicenses, {}, "--tres-per-task=license/... cannot be combined with --licenses=a|b");
    needs.add(t.name, std::min(mul_sat(t.count, tasks), LicenseNeeds::kMost));
  }
  return {};
}

void LicensePool::take(const std::vector<LicenseShare>& held) {
  for (const LicenseShare& l : held)
    if (auto it = free_.find(l.name); it != free_.end()) it->second -= std::min(it->second, l.count);
}

void LicensePool::give_back(const std::vector<LicenseShare>& held) {
  for (const LicenseShare& l : held)
    if (auto it = free_.find(l.name); it != free_.end()) it->second += l.count;
}

std::vector<LicenseShare> licenses_of(const std::vector<const Allocation*>& allocations) {
  std::map<std::string, uint64_t> sums;
  for (const Allocation* a : allocations)
    for (const LicenseShare& l : a->licenses) sums[l.name] = add_sat(sums[l.name], l.count);
  std::vector<LicenseShare> out;
  for (const auto& [name, count] : sums) out.push_back({name, count});
  return out;
}

std::vector<LicenseShare> licenses_beyond(const std::vector<LicenseShare>& from, const std::vector<LicenseShare>& less) {
  std::vector<LicenseShare> out;
  for (LicenseShare l : from) {
    for (const LicenseShare& other : less)
      if (other.name == l.name) l.count -= std::min(l.count, other.count);
    if (l.count) out.push_back(std::move(l));
  }
  return out;
}

std::optional<std::vector<LicenseShare>> LicensePool::grant(const LicenseNeeds& needs) const {
  auto there = [&](const LicenseShare& l) {
    auto it = free_.find(l.name);
    return !names_layer(l.name) && it != free_.end() && it->second >= l.count;
  };
  if (!needs.any) {
    if (!std::all_of(needs.list.begin(), needs.list.end(), there)) return std::nullopt;
    return needs.list;
  }
  auto first = std::find_if(needs.list.begin(), needs.list.end(), there);
  if (first == needs.list.end()) return std::nullopt;
  return std::vector<LicenseShare>{*first};
}

Result<> LicensePool::could_ever(const LicenseNeeds& needs) const {
  size_t good = 0;
  std::string why;
  for (const LicenseShare& l : needs.list) {
    auto it = all_.find(l.name);
    if (it != all_.end() && it->second >= l.count) ++good;
    else if (why.empty())
      why = it == all_.end()
                ? "no licence is called \"" + l.name + "\"; Licenses= in slurm.conf names them"
                : "there are " + std::to_string(it->second) + " licences of " + l.name + ", " + std::to_string(l.count) + " are asked for";
  }
  const size_t wanted = needs.any ? std::min<size_t>(1, needs.list.size()) : needs.list.size();
  if (good >= wanted) return {};
  return fail(Errc::kLicenses, {}, why);
}

}  // namespace muster::sched
