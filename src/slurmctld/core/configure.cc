// From the state as it is to what slurm.conf says: nodes and partitions defined, changed, removed. Run at start and at
// reconfigure; the events make a replay independent of the files. Also scontrol create/update/delete partition.
#include <algorithm>

#include "base/text.h"
#include "config/gres_conf.h"
#include "hostlist/hostlist.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

NodeSpec spec_of(const View& v, uint32_t index) {
  const config::Config& c = v.settings.config();
  NodeSpec spec = config::to_node_spec(c.nodes[index]);
  spec.gres = config::devices_of(v.settings.loaded->gres, c, index);
  return spec;
}

// The admin state and flags that State= of a NodeName line means for a node not seen before.
event::NodeStateChanged initial_state(const View& v, NodeId id, const NodeSpec& spec) {
  event::NodeStateChanged e;
  e.node = id;
  e.time = v.now;
  e.by = v.settings.slurm_user;
  e.reason = spec.initial_reason;
  const std::string& s = spec.initial_state;
  if (s == "CLOUD") {
    e.admin = NodeState::kIdle;
    e.flags = kNodeCloud | kNodePowerSave | kNodePoweredDown;
  } else if (s == "FUTURE") {
    e.admin = NodeState::kFuture;
  } else if (s == "DOWN") {
    e.admin = NodeState::kDown;
  } else if (s == "DRAIN") {
    e.flags = kNodeDrain;
  } else if (s == "FAIL") {
    e.flags = kNodeFail;
  } else if (s == "EXTERNAL") {
    e.admin = NodeState::kIdle;
    e.flags = kNodeExternal;
  }
  return e;
}

// Returns the NodeId of each configured node, defining and removing on the way.
std::vector<NodeId> configure_nodes(const View& v, Events& out) {
  const config::Config& c = v.settings.config();
  std::vector<NodeId> ids;
  uint32_t next = v.cluster.nodes.empty() ? 0 : v.cluster.nodes.last_key() + 1;
  Bitmap kept;
  for (uint32_t i = 0; i < c.nodes.size(); ++i) {
    NodeSpec spec = spec_of(v, i);
    const Node* known = v.cluster.node(spec.name);
    NodeId id = known ? known->id : NodeId(next++);
    ids.push_back(id);
    if (known) kept.set(id.value);
    if (known && *known->spec == spec) continue;
    bool fresh = !known;
    auto shared = std::make_shared<const NodeSpec>(std::move(spec));
    out.push_back(event::NodeDefined{id, shared, v.now});
    if (!fresh) continue;
    event::NodeStateChanged e = initial_state(v, id, *shared);
    if (e.admin != NodeState::kUnknown || e.flags) out.push_back(std::move(e));
  }
  v.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (kept.test(id) || n.spec->dynamic) return;
    Node gone = n;
    gone.connected = false;   // no order can reach it any more
    set_node_down(v, gone, "removed from slurm.conf", out);
    out.push_back(event::NodeRemoved{n.id});
  });
  return ids;
}

Bitmap to_node_ids(const Bitmap& by_index, const std::vector<NodeId>& ids) {
  Bitmap out(ids.size());
  by_index.for_each([&](size_t i) {
    if (i < ids.size()) out.set(ids[i].value);
  });
  return out;
}

void configure_partitions(const View& v, const std::vector<NodeId>& ids, Events& out) {
  const config::Config& c = v.settings.config();
  uint32_t next = v.cluster.partitions.empty() ? 0 : v.cluster.partitions.last_key() + 1;
  Bitmap kept;
  for (const config::PartitionConfig& pc : c.partitions) {
    Partition p = pc.spec;
    const Partition* known = v.cluster.partition(p.name);
    p.index = known ? known->index : next++;
    p.nodes = to_node_ids(pc.spec.nodes, ids);
    if (known) kept.set(known->index);
    if (!known || !(*known == p)) out.push_back(event::PartitionDefined{std::move(p)});
  }
  v.cluster.partitions.for_each([&](uint32_t i, const Partition&) {
    if (!kept.test(i)) out.push_back(event::PartitionRemoved{i});
  });
}

