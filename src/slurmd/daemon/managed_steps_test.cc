// How news of managed steps go to slurmctld, and what is written before anybody is told.
#include "slurmd/daemon/managed_steps.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "steps/warrant.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

const JobId kJob(7);
const Uid kOwner(1000);

struct Bench {
  Bench() {
    EXPECT_TRUE(managed.start());
    managed.on_order(order());
  }
  static Setup setup_in(const std::string& spool) {
    Setup s;
    s.loaded = std::make_shared<const config::LoadedConfig>();
    s.spool = spool;
    s.node = "n0";
    s.hardware.boot_id = "boot";
    return s;
  }
  // The job has one node with four CPUs.
  node_rpc::ManageSteps order() const {
    node_rpc::ManageSteps o;
    JobRequest r;
    r.uid = kOwner;
    o.request = std::make_shared<const JobRequest>(r);
    o.job.id = kJob;
    o.job.state = JobState::kRunning;
    o.job.ends = kTimeInfinite;
    Bitmap cpus;
    for (size_t i = 0; i < 4; ++i) cpus.set(i);
    auto held = std::make_shared<Allocation>();
    held->nodes.push_back({.node = NodeId(0), .cpus = cpus, .mem_mb = 4000, .gres = {}, .tasks = 1});
    o.job.allocation = held;
    auto spec = std::make_shared<NodeSpec>();
    spec->name = "n0";
    spec->cpus = spec->sockets = 4;
    spec->cores_per_socket = spec->threads_per_core = 1;
    o.nodes.emplace_back().spec = spec;
    o.bounds.most_steps = 40000;
    o.warrant.key = managed.public_key();
    o.warrant.expires = net::Loop::now() + steps::kWarrantLife;
    o.warrant.job.nodes.emplace_back();
    o.signed_warrant = "a warrant";
    return o;
  }
  void create(size_t bytes) {
    rpc::CreateStep c;
    c.job = kJob;
    c.request.num_tasks = c.request.cpus_per_task = 1;
    c.request.overlap = true;
    c.request.argv = {std::string(bytes, 'x')};
    Result<std::string> answer;
    EXPECT_TRUE(managed.takes(wire::number_of<rpc::CreateStep>, wire::encoded(c), kOwner, answer));
    EXPECT_TRUE(answer) << answer.error().message();
  }
  std::vector<node_rpc::StepsOfJob> news() const {
    std::vector<node_rpc::StepsOfJob> out;
    for (const NodeReport& r : reports)
      if (auto* n = std::get_if<node_rpc::StepsOfJob>(&r)) out.push_back(*n);
    return out;
  }
  bool run_until(const std::function<bool()>& done) {
    for (int i = 0; i < 5000 && !done(); ++i) {
      auto wake = loop.after(milliseconds(1), [this] { loop.stop(); });
      loop.run();
    }
    return done();
  }
  os::TempDir dir = *os::TempDir::create("ms", "/tmp");
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  net::Loop loop;
  Setup setup = setup_in(dir.path());
  std::vector<NodeReport> reports;
  bool room = true;
  ManagedSteps managed{
      loop, *log, setup, {[this](NodeReport r) { reports.push_back(std::move(r)); }, [this] { return room; }, [](auto&&...) {}}};
};

TEST(ManagedSteps, NewsOfANewSessionGoBatchByBatch) {
  Bench b;
  for (int i = 0; i < 3; ++i) b.create(700u << 10);
  b.managed.registered();
  ASSERT_EQ(b.news().size(), 1u) << "the next when slurmctld has taken it";
  EXPECT_EQ(b.news()[0].news.size(), 1u) << "two are more than a batch has";
  b.managed.on_order(node_rpc::StepsTaken{kJob, 0, 1});
  ASSERT_TRUE(b.run_until([&] { return b.news().size() == 2; }));
  EXPECT_EQ(b.news()[1].first, 2u);
}

// Else the news of many jobs that ended while slurmctld was away would be more than the connection takes.
TEST(ManagedSteps, TheEndOfAJobWaitsForItsNews) {
  Bench b;
  const NodeReport end = node_rpc::JobGone{kJob, 0, {}};
  b.create(10);
  b.managed.registered();
  b.create(10);
  b.room = false;
  EXPECT_FALSE(b.managed.before(end));
  b.room = true;
  EXPECT_TRUE(b.managed.before(end));
  EXPECT_EQ(b.news().back().first, 2u);
  EXPECT_TRUE(b.managed.before(node_rpc::JobGone{JobId(99), 0, {}})) << "whose steps nobody manages here";
}

TEST(ManagedSteps, NewsWaitUntilSlurmctldKeepsUp) {
  Bench b;
  b.create(10);
  b.room = false;
  b.managed.registered();
  EXPECT_TRUE(b.news().empty());
  b.room = true;
  EXPECT_TRUE(b.run_until([&] { return b.news().size() == 1; }));
}

TEST(ManagedSteps, WhoTellsOfAnEndIsAnsweredWhenItIsWritten) {
  Bench b;
  b.create(10);
  b.create(10);
  std::vector<bool> done;
  for (uint32_t step : {0u, 1u, 1u})
    b.managed.part_ended({"n0", kJob, 0, StepId(step), 0, false, false}, [&](const Result<>& r) { done.push_back(r.has_value()); });
  EXPECT_TRUE(done.empty());
  ASSERT_TRUE(b.run_until([&] { return done.size() == 3; }));
  EXPECT_EQ(done, (std::vector<bool>{true, true, true}));
}

TEST(ManagedSteps, ASpoolThatIsTidiedIsWrittenAnew) {
  Bench b;
  b.create(10);
  ASSERT_TRUE(os::remove_tree(b.dir.path() + "/managed"));
  b.create(10);
  Bench after;
  after.setup.spool = b.dir.path();
  ManagedSteps next(after.loop, *after.log, after.setup, {[](NodeReport) {}, [] { return true; }, [](auto&&...) {}});
  ASSERT_TRUE(next.start());
  EXPECT_EQ(next.public_key(), b.managed.public_key());
  EXPECT_TRUE(next.manages(kJob));
}

}  // namespace
}  // namespace muster::slurmd
