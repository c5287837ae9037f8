#include "sched/rules/choices.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace muster::sched {
namespace {

constexpr size_t kShown = 12;

}  // namespace

std::string choice_of(const std::set<std::string>& names, std::string_view wrong) {
  std::vector<std::string_view> all(names.begin(), names.end());
  std::string out;
  if (std::string_view near = did_you_mean(wrong, all); !near.empty()) out = "; did you mean " + std::string(near) + "?";
  std::vector<std::string> first(names.begin(), std::next(names.begin(), static_cast<ptrdiff_t>(std::min(names.size(), kShown))));
  if (names.empty()) return "; there are none here";
  return out + "; there are: " + join(first, ", ") + (names.size() > kShown ? " and others" : "");
}

std::set<std::string> features_there(const Cluster& cluster) {
  std::set<std::string> names;
  cluster.nodes.for_each([&](uint32_t, const Node& n) { names.insert(n.features_active.begin(), n.features_active.end()); });
  return names;
}

std::set<std::string> devices_there(const Availability& nodes) {
  std::set<std::string> names;
  for (const Kind& k : nodes.kinds())
    for (const GresDevices& g : k.gres) names.insert(gres_name(g.name, g.type));
  return names;
}

}  // namespace muster::sched
