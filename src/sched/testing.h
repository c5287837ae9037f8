// Builders for tests: clusters, jobs and steps in a line.
//
//   Cluster c = a_cluster().nodes(4).cpus(8).gres("gpu", "h100", 8).build();
//   submit(c, a_job().tasks(4).gpus(2).minutes(30));
//   Plan p = Planner().plan(c, params, now, Pass::kFull);
//   apply_starts(c, p, now);
//
// apply_starts and end_job keep Node and Job in step as slurmctld's apply does, so that plans can be replayed.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "sched/planner.h"

namespace muster::sched {

// A row of leaf switches of so many nodes each, under one switch unless `apart`; node numbers end at `nodes`.
inline void give_tree(Cluster& c, uint32_t leaves, uint32_t nodes_each, bool apart = false, uint32_t nodes = kUnlimited32) {
  Topology t{.name = "default", .kind = TopologyKind::kTree};
  TopologyUnit spine{.name = "spine"};
  for (uint32_t l = 0; l < leaves; ++l) {
    TopologyUnit leaf{.name = "leaf" + std::to_string(l)};
    for (uint32_t i = 0; i < nodes_each && l * nodes_each + i < nodes; ++i) leaf.nodes.push_back(l * nodes_each + i);
    spine.children.push_back(l);
    t.units.push_back(std::move(leaf));
  }
  if (!apart) t.units.push_back(std::move(spine));
  Topologies all;
  all.all.push_back(std::move(t));
  c.topologies = std::make_shared<const Topologies>(std::move(all));
}

inline void give_blocks(Cluster& c, uint32_t blocks, uint32_t nodes_each, std::vector<uint32_t> sizes, uint32_t nodes = kUnlimited32) {
  Topology t{.name = "default", .kind = TopologyKind::kBlock, .block_sizes = std::move(sizes)};
  for (uint32_t b = 0; b < blocks; ++b) {
    TopologyUnit block{.name = "b" + std::to_string(b)};
    for (uint32_t i = 0; i < nodes_each && b * nodes_each + i < nodes; ++i) block.nodes.push_back(b * nodes_each + i);
    t.units.push_back(std::move(block));
  }
  Topologies all;
  all.all.push_back(std::move(t));
  c.topologies = std::make_shared<const Topologies>(std::move(all));
}

class ClusterBuilder {
 public:
  ClusterBuilder& nodes(uint32_t n) {
    count_ = n;
    return *this;
  }
  // All CPUs are single-thread cores of one socket.
  ClusterBuilder& cpus(uint32_t n) { return layout(1, n, 1); }
  ClusterBuilder& layout(uint32_t sockets, uint32_t cores, uint32_t threads) {
    spec_.sockets = sockets;
    spec_.cores_per_socket = cores;
    spec_.threads_per_core = threads;
    spec_.cpus = sockets * cores * threads;
    return *this;
  }
  ClusterBuilder& memory(uint64_t mb) {
    spec_.real_memory_mb = mb;
    return *this;
  }
  ClusterBuilder& features(std::vector<std::string> f) {
    spec_.features = std::move(f);
    return *this;
  }
  // `sockets_spread`: device i stands at socket i * sockets / count.
  ClusterBuilder& gres(std::string name, std::string type, uint64_t count, bool sockets_spread = false) {
    uint32_t first = 0;
    for (const GresDevices& g : spec_.gres)
      if (g.name == name) first += static_cast<uint32_t>(g.count);
    if (!sockets_spread) {
      spec_.gres.push_back({std::move(name), std::move(type), count, first, false, {}, {}, {}, 0, false});
      return *this;
    }
    for (uint64_t i = 0; i < count; ++i) {
      Bitmap cores;
      const auto socket = static_cast<uint32_t>(i * spec_.sockets / count);
      cores.set_range(socket * spec_.cores_per_socket, (socket + 1) * spec_.cores_per_socket);
      spec_.gres.push_back({name, type, 1, first + static_cast<uint32_t>(i), false, {}, cores, {}, 0, false});
    }
    return *this;
  }
  ClusterBuilder& node(std::function<void(Node&, NodeSpec&)> change) {
    change_ = std::move(change);
    return *this;
  }
  ClusterBuilder& partition(std::function<void(Partition&)> change) {
    partition_ = std::move(change);
    return *this;
  }

