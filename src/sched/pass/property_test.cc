// Random machines, requests and histories. A failure prints the seed.
//
//   MUSTER_PLACEMENTS=1000000 sched_test --gtest_filter='Property.NothingIsHandedOutTwice*'
//     goes on until so many jobs were placed (the default is what the unit tier has time for)
//   MUSTER_SEED=91791 MUSTER_PLACEMENTS=1 …
//     begins with that seed
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "sched/pass/pass.h"
#include "sched/pass/random_world.h"
#include "sched/supply/availability.h"

namespace muster::sched {
namespace {

const Time kNow = RandomWorld::kBegin;

// Of the base units (leaf switches or blocks) that the nodes stand in: how many nodes in each.
std::map<size_t, uint32_t> nodes_by_leaf(const Topology& t, const Allocation& a) {
  std::map<size_t, uint32_t> out;
  for (const NodeShare& s : a.nodes)
    for (size_t u = 0; u < t.units.size(); ++u)
      if (std::find(t.units[u].nodes.begin(), t.units[u].nodes.end(), s.node.value) != t.units[u].nodes.end()) ++out[u];
  return out;
}

// Within the switches it asked for while its patience lasts; segments whole within blocks; nobody else in the
// leaves of --exclusive=topo.
void check_topology(const Cluster& c, const Params& params, const StartItem& item, Time now, uint32_t seed) {
  if (!c.topologies) return;
  const Topology& t = c.topologies->all[0];
  const Job& job = c.jobs.at(item.job.value);
  const RequestBody& r = *job.request;
  const auto leaves = nodes_by_leaf(t, *item.allocation);
  if (r.switches && !r.spread_job && now - job.eligible < params.topology.max_switch_wait) {
    EXPECT_LE(leaves.size(), r.switches) << "seed " << seed;
  }
  if (r.exclusive == Exclusive::kTopo && c.partitions.at(item.partition).oversubscribe != OverSubscribe::kForce)
    for (const auto& [leaf, count] : leaves)
      for (uint32_t id : t.units[leaf].nodes) {
        const Node& n = c.nodes.at(id);
        EXPECT_FALSE(node_usable(n) && n.jobs_running > 0) << "someone else in its leaf, seed " << seed;
      }
  if (!r.segment || r.segment > t.block_sizes.front()) return;
  uint32_t pieces = 0;
  std::set<size_t> groups;
  for (const auto& [block, count] : leaves) {
    pieces += count / r.segment;
    groups.insert(block / 2);
    if (r.spread_segments) {
      EXPECT_LE(count, r.segment) << "two pieces in a block, seed " << seed;
    }
  }
  EXPECT_GE(pieces, item.allocation->nodes.size() / r.segment) << "a piece is torn, seed " << seed;
  if (r.consolidate_segments) {
    EXPECT_EQ(groups.size(), 1u) << "seed " << seed;
  }
}

// Checks an item against the cluster as it is before the item: everything handed out is there and free.
void check_item(const Cluster& c, const Params& params, const StartItem& item, Time now, uint32_t seed) {
  const Job& job = c.jobs.at(item.job.value);
  auto fits = still_fits(c, params, *job.request, item, from_unix(1000000), 60);
  ASSERT_TRUE(fits) << "seed " << seed << ": " << fits.error().message() << " " << fits.error().hint;
  uint32_t last = 0;
  uint64_t tasks = 0;
  for (size_t i = 0; i < item.allocation->nodes.size(); ++i) {
    const NodeShare& s = item.allocation->nodes[i];
    EXPECT_TRUE(i == 0 || s.node.value > last) << "rank order, seed " << seed;
    last = s.node.value;
    EXPECT_GE(s.tasks, 1u) << "seed " << seed;
    tasks += s.tasks;
    const Node& n = c.nodes.at(s.node.value);
    EXPECT_FALSE(!job.request->core_spec && s.cpus.intersects(n.spec->specialized_cpus)) << "seed " << seed;
    EXPECT_EQ(s.taken_back.to_ranges(), (s.cpus & n.spec->specialized_cpus).to_ranges()) << "seed " << seed;
    const Kind kind = make_kind(n, params.allocate_cores || params.linear);
    const bool gpus =
        std::any_of(s.gres.begin(), s.gres.end(), [](const GresShare& g) { return g.name == "gpu" || is_shared_gres(g.name); });
    s.cpus.for_each([&](size_t cpu) {
      const bool kept = kind.restricted.test(kind.core_of_cpu(static_cast<uint32_t>(cpu)));
      EXPECT_FALSE(kept && !gpus && !item.allocation->whole_nodes) << "kept for GPUs, seed " << seed;
    });
    const uint32_t threads = n.spec->threads_per_core;
    if (params.allocate_cores && !n.spec->specialized_cpus.any() && !job.request->core_spec) {
      EXPECT_EQ(s.cpus.count() % threads, 0u) << "half a core, seed " << seed;
    }
    const uint64_t cpus = uint64_t{s.tasks} * std::max(job.request->cpus_per_task, 1u);
    EXPECT_GE(s.cpus.count(), cpus) << "seed " << seed;
    EXPECT_TRUE(!params.extra_constraints || job.request->extra_constraint->met_by(n.extra.value())) << n.extra.text() << ", seed " << seed;
  }
  const RequestBody& r = *job.request;
  if (r.num_tasks) {
    EXPECT_EQ(tasks, r.num_tasks) << "seed " << seed;
  }
  if (r.max_nodes) {
    EXPECT_LE(item.allocation->nodes.size(), r.max_nodes) << "seed " << seed;
  }
  const uint32_t least = r.num_tasks ? std::min(r.min_nodes, r.num_tasks) : r.min_nodes;
  EXPECT_GE(item.allocation->nodes.size(), least) << "seed " << seed;
  if (r.contiguous && !c.topologies) {
    EXPECT_EQ(last - item.allocation->nodes.front().node.value + 1, item.allocation->nodes.size()) << "seed " << seed;
  }
  check_topology(c, params, item, now, seed);
}

std::string print(const Plan& p) {
  std::string out;
  for (const StartItem& s : p.starts) {
    out += "start " + std::to_string(s.job.value) + "/" + std::to_string(s.array_task) + ":";
    for (const NodeShare& n : s.allocation->nodes) {
      out += " " + std::to_string(n.node.value) + "=" + n.cpus.to_ranges();
      for (const GresShare& g : n.gres) out += " " + g.name + ":" + g.type + "@" + g.devices.to_ranges();
    }
    out += "\n";
  }
  auto verdicts = p.verdicts;
  std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [id, v] : verdicts)
    out += std::to_string(id.value) + " " + std::string(reason_name(v.reason)) + " " + std::to_string(unix_seconds(v.expected_start)) +
           " " + v.expected_nodes.str() + "\n";
  return out;
}

// Recounts from the running jobs what each node hands out: no CPU to more jobs than may share it, no byte, device,
// share of a device or licence twice; and that the nodes' own counters say the same.
void check_books(const Cluster& c, const Params& params, uint32_t seed) {
  struct Held {
    std::map<size_t, uint32_t> jobs_on_cpu;
    std::map<uint32_t, std::map<size_t, uint32_t>> by_partition;  // the same of each partition
    std::map<uint32_t, Bitmap> limited;                           // CPUs that count against MaxCPUsPerNode and -PerSocket
    std::set<size_t> unshared;                                    // CPUs of a job that shares nothing
    uint64_t mem_mb = 0;
    std::map<std::string, std::map<size_t, uint64_t>> devices;  // by name: shares of each, or 1
    uint32_t alone = 0, jobs = 0;
    std::set<uint32_t> users, keeping_users;  // of its jobs; of those with --exclusive=user
    std::set<std::string> labels, keeping_labels;
  };
  std::map<uint32_t, Held> held;
  std::map<std::string, uint64_t> licenses;
  c.jobs.for_each([&](uint32_t, const Job& j) {
    if (j.state != JobState::kRunning) return;
    for (const LicenseShare& l : j.allocation->licenses) licenses[l.name] += l.count;
    for (const NodeShare& s : j.allocation->nodes) {
      Held& h = held[s.node.value];
      s.cpus.for_each([&](size_t cpu) {
        ++h.jobs_on_cpu[cpu];
        ++h.by_partition[j.partition][cpu];
        if (!j.allocation->whole_nodes && !params.linear) h.limited[j.partition].set(cpu);
        if (!j.allocation->oversubscribe) h.unshared.insert(cpu);
      });
      h.mem_mb += s.mem_mb;
      h.alone += j.allocation->whole_nodes;
      ++h.jobs;
      h.users.insert(j.request->uid.value);
      h.labels.insert(j.request->mcs_label);
      if (j.allocation->exclusive_user) h.keeping_users.insert(j.request->uid.value);
      if (!j.allocation->mcs_label.empty()) h.keeping_labels.insert(j.allocation->mcs_label);
      for (const GresShare& g : s.gres)
        g.devices.for_each([&](size_t d) { h.devices[g.name][d] += g.shares.empty() ? 1 : g.shares_on(d); });
    }
  });
  for (const auto& [id, h] : held) {
    const Node& n = c.nodes.at(id);
    Bitmap used(n.spec->cpus);
    for (const auto& [cpu, jobs] : h.jobs_on_cpu) {
      if (h.unshared.contains(cpu)) {
        EXPECT_EQ(jobs, 1u) << "CPU " << cpu << " of node " << id << ", seed " << seed;
      }
      used.set(cpu);
    }
    EXPECT_EQ(used.to_ranges(), n.cpus_used.to_ranges()) << "seed " << seed;
    std::set<uint32_t> tiers;
    for (const auto& [partition, jobs] : h.by_partition)
      for (const auto& [cpu, count] : jobs) {
        EXPECT_LE(count, c.partitions.at(partition).oversubscribe_count) << "CPU " << cpu << " of node " << id << ", seed " << seed;
        if (h.jobs_on_cpu.at(cpu) > count) tiers.insert(c.partitions.at(partition).priority_tier);
      }
    EXPECT_LE(tiers.size(), 1u) << "partitions of two tiers share CPUs of node " << id << ", seed " << seed;
    for (const auto& [partition, cpus] : h.limited) {
      const Partition& p = c.partitions.at(partition);
      const Kind kind = make_kind(n, params.allocate_cores || params.linear);
      EXPECT_TRUE((PartitionLimit{p.max_cpus_per_node, p.max_cpus_per_socket}.allows(kind.sockets, kind.cpus, cpus, {})))
          << cpus.to_ranges() << " of partition " << p.name << " on node " << id << ", seed " << seed;
    }
    EXPECT_EQ(h.mem_mb, n.mem_used_mb) << "seed " << seed;
    if (params.memory_consumable) {
      EXPECT_LE(h.mem_mb, n.spec->real_memory_mb) << "seed " << seed;
    }
    if (h.alone) {
      EXPECT_EQ(h.jobs, 1u) << "seed " << seed;
    }
    if (!h.keeping_users.empty()) {
      EXPECT_EQ(h.users.size(), 1u) << "another user on node " << id << ", seed " << seed;
    }
    if (!h.keeping_labels.empty()) {
      EXPECT_EQ(h.labels.size(), 1u) << "another label on node " << id << ", seed " << seed;
    }
    for (const auto& [name, devices] : h.devices)
      for (const auto& [device, count] : devices) {
        uint64_t there = 0;
        for (const GresDevices& g : n.spec->gres)
          if (g.name == name)
            there += g.shared ? (g.first_index == device ? g.count : 0) : device >= g.first_index && device < g.first_index + g.count;
        EXPECT_LE(count, there) << name << " " << device << " of node " << id << ", seed " << seed;
        if (name == "shard" && h.devices.contains("gpu")) {
          EXPECT_FALSE(h.devices.at("gpu").contains(device)) << "GPU " << device << " twice, seed " << seed;
        }
      }
  }
  for (const auto& [name, total] : params.licenses) {
    EXPECT_LE(licenses[name], total) << "seed " << seed;
    EXPECT_EQ(licenses[name], c.license_used(name)) << "seed " << seed;
  }
}

// A job holds of each resource what its mode says, from layers that have nodes of it. That no layer gives more than it has: check_books.
void check_layers(const Params& params, const RequestBody& r, const Allocation& a, uint32_t seed) {
  if (!params.hierarchies) return;
  Bitmap nodes;
  for (const NodeShare& s : a.nodes) nodes.set(s.node.value);
  for (const LicenseShare& asked : r.licenses->list) {
    const Hres* h = params.hierarchies->find(asked.name);
    if (!h) continue;
    size_t drawn = 0;
    for (const HresLayer& layer : h->layers) {
      const size_t common = layer.nodes.count_and(nodes);
      const auto it = std::ranges::find(a.licenses, layer.name, &LicenseShare::name);
      const uint64_t got = it == a.licenses.end() ? 0 : it->count;
      if (h->mode == HresMode::kOne) drawn += got == asked.count && common;
      else EXPECT_EQ(got, h->mode == HresMode::kSum ? asked.count * common : common ? asked.count : 0) << layer.name << ", seed " << seed;
    }
    if (h->mode == HresMode::kOne) {
      EXPECT_EQ(drawn, 1u) << "seed " << seed;
    }
    EXPECT_TRUE(h->nodes().contains(nodes)) << "seed " << seed;
  }
}

TEST(Property, NothingIsHandedOutTwiceAndPlansAreRepeatable) {
  size_t starts = 0, gangs = 0, devices = 0, shared = 0, shares = 0, licensed = 0, lowered = 0;
  size_t in_topology = 0, segmented = 0, beside = 0, by_extra = 0, layered = 0, summed = 0;
  const char* text = std::getenv("MUSTER_PLACEMENTS");
  const size_t wanted = text ? std::strtoull(text, nullptr, 10) : 4000;
  const char* first = std::getenv("MUSTER_SEED");
  for (auto seed = static_cast<uint32_t>(first ? std::strtoul(first, nullptr, 10) : 1); starts < wanted; ++seed) {
    RandomWorld w(seed);
    Planner kept;
    Time now = kNow;
    for (int turn = 0; turn < 8; ++turn) {
      for (uint32_t i = w.roll(8); i > 0; --i) {
        if (w.roll(6) == 0) submit_array(w.cluster, w.job(), 1 + w.roll(5), w.roll(3), now);
        else submit(w.cluster, w.job(), now);
      }
      const Pass pass = w.roll(2) ? Pass::kFull : Pass::kQuick;
      const Plan plan = kept.plan(w.cluster, w.params, now, pass);
      ASSERT_EQ(print(plan), print(Planner().plan(w.cluster, w.params, now, pass))) << "cached and fresh differ, seed " << seed;
      for (const StartItem& item : plan.starts) {
        check_item(w.cluster, w.params, item, now, seed);
        if (::testing::Test::HasFailure()) return;
        apply_start(w.cluster, item, now);
        ++starts;
        gangs += item.allocation->nodes.size() > 1;
        devices += !item.allocation->nodes[0].gres.empty();
        shared += item.allocation->oversubscribe;
        for (const GresShare& g : item.allocation->nodes[0].gres) shares += !g.shares.empty();
        in_topology += w.cluster.topologies && item.allocation->nodes.size() > 1;
        segmented += w.cluster.jobs.at(item.job.value).request->segment > 0;
        licensed += !item.allocation->licenses.empty();
        check_layers(w.params, *w.cluster.jobs.at(item.job.value).request, *item.allocation, seed);
        for (const LicenseShare& l : item.allocation->licenses) layered += names_layer(l.name), summed += l.name.starts_with("sum(");
        const Node& first = w.cluster.nodes.at(item.allocation->nodes[0].node.value);
        beside += !first.mcs_label.empty() && first.jobs_running > 1;
        lowered += item.time_limit_min.has_value();
        by_extra += !w.cluster.jobs.at(item.job.value).request->extra_constraint.empty();
      }
      check_books(w.cluster, w.params, seed);
      if (::testing::Test::HasFailure()) return;
      now += minutes(w.roll(30));
      std::vector<JobId> ended;
      w.cluster.jobs.for_each([&](uint32_t id, const Job& j) {
        if (j.state == JobState::kRunning && (j.ends <= now || w.roll(8) == 0)) ended.push_back(JobId(id));
      });
      for (JobId id : ended) end_job(w.cluster, id, now);
      if (w.roll(5) == 0) {
        Node* n = w.cluster.nodes.edit(w.roll(static_cast<uint32_t>(w.cluster.nodes.size())));
        n->flags ^= kNodeDrain;
        ++w.cluster.nodes_epoch;
      }
      if (w.roll(3) == 0) {
        w.cluster.nodes.edit(w.roll(static_cast<uint32_t>(w.cluster.nodes.size())))->extra = w.says();
        ++w.cluster.nodes_epoch;
      }
    }
  }
  if (starts < 4000) return;
  // The worlds are not all too small for what they are to show.
  EXPECT_GT(gangs, 500u);
  EXPECT_GT(devices, 200u);
  EXPECT_GT(shared, 200u);
  EXPECT_GT(shares, 50u);
  EXPECT_GT(licensed, 100u);
  EXPECT_GT(lowered, 5u);
  EXPECT_GT(in_topology, 100u);
  EXPECT_GT(segmented, 20u);
  EXPECT_GT(beside, 5u);
  EXPECT_GT(by_extra, 50u);
  EXPECT_GT(layered, 200u);
  EXPECT_GT(summed, 50u);
}

// A planner that remembers its last full pass plans what a fresh one plans: while time passes, jobs come behind the others and between them,
// are held, cancelled, start and end, and nodes are drained.
TEST(Property, APlanFromMemoryIsThePlanFromScratch) {
  size_t recalled = 0, places = 0, passes = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    RandomWorld w(seed);
    Availability nodes;
    Pending pending;
    ProfileMemory memory;
    Time now = kNow;
    for (uint32_t i = 10 + w.roll(20); i > 0; --i) {
      if (w.roll(8) == 0) submit_array(w.cluster, w.job(), 1 + w.roll(5), w.roll(3), now);
      else submit(w.cluster, w.job(), now);
    }
    for (int turn = 0; turn < 12; ++turn) {
      std::vector<JobId> waiting, running;
      w.cluster.jobs.for_each([&](uint32_t id, const Job& j) {
        if (j.state == JobState::kRunning) running.push_back(JobId(id));
        else if (j.pending() && !j.array_tasks) waiting.push_back(JobId(id));
      });
      switch (w.roll(8)) {
        case 0: submit(w.cluster, w.job(), now); break;
        case 1: submit(w.cluster, w.job().priority(1), now); break;
        case 2:
          if (!waiting.empty()) w.cluster.jobs.erase(waiting[w.roll(static_cast<uint32_t>(waiting.size()))].value);
          break;
        case 3:
          if (!running.empty()) end_job(w.cluster, running[w.roll(static_cast<uint32_t>(running.size()))], now);
          break;
        case 4:
          if (w.roll(3) == 0) {
            w.cluster.nodes.edit(w.roll(static_cast<uint32_t>(w.cluster.nodes.size())))->flags ^= kNodeDrain;
            ++w.cluster.nodes_epoch;
          }
          break;
        case 5: now += minutes(w.roll(20)); break;
        default: now += seconds(w.roll(90)); break;
      }
      for (JobId id : running)
        if (w.cluster.jobs.at(id.value).state == JobState::kRunning && w.cluster.jobs.at(id.value).ends <= now && w.roll(8))
          end_job(w.cluster, id, now);  // and now and then a job overruns
      nodes.update(w.cluster.nodes, w.params);
      nodes.reserve(w.cluster, w.params, now);
      pending.update(w.cluster, w.params, now);
      const Plan plan = PlanPass(w.cluster, w.params, now, Pass::kFull, nodes, pending, &memory).run();
      ASSERT_EQ(print(plan), print(Planner().plan(w.cluster, w.params, now, Pass::kFull))) << "seed " << seed << " turn " << turn;
      recalled += memory.recalled();
      for (const auto& [id, v] : plan.verdicts) places += v.expected_start != Time{};
      passes += memory.recalled() > 0;
      apply_starts(w.cluster, plan, now);
    }
  }
  EXPECT_GT(recalled * 5, places);
  EXPECT_GT(passes, 1000u);
}

