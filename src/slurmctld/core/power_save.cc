#include "slurmctld/core/power_save.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "model/node_flag.h"
#include "slurmctld/core/reservation_rows.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kGoingOrGone = kNodePoweredDown | kNodePoweringUp | kNodePoweringDown | kNodePowerDownRequested;
constexpr Duration kSoonest = seconds(1);

// SuspendExcStates, against what a node is now.
class ExcludedStates {
 public:
  ExcludedStates(const View& view, const sched::PlannedNodes& planned)
      : cluster_(view.cluster), planned_(planned), reserved_(view.cluster) {
    for (const std::string& word : view.settings.config().suspend_exc_states) {
      flags_ |= node_flag(word).value_or(0);
      down_ = down_ || iequals(word, "DOWN");
    }
  }
  bool hold(const Node& node) const {
    const uint32_t dynamic = node.spec->dynamic ? kNodeDynamicNorm : 0u;
    const uint32_t now = flags_now(node) | dynamic | (flags_ & (kNodeReserved | kNodeMaint) ? reserved_.flags_of(node.id) : 0u) |
                         (flags_ & kNodePlanned ? planned_.flag(cluster_, node) : 0u);
    return (now & flags_) || (down_ && node.admin == NodeState::kDown);
  }

 private:
  const Cluster& cluster_;
  const sched::PlannedNodes& planned_;
  ReservedNodes reserved_;
  uint32_t flags_ = 0;
  bool down_ = false;
};

bool is_fit(const Node& node) { return node.admin == NodeState::kIdle && !(node.flags & (kNodeDrain | kNodeFail | kGoingOrGone)); }

bool is_at_rest(const Node& node) {
  const bool idle_or_down = node.admin == NodeState::kIdle || node.admin == NodeState::kDown;
  return idle_or_down && !node.has_jobs() && !(node.flags & (kGoingOrGone | kNodeRebootIssued)) && !node.spec->external;
}

// What partitions say of each node.
struct OfPartitions {
  std::vector<std::optional<uint32_t>> suspend_time_s;  // the longest of those that have one
  Bitmap stay_up, down_on_idle;
};

OfPartitions ask_partitions(const View& view) {
  const config::Config& config = view.settings.config();
  OfPartitions out;
  view.cluster.partitions.for_each([&](uint32_t, const Partition& partition) {
    const bool excluded = std::ranges::find(config.suspend_exc_parts, partition.name) != config.suspend_exc_parts.end();
    if (!excluded && !partition.suspend_time_seconds && !partition.power_down_on_idle) return;
    if (excluded) out.stay_up |= partition.nodes;
    if (partition.power_down_on_idle) out.down_on_idle |= partition.nodes;
    if (!partition.suspend_time_seconds) return;
    partition.nodes.for_each([&](size_t node) {
      if (out.suspend_time_s.size() <= node) out.suspend_time_s.resize(node + 1);
      out.suspend_time_s[node] = std::max(out.suspend_time_s[node].value_or(0), *partition.suspend_time_seconds);
    });
  });
  return out;
}

// Since when the node may be powered down; kTimeInfinite: not by itself.
Time due(const config::Config& config, const OfPartitions& partitions, const Node& node) {
  const uint32_t id = node.id.value;
  const bool worked = node.hardware && node.hardware->slurmd_start != kTimeUnset && node.last_busy > node.hardware->slurmd_start;
  if (worked && partitions.down_on_idle.test(id)) return node.last_busy;
  uint32_t own = node.spec->suspend_time_seconds;
  if (own == NodeSpec::kUnsetSeconds && id < partitions.suspend_time_s.size() && partitions.suspend_time_s[id])
    own = *partitions.suspend_time_s[id];
  if (own != NodeSpec::kUnsetSeconds) return own == kUnlimited32 ? kTimeInfinite : node.last_busy + seconds(own);
  return config.suspend_time ? node.last_busy + *config.suspend_time : kTimeInfinite;
}

// Leaves out what SuspendExcNodes keeps up: of each set with a count so many that are fit, those idle for the shortest time.
void keep_up(const View& view, std::vector<const Node*>& nodes) {
  std::unordered_set<uint32_t> stay;
  for (const config::KeptUp& set : view.settings.kept_up) {
    std::vector<const Node*> fit;
    for (const std::string& name : set.nodes) {
      const Node* node = view.cluster.node(name);
      if (!node) continue;
      if (!set.count) stay.insert(node->id.value);
      else if (is_fit(*node)) fit.push_back(node);
    }
    std::ranges::stable_sort(fit, std::greater<>(), [](const Node* node) { return std::pair(node->has_jobs(), node->last_busy); });
    for (size_t i = 0; set.count && i < fit.size() && i < *set.count; ++i) stay.insert(fit[i]->id.value);
  }
  std::erase_if(nodes, [&](const Node* node) { return stay.contains(node->id.value); });
}

}  // namespace

Time PowerSave::look(const View& view, const sched::PlannedNodes& planned, Events& out) {
  const config::Config& config = view.settings.config();
  if (!on(config)) return kTimeInfinite;
  const OfPartitions partitions = ask_partitions(view);
  const ExcludedStates excluded(view, planned);
  std::vector<std::pair<Time, const Node*>> times;
  Time next = kTimeInfinite;
  view.cluster.nodes.for_each([&](uint32_t id, const Node& node) {
    if (!is_at_rest(node) || partitions.stay_up.test(id)) return;
    const Time at = due(config, partitions, node);
    if (at == kTimeInfinite || excluded.hold(node)) return;
    if (at <= view.now) times.emplace_back(at, &node);
    else next = std::min(next, at);
  });
  std::ranges::stable_sort(times, {}, &std::pair<Time, const Node*>::first);
  std::vector<const Node*> nodes;
  for (const auto& [at, node] : times) nodes.push_back(node);
  keep_up(view, nodes);
  const size_t now = std::min(nodes.size(), rate_.room(view.now, config.suspend_rate));
  for (size_t i = 0; i < now; ++i) power_down_idle(view, *nodes[i], out);
  rate_.take(view.now, now);
  if (nodes.size() > now) next = std::min(next, rate_.when(view.now, config.suspend_rate, 1));
  const Duration interval = seconds(std::max<int64_t>(config.slurmctld_parameters.number("power_save_interval", 10), 1));
  const Duration least = seconds(config.slurmctld_parameters.number("power_save_min_interval", 0));
  return std::max(std::min(next, view.now + interval), view.now + std::max(least, kSoonest));
}

}  // namespace muster::slurmctld
