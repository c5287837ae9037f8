#include "steps/step_ports.h"

#include <algorithm>
#include <set>

namespace muster::steps {
namespace {

// Without a count, --resv-ports wants one port for each task of the node with the most tasks.
uint32_t wanted_ports(const StepRequest& request, const std::vector<StepShare>& shares) {
  if (!request.resv_ports_set) return 0;
  if (request.resv_ports) return request.resv_ports;
  uint32_t most = 1;
  for (const StepShare& s : shares) most = std::max(most, s.ranks.empty() ? s.task_count : static_cast<uint32_t>(s.ranks.size()));
  return most;
}

bool on_one_of(const Job& job, const Step& step, const std::set<NodeId>& nodes) {
  return std::ranges::any_of(step.shares, [&](const StepShare& s) { return nodes.contains(job.allocation->nodes[s.node_index].node); });
}

bool on_one_of(const Job& job, const std::set<NodeId>& nodes) {
  return std::ranges::any_of(job.allocation->nodes, [&](const NodeShare& s) { return nodes.contains(s.node); });
}

// For other jobs, the ports kept for the whole job count too.
std::set<uint16_t> ports_in_use(const Cluster& cluster, JobId own, const std::set<NodeId>& nodes) {
  std::set<uint16_t> out;
  cluster.jobs.for_each([&](uint32_t, const Job& other) {
    for (const Step& s : other.steps)
      if (!s.resv_ports.empty() && on_one_of(other, s, nodes)) out.insert(s.resv_ports.begin(), s.resv_ports.end());
    if (other.id == own || !other.run->first_port || !other.holds_nodes() || !on_one_of(other, nodes)) return;
    for (uint32_t port = other.run->first_port; port <= other.run->last_port; ++port) out.insert(static_cast<uint16_t>(port));
  });
  return out;
}

}  // namespace

Result<std::vector<uint16_t>> ports_for_step(const Cluster& cluster, const StepPorts& ports, const Job& job, const StepRequest& request,
                                             const std::vector<StepShare>& shares) {
  uint32_t count = wanted_ports(request, shares);
  std::vector<uint16_t> out;
  if (count == 0) return out;
  if (!ports.named) return fail(Errc::kPortsInvalid, {}, "slurm.conf names no ports for steps (MpiParams=ports=12000-12999)");
  if (ports.first == 0) return fail(Errc::kPortsInvalid, {}, "no ports of MpiParams were left for this job when it started");
  uint32_t there = ports.last - ports.first + 1u;
  if (count > there)
    return fail(Errc::kPortsInvalid, {},
                "--resv-ports=" + std::to_string(count) + ", but " + (job.managed ? "the job" : "MpiParams") + " has " +
                    std::to_string(there) + " ports");
  std::set<NodeId> nodes;
  for (const StepShare& s : shares) nodes.insert(job.allocation->nodes[s.node_index].node);
  std::set<uint16_t> used = ports_in_use(cluster, job.id, nodes);
  for (uint32_t port = ports.first; port <= ports.last && out.size() < count; ++port)
    if (!used.contains(static_cast<uint16_t>(port))) out.push_back(static_cast<uint16_t>(port));
  if (out.size() < count) return fail(Errc::kPortsBusy);
  return out;
}

std::optional<std::pair<uint16_t, uint16_t>> ports_to_keep(const Cluster& cluster, const StepPorts& ports, const Allocation& allocation) {
  if (ports.first == 0) return std::nullopt;
  uint32_t wanted = 1;
  std::set<NodeId> nodes;
  for (const NodeShare& s : allocation.nodes) {
    nodes.insert(s.node);
    wanted = std::max({wanted, s.counted_cpus(), s.tasks});
  }
  const std::set<uint16_t> used = ports_in_use(cluster, JobId(), nodes);
  uint32_t best = 0, best_length = 0;
  for (uint32_t port = ports.first, length = 0; port <= ports.last && best_length < wanted; ++port) {
    length = used.contains(static_cast<uint16_t>(port)) ? 0 : length + 1;
    if (length <= best_length) continue;
    best = port - length + 1;
    best_length = length;
  }
  if (best_length == 0) return std::nullopt;
  return std::pair(static_cast<uint16_t>(best), static_cast<uint16_t>(best + best_length - 1));
}

std::string port_ranges(const std::vector<uint16_t>& ports) {
  std::string out;
  for (size_t i = 0; i < ports.size();) {
    size_t end = i + 1;
    while (end < ports.size() && ports[end] == ports[end - 1] + 1) ++end;
    out += (out.empty() ? "" : ",") + std::to_string(ports[i]);
    if (end - i > 1) out += "-" + std::to_string(ports[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace muster::steps
