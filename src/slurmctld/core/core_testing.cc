#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {

Settings settings_of(const std::string& more) {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf",
                             "ClusterName=c\nSlurmctldHost=ctl\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\n"
                             "SlurmdTimeout=60\nMinJobAge=100\nKillWait=5\n" +
                                 more + "NodeName=n[0-3] CPUs=4 RealMemory=4000\nPartitionName=main Nodes=ALL Default=YES MaxTime=60\n"}};
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : config::to_text(loaded.error()));
  Settings s = make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid(64030), false);
  if (more.find("requeue_delay") == more.npos && more.find("cred_expire") == more.npos) s.requeue_delay = {};  // tests need not wait
  return s;
}

Bench::Bench(const std::string& conf, bool nodes_up) : settings(settings_of(conf)), core(settings) {
  turn([&] { core.configure(settings); });
  for (uint32_t i = 0; nodes_up && i < 4; ++i) register_node(i, "boot1");
}

Bench::~Bench() = default;

void Bench::turn(const std::function<void()>& work) {
  core.begin(now);
  work();
  core.housekeep();
  for (const Event& e : core.events()) log.push_back(e);
  last_events = core.events();
  core.commit();
  effects = core.take_effects(now);
}

void Bench::failing_turn(const std::function<void()>& work) {
  core.begin(now);
  work();
  core.housekeep();
  core.rollback();
}

void Bench::wait(Duration d) {
  now += d;
  turn([] {});
}

JobRequest Bench::request(const std::function<void(JobRequest&)>& change) {
  JobRequest r;
  r.uid = Uid(1000);
  r.name = "j";
  r.time_limit_min = 10;
  if (change) change(r);
  return r;
}

JobId Bench::submit(const std::function<void(JobRequest&)>& change) {
  Result<rpc::JobSubmitted> r = fail(Errc::kError);
  JobRequest q = request(change);
  turn([&] { r = core.run(Caller{q.uid, q.gid, {}, {}}, q); });
  EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message());
  return r ? r->job : JobId{};
}

size_t Bench::plan() {
  size_t started = 0;
  auto p = planner.plan(*core.snapshot(), settings.sched, now, sched::Pass::kFull);
  turn([&] { started = core.carry_out(p); });
  return started;
}

void Bench::report(uint32_t node, const NodeReport& r) {
  turn([&] { core.report(NodeId(node), r); });
}

void Bench::register_node(uint32_t node, const std::string& boot, std::vector<node_rpc::NodeJob> jobs, uint32_t cpus, uint64_t memory_mb) {
  node_rpc::Register r;
  r.node = "n" + std::to_string(node);
  r.hardware.cpus = cpus;
  r.hardware.sockets = cpus;
  r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
  r.hardware.real_memory_mb = memory_mb;
  r.hardware.boot_id = boot;
  r.jobs = std::move(jobs);
  turn([&] {
    core.node_connected(NodeId(node));
    core.report(NodeId(node), r);
  });
}

void Bench::started(JobId job) { report(host(job), node_rpc::BatchStarted{job, get(job).restarts}); }
void Bench::ends(JobId job, int32_t status, bool gone) {
  report(host(job), node_rpc::BatchFinished{job, get(job).restarts, status, gone, false});
}

void Bench::gone(JobId job, uint32_t node) { report(node, node_rpc::JobGone{job, get(job).restarts, {}}); }
uint32_t Bench::host(JobId job) const { return get(job).allocation->nodes[0].node.value; }

const Job& Bench::get(JobId id) const { return core.cluster().jobs.at(id.value); }
bool Bench::exists(JobId id) const { return core.cluster().jobs.contains(id.value); }
const Node& Bench::node(uint32_t i) const { return core.cluster().nodes.at(i); }

void Bench::control(rpc::JobAction action, JobId job, const Caller& who) {
  rpc::ControlJobs c;
  c.action = action;
  c.jobs.emplace_back().job = job;
  turn([&] {
    auto r = core.run(who, c);
    control_errors = r ? r->errors : std::vector<rpc::PerJobError>{};
  });
}

void Bench::cancel(JobId job, const std::string& tasks) {
  rpc::SignalJobs c;
  c.filter.jobs.emplace_back().job = job;
  c.filter.jobs.back().array_tasks = tasks;
  turn([&] { (void)core.run(Caller::root(), c); });
}

Result<rpc::Messages> Bench::update(JobId job, const std::string& key, const std::string& value) {
  rpc::UpdateJob c;
  c.job.job = job;
  c.changes.push_back({key, "=", value});
  Result<rpc::Messages> r;
  turn([&] { r = core.run(Caller::root(), c); });
  return r;
}

void Bench::set_node(const std::string& name, const std::string& state) {
  rpc::UpdateNode c{name, {{"State", "=", state}, {"Reason", "=", "test"}}};
  turn([&] { EXPECT_TRUE(core.run(Caller::root(), c).has_value()); });
}

void Bench::expect_replay_equal() const {
  Core other(settings);
  for (const Event& e : log) other.replay(e);
  auto same = [](const auto& a, const auto& b) {
    size_t differences = 0;
    std::decay_t<decltype(a)>::diff(a, b, [&](uint32_t, const auto* x, const auto* y) { differences += !x || !y || !(*x == *y); });
    return differences;
  };
  EXPECT_EQ(same(core.cluster().jobs, other.cluster().jobs), 0u);
  EXPECT_EQ(same(core.cluster().nodes, other.cluster().nodes), 0u);
  EXPECT_EQ(same(core.cluster().arrays, other.cluster().arrays), 0u);
  EXPECT_EQ(same(core.cluster().reservations, other.cluster().reservations), 0u);
  EXPECT_EQ(same(core.cluster().crontabs, other.cluster().crontabs), 0u);
  EXPECT_EQ(same(core.cluster().cron_jobs, other.cluster().cron_jobs), 0u);
  EXPECT_EQ(same(core.cluster().triggers, other.cluster().triggers), 0u);
  EXPECT_EQ(same(core.cluster().maintenances, other.cluster().maintenances), 0u);
  EXPECT_EQ(same(core.cluster().quarantines, other.cluster().quarantines), 0u);
  const auto known = [](const Core& c) {
    return c.cluster().directory ? contents_of(*c.cluster().directory) : std::vector<AccountChanges>();
  };
  ASSERT_EQ(known(core).size(), known(other).size());
  for (size_t i = 0; i < known(core).size(); ++i) {
    EXPECT_EQ(known(core)[i].associations, known(other)[i].associations);
    EXPECT_EQ(known(core)[i].qos, known(other)[i].qos);
    EXPECT_EQ(known(core)[i].users, known(other)[i].users);
    EXPECT_EQ(known(core)[i].accounts, known(other)[i].accounts);
    EXPECT_EQ(known(core)[i].licenses, known(other)[i].licenses);
    EXPECT_EQ(known(core)[i].wckeys, known(other)[i].wckeys);
  }
  EXPECT_EQ(stored(core.cluster().usage, core.cluster().tres_table()), stored(other.cluster().usage, other.cluster().tres_table()));
  EXPECT_EQ(core.cluster().usage_rule, other.cluster().usage_rule);
  EXPECT_TRUE(core.cluster().ledger == core.cluster().counted_ledger());
  EXPECT_TRUE(other.cluster().ledger == other.cluster().counted_ledger());
  EXPECT_EQ(core.cluster().last_job_id, other.cluster().last_job_id);
  EXPECT_TRUE(core.indexes().same_as(other.indexes()));
}

}  // namespace muster::slurmctld
