// What a cluster may use of a resource (ResourceRecord).
#include <algorithm>

#include "model/accounts.h"

namespace muster {

bool ResourceRecord::has(std::string_view flag) const { return std::ranges::find(flags, flag) != flags.end(); }

uint32_t ResourceRecord::allocated() const {
  uint64_t sum = 0;
  for (const ResourceShare& s : clusters) sum += s.allowed;
  return static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX));
}

uint32_t ResourceRecord::usable_by(std::string_view cluster) const {
  const auto at = std::ranges::find(clusters, cluster, &ResourceShare::cluster);
  if (at == clusters.end()) return 0;
  if (has("SharedPool")) return count;
  if (has("Absolute")) return std::min(count, at->allowed);
  return static_cast<uint32_t>(uint64_t{count} * std::min(at->allowed, 100u) / 100);
}

}  // namespace muster
