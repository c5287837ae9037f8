#include "sched/pass.h"

#include <algorithm>

#include "sched/gang.h"

namespace muster::sched {
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
  if (priority != o.priority) return priority < o.priority;
  if (key.id != o.key.id) return key.id > o.key.id;
  return class_id > o.class_id;
}

PlanPass::PlanPass(const Cluster& cluster, const Params& params, Time now, Pass kind, Availability& nodes,
                   Pending& pending)
    : cluster_(cluster),
      params_(params),
      now_(now),
      full_(kind == Pass::kFull),
      nodes_(nodes),
      pending_(pending),
      rule_(cluster, params.priority, now),
      licenses_(params),
      limits_(params.bf, now) {
  if (params.licenses.empty()) return;
  for (const auto& [id, r] : pending.running())
    if (!r.finished) licenses_.take(r.allocation->licenses);
}

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
    double fixed = 0;  // what the priorities of the class have in common
  };
  std::vector<Cursor> cursors(pending_.classes().size());
  std::vector<Head> heap;
  for (uint32_t c = 0; c < pending_.classes().size(); ++c) {
    const WaitingClass& w = *pending_.classes()[c];
    if (w.jobs.empty()) continue;
    cursors[c].at = w.jobs.begin();
    if (w.ages) cursors[c].fixed = rule_.fixed_part(*w.request, w.shape.partition, w.shape.time_limit_min);
    heap.push_back({cluster_.partitions.at(w.shape.partition).priority_tier,
                    w.priority_at(*cursors[c].at, rule_, cursors[c].fixed), *cursors[c].at, c});
  }
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    Head head = heap.back();
    heap.pop_back();
    priority_ = head.priority;
    const bool go_on = job(head.key.id) || full_;
    if (!full_ && params_.quick_starts && plan_.starts.size() >= params_.quick_starts) return;
    const WaitingClass& w = *pending_.classes()[head.class_id];
    if (!go_on || ++cursors[head.class_id].at == w.jobs.end()) continue;
    head.key = *cursors[head.class_id].at;
    head.priority = w.priority_at(head.key, rule_, cursors[head.class_id].fixed);
    heap.push_back(head);
    std::push_heap(heap.begin(), heap.end());
  }
}

Reason partition_bars(const RequestClass& c, const Partition& p) {
  if (p.state == PartitionState::kDown) return Reason::kPartitionDown;
  if (p.state == PartitionState::kInactive) return Reason::kPartitionInactive;
  if (!c.never && (c.shape.min_nodes > p.max_nodes || c.shape.max_nodes < p.min_nodes))
    return Reason::kPartitionNodeLimit;
  if (p.max_time_min != kUnlimited32 && c.time_limit_min > p.max_time_min) return Reason::kPartitionTimeLimit;
  return Reason::kNone;
}

uint64_t cpus_wanted(const Shape& s) {
  const uint64_t tasks =
      s.num_tasks ? s.num_tasks : static_cast<uint64_t>(s.min_nodes) * std::max(s.tasks_per_node, 1u);
  return s.overcommit ? s.min_nodes : tasks * s.cpus_per_task;
}