// Steps of one job come and go: what one holds no other gets, and all of it lies within the job.
TEST(Property, StepsShareNothingOfTheirJob) {
  size_t placed = 0, busy = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 rng(seed);
    auto roll = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
    Cluster c = a_cluster().nodes(1 + roll(4)).layout(2, 4, 1 + roll(2)).memory(4000).gres("gpu", "a", 4).build();
    const JobId id = submit(c, a_job().nodes(static_cast<uint32_t>(c.nodes.size())).exclusive().gpus(4).mem(2000), kNow);
    apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
    Job* job = c.jobs.edit(id.value);
    ASSERT_EQ(job->state, JobState::kRunning);
    for (uint32_t n = 0; n < 12; ++n) {
      if (!job->steps.empty() && roll(3) == 0) job->steps.erase(job->steps.begin() + roll(static_cast<uint32_t>(job->steps.size())));
      StepRequest r;
      r.num_tasks = roll(7);
      r.exact = roll(4) != 0;
      if (roll(2)) r.cpus_per_task = 1 + roll(3);
      if (roll(3) == 0) r.min_nodes = r.max_nodes = 1 + roll(3);
      r.tres_per_node = roll(2) ? "gres/gpu:" + std::to_string(roll(3)) : "none";
      if (roll(3) == 0) r.mem_per_node_mb = roll(1200);
      if (roll(8) == 0) r.overlap = true;
      if (roll(6) == 0) r.exclusive = true;
      if (roll(8) == 0) r.relative = static_cast<int32_t>(roll(3));
      if (roll(8) == 0) r.cpus_per_gpu = 1;
      const auto shares = place_step(c, *job, r, StepBounds{});
      if (!shares) {
        busy += shares.error().code == Errc::kNodesBusy;
        continue;
      }
      ++placed;
      uint32_t tasks = 0;
      for (const StepShare& s : *shares) {
        tasks += s.task_count;
        ASSERT_LT(s.node_index, job->allocation->nodes.size());
        const NodeShare& whole = job->allocation->nodes[s.node_index];
        EXPECT_TRUE(whole.cpus.contains(s.cpus)) << "seed " << seed;
        EXPECT_GE(s.cpus.count(), s.task_count * std::max(r.cpus_per_task, 1u)) << "seed " << seed;
        if (r.relative > 0) {
          EXPECT_GE(s.node_index, static_cast<uint32_t>(r.relative)) << "seed " << seed;
        }
        if (r.overlap) continue;
        uint64_t mem_mb = r.mem_per_node_mb ? s.mem_mb : 0;
        for (const Step& other : job->steps)
          for (const StepShare& o : other.shares) {
            if (o.node_index != s.node_index || other.overlap) continue;
            if (other.request->mem_per_node_mb) mem_mb += o.mem_mb;
            EXPECT_FALSE(o.cpus.intersects(s.cpus)) << "seed " << seed;
            for (const GresShare& g : s.gres)
              for (const GresShare& h : o.gres) EXPECT_FALSE(g.devices.intersects(h.devices)) << "seed " << seed;
          }
        EXPECT_LE(mem_mb, whole.mem_mb) << "seed " << seed;
      }
      if (r.num_tasks) {
        EXPECT_EQ(tasks, r.num_tasks) << "seed " << seed;
      }
      Step step;
      step.id = StepId(n);
      step.request = std::make_shared<const StepRequest>(r);
      step.overlap = r.overlap;
      step.shares = *shares;
      job->steps.push_back(std::move(step));
    }
  }
  EXPECT_GT(placed, 300u);
  EXPECT_GT(busy, 100u);
}

