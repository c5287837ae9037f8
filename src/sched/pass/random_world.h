// A random machine and site per seed, and random requests for it, for property tests. Every resource that is handed out (CPUs, cores and
// sockets; memory; devices, shares of them, counted GRES; licences; leaves of a topology) and every way to share it or to keep it back
// turns up.
#pragma once

#include <random>

#include "sched/request/layers_testing.h"
#include "sched/testing.h"

namespace muster::sched {

struct RandomWorld {
  static inline const Time kBegin = from_unix(1'000'020);
  std::mt19937 rng;
  Params params;
  Cluster cluster;
  bool labelled = false;  // MCS labels are in use

  explicit RandomWorld(uint32_t seed) : rng(seed) {
    choose_params();
    const uint32_t count = 2 + roll(9);
    auto machine = a_cluster().nodes(count).layout(1 + roll(2), 1 + roll(6), 1 + roll(2)).memory(4000);
    if (roll(2)) machine.gres("gpu", "a", 1 + roll(4), roll(2)).gres("gpu", "b", roll(3));
    const bool counted = roll(3) == 0;
    machine.node([&](Node& n, NodeSpec& s) {
      s.weight = 1 + roll(2);
      s.features = {roll(2) ? "x" : "y"};
      n.extra = says();
      if (roll(8) == 0) n.flags = kNodeDrain;
      if (roll(6) == 0) s.specialized_cpus.set(roll(s.cpus));
      if (roll(6) == 0) s.specialized_mem_mb = roll(1500);
      if (roll(6) == 0) s.restricted_cores_per_gpu = 1;
      if (roll(2)) share_gpus(s, roll(4) ? "shard" : "mps", 1 + roll(5));
      if (counted) s.gres.push_back({"bandwidth", "", 1 + roll(9), 0, true, {}, {}, {}, 0, false});
    });
    machine.partition([this](Partition& p) {
      if (roll(3) == 0) p.oversubscribe = roll(2) ? OverSubscribe::kYes : OverSubscribe::kForce;
      p.oversubscribe_count = 1 + roll(3);
      if (roll(6) == 0) p.max_cpus_per_socket = 1 + roll(4);
      if (roll(8) == 0) p.max_cpus_per_node = 1 + roll(8);
    });
    cluster = machine.build();
    if (roll(3) == 0) add_overlapping();
    const uint32_t leaf = 1 + roll(4), leaves = (count + leaf - 1) / leaf;
    if (const uint32_t kind = roll(4); kind == 1) give_tree(cluster, leaves, leaf, roll(4) == 0, count);
    else if (kind == 2) give_blocks(cluster, leaves, leaf, {leaf, 2 * leaf}, count);
    if (roll(3) == 0) give_layers(count);
    labelled = roll(3) == 0;
    params.keep_by_label = static_cast<Params::ByLabel>(roll(3));
  }

