#include "config/write_config.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "hostlist/hostlist.h"

namespace muster::config {
namespace {

std::string quoted(std::string_view value) {
  bool plain = value.find_first_of(" \t#\\") == std::string_view::npos;
  return plain ? std::string(value) : "\"" + std::string(value) + "\"";
}

// One line of Key=value pairs; the caller leaves out pairs that are the default.
class Written {
 public:
  explicit Written(std::string& out) : out_(out) {}
  ~Written() { out_ += '\n'; }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  Written& put(std::string_view key, std::string_view value) {
    if (!first_) out_ += ' ';
    first_ = false;
    out_ += std::string(key) + "=" + quoted(value);
    return *this;
  }
  Written& text(std::string_view key, std::string_view value) { return value.empty() ? *this : put(key, value); }
  Written& number(std::string_view key, uint64_t value, uint64_t usual) { return value == usual ? *this : put(key, std::to_string(value)); }
  Written& limit(std::string_view key, uint32_t value, uint32_t usual) {
    return value == usual ? *this : put(key, value == kUnlimited32 ? "UNLIMITED" : std::to_string(value));
  }
  template <class T>
  Written& optional(std::string_view key, const std::optional<T>& value) {
    return value ? put(key, *value == kUnlimited32 ? "UNLIMITED" : std::to_string(*value)) : *this;
  }
  Written& yes(std::string_view key, bool value) { return value ? put(key, "YES") : *this; }
  Written& words(std::string_view key, const std::vector<std::string>& list) { return text(key, join(list, ",")); }