// What a queue is promised does not change when jobs of lower priority come behind it.
TEST(Property, ALaterJobDelaysNobody) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    RandomWorld w(seed);
    for (uint32_t p = 0; p < w.cluster.partitions.size(); ++p) w.cluster.partitions.edit(p)->priority_tier = 1;
    for (int i = 0; i < 8; ++i) submit(w.cluster, w.job().priority(9000), kNow);
    apply_starts(w.cluster, Planner().plan(w.cluster, w.params, kNow, Pass::kFull), kNow);
    for (int i = 0; i < 10; ++i) submit(w.cluster, w.job().priority(8000), kNow);
    const Plan alone = Planner().plan(w.cluster, w.params, kNow, Pass::kFull);
    for (int i = 0; i < 20; ++i) submit(w.cluster, w.job().priority(10), kNow);
    const Plan crowded = Planner().plan(w.cluster, w.params, kNow, Pass::kFull);
    for (const auto& [id, v] : alone.verdicts) {
      const Verdict* then = verdict_of(crowded, id);
      ASSERT_TRUE(then) << "seed " << seed;
      EXPECT_EQ(v.expected_start, then->expected_start) << "job " << id.value << " seed " << seed;
    }
    for (const StartItem& s : alone.starts) EXPECT_TRUE(start_of(crowded, s.job)) << "seed " << seed;
  }
}

