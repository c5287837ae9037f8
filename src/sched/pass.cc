#include "sched/pass.h"

#include <algorithm>

namespace muster::sched {
namespace {

constexpr uint32_t kArrayPromises = 20;  // tasks of one array record that a pass reserves for

}  // namespace

// Nodes of a partition whose first job waits are not given to jobs behind it, in whatever partition.
class PlanPass::HeldBack : public NodeFilter {
 public:
  explicit HeldBack(uint32_t size) : nodes_(size) {}
  void add(const Bitmap& nodes) { nodes_ |= nodes; }
  const Bitmap& promised() const override { return nodes_; }
  uint32_t tasks(uint32_t, const RequestClass&, uint32_t) const override { return kNoTasks; }

 private:
  Bitmap nodes_;
};

bool PlanPass::Head::operator<(const Head& o) const {
  if (tier != o.tier) return tier < o.tier;
  if (key < o.key) return false;
  if (o.key < key) return true;
  return class_id > o.class_id;
}

PlanPass::PlanPass(const Cluster& cluster, const Params& params, Time now, Pass kind, Availability& nodes,
                   Pending& pending)
    : cluster_(cluster),
      params_(params),
      now_(now),
      full_(kind == Pass::kFull),
      nodes_(nodes),
      pending_(pending) {}

PlanPass::~PlanPass() = default;

Plan PlanPass::run() {
  plan_.position = cluster_.position;
  plan_.classes = pending_.classes_in_use();
  state_.resize(pending_.classes().size());
  count_users();
  nodes_.owned().for_each([&](size_t id) { owners_.insert(nodes_.owner(static_cast<uint32_t>(id)).value); });
  walk();
  if (full_) say_parked();
  if (profile_) plan_.horizon = profile_->time_of(profile_->horizon()) - now_;
  return std::move(plan_);
}

void PlanPass::count_users() {
  bool any = false;
  cluster_.partitions.for_each(
      [&](uint32_t, const Partition& p) { any |= p.max_cpus_per_user != kUnlimited32; });
  if (!any) return;
  for (const auto& [id, r] : pending_.running())
    if (!r.finished) user_cpus_[{r.partition, r.uid.value}] += r.allocation->total_cpus();
}

// Merges the classes' queues; a class that can do no more leaves the heap in a quick pass.
void PlanPass::walk() {
  struct Cursor {
    std::set<QueueKey>::const_iterator at;
  };
  std::vector<Cursor> cursors(pending_.classes().size());
  std::vector<Head> heap;
  for (uint32_t c = 0; c < pending_.classes().size(); ++c) {
    const WaitingClass& w = *pending_.classes()[c];
    if (w.jobs.empty()) continue;
    cursors[c].at = w.jobs.begin();
    heap.push_back({cluster_.partitions.at(w.shape.partition).priority_tier, *cursors[c].at, c});
  }
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    Head head = heap.back();
    heap.pop_back();
    const bool go_on = job(head.key.id) || full_;
    const WaitingClass& w = *pending_.classes()[head.class_id];
    if (!go_on || ++cursors[head.class_id].at == w.jobs.end()) continue;
    head.key = *cursors[head.class_id].at;
    heap.push_back(head);
    std::push_heap(heap.begin(), heap.end());
  }
}

Reason PlanPass::partition_bars(const RequestClass& c, const Partition& p) const {
  if (p.state == PartitionState::kDown) return Reason::kPartitionDown;
  if (p.state == PartitionState::kInactive) return Reason::kPartitionInactive;
  if (!c.never && (c.shape.min_nodes > p.max_nodes || c.shape.max_nodes < p.min_nodes))
    return Reason::kPartitionNodeLimit;
  if (p.max_time_min != kUnlimited32 && c.time_limit_min > p.max_time_min) return Reason::kPartitionTimeLimit;
  return Reason::kNone;
}

bool PlanPass::user_limit(const RequestClass& c, const Partition& p) const {
  if (p.max_cpus_per_user == kUnlimited32) return false;
  auto it = user_cpus_.find({c.partition, c.uid.value});
  const uint64_t held = it == user_cpus_.end() ? 0 : it->second;
  const uint64_t tasks =
      c.shape.num_tasks ? c.shape.num_tasks
                        : static_cast<uint64_t>(c.shape.min_nodes) * std::max(c.shape.tasks_per_node, 1u);
  const uint64_t wants = c.shape.overcommit ? c.shape.min_nodes : tasks * c.shape.cpus_per_task;
  return held + wants > p.max_cpus_per_user;
}