  Cluster build() const {
    Cluster c;
    auto names = std::make_shared<std::unordered_map<std::string, uint32_t>>();
    Partition all;
    all.name = "main";
    all.is_default = true;
    all.nodes = Bitmap(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      NodeSpec spec = spec_;
      spec.name = "n" + std::to_string(i);
      Node node;
      node.id = NodeId(i);
      node.admin = NodeState::kIdle;
      node.hardware = hardware_;
      if (change_) change_(node, spec);
      node.weight = spec.weight;
      node.features_active = spec.features;
      (*names)[spec.name] = i;
      node.spec = std::make_shared<const NodeSpec>(std::move(spec));
      c.nodes.set(i, std::move(node));
      all.nodes.set(i);
    }
    if (partition_) partition_(all);
    c.node_names = names;
    add_partition(c, all);
    c.default_partition = 0;
    return c;
  }
  static void add_partition(Cluster& c, Partition p) {
    auto names = std::make_shared<std::unordered_map<std::string, uint32_t>>();
    if (c.partition_names) *names = *c.partition_names;
    p.index = static_cast<uint32_t>(c.partitions.size());
    (*names)[p.name] = p.index;
    c.partitions.set(p.index, std::move(p));
    c.partition_names = names;
  }

 private:
  uint32_t count_ = 1;
  NodeSpec spec_;
  std::shared_ptr<const NodeHardware> hardware_ = std::make_shared<const NodeHardware>();
  std::function<void(Node&, NodeSpec&)> change_;
  std::function<void(Partition&)> partition_;
};
inline ClusterBuilder a_cluster() { return {}; }

class JobBuilder {
 public:
  JobRequest request;
  uint32_t priority_ = 1000, partition_ = 0;
  Time eligible_{};