// Plans the cluster minute by minute until nobody waits. Jobs run exactly as long as their limit. Whoever became the head of
// the queue starts no later than it was first promised.
void expect_promises_kept(Cluster c, const Params& params, uint32_t seed) {
  Planner planner;
  std::unordered_map<uint32_t, Time> promised;
  auto step = [&](Time now) {
    std::vector<JobId> ended;
    bool waiting = false;
    c.jobs.for_each([&](uint32_t id, const Job& j) {
      if (j.state == JobState::kRunning && j.ends <= now) ended.push_back(JobId(id));
      waiting |= j.pending();
    });
    for (JobId id : ended) end_job(c, id, now);
    const Plan p = planner.plan(c, params, now, Pass::kFull);
    for (const StartItem& s : p.starts)
      if (promised.contains(s.job.value)) {
        EXPECT_LE(now, promised[s.job.value]) << "job " << s.job.value << " seed " << seed;
      }
    apply_starts(c, p, now);
    uint32_t head = 0;
    for (const auto& [id, v] : p.verdicts)
      if (v.reason == Reason::kResources && !c.jobs.at(id.value).het) head = id.value;  // the promise to a whole is the worst of its ways
    if (head && !promised.contains(head)) promised[head] = verdict_of(p, JobId(head))->expected_start;
    return waiting;
  };
  Time now = kNow;
  while (now < kNow + minutes(3000) && step(now)) now += minutes(1);
  EXPECT_LT(now, kNow + minutes(3000)) << "some job never started, seed " << seed;
  EXPECT_FALSE(promised.empty()) << "seed " << seed;
}