bool PlanPass::job(uint32_t id) {
  if (done_.contains(id)) return true;
  const Job* job = cluster_.jobs.find(id);
  if (!job) return true;
  ++plan_.jobs_considered;
  return start_tasks(*job, pending_.classes_of(id));
}

bool PlanPass::start_tasks(const Job& job, const std::vector<uint32_t>& classes) {
  if (classes.size() > 1) done_.insert(job.id.value);  // its other partitions are looked at here and now
  if (job.request->deadline != Time{}) {
    const uint32_t least = job.request->time_min_min ? job.request->time_min_min : job.time_limit_min;
    if (now_ >= job.request->deadline ||
        (least != kUnlimited32 && now_ + minutes(least) > job.request->deadline)) {
      say(job, Reason::kDeadLine);
      return true;
    }
  }
  uint32_t limit = kUnlimited32;
  size_t task = Bitmap::npos;
  uint32_t* running_here = nullptr;
  uint32_t running = 0;
  if (job.array_tasks) {
    task = job.array_tasks->pending.first();
    if (task == Bitmap::npos) return true;
    const uint32_t array = job.array_job_id ? job.array_job_id.value : job.id.value;
    running_here = &array_started_[array];
    if (job.array_tasks->max_running) limit = job.array_tasks->max_running;
    if (const ArrayGroup* g = cluster_.arrays.find(array)) running = g->running;
  }
  while (true) {
    if (running_here && running + *running_here >= limit) {
      say(job, Reason::kJobArrayTaskLimit);
      return true;
    }
    Later why;
    bool started = false, room_wanted = false;
    for (uint32_t c : classes) {
      Later this_why;
      const Try got =
          try_class(job, c, task == Bitmap::npos ? kNoArrayTask : static_cast<uint32_t>(task), this_why);
      if (got == Try::kStarted) {
        started = true;
        break;
      }
      room_wanted |= got == Try::kNoRoom;
      if (c == classes.front() || got == Try::kNoRoom) why = this_why;
    }
    if (!started) {
      uint32_t tasks = 1;
      if (task != Bitmap::npos) {
        tasks = static_cast<uint32_t>(std::min<size_t>(job.array_tasks->pending.count(), kArrayPromises));
        tasks = std::min(tasks, limit - running - *running_here);
      }
      if (room_wanted && why.reason != Reason::kPriority) why.reason = Reason::kResources;
      wait(job, classes, why, tasks);
      return !room_wanted;
    }
    if (task == Bitmap::npos) return true;
    ++*running_here;
    task = job.array_tasks->pending.next(task + 1);
    if (task == Bitmap::npos) return true;
  }
}

PlanPass::Try PlanPass::try_class(const Job& job, uint32_t class_id, uint32_t array_task, Later& why) {
  RequestClass& c = pending_.classes()[class_id]->shape;
  ClassState& state = state_[class_id];
  const Partition& p = cluster_.partitions.at(c.partition);
  if (!state.seen) {
    state.seen = true;
    state.barred = partition_bars(c, p);
    if (!c.never) c.resolve(cluster_, nodes_, p);
  }
  if (state.barred != Reason::kNone) {
    why.reason = state.barred;
    return Try::kBarred;
  }
  if (c.never) {
    why = {Reason::kBadConstraints,
           std::string(c.never->message()) + (c.never->hint.empty() ? "" : ": " + c.never->hint)};
    return Try::kBarred;
  }
  if (user_limit(c, p)) {
    why.reason = Reason::kQOSMaxCpuPerUserLimit;
    return Try::kBarred;
  }
  if (closed_.test(c.partition) && !backfills()) {
    why.reason = Reason::kPriority;
    return Try::kNoRoom;
  }
  // Who holds nodes with --exclusive=user may have room where the others of the class have none.
  const Uid user = job.request->uid;
  const bool owner = c.uid == RequestClass::kAnyone && owners_.contains(user.value);
  const bool full = owner ? owner_full_.contains({class_id, user.value}) : state.full;
  if (!full && (owner || c.blocked_at != nodes_.freed() || c.shape.switches)) {
    const NodeFilter* filter = profile_ ? static_cast<const NodeFilter*>(profile_.get()) : held_back_.get();
    Placement got = place(nodes_, c, params_, filter, now_ - job.eligible, user);
    if (Placed* placed = std::get_if<Placed>(&got)) {
      began(job, class_id, array_task, std::move(*placed));
      return Try::kStarted;
    }
    WaitingClass& w = *pending_.classes()[class_id];
    w.why = {};
    if (Later* later = std::get_if<Later>(&got)) w.why = std::move(*later);
    state.full = true;
    if (owner) owner_full_.insert({class_id, user.value});
    if (!filter) c.blocked_at = nodes_.freed();
  }
  why = pending_.classes()[class_id]->why;
  return why.reason == Reason::kReqNodeNotAvail ? Try::kBarred : Try::kNoRoom;
}

