// What a reconfigure would change.
#include <algorithm>

#include "config/show_config.h"
#include "config/slurm_conf.h"

namespace muster::config {

namespace {

// The parts of a node that scheduling and the daemons depend on, as text to compare and to show.
std::string node_text(const NodeConfig& node) {
  const NodeTemplate& line = *node.line;
  std::string out = "CPUs=" + std::to_string(line.cpus) + " Boards=" + std::to_string(line.boards) +
                    " Sockets=" + std::to_string(line.sockets) + " CoresPerSocket=" + std::to_string(line.cores_per_socket) +
                    " ThreadsPerCore=" + std::to_string(line.threads_per_core) + " RealMemory=" + std::to_string(line.real_memory_mb) +
                    " TmpDisk=" + std::to_string(line.tmp_disk_mb) + " Weight=" + std::to_string(line.weight);
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += std::string(" ") + key + "=" + value;
  };
  std::string features;
  for (const std::string& f : line.features) features += (features.empty() ? "" : ",") + f;
  add("Features", features);
  add("Gres", line.gres_text);
  add("State", node.state());
  add("Reason", node.reason());
  add("CpuSpecList", line.cpu_spec_list);
  add("Parameters", line.parameters);
  add("Topology", line.topology);
  if (line.core_spec_count) out += " CoreSpecCount=" + std::to_string(line.core_spec_count);
  if (line.mem_spec_limit_mb) out += " MemSpecLimit=" + std::to_string(line.mem_spec_limit_mb);
  if (line.suspend_time_seconds) out += " SuspendTime=" + std::to_string(*line.suspend_time_seconds);
  if (line.suspend_never) out += " SuspendTime=INFINITE";
  add("NodeAddr", node.address());
  add("NodeHostName", node.hostname());
  add("BcastAddr", node.bcast_address);
  return out + " Port=" + std::to_string(node.port);
}

bool same_line(const NodeConfig& a, const NodeConfig& b) {
  return a.line == b.line && a.down == b.down && a.port == b.port && a.given_address == b.given_address &&
         a.given_hostname == b.given_hostname && a.bcast_address == b.bcast_address;
}

void diff_values(const Config& before, const Config& after, std::vector<ConfigChange>& out) {
  for (size_t i = 0; i < before.values.size() && i < after.values.size(); ++i) {
    const ConfigValue &a = before.values[i], &b = after.values[i];
    if (a.text == b.text) continue;
    bool hide = a.row->secret;
    out.push_back({a.row->name, hide ? "***" : a.text, hide ? "***" : b.text, a.row->restart_needed});
  }
}

void diff_nodes(const Config& before, const Config& after, std::vector<ConfigChange>& out) {
  for (const NodeConfig& a : before.nodes) {
    std::optional<uint32_t> at = after.node_index(a.name);
    if (!at) {
      out.push_back({"NodeName=" + a.name, node_text(a), "", false});
      continue;
    }
    const NodeConfig& b = after.nodes[*at];
    if (same_line(a, b)) continue;
    std::string before_text = node_text(a), after_text = node_text(b);
    if (before_text != after_text) out.push_back({"NodeName=" + a.name, std::move(before_text), std::move(after_text), false});
  }
  for (const NodeConfig& b : after.nodes)
    if (!before.node_index(b.name)) out.push_back({"NodeName=" + b.name, "", node_text(b), false});
}

const PartitionConfig* find_partition(const Config& c, const std::string& name) {
  for (const PartitionConfig& p : c.partitions)
    if (p.spec.name == name) return &p;
  return nullptr;
}

// Node numbers differ between the two configurations when nodes came or went, so nodes are compared by name.
bool same_nodes(const Config& before, const Bitmap& a, const Config& after, const Bitmap& b) {
  if (a.count() != b.count()) return false;
  bool same = true;
  a.for_each([&](size_t i) {
    std::optional<uint32_t> at = after.node_index(before.nodes[i].name);
    same = same && at && b.test(*at);
  });
  return same;
}

void diff_partitions(const Config& before, const Config& after, std::vector<ConfigChange>& out) {
  for (const PartitionConfig& a : before.partitions) {
    const PartitionConfig* b = find_partition(after, a.spec.name);
    if (!b) {
      out.push_back({"PartitionName=" + a.spec.name, a.spec.nodes_text, "", false});
      continue;
    }
    Partition rest = b->spec;
    rest.nodes = a.spec.nodes;
    rest.index = a.spec.index;
    if (rest == a.spec && same_nodes(before, a.spec.nodes, after, b->spec.nodes)) continue;
    out.push_back({"PartitionName=" + a.spec.name, "Nodes=" + a.spec.nodes_text, "Nodes=" + b->spec.nodes_text, false});
  }
  for (const PartitionConfig& b : after.partitions)
    if (!find_partition(before, b.spec.name)) out.push_back({"PartitionName=" + b.spec.name, "", "Nodes=" + b.spec.nodes_text, false});
}

}  // namespace

std::vector<ConfigChange> diff(const Config& before, const Config& after) {
  std::vector<ConfigChange> out;
  diff_values(before, after, out);
  diff_nodes(before, after, out);
  diff_partitions(before, after, out);
  return out;
}

}  // namespace muster::config
