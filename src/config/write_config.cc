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

void write_globals(const Config& c, bool passwords, std::string& out) {
  for (const ConfigValue& v : c.values) {
    if (!v.given || v.row->alias_of) continue;
    if (v.row->secret && !passwords) {
      out += "# " + std::string(v.row->name) + " is set; its value is for root and SlurmUser\n";
      continue;
    }
    if (std::string_view(v.row->name) != "SlurmctldHost") {
      Written(out).put(v.row->name, v.text);
      continue;
    }
    for (const ControllerHost& h : c.slurmctld_hosts)
      Written(out).put(v.row->name, h.name == h.address ? h.name : h.name + "(" + h.address + ")");
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

void write_node_line(const Config& c, Nodes nodes, std::string& out) {
  const NodeTemplate& t = *nodes.front().line;
  std::vector<std::string> names;
  for (const NodeConfig& n : nodes) names.push_back(n.name);
  Written line(out);
  line.put("NodeName", compress_hosts(names));
  in_step(line, "NodeAddr", nodes, [](const NodeConfig& n) { return n.given_address; });
  in_step(line, "NodeHostname", nodes, [](const NodeConfig& n) { return n.given_hostname; });
  in_step(line, "BcastAddr", nodes, [](const NodeConfig& n) { return n.bcast_address; });
  write_ports(line, nodes, c.slurmd_port);
  if (t.cpus_given) line.put("CPUs", std::to_string(t.cpus));
  if (t.topology_given) {
    line.number("Boards", t.boards, 1).put("SocketsPerBoard", std::to_string(t.sockets / std::max(1u, t.boards)));
    line.put("CoresPerSocket", std::to_string(t.cores_per_socket)).put("ThreadsPerCore", std::to_string(t.threads_per_core));
  }
  line.number("RealMemory", t.real_memory_mb, 1).number("TmpDisk", t.tmp_disk_mb, 0).number("MemSpecLimit", t.mem_spec_limit_mb, 0);
  line.number("Weight", t.weight, 1).number("CoreSpecCount", t.core_spec_count, 0);
  line.number("RestrictedCoresPerGPU", t.restricted_cores_per_gpu, 0).text("CpuSpecList", t.cpu_spec_list);
  line.words("Features", t.features).text("Gres", t.gres_text);
  if (t.state != "UNKNOWN") line.put("State", t.state);
  line.text("Reason", t.reason).text("Parameters", t.parameters).text("Topology", t.topology);
  line.text("CpuBind", t.cpu_bind.text()).text("TRESWeights", t.tres_weights);
  if (t.suspend_never) line.put("SuspendTime", "INFINITE");
  else line.optional("SuspendTime", t.suspend_time_seconds);
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

void write_nodes(const Config& c, std::string& out) {
  in_groups(
      c.nodes, [](const auto& a, const auto& b) { return a.line == b.line; }, [&](Nodes nodes) { write_node_line(c, nodes, out); });
  in_groups(
      c.nodes, [](const auto& a, const auto& b) { return a.down == b.down; },
      [&](Nodes nodes) {
        if (!nodes.front().down) return;
        std::vector<std::string> names;
        for (const NodeConfig& n : nodes) names.push_back(n.name);
        Written(out)
            .put("DownNodes", compress_hosts(names))
            .put("State", nodes.front().down->first)
            .text("Reason", nodes.front().down->second);
      });
  for (const NodeSetConfig& s : c.node_sets) Written(out).put("NodeSet", s.name).text("Feature", s.feature).text("Nodes", s.nodes_text);
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

void write_partition(const PartitionConfig& part, const Config& c, std::string& out) {
  const Partition& p = part.spec;
  Written line(out);
  line.put("PartitionName", p.name).text("Nodes", p.nodes_text);
  line.yes("Default", p.is_default).yes("Hidden", p.hidden).yes("RootOnly", p.root_only).yes("LLN", p.lln);
  line.yes("ReqResv", p.req_resv).yes("PowerDownOnIdle", p.power_down_on_idle);
  if (p.disable_root_jobs != c.disable_root_jobs) line.put("DisableRootJobs", p.disable_root_jobs ? "YES" : "NO");
  if (p.exclusive_user) line.put("Exclusive", "USER");
  if (p.exclusive_topo) line.put("Exclusive", "TOPO");
  if (p.oversubscribe != OverSubscribe::kNo) line.put("OverSubscribe", oversubscribe_text(p));
  line.limit("MaxTime", p.max_time_min, kUnlimited32).optional("DefaultTime", p.default_time_min);
  line.number("MinNodes", p.min_nodes, 0).limit("MaxNodes", p.max_nodes, kUnlimited32);
  line.limit("MaxCPUsPerNode", p.max_cpus_per_node, kUnlimited32).limit("MaxCPUsPerSocket", p.max_cpus_per_socket, kUnlimited32);
  line.limit("MaxCPUsPerUser", p.max_cpus_per_user, kUnlimited32).number("GraceTime", p.grace_time_seconds, 0);
  line.optional("DefMemPerCPU", p.def_mem_per_cpu_mb).optional("DefMemPerNode", p.def_mem_per_node_mb);
  line.optional("MaxMemPerCPU", p.max_mem_per_cpu_mb).optional("MaxMemPerNode", p.max_mem_per_node_mb);
  line.optional("DefCpuPerGPU", p.def_cpu_per_gpu).optional("DefMemPerGPU", p.def_mem_per_gpu_mb);
  line.optional("OverTimeLimit", p.over_time_limit_min).optional("SuspendTime", p.suspend_time_seconds);
  line.optional("ResumeTimeout", p.resume_timeout_seconds).optional("SuspendTimeout", p.suspend_timeout_seconds);
  line.number("PriorityTier", p.priority_tier, 1).number("PriorityJobFactor", p.priority_job_factor, 1);
  line.text("PreemptMode", p.preempt_mode.text());
  line.words("AllowGroups", p.allow_groups).words("AllowAccounts", p.allow_accounts).words("DenyAccounts", p.deny_accounts);
  line.words("AllowQos", p.allow_qos).words("DenyQos", p.deny_qos).words("AllocNodes", p.alloc_nodes);
  line.text("QOS", p.qos).text("Alternate", p.alternate).text("TRESBillingWeights", p.tres_billing_weights.text());
  line.text("SelectTypeParameters", p.select_parameters.text()).text("Topology", p.topology).text("CpuBind", p.cpu_bind.text());
  if (p.state != PartitionState::kUp) line.put("State", partition_state_name(p.state));
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
    Written(out).put("PowerAction", a.name).put("Program", a.program).text("Location", a.on_slurmd ? "slurmd" : "");
  return out;
}

}  // namespace muster::config