// Whole nodes, so that counting is exact.
TEST(Property, ThePromiseToTheHeadOfTheQueueIsKept) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 rng(seed);
    Cluster c = a_cluster().nodes(6).cpus(4).build();
    for (int i = 0; i < 30; ++i)
      submit(c, a_job().nodes(1 + rng() % 6).exclusive().minutes(1 + rng() % 40).priority(100 + rng() % 3), kNow);
    expect_promises_kept(std::move(c), {}, seed);
  }
}

// Heterogeneous jobs share nodes beside promises, and delay none.
TEST(Property, ThePromiseToTheHeadIsKeptBesideHeterogeneousJobs) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 rng(seed);
    Cluster c = a_cluster().nodes(3).cpus(4).memory(1000).build();
    Params params;
    params.memory_consumable = rng() % 2;
    for (int i = 0; i < 15; ++i) {
      const uint32_t nodes = 1 + rng() % 3, each = 1 + rng() % 4;
      submit(c,
             a_job()
                 .nodes(nodes, nodes)
                 .tasks(nodes * each)
                 .tasks_per_node(each)
                 .mem(1 + rng() % 400)
                 .minutes(1 + rng() % 40)
                 .priority(100 + rng() % 3),
             kNow);
    }
    for (int i = 0; i < 10; ++i) {
      std::vector<JobId> parts;
      const auto priority = static_cast<uint32_t>(100 + rng() % 3);
      for (uint32_t part = 2 + rng() % 2; part > 0; --part)
        parts.push_back(submit(c, a_job().tasks(1 + rng() % 2).mem(1 + rng() % 300).minutes(1 + rng() % 40).priority(priority), kNow));
      join(c, parts);
    }
    expect_promises_kept(std::move(c), params, seed);
  }
}