// ---- scontrol update partition: one row per key
Result<uint32_t> number_or_unlimited(const std::string& value) {
  if (iequals(value, "UNLIMITED") || iequals(value, "INFINITE")) return kUnlimited32;
  auto n = parse_number<uint32_t>(value);
  if (!n) return fail(Errc::kInvalidArgument, "'" + value + "' is neither a number nor UNLIMITED");
  return *n;
}

Result<bool> yes_no(const std::string& value) {
  if (iequals(value, "YES") || iequals(value, "TRUE") || value == "1") return true;
  if (iequals(value, "NO") || iequals(value, "FALSE") || value == "0") return false;
  return fail(Errc::kInvalidArgument, "'" + value + "' is neither YES nor NO");
}

std::vector<std::string> names(const std::string& value) {
  std::vector<std::string> out;
  if (iequals(value, "ALL") || iequals(value, "NONE")) return out;
  for (auto n : split(value, ',')) out.emplace_back(n);
  return out;
}

using Setter = Result<> (*)(const View&, Partition&, const std::string&);

template <auto Member>
Result<> set_flag(const View&, Partition& p, const std::string& value) {
  MUSTER_TRY(b, yes_no(value));
  p.*Member = b;
  return {};
}
template <auto Member>
Result<> set_count(const View&, Partition& p, const std::string& value) {
  MUSTER_TRY(n, number_or_unlimited(value));
  p.*Member = n;
  return {};
}
template <auto Member>
Result<> set_names(const View&, Partition& p, const std::string& value) {
  p.*Member = names(value);
  return {};
}
template <auto Member>
Result<> set_text(const View&, Partition& p, const std::string& value) {
  p.*Member = value;
  return {};
}
Result<> set_max_time(const View&, Partition& p, const std::string& value) {
  MUSTER_TRY(t, parse_time_limit(value));
  p.max_time_min = t.minutes.value_or(kUnlimited32);
  return {};
}
Result<> set_default_time(const View&, Partition& p, const std::string& value) {
  if (iequals(value, "NONE")) {
    p.default_time_min.reset();
    return {};
  }
  MUSTER_TRY(t, parse_time_limit(value));
  p.default_time_min = t.minutes.value_or(kUnlimited32);
  return {};
}
Result<> set_partition_state(const View&, Partition& p, const std::string& value) {
  for (auto s : {PartitionState::kUp, PartitionState::kDown, PartitionState::kDrain, PartitionState::kInactive})
    if (iequals(value, partition_state_name(s))) {
      p.state = s;
      return {};
    }
  return fail(Errc::kInvalidArgument, "Invalid partition state: " + value, "states: UP, DOWN, DRAIN, INACTIVE");
}
Result<> set_nodes(const View& v, Partition& p, const std::string& value) {
  p.nodes.clear();
  p.nodes_text = value;
  if (iequals(value, "ALL")) {
    v.cluster.nodes.for_each([&](uint32_t id, const Node&) { p.nodes.set(id); });
    return {};
  }
  MUSTER_TRY(hosts, expand_hosts(value));
  for (const std::string& h : hosts) {
    const Node* n = v.cluster.node(h);
    if (!n) return fail(Errc::kInvalidNodeName, "Invalid node name specified: " + h);
    p.nodes.set(n->id.value);
  }
  return {};
}

