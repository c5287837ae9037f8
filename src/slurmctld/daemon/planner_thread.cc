#include "slurmctld/daemon/planner_thread.h"

#include <algorithm>
#include <map>
#include <utility>

#include "net/loop.h"

namespace muster::slurmctld {
namespace {

constexpr Duration kCalm = milliseconds(200);  // no change for so long: time for a full pass

// How much of a plan the core takes at once: some milliseconds of its time, so that requests come in between.
constexpr size_t kStartsAtOnce = 256, kVerdictsAtOnce = 4096;

// A plan is advice and each item is checked by itself, so it can be carried out piece by piece.
std::vector<sched::Plan> pieces(sched::Plan plan) {
  std::vector<sched::Plan> out;
  size_t start = 0, verdict = 0;
  bool first = true, room = !plan.preemptions.empty();
  while (start < plan.starts.size() || verdict < plan.verdicts.size() || room ||
         (first && (!plan.released_claims.empty() || plan.planned))) {
    sched::Plan piece;
    piece.position = plan.position;
    piece.fair_factors = plan.fair_factors;
    piece.planned = std::move(plan.planned);
    if (std::exchange(first, false)) piece.released_claims = std::move(plan.released_claims);
    for (size_t n = 0; n < kStartsAtOnce && start < plan.starts.size(); ++n) piece.starts.push_back(std::move(plan.starts[start++]));
    if (start == plan.starts.size() && std::exchange(room, false)) piece.preemptions = std::move(plan.preemptions);
    for (size_t n = 0; start == plan.starts.size() && n < kVerdictsAtOnce && verdict < plan.verdicts.size(); ++n)
      piece.verdicts.push_back(std::move(plan.verdicts[verdict++]));
    out.push_back(std::move(piece));
  }
  return out;
}

struct Overtakers {
  uint64_t jobs = 0, components = 0;  // the latter of heterogeneous jobs
};

// What the plan starts while a job before it in the queue of its partition has to wait.
Overtakers starts_before_others(const Cluster& cluster, const sched::Plan& plan) {
  using Turn = std::pair<uint32_t, uint32_t>;  // priority, and of equal ones the older job
  const auto turn_of = [](const Job& j) { return Turn{j.priority, UINT32_MAX - j.id.value}; };
  std::map<uint32_t, Turn> waiting;  // partition → who comes first
  for (const auto& [id, verdict] : plan.verdicts) {
    const Job* j = cluster.jobs.find(id.value);
    bool wants_room = verdict.reason == Reason::kResources || verdict.reason == Reason::kPriority;
    if (j && wants_room) waiting[j->partition] = std::max(waiting[j->partition], turn_of(*j));
  }
  Overtakers out;
  for (const sched::StartItem& s : plan.starts) {
    const Job* j = cluster.jobs.find(s.job.value);
    auto ahead = waiting.find(s.partition);
    if (!j || ahead == waiting.end() || ahead->second < turn_of(*j)) continue;
    (j->het ? out.components : out.jobs) += 1 + s.together.size();
  }
  return out;
}

}  // namespace

PlannerThread::PlannerThread(os::Log& logger, Statistics& stats, Ports ports) : logger_(logger), stats_(stats), ports_(std::move(ports)) {}

PlannerThread::~PlannerThread() { stop(); }

void PlannerThread::start() {
  thread_ = std::thread([this] { run(); });
}

void PlannerThread::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void PlannerThread::state_changed() {
  {
    std::lock_guard lock(mutex_);
    if (dirty_) return;
    dirty_ = true;
  }
  wake_.notify_one();
}

bool PlannerThread::worth_a_pass(const Cluster& c) const {
  return c.nodes_epoch != seen_nodes_ || c.use_epoch != seen_use_ || c.jobs_epoch != seen_jobs_;
}

void PlannerThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const sched::Rhythm rhythm = ports_.params().rhythm;
    const Duration most = std::min<Duration>(seconds(5), rhythm.full_every);
    bool changed = wake_.wait_for(lock, full_due_ ? kCalm : most, [&] { return dirty_ || stopping_; });
    if (stopping_) return;
    dirty_ = false;
    lock.unlock();
    const bool all = again_.exchange(false);
    if (changed && rhythm.quick && !all) pass(sched::Pass::kQuick);
    else if (changed) full_due_ = true;
    Duration now = net::Loop::monotonic();
    bool rested = now - last_full_at_ >= std::max<Duration>(last_full_took_ * 10, kCalm);
    bool old = now - last_full_at_ >= rhythm.full_every;
    if (all || (!changed && full_due_ && rested) || (old && rested)) pass(sched::Pass::kFull);
    lock.lock();
    wake_.wait_for(lock, changed ? rhythm.quick_gap : Duration(), [&] { return stopping_; });
  }
}

void PlannerThread::pass(sched::Pass kind) {
  std::shared_ptr<const Cluster> cluster = ports_.snapshot();
  if (kind == sched::Pass::kQuick && !worth_a_pass(*cluster)) return;
  seen_nodes_ = cluster->nodes_epoch;
  seen_use_ = cluster->use_epoch;
  seen_jobs_ = cluster->jobs_epoch;
  Duration began = net::Loop::monotonic();
  const sched::Params params = ports_.params();
  sched::Plan plan;
  stats_.passing = kind == sched::Pass::kFull;
  {
    std::lock_guard lock(planner_mutex_);
    plan = planner_.plan(*cluster, params, net::Loop::now(), kind);
  }
  stats_.passing = false;
  Duration took = net::Loop::monotonic() - began;
  CycleStats& stats = kind == sched::Pass::kQuick ? stats_.quick : stats_.full;
  stats.record(net::Loop::now(), took, plan.jobs_considered, plan.classes, plan.starts.size() + plan.verdicts.size(), 0);
  count_end(plan, params, kind);
  const Overtakers early = starts_before_others(*cluster, plan);
  stats_.backfilled += early.jobs;
  stats_.backfilled_since += early.jobs;
  stats_.backfilled_components += early.components;
  if (kind == sched::Pass::kFull) {
    full_due_ = false;
    last_full_at_ = net::Loop::monotonic();
    last_full_took_ = took;
  } else {
    full_due_ = true;
  }
  logger_.debug2("plan: {} starts, {} verdicts, {} jobs of {} classes considered in {} us", plan.starts.size(), plan.verdicts.size(),
                 plan.jobs_considered, plan.classes, took.count());
  for (sched::Plan& piece : pieces(std::move(plan))) ports_.submit(std::move(piece));
}

void PlannerThread::count_end(const sched::Plan& plan, const sched::Params& params, sched::Pass kind) {
  const bool full = kind == sched::Pass::kFull;
  Statistics::Ends& ends = full ? stats_.full_ends : stats_.quick_ends;
  const uint32_t most_starts = full ? params.bf.max_start : params.quick_starts, most_tests = full ? params.bf.max_test : 0;
  if (most_starts && plan.starts.size() >= most_starts) ++ends.starts;
  else if (most_tests && plan.jobs_considered >= most_tests) ++ends.tests;
  else ++ends.queue;
}

Result<sched::Planner::Forecast> PlannerThread::will_run(const JobRequest& request) {
  std::shared_ptr<const Cluster> cluster = ports_.snapshot();
  std::lock_guard lock(planner_mutex_);
  return planner_.will_run(*cluster, ports_.params(), request, net::Loop::now());
}

}  // namespace muster::slurmctld
