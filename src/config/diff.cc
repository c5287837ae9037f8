// What a reconfigure would change.
#include <algorithm>

#include "config/show_config.h"
#include "config/slurm_conf.h"

namespace muster::config {

namespace {

// The parts of a node that scheduling and the daemons depend on, as text to compare and to show.
std::string node_text(const NodeConfig& n) {
  const NodeTemplate& t = *n.line;
  std::string out = "CPUs=" + std::to_string(t.cpus) + " Boards=" + std::to_string(t.boards) + " Sockets=" + std::to_string(t.sockets) +
                    " CoresPerSocket=" + std::to_string(t.cores_per_socket) + " ThreadsPerCore=" + std::to_string(t.threads_per_core) +
                    " RealMemory=" + std::to_string(t.real_memory_mb) + " TmpDisk=" + std::to_string(t.tmp_disk_mb) +
                    " Weight=" + std::to_string(t.weight);
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += std::string(" ") + key + "=" + value;
  };
  std::string features;
  for (const std::string& f : t.features) features += (features.empty() ? "" : ",") + f;
  add("Features", features);
  add("Gres", t.gres_text);
  add("State", n.state());
  add("Reason", n.reason());
  add("CpuSpecList", t.cpu_spec_list);
  add("Parameters", t.parameters);
  add("Topology", t.topology);
  if (t.core_spec_count) out += " CoreSpecCount=" + std::to_string(t.core_spec_count);
  if (t.mem_spec_limit_mb) out += " MemSpecLimit=" + std::to_string(t.mem_spec_limit_mb);
  if (t.suspend_time_seconds) out += " SuspendTime=" + std::to_string(*t.suspend_time_seconds);
  if (t.suspend_never) out += " SuspendTime=INFINITE";
  add("NodeAddr", n.address());
  add("NodeHostName", n.hostname());
  add("BcastAddr", n.bcast_address);
  return out + " Port=" + std::to_string(n.port);
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