bool PlanPass::user_limit(const RequestClass& c, const Partition& p) const {
  if (p.max_cpus_per_user == kUnlimited32) return false;
  auto it = user_cpus_.find({c.partition, c.uid.value});
  const uint64_t held = it == user_cpus_.end() ? 0 : it->second;
  return held + cpus_wanted(c.shape) > p.max_cpus_per_user;
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
  const bool behind = backfills() && any_closed(classes);
  if (behind)
    if (std::string why = limits_.kept_from(job.request->uid, partitions(classes)); !why.empty()) {
      say(job, Reason::kPriority, "backfill looks at no more jobs in a pass: " + why);
      return true;
    }
  uint32_t limit = kUnlimited32, array = 0;
  size_t task = Bitmap::npos;
  uint32_t* running_here = nullptr;
  uint32_t running = 0;
  if (job.array_tasks || job.array_job_id) {
    array = job.array_job_id ? job.array_job_id.value : job.id.value;
    const ArrayGroup* g = cluster_.arrays.find(array);
    running_here = &array_started_[array];
    if (g) running = g->running;
    if (job.array_tasks) {
      task = job.array_tasks->pending.first();
      if (task == Bitmap::npos) return true;
      if (job.array_tasks->max_running) limit = job.array_tasks->max_running;
    } else if (g && g->max_running) {   // a task that was requeued
      limit = g->max_running;
    }
  }
  while (true) {
    if (running_here && running + *running_here >= limit) {
      wait_for_own_tasks(job, classes, array, limit);
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
        if (behind) limits_.started();
        break;
      }
      room_wanted |= got == Try::kNoRoom;
      if (c == classes.front() || got == Try::kNoRoom) why = this_why;
    }
    if (!started) {
      uint32_t tasks = 1;
      if (task != Bitmap::npos) {
        tasks = static_cast<uint32_t>(std::min<size_t>(job.array_tasks->pending.count(), params_.bf.array_tasks));
        tasks = std::min(tasks, limit - running - *running_here);
      }
      if (room_wanted && why.reason != Reason::kPriority && why.reason != Reason::kLicenses)
        why.reason = Reason::kResources;
      wait(job, classes, why, tasks);
      return !room_wanted;
    }
    if (running_here) ++*running_here;
    if (task == Bitmap::npos) return true;
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
    why = {c.never->code == Errc::kMemoryRequest ? Reason::kMaxMemPerLimit : Reason::kBadConstraints,
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
  std::vector<LicenseShare> licenses;
  if (!grant_licenses(c, licenses)) {
    why.reason = Reason::kLicenses;
    return Try::kNoRoom;
  }
  // Who holds nodes with --exclusive=user may have room where the others of the class have none.
  const Uid user = job.request->uid;
  const bool owner = c.uid == RequestClass::kAnyone && owners_.contains(user.value);
  const bool full = owner ? owner_full_.contains({class_id, user.value}) : state.full;
  const NodeFilter* filter = profile_ ? static_cast<const NodeFilter*>(profile_.get()) : held_back_.get();
  if (!full && (owner || c.shape.switches || !c.known_not_to_fit(nodes_, filter))) {
    uint32_t limit = c.time_limit_min;
    Placement got = place_class(job, class_id, filter, limit);
    if (Placed* placed = std::get_if<Placed>(&got)) {
      began(job, class_id, array_task, limit, std::move(*placed), std::move(licenses));
      return Try::kStarted;
    }
    WaitingClass& w = *pending_.classes()[class_id];
    w.why = {};
    if (Later* later = std::get_if<Later>(&got)) w.why = std::move(*later);
    if (owner) owner_full_.insert({class_id, user.value});
    if (!filter && (c.monotone || !owner)) c.blocked_at = c.version(nodes_);
  }
  state.full = true;
  why = pending_.classes()[class_id]->why;
  return why.reason == Reason::kReqNodeNotAvail ? Try::kBarred : Try::kNoRoom;
}

// Now, with the class's own time limit or, where only promises to others stand in the way, with the longest
// that --time-min allows.
Placement PlanPass::place_class(const Job& job, uint32_t class_id, const NodeFilter* filter,
                                uint32_t& limit_min) {
  WaitingClass& w = *pending_.classes()[class_id];
  RequestClass& c = w.shape;
  const Duration waited = now_ - job.eligible;
  const Uid user = job.request->uid;
  Placement got = place(nodes_, c, params_, filter, waited, user);
  if (std::holds_alternative<Placed>(got) || !profile_ || w.lowered == WaitingClass::kNone) return got;
  // The shorter the job the better it fits: halving finds the longest limit.
  const uint32_t full = c.time_limit_min;
  uint32_t fits = 0, too_long = full;
  for (uint32_t limit = c.shape.time_min_min; limit > fits && limit < too_long;) {
    c.time_limit_min = limit;
    Placement shorter = place(nodes_, c, params_, filter, waited, user);
    if (std::holds_alternative<Placed>(shorter)) {
      got = std::move(shorter);
      limit_min = fits = limit;
    } else {
      too_long = limit;
    }
    if (fits == 0) break;
    limit = fits + (too_long - fits) / 2;
  }
  c.time_limit_min = full;
  return got;
}

// Licences free now and, where promises were made, for as long as the job may run.
bool PlanPass::grant_licenses(const RequestClass& c, std::vector<LicenseShare>& out) const {
  if (c.shape.licenses.empty()) return true;
  LicensePool pool = licenses_;
  if (profile_) pool.take(profile_->licenses_promised(c.time_limit_min));
  auto granted = pool.grant(c.shape.licenses);
  if (granted) out = std::move(*granted);
  return granted.has_value();
}

void PlanPass::began(const Job& job, uint32_t class_id, uint32_t array_task, uint32_t limit_min, Placed placed,
                     std::vector<LicenseShare> licenses) {
  const RequestClass& c = pending_.classes()[class_id]->shape;
  if (!licenses.empty()) {
    auto with = std::make_shared<Allocation>(*placed.allocation);
    with->licenses = std::move(licenses);
    licenses_.take(with->licenses);
    placed.allocation = std::move(with);
  }
  for (const NodeShare& share : placed.allocation->nodes)
    nodes_.consume(share, *placed.allocation, job.request->uid);
  for (uint32_t id : placed.allocation->fenced) nodes_.fence(id);
  if (placed.allocation->exclusive_user) owners_.insert(job.request->uid.value);
  if (cluster_.partitions.at(c.partition).max_cpus_per_user != kUnlimited32)
    user_cpus_[{c.partition, c.uid.value}] += placed.allocation->total_cpus();
  if (profile_)
    profile_->started(*placed.allocation, limit_min);
  else
    started_.push_back({placed.allocation, limit_min});
  if (array_ends_ && job.array_job_id)
    (*array_ends_)[job.array_job_id.value].push_back(
        limit_min == kUnlimited32 ? kTimeInfinite : now_ + minutes(limit_min));
  StartItem item{job.id, array_task, c.partition, std::move(placed.allocation), placed.asleep};
  item.priority = priority_;
  if (limit_min != c.time_limit_min) item.time_limit_min = limit_min;
  item.request = job.request;
  plan_.starts.push_back(std::move(item));
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
  const bool licenses = why.reason == Reason::kLicenses;
  if (!licenses && why.reason != Reason::kResources && why.reason != Reason::kPriority)
    return say(job, why.reason, why.detail);
  const Reason reason = licenses               ? Reason::kLicenses
                        : any_closed(classes) ? Reason::kPriority
                                              : Reason::kResources;
  const bool kept = limits_.keeps_place(job.eligible, priority_, partitions(classes));
  // Who waits for a licence keeps nobody from the nodes but by the place that is promised to it.
  if (!licenses && kept) close_partitions(classes);
  if (!backfills()) return say(job, reason, reason == Reason::kResources ? why.detail : std::string());
  promise(job, classes, reason, tasks, kept ? Place::kKept : Place::kTold);
}

std::vector<uint32_t> PlanPass::partitions(const std::vector<uint32_t>& classes) const {
  std::vector<uint32_t> out;
  for (uint32_t c : classes) out.push_back(pending_.classes()[c]->shape.partition);
  return out;
}

// When so few tasks of the array run that one more may; kTimeInfinite: nobody knows.
Time PlanPass::array_has_room(uint32_t array, uint32_t limit) {
  if (!array_ends_) {
    array_ends_.emplace();
    for (const auto& [id, r] : pending_.running())
      if (const Job* j = cluster_.jobs.find(id); j && j->array_job_id && !r.finished)
        (*array_ends_)[j->array_job_id.value].push_back(r.expected_end(now_));
    for (const StartItem& s : plan_.starts) {
      const Job& j = cluster_.jobs.at(s.job.value);
      const uint32_t minutes_at_most = s.time_limit_min.value_or(j.time_limit_min);
      if (j.array_job_id)
        (*array_ends_)[j.array_job_id.value].push_back(
            minutes_at_most == kUnlimited32 ? kTimeInfinite : now_ + minutes(minutes_at_most));
    }
  }
  std::vector<Time> ends = (*array_ends_)[array];
  if (limit == 0 || ends.size() < limit) return kTimeInfinite;
  const auto nth = ends.begin() + static_cast<ptrdiff_t>(ends.size() - limit);
  std::nth_element(ends.begin(), nth, ends.end());
  return *nth;
}

// As many tasks of the array run as may: the next has its place when one of them has ended.
void PlanPass::wait_for_own_tasks(const Job& job, const std::vector<uint32_t>& classes, uint32_t array,
                                  uint32_t limit) {
  const Time room = backfills() ? array_has_room(array, limit) : kTimeInfinite;
  if (room == kTimeInfinite) return say(job, Reason::kJobArrayTaskLimit);
  Verdict verdict{Reason::kJobArrayTaskLimit, {}, {}, {}};
  const WaitingClass& w = *pending_.classes()[classes.front()];
  if (w.shape.never || state_[classes.front()].barred != Reason::kNone) return say(job, verdict.reason);
  RequestClass c = w.shape;
  c.resolve(cluster_, nodes_, cluster_.partitions.at(c.partition));
  const uint32_t extra = forecasts_++;
  Profile::Spot spot = profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + extra,
                                          pending_.families() + extra, c, profile().slot_of(room));
  if (spot.slot == kNever) return say(job, verdict.reason);
  keep_or_tell(c, spot, Place::kKept, verdict);
  plan_.verdicts.push_back({job.id, std::move(verdict)});
}