// Jobs that share CPUs beside jobs that do not, of all sizes.
TEST(Property, ThePromiseToTheHeadOfASharedPartitionIsKept) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 rng(seed);
    const bool forced = rng() % 2;
    Cluster c = a_cluster()
                    .nodes(2)
                    .layout(1, 4, 1 + rng() % 2)
                    .partition([&](Partition& p) {
                      p.oversubscribe = forced ? OverSubscribe::kForce : OverSubscribe::kYes;
                      p.oversubscribe_count = static_cast<uint32_t>(2 + rng() % 3);
                    })
                    .build();
    for (int i = 0; i < 40; ++i) {
      JobBuilder b = a_job().tasks(1 + rng() % 8).minutes(1 + rng() % 40).priority(100 + rng() % 3);
      if (rng() % 2) b.request.exclusive = Exclusive::kOversubscribe;
      if (rng() % 8 == 0) b.exclusive();
      submit(c, b, kNow);
    }
    expect_promises_kept(std::move(c), {}, seed);
  }
}

// Jobs with and without GPUs on nodes that keep cores for those with.
TEST(Property, ThePromiseToTheHeadIsKeptWhereCoresAreKeptForGpus) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 rng(seed);
    Cluster c = a_cluster()
                    .nodes(2)
                    .layout(2, 4, 1)
                    .gres("gpu", "", 2, true)
                    .node([](Node&, NodeSpec& s) { s.restricted_cores_per_gpu = 2; })
                    .build();
    for (int i = 0; i < 30; ++i) {
      JobBuilder b = a_job().nodes(1).tasks(1 + rng() % 4).minutes(1 + rng() % 40).priority(100 + rng() % 3);
      if (rng() % 2) b.gpus(1 + rng() % 2);
      submit(c, b, kNow);
    }
    expect_promises_kept(std::move(c), {}, seed);
  }
}

}  // namespace
}  // namespace muster::sched