  JobBuilder& tasks(uint32_t n) {
    request.num_tasks = n;
    return *this;
  }
  JobBuilder& nodes(uint32_t n) {
    request.min_nodes = request.max_nodes = n;
    return *this;
  }
  JobBuilder& nodes(uint32_t min, uint32_t max) {
    request.min_nodes = min;
    request.max_nodes = max;
    return *this;
  }
  JobBuilder& cpus_per_task(uint32_t n) {
    request.cpus_per_task = n;
    return *this;
  }
  JobBuilder& tasks_per_node(uint32_t n) {
    request.ntasks_per_node = n;
    return *this;
  }
  JobBuilder& gpus(uint32_t per_node) {
    request.tres_per_node = "gres/gpu:" + std::to_string(per_node);
    return *this;
  }
  JobBuilder& gres(std::string text) {
    request.tres_per_node = std::move(text);
    return *this;
  }
  JobBuilder& job_gpus(uint32_t n) {
    request.tres_per_job = "gres/gpu:" + std::to_string(n);
    return *this;
  }
  JobBuilder& task_gpus(uint32_t n) {
    request.tres_per_task = "gres/gpu:" + std::to_string(n);
    return *this;
  }
  JobBuilder& mem(uint64_t mb) {
    request.mem_per_node_mb = mb;
    return *this;
  }
  JobBuilder& mem_per_cpu(uint64_t mb) {
    request.mem_per_cpu_mb = mb;
    return *this;
  }
  JobBuilder& exclusive() {
    request.exclusive = Exclusive::kNode;
    return *this;
  }
  JobBuilder& minutes(uint32_t n) {
    request.time_limit_min = n;
    return *this;
  }
  JobBuilder& priority(uint32_t n) {
    priority_ = n;
    return *this;
  }
  JobBuilder& on(std::string features) {
    request.features = std::move(features);
    return *this;
  }
  JobBuilder& nodelist(std::string names) {
    request.required_nodes = std::move(names);
    return *this;
  }
  JobBuilder& exclude(std::string names) {
    request.excluded_nodes = std::move(names);
    return *this;
  }
  JobBuilder& user(uint32_t uid) {
    request.uid = Uid(uid);
    return *this;
  }
  JobBuilder& in(uint32_t partition) {
    partition_ = partition;
    return *this;
  }
  JobBuilder& with(const std::function<void(JobRequest&)>& change) {
    change(request);
    return *this;
  }
};
inline JobBuilder a_job() { return {}; }

// Adds a pending job; the id counts from 1.
inline JobId submit(Cluster& c, const JobBuilder& b, Time now = from_unix(1'000'000)) {
  Job job;
  job.id = c.last_job_id = JobId(c.last_job_id.value + 1);
  job.ask(b.request);
  job.priority = b.priority_;
  job.partition = b.partition_;
  job.time_limit_min = b.request.time_limit_min.value_or(60);
  job.submitted = job.eligible = now;
  ++c.jobs_epoch;
  const JobId id = job.id;
  c.recharge({}, Charge::of(job, c.partitions));
  c.jobs.set(id.value, std::move(job));
  return id;
}

// Adds a pending array as one record.
inline JobId submit_array(Cluster& c, const JobBuilder& b, uint32_t tasks, uint32_t max_running = 0, Time now = from_unix(1'000'000)) {
  const JobId id = submit(c, b, now);
  auto array = std::make_shared<ArrayTasks>();
  array->pending = Bitmap(tasks, true);
  array->max_running = max_running;
  Job* job = c.jobs.edit(id.value);
  const Charge was = Charge::of(*job, c.partitions);
  job->array_tasks = array;
  job->array_job_id = id;
  c.recharge(was, Charge::of(*job, c.partitions));
  ArrayGroup group;
  group.total = tasks;
  c.arrays.set(id.value, group);
  return id;
}

inline void hold_nodes(Cluster& c, const Allocation& a, Uid uid, uint32_t partition, int sign) {
  for (const NodeShare& s : a.nodes) {
    Node* n = c.nodes.edit(s.node.value);
    if (sign > 0) {
      hold_cpus(n->cpus_used, n->cpus_shared, s.cpus);
      hold_cpus_of(n->by_partition, partition, s.cpus);
      n->mem_used_mb += s.mem_mb;
      ++n->jobs_running;
      n->whole_node_jobs += a.whole_nodes;
      n->shared_jobs += a.oversubscribe;
      if (a.exclusive_user) n->exclusive_user = true, n->exclusive_uid = uid;
      if (!a.mcs_label.empty()) n->mcs_label = a.mcs_label;
    } else {
      free_cpus(n->cpus_used, n->cpus_shared, s.cpus);
      free_cpus_of(n->by_partition, partition, s.cpus);
      n->mem_used_mb -= s.mem_mb;
      --n->jobs_running;
      n->whole_node_jobs -= a.whole_nodes;
      n->shared_jobs -= a.oversubscribe;
      if (n->jobs_running == 0) n->exclusive_user = false, n->mcs_label.clear();
    }
    for (const GresShare& g : s.gres) {
      if (!is_consumed(*n->spec, g)) continue;
      sign > 0 ? add_gres(n->gres_used, g) : remove_gres(n->gres_used, g);
    }
  }
  for (uint32_t id : a.fenced) {
    Node* n = c.nodes.edit(id);
    n->fences = sign > 0 ? n->fences + 1 : n->fences - 1;
    n->flags = n->fences > 0 ? n->flags | kNodeBlocked : n->flags & ~kNodeBlocked;
  }
  if (!a.fenced.empty()) ++c.nodes_epoch;
  ++c.use_epoch;
}

// Starts one item as slurmctld's apply would; returns the job that started.
inline JobId apply_start(Cluster& c, const StartItem& item, Time now) {
  Job* from = c.jobs.edit(item.job.value);
  const Charge was = Charge::of(*from, c.partitions);
  Job run = *from;
  JobId id = item.job;
  if (item.array_task != kNoArrayTask) {
    auto left = std::make_shared<ArrayTasks>(*from->array_tasks);
    left->pending.reset(item.array_task);
    const bool last = left->pending.none();
    from->array_tasks = last ? nullptr : left;
    if (!last) {
      id = run.id = c.last_job_id = JobId(c.last_job_id.value + 1);
    }
    run.array_task = item.array_task;
    run.array_tasks = nullptr;
    ++c.arrays.edit(run.array_job_id.value)->running;
  }
  run.state = JobState::kRunning;
  run.allocation = item.allocation;
  run.partition = item.partition;
  run.started = now;
  if (item.time_limit_min) run.time_limit_min = *item.time_limit_min;
  run.ends = run.time_limit_min == kUnlimited32 ? Time{} : now + minutes(run.time_limit_min);
  hold_nodes(c, *run.allocation, run.request->uid, run.partition, 1);
  c.count_licenses(run, true);
  c.recharge(was, id == item.job ? Charge() : Charge::of(*from, c.partitions));
  c.recharge({}, Charge::of(run, c.partitions));
  c.jobs.set(id.value, std::move(run));
  ++c.jobs_epoch;
  return id;
}
inline void apply_starts(Cluster& c, const Plan& plan, Time now) {
  for (const StartItem& item : plan.starts) {
    apply_start(c, item, now);
    for (const StartItem& other : item.together) apply_start(c, other, now);
  }
}
// Makes these jobs, whose ids follow one another, the components of one.
inline void join(Cluster& c, const std::vector<JobId>& ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    c.jobs.edit(ids[i].value)->het = {ids[0], static_cast<uint16_t>(i), static_cast<uint16_t>(ids.size())};
}
inline void end_job(Cluster& c, JobId id, Time now) {
  Job* job = c.jobs.edit(id.value);
  hold_nodes(c, *job->allocation, job->request->uid, job->partition, -1);
  c.count_licenses(*job, false);
  c.recharge(Charge::of(*job, c.partitions), {});
  if (job->array_task != kNoArrayTask) --c.arrays.edit(job->array_job_id.value)->running;
  job->state = JobState::kCompleted;
  job->ended = now;
  ++c.jobs_epoch;
}

inline const Verdict* verdict_of(const Plan& plan, JobId id) {
  for (const auto& [job, verdict] : plan.verdicts)
    if (job == id) return &verdict;
  return nullptr;
}
inline const StartItem* start_of(const Plan& plan, JobId id) {
  for (const StartItem& item : plan.starts)
    if (item.job == id) return &item;
  return nullptr;
}

}  // namespace muster::sched