void PlanPass::began(const Job& job, uint32_t class_id, uint32_t array_task, Placed placed) {
  const RequestClass& c = pending_.classes()[class_id]->shape;
  for (const NodeShare& share : placed.allocation->nodes)
    nodes_.consume(share, *placed.allocation, job.request->uid);
  if (placed.allocation->exclusive_user) owners_.insert(job.request->uid.value);
  if (cluster_.partitions.at(c.partition).max_cpus_per_user != kUnlimited32)
    user_cpus_[{c.partition, c.uid.value}] += placed.allocation->total_cpus();
  if (profile_)
    profile_->started(*placed.allocation, c.time_limit_min);
  else
    started_.push_back({placed.allocation, c.time_limit_min});
  plan_.starts.push_back(
      {job.id, array_task, c.partition, std::move(placed.allocation), placed.asleep, job.request});
}

bool PlanPass::any_closed(const std::vector<uint32_t>& classes) const {
  return std::any_of(classes.begin(), classes.end(),
                     [&](uint32_t c) { return closed_.test(pending_.classes()[c]->shape.partition); });
}

void PlanPass::close_partitions(const std::vector<uint32_t>& classes) {
  for (uint32_t c : classes) {
    const uint32_t p = pending_.classes()[c]->shape.partition;
    if (closed_.test(p)) continue;
    closed_.set(p);
    if (backfills()) continue;
    if (!held_back_) held_back_ = std::make_unique<HeldBack>(nodes_.size());
    held_back_->add(cluster_.partitions.at(p).nodes);
  }
}

// The job does not start now. `tasks`: of an array, how many of its tasks are promised a place.
void PlanPass::wait(const Job& job, const std::vector<uint32_t>& classes, const Later& why, uint32_t tasks) {
  if (why.reason != Reason::kResources && why.reason != Reason::kPriority)
    return say(job, why.reason, why.detail);
  const Reason reason = any_closed(classes) ? Reason::kPriority : Reason::kResources;
  close_partitions(classes);
  if (!backfills() || (params_.bf_max_job_test && promises_ >= params_.bf_max_job_test))
    return say(job, reason, reason == Reason::kResources ? why.detail : std::string());
  promise(job, classes, reason, tasks);
}

Profile& PlanPass::profile() {
  if (!profile_)
    profile_ =
        std::make_unique<Profile>(params_, now_, nodes_, pending_, started_, pending_.classes().size());
  return *profile_;
}

// With --switches: within so many leaf switches, or anywhere once the patience is over.
Profile::Spot PlanPass::earliest(uint32_t class_id, uint32_t family, RequestClass& c, Time eligible) {
  if (!c.shape.switches) return profile().earliest(class_id, family, c);
  Profile::Spot within = profile().earliest(class_id, family, c);
  RequestClass anywhere = c;
  anywhere.shape.switches = 0;
  const Duration patience = c.shape.switches_wait.count() ? c.shape.switches_wait : kDefaultSwitchesWait;
  const uint32_t extra = forecasts_++;
  Profile::Spot then =
      profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + extra,
                         pending_.families() + extra, anywhere, profile().slot_of(eligible + patience));
  return then.slot < within.slot ? then : within;
}

