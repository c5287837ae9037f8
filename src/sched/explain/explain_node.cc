#include <algorithm>

#include "base/text.h"
#include "sched/explain/explain.h"
#include "sched/supply/availability.h"

namespace muster::sched {
namespace {

constexpr size_t kJobsShown = 20;

// "gpu:h100:8,nic:1": the devices of the kind, with these counts.
std::string gres_text(const Kind& kind, const std::vector<uint64_t>& counts) {
  std::string out;
  for (size_t i = 0; i < kind.gres.size(); ++i) {
    const GresDevices& g = kind.gres[i];
    out += (out.empty() ? "" : ",") + muster::gres_text(g.name, g.type, counts[i]);
  }
  return out;
}

bool is_there(const Job& job, NodeId node) {
  if (!job.holds_nodes()) return false;
  for (size_t i = 0; i < job.allocation->nodes.size(); ++i)
    if (job.allocation->nodes[i].node == node) return !job.finished() || job.run->releasing.test(i);
  return false;
}

}  // namespace

NodeExplanation explain_node(const Cluster& cluster, const Params& params, Time now, const Node& node, const PlannedNodes* planned) {
  NodeExplanation out;
  out.now = now;
  out.name = node.spec->name;
  const PlannedNodes::Promise* promise = planned ? planned->kept(cluster, node) : nullptr;
  out.state = node_state_long(node.state(), node.flags | (promise ? kNodePlanned : 0u));
  out.usable = node_usable(node);
  out.reason = node.reason;
  out.reason_uid = node.reason_uid;
  out.reason_time = node.reason_time;
  out.registered = node.hardware != nullptr;
  if (const Quarantine* quarantine = cluster.quarantines.find(node.id.value)) {
    out.quarantine = quarantine->phase;
    out.quarantine_since = quarantine->since;
    out.quarantine_returned = quarantine->returned;
  }
  out.last_response = node.last_response;
  std::vector<std::string> partitions;
  cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (p.nodes.test(node.id.value)) partitions.push_back(p.name);
  });
  out.partitions = join(partitions, ",");
  const Kind kind = make_kind(node, params.allocate_cores || params.linear);
  std::vector<uint64_t> all(kind.gres.size()), left(kind.gres.size());
  free_gres(kind, {}, all.data());
  free_gres(kind, node.gres_used, left.data());
  out.gres = gres_text(kind, all);
  out.gres_free = gres_text(kind, left);
  out.cpus = kind.cpus;
  out.cpus_free = kind.cpus - std::min(kind.cpus, static_cast<uint32_t>((node.cpus_used | kind.specialized).count()));
  out.mem_mb = kind.mem_mb;
  out.mem_free_mb = kind.mem_mb - std::min(kind.mem_mb, node.mem_used_mb);
  std::vector<std::pair<Time, uint32_t>> here;
  cluster.jobs.for_each([&](uint32_t id, const Job& job) {
    if (is_there(job, node.id)) here.push_back({job.ends == Time{} ? kTimeInfinite : job.ends, id});
  });
  std::sort(here.begin(), here.end());
  out.job_count = static_cast<uint32_t>(here.size());
  if (!here.empty()) out.idle_at = here.back().first;
  for (size_t i = 0; i < std::min(here.size(), kJobsShown); ++i) out.jobs.push_back(brief_of(cluster, cluster.jobs.at(here[i].second)));
  if (promise) {
    out.jobs.push_back(brief_of(cluster, cluster.jobs.at(promise->job.value)));
    out.jobs.back().start = promise->start;
  }
  return out;
}

}  // namespace muster::sched
