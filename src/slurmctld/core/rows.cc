#include "slurmctld/core/rows.h"

#include <algorithm>

#include "base/same_fields.h"
#include "base/saturating.h"
#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "model/dependency.h"
#include "model/sharing_words.h"
#include "sched/explain/placement_report.h"
#include "sched/explain/preempt_view.h"
#include "sched/request/licenses.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/gres_texts.h"
#include "slurmctld/core/job_filter.h"
#include "steps/step_ports.h"

namespace muster::slurmctld {

uint32_t wanted_nodes(const RequestBody& r) {
  if (r.min_nodes) return r.min_nodes;
  if (r.num_tasks && r.ntasks_per_node) return (r.num_tasks + r.ntasks_per_node - 1) / r.ntasks_per_node;
  return 1;
}
uint32_t wanted_tasks(const RequestBody& r) {
  if (r.num_tasks) return r.num_tasks;
  return wanted_nodes(r) * std::max(1u, r.ntasks_per_node);
}
uint32_t wanted_cpus(const RequestBody& r) {
  uint32_t by_tasks = r.overcommit ? wanted_nodes(r) : wanted_tasks(r) * std::max(1u, r.cpus_per_task);
  return std::max({by_tasks, wanted_nodes(r), r.min_cpus_per_node * wanted_nodes(r)});
}

namespace {

std::string node_name(const Cluster& cluster, NodeId id) {
  const Node* n = cluster.nodes.find(id.value);
  return n ? n->spec->name : "?";
}

// Adds the devices that a pending job asks for in all.
void add_requested_gres(const RequestBody& r, TresAmounts& wanted) {
  auto add = [&](const TresText& list, uint64_t times) {
    for (const Tres& t : list->items())
      if (t.is_gres()) wanted.add_gres(t.name, t.type, mul_sat(t.count, times));
  };
  add(r.tres_per_node, wanted_nodes(r));
  add(r.tres_per_job, 1);
  add(r.tres_per_task, wanted_tasks(r));
}

void add_licenses(const Cluster& cluster, const std::vector<LicenseShare>& list, TresAmounts& amounts) {
  for (const LicenseShare& l : list)
    if (cluster.tracks_license(l.name)) amounts.licenses.push_back(l);
}

// Adds the licences asked for; none for --licenses=a|b, for it is not known which one it will be.
void add_requested_licenses(const Cluster& cluster, const RequestBody& r, TresAmounts& wanted) {
  if (!cluster.moment.tracked_licenses || cluster.moment.tracked_licenses->empty()) return;
  LicenseNeeds needs = r.licenses.value();
  if (!needs.any && sched::add_task_licenses(r.tres_per_task.value(), wanted_tasks(r), needs)) add_licenses(cluster, needs.list, wanted);
}

void add_verdict(const Cluster& cluster, const Job& job, uint32_t parts, JobRow& row) {
  const Verdict* verdict = cluster.moment.verdicts.find(job.id.value);
  if (!verdict) return;
  if (const Verdict* why = deciding_verdict(cluster, job)) {
    row.reason = why->reason;
    row.reason_detail = why->detail;
  }
  if (verdict->expected_start != kTimeUnset) {
    row.started = verdict->expected_start;
    row.expected = true;
    if (job.time_limit_min != kUnlimited32) row.ends = row.started + minutes(job.time_limit_min);
  }
  if (parts & kRowVerdict) row.expected_nodes = verdict->expected_nodes;
}

void add_allocation(const Cluster& cluster, const Job& job, uint32_t parts, JobRow& row) {
  const Allocation& allocation = *job.allocation;
  row.nodes = static_cast<uint32_t>(allocation.nodes.size());
  row.cpus = allocation.total_cpus();
  row.tasks = std::max(1u, allocation.total_tasks());
  row.switches = allocation.switches;
  row.licenses = allocation.licenses;
  row.mem_mb_per_node = allocation.nodes.empty() ? 0 : allocation.nodes[0].mem_mb;
  if (parts & kRowNodes) row.node_list = node_list_of(cluster, allocation);
  if (parts & kRowTres) {
    row.tres.edit().allocated = tres_of(cluster, allocation);
    row.gres_allocated = gres_text(gres_sum(allocation.nodes));
  }
  if (parts & kRowPlacement) row.placement = sched::placement_word(cluster, job);
  if (!(parts & kRowDetail)) return;
  for (const NodeShare& s : allocation.nodes) {
    NodeShareRow share;
    share.node = node_name(cluster, s.node);
    share.cpu_ids = (s.cpus - s.taken_back).to_ranges();
    share.cpus = s.counted_cpus();
    share.mem_mb = s.mem_mb;
    share.channel = s.channel;
    const Node* node = cluster.nodes.find(s.node.value);
    share.gres = node ? gres_held_text(s.gres, *node->spec) : gres_text(s.gres);
    row.shares.push_back(std::move(share));
  }
}

TresAmounts used_tres(const Node& n) {
  if (n.cpus_used.none() && n.mem_used_mb == 0) return {};
  TresAmounts used{.cpus = 0};
  used.use(n);
  return used;
}

}  // namespace

TresAmounts tres_requested(const Cluster& cluster, const RequestBody& r, uint32_t partition) {
  const uint32_t cpus = wanted_cpus(r), nodes = wanted_nodes(r);
  const uint64_t mem_mb = r.mem_per_node_mb ? mul_sat(*r.mem_per_node_mb, nodes) : mul_sat(r.mem_per_cpu_mb.value_or(0), cpus);
  TresAmounts wanted{.cpus = cpus, .nodes = nodes};
  if (mem_mb) wanted.mem_mb = mem_mb;
  add_requested_gres(r, wanted);
  add_requested_licenses(cluster, r, wanted);
  const Partition* p = cluster.partitions.find(partition);
  wanted.billing = p ? billing_of(p->tres_billing_weights, cluster.billing(), wanted) : cpus;
  return wanted;
}

namespace {

// Whether it is shown in the partitions that it asks for by name; else in the one that it has.
bool waits_for_named(const Job& j) { return j.pending() && !j.request->partitions.empty(); }

}  // namespace

std::string partition_text(const Cluster& cluster, const Job& j) {
  if (waits_for_named(j)) return join(j.request->partitions, ",");
  const Partition* p = cluster.partitions.find(j.partition);
  return p ? p->name : "";
}

std::string node_list_of(const Cluster& cluster, const Allocation& allocation) {
  if (allocation.nodes.size() == 1) return node_name(cluster, allocation.nodes[0].node);
  std::vector<std::string> names;
  names.reserve(allocation.nodes.size());
  for (const NodeShare& s : allocation.nodes) names.push_back(node_name(cluster, s.node));
  return compress_hosts(names);
}

std::string node_list_of(const Cluster& cluster, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (NodeId id : nodes)
    if (const Node* node = cluster.nodes.find(id.value)) names.push_back(node->spec->name);
  return compress_hosts(names);
}

TresAmounts tres_of(const Cluster& cluster, const Allocation& a) {
  TresAmounts held{.cpus = 0, .nodes = 0};
  for (const NodeShare& s : a.nodes) held.hold(s);
  held.billing = a.billing.value_or(held.cpus.value_or(0));
  add_licenses(cluster, a.licenses, held);
  return held;
}

JobRow make_state_row(const Job& j) {
  JobRow row;
  row.id = j.id;
  row.state = j.state;
  row.flags = j.flags;
  row.array_job_id = j.array_job_id;
  row.array_task = j.array_task;
  row.het = j.het;
  if (j.array_tasks) row.array_tasks = j.array_tasks->pending.to_ranges();
  return row;
}

namespace {

// The names in partition_text: while it waits those that it asked for, else the one that it runs in. They live as long as both arguments.
std::vector<std::string_view> partition_names(const Cluster& cluster, const Job& j) {
  if (waits_for_named(j)) return {j.request->partitions.begin(), j.request->partitions.end()};
  const Partition* p = cluster.partitions.find(j.partition);
  return p ? std::vector<std::string_view>{p->name} : std::vector<std::string_view>{};
}

// Adds what the partition makes of the job's wish to share nodes.
void add_sharing(const Cluster& cluster, const Job& j, JobRow& row) {
  const Partition* p = waits_for_named(j) ? cluster.partition(j.request->partitions.front()) : cluster.partitions.find(j.partition);
  if (!p) return;
  if (auto word = exclusive_word(j.request->exclusive, p); word != exclusive_word(j.request->exclusive, nullptr)) row.exclusive = word;
  if (auto word = oversubscribe_word(j.request->exclusive, p); word != oversubscribe_word(j.request->exclusive, nullptr))
    row.oversubscribe = word;
}

}  // namespace

JobRow make_job_row(const Cluster& cluster, const sched::PriorityRule& rule, const Job& job, uint32_t parts) {
  JobRow row;
  copy_same_fields(job, row);
  row.request = job.request_id;
  row.restart = why_restarted(cluster, job);
  if (const CronJob* cron = cluster.cron_jobs.find(job.id.value)) row.cron = cron->times.text();
  if (job.detail) row.reason_detail = *job.detail;
  else if (job.waits_for_turn()) row.reason_detail = "suspended: " + std::string(sched::why_suspended(job));
  row.priority = rule.of(job);
  if (job.array_tasks) {
    row.array_tasks = job.array_tasks->pending.to_ranges();
    row.array_max_running = job.array_tasks->max_running;
  }
  row.partition = partition_text(cluster, job);
  add_sharing(cluster, job, row);
  if (!job.pending()) row.last_sched_eval = job.started;
  if (job.finished()) row.ends = job.ended;
  row.reservation = job.run->reservation_name;
  row.max_nodes = job.request->max_nodes;
  if (job.dependencies) row.dependency = format_dependencies(*job.dependencies);
  if (parts & kRowTres) row.tres.edit().requested = tres_requested(cluster, *job.request, job.partition);
  if (parts & kRowTiers)
    for (std::string_view name : partition_names(cluster, job)) {
      const Partition* p = cluster.partition(name);
      row.tiers.push_back(p ? p->priority_tier : 0);
    }
  if (job.pending()) {
    row.nodes = wanted_nodes(*job.request);
    row.cpus = wanted_cpus(*job.request);
    row.tasks = wanted_tasks(*job.request);
    if (cluster.moment.last_pass >= job.submitted) row.last_sched_eval = cluster.moment.last_pass;
    add_verdict(cluster, job, parts, row);
  } else if (job.allocation) {
    add_allocation(cluster, job, parts, row);
  } else {
    row.nodes = wanted_nodes(*job.request);
    row.cpus = wanted_cpus(*job.request);
    row.tasks = wanted_tasks(*job.request);
  }
  return row;
}

namespace {

// Of a step that the job has without asking for it.
StepRow row_without_step(const Cluster& cluster, const Job& job, StepId id, const char* name) {
  StepRow row;
  row.job = job.id;
  row.array_job_id = job.array_job_id;
  row.array_task = job.array_task;
  row.het = job.het;
  row.id = id;
  row.name = name;
  row.partition = partition_text(cluster, job);
  row.user_name = job.request->user_name;
  row.uid = job.request->uid;
  row.start = job.started;
  return row;
}

}  // namespace

StepRow make_batch_step_row(const Cluster& cluster, const Job& job) {
  const NodeShare& first = job.batch_share();
  StepRow row = row_without_step(cluster, job, kBatchStep, "batch");
  row.nodes = row.tasks = 1;
  row.cpus = static_cast<uint32_t>(first.cpus.count());
  row.node_list = node_name(cluster, first.node);
  row.tres = {.cpus = 0, .nodes = 0};
  row.tres.hold(first);
  row.submit_line = job.own.get(&RequestOwn::submit_line);
  return row;
}

StepRow make_external_step_row(const Cluster& cluster, const Job& job) {
  StepRow row = row_without_step(cluster, job, kExternStep, "extern");
  row.nodes = row.tasks = static_cast<uint32_t>(job.allocation->nodes.size());
  row.node_list = node_list_of(cluster, *job.allocation);
  row.tres = tres_of(cluster, *job.allocation);
  row.cpus = job.allocation->total_cpus();
  row.submit_line = job.own.get(&RequestOwn::submit_line);
  return row;
}

namespace {

// Adds what srun asked for, as it is shown again.
void add_asked(const StepRequest& r, StepRow& row) {
  copy_same_fields(r, row);
  row.gres = r.tres_per_node.text();
  if (r.cpus_per_gpu) row.cpus_per_tres = "gres/gpu:" + std::to_string(r.cpus_per_gpu);
  if (r.mem_per_gpu_mb) row.mem_per_tres = "gres/gpu:" + std::to_string(*r.mem_per_gpu_mb);
}

}  // namespace

StepRow make_step_row(const Cluster& cluster, const Job& job, const Step& step) {
  StepRow row;
  copy_same_fields(step, row);
  add_asked(*step.request, row);
  row.job = job.id;
  row.array_job_id = job.array_job_id;
  row.array_task = job.array_task;
  row.het = job.het;
  row.partition = partition_text(cluster, job);
  row.user_name = job.request->user_name;
  row.uid = job.request->uid;
  row.nodes = static_cast<uint32_t>(step.shares.size());
  std::vector<std::string> names;
  row.tres = {.cpus = 0, .nodes = 0};
  for (const StepShare& share : step.shares) {
    row.tasks += share.ranks.empty() ? share.task_count : static_cast<uint32_t>(share.ranks.size());
    row.tres.hold(share);
    names.push_back(node_name(cluster, job.allocation->nodes[share.node_index].node));
  }
  row.node_list = compress_hosts(names);
  row.cpus = static_cast<uint32_t>(row.tres.cpus.value_or(0));
  row.resv_ports = steps::port_ranges(step.resv_ports);
  row.submit_line = job.own.get(&RequestOwn::submit_line);
  return row;
}

// The '*' of sinfo: a node that is thought to be up, or was set DOWN, and has no connection. A node that is asleep or not there yet is not
// expected to answer.
bool is_silent(const Node& n) {
  constexpr uint32_t kNotExpected = kNodePoweredDown | kNodePoweringDown | kNodePoweringUp | kNodeCloud;
  return !n.connected && n.admin != NodeState::kFuture && !(n.flags & kNotExpected);
}

// The greatest bill of the partitions that it is in: guide tres. Their rows cost O(partitions) each.
uint64_t billing_of_node(const Cluster& cluster, const Node& node) {
  TresAmounts has{.cpus = node.spec->cpus, .nodes = 1};
  has.mem_mb = node.spec->real_memory_mb;
  for (const GresDevices& g : node.spec->gres) has.add_gres(g.name, g.type, g.count);
  uint64_t most = 0;
  bool weighed = false;
  cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (p.tres_billing_weights.empty() || !p.nodes.test(node.id.value)) return;
    weighed = true;
    most = std::max(most, billing_of(p.tres_billing_weights, cluster.billing(), has));
  });
  return weighed ? most : node.spec->cpus;
}

