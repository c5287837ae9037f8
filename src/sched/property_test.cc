// Random machines, requests and histories. A failure prints the seed.
#include <gtest/gtest.h>

#include <random>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

struct World {
  std::mt19937 rng;
  Params params;
  Cluster cluster;

  explicit World(uint32_t seed) : rng(seed) {
    params.allocate_cores = roll(2);
    params.memory_consumable = roll(2);
    auto machine = a_cluster().nodes(2 + roll(9)).layout(1 + roll(2), 1 + roll(6), 1 + roll(2)).memory(4000);
    if (roll(2)) machine.gres("gpu", "a", 1 + roll(4), roll(2)).gres("gpu", "b", roll(3));
    machine.node([this](Node& n, NodeSpec& s) {
      s.weight = 1 + roll(2);
      s.features = {roll(2) ? "x" : "y"};
      if (roll(8) == 0) n.flags = kNodeDrain;
      if (roll(6) == 0) s.specialized_cpus.set(roll(s.cpus));
    });
    cluster = machine.build();
  }
  uint32_t roll(uint32_t n) { return static_cast<uint32_t>(rng() % n); }

  JobBuilder job() {
    JobBuilder b = a_job().priority(1 + roll(5)).minutes(1 + roll(120)).user(roll(3));
    if (roll(3)) b.tasks(1 + roll(12));
    if (roll(3) == 0) b.nodes(1 + roll(4));
    if (roll(4) == 0) b.cpus_per_task(1 + roll(4));
    if (roll(5) == 0) b.tasks_per_node(1 + roll(3));
    if (roll(4) == 0) b.exclusive();
    if (roll(4) == 0) b.gpus(1 + roll(3));
    if (roll(9) == 0) b.job_gpus(1 + roll(4));
    if (roll(9) == 0) b.gres("gres/gpu:b:1");
    if (roll(4) == 0) b.mem(roll(3000));
    if (roll(6) == 0) b.on(roll(2) ? "x" : "[x|y]");
    if (roll(9) == 0) b.request.contiguous = true;
    if (roll(9) == 0) b.request.hint = "nomultithread";
    if (roll(9) == 0) b.request.ntasks_per_socket = 1 + roll(2);
    if (roll(9) == 0) b.request.distribution = "cyclic:block";
    if (roll(12) == 0) b.request.exclusive = Exclusive::kUser;
    return b;
  }
};

// Checks an item against the cluster as it is before the item: everything handed out is there and free.
void check_item(const Cluster& c, const Params& params, const StartItem& item, uint32_t seed) {
  const Job& job = c.jobs.at(item.job.value);
  auto fits = still_fits(c, params, *job.request, item);
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
    const uint32_t threads = n.spec->threads_per_core;
    if (params.allocate_cores && !n.spec->specialized_cpus.any()) {
      EXPECT_EQ(s.cpus.count() % threads, 0u) << "half a core, seed " << seed;
    }
    const uint64_t cpus = uint64_t{s.tasks} * std::max(job.request->cpus_per_task, 1u);
    EXPECT_GE(s.cpus.count(), cpus) << "seed " << seed;
  }
  const JobRequest& r = *job.request;
  if (r.num_tasks) {
    EXPECT_EQ(tasks, r.num_tasks) << "seed " << seed;
  }
  if (r.max_nodes) {
    EXPECT_LE(item.allocation->nodes.size(), r.max_nodes) << "seed " << seed;
  }
  const uint32_t least = r.num_tasks ? std::min(r.min_nodes, r.num_tasks) : r.min_nodes;
  EXPECT_GE(item.allocation->nodes.size(), least) << "seed " << seed;
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
    out += std::to_string(id.value) + " " + std::string(reason_name(v.reason)) + " " +
           std::to_string(unix_seconds(v.expected_start)) + " " + v.expected_nodes + "\n";
  return out;
}

TEST(Property, NothingIsHandedOutTwiceAndPlansAreRepeatable) {
  size_t starts = 0, gangs = 0, devices = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    World w(seed);
    Planner kept;
    Time now = kNow;
    for (int turn = 0; turn < 8; ++turn) {
      for (uint32_t i = w.roll(8); i > 0; --i) {
        if (w.roll(6) == 0)
          submit_array(w.cluster, w.job(), 1 + w.roll(5), w.roll(3), now);
        else
          submit(w.cluster, w.job(), now);
      }
      const Pass pass = w.roll(2) ? Pass::kFull : Pass::kQuick;
      const Plan plan = kept.plan(w.cluster, w.params, now, pass);
      ASSERT_EQ(print(plan), print(Planner().plan(w.cluster, w.params, now, pass)))
          << "cached and fresh differ, seed " << seed;
      for (const StartItem& item : plan.starts) {
        check_item(w.cluster, w.params, item, seed);
        if (::testing::Test::HasFailure()) return;
        apply_start(w.cluster, item, now);
        ++starts;
        gangs += item.allocation->nodes.size() > 1;
        devices += !item.allocation->nodes[0].gres.empty();
      }
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
    }
  }
  // The worlds are not all too small for what they are to show.
  EXPECT_GT(starts, 2000u);
  EXPECT_GT(gangs, 200u);
  EXPECT_GT(devices, 100u);
}

