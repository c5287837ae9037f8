#include "match/print.h"

#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"

namespace muster::match {
namespace {

std::string node_name(const Cluster& cluster, NodeId id) {
  const Node* n = cluster.nodes.find(id.value);
  return n ? n->spec->name : "?";
}

std::string devices_text(const std::vector<GresShare>& gres) {
  std::string out;
  for (const GresShare& g : gres) {
    if (g.count == 0) continue;
    if (!out.empty()) out += ',';
    out += gres_text(g.name, g.type, g.count);
    if (g.devices.any()) out += "(IDX:" + g.devices.to_ranges() + ")";
  }
  return out;
}

std::string share_text(const NodeShare& s) {
  std::string out = "cpus=" + (s.cpus.any() ? s.cpus.to_ranges() : "none");
  if (s.mem_mb) out += " mem=" + std::to_string(s.mem_mb) + "M";
  if (std::string g = devices_text(s.gres); !g.empty()) out += " gres=" + g;
  return out + " tasks=" + std::to_string(s.tasks);
}

std::string nodes_text(const Cluster& cluster, const Allocation& a) {
  std::vector<std::string> names;
  for (const NodeShare& s : a.nodes) names.push_back(node_name(cluster, s.node));
  return compress_hosts(names);
}

// Columns are as wide as their widest cell; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) line += " " + row[i] + std::string(width[i] - row[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string state_text(const Node& n) {
  const NodeStateText t = node_state_text(n.state(), n.flags, n.jobs_running + n.jobs_completing > 0);
  return std::string(t.base) + (t.suffix ? std::string(1, t.suffix) : "");
}

// "gpu:h100:2/8" for each kind that the node has.
std::string gres_use(const Node& node) {
  std::string out;
  std::vector<std::pair<std::string, std::string>> done;
  for (const GresDevices& g : node.spec->gres) {
    if (std::ranges::find(done, std::pair{g.name, g.type}) != done.end()) continue;
    done.emplace_back(g.name, g.type);
    uint64_t has = 0, used = 0;
    for (const GresDevices& x : node.spec->gres) has += x.name == g.name && x.type == g.type ? x.count : 0;
    for (const GresShare& x : node.gres_used) used += x.name == g.name && x.type == g.type ? x.count : 0;
    out += (out.empty() ? "" : ",") + gres_name(g.name, g.type) + ":" + std::to_string(used) + "/" + std::to_string(has);
  }
  return out.empty() ? "-" : out;
}

std::string left_of(const Job& job, Time now) {
  if (job.ends == kTimeInfinite || job.ends == kTimeUnset) return "-";
  return span_text(job.ends - now);
}

}  // namespace

std::string span_text(Duration span) { return format_span_full(span); }

std::string name_of(const Job& job) {
  const std::string name(job.name());
  if (job.array_tasks) return name + "_[" + format_array_tasks(*job.array_tasks) + "]";
  return job.array_task == kNoArrayTask ? name : name + "_" + std::to_string(job.array_task);
}

std::string allocation_text(const Cluster& cluster, const Allocation& allocation) {
  std::string out = "nodes=" + nodes_text(cluster, allocation) + " cpus=" + std::to_string(allocation.total_cpus()) +
                    " tasks=" + std::to_string(allocation.total_tasks());
  if (allocation.switches) out += " switches=" + std::to_string(allocation.switches);
  if (allocation.whole_nodes) out += " exclusive";
  if (allocation.exclusive_user) out += " exclusive=user";
  if (!allocation.fenced.empty()) {
    std::vector<std::string> names;
    for (uint32_t id : allocation.fenced) names.push_back(node_name(cluster, NodeId(id)));
    out += " kept=" + compress_hosts(names);
  }
  if (allocation.oversubscribe) out += " oversubscribe";
  out += '\n';
  for (size_t i = 0; i < allocation.nodes.size();) {
    std::vector<std::string> names;
    const std::string share = share_text(allocation.nodes[i]);
    for (; i < allocation.nodes.size() && share_text(allocation.nodes[i]) == share; ++i)
      names.push_back(node_name(cluster, allocation.nodes[i].node));
    out += "    " + compress_hosts(names) + "  " + share + "\n";
  }
  return out;
}