uint32_t flags_now(const Node& node) { return node.flags | (is_silent(node) ? kNodeNoRespond : 0u); }

NodeRow make_node_row(const Cluster& cluster, const Node& node, const std::vector<std::string>& partitions) {
  const NodeSpec& spec = *node.spec;
  NodeRow row;
  if (node.hardware) copy_same_fields(*node.hardware, row);  // where the configuration says it too, that replaces it below
  copy_same_fields(spec, row);
  copy_same_fields(node, row);
  row.features = available_features(node);
  row.state = node.state();
  row.flags = flags_now(node);
  row.has_jobs = node.has_jobs();
  row.cpus_effective = spec.cpus - static_cast<uint32_t>(spec.specialized_cpus.count());
  row.cpus_allocated = node.cpus_allocated();
  row.mem_allocated_mb = node.mem_used_mb;
  row.mem_spec_mb = spec.specialized_mem_mb;
  row.cpu_spec_list = spec.specialized_cpus.to_ranges();
  row.gres = spec.gres_text.text();
  row.gres_used = gres_used_text(node);
  row.restricted_cores = restricted_text(node);
  row.tres_configured = {.cpus = 0, .mem_mb = 0};
  row.tres_configured.configure(spec);
  row.tres_configured.billing = billing_of_node(cluster, node);
  row.tres_allocated = used_tres(node);
  row.partitions = partitions;
  row.owned = node.exclusive_user;
  row.owner = node.exclusive_uid;
  if (node.next_state == NodeState::kDown) row.next_state = "DOWN";
  if (node.next_state == NodeState::kIdle) row.next_state = "RESUME";
  if (!node.hardware) return row;
  row.cpu_load = node.cpu_load;
  row.free_mem_mb = node.free_mem_mb;
  row.energy = node.energy;
  return row;
}

