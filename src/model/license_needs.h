// LicenseNeeds: the licences that a request needs, from --licenses. sbatch(1) --licenses, guide licenses.
//
//   matlab:2,ansys    all of them     matlab|octave:2    one of them, the first that is free
//   power:full_node   the name, with a variable (model/hres.h) that the controller replaces; natural(node[01-16]):30   a layer, to reserve
// Errors: kLicenses, with the piece that is wrong. Cost: O(text).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/resources.h"

namespace muster {

struct LicenseNeeds {
  static constexpr uint64_t kMost = 1ull << 32;  // of one licence
  static constexpr size_t kMostKinds = 256;

  std::vector<LicenseShare> list;
  bool any = false;  // one of them is enough ('|'), the first that is free

  static Result<LicenseNeeds> parse(std::string_view text);
  bool empty() const { return list.empty(); }
  // Adds to the count of a licence that is listed already; with `any`, it is listed as another choice.
  void add(std::string name, uint64_t count);
  bool operator==(const LicenseNeeds&) const = default;
};

}  // namespace muster
