// Licences: what a request needs of them, and what is left. They belong to no node and are held until the job
// ends. slurm.conf(5) Licenses, sbatch(1) --licenses, guide licenses. Remote licences (name@server) need
// accounting and are unknown here.
//
// Cost: O(licences named).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sched {

struct LicenseNeeds {
  std::vector<LicenseShare> list;
  bool any = false;  // one of them is enough ('|'), the first that is free
  bool operator==(const LicenseNeeds&) const = default;
  bool empty() const { return list.empty(); }
};

// "a:2,b" or "a|b:3"; errors name the piece.
Result<LicenseNeeds> parse_licenses(std::string_view text);
// license/NAME=n of --tres-per-task, times the tasks, beside those of --licenses.
Result<> add_task_licenses(std::string_view tres_per_task, uint64_t tasks, LicenseNeeds& needs);

// Counts by name: what the site has, less what is held.
class LicensePool {
 public:
  LicensePool() = default;
  explicit LicensePool(const Params& params) {
    for (const auto& [name, count] : params.licenses) all_[name] = free_[name] = count;
  }
  void take(const std::vector<LicenseShare>& held);
  // What the needs get now; nothing: they have to wait.
  std::optional<std::vector<LicenseShare>> grant(const LicenseNeeds& needs) const;
  // An error names what the site does not have, or not so many of.
  Result<> could_ever(const LicenseNeeds& needs) const;

 private:
  std::map<std::string, uint64_t> all_, free_;
};

}  // namespace muster::sched