PartitionRow make_partition_row(const Cluster& cluster, const Partition& partition) {
  PartitionRow row;
  row.partition = partition;
  row.partition.nodes = Bitmap();
  std::vector<std::string> names;
  row.tres = {.cpus = 0, .mem_mb = 0};
  partition.nodes.for_each([&](size_t i) {
    const Node* n = cluster.nodes.find(static_cast<uint32_t>(i));
    if (!n) return;
    names.push_back(n->spec->name);
    row.tres.configure(*n->spec);
  });
  row.node_list = compress_hosts(names);
  row.total_nodes = static_cast<uint32_t>(names.size());
  row.total_cpus = static_cast<uint32_t>(row.tres.cpus.value_or(0));
  row.tres.nodes = names.size();
  row.tres.billing = billing_of(partition.tres_billing_weights, cluster.billing(), row.tres);
  return row;
}

rpc::Allocated make_allocated(const Cluster& cluster, const Job& job) {
  rpc::Allocated allocated;
  const sched::PriorityParams none;  // it has started: its priority does not move
  allocated.job = make_job_row(cluster, sched::PriorityRule(cluster, none, Time{}), job, kRowNodes | kRowTres | kRowDetail);
  allocated.request = job.shown_request();
  if (job.run->reservation) allocated.request.reservation = job.run->reservation_name;
  if (!job.allocation) return allocated;
  for (const NodeShare& s : job.allocation->nodes) {
    allocated.cpus_per_node.push_back(s.counted_cpus());
    allocated.tasks_per_node.push_back(s.tasks);
    rpc::NodeAddress address;
    if (const Node* n = cluster.nodes.find(s.node.value)) {
      address.name = n->spec->name;
      address.host = n->spec->address;
      address.port = n->spec->port;
    }
    allocated.addresses.push_back(std::move(address));
  }
  const Partition* p = cluster.partitions.find(job.partition);
  allocated.exclusive = exclusive_word(job.request->exclusive, p);
  allocated.oversubscribe = oversubscribe_word(job.request->exclusive, p);
  return allocated;
}

}  // namespace muster::slurmctld