  uint32_t roll(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
  // What a node says of itself, which jobs ask about.
  std::string says() { return R"({"load": )" + std::to_string(roll(4)) + R"(, "idle": )" + (roll(8) ? "false}" : "true}"); }

  JobBuilder job() {
    JobBuilder builder = a_job().priority(1 + roll(5)).minutes(1 + roll(120)).user(roll(3));
    if (roll(3)) builder.tasks(1 + roll(12));
    if (roll(3) == 0) builder.nodes(1 + roll(4));
    if (roll(4) == 0) builder.cpus_per_task(1 + roll(4));
    if (roll(5) == 0) builder.tasks_per_node(1 + roll(3));
    if (roll(4) == 0) builder.exclusive();
    if (roll(4) == 0) builder.mem(roll(3000));
    if (roll(12) == 0) builder.mem_per_cpu(roll(900));
    want_gres(builder);
    if (roll(6) == 0) builder.on(roll(2) ? "x" : "[x|y]");
    JobRequest& request = builder.request;
    if (roll(9) == 0) request.contiguous = true;
    if (roll(9) == 0) request.hint = "nomultithread";
    if (roll(9) == 0) request.ntasks_per_socket = 1 + roll(2);
    if (roll(9) == 0) request.distribution = "cyclic:block";
    if (roll(12) == 0) request.exclusive = Exclusive::kUser;
    if (labelled && roll(2)) request.mcs_label = roll(2) ? "red" : "blue";
    if (labelled && roll(6) == 0) request.exclusive = Exclusive::kMcs;
    if (roll(16) == 0) request.exclusive = Exclusive::kTopo;
    if (roll(8) == 0) request.exclusive = Exclusive::kOversubscribe;
    if (roll(8) == 0) request.licenses = roll(2) ? "a:2" : "b|a";
    if (params.layers && roll(2)) request.licenses = asks_of_layers();
    if (roll(9) == 0) request.time_min_min = 1 + roll(20);
    if (roll(12) == 0) request.core_spec = 1;
    if (roll(12) == 0) request.prefer = "x";
    if (params.extra_constraints && roll(3) == 0) request.extra_constraint = "load<" + std::to_string(1 + roll(3)) + "|idle=true";
    if (roll(12) == 0) request.use_min_nodes = true, builder.nodes(1, 3);
    if (roll(12) == 0) request.spread_job = true;
    if (roll(12) == 0) request.cpus_per_gpu = 2;
    if (cluster.topologies) want_topology(builder);
    if (cluster.partitions.size() > 1 && roll(2)) builder.in(1);
    return builder;
  }

 private:
  // Halves of the nodes, and all of them; some layers with nothing, some without end.
  void give_layers(uint32_t count) {
    auto hres = [&](const char* name, HresMode mode, uint64_t most) {
      Hres out{name, mode, {}, {}, {}};
      const uint32_t half = count / 2;
      auto amount = [&] { return roll(9) == 0 ? 0 : roll(9) == 0 ? HresLayer::kEndless : 1 + roll(static_cast<uint32_t>(most)); };
      out.layers.push_back(a_layer(name, 0, half - 1, amount(), roll(3)));
      out.layers.push_back(a_layer(name, half, count - 1, amount()));
      out.layers.push_back(a_layer(name, 0, count - 1, amount(), roll(3)));
      return out;
    };
    set_layers(params, hierarchies({hres("one", HresMode::kOne, 6), hres("all", HresMode::kAll, 6), hres("sum", HresMode::kSum, 12)}));
  }

  std::string asks_of_layers() {
    std::string out;
    auto ask = [&](const char* name) { out += (out.empty() ? "" : ",") + std::string(name) + ":" + std::to_string(1 + roll(3)); };
    if (roll(2)) ask("one");
    if (roll(2)) ask("all");
    if (roll(2)) ask("sum");
    if (roll(4) == 0) ask("a");
    return out;
  }

  // A second partition over the same nodes, with limits and sharing of its own.
  void add_overlapping() {
    Partition p = cluster.partitions.at(0);
    p.name = "other";
    p.is_default = false;
    p.oversubscribe = roll(2) ? OverSubscribe::kForce : OverSubscribe::kNo;
    p.oversubscribe_count = 1 + roll(3);
    p.max_cpus_per_socket = roll(4) ? kUnlimited32 : 1 + roll(4);
    p.max_cpus_per_node = roll(3) ? kUnlimited32 : 1 + roll(8);
    p.priority_tier = 1 + roll(2);
    ClusterBuilder::add_partition(cluster, std::move(p));
  }

  void choose_params() {
    params.allocate_cores = roll(2);
    params.allocate_sockets = params.allocate_cores && roll(6) == 0;
    params.memory_consumable = roll(2);
    params.block_cores = roll(4) == 0;
    params.enforce_binding = roll(8) == 0;
    params.several_sharing = roll(2);
    params.one_task_per_sharing = roll(2);
    params.spread_shared = roll(2);
    params.job_core_spec = roll(2);
    params.linear = roll(12) == 0;
    params.extra_constraints = roll(3) == 0;
    params.lln = roll(8) == 0;
    params.licenses = {{"a", 1 + roll(4)}, {"b", 2}};
    params.topology.optional = roll(6) == 0;
    params.priority.multifactor = roll(2);
    params.priority.weight_age = roll(2) * 1000;
    params.priority.max_age = minutes(60);
  }

  // Splits each GPU into `each` shares.
  static void share_gpus(NodeSpec& s, const char* name, uint64_t each) {
    std::vector<GresDevices> shares;
    for (const GresDevices& g : s.gres)
      for (uint32_t i = 0; g.name == "gpu" && i < g.count; ++i)
        shares.push_back({name, g.type, each, g.first_index + i, false, {}, g.cores, {}, 0, true});
    s.gres.insert(s.gres.end(), shares.begin(), shares.end());
  }

  void want_gres(JobBuilder& b) {
    std::string each;
    auto want = [&](const std::string& text) { each += (each.empty() ? "gres/" : ",gres/") + text; };
    if (roll(4) == 0) want("gpu:" + std::to_string(1 + roll(3)));
    else if (roll(9) == 0) want("gpu:b:1");
    else if (roll(5) == 0) want((roll(4) ? "shard:" : "mps:") + std::to_string(1 + roll(6)));
    if (roll(6) == 0) want("bandwidth:" + std::to_string(1 + roll(5)));
    if (!each.empty()) b.gres(each);
    if (roll(9) == 0) b.job_gpus(1 + roll(4));
    if (roll(12) == 0) b.request.tres_per_task = "gres/shard:" + std::to_string(1 + roll(2));
  }

  void want_topology(JobBuilder& b) {
    const bool tree = cluster.topologies->all[0].kind == TopologyKind::kTree;
    if (tree && roll(5) == 0) {
      b.request.switches = 1 + roll(2);
    } else if (!tree && roll(4) == 0) {
      b.request.segment = 1 + roll(3);
      b.nodes(b.request.segment * (1 + roll(2)));
      b.request.spread_segments = roll(3) == 0;
      b.request.consolidate_segments = roll(3) == 0;
    }
  }
};

}  // namespace muster::sched