void PlanPass::keep_or_tell(const RequestClass& c, const Profile::Spot& spot, Place place, Verdict& verdict) {
  const Time start = profile().time_of(spot.slot);
  if (place == Place::kKept && !limits_.beyond_window(start)) profile().promise(c, spot);
  if (verdict.expected_start != Time{}) return;  // of an array the first task's
  verdict.expected_start = start;
  Bitmap nodes(nodes_.size());
  for (const auto& part : spot.parts) nodes.set(part.node);
  verdict.expected_nodes = node_list(cluster_, nodes);
}

Profile& PlanPass::profile() {
  if (!profile_)
    profile_ =
        std::make_unique<Profile>(params_, now_, nodes_, pending_, started_, pending_.classes().size());
  return *profile_;
}

// With --switches: within so many leaf switches, or anywhere once the patience is over.
Profile::Spot PlanPass::earliest(uint32_t class_id, uint32_t family, RequestClass& c, Time eligible) {
  const bool tree = c.topology && c.topology->kind() == TopologyKind::kTree;
  if (!c.shape.switches || !tree) return profile().earliest(class_id, family, c);
  Profile::Spot within = profile().earliest(class_id, family, c);
  RequestClass anywhere = c;
  anywhere.shape.switches = 0;
  const uint32_t extra = forecasts_++;
  Profile::Spot then =
      profile().earliest(static_cast<uint32_t>(pending_.classes().size()) + extra,
                         pending_.families() + extra, anywhere, profile().slot_of(eligible + patience(c.shape, params_)));
  return then.slot < within.slot ? then : within;
}