struct PartitionKey {
  const char* name;
  Setter set;
};
constexpr PartitionKey kPartitionKeys[] = {
    {"AllowAccounts", set_names<&Partition::allow_accounts>},
    {"AllowGroups", set_names<&Partition::allow_groups>},
    {"AllowQos", set_names<&Partition::allow_qos>},
    {"AllocNodes", set_names<&Partition::alloc_nodes>},
    {"Alternate", set_text<&Partition::alternate>},
    {"Default", set_flag<&Partition::is_default>},
    {"DefaultTime", set_default_time},
    {"DenyAccounts", set_names<&Partition::deny_accounts>},
    {"DenyQos", set_names<&Partition::deny_qos>},
    {"DisableRootJobs", set_flag<&Partition::disable_root_jobs>},
    {"ExclusiveUser", set_flag<&Partition::exclusive_user>},
    {"GraceTime", set_count<&Partition::grace_time_seconds>},
    {"Hidden", set_flag<&Partition::hidden>},
    {"LLN", set_flag<&Partition::lln>},
    {"MaxCPUsPerNode", set_count<&Partition::max_cpus_per_node>},
    {"MaxCPUsPerSocket", set_count<&Partition::max_cpus_per_socket>},
    {"MaxCPUsPerUser", set_count<&Partition::max_cpus_per_user>},
    {"MaxNodes", set_count<&Partition::max_nodes>},
    {"MaxTime", set_max_time},
    {"MinNodes", set_count<&Partition::min_nodes>},
    {"Nodes", set_nodes},
    {"PreemptMode", set_text<&Partition::preempt_mode>},
    {"PriorityJobFactor", set_count<&Partition::priority_job_factor>},
    {"PriorityTier", set_count<&Partition::priority_tier>},
    {"QOS", set_text<&Partition::qos>},
    {"ReqResv", set_flag<&Partition::req_resv>},
    {"RootOnly", set_flag<&Partition::root_only>},
    {"State", set_partition_state},
    {"TRESBillingWeights", set_text<&Partition::tres_billing_weights>},
};

Result<> set_key(const View& v, Partition& p, const rpc::KeyValue& kv) {
  for (const PartitionKey& k : kPartitionKeys)
    if (iequals(k.name, kv.key)) return k.set(v, p, kv.value);
  std::vector<std::string_view> known;
  for (const PartitionKey& k : kPartitionKeys) known.push_back(k.name);
  std::string_view meant = did_you_mean(kv.key, known);
  return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
              meant.empty() ? std::string() : "did you mean " + std::string(meant) + "?");
}

Result<> remove_partition(const View& v, const Partition& p, Events& out) {
  bool busy = false;
  v.cluster.jobs.for_each([&](uint32_t, const Job& j) { busy = busy || (j.partition == p.index && (!j.finished() || j.releasing.any())); });
  if (busy) return fail(Errc::kPartitionInUse);
  out.push_back(event::PartitionRemoved{p.index});
  return {};
}

}  // namespace

Events decide_configure(const View& v) {
  const config::Config& c = v.settings.config();
  Events out;
  if (v.cluster.name != c.cluster_name) out.push_back(event::ClusterNamed{c.cluster_name, JobId(c.first_job_id)});
  std::vector<NodeId> ids = configure_nodes(v, out);
  configure_partitions(v, ids, out);
  return out;
}

Result<Decision<rpc::Messages>> decide_update_partition(const View& v, const rpc::UpdatePartition& c) {
  if (!v.is_operator()) return fail(Errc::kAccessDenied);
  const Partition* known = v.cluster.partition(c.name);
  Decision<rpc::Messages> d;
  if (c.remove) {
    if (!known) return fail(Errc::kInvalidPartition);
    MUSTER_TRY_VOID(remove_partition(v, *known, d.events));
    return d;
  }
  if (!c.create && !known) return fail(Errc::kInvalidPartition);
  if (c.create && known) return fail(Errc::kInvalidPartition, "partition " + c.name + " exists already");
  Partition p;
  if (known) p = *known;
  else {
    p.index = v.cluster.partitions.empty() ? 0 : v.cluster.partitions.last_key() + 1;
    p.name = c.name;
  }
  for (const rpc::KeyValue& kv : c.changes) MUSTER_TRY_VOID(set_key(v, p, kv));
  if (p.is_default && v.cluster.default_partition != Cluster::kNoPartition && v.cluster.default_partition != p.index) {
    Partition other = v.cluster.partitions.at(v.cluster.default_partition);
    other.is_default = false;
    d.events.push_back(event::PartitionDefined{std::move(other)});
  }
  d.events.push_back(event::PartitionDefined{std::move(p)});
  return d;
}

}  // namespace muster::slurmctld