std::string verdict_text(const Verdict& v, Time now) {
  // Some details are the whole sentence that squeue prints in place of the reason.
  const bool sentence = v.detail.view().starts_with(reason_name(v.reason));
  std::string out(sentence ? v.detail.view() : reason_name(v.reason));
  if (v.expected_start != kTimeUnset) out += ", expected +" + span_text(v.expected_start - now);
  if (!v.expected_nodes.empty()) out += " on " + v.expected_nodes.str();
  if (!v.detail.empty() && !sentence) out += " (" + v.detail.str() + ")";
  return out;
}

std::string explanation_text(const JobExplanation& explanation) {
  auto until = [&](Time t) { return t == kTimeInfinite ? std::string("never") : "+" + span_text(t - explanation.now); };
  std::string out;
  for (const PartitionView& p : explanation.partitions) {
    out += "    " + p.name + ": " + std::to_string(p.nodes) + " nodes, " + std::to_string(p.needed) + " needed\n";
    if (!p.never.empty()) out += "      never: " + p.never + "\n";
    for (const NodesLeftOut& n : p.causes) {
      out += "      " + std::to_string(n.count) + " " + std::string(node_cause_text(n.cause));
      if (!n.nodes.empty()) out += ": " + n.nodes;
      if (n.first != Time{}) out += " until " + until(n.first) + (n.last == n.first ? "" : " … " + until(n.last));
      if (!n.detail.empty()) out += " (" + n.detail + ")";
      out += "\n";
    }
  }
  for (const PartitionView& p : explanation.partitions)
    if (!p.together.empty()) out += "    " + p.together + "\n";
  for (const LimitView& l : explanation.limits)
    out += "    " + l.name + ": " + std::to_string(l.used) + " of " + std::to_string(l.limit) + " in use, wants " +
           std::to_string(l.wanted) + "\n";
  for (const Alternative& a : explanation.alternatives)
    out += "    sooner: " + a.change + ": " + (a.at_once ? "at once" : until(a.start)) + "\n";
  return out;
}

std::string nodes_table(const Cluster& cluster) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "STATE", "CPUS", "MEMORY", "GRES", "REASON"}};
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    rows.push_back({n.spec->name, state_text(n), std::to_string(n.cpus_allocated()) + "/" + std::to_string(n.spec->cpus),
                    std::to_string(n.mem_used_mb) + "/" + std::to_string(n.spec->real_memory_mb), gres_use(n), n.reason});
  });
  return table(rows);
}

std::string queue_table(const Cluster& cluster, Time now) {
  std::vector<std::vector<std::string>> rows = {{"JOB", "NAME", "PARTITION", "STATE", "PRIORITY", "LIMIT", "LEFT", "NODES"}};
  cluster.jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.finished()) return;
    const Partition* p = cluster.partitions.find(j.partition);
    rows.push_back({std::to_string(id), name_of(j), p ? p->name : "?", std::string(job_state_shown(j.state, j.flags)),
                    std::to_string(j.priority), j.time_limit_min == kUnlimited32 ? "UNLIMITED" : span_text(minutes(j.time_limit_min)),
                    j.pending() ? "-" : left_of(j, now), j.allocation ? nodes_text(cluster, *j.allocation) : "-"});
  });
  return table(rows);
}

std::string topology_table(const Cluster& cluster) {
  if (!cluster.topologies) return "  flat\n";
  std::vector<std::vector<std::string>> rows = {{"TOPOLOGY", "KIND", "UNIT", "IDLE", "NODES"}};
  for (const Topology& t : cluster.topologies->all)
    for (uint32_t u = 0; u < t.units.size(); ++u) {
      std::vector<std::string> names;
      size_t idle = 0;
      for (uint32_t id : nodes_below(t, u)) {
        const Node* n = cluster.nodes.find(id);
        if (!n) continue;
        names.push_back(n->spec->name);
        idle += n->state() == NodeState::kIdle && !(n->flags & (kNodeDrain | kNodeFail));
      }
      rows.push_back({t.name, std::string(topology_kind_name(t.kind)), t.units[u].name,
                      std::to_string(idle) + "/" + std::to_string(names.size()), compress_hosts(names)});
    }
  return table(rows);
}

}  // namespace muster::match
