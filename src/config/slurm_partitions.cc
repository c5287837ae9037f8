// Reads NodeSet and PartitionName lines, and node lists that may name sets.
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
                     Findings& findings, ForeignNodes* foreign) {
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
      findings.error(pos, std::string(key), names.error().text);
      continue;
    }
    for (const std::string& name : *names) {
      if (std::optional<uint32_t> i = index.find(name)) out.set(*i);
      else if (const NodeSetConfig* set = find_set(config, name)) out |= set->nodes;
      else if (foreign) foreign->add(name, pos);
      else if (++unknown <= 3) unknown_node(name, pos, key, config, findings);
    }
  }
  if (unknown > 3) findings.error(pos, std::string(key), "names " + std::to_string(unknown - 3) + " more nodes that are not defined");
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

void build_node_sets(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings) {
  for (const Line* line : lines) {
    Record record(ConfFile::kSlurm, Section::kNodeSet);
    record.add(*line, findings);
    NodeSetConfig set;
    set.where = record.where();
    set.name = record.text("NodeSet");
    set.feature = record.text("Feature");
    set.nodes_text = record.text("Nodes");
    if (set.name.empty()) {
      findings.error(record.pos("NodeSet"), "NodeSet", "has no value");
      continue;
    }
    if (index.find(set.name))
      findings.odd(record.pos("NodeSet"), "NodeSet", set.name + " is also the name of a node", "where nodes are named it is the set");
    if (const NodeSetConfig* other = find_set(config, set.name))
      findings.error(record.pos("NodeSet"), "NodeSet", set.name + " is already defined at " + other->where.text());
    ForeignNodes foreign;
    set.nodes = resolve_nodes(without_unit_functions(set.nodes_text), record.pos("Nodes"), "Nodes", config, index, findings, &foreign);
    foreign.tell("Nodes", findings);
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

void read_oversubscribe(const Record& record, Partition& partition, Findings& findings) {
  std::string_view text = record.text("OverSubscribe");
  size_t colon = text.find(':');
  std::string_view word = text.substr(0, colon);
  if (iequals(word, "NO")) partition.oversubscribe = OverSubscribe::kNo;
  else if (iequals(word, "YES")) partition.oversubscribe = OverSubscribe::kYes;
  else if (iequals(word, "FORCE")) partition.oversubscribe = OverSubscribe::kForce;
  else if (iequals(word, "EXCLUSIVE")) partition.oversubscribe = OverSubscribe::kExclusive;
  else if (!text.empty()) findings.error(record.pos("OverSubscribe"), "OverSubscribe", "must be NO, YES[:n], FORCE[:n] or EXCLUSIVE");
  if (colon != std::string_view::npos) {
    std::optional<uint32_t> n = parse_number<uint32_t>(text.substr(colon + 1), 1, 32767);
    if (n) {
      partition.oversubscribe_count = *n;
    } else {
      findings.odd(record.pos("OverSubscribe"), "OverSubscribe", "the count behind the colon must be from 1 to 32767", "NO is taken");
      partition.oversubscribe = OverSubscribe::kNo;
    }
  }
  std::string_view exclusive = record.text("Exclusive");
  if (iequals(exclusive, "NODE")) partition.oversubscribe = OverSubscribe::kExclusive;
  partition.exclusive_topo = iequals(exclusive, "TOPO") || (exclusive.empty() && record.yes("ExclusiveTopo"));
  partition.exclusive_user = iequals(exclusive, "USER") || (exclusive.empty() && record.yes("ExclusiveUser") && !partition.exclusive_topo);
  if (partition.exclusive_topo) partition.oversubscribe = OverSubscribe::kNo;
}

void read_limits(const Record& record, const Config& config, Partition& partition) {
  partition.max_time_min = minutes_of(record, "MaxTime").value_or(kUnlimited32);
  partition.default_time_min = minutes_of(record, "DefaultTime");
  partition.min_nodes = static_cast<uint32_t>(record.number("MinNodes").value_or(0));
  partition.max_nodes = limit_of(record, "MaxNodes");
  partition.max_cpus_per_node = limit_of(record, "MaxCPUsPerNode");
  partition.max_cpus_per_socket = limit_of(record, "MaxCPUsPerSocket");
  partition.max_cpus_per_user = limit_of(record, "MaxCPUsPerUser");
  partition.grace_time_seconds = static_cast<uint32_t>(record.number("GraceTime").value_or(0));
  partition.def_mem_per_cpu_mb = record.mem_mb("DefMemPerCPU");
  partition.def_mem_per_gpu_mb = record.mem_mb("DefMemPerGPU");
  partition.def_mem_per_node_mb = record.mem_mb("DefMemPerNode");
  partition.max_mem_per_cpu_mb = record.mem_mb("MaxMemPerCPU");
  partition.max_mem_per_node_mb = record.mem_mb("MaxMemPerNode");
  if (std::optional<int64_t> n = record.number("DefCpuPerGPU")) partition.def_cpu_per_gpu = static_cast<uint32_t>(*n);
  partition.over_time_limit_min = seconds_of(record, "OverTimeLimit");
  partition.suspend_time_seconds = seconds_of(record, "SuspendTime");
  partition.resume_timeout_seconds = seconds_of(record, "ResumeTimeout");
  partition.suspend_timeout_seconds = seconds_of(record, "SuspendTimeout");
  partition.disable_root_jobs = record.text("DisableRootJobs").empty() ? config.disable_root_jobs : record.yes("DisableRootJobs");
}

// JobDefaults= holds DefCpuPerGPU and DefMemPerGPU, which also have keys of their own.
void read_job_defaults(const Record& record, Partition& partition, Findings& findings) {
  OptionList list = OptionList::parse(record.text("JobDefaults"));
  for (const auto& [name, value] : list.items()) {
    std::optional<uint64_t> v = parse_number<uint64_t>(value, 0, UINT32_MAX);
    if (v && iequals(name, "DefCpuPerGPU")) partition.def_cpu_per_gpu = static_cast<uint32_t>(*v);
    else if (v && iequals(name, "DefMemPerGPU")) partition.def_mem_per_gpu_mb = *v;
    else findings.error(record.pos("JobDefaults"), "JobDefaults", "\"" + name + "\" must be DefCpuPerGPU=number or DefMemPerGPU=number");
  }
  std::string out;
  if (partition.def_cpu_per_gpu) out = "DefCpuPerGPU=" + std::to_string(*partition.def_cpu_per_gpu);
  if (partition.def_mem_per_gpu_mb) out += (out.empty() ? "" : ",") + ("DefMemPerGPU=" + std::to_string(*partition.def_mem_per_gpu_mb));
  partition.job_defaults = out;
}

PartitionConfig make_partition(const Record& record, const Config& config, const NodeIndex& index, Findings& findings) {
  PartitionConfig out;
  out.where = record.where();
  Partition& partition = out.spec;
  partition.index = static_cast<uint32_t>(config.partitions.size());
  partition.name = record.text("PartitionName");
  partition.nodes_text = record.text("Nodes");
  partition.nodes = resolve_nodes(without_unit_functions(partition.nodes_text), record.pos("Nodes"), "Nodes", config, index, findings);
  std::string_view state = record.text("State");
  partition.state = iequals(state, "DOWN")       ? PartitionState::kDown
                    : iequals(state, "DRAIN")    ? PartitionState::kDrain
                    : iequals(state, "INACTIVE") ? PartitionState::kInactive
                                                 : PartitionState::kUp;
  partition.is_default = record.yes("Default");
  partition.hidden = record.yes("Hidden");
  partition.root_only = record.yes("RootOnly");
  partition.lln = record.yes("LLN");
  partition.req_resv = record.yes("ReqResv");
  partition.power_down_on_idle = record.yes("PowerDownOnIdle");
  read_limits(record, config, partition);
  if (partition.default_time_min && partition.max_time_min != kUnlimited32 && *partition.default_time_min > partition.max_time_min) {
    findings.odd(record.pos("DefaultTime"), "DefaultTime", "must not exceed MaxTime", "jobs that give no limit get MaxTime");
    partition.default_time_min.reset();
  }
  read_job_defaults(record, partition, findings);
  read_oversubscribe(record, partition, findings);
  uint32_t both = static_cast<uint32_t>(record.number("Priority").value_or(1));
  partition.priority_tier = record.has("PriorityTier") ? limit_of(record, "PriorityTier") : both;
  partition.priority_job_factor = record.has("PriorityJobFactor") ? limit_of(record, "PriorityJobFactor") : both;
  partition.preempt_mode = std::string(record.text("PreemptMode"));
  out.preempt_mode_given = !partition.preempt_mode.empty();
  out.preempt_modes = out.preempt_mode_given ? partition.preempt_mode.value() : config.preempt_modes;
  partition.allow_groups = words(record.text("AllowGroups"));
  partition.allow_accounts = words(record.text("AllowAccounts"));
  partition.deny_accounts = words(record.text("DenyAccounts"));
  partition.allow_qos = words(record.text("AllowQos"));
  partition.deny_qos = words(record.text("DenyQos"));
  if (!iequals(record.text("AllocNodes"), "ALL"))
    if (auto names = expand_hosts(record.text("AllocNodes"))) partition.alloc_nodes = std::move(*names);
  partition.qos = record.text("QOS");
  partition.alternate = record.text("Alternate");
  partition.tres_billing_weights = BillingText(std::string(record.text("TRESBillingWeights")));
  check_weights(record, "TRESBillingWeights", config, findings);
  partition.select_parameters = std::string(record.text("SelectTypeParameters"));
  partition.topology = record.text("Topology");
  partition.cpu_bind = std::string(record.text("CpuBind"));
  return out;
}

void check_partition(const Record& record, const PartitionConfig& part, const Config& config, Findings& findings) {
  const Partition& partition = part.spec;
  for (const PartitionConfig& other : config.partitions) {
    if (other.spec.name == partition.name)
      findings.error(record.pos("PartitionName"), "PartitionName", partition.name + " is already defined at " + other.where.text());
    if (other.spec.is_default && partition.is_default)
      findings.odd(record.pos("Default"), "Default", partition.name + " and " + other.spec.name + " are both the default partition",
                   partition.name + " is, the last one", "keep Default=YES on one of them");
  }
  if (partition.name.find_first_of(", ") != std::string::npos)
    findings.error(record.pos("PartitionName"), "PartitionName", "must be one name");
  if (partition.min_nodes > partition.max_nodes)
    findings.odd(record.pos("MinNodes"), "MinNodes", "must not exceed MaxNodes", "no job fits partition " + partition.name);
  if (partition.max_cpus_per_user != kUnlimited32)
    findings.notice(record.pos("MaxCPUsPerUser"), "MaxCPUsPerUser",
                    "is a key of a QOS (MaxTRESPerUser=cpu=" + std::to_string(partition.max_cpus_per_user) +
                        "), not of a partition line, and Slurm refuses it here; Muster holds each user to it in the "
                        "partition " +
                        partition.name,
                    "for both: sacctmgr add qos " + partition.name + " MaxTRESPerUser=cpu=" + std::to_string(partition.max_cpus_per_user) +
                        ", and QOS=" + partition.name + " on this line");
  if (!record.has("Nodes")) findings.notice(record.where(), "Nodes", "partition " + partition.name + " has no nodes");
  if (part.preempt_mode_given && part.preempt_modes.how != PreemptModes::How::kOff && config.preempt_type != "preempt/partition_prio")
    findings.notice(record.pos("PreemptMode"), "PreemptMode", "has an effect only with PreemptType=preempt/partition_prio");
}

}  // namespace

void build_partitions(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings) {
  Record defaults(ConfFile::kSlurm, Section::kPartition);
  for (const Line* line : lines) {
    const KeyValue* name = line->find("PartitionName");
    if (name && iequals(name->value, "DEFAULT")) {
      defaults.add(*line, findings);
      continue;
    }
    Record r = defaults;
    r.add(*line, findings);
    if (r.text("PartitionName").empty()) {
      findings.error(r.pos("PartitionName"), "PartitionName", "has no value");
      continue;
    }
    PartitionConfig part = make_partition(r, config, index, findings);
    check_partition(r, part, config, findings);
    if (part.spec.is_default)
      for (PartitionConfig& before : config.partitions) before.spec.is_default = false;
    config.partitions.push_back(std::move(part));
  }
  for (const PartitionConfig& part : config.partitions) {
    const std::string& other = part.spec.alternate;
    bool known = other.empty() || std::any_of(config.partitions.begin(), config.partitions.end(),
                                              [&](const PartitionConfig& p) { return p.spec.name == other; });
    if (!known)
      findings.odd(part.where, "Alternate", "\"" + other + "\" is not a partition",
                   "jobs of " + part.spec.name + " have nowhere to go while it is DRAIN or INACTIVE");
  }
}

}  // namespace muster::config
