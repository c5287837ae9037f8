// Reads NodeSet, PartitionName and PowerAction lines, and node lists that may name sets.
#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "config/slurm_build.h"
#include "config/tres_weights.h"

namespace muster::config {

namespace {

const NodeSetConfig* find_set(const Config& config, std::string_view name) {
  for (const NodeSetConfig& s : config.node_sets)
    if (s.name == name) return &s;
  return nullptr;
}

void add_feature(const Config& config, std::string_view feature, Bitmap& out) {
  for (size_t i = 0; i < config.nodes.size(); ++i)
    for (const std::string& have : config.nodes[i].line->features)
      if (have == feature) out.set(i);
}

void unknown_node(std::string_view name, const SourcePos& pos, std::string_view key, const Config& config, Findings& f) {
  std::vector<std::string_view> names;
  for (const NodeConfig& n : config.nodes) {
    names.push_back(n.name);
    if (names.size() == 4096) break;  // enough for a good guess
  }
  for (const NodeSetConfig& s : config.node_sets) names.push_back(s.name);
  std::string_view near = did_you_mean(name, names);
  f.error(pos, std::string(key), "\"" + std::string(name.substr(0, 80)) + "\" is neither a node nor a node set",
          near.empty() ? std::string() : "did you mean " + std::string(near) + "?");
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  if (iequals(text, "ALL")) return out;
  for (std::string_view w : split(text, ',')) out.emplace_back(trim(w));
  return out;
}

}  // namespace

Bitmap resolve_nodes(std::string_view text, const SourcePos& pos, std::string_view key, const Config& config, const NodeIndex& index,
                     Findings& f, ForeignNodes* foreign) {
  Bitmap out(config.nodes.size());
  size_t unknown = 0;
  for (std::string_view piece : split_outside_brackets(text)) {
    piece = trim(piece);
    if (piece.empty()) continue;
    if (iequals(piece, "ALL")) {
      out.set_range(0, config.nodes.size());
      continue;
    }
    if (istarts_with(piece, "feature{") && piece.ends_with('}')) {
      add_feature(config, piece.substr(8, piece.size() - 9), out);
      continue;
    }
    if (const NodeSetConfig* set = find_set(config, piece)) {
      out |= set->nodes;
      continue;
    }
    Result<std::vector<std::string>> names = expand_hosts(piece);
    if (!names) {
      f.error(pos, std::string(key), names.error().text);
      continue;
    }
    for (const std::string& name : *names) {
      if (std::optional<uint32_t> i = index.find(name)) out.set(*i);
      else if (const NodeSetConfig* set = find_set(config, name)) out |= set->nodes;
      else if (foreign) foreign->add(name, pos);
      else if (++unknown <= 3) unknown_node(name, pos, key, config, f);
    }
  }
  if (unknown > 3) f.error(pos, std::string(key), "names " + std::to_string(unknown - 3) + " more nodes that are not defined");
  return out;
}

bool means_node(const Config& config, std::string_view nodes, const NodeSpec& node) {
  auto has_feature = [&](std::string_view feature) {
    return !feature.empty() && std::ranges::find(node.features, feature) != node.features.end();
  };
  for (std::string_view piece : split_outside_brackets(nodes)) {
    piece = trim(piece);
    if (iequals(piece, "ALL")) return true;
    if (istarts_with(piece, "feature{") && piece.ends_with('}')) {
      if (has_feature(piece.substr(8, piece.size() - 9))) return true;
      continue;
    }
    const NodeSetConfig* set = find_set(config, piece);
    if (set && has_feature(set->feature)) return true;
    auto names = expand_hosts(without_unit_functions(set ? std::string_view(set->nodes_text) : piece));
    if (names && std::ranges::find(*names, node.name) != names->end()) return true;
  }
  return false;
}

void build_node_sets(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& f) {
  for (const Line* line : lines) {
    Record r(ConfFile::kSlurm, Section::kNodeSet);
    r.add(*line, f);
    NodeSetConfig set;
    set.where = r.where();
    set.name = r.text("NodeSet");
    set.feature = r.text("Feature");
    set.nodes_text = r.text("Nodes");
    if (set.name.empty()) {
      f.error(r.pos("NodeSet"), "NodeSet", "has no value");
      continue;
    }
    if (index.find(set.name))
      f.odd(r.pos("NodeSet"), "NodeSet", set.name + " is also the name of a node", "where nodes are named it is the set");
    if (const NodeSetConfig* other = find_set(config, set.name))
      f.error(r.pos("NodeSet"), "NodeSet", set.name + " is already defined at " + other->where.text());
    ForeignNodes foreign;
    set.nodes = resolve_nodes(without_unit_functions(set.nodes_text), r.pos("Nodes"), "Nodes", config, index, f, &foreign);
    foreign.tell("Nodes", f);
    if (!set.feature.empty()) add_feature(config, set.feature, set.nodes);
    config.node_sets.push_back(std::move(set));
  }
}

void check_weights(const Record& r, std::string_view key, const Config& config, Findings& f) {
  auto idle = check_tres_weights(r.text(key), config.accounting_storage_tres);
  if (!idle) return f.error(r.pos(key), std::string(key), idle.error().text, idle.error().hint);
  if (!idle->empty())
    f.odd(r.pos(key), std::string(key), join(*idle, ", ") + " is not in AccountingStorageTRES", "it counts nothing in the bill",
          "write AccountingStorageTRES=" + join(*idle, ","));
}

namespace {

std::optional<uint32_t> minutes_of(const Record& r,
                                   std::string_view key) {  // nullopt: unset; kUnlimited32: infinite
  std::string_view text = r.text(key);
  if (text.empty()) return std::nullopt;
  std::optional<int64_t> s = parse_span_seconds(text);
  if (!s) return std::nullopt;
  return *s < 0 ? kUnlimited32 : static_cast<uint32_t>((*s + 59) / 60);
}

uint32_t limit_of(const Record& r, std::string_view key) {
  std::optional<int64_t> v = r.number(key);
  return !v || *v < 0 ? kUnlimited32 : static_cast<uint32_t>(*v);
}

std::optional<uint32_t> seconds_of(const Record& r, std::string_view key) {
  std::optional<int64_t> v = r.number(key);
  if (!v) return std::nullopt;
  return *v < 0 ? kUnlimited32 : static_cast<uint32_t>(*v);
}

void read_oversubscribe(const Record& r, Partition& p, Findings& f) {
  std::string_view text = r.text("OverSubscribe");
  size_t colon = text.find(':');
  std::string_view word = text.substr(0, colon);
  if (iequals(word, "NO")) p.oversubscribe = OverSubscribe::kNo;
  else if (iequals(word, "YES")) p.oversubscribe = OverSubscribe::kYes;
  else if (iequals(word, "FORCE")) p.oversubscribe = OverSubscribe::kForce;
  else if (iequals(word, "EXCLUSIVE")) p.oversubscribe = OverSubscribe::kExclusive;
  else if (!text.empty()) f.error(r.pos("OverSubscribe"), "OverSubscribe", "must be NO, YES[:n], FORCE[:n] or EXCLUSIVE");
  if (colon != std::string_view::npos) {
    std::optional<uint32_t> n = parse_number<uint32_t>(text.substr(colon + 1), 1, 32767);
    if (n) {
      p.oversubscribe_count = *n;
    } else {
      f.odd(r.pos("OverSubscribe"), "OverSubscribe", "the count behind the colon must be from 1 to 32767", "NO is taken");
      p.oversubscribe = OverSubscribe::kNo;
    }
  }
  std::string_view exclusive = r.text("Exclusive");
  if (iequals(exclusive, "NODE")) p.oversubscribe = OverSubscribe::kExclusive;
  p.exclusive_topo = iequals(exclusive, "TOPO") || (exclusive.empty() && r.yes("ExclusiveTopo"));
  p.exclusive_user = iequals(exclusive, "USER") || (exclusive.empty() && r.yes("ExclusiveUser") && !p.exclusive_topo);
  if (p.exclusive_topo) p.oversubscribe = OverSubscribe::kNo;
}

void read_limits(const Record& r, const Config& c, Partition& p) {
  p.max_time_min = minutes_of(r, "MaxTime").value_or(kUnlimited32);
  p.default_time_min = minutes_of(r, "DefaultTime");
  p.min_nodes = static_cast<uint32_t>(r.number("MinNodes").value_or(0));
  p.max_nodes = limit_of(r, "MaxNodes");
  p.max_cpus_per_node = limit_of(r, "MaxCPUsPerNode");
  p.max_cpus_per_socket = limit_of(r, "MaxCPUsPerSocket");
  p.max_cpus_per_user = limit_of(r, "MaxCPUsPerUser");
  p.grace_time_seconds = static_cast<uint32_t>(r.number("GraceTime").value_or(0));
  p.def_mem_per_cpu_mb = r.mem_mb("DefMemPerCPU");
  p.def_mem_per_gpu_mb = r.mem_mb("DefMemPerGPU");
  p.def_mem_per_node_mb = r.mem_mb("DefMemPerNode");
  p.max_mem_per_cpu_mb = r.mem_mb("MaxMemPerCPU");
  p.max_mem_per_node_mb = r.mem_mb("MaxMemPerNode");
  if (std::optional<int64_t> n = r.number("DefCpuPerGPU")) p.def_cpu_per_gpu = static_cast<uint32_t>(*n);
  p.over_time_limit_min = seconds_of(r, "OverTimeLimit");
  p.suspend_time_seconds = seconds_of(r, "SuspendTime");
  p.resume_timeout_seconds = seconds_of(r, "ResumeTimeout");
  p.suspend_timeout_seconds = seconds_of(r, "SuspendTimeout");
  p.disable_root_jobs = r.text("DisableRootJobs").empty() ? c.disable_root_jobs : r.yes("DisableRootJobs");
}

// JobDefaults= holds DefCpuPerGPU and DefMemPerGPU, which also have keys of their own.
void read_job_defaults(const Record& r, Partition& p, Findings& f) {
  OptionList list = OptionList::parse(r.text("JobDefaults"));
  for (const auto& [name, value] : list.items()) {
    std::optional<uint64_t> v = parse_number<uint64_t>(value, 0, UINT32_MAX);
    if (v && iequals(name, "DefCpuPerGPU")) p.def_cpu_per_gpu = static_cast<uint32_t>(*v);
    else if (v && iequals(name, "DefMemPerGPU")) p.def_mem_per_gpu_mb = *v;
    else f.error(r.pos("JobDefaults"), "JobDefaults", "\"" + name + "\" must be DefCpuPerGPU=number or DefMemPerGPU=number");
  }
  std::string out;
  if (p.def_cpu_per_gpu) out = "DefCpuPerGPU=" + std::to_string(*p.def_cpu_per_gpu);
  if (p.def_mem_per_gpu_mb) out += (out.empty() ? "" : ",") + ("DefMemPerGPU=" + std::to_string(*p.def_mem_per_gpu_mb));
  p.job_defaults = out;
}

PartitionConfig make_partition(const Record& r, const Config& c, const NodeIndex& index, Findings& f) {
  PartitionConfig out;
  out.where = r.where();
  Partition& p = out.spec;
  p.index = static_cast<uint32_t>(c.partitions.size());
  p.name = r.text("PartitionName");
  p.nodes_text = r.text("Nodes");
  p.nodes = resolve_nodes(without_unit_functions(p.nodes_text), r.pos("Nodes"), "Nodes", c, index, f);
  std::string_view state = r.text("State");
  p.state = iequals(state, "DOWN")       ? PartitionState::kDown
            : iequals(state, "DRAIN")    ? PartitionState::kDrain
            : iequals(state, "INACTIVE") ? PartitionState::kInactive
                                         : PartitionState::kUp;
  p.is_default = r.yes("Default");
  p.hidden = r.yes("Hidden");
  p.root_only = r.yes("RootOnly");
  p.lln = r.yes("LLN");
  p.req_resv = r.yes("ReqResv");
  p.power_down_on_idle = r.yes("PowerDownOnIdle");
  read_limits(r, c, p);
  if (p.default_time_min && p.max_time_min != kUnlimited32 && *p.default_time_min > p.max_time_min) {
    f.odd(r.pos("DefaultTime"), "DefaultTime", "must not exceed MaxTime", "jobs that give no limit get MaxTime");
    p.default_time_min.reset();
  }
  read_job_defaults(r, p, f);
  read_oversubscribe(r, p, f);
  uint32_t both = static_cast<uint32_t>(r.number("Priority").value_or(1));
  p.priority_tier = r.has("PriorityTier") ? limit_of(r, "PriorityTier") : both;
  p.priority_job_factor = r.has("PriorityJobFactor") ? limit_of(r, "PriorityJobFactor") : both;
  p.preempt_mode = std::string(r.text("PreemptMode"));
  out.preempt_mode_given = !p.preempt_mode.empty();
  out.preempt_modes = out.preempt_mode_given ? p.preempt_mode.value() : c.preempt_modes;
  p.allow_groups = words(r.text("AllowGroups"));
  p.allow_accounts = words(r.text("AllowAccounts"));
  p.deny_accounts = words(r.text("DenyAccounts"));
  p.allow_qos = words(r.text("AllowQos"));
  p.deny_qos = words(r.text("DenyQos"));
  if (!iequals(r.text("AllocNodes"), "ALL"))
    if (auto names = expand_hosts(r.text("AllocNodes"))) p.alloc_nodes = std::move(*names);
  p.qos = r.text("QOS");
  p.alternate = r.text("Alternate");
  p.tres_billing_weights = BillingText(std::string(r.text("TRESBillingWeights")));
  check_weights(r, "TRESBillingWeights", c, f);
  p.select_parameters = std::string(r.text("SelectTypeParameters"));
  p.topology = r.text("Topology");
  p.cpu_bind = std::string(r.text("CpuBind"));
  return out;
}

void check_partition(const Record& r, const PartitionConfig& part, const Config& c, Findings& f) {
  const Partition& p = part.spec;
  for (const PartitionConfig& other : c.partitions) {
    if (other.spec.name == p.name)
      f.error(r.pos("PartitionName"), "PartitionName", p.name + " is already defined at " + other.where.text());
    if (other.spec.is_default && p.is_default)
      f.odd(r.pos("Default"), "Default", p.name + " and " + other.spec.name + " are both the default partition",
            p.name + " is, the last one", "keep Default=YES on one of them");
  }
  if (p.name.find_first_of(", ") != std::string::npos) f.error(r.pos("PartitionName"), "PartitionName", "must be one name");
  if (p.min_nodes > p.max_nodes) f.odd(r.pos("MinNodes"), "MinNodes", "must not exceed MaxNodes", "no job fits partition " + p.name);
  if (p.max_cpus_per_user != kUnlimited32)
    f.notice(r.pos("MaxCPUsPerUser"), "MaxCPUsPerUser",
             "is a key of a QOS (MaxTRESPerUser=cpu=" + std::to_string(p.max_cpus_per_user) +
                 "), not of a partition line, and Slurm refuses it here; Muster holds each user to it in the "
                 "partition " +
                 p.name,
             "for both: sacctmgr add qos " + p.name + " MaxTRESPerUser=cpu=" + std::to_string(p.max_cpus_per_user) + ", and QOS=" + p.name +
                 " on this line");
  if (!r.has("Nodes")) f.notice(r.where(), "Nodes", "partition " + p.name + " has no nodes");
  if (part.preempt_mode_given && part.preempt_modes.how != PreemptModes::How::kOff && c.preempt_type != "preempt/partition_prio")
    f.notice(r.pos("PreemptMode"), "PreemptMode", "has an effect only with PreemptType=preempt/partition_prio");
}

}  // namespace

void build_partitions(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& f) {
  Record defaults(ConfFile::kSlurm, Section::kPartition);
  for (const Line* line : lines) {
    const KeyValue* name = line->find("PartitionName");
    if (name && iequals(name->value, "DEFAULT")) {
      defaults.add(*line, f);
      continue;
    }
    Record r = defaults;
    r.add(*line, f);
    if (r.text("PartitionName").empty()) {
      f.error(r.pos("PartitionName"), "PartitionName", "has no value");
      continue;
    }
    PartitionConfig part = make_partition(r, config, index, f);
    check_partition(r, part, config, f);
    if (part.spec.is_default)
      for (PartitionConfig& before : config.partitions) before.spec.is_default = false;
    config.partitions.push_back(std::move(part));
  }
  for (const PartitionConfig& part : config.partitions) {
    const std::string& other = part.spec.alternate;
    bool known = other.empty() || std::any_of(config.partitions.begin(), config.partitions.end(),
                                              [&](const PartitionConfig& p) { return p.spec.name == other; });
    if (!known)
      f.odd(part.where, "Alternate", "\"" + other + "\" is not a partition",
            "jobs of " + part.spec.name + " have nowhere to go while it is DRAIN or INACTIVE");
  }
}

void build_power_actions(const std::vector<const Line*>& lines, Config& config, Findings& f) {
  for (const Line* line : lines) {
    Record r(ConfFile::kSlurm, Section::kPowerAction);
    r.add(*line, f);
    PowerActionConfig action;
    action.where = r.where();
    action.name = r.text("PowerAction");
    action.program = r.text("Program");
    action.on_slurmd = iequals(r.text("Location"), "slurmd");
    if (action.name.empty() || action.program.empty()) {
      f.odd(r.where(), "PowerAction", "needs a name and a Program=", "the line is left out");
      continue;
    }
    config.power_actions.push_back(std::move(action));
  }
}

}  // namespace muster::config
