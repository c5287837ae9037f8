// Hostile first: whoever has the private key of a warrant may sign what he likes. What nodes do with it is decided here.
#include "steps/warrant.h"

#include <gtest/gtest.h>

#include <functional>

#include "steps/credential.h"
#include "steps/job_steps.h"

namespace muster::steps {
namespace {

const Time kNow = from_unix(1'700'000'000);

Errc code(const Result<>& r) { return r ? Errc::kOk : r.error().code; }

Bitmap bits(std::initializer_list<size_t> members) {
  Bitmap out;
  for (size_t i : members) out.set(i);
  return out;
}

GresShare gpus(std::initializer_list<size_t> devices) { return {"gpu", "a100", devices.size(), bits(devices), {}}; }

// Job 7 of user 1000 on n0 (CPUs 0-3, GPUs 0 and 1) and n1 (CPUs 2,3), its warrant, and an honest step on both.
struct World {
  World() {
    cluster.name = "c";
    for (uint32_t i = 0; i < 3; ++i) {
      Node n;
      n.id = NodeId(i);
      auto spec = std::make_shared<NodeSpec>();
      spec->name = "n" + std::to_string(i);
      spec->address = "10.0.0." + std::to_string(i);
      spec->port = 6818;
      n.spec = spec;
      cluster.nodes.set(i, n);
    }
    JobRequest r;
    r.uid = Uid(1000);
    r.gid = Gid(100);
    r.user_name = "ann";
    r.account = "physics";
    job.ask(r);
    job.id = JobId(7);
    job.restarts = 2;
    job.state = JobState::kRunning;
    job.submitted = job.started = kNow;
    job.ends = kNow + minutes(30);
    auto held = std::make_shared<Allocation>();
    held->nodes.push_back(
        {.node = NodeId(0), .cpus = bits({0, 1, 2, 3}), .mem_mb = 4000, .gres = {gpus({0, 1})}, .tasks = 1, .channel = 7});
    held->nodes.push_back({.node = NodeId(1), .cpus = bits({2, 3}), .mem_mb = 2000, .gres = {}, .tasks = 1});
    job.allocation = held;
    warrant = make_warrant(cluster, job, "key", kNow);
    Step step;
    step.id = StepId(0);
    step.request = std::make_shared<const StepRequest>();
    step.shares.push_back({.node_index = 0, .task_count = 1, .cpus = bits({1, 2}), .mem_mb = 1000, .gres = {gpus({1})}});
    step.shares.push_back({.node_index = 1, .first_task = 1, .task_count = 1, .cpus = bits({3}), .mem_mb = 2000});
    const JobSteps all{cluster, job, kNow, {100, 512}, {}, [](size_t) { return TopologyAddress(); }};
    honest = warrant.job;
    add_step(honest, told(all, step), "", kNow);
    add_job_shares(honest, *job.allocation);
  }
  // What a node of cluster c says of the credential after a change.
  Result<> with(const std::function<void(rpc::StepCredential&)>& change, Time now = kNow) const {
    rpc::StepCredential c = honest;
    change(c);
    return check_warranted(c, warrant, "c", now);
  }
  Cluster cluster;
  Job job;
  rpc::StepWarrant warrant;
  rpc::StepCredential honest;
};

TEST(Warrant, AnHonestStepIsLetThrough) {
  World w;
  auto ok = w.with([](rpc::StepCredential&) {});
  EXPECT_TRUE(ok) << ok.error().message();
  EXPECT_TRUE(w.with([](rpc::StepCredential& c) { c.step = kInteractiveStep; }));
  EXPECT_TRUE(w.with([](rpc::StepCredential& c) { c.job_cpus.clear(), c.job_mem_mb.clear(); }));
  EXPECT_EQ(w.warrant.node, "n0");
}

TEST(Warrant, IsOfOneRunOfOneJobOfOneUser) {
  World w;
  using C = rpc::StepCredential&;
  const std::function<void(C)> changes[] = {
      [](C c) { c.uid = Uid(0); },
      [](C c) { c.uid = Uid(1001); },
      [](C c) { c.gid = Gid(0); },
      [](C c) { c.user_name = "root"; },
      [](C c) { c.job = JobId(8); },
      [](C c) { c.generation = 3; },
      [](C c) { c.generation = 1; },
      [](C c) { c.sluid = Sluid(); },
      [](C c) { c.account = "x"; },
      [](C c) { c.partition = "x"; },
      [](C c) { c.job_node_list = "n9"; },
      [](C c) { c.job_name = "x"; },
      [](C c) { c.qos = "x"; },
      [](C c) { c.reservation = "x"; },
      [](C c) { c.licenses = "x"; },
      [](C c) { c.ends = kTimeInfinite; },
      [](C c) { c.array_job = JobId(3); },
      [](C c) { c.spank_env = {"A=1"}; },
      [](C c) { c.exclusive = "x"; },
      [](C c) { c.oversubscribe = "x"; },
      [](C c) { c.started = kTimeUnset; },
      [](C c) { c.array_task = 1; },
      [](C c) { c.by_key_alone = true; },
  };
  for (size_t i = 0; i < std::size(changes); ++i) EXPECT_EQ(code(w.with(changes[i])), Errc::kInvalidCredential) << i;
}

TEST(Warrant, AStepGetsNoMoreThanTheJobHas) {
  World w;
  using C = rpc::StepCredential&;
  const std::function<void(C)> changes[] = {
      [](C c) { c.nodes[0].cpu_list = "0-4"; },
      [](C c) { c.nodes[1].cpu_list = "0-1"; },  // the job's, but on the other node
      [](C c) { c.nodes[0].cpu_list = "all"; },
      [](C c) { c.nodes[0].mem_mb = 4001; },
      [](C c) { c.nodes[0].mem_mb = 0; },  // no limit
      [](C c) { c.nodes[0].gres = {gpus({2})}; },
      [](C c) {
        c.nodes[0].gres = {gpus({0, 1, 2})};
      },
      [](C c) {
        c.nodes[0].gres = {gpus({0}), gpus({0})};
      },
      [](C c) { c.nodes[1].gres = {gpus({0})}; },  // the other node's
      [](C c) { c.nodes[0].gres[0].type = ""; },
      [](C c) { c.nodes[0].gres[0].count = 3; },
      [](C c) { c.nodes[0].job_cpus = 64; },
      [](C c) { c.nodes[0].channel = 8; },  // another job's
      [](C c) { c.nodes[1].channel = 7; },
      [](C c) { c.nodes[0].channel.reset(); },
      [](C c) { c.job_cpus[0] = "0-63"; },
      [](C c) { c.job_mem_mb[1] = 1 << 20; },
      [](C c) { c.job_cpus.pop_back(); },
  };
  for (size_t i = 0; i < std::size(changes); ++i) EXPECT_EQ(code(w.with(changes[i])), Errc::kInvalidCredential) << i;
}

TEST(Warrant, AnotherJobsNodeIsNone) {
  World w;
  using C = rpc::StepCredential&;
  EXPECT_FALSE(w.with([](C c) { c.nodes[0].address.name = "n2"; }));
  EXPECT_FALSE(w.with([](C c) { c.nodes[0].address.name = "n1"; })) << "what n0 has is not to be had on n1";
  EXPECT_FALSE(w.with([](C c) { c.nodes[0].node_index = 1; }));
  EXPECT_FALSE(w.with([](C c) { c.nodes[0].node_index = 2; }));
  EXPECT_FALSE(w.with([](C c) { c.nodes[0].address.host = "10.6.6.6"; })) << "srun would send the user's key there";
  EXPECT_FALSE(w.with([](C c) { c.nodes.clear(); }));
  EXPECT_FALSE(w.with([](C c) { c.nodes.push_back({}); }));
}

TEST(Warrant, IsOfOneCluster) {
  World w;
  EXPECT_EQ(check_warranted(w.honest, w.warrant, "other", kNow).error().code, Errc::kInvalidCredential);
  rpc::StepWarrant other = w.warrant;
  other.job.cluster = "other";
  EXPECT_EQ(check_warranted(w.honest, other, "c", kNow).error().code, Errc::kInvalidCredential);
}

TEST(Warrant, Expires) {
  World w;
  using C = rpc::StepCredential&;
  const auto lasting = [](C c) { c.expires = kNow + minutes(100); };
  EXPECT_EQ(w.with(lasting).error().code, Errc::kInvalidCredential) << "a credential lasts two minutes, whoever signs it";
  EXPECT_FALSE(w.with([](C c) { c.expires = kTimeUnset; }));
  const Time late = w.job.ends + minutes(61);
  EXPECT_EQ(w.with([&](C c) { c.expires = late; }, late).error().code, Errc::kCredentialExpired);
  w.job.ends = kTimeInfinite;
  EXPECT_EQ(make_warrant(w.cluster, w.job, "key", kNow).expires, kNow + kWarrantLife);
}

TEST(Warrant, IsForStepsOfSrunAlone) {
  World w;
  EXPECT_FALSE(w.with([](rpc::StepCredential& c) { c.step = kBatchStep; }));
  EXPECT_FALSE(w.with([](rpc::StepCredential& c) { c.step = kExternStep; }));
  for (const StepId watched : {kBatchStep, kExternStep})
    EXPECT_TRUE(w.with([&](rpc::StepCredential& c) {
      c.step = watched;
      c.purpose = rpc::CredentialPurpose::kWatch;
    })) << "but to be watched";
}

// sbcast's nodes have neither CPUs nor memory.
TEST(Warrant, FilesGoToTheJobsNodes) {
  World w;
  auto file = [](rpc::StepCredential& c) {
    c.purpose = rpc::CredentialPurpose::kSendFile;
    for (rpc::StepNode& n : c.nodes) n.cpu_list.clear(), n.mem_mb = 0, n.gres.clear();
  };
  EXPECT_TRUE(w.with(file));
  EXPECT_FALSE(w.with([&](rpc::StepCredential& c) { file(c), c.purpose = rpc::CredentialPurpose::kLaunch; }));
  EXPECT_FALSE(w.with([&](rpc::StepCredential& c) { file(c), c.nodes[1].address.name = "n2"; }));
}

// A field that StepCredential gets later belongs to the job's part or to the step's: this says that somebody has decided which.
TEST(Warrant, KnowsEveryFieldOfACredential) {
  size_t fields = 0;
  const rpc::StepCredential c;
  rpc::StepCredential::describe(c, [&](unsigned, const char*, const auto&) { ++fields; });
  EXPECT_EQ(fields, 34u) << "then same_job() in warrant.cc, and this number";
}

// ---- the same of what a manager tells slurmctld
TEST(Claim, IsWithinTheJob) {
  World w;
  w.job.managed = true;
  w.job.run.edit().first_port = 100, w.job.run.edit().last_port = 103;
  Step step;
  step.request = std::make_shared<const StepRequest>();
  step.shares.push_back({.node_index = 1, .task_count = 1, .cpus = bits({3}), .mem_mb = 2000});
  EXPECT_TRUE(check_claim(w.job, step));
  const std::function<void(Step&)> changes[] = {
      [](Step& s) { s.shares[0].node_index = 2; },
      [](Step& s) { s.shares[0].task_count = 0xffffffff; },
      [](Step& s) { s.shares[0].first_task = 0xffffffff; },
      [](Step& s) {
        s.shares[0].ranks = {0, 1};
      },
      [](Step& s) { s.shares[0].ranks = {0xffffffff}; },
      [](Step& s) { s.shares[0].cpus = bits({1}); },
      [](Step& s) { s.shares[0].mem_mb = 2001; },
      [](Step& s) { s.shares[0].mem_mb = 0; },
      [](Step& s) { s.shares[0].gres = {gpus({0})}; },
      [](Step& s) { s.shares.clear(); },
      [](Step& s) { s.request = nullptr; },
      [](Step& s) { s.shares.push_back(s.shares[0]); },
      [](Step& s) { s.resv_ports = {104}; },
      [](Step& s) { s.srun_host = std::string(5000, 'x'); },
      [](Step& s) { s.state = StepState::kPending; },
      [](Step& s) {
        StepRequest large;
        large.name = std::string(5000, 'x');
        s.request = std::make_shared<const StepRequest>(large);
      },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Step changed = step;
    changes[i](changed);
    EXPECT_FALSE(check_claim(w.job, changed)) << i;
  }
  step.resv_ports = {100, 103};
  EXPECT_TRUE(check_claim(w.job, step));
}

}  // namespace
}  // namespace muster::steps
