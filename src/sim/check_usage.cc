// No node gives out more than it has, exclusive is exclusive, and the counters of Node are the sums over the jobs.
#include <algorithm>

#include "sim/world.h"

namespace muster::sim {
namespace {

const NodeShare& share_on(const Job& j, NodeId node) {
  for (const NodeShare& s : j.allocation->nodes)
    if (s.node == node) return s;
  for (const NodeShare& s : j.run->leaving)
    if (s.node == node) return s;
  return j.allocation->nodes[0];
}

bool holds(const Job& j, size_t i) { return !j.finished() || j.run->releasing.test(i); }

}  // namespace

void Checkers::check_usage(const Cluster& cluster) {
  std::vector<std::vector<const Job*>> on(world_.scenario.nodes.size());
  cluster.jobs.for_each([&](uint32_t, const Job& j) {
    for (const NodeShare& s : j.run->leaving)
      if (s.node.value < on.size()) on[s.node.value].push_back(&j);
    if (!j.holds_nodes()) return;
    for (size_t i = 0; i < j.allocation->nodes.size(); ++i)
      if (holds(j, i) && j.allocation->nodes[i].node.value < on.size()) on[j.allocation->nodes[i].node.value].push_back(&j);
  });
  cluster.nodes.for_each([&](uint32_t i, const Node& n) {
    if (i < on.size()) check_node_usage(cluster, n, on[i]);
  });
}

void Checkers::check_node_usage(const Cluster&, const Node& node, const std::vector<const Job*>& jobs) {
  auto bad = [&](const std::string& what) { fail("usage", node.spec->name + ": " + what); };
  auto id = [](const Job* j) { return std::to_string(j->id.value); };
  Bitmap cpus;
  std::vector<PartitionUse> by_partition;
  uint64_t mem = 0;
  uint32_t running = 0, completing = 0, whole = 0, off = 0;
  // Somebody was suspended and may be back beside others.
  const bool beside = std::ranges::any_of(jobs, [&](const Job* j) { return suspended_.contains(j->id); });
  std::map<std::pair<std::string, std::string>, Bitmap> devices;
  const sched::Params& params = world_.scenario.settings.sched;
  for (const Job* job : jobs) {
    const NodeShare& share = share_on(*job, node.id);
    const bool leaving = job->finished() || job->is_leaving(node.id), gave_cpus = job->run->off_cpus;
    if (!gave_cpus && cpus.intersects(share.cpus) && !job->allocation->oversubscribe && !beside)
      bad("job " + id(job) + " shares CPUs " + share.cpus.to_ranges());
    if (!share.cpus.none() && !Bitmap(node.spec->cpus, true).contains(share.cpus)) bad("job " + id(job) + " holds CPUs that are not there");
    if (!gave_cpus) cpus |= share.cpus;
    if (!gave_cpus) hold_cpus_of(by_partition, job->partition, share.cpus);
    mem += share.mem_mb;
    for (const GresShare& g : share.gres) {
      Bitmap& used = devices[{g.name, {}}];
      if (used.intersects(g.devices)) bad("job " + id(job) + " shares devices of " + g.name + " " + g.devices.to_ranges());
      if (g.devices.count() != g.count) bad("job " + id(job) + ": count and devices of " + g.name + " differ");
      used |= g.devices;
      devices[{g.name, g.type.empty() ? "-" : g.type}] |= g.devices;
    }
    ++(leaving ? completing : gave_cpus ? off : running);
    whole += job->allocation->whole_nodes && !gave_cpus;
  }
  if (whole && jobs.size() > 1 && !beside) bad("job " + id(jobs[0]) + " and " + id(jobs[1]) + " on a node held whole");
  if (params.memory_consumable && mem > node.spec->real_memory_mb)
    bad("memory " + std::to_string(mem) + " of " + std::to_string(node.spec->real_memory_mb));
  if (!(cpus == node.cpus_used)) bad("cpus_used " + node.cpus_used.to_ranges() + ", jobs hold " + cpus.to_ranges());
  for (const PartitionUse& u : by_partition)
    if (const PartitionUse* there = use_of_partition(node.by_partition, u.partition); !there || !(*there == u))
      bad("by_partition of partition " + std::to_string(u.partition) + " differs from what jobs hold");
  if (by_partition.size() != node.by_partition.size()) bad("by_partition has partitions without jobs");
  if (mem != node.mem_used_mb) bad("mem_used_mb " + std::to_string(node.mem_used_mb) + ", jobs hold " + std::to_string(mem));
  if (off != node.jobs_off || running != node.jobs_running || completing != node.jobs_completing || whole != node.whole_node_jobs)
    bad("counters " + std::to_string(node.jobs_running) + "/" + std::to_string(node.jobs_completing) + "/" +
        std::to_string(node.whole_node_jobs) + ", jobs " + std::to_string(running) + "/" + std::to_string(completing) + "/" +
        std::to_string(whole));
  for (const GresShare& g : node.gres_used)
    if (!(g.devices == devices[{g.name, g.type.empty() ? "-" : g.type}])) bad("gres_used of " + g.name + " differs from what jobs hold");
  uint64_t kinds = 0;
  for (const auto& [key, used] : devices) {
    kinds += !key.second.empty() && used.any();
    if (key.second.empty()) {
      Bitmap all;
      for (const GresDevices& d : node.spec->gres)
        if (d.name == key.first) all.set_range(d.first_index, d.first_index + d.count);
      if (!all.contains(used)) bad("devices of " + key.first + " that are not there");
    }
  }
  if (kinds != node.gres_used.size())
    bad("gres_used has " + std::to_string(node.gres_used.size()) + " kinds, jobs hold " + std::to_string(kinds));
}

}  // namespace muster::sim
