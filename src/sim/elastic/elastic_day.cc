#include "sim/elastic/elastic_day.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "config/slurm_conf.h"
#include "sim/replay/site.h"

namespace muster::sim::elastic {
namespace {

using replay::Site;
using slurmctld::Caller;
using slurmctld::Core;

constexpr Duration kNotices = seconds(30), kResets = seconds(60);
constexpr Duration kFullEvery = seconds(30);            // bf_interval of the site
constexpr Duration kAfterTheLastJob = minutes(2 * 60);  // until when everything has to be powered down
constexpr uint32_t kMostNodesOfAJob = 8;
constexpr size_t kMostBroken = 20;
const Uid kUser{1000};

slurmctld::Settings settings_of(const DayRules& rules) {
  const std::string all = "c[1-" + std::to_string(rules.nodes) + "]";
  const std::string most = rules.most_powered ? ",max_powered_nodes=" + std::to_string(rules.most_powered) : "";
  config::MemoryFiles files{
      {"/etc/slurm/slurm.conf",
       "ClusterName=c\nSlurmctldHost=ctl\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
       "SuspendProgram=/s\nResumeProgram=/r\nResumeFailProgram=/f\nSuspendTime=300\nSuspendTimeout=60\nResumeTimeout=600\n"
       "ResumeRate=0\nSuspendRate=0\nReturnToService=1\nSlurmctldParameters=idle_on_node_suspend,power_save_interval=10" +
           most +
           "\n"
           "SchedulerParameters=bf_interval=" +
           std::to_string(to_seconds(kFullEvery)) + "\nSlurmdTimeout=120\nMaxBatchRequeue=100\nMinJobAge=2\nNodeName=" + all +
           " CPUs=8 RealMemory=8000 State=CLOUD\nPartitionName=p Nodes=" + all + " Default=YES MaxTime=INFINITE\n"}};
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  return slurmctld::make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid{0}, false);
}

class ElasticDay {
 public:
  explicit ElasticDay(const DayRules& rules)
      : rules_(rules),
        random_(rules.seed),
        now_(from_unix(1'800'000'000)),
        cloud_(rules.cloud, rules.nodes, rules.seed * 7919, now_),
        paying_(rules.nodes),
        best_until_(rules.nodes),
        site_(settings_of(rules), ports(), now_) {}
  Day play();

 private:
  using Doing = std::function<void(Core&)>;
  struct Happening {
    Time at{};
    uint64_t sequence = 0;
    Doing what;
    bool operator<(const Happening& o) const { return std::pair(o.at, o.sequence) < std::pair(at, sequence); }
  };
  Site::Ports ports();
  void at(Time when, Doing what) { queue_.push({when, ++sequence_, std::move(what)}); }
  void plan_submissions();
  void submit(Core& core, uint32_t nodes, Duration run);
  void told(event::PowerProgram program, const std::vector<NodeId>& nodes);
  void machine_asked(uint32_t node);
  void no_machine(uint32_t node);
  void taken_away(Core& core, uint32_t node, uint32_t machine);
  void scontrol(Core& core, uint32_t node, std::vector<rpc::KeyValue> changes);
  void launched(JobId id, uint32_t generation);
  void step(Time now);
  void plan();
  void pay(Time until);
  void look_at_jobs();
  void look_at_power();
  void look_at_the_end();
  void broken(const std::string& what);
  std::string name_of(uint32_t node) const { return site_.cluster().nodes.at(node).spec->name; }

  DayRules rules_;
  Random random_;
  Time now_, last_full_{};
  Cloud cloud_;
  std::priority_queue<Happening> queue_;
  uint64_t sequence_ = 0;
  std::map<JobId, Duration> runs_;  // of jobs that have not completed
  std::set<uint32_t> used_;         // nodes that a job has now
  std::vector<bool> paying_;        // by node: it has a machine
  std::vector<Time> best_until_;    // by node: how long the best keeps the machine that no job has
  uint64_t seen_nodes_ = ~0ull, seen_use_ = ~0ull, seen_jobs_ = ~0ull;
  Day day_;
  Site site_;  // the last, since it calls back
};

void ElasticDay::broken(const std::string& what) {
  if (day_.broken.size() < kMostBroken) day_.broken.push_back(format_time(now_) + " " + what);
}

// ---- users
void ElasticDay::plan_submissions() {
  for (uint32_t i = 0; i < rules_.jobs; ++i) {
    const auto when = now_ + seconds(static_cast<int64_t>(random_.uniform(0, static_cast<uint64_t>(to_seconds(rules_.length)))));
    const auto nodes = static_cast<uint32_t>(random_.chance(0.6) ? 1 : random_.uniform(2, kMostNodesOfAJob));
    const Duration run = seconds(static_cast<int64_t>(random_.uniform(300, random_.chance(0.3) ? 4 * 3600 : 3600)));
    at(when, [this, nodes, run](Core& core) { submit(core, nodes, run); });
  }
}

void ElasticDay::submit(Core& core, uint32_t nodes, Duration run) {
  JobRequest request;
  request.uid = kUser;
  request.name = "day";
  request.work_dir = "/";
  request.kind = JobKind::kBatch;
  request.min_nodes = request.max_nodes = nodes;
  request.num_tasks = nodes * 8;
  request.cpus_per_task = 1;
  request.time_limit_min = 600;
  request.requeue = TriState::kYes;
  auto answer = core.run(Caller{kUser, Gid{1000}, {}, {}}, request);
  if (!answer) return broken("a job was refused: " + std::string(answer.error().message()));
  runs_[answer->job] = run;
}

// ---- the cloud and the kit
Site::Ports ElasticDay::ports() {
  Site::Ports out;
  out.witness = [this](const Event& e, const Cluster&) {
    const auto* ended = std::get_if<event::JobEnding>(&e);
    if (!ended) return;
    if (ended->flags & kJobRequeued) ++day_.restarts;
    else if (ended->state == JobState::kCompleted) ++day_.completed;
    else broken("job " + std::to_string(ended->job.value) + " did not complete");
  };
  out.launched = [this](JobId id, uint32_t generation) { launched(id, generation); };
  out.terminated = [](JobId, uint32_t) {};
  out.settled = [](JobId, uint32_t, bool) {};
  out.power = [this](event::PowerProgram program, const std::vector<NodeId>& nodes) { told(program, nodes); };
  return out;
}

void ElasticDay::told(event::PowerProgram program, const std::vector<NodeId>& nodes) {
  for (NodeId id : nodes) {
    const uint32_t node = id.value;
    if (program == event::PowerProgram::kResume) {
      machine_asked(node);
      continue;
    }
    cloud_.let_go(node);
    paying_[node] = false;
    at(now_, [this, node](Core&) { site_.goes_away(NodeId(node)); });
  }
}

void ElasticDay::machine_asked(uint32_t node) {
  const bool had = cloud_.has(node);
  const auto machine = cloud_.ask(node, now_);
  if (!machine) return no_machine(node);
  if (had) return;
  paying_[node] = true;
  at(machine->boots_at, [this, node, number = machine->machine](Core&) {
    if (cloud_.is(node, number)) site_.comes_up(NodeId(node), "machine " + std::to_string(number));
  });
  at(machine->taken_at, [this, node, number = machine->machine](Core& core) { taken_away(core, node, number); });
}

// As the kits do: DOWN at once, so that the job is queued again, and then powered down, so that the node can be asked for again.
void ElasticDay::no_machine(uint32_t node) {
  if (!rules_.kit_tells) return;
  at(now_ + kNotices, [this, node](Core& core) {
    if (!cloud_.has(node)) scontrol(core, node, {{"State", "=", "DOWN"}, {"Reason", "=", "no capacity"}});
  });
  at(now_ + kResets, [this, node](Core& core) {
    if (!cloud_.has(node) && core.cluster().nodes.at(node).admin == NodeState::kDown)
      scontrol(core, node, {{"State", "=", "POWER_DOWN_FORCE"}});
  });
}

void ElasticDay::taken_away(Core& core, uint32_t node, uint32_t machine) {
  if (!cloud_.is(node, machine)) return;
  cloud_.let_go(node);
  paying_[node] = false;
  core.node_disconnected(NodeId(node));
  if (!rules_.kit_tells) return;  // SlurmdTimeout finds out
  scontrol(core, node, {{"State", "=", "DOWN"}, {"Reason", "=", "taken away"}});
  at(now_ + kResets, [this, node](Core& later) {
    if (!cloud_.has(node) && later.cluster().nodes.at(node).admin == NodeState::kDown)
      scontrol(later, node, {{"State", "=", "POWER_DOWN_FORCE"}});
  });
}

void ElasticDay::scontrol(Core& core, uint32_t node, std::vector<rpc::KeyValue> changes) {
  auto answer = core.run(Caller::root(), rpc::UpdateNode{name_of(node), std::move(changes)});
  if (!answer) broken("scontrol update of " + name_of(node) + ": " + std::string(answer.error().message()));
}

// ---- jobs
void ElasticDay::launched(JobId id, uint32_t generation) {
  const Job* job = site_.cluster().jobs.find(id.value);
  const auto run = runs_.find(id);
  if (!job || !job->allocation || run == runs_.end()) return;
  for (const NodeShare& share : job->allocation->nodes)
    if (site_.cluster().nodes.at(share.node.value).flags & (kNodePoweredDown | kNodePoweringUp | kNodePoweringDown))
      broken("job " + std::to_string(id.value) + " starts on " + name_of(share.node.value) + ", which is not up");
  at(now_ + run->second, [this, id, generation](Core& core) {
    const Job* there = core.cluster().jobs.find(id.value);
    if (!there || there->restarts != generation || !there->allocation || there->finished()) return;
    if (std::ranges::any_of(there->allocation->nodes, [&](const NodeShare& share) { return !cloud_.has(share.node.value); }))
      return;  // lost
    node_rpc::BatchFinished end;
    end.job = id;
    end.generation = generation;
    end.gone = true;
    core.report(there->batch_share().node, end);
  });
}

// Who has which nodes now.
void ElasticDay::look_at_jobs() {
  std::set<uint32_t> used;
  std::vector<JobId> over;
  for (const auto& [id, run] : runs_) {
    const Job* job = site_.cluster().jobs.find(id.value);
    if (!job || (job->state == JobState::kCompleted && !job->holds_nodes())) over.push_back(id);
    if (!job || !job->holds_nodes()) continue;
    for (size_t i = 0; i < job->allocation->nodes.size(); ++i) {
      if (job->finished() && !job->run->releasing.test(i)) continue;
      if (const uint32_t node = job->allocation->nodes[i].node.value; !used.insert(node).second) broken("two jobs have " + name_of(node));
    }
  }
  for (JobId id : over) runs_.erase(id);
  for (uint32_t node : used_)
    if (!used.contains(node)) best_until_[node] = now_ + *site_.core().settings().config().suspend_time;
  used_ = std::move(used);
}

// What is going down still counts, and so does what is down for want of a machine.
void ElasticDay::look_at_power() {
  uint32_t powered = 0, machines = 0;
  site_.cluster().nodes.for_each([&](uint32_t id, const Node& node) {
    powered += !(node.flags & kNodePoweredDown);
    machines += cloud_.has(id);
  });
  day_.most_powered = std::max(day_.most_powered, powered);
  if (rules_.most_powered && std::max(powered, machines) > rules_.most_powered)
    broken(std::to_string(powered) + " nodes are powered up, and there are " + std::to_string(machines) + " machines");
}

// ---- money
void ElasticDay::pay(Time until) {
  for (uint32_t node = 0; node < rules_.nodes; ++node) {
    if (!paying_[node]) continue;
    const double hours = static_cast<double>(to_seconds(until - now_)) / 3600;
    day_.paid_hours += hours;
    const bool used = used_.contains(node);
    day_.used_hours += used ? hours : 0;
    const Time kept = used ? until : std::min(until, best_until_[node]);
    day_.best_hours += kept > now_ ? static_cast<double>(to_seconds(kept - now_)) / 3600 : 0;
  }
}

// ---- time
void ElasticDay::plan() {
  const Cluster& cluster = site_.cluster();
  if (cluster.nodes_epoch != seen_nodes_ || cluster.use_epoch != seen_use_ || cluster.jobs_epoch != seen_jobs_)
    site_.pass(sched::Pass::kQuick);
  if (now_ >= last_full_ + kFullEvery) {
    site_.pass(sched::Pass::kFull);
    last_full_ = now_;
  }
  seen_nodes_ = cluster.nodes_epoch;
  seen_use_ = cluster.use_epoch;
  seen_jobs_ = cluster.jobs_epoch;
}

void ElasticDay::step(Time now) {
  pay(now);
  now_ = now;
  site_.turn(now_, [&](Core& core) {
    while (!queue_.empty() && queue_.top().at <= now_) {
      const Doing what = queue_.top().what;
      queue_.pop();
      what(core);
    }
  });
  plan();
  look_at_jobs();
  look_at_power();
  ++day_.turns;
}

void ElasticDay::look_at_the_end() {
  if (!runs_.empty()) broken(std::to_string(runs_.size()) + " jobs have not ended");
  site_.cluster().nodes.for_each([&](uint32_t id, const Node& node) {
    if (cloud_.has(id)) broken(node.spec->name + " has a machine that nobody needs");
    const bool free = node.admin == NodeState::kIdle && !(node.flags & (kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid));
    if (!free || !(node.flags & kNodePoweredDown)) broken(node.spec->name + " is lost: its reason is '" + node.reason + "'");
  });
}

Day ElasticDay::play() {
  plan_submissions();
  const Time last_submission = now_ + rules_.length, patience = last_submission + minutes(7 * 24 * 60);
  Time over{};  // since when all jobs are
  while (now_ < patience) {
    Time next = std::min(site_.next_timer(), last_full_ + kFullEvery);
    if (!queue_.empty()) next = std::min(next, queue_.top().at);
    step(std::max(next, now_ + Duration(1)));
    if (!runs_.empty() || now_ < last_submission) over = {};
    else if (over == Time{}) over = now_;
    if (over != Time{} && now_ > over + kAfterTheLastJob) break;
  }
  look_at_the_end();
  day_.machines = cloud_.asked() - cloud_.refused();
  day_.refused = cloud_.refused();
  return day_;
}

}  // namespace

Day play(const DayRules& rules) { return ElasticDay(rules).play(); }

}  // namespace muster::sim::elastic
