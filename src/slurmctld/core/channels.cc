#include "slurmctld/core/channels.h"

#include <algorithm>
#include <optional>

#include "model/channels.h"
#include "sched/request/request_shape.h"
#include "sched/topology/segments.h"

namespace muster::slurmctld {
namespace {

const Topology* topology_of(const Cluster& cluster, uint32_t partition) {
  const Partition* p = cluster.partitions.find(partition);
  return p && cluster.topologies ? cluster.topologies->of(*p) : nullptr;
}

// For each node of the allocation, which of the job's channels it has.
std::vector<uint32_t> groups_of(const View& view, const Job& job, uint32_t partition, const Allocation& allocation) {
  if (!job.request->network->channel_per_segment) return std::vector<uint32_t>(allocation.nodes.size(), 0);
  return sched::segments_of(topology_of(view.cluster, partition), allocation, job.request->segment);
}

// The one channel of another component of the job that runs.
std::optional<uint32_t> channel_beside(const Cluster& cluster, const Job& job) {
  if (!job.het) return std::nullopt;
  for (const Job* other : components_of(cluster, job.het)) {
    if (other->id == job.id || other->pending() || other->finished() || !other->allocation) continue;
    if (const std::vector<uint32_t> has = channels_of(*other->allocation); has.size() == 1) return has.front();
  }
  return std::nullopt;
}

// The most channels that the job may come to hold in the partition: as many as it has segments when it gets all the nodes it may.
uint32_t most_channels(const View& view, const JobRequest& request, uint32_t partition) {
  const Partition& p = view.cluster.partitions.at(partition);
  if (!request.network->channel_per_segment || !request.segment) return 1;
  const auto shape = sched::make_shape(request, p, view.settings.sched);
  if (!shape) return 1;  // it is refused for another reason
  auto nodes = std::min<uint32_t>(shape->max_nodes, static_cast<uint32_t>(p.nodes.count()));
  if (request.num_tasks) nodes = std::min(nodes, std::max(request.num_tasks, shape->min_nodes));
  return sched::segments_in(topology_of(view.cluster, partition), nodes, request.segment);
}

uint32_t most_channels(const View& view, const JobRequest& request, const std::vector<uint32_t>& partitions) {
  uint32_t most = 1;
  for (uint32_t p : partitions) most = std::max(most, most_channels(view, request, p));
  return most;
}

Result<> check_count(const View& view, uint64_t wanted) {
  const uint32_t there = view.settings.sched.imex_channels;
  if (wanted <= there) return {};
  return fail(Errc::kRequestedNodeConfigUnavailable, {},
              "--network=unique-channel-per-segment: the job may have " + std::to_string(wanted) +
                  " segments that want a channel each, and there are " + std::to_string(there) +
                  " channels (SwitchParameters=imex_channel_count)");
}

}  // namespace

std::vector<uint32_t> free_channels(const PersistentMap<uint32_t>& used, uint32_t total, uint32_t from, uint32_t count) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < total && out.size() < count; ++i) {
    const auto channel = static_cast<uint32_t>((uint64_t{from} + i) % total);
    if (!used.contains(channel)) out.push_back(channel);
  }
  if (out.size() < count) out.clear();
  return out;
}

Result<AllocationPtr> with_channels(const View& view, const Job& job, uint32_t partition, const AllocationPtr& allocation) {
  const uint32_t total = view.settings.sched.imex_channels;
  if (!total) return allocation;
  const std::vector<uint32_t> groups = groups_of(view, job, partition, *allocation);
  const uint32_t count = std::ranges::max(groups) + 1;
  std::vector<uint32_t> channels;
  if (const auto shared = count == 1 ? channel_beside(view.cluster, job) : std::nullopt) channels = {*shared};
  else channels = free_channels(view.cluster.channels, total, job.id.value, count);
  if (channels.empty()) return fail(Errc::kSwitchBusy, {}, "no IMEX channel is free");
  auto out = std::make_shared<Allocation>(*allocation);
  for (size_t i = 0; i < groups.size(); ++i) out->nodes[i].channel = channels[groups[i]];
  return out;
}

Result<> check_network(const View& view, const JobRequest& request, const std::vector<uint32_t>& partitions) {
  if (!view.settings.sched.imex_channels) return {};  // it is recorded
  if (const std::string& other = request.network->other; !other.empty())
    return fail(Errc::kInterconnectFailed, {},
                "--network: \"" + other + "\" is not known to switch/nvidia_imex, which takes unique-channel-per-segment");
  return check_count(view, most_channels(view, request, partitions));
}

Result<> check_networks(const View& view, const std::vector<Accepted>& components) {
  if (!view.settings.sched.imex_channels) return {};
  uint64_t wanted = 0;
  bool shared = false;
  for (const Accepted& c : components) {
    const uint32_t own = most_channels(view, c.request, c.partitions);
    if (own > 1) wanted += own;
    else shared = true;
  }
  return check_count(view, wanted + shared);
}

}  // namespace muster::slurmctld
