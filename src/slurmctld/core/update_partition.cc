// scontrol create, update and delete partition: one row per key. scontrol(1), PARTITIONS - SPECIFICATIONS FOR CREATE AND UPDATE
// COMMANDS. What is changed here holds until slurm.conf is read again, and with ReconfigFlags beyond that: the changes are
// remembered and made again then.
#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "config/tres_weights.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/update_keys.h"

namespace muster::slurmctld {
namespace {

struct Change {
  const View& v;
  Partition& p;
  const rpc::KeyValue& kv;
  bool is(std::string_view word) const { return iequals(kv.value, word); }
  std::unexpected<Error> refuse(std::string hint = {}) const {
    return fail(Errc::kInvalidArgument, "Invalid input: " + kv.key + "=" + kv.value, std::move(hint));
  }
};
using Setter = Result<> (*)(const Change&);

Result<bool> yes_no(const Change& c) {
  if (c.is("YES") || c.is("TRUE") || c.kv.value == "1") return true;
  if (c.is("NO") || c.is("FALSE") || c.kv.value == "0") return false;
  return c.refuse("Acceptable " + c.kv.key + " values are YES and NO");
}

template <auto Member>
Result<> set_flag(const Change& c) {
  MUSTER_TRY(b, yes_no(c));
  c.p.*Member = b;
  return {};
}
template <auto Member, uint32_t Max = kUnlimited32 - 1>
Result<> set_count(const Change& c) {
  if (c.is("UNLIMITED") || c.is("INFINITE")) {
    c.p.*Member = kUnlimited32;
    return {};
  }
  auto n = parse_number<uint32_t>(c.kv.value, 0, Max);
  if (!n) return c.refuse("a number up to " + std::to_string(Max) + ", or UNLIMITED");
  c.p.*Member = *n;
  return {};
}
template <auto Member, uint32_t Max>
Result<> set_number(const Change& c) {
  auto n = parse_number<uint32_t>(c.kv.value, 0, Max);
  if (!n) return c.refuse("a number from 0 to " + std::to_string(Max));
  c.p.*Member = *n;
  return {};
}
template <auto Member>
Result<> set_names(const Change& c) {
  std::vector<std::string>& list = c.p.*Member;
  if (c.kv.op == "=") list.clear();
  if (c.is("ALL") || c.is("NONE")) return {};
  const std::vector<std::string_view> names = split(c.kv.value, ',');
  std::unordered_set<std::string_view> named(names.begin(), names.end());
  std::erase_if(list, [&](const std::string& n) { return named.contains(n); });
  if (c.kv.op != "-=")
    for (std::string_view n : names)
      if (named.erase(n)) list.emplace_back(n);
  size_t bytes = 0;
  for (const std::string& n : list) bytes += n.size() + 1;
  if (bytes > kMostList) return fail(Errc::kPathnameTooLong, {}, c.kv.key + ": " + bytes_of(bytes, kMostList));
  return {};
}
template <auto Member>
Result<> set_text(const Change& c) {
  c.p.*Member = c.is("NONE") ? "" : c.kv.value;
  return {};
}
Result<> set_topology(const Change& c) {
  const auto& all = c.v.cluster.topologies;
  if (!c.is("NONE") && (!all || !all->find(c.kv.value))) return c.refuse("no topology is called '" + c.kv.value + "'");
  return set_text<&Partition::topology>(c);
}
// Sets one limit of a pair (per CPU or per node); the other one goes.
template <auto Member, auto Other>
Result<> set_memory(const Change& c) {
  (c.p.*Other).reset();
  (c.p.*Member).reset();
  if (c.is("UNLIMITED") || c.is("INFINITE")) return {};
  auto mb = parse_mem_mb(c.kv.value);
  if (!mb) return c.refuse("a number of mebibytes, or UNLIMITED");
  if (*mb) c.p.*Member = *mb;
  return {};
}

// Names of QOS, in lower case as the database has them. Once slurmdbd was heard, only names that it knows are taken.
template <auto Member>
Result<> set_qos_names(const Change& c) {
  rpc::KeyValue kv = c.kv;
  kv.value = c.is("ALL") || c.is("NONE") ? kv.value : to_lower(kv.value);
  const AccountDirectory* known = c.v.cluster.directory.get();
  for (std::string_view name : split(kv.value, ','))
    if (known && kv.op != "-=" && !c.is("ALL") && !c.is("NONE") && !known->qos.contains(name))
      return fail(Errc::kInvalidQos, {},
                  c.kv.key + ": no QOS is called '" + std::string(name) + "'; sacctmgr show qos lists those that are");
  return set_names<Member>({c.v, c.p, kv});
}

Result<> set_alloc_nodes(const Change& c) {
  c.p.alloc_nodes.clear();
  if (c.is("ALL") || c.kv.value.empty()) return {};
  MUSTER_TRY(hosts, expand_hosts(c.kv.value));
  c.p.alloc_nodes = std::move(hosts);
  return {};
}
Result<> set_alternate(const Change& c) {
  if (c.is("NONE")) c.p.alternate.clear();
  else if (!c.v.cluster.partition(c.kv.value)) return fail(Errc::kInvalidPartition);
  else c.p.alternate = c.kv.value;
  return {};
}
Result<> set_cpu_bind(const Change& c) {
  for (const char* word : {"none", "socket", "ldom", "core", "thread"})
    if (c.is(word)) {
      c.p.cpu_bind = word;
      return {};
    }
  if (!c.is("off")) return c.refuse("Acceptable CpuBind values are none, socket, ldom, core, thread and off");
  c.p.cpu_bind.clear();
  return {};
}
Result<uint32_t> minutes_of(const Change& c) {
  auto t = parse_time_limit(c.kv.value);
  if (!t) return c.refuse("minutes, minutes:seconds, hours:minutes:seconds, days-hours … or UNLIMITED");
  return t->minutes.value_or(kUnlimited32);
}
Result<> set_max_time(const Change& c) {
  MUSTER_TRY(minutes, minutes_of(c));
  c.p.max_time_min = minutes;
  return {};
}
Result<> set_default_time(const Change& c) {
  c.p.default_time_min.reset();
  if (c.is("NONE")) return {};
  MUSTER_TRY(minutes, minutes_of(c));
  c.p.default_time_min = minutes;
  return {};
}
Result<> set_over_time_limit(const Change& c) {
  c.p.over_time_limit_min.reset();
  if (c.is("UNLIMITED") || c.is("INFINITE") || c.is("NONE")) return {};
  auto n = parse_number<uint32_t>(c.kv.value, 0, 65533);
  if (!n) return c.refuse("minutes up to 65533, or UNLIMITED");
  c.p.over_time_limit_min = *n;
  return {};
}

Result<> set_exclusive(const Change& c) {
  bool node = c.is("NODE"), user = c.is("USER"), topo = c.is("TOPO");
  if (!node && !user && !topo && !c.is("NO") && !c.is("NONE")) return c.refuse("Acceptable Exclusive values are NO, NODE, USER and TOPO");
  c.p.exclusive_user = user;
  c.p.exclusive_topo = topo;
  if (node) c.p.oversubscribe = OverSubscribe::kExclusive;
  else if (topo || c.p.oversubscribe == OverSubscribe::kExclusive) c.p.oversubscribe = OverSubscribe::kNo;
  return {};
}
Result<> set_oversubscribe(const Change& c) {
  auto parts = split(c.kv.value, ':', true);
  auto word = [&](std::string_view w) { return iequals(parts[0], w); };
  OverSubscribe how = OverSubscribe::kNo;
  if (word("YES")) how = OverSubscribe::kYes;
  else if (word("FORCE")) how = OverSubscribe::kForce;
  else if (word("EXCLUSIVE")) how = OverSubscribe::kExclusive;
  else if (!word("NO")) return c.refuse("Acceptable OverSubscribe values are YES, NO and FORCE, each with :count, and EXCLUSIVE");
  uint32_t count = 4;
  if (parts.size() > 1) {
    auto n = parse_number<uint32_t>(parts[1], 1, 32767);
    if (!n || parts.size() > 2) return c.refuse("the count behind the colon is from 1 to 32767");
    count = *n;
  }
  c.p.oversubscribe = how;
  c.p.oversubscribe_count = count;
  return {};
}
Result<> set_job_defaults(const Change& c) {
  Partition next = c.p;
  next.def_cpu_per_gpu.reset();
  next.def_mem_per_gpu_mb.reset();
  next.job_defaults = c.kv.value;
  for (std::string_view item : split(c.kv.value, ',')) {
    size_t equals = item.find('=');
    std::string_view key = item.substr(0, equals);
    auto n = equals == std::string_view::npos ? std::nullopt : parse_number<uint32_t>(item.substr(equals + 1));
    if (n && iequals(key, "DefCpuPerGPU")) next.def_cpu_per_gpu = *n;
    else if (n && iequals(key, "DefMemPerGPU")) next.def_mem_per_gpu_mb = *n;
    else return c.refuse("keys: DefCpuPerGPU=number, DefMemPerGPU=number");
  }
  c.p = std::move(next);
  return {};
}
Result<> set_preempt_mode(const Change& c) {
  for (std::string_view word : split(c.kv.value, ','))
    if (!iequals(word, "OFF") && !iequals(word, "CANCEL") && !iequals(word, "REQUEUE") && !iequals(word, "SUSPEND") &&
        !iequals(word, "GANG"))
      return c.refuse("Acceptable PreemptMode values are OFF, CANCEL, REQUEUE and SUSPEND");
  c.p.preempt_mode = std::string(c.kv.value);
  return {};
}
Result<> set_state(const Change& c) {
  for (auto s : {PartitionState::kUp, PartitionState::kDown, PartitionState::kDrain, PartitionState::kInactive})
    if (c.is(partition_state_name(s))) {
      c.p.state = s;
      return {};
    }
  return c.refuse("Acceptable State values are UP, DOWN, DRAIN and INACTIVE");
}

Result<> set_billing_weights(const Change& c) {
  if (!c.is("NONE"))
    if (auto ok = config::check_tres_weights(c.kv.value, c.v.settings.config().accounting_storage_tres); !ok)
      return fail(Errc::kInvalidArgument, "Invalid TRESBillingWeights specification", ok.error().text);
  c.p.tres_billing_weights = BillingText(c.is("NONE") ? std::string() : c.kv.value);
  return {};
}

// "n[1-4]", ALL or ""; with signs before names or before the equal sign, nodes to add and to remove.
Result<> set_nodes(const Change& c) {
  bool by_sign = c.kv.value.starts_with('+') || c.kv.value.starts_with('-');
  Bitmap nodes = c.kv.op == "=" && !by_sign ? Bitmap() : c.p.nodes;
  std::string names;
  for (std::string_view piece : split_outside_brackets(c.kv.value)) {
    bool remove = c.kv.op == "-=";
    if (piece.starts_with('+') || piece.starts_with('-')) {
      remove = piece[0] == '-';
      piece.remove_prefix(1);
    }
    MUSTER_TRY(found, select_nodes(c.v, std::string(piece)));
    for (const Node* n : found) remove ? nodes.reset(n->id.value) : nodes.set(n->id.value);
  }
  std::vector<std::string> kept;
  nodes.for_each([&](size_t i) {
    if (const Node* n = c.v.cluster.nodes.find(static_cast<uint32_t>(i))) kept.push_back(n->spec->name);
  });
  c.p.nodes = std::move(nodes);
  c.p.nodes_text = c.is("ALL") ? "ALL" : compress_hosts(kept);
  return {};
}

// Priority= is the older key for both of today's.
Result<> set_priority(const Change& c) {
  MUSTER_TRY_VOID((set_number<&Partition::priority_job_factor, 65533>(c)));
  return set_number<&Partition::priority_tier, 65533>(c);
}

struct Key {
  const char* name;
  Setter set;
};
constexpr Key kKeys[] = {
    {"AllocNodes", set_alloc_nodes},
    {"AllowAccounts", set_names<&Partition::allow_accounts>},
    {"AllowGroups", set_names<&Partition::allow_groups>},
    {"AllowQOS", set_qos_names<&Partition::allow_qos>},
    {"Alternate", set_alternate},
    {"CpuBind", set_cpu_bind},
    {"Default", set_flag<&Partition::is_default>},
    {"DefaultTime", set_default_time},
    {"DefMemPerCPU", set_memory<&Partition::def_mem_per_cpu_mb, &Partition::def_mem_per_node_mb>},
    {"DefMemPerNode", set_memory<&Partition::def_mem_per_node_mb, &Partition::def_mem_per_cpu_mb>},
    {"DenyAccounts", set_names<&Partition::deny_accounts>},
    {"DenyQOS", set_qos_names<&Partition::deny_qos>},
    {"DisableRootJobs", set_flag<&Partition::disable_root_jobs>},
    {"Exclusive", set_exclusive},
    {"ExclusiveTopo", set_flag<&Partition::exclusive_topo>},
    {"ExclusiveUser", set_flag<&Partition::exclusive_user>},
    {"GraceTime", set_number<&Partition::grace_time_seconds, kUnlimited32 - 1>},
    {"Hidden", set_flag<&Partition::hidden>},
    {"JobDefaults", set_job_defaults},
    {"LLN", set_flag<&Partition::lln>},
    {"MaxCPUsPerNode", set_count<&Partition::max_cpus_per_node>},
    {"MaxCPUsPerSocket", set_count<&Partition::max_cpus_per_socket>},
    {"MaxCPUsPerUser", set_count<&Partition::max_cpus_per_user>},
    {"MaxMemPerCPU", set_memory<&Partition::max_mem_per_cpu_mb, &Partition::max_mem_per_node_mb>},
    {"MaxMemPerNode", set_memory<&Partition::max_mem_per_node_mb, &Partition::max_mem_per_cpu_mb>},
    {"MaxNodes", set_count<&Partition::max_nodes>},
    {"MaxTime", set_max_time},
    {"MinNodes", set_number<&Partition::min_nodes, kUnlimited32 - 1>},
    {"Nodes", set_nodes},
    {"OverSubscribe", set_oversubscribe},
    {"OverTimeLimit", set_over_time_limit},
    {"PowerDownOnIdle", set_flag<&Partition::power_down_on_idle>},
    {"PreemptMode", set_preempt_mode},
    {"Priority", set_priority},
    {"PriorityJobFactor", set_number<&Partition::priority_job_factor, 65533>},
    {"PriorityTier", set_number<&Partition::priority_tier, 65533>},
    {"QOS", set_text<&Partition::qos>},
    {"ReqResv", set_flag<&Partition::req_resv>},
    {"RootOnly", set_flag<&Partition::root_only>},
    {"State", set_state},
    {"Topology", set_topology},
    {"TRESBillingWeights", set_billing_weights},
};

Result<> set_key(const View& v, Partition& p, const rpc::KeyValue& kv) {
  for (const Key& k : kKeys)
    if (iequals(k.name, kv.key)) return k.set({v, p, kv});
  std::vector<std::string_view> known;
  for (const Key& k : kKeys) known.push_back(k.name);
  std::string_view meant = did_you_mean(kv.key, known);
  return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
              meant.empty() ? std::string() : "did you mean " + std::string(meant) + "?");
}

std::string text_of(const rpc::KeyValue& kv) { return kv.key + (kv.op.empty() ? "=" : kv.op) + kv.value; }
rpc::KeyValue parsed(const std::string& text) {
  const size_t equals = text.find('='), end = equals && (text[equals - 1] == '+' || text[equals - 1] == '-') ? equals - 1 : equals;
  return {text.substr(0, end), text.substr(end, equals + 1 - end), text.substr(equals + 1)};
}

// A plain value takes the place of what was said of the key before; += and -= come after it.
void remember(Partition& p, const rpc::KeyValue& kv) {
  if (kv.op.empty() || kv.op == "=") std::erase_if(p.updates, [&](const std::string& u) { return iequals(parsed(u).key, kv.key); });
  p.updates.push_back(text_of(kv));
}

Result<Decision<rpc::Messages>> remove_partition(const View& v, const Partition& p) {
  bool busy = false;
  v.cluster.jobs.for_each([&](uint32_t, const Job& j) { busy = busy || (j.partition == p.index && (!j.finished() || !j.cleaned_up())); });
  if (busy) return fail(Errc::kPartitionInUse);
  Decision<rpc::Messages> d;
  d.events.push_back(event::PartitionRemoved{p.index, v.now});
  return d;
}

constexpr size_t kMostUpdates = 256;

bool is_name(std::string_view s) { return !s.empty() && s.size() <= 255 && s.find_first_of(", \t\n=") == std::string_view::npos; }

}  // namespace

