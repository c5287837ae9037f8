#include "sim/replay/driver.h"

#include <algorithm>

namespace muster::sim::replay {
namespace {

using slurmctld::Core;

constexpr int64_t kWeek = 7 * 86400, kEarliest = 1'704'067'200;  // 2024-01-01
constexpr uint32_t kMostRuns = 10;                               // of a job that RequeueExit puts back again and again
constexpr Duration kQuiet = minutes(24 * 60);  // nothing ran for so long after the last submission: what waits will not start
constexpr uint64_t kStepsAtOnce = 64;
constexpr int kMostPasses = 100;  // in a row, where a bound leaves something for the next

RequestRules with_names(RequestRules rules, const slurmctld::Settings& settings) {
  for (const auto& p : settings.config().partitions) rules.known_partitions.insert(p.spec.name);
  for (const auto& [name, count] : settings.config().licenses) rules.known_licenses.insert(name);
  return rules;
}

}  // namespace

int64_t Driver::shift_of(const Trace& trace) {
  const int64_t first = trace.first_submit();
  return first >= kEarliest ? 0 : (kEarliest - first + kWeek - 1) / kWeek * kWeek;
}

Driver::Driver(const Trace& trace, slurmctld::Settings settings, const rpc::Entities& accounts, RequestRules rules, Pace pace,
               Duration bucket)
    : trace_(trace),
      shift_(shift_of(trace)),
      begin_(from_unix(trace.first_submit() + shift_)),
      rules_(with_names(std::move(rules), settings)),
      pace_(pace),
      collector_(trace, begin_, bucket),
      runs_(trace.jobs.size()),
      now_(begin_ - seconds(60)),
      site_(std::move(settings), ports(), now_) {
  collector_.set_cluster(site_.capacity());
  for (const TraceJob& j : trace_.jobs)
    if (j.after) ids_.emplace(j.after, 0);
  site_.learn(accounts);
  drive_.begin = begin_;
}

Site::Ports Driver::ports() {
  Site::Ports p;
  p.witness = [this](const Event& e, const Cluster& c) { collector_.take(e, c); };
  p.launched = [this](JobId id, uint32_t generation) { launched(id, generation); };
  p.terminated = [this](JobId id, uint32_t generation) { terminated(id, generation); };
  p.settled = [this](JobId id, uint32_t generation, bool stopped) { settled(id, generation, stopped); };
  return p;
}

// How long the job runs by itself; kTimeInfinite's span: until somebody else ends it.
Duration Driver::run_time(uint32_t index) const {
  const TraceJob& t = trace_.jobs[index];
  const Job* j = site_.cluster().jobs.find(runs_[index].id.value);
  const bool limited = j && j->time_limit_min != kUnlimited32;
  if (!t.started() || (t.fate == Fate::kTimeout && limited)) return Duration::max();
  return std::max(seconds(t.run), milliseconds(500));  // a run of 0 seconds was one of less than half a second
}

void Driver::schedule(Kind kind, uint32_t index, Time at) { queue_.push({at, ++sequence_, kind, index, runs_[index].token}); }

void Driver::launched(JobId id, uint32_t generation) {
  const uint32_t index = collector_.index_of(id);
  if (index == Collector::kNobody) return;
  Run& r = runs_[index];
  if (r.on && r.generation == generation) return;  // an order that was repeated
  r = {id, generation, r.token + 1, kTimeInfinite, {}, true};
  const Duration run = run_time(index);
  if (run == Duration::max()) return;
  r.ends = now_ + run;
  schedule(Kind::kEnd, index, r.ends);
}

void Driver::terminated(JobId id, uint32_t generation) {
  const uint32_t index = collector_.index_of(id);
  if (index == Collector::kNobody || !runs_[index].on || runs_[index].generation != generation) return;
  runs_[index].on = false;
  ++runs_[index].token;
}

void Driver::settled(JobId id, uint32_t generation, bool stopped) {
  const uint32_t index = collector_.index_of(id);
  if (index == Collector::kNobody || !runs_[index].on || runs_[index].generation != generation) return;
  Run& r = runs_[index];
  if (stopped && r.ends != kTimeInfinite) {
    r.left = std::max(r.ends - now_, Duration());
    r.ends = kTimeInfinite;
    ++r.token;
  } else if (!stopped && r.left > Duration()) {
    r.ends = now_ + r.left;
    r.left = {};
    schedule(Kind::kEnd, index, r.ends);
  }
}

void Driver::submit(Core& core, uint32_t index) {
  const TraceJob& job = trace_.jobs[index];
  const auto followed = job.after ? ids_.find(job.after) : ids_.end();
  const uint32_t after = followed == ids_.end() ? 0 : followed->second;
  const Time begin = job.eligible > job.submit ? moment(job.eligible) : Time{};
  auto answer = core.run(caller_of(trace_, job), request_of(trace_, job, rules_, begin, after, adapted_));
  if (!answer) {
    std::string why(answer.error().message());
    if (!answer.error().hint.empty()) why += ": " + answer.error().hint;
    collector_.refused(index, now_, std::move(why));
    return;
  }
  runs_[index].id = answer->job;
  collector_.submitted(index, answer->job, now_);
  if (auto at = ids_.find(job.number); at != ids_.end()) at->second = answer->job.value;
  if (!job.started() && job.end != kNever) schedule(Kind::kCancel, index, std::max(now_, moment(job.end)));
}

void Driver::cancel(Core& core, uint32_t index) {
  rpc::SignalJobs c;
  rpc::JobSelector job;
  job.job = runs_[index].id;
  c.filter.jobs.push_back(job);
  (void)core.run(caller_of(trace_, trace_.jobs[index]), c);  // one that is over cannot be cancelled, which is well
}

void Driver::happen(Core& core, const Happening& happening) {
  const TraceJob& traced = trace_.jobs[happening.index];
  Run& run = runs_[happening.index];
  if (happening.kind == Kind::kCancel) return cancel(core, happening.index);
  if (!run.on || run.token != happening.token) return;
  if (traced.fate == Fate::kCancelled) return cancel(core, happening.index);
  const Job* job = core.cluster().jobs.find(run.id.value);
  run.on = false;
  ++run.token;
  if (!job || !job->allocation) return;
  node_rpc::BatchFinished end;
  end.job = run.id;
  end.generation = run.generation;
  end.gone = true;
  end.out_of_memory = traced.fate == Fate::kOutOfMemory;
  const bool failed = traced.fate == Fate::kFailed || traced.fate == Fate::kNodeFail;
  if (failed && run.generation < kMostRuns) end.exit_status = std::max<int32_t>(traced.exit_code, 1) << 8;
  core.report(job->batch_share().node, end);
}

Time Driver::full_due() const {
  if (collector_.waiting() == 0) return kTimeInfinite;
  return last_full_ + (dirty_ ? pace_.full_every : pace_.idle_every);
}

Time Driver::next_moment() const {
  Time next = std::min(site_.next_timer(), full_due());
  if (!queue_.empty()) next = std::min(next, queue_.top().at);
  if (next_ < trace_.jobs.size()) next = std::min(next, moment(trace_.jobs[next_].submit));
  return next == kTimeInfinite ? next : std::max(next, now_);
}

// With `bounded`, a pass may leave for the next one what it could have started.
size_t Driver::pass(sched::Pass kind, bool bounded) {
  size_t started = 0;
  for (int i = 0; i < (bounded ? kMostPasses : 1); ++i) {
    const size_t now = site_.pass(kind);
    ++(kind == sched::Pass::kQuick ? drive_.quick_passes : drive_.full_passes);
    started += now;
    if (!now) break;
  }
  return started;
}

void Driver::plan() {
  const Cluster& cluster = site_.cluster();
  if (cluster.nodes_epoch != seen_nodes_ || cluster.use_epoch != seen_use_ || cluster.jobs_epoch != seen_jobs_) {
    dirty_ = true;
    const sched::Params& params = site_.core().settings().sched;
    if (params.rhythm.quick && collector_.waiting()) pass(sched::Pass::kQuick, params.quick_starts != 0);
  }
  if (full_due() <= now_) {
    const sched::BackfillRules& rules = site_.core().settings().sched.bf;
    pass(sched::Pass::kFull, rules.max_start || rules.max_test || rules.max_user || rules.max_partition || rules.max_user_partition);
    collector_.promises(site_.last_plan(), now_);
    last_full_ = now_;
    dirty_ = false;
  }
  seen_nodes_ = cluster.nodes_epoch;
  seen_use_ = cluster.use_epoch;
  seen_jobs_ = cluster.jobs_epoch;
}

void Driver::step(Time now) {
  // Orders that are left for later are due again at once; time goes on nevertheless.
  now_ = now == now_ && drive_.turns ? now + Duration(1) : now;
  site_.turn(now_, [&](Core& core) {
    while (!queue_.empty() && queue_.top().at <= now_) {
      const Happening h = queue_.top();
      queue_.pop();
      happen(core, h);
    }
    while (next_ < trace_.jobs.size() && moment(trace_.jobs[next_].submit) <= now_) submit(core, next_++);
  });
  ++drive_.turns;
  plan();
}

bool Driver::over() {
  if (next_ < trace_.jobs.size()) return false;
  if (collector_.waiting() == 0 && collector_.running() == 0) return true;
  if (collector_.running()) quiet_since_ = {};
  else if (quiet_since_ == Time{}) quiet_since_ = now_;
  const bool quiet = quiet_since_ != Time{} && now_ - quiet_since_ > kQuiet;
  drive_.out_of_patience = now_ - moment(trace_.last_submit()) > pace_.patience;
  return quiet || drive_.out_of_patience;
}

Standing Driver::standing() const {
  Standing s;
  s.now = now_;
  s.jobs = trace_.jobs.size();
  s.submitted = next_;
  s.ended = collector_.ended();
  s.waiting = collector_.waiting();
  s.running = collector_.running();
  const double whole = static_cast<double>(std::max<int64_t>(1, trace_.last_submit() - trace_.first_submit()));
  s.part = std::clamp(static_cast<double>(to_seconds(now_ - begin_)) / whole, 0.0, 1.0);
  return s;
}

Drive Driver::run(const std::function<bool(const Standing&)>& progress) {
  for (uint64_t steps = 0; !over(); ++steps) {
    if (steps % kStepsAtOnce == 0 && !progress(standing())) {
      drive_.stopped = true;
      break;
    }
    const Time next = next_moment();
    if (next == kTimeInfinite) break;
    step(next);
  }
  (void)progress(standing());
  collector_.finish(now_);
  drive_.end = now_;
  drive_.events = site_.events();
  return drive_;
}

}  // namespace muster::sim::replay