Profile::Spot PlanPass::earliest_of_class(uint32_t class_id, Time eligible, const RequestClass*& of) {
  WaitingClass& w = *pending_.classes()[class_id];
  of = &w.shape;
  Profile::Spot full = earliest(class_id, w.family, w.shape, eligible);
  if (w.lowered == WaitingClass::kNone) return full;
  WaitingClass& l = *pending_.classes()[w.lowered];
  l.shape.resolve(cluster_, nodes_, cluster_.partitions.at(l.shape.partition));
  Profile::Spot sooner = earliest(w.lowered, l.family, l.shape, eligible);
  if (sooner.slot >= full.slot) return full;
  of = &l.shape;
  return sooner;
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

void PlanPass::promise(const Job& job, const std::vector<uint32_t>& classes, Reason reason, uint32_t tasks,
                       Place place) {
  Verdict verdict;
  verdict.reason = reason;
  for (uint32_t i = 0; i < std::max(tasks, 1u); ++i) {
    if (i >= tasks) place = Place::kTold;
    Profile::Spot best;
    const RequestClass* of = nullptr;
    for (uint32_t id : classes) {
      RequestClass& c = pending_.classes()[id]->shape;
      if (c.never || state_[id].barred != Reason::kNone) continue;
      const RequestClass* which = &c;
      Profile::Spot spot = earliest_of_class(id, job.eligible, which);
      if (spot.slot >= best.slot) continue;
      best = std::move(spot);
      of = which;
    }
    if (!of) break;
    keep_or_tell(*of, best, place, verdict);
    if (place == Place::kTold) break;
  }
  if (verdict.expected_start == Time{}) say_why_never(classes, verdict);
  plan_.verdicts.push_back({job.id, std::move(verdict)});
}

Result<Planner::Forecast> PlanPass::forecast(RequestClass c) {
  const Partition& p = cluster_.partitions.at(c.partition);
  c.resolve(cluster_, nodes_, p);
  std::vector<LicenseShare> licenses;
  Placement now = Later{};
  if (profile(); grant_licenses(c, licenses)) now = place(nodes_, c, params_, &profile(), {});
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
                                part.job_gres);
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