Result<Decision<rpc::Messages>> decide(const View& view, const rpc::UpdatePartition& request) {
  const Partition* known = view.cluster.partition(request.name);
  if (request.create ? known != nullptr || !is_name(request.name) : known == nullptr)
    return fail(Errc::kInvalidPartition, {}, known ? "partition " + request.name + " exists already" : "");
  if (request.remove) return remove_partition(view, *known);
  MUSTER_TRY_VOID(check_texts(request.changes));
  Partition partition;
  if (known) partition = *known;
  else {
    partition.index = view.cluster.partitions.empty() ? 0 : view.cluster.partitions.last_key() + 1;
    partition.name = request.name;
    partition.created = true;
    partition.disable_root_jobs = view.settings.config().disable_root_jobs;
  }
  for (const rpc::KeyValue& kv : with_whole_keys(request.changes, kKeys)) {
    MUSTER_TRY_VOID(set_key(view, partition, kv));
    remember(partition, kv);
  }
  if (partition.updates.size() > kMostUpdates) partition.updates.erase(partition.updates.begin(), partition.updates.end() - kMostUpdates);
  if (partition.default_time_min && *partition.default_time_min > partition.max_time_min)
    return fail(Errc::kInvalidTimeLimit, {}, "DefaultTime must not exceed MaxTime");
  if (partition.min_nodes > partition.max_nodes) return fail(Errc::kInvalidNodeCount, {}, "MinNodes must not exceed MaxNodes");
  Decision<rpc::Messages> d;
  uint32_t before = view.cluster.default_partition;
  if (partition.is_default && before != Cluster::kNoPartition && before != partition.index) {
    Partition other = view.cluster.partitions.at(before);
    other.is_default = false;
    d.events.push_back(event::PartitionDefined{std::make_shared<const Partition>(std::move(other)), view.now});
  }
  d.events.push_back(event::PartitionDefined{std::make_shared<const Partition>(std::move(partition)), view.now});
  return d;
}

void update_again(const View& v, const Partition& known, bool state_only, Partition& p) {
  for (const std::string& text : known.updates) {
    const rpc::KeyValue kv = parsed(text);
    if (state_only && !iequals(kv.key, "State")) continue;
    if (set_key(v, p, kv)) p.updates.push_back(text);  // a change that the new files have no room for is dropped: a node that is gone
  }
}

}  // namespace muster::slurmctld
