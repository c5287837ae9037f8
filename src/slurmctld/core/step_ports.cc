#include "slurmctld/core/step_ports.h"

#include <algorithm>
#include <set>

namespace muster::slurmctld {
namespace {

// Without a count: one for each task of the node with the most.
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

std::set<uint16_t> ports_in_use(const Cluster& cluster, const std::set<NodeId>& nodes) {
  std::set<uint16_t> out;
  cluster.jobs.for_each([&](uint32_t, const Job& other) {
    for (const Step& s : other.steps)
      if (!s.resv_ports.empty() && on_one_of(other, s, nodes)) out.insert(s.resv_ports.begin(), s.resv_ports.end());
  });
  return out;
}

}  // namespace

Result<std::vector<uint16_t>> ports_for_step(const View& v, const Job& job, const StepRequest& request,
                                             const std::vector<StepShare>& shares) {
  uint32_t count = wanted_ports(request, shares);
  std::vector<uint16_t> out;
  if (count == 0) return out;
  config::PortRange range = v.settings.config().mpi_ports;
  if (range.first == 0) return fail(Errc::kPortsInvalid, {}, "slurm.conf names no ports for steps (MpiParams=ports=12000-12999)");
  uint32_t there = range.last - range.first + 1u;
  if (count > there)
    return fail(Errc::kPortsInvalid, {}, "--resv-ports=" + std::to_string(count) + ", but MpiParams has " + std::to_string(there) + " ports");
  std::set<NodeId> nodes;
  for (const StepShare& s : shares) nodes.insert(job.allocation->nodes[s.node_index].node);
  std::set<uint16_t> used = ports_in_use(v.cluster, nodes);
  for (uint32_t port = range.first; port <= range.last && out.size() < count; ++port)
    if (!used.contains(static_cast<uint16_t>(port))) out.push_back(static_cast<uint16_t>(port));
  if (out.size() < count) return fail(Errc::kPortsBusy);
  return out;
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

}  // namespace muster::slurmctld
