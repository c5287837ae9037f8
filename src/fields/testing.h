// Rows for tests. They are the small cluster on which Debian's Slurm was observed, so expected texts are Slurm's own output.
#pragma once

#include <string>
#include <vector>

#include "fields/environment.h"

namespace muster::fields {

inline constexpr int64_t kNow = 1795252815;  // Sat Nov 21 09:20:15 2026 UTC

inline Environment test_environment() {
  Environment env;
  env.now = from_unix(kNow);
  env.cluster = "orc";
  env.user_name = [](Uid u) { return u == Uid{} ? std::string("root") : std::string(); };
  env.group_name = [](Gid g) { return g == Gid{} ? std::string("root") : std::string(); };
  return env;
}

struct TestJob {
  JobRow row;
  ShownRequest request;
  TestJob(uint32_t id, std::string name, std::string partition) {
    row.id = JobId(id);
    row.partition = std::move(partition);
    row.nodes = row.cpus = row.tasks = 1;
    row.submitted = row.eligible = from_unix(kNow - 7);
    row.time_limit_min = 1440;
    row.priority = 4294901760u - id;
    request.name = std::move(name);
    request.user_name = "root";
    request.work_dir = "/tmp/w";
    request.alloc_node = "localhost";
    request.alloc_sid = 26569;
  }
  TestJob& runs(std::string nodes) {
    row.state = JobState::kRunning;
    row.started = from_unix(kNow - 5);
    row.ends = row.started + minutes(row.time_limit_min);
    row.node_list = row.batch_host = std::move(nodes);
    return *this;
  }
  TestJob& waits(Reason reason) {
    row.reason = reason;
    return *this;
  }
};

inline NodeRow test_node(const std::string& name, NodeState state, std::vector<std::string> partitions, bool big) {
  NodeRow n;
  n.name = name;
  n.hostname = "localhost";
  n.address = "127.0.0.1";
  n.port = 27821;
  n.version = "22.05.8";
  n.arch = "x86_64";
  n.os = "Linux 6.18";
  n.state = state;
  n.has_jobs = state == NodeState::kMixed || state == NodeState::kAllocated;
  n.cpus = n.cpus_effective = big ? 8 : 4;
  n.sockets = big ? 2 : 4;
  n.cores_per_socket = big ? 4 : 1;
  n.threads_per_core = 1;
  n.real_memory_mb = big ? 4000 : 2000;
  n.tmp_disk_mb = big ? 1000 : 0;
  n.weight = big ? 2 : 1;
  if (big) n.features = n.features_active = {"fast", "ib"};
  if (big) n.gres = "gpu:a100:2";
  n.partitions = std::move(partitions);
  return n;
}

inline PartitionRow test_partition(uint32_t index, const std::string& name) {
  PartitionRow p;
  p.partition.index = index;
  p.partition.name = name;
  return p;
}

struct TestCluster {
  std::vector<PartitionRow> partitions;
  std::vector<NodeRow> nodes;
  TestCluster() {
    partitions = {test_partition(0, "main"), test_partition(1, "big"), test_partition(2, "adown"),
                  test_partition(3, "a_really_long_partition_name")};
    partitions[0].partition.is_default = true;
    partitions[0].partition.max_time_min = 1440;
    partitions[1].partition.oversubscribe = OverSubscribe::kForce;
    partitions[1].partition.oversubscribe_count = 2;
    partitions[1].partition.default_time_min = 30;
    partitions[1].partition.priority_tier = 5;
    partitions[2].partition.state = PartitionState::kDown;
    partitions[2].partition.root_only = true;
    partitions[2].partition.min_nodes = 2;
    partitions[2].partition.max_nodes = 3;
    partitions[3].partition.allow_groups = {"root"};
    for (int i = 1; i <= 4; ++i) nodes.push_back(test_node("n" + std::to_string(i), NodeState::kMixed, {"main", "big"}, true));
    nodes[3].state = NodeState::kIdle;
    nodes[3].has_jobs = false;
    std::vector<std::string> small = {"main", "adown", "a_really_long_partition_name"};
    nodes.push_back(test_node("n5", NodeState::kMixed, small, false));
    nodes.push_back(test_node("n6", NodeState::kMixed, small, false));
    nodes[5].flags = kNodeDrain;
    nodes[5].reason = "bad disk with a quite long reason text";
    nodes[5].reason_time = from_unix(kNow - 4);
    nodes.push_back(test_node("n9", NodeState::kUnknown, {"big"}, false));
    nodes[6].flags = kNodeNoRespond;
    nodes[6].version.clear();
    nodes[0].cpus_allocated = nodes[1].cpus_allocated = 3;
    nodes[2].cpus_allocated = nodes[4].cpus_allocated = nodes[5].cpus_allocated = 1;
  }
};

}  // namespace muster::fields
