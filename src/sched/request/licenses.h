// Licences: what is left of them, and what tasks add to the needs of a request (model/license_needs.h). They belong to no node and are held
// until the job ends. slurm.conf(5) Licenses, sbatch(1) --licenses, guide licenses. Remote licences (name@server) are in
// Params as the others are; of those that somebody unknown uses (Params::license_deficits) none are granted, but the site has them.
//
// Cost: O(licences named).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/license_needs.h"
#include "model/tres_list.h"
#include "sched/params.h"

namespace muster::sched {

// Adds license/NAME of --tres-per-task, times the tasks, to what --licenses asks for.
Result<> add_task_licenses(const TresList& per_task, uint64_t tasks, LicenseNeeds& needs);

// What these allocations hold together; what `from` has more of than `less`.
std::vector<LicenseShare> licenses_of(const std::vector<const Allocation*>& allocations);
std::vector<LicenseShare> licenses_beyond(const std::vector<LicenseShare>& from, const std::vector<LicenseShare>& less);

// Licences by name: how many the site has, and how many of them are not held.
class LicensePool {
 public:
  LicensePool() = default;
  explicit LicensePool(const Params& params) {
    for (size_t i = 0; i < params.licenses.size(); ++i) {
      const auto& [name, count] = params.licenses[i];
      all_[name] = count;
      free_[name] = params.usable_licenses(i);
    }
  }
  void take(const std::vector<LicenseShare>& held);
  void give_back(const std::vector<LicenseShare>& held);
  uint64_t left(const std::string& name) const {
    auto it = free_.find(name);
    return it == free_.end() ? 0 : it->second;
  }
  // What the needs get now; nothing means that they have to wait.
  std::optional<std::vector<LicenseShare>> grant(const LicenseNeeds& needs) const;
  // The error names a licence that the site does not have, or has too few of.
  Result<> could_ever(const LicenseNeeds& needs) const;

 private:
  std::map<std::string, uint64_t> all_, free_;
};

}  // namespace muster::sched