 private:
  std::string& out_;
  bool first_ = true;
};

void write_globals(const Config& config, bool passwords, std::string& out) {
  for (const ConfigValue& value : config.values) {
    if (!value.given || value.row->alias_of) continue;
    if (value.row->secret && !passwords) {
      out += "# " + std::string(value.row->name) + " is set; its value is for root and SlurmUser\n";
      continue;
    }
    if (std::string_view(value.row->name) != "SlurmctldHost") {
      Written(out).put(value.row->name, value.text);
      continue;
    }
    for (const ControllerHost& h : config.slurmctld_hosts)
      Written(out).put(value.row->name, h.name == h.address ? h.name : h.name + "(" + h.address + ")");
  }
}

// ---- nodes: those that came from one line of the file are written as one line again
using Nodes = std::span<const NodeConfig>;

template <class Get>
void in_step(Written& line, std::string_view key, Nodes nodes, Get&& get) {
  std::vector<std::string> values;
  for (const NodeConfig& n : nodes) values.push_back(get(n));
  if (values.front().empty()) return;
  bool same = std::ranges::all_of(values, [&](const std::string& v) { return v == values.front(); });
  line.put(key, same ? values.front() : compress_hosts(values));
}

void write_ports(Written& line, Nodes nodes, uint16_t usual) {
  std::string ports;
  for (const NodeConfig& n : nodes) ports += (ports.empty() ? "" : ",") + std::to_string(n.port);
  bool same = std::ranges::all_of(nodes, [&](const NodeConfig& n) { return n.port == nodes.front().port; });
  if (!same) line.put("Port", ports);
  else if (nodes.front().port != usual) line.put("Port", std::to_string(nodes.front().port));
}

void write_node_line(const Config& config, Nodes nodes, std::string& out) {
  const NodeTemplate& spec = *nodes.front().line;
  std::vector<std::string> names;
  for (const NodeConfig& n : nodes) names.push_back(n.name);
  Written line(out);
  line.put("NodeName", compress_hosts(names));
  in_step(line, "NodeAddr", nodes, [](const NodeConfig& n) { return n.given_address; });
  in_step(line, "NodeHostname", nodes, [](const NodeConfig& n) { return n.given_hostname; });
  in_step(line, "BcastAddr", nodes, [](const NodeConfig& n) { return n.bcast_address; });
  write_ports(line, nodes, config.slurmd_port);
  if (spec.cpus_given) line.put("CPUs", std::to_string(spec.cpus));
  if (spec.topology_given) {
    line.number("Boards", spec.boards, 1).put("SocketsPerBoard", std::to_string(spec.sockets / std::max(1u, spec.boards)));
    line.put("CoresPerSocket", std::to_string(spec.cores_per_socket)).put("ThreadsPerCore", std::to_string(spec.threads_per_core));
  }
  line.number("RealMemory", spec.real_memory_mb, 1)
      .number("TmpDisk", spec.tmp_disk_mb, 0)
      .number("MemSpecLimit", spec.mem_spec_limit_mb, 0);
  line.number("Weight", spec.weight, 1).number("CoreSpecCount", spec.core_spec_count, 0);
  line.number("RestrictedCoresPerGPU", spec.restricted_cores_per_gpu, 0).text("CpuSpecList", spec.cpu_spec_list);
  line.words("Features", spec.features).text("Gres", spec.gres_text);
  if (spec.state != "UNKNOWN") line.put("State", spec.state);
  line.text("Reason", spec.reason).text("Parameters", spec.parameters).text("Topology", spec.topology);
  line.text("CpuBind", spec.cpu_bind.text()).text("TRESWeights", spec.tres_weights);
  if (spec.suspend_never) line.put("SuspendTime", "INFINITE");
  else line.optional("SuspendTime", spec.suspend_time_seconds);
}

template <class Same, class Write>
void in_groups(Nodes all, Same&& same, Write&& write) {
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    while (end < all.size() && same(all[i], all[end])) ++end;
    write(all.subspan(i, end - i));
    i = end;
  }
}

void write_nodes(const Config& config, std::string& out) {
  in_groups(
      config.nodes, [](const auto& a, const auto& b) { return a.line == b.line; },
      [&](Nodes nodes) { write_node_line(config, nodes, out); });
  in_groups(
      config.nodes, [](const auto& a, const auto& b) { return a.down == b.down; },
      [&](Nodes nodes) {
        if (!nodes.front().down) return;
        std::vector<std::string> names;
        for (const NodeConfig& n : nodes) names.push_back(n.name);
        Written(out)
            .put("DownNodes", compress_hosts(names))
            .put("State", nodes.front().down->first)
            .text("Reason", nodes.front().down->second);
      });
  for (const NodeSetConfig& s : config.node_sets)
    Written(out).put("NodeSet", s.name).text("Feature", s.feature).text("Nodes", s.nodes_text);
}

// ---- partitions
std::string oversubscribe_text(const Partition& p) {
  std::string count = ":" + std::to_string(p.oversubscribe_count);
  switch (p.oversubscribe) {
    case OverSubscribe::kNo: return "NO";
    case OverSubscribe::kExclusive: return "EXCLUSIVE";
    case OverSubscribe::kYes: return "YES" + count;
    case OverSubscribe::kForce: return "FORCE" + count;
  }
  return {};
}

void write_partition(const PartitionConfig& part, const Config& config, std::string& out) {
  const Partition& partition = part.spec;
  Written line(out);
  line.put("PartitionName", partition.name).text("Nodes", partition.nodes_text);
  line.yes("Default", partition.is_default).yes("Hidden", partition.hidden).yes("RootOnly", partition.root_only).yes("LLN", partition.lln);
  line.yes("ReqResv", partition.req_resv).yes("PowerDownOnIdle", partition.power_down_on_idle);
  if (partition.disable_root_jobs != config.disable_root_jobs) line.put("DisableRootJobs", partition.disable_root_jobs ? "YES" : "NO");
  if (partition.exclusive_user) line.put("Exclusive", "USER");
  if (partition.exclusive_topo) line.put("Exclusive", "TOPO");
  if (partition.oversubscribe != OverSubscribe::kNo) line.put("OverSubscribe", oversubscribe_text(partition));
  line.limit("MaxTime", partition.max_time_min, kUnlimited32).optional("DefaultTime", partition.default_time_min);
  line.number("MinNodes", partition.min_nodes, 0).limit("MaxNodes", partition.max_nodes, kUnlimited32);
  line.limit("MaxCPUsPerNode", partition.max_cpus_per_node, kUnlimited32)
      .limit("MaxCPUsPerSocket", partition.max_cpus_per_socket, kUnlimited32);
  line.limit("MaxCPUsPerUser", partition.max_cpus_per_user, kUnlimited32).number("GraceTime", partition.grace_time_seconds, 0);
  line.optional("DefMemPerCPU", partition.def_mem_per_cpu_mb).optional("DefMemPerNode", partition.def_mem_per_node_mb);
  line.optional("MaxMemPerCPU", partition.max_mem_per_cpu_mb).optional("MaxMemPerNode", partition.max_mem_per_node_mb);
  line.optional("DefCpuPerGPU", partition.def_cpu_per_gpu).optional("DefMemPerGPU", partition.def_mem_per_gpu_mb);
  line.optional("OverTimeLimit", partition.over_time_limit_min).optional("SuspendTime", partition.suspend_time_seconds);
  line.optional("ResumeTimeout", partition.resume_timeout_seconds).optional("SuspendTimeout", partition.suspend_timeout_seconds);
  line.number("PriorityTier", partition.priority_tier, 1).number("PriorityJobFactor", partition.priority_job_factor, 1);
  line.text("PreemptMode", partition.preempt_mode.text());
  line.words("AllowGroups", partition.allow_groups)
      .words("AllowAccounts", partition.allow_accounts)
      .words("DenyAccounts", partition.deny_accounts);
  line.words("AllowQos", partition.allow_qos).words("DenyQos", partition.deny_qos).words("AllocNodes", partition.alloc_nodes);
  line.text("QOS", partition.qos).text("Alternate", partition.alternate).text("TRESBillingWeights", partition.tres_billing_weights.text());
  line.text("SelectTypeParameters", partition.select_parameters.text())
      .text("Topology", partition.topology)
      .text("CpuBind", partition.cpu_bind.text());
  if (partition.state != PartitionState::kUp) line.put("State", partition_state_name(partition.state));
}

}  // namespace

std::string write_config(const LoadedConfig& loaded, Time now, bool passwords) {
  const Config& c = loaded.config;
  std::string out = "# Written by scontrol write config, " + format_time(now) + ", from " + c.path + "\n";
  write_globals(c, passwords, out);
  out += '\n';
  write_nodes(c, out);
  out += '\n';
  for (const PartitionConfig& p : c.partitions) write_partition(p, c, out);
  for (const PowerActionConfig& a : c.power_actions)
    Written(out).put("PowerAction", a.name).put("Program", a.program).text("Location", a.on_slurmd ? "slurmd" : "slurmctld");
  return out;
}

}  // namespace muster::config
