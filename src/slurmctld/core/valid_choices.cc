#include "slurmctld/core/valid_choices.h"

#include "base/text.h"
#include "hostlist/hostlist.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kShown = 12, kLookedAt = 4096;

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kShown)));
  return join(shown, ", ") + (names.size() > kShown ? " and " + std::to_string(names.size() - kShown) + " more" : "");
}

std::string nearest(std::string_view wrong, const std::vector<std::string>& names) {
  std::vector<std::string_view> views(names.begin(), names.end());
  std::string_view near = did_you_mean(wrong, views);
  return near.empty() ? std::string() : "did you mean " + std::string(near) + "? ";
}

std::vector<std::string> names_of(const Cluster& cluster, const MayUse& wanted) {
  std::vector<std::string> out;
  cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (out.size() < kLookedAt && wanted(p)) out.push_back(p.name);
  });
  return out;
}

}  // namespace

std::string choice_of_partitions(const Cluster& cluster, const MayUse& may_use, std::string_view wrong) {
  std::vector<std::string> names = names_of(cluster, [&](const Partition& p) { return !p.hidden && may_use(p); });
  if (names.empty()) return "there is no partition that you may use";
  return nearest(wrong, names) + "partitions here: " + listed(names);
}

std::string partitions_allowing(const Cluster& cluster, const MayUse& may_use, const MayUse& allows) {
  std::vector<std::string> names =
      names_of(cluster, [&](const Partition& p) { return !p.hidden && p.state == PartitionState::kUp && may_use(p) && allows(p); });
  if (names.empty()) return {};
  return (names.size() == 1 ? "partition " : "partitions ") + listed(names) + (names.size() == 1 ? " allows it" : " allow it");
}

std::string choice_of_nodes(const Cluster& cluster, std::string_view wrong) {
  std::vector<std::string> names;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    if (names.size() < kLookedAt) names.push_back(n.spec->name);
  });
  std::string out = nearest(wrong, names);
  return out.empty() ? "nodes here: " + compress_hosts(names).substr(0, 120) : out.substr(0, out.size() - 1);
}

}  // namespace muster::slurmctld