// No start within sight: because of the nodes that are down, or were it so with all of them idle too?
void PlanPass::say_why_never(const std::vector<uint32_t>& classes, Verdict& verdict) const {
  Reason barred = Reason::kBadConstraints;
  for (uint32_t id : classes) {
    const RequestClass& c = pending_.classes()[id]->shape;
    if (state_[id].barred != Reason::kNone) {
      barred = state_[id].barred;
    } else if (!c.never && has_room_when_idle(c)) {
      verdict.detail = "no start within sight: too few of its nodes are up";
      return;
    }
  }
  verdict.reason = barred;
  verdict.detail = "it would not fit on the nodes of its partitions if all were idle";
}

bool PlanPass::has_room_when_idle(const RequestClass& c) const {
  if (c.feasible.count() < std::max(c.shape.min_nodes, 1u)) return false;
  if (!c.shape.num_tasks || c.shape.overcommit) return true;
  std::vector<std::pair<uint32_t, size_t>> room;  // tasks per node, nodes
  for (uint32_t k = 0; k < c.idle_tasks.size(); ++k)
    if (c.idle_tasks[k] != kNoTasks)
      room.push_back({c.idle_tasks[k], c.feasible.count_and(nodes_.of_kind(k))});
  std::sort(room.rbegin(), room.rend());
  uint64_t tasks = 0, nodes = c.shape.max_nodes;
  for (const auto& [each, count] : room) {
    const uint64_t n = std::min<uint64_t>(count, nodes);
    tasks += n * each;
    nodes -= n;
  }
  return tasks >= c.shape.num_tasks;
}

void PlanPass::promise(const Job& job, const std::vector<uint32_t>& classes, Reason reason, uint32_t tasks) {
  ++promises_;
  Verdict verdict;
  verdict.reason = reason;
  for (uint32_t i = 0; i < tasks; ++i) {
    Profile::Spot best;
    const RequestClass* of = nullptr;
    for (uint32_t id : classes) {
      RequestClass& c = pending_.classes()[id]->shape;
      if (c.never || state_[id].barred != Reason::kNone) continue;
      Profile::Spot spot = earliest(id, pending_.classes()[id]->family, c, job.eligible);
      if (spot.slot >= best.slot) continue;
      best = std::move(spot);
      of = &c;
    }
    if (!of) break;
    profile().promise(*of, best);
    if (i > 0) continue;
    verdict.expected_start = profile().time_of(best.slot);
    Bitmap nodes(nodes_.size());
    for (const auto& part : best.parts) nodes.set(part.node);
    verdict.expected_nodes = node_list(cluster_, nodes);
  }
  if (verdict.expected_start == Time{}) say_why_never(classes, verdict);
  plan_.verdicts.push_back({job.id, std::move(verdict)});
}

Result<Planner::Forecast> PlanPass::forecast(RequestClass c) {
  const Partition& p = cluster_.partitions.at(c.partition);
  c.resolve(cluster_, nodes_, p);
  Placement now = place(nodes_, c, params_, &profile(), {});
  if (Placed* placed = std::get_if<Placed>(&now))
    return Planner::Forecast{now_, c.partition, placed->allocation};
  const uint32_t extra = forecasts_++;
  Profile::Spot spot = earliest(static_cast<uint32_t>(pending_.classes().size()) + extra,
                                pending_.families() + extra, c, now_);
  if (spot.slot == kNever)
    return fail(Errc::kRequestedPartConfigUnavailable, {}, "too few of the nodes it could use are up");
  auto allocation = std::make_shared<Allocation>();
  allocation->whole_nodes = c.shape.whole;
  for (const auto& part : spot.parts) {
    auto share = choose_on_node(c.shape, nodes_.kind(part.node), NodeId(part.node), {}, part.tasks,
                                part.job_gres, false);
    if (!share) return fail(Errc::kRequestedNodeConfigUnavailable);
    allocation->nodes.push_back(std::move(*share));
  }
  return Planner::Forecast{profile().time_of(spot.slot), c.partition, std::move(allocation)};
}

void PlanPass::say(const Job& job, Reason reason, std::string detail, Time start, std::string nodes) {
  plan_.verdicts.push_back({job.id, Verdict{reason, start, std::move(nodes), std::move(detail)}});
}

void PlanPass::say_parked() {
  for (const auto& [id, verdict] : pending_.parked()) plan_.verdicts.push_back({JobId(id), verdict});
}

}  // namespace muster::sched