// Steps of one job come and go: what one holds no other gets, and all of it lies within the job.
TEST(Property, StepsShareNothingOfTheirJob) {
  size_t placed = 0, busy = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 rng(seed);
    auto roll = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
    Cluster c =
        a_cluster().nodes(1 + roll(4)).layout(2, 4, 1 + roll(2)).memory(4000).gres("gpu", "a", 4).build();
    const JobId id =
        submit(c, a_job().nodes(static_cast<uint32_t>(c.nodes.size())).exclusive().gpus(4).mem(2000), kNow);
    apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
    Job* job = c.jobs.edit(id.value);
    ASSERT_EQ(job->state, JobState::kRunning);
    for (uint32_t n = 0; n < 12; ++n) {
      if (!job->steps.empty() && roll(3) == 0)
        job->steps.erase(job->steps.begin() + roll(static_cast<uint32_t>(job->steps.size())));
      StepRequest r;
      r.num_tasks = roll(7);
      r.exact = roll(4) != 0;
      if (roll(2)) r.cpus_per_task = 1 + roll(3);
      if (roll(3) == 0) r.min_nodes = r.max_nodes = 1 + roll(3);
      r.tres_per_node = roll(2) ? "gres/gpu:" + std::to_string(roll(3)) : "none";
      if (roll(3) == 0) r.mem_per_node_mb = roll(1200);
      const auto shares = place_step(c, *job, r);
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
        for (const Step& other : job->steps)
          for (const StepShare& o : other.shares) {
            if (o.node_index != s.node_index) continue;
            EXPECT_FALSE(o.cpus.intersects(s.cpus)) << "seed " << seed;
            for (const GresShare& g : s.gres)
              for (const GresShare& h : o.gres)
                EXPECT_FALSE(g.devices.intersects(h.devices)) << "seed " << seed;
          }
      }
      if (r.num_tasks) {
        EXPECT_EQ(tasks, r.num_tasks) << "seed " << seed;
      }
      Step step;
      step.id = StepId(n);
      step.request = std::make_shared<const StepRequest>(r);
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
    World w(seed);
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

// Jobs run exactly as long as their limit; whole nodes, so that counting is exact: the first promise to the
// head of the queue is kept to the minute.
TEST(Property, ThePromiseToTheHeadOfTheQueueIsKept) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 rng(seed);
    Cluster c = a_cluster().nodes(6).cpus(4).build();
    for (int i = 0; i < 30; ++i)
      submit(c, a_job().nodes(1 + rng() % 6).exclusive().minutes(1 + rng() % 40).priority(100 + rng() % 3),
             kNow);
    Planner planner;
    std::unordered_map<uint32_t, Time> promised;
    uint32_t head = 0;
    for (Time now = kNow; now < kNow + minutes(3000); now += minutes(1)) {
      std::vector<JobId> ended;
      bool waiting = false;
      c.jobs.for_each([&](uint32_t id, const Job& j) {
        if (j.state == JobState::kRunning && j.ends <= now) ended.push_back(JobId(id));
        waiting |= j.pending();
      });
      if (!waiting) break;
      for (JobId id : ended) end_job(c, id, now);
      const Plan p = planner.plan(c, {}, now, Pass::kFull);
      for (const StartItem& s : p.starts)
        if (promised.contains(s.job.value)) {
          EXPECT_LE(now, promised[s.job.value]) << "job " << s.job.value << " seed " << seed;
        }
      apply_starts(c, p, now);
      head = 0;
      for (const auto& [id, v] : p.verdicts)
        if (v.reason == Reason::kResources) head = id.value;
      if (head && !promised.contains(head)) promised[head] = verdict_of(p, JobId(head))->expected_start;
    }
    bool left = false;
    c.jobs.for_each([&](uint32_t, const Job& j) { left |= j.pending(); });
    EXPECT_FALSE(left) << "some job never started, seed " << seed;
    EXPECT_FALSE(promised.empty());
  }
}

}  // namespace
}  // namespace muster::sched
