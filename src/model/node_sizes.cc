#include "model/node_sizes.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace muster {

Result<NodeSizes> NodeSizes::parse(std::string_view text) {
  constexpr uint32_t kMost = 1u << 24;
  NodeSizes out;
  for (std::string_view part : split(text, ',')) {
    auto n = parse_number<uint32_t>(trim(part), 1, kMost);
    if (!n) return fail(Errc::kInvalidNodeCount, {}, "--nodes=" + std::string(text) + ": \"" + std::string(part) + "\" is no count");
    out.counts.push_back(*n);
  }
  std::ranges::sort(out.counts);
  return out;
}

}  // namespace muster
