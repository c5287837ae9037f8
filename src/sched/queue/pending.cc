#include "sched/queue/pending.h"

#include <algorithm>

#include "base/text.h"
#include "sched/reserve/access.h"
#include "sched/rules/eligibility.h"

namespace muster::sched {

std::vector<uint32_t> partitions_of(const Cluster& cluster, const Job& job) {
  std::vector<uint32_t> out;
  if (job.request && job.request->partitions.size() > 1)
    for (const std::string& name : job.request->partitions)
      if (const Partition* p = cluster.partition(name))
        if (std::find(out.begin(), out.end(), p->index) == out.end()) out.push_back(p->index);
  if (out.empty()) out.push_back(job.partition);
  return out;
}

std::string params_key(const Params& params) {
  std::string key;
  auto num = [&](uint64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  uint64_t flags = 0;
  for (bool b :
       {params.allocate_cores, params.allocate_sockets, params.memory_consumable, params.linear, params.one_task_per_core, params.lln,
        params.pack_nodes, params.block_cores, params.enforce_binding, params.one_task_per_sharing, params.several_sharing,
        params.spread_shared, params.job_core_spec, params.spec_cores_first, params.soft_time_min, params.extra_constraints})
    flags = flags << 1 | b;
  num(flags);
  for (uint64_t v : {params.def_mem_per_cpu_mb, params.def_mem_per_node_mb, params.max_mem_per_cpu_mb, params.max_mem_per_node_mb,
                     params.def_mem_per_gpu_mb, uint64_t{params.def_cpu_per_gpu}})
    num(v);
  num(params.priority.multifactor);
  num(params.priority.only_up);
  num(params.priority.weight_fairshare || params.priority.weight_assoc);
  num(params.priority.weight_qos != 0);
  num(static_cast<uint64_t>(params.preempt.by));
  num(params.preempt.preempts());
  num(static_cast<uint64_t>(params.keep_by_label));
  for (size_t i = params.licenses.size() - params.layers; i < params.licenses.size(); ++i) key += params.licenses[i].first + "\n";
  if (params.hierarchies)
    for (const Hres& h : params.hierarchies->all) num(static_cast<uint64_t>(h.mode));
  return key;
}

// What a job holds whose CPUs others may have (scontrol suspend).
static AllocationPtr without_cpus(const Allocation& a) {
  auto out = std::make_shared<Allocation>(a);
  out->whole_nodes = false;
  for (NodeShare& share : out->nodes) share.cpus = Bitmap();
  return out;
}

const std::vector<uint32_t>& Pending::classes_of(uint32_t job) const {
  static const std::vector<uint32_t> kNone;
  const Entry* entry = entries_.find(job);
  return entry ? *lists_[entry->list] : kNone;
}

uint32_t Pending::classes_in_use() const {
  uint32_t n = 0;
  for (const auto& c : classes_) n += !c->jobs.empty();
  return n;
}

void Pending::reset(const Params& params) {
  PersistentMap<Reservation> reservations = std::move(reservations_);
  std::map<std::string, uint32_t> ids = std::move(reservation_ids_);
  std::vector<uint32_t> magnetic = std::move(magnetic_);
  const uint64_t epoch = classes_epoch_ + 1;
  *this = Pending();
  classes_epoch_ = epoch;
  reservations_ = std::move(reservations);
  reservation_ids_ = std::move(ids);
  magnetic_ = std::move(magnetic);
  started_ = true;
  params_key_ = params_key(params);
}

void Pending::update(const Cluster& cluster, const Params& params, Time now) {
  bool partitions_changed = false;
  PersistentMap<Partition>::diff(partitions_, cluster.partitions,
                                 [&](uint32_t, const Partition*, const Partition*) { partitions_changed = true; });
  partitions_changed |= learn_reservations(cluster);
  const bool stale = classes_.size() > 4096 && classes_in_use() < classes_.size() / 4;
  const bool back = now < last_;  // the clock was set back: who was eligible need not be now
  if (back || !started_ || stale || partitions_changed || params_key_ != params_key(params)) reset(params);
  last_ = now;
  partitions_ = cluster.partitions;
  const Round round{cluster, params, PriorityRule(cluster, params.priority, Time{}), now};
  PersistentMap<Job> before = std::move(jobs_);
  jobs_ = cluster.jobs;
  PersistentMap<Job>::diff(before, jobs_, [&](uint32_t id, const Job* was, const Job* is) {
    if (was) drop(id);
    if (is) add(round, *is);
  });
  while (!timed_.empty() && timed_.begin()->first <= now) {
    const uint32_t id = timed_.begin()->second;
    timed_.erase(timed_.begin());
    if (!parked_.erase(id)) continue;
    if (const Job* job = jobs_.find(id)) add(round, *job);
  }
  forget_unused();
}

// Keeps up names and magnetic reservations. True: other jobs than before may be drawn in, so all are to be sorted anew.
bool Pending::learn_reservations(const Cluster& cluster) {
  bool changed = false, drawn = false;
  PersistentMap<Reservation>::diff(reservations_, cluster.reservations, [&](uint32_t, const Reservation* was, const Reservation* is) {
    changed = true;
    const bool before = was && was->has(kResvMagnetic), after = is && is->has(kResvMagnetic);
    if (!before && !after) return;
    drawn |= before != after || was->users != is->users || was->accounts != is->accounts || was->groups != is->groups ||
             was->qos != is->qos || was->partitions != is->partitions || was->group_members != is->group_members;
  });
  if (!changed) return false;
  reservations_ = cluster.reservations;
  reservation_ids_.clear();
  magnetic_.clear();
  reservations_.for_each([&](uint32_t id, const Reservation& r) {
    reservation_ids_.emplace(to_lower(r.name), id);
    if (r.has(kResvMagnetic)) magnetic_.push_back(id);
  });
  return drawn;
}

std::vector<uint32_t> Pending::reservations_for(const Cluster& cluster, const RequestBody& request, uint32_t partition,
                                                const HetPart& het) const {
  constexpr uint32_t kGone = 0xffffffffu;  // no reservation has this number
  std::vector<uint32_t> out;
  for (const std::string& name : request.reservation->names) {
    auto it = reservation_ids_.find(to_lower(name));
    out.push_back(it == reservation_ids_.end() ? kGone : it->second);
  }
  if (!out.empty()) return out;
  const std::string& p = cluster.partitions.at(partition).name;
  for (uint32_t id : magnetic_)
    if (!het && kept_out_by(cluster, cluster.reservations.at(id), request, p).empty()) out.push_back(id);
  out.push_back(0);
  return out;
}

void Pending::drop(uint32_t id) {
  running_.erase(id);
  claiming_.erase(id);
  if (const Time* until = parked_.find(id)) {
    if (*until != Time{}) timed_.erase({*until, id});
    parked_.erase(id);
  }
  const Entry* entry = entries_.find(id);
  if (!entry) return;
  for (uint32_t c : *lists_[entry->list]) classes_[c]->jobs.erase({entry->rank, id});
  entries_.erase(id);
}

void Pending::add(const Round& round, const Job& job) {
  if (job.holds_nodes()) {
    RunningJob running;
    running.ends = job.ends == Time{} || job.time_limit_min == kUnlimited32 ? kTimeInfinite : job.ends;
    if (round.params.soft_time_min && job.request && job.request->time_min_min)
      running.soft_end = job.started + minutes(job.request->time_min_min);
    if (job.state == JobState::kSuspended && running.ends != kTimeInfinite)
      running.left = std::max(running.ends - job.run->suspended, Duration::zero());
    running.allocation = job.run->off_cpus ? without_cpus(*job.allocation) : job.allocation;
    running.finished = job.state != JobState::kRunning && job.state != JobState::kSuspended;
    if (running.finished) running.releasing = job.run->releasing;
    running.partition = job.partition;
    running.reservation = job.run->reservation;
    running.uid = job.request ? job.request->uid : Uid();
    if (!job.pending()) running_[job.id.value] = std::move(running);
  }
  if (!job.pending() || !job.request) return;
  if (job.turns->claim) claiming_.insert(job.id.value);
  const Verdict v = not_eligible(job, round.now);
  if (v.reason == Reason::kNone) return enqueue(round, job);
  const Time until = v.reason == Reason::kBeginTime ? v.expected_start : Time{};
  if (until != Time{}) timed_.insert({until, job.id.value});
  parked_.set(job.id.value, until);
}

void Pending::enqueue(const Round& round, const Job& job) {
  const auto& [cluster, params, rule, now] = round;
  std::vector<uint32_t> classes;
  const bool ages = rule.moves(job);
  const uint64_t rank = ages ? static_cast<uint64_t>(rule.age_from(job).time_since_epoch().count()) : ~uint64_t{job.priority};
  std::vector<uint32_t> partitions = partitions_of(cluster, job);
  std::erase_if(partitions, [&](uint32_t p) { return !cluster.partitions.contains(p); });
  if (partitions.size() > 1)  // most name one, and a stable sort takes memory
    std::ranges::stable_sort(partitions, std::ranges::greater(), [&](uint32_t p) { return cluster.partitions.at(p).priority_tier; });
  for (uint32_t partition : partitions) {
    const uint32_t least = job.request->time_min_min;
    const bool shorter = least && least < job.time_limit_min, soft = shorter && params.soft_time_min;
    const Job* aging = ages ? &job : nullptr;
    for (uint32_t reservation : reservations_for(cluster, *job.request, partition, job.het)) {
      const uint32_t c = class_of(cluster, params, job.request, partition, soft ? least : job.time_limit_min, aging, reservation);
      classes.push_back(c);
      classes_[c]->jobs.insert({rank, job.id.value});
      if (shorter && !soft && classes_[c]->lowered == WaitingClass::kNone) {
        const uint32_t lowered = class_of(cluster, params, job.request, partition, least, aging, reservation);
        classes_[c]->lowered = lowered;
      }
    }
  }
  entries_.set(job.id.value, {rank, list_id(std::move(classes))});
}

uint32_t Pending::list_id(std::vector<uint32_t> classes) {
  auto [at, fresh] = list_ids_.try_emplace(std::move(classes), static_cast<uint32_t>(lists_.size()));
  if (fresh) lists_.push_back(&at->first);
  return at->second;
}

uint32_t Pending::shape_id(const RequestBodyPtr& request) {
  auto known = shape_of_request_.find(request.get());
  if (known != shape_of_request_.end()) return known->second.second;
  auto [it, fresh] = shape_ids_.try_emplace(shape_key(*request), static_cast<uint32_t>(shape_ids_.size()));
  shape_of_request_[request.get()] = {request, it->second};
  return it->second;
}

Pending::Standing Pending::standing(const Job& job, const Params& all) {
  const PriorityParams& params = all.priority;
  Standing out{true, int64_t{job.request->site_factor} - job.request->nice, 0, {}};
  if (params.only_up && job.priority > 1) {
    out.kept = job.priority;
    out.kept_in = job.partition;
  }
  if (params.weight_fairshare || params.weight_assoc) out.association = job.association;
  if (params.weight_qos || all.preempt.by == PreemptRules::By::kQos) out.qos = job.request->qos;
  return out;
}

uint32_t Pending::class_of(const Cluster& cluster, const Params& params, const RequestBodyPtr& request, uint32_t partition,
                           uint32_t time_limit_min, const Job* aging, uint32_t reservation) {
  const Partition& definition = cluster.partitions.at(partition);
  const bool per_user = request->exclusive == Exclusive::kUser || definition.exclusive_user ||
                        definition.max_cpus_per_user != kUnlimited32 ||
                        (params.changeable && !params.changeable->users.empty() && !request->features.empty());
  const Uid uid = per_user ? request->uid : RequestClass::kAnyone;
  std::optional<Standing> own;
  if (aging) own = standing(*aging, params);
  else if (params.preempt.by == PreemptRules::By::kQos) own = Standing{.qos = request->qos};
  const Stay stay{reservation, static_cast<uint32_t>(to_seconds(params.preempt.notice(*request)))};
  auto [it, fresh] = class_ids_.try_emplace(ClassKey{shape_id(request), partition, time_limit_min, uid.value, stay, own},
                                            static_cast<uint32_t>(classes_.size()));
  if (!fresh) return it->second;
  auto made = std::make_unique<WaitingClass>();
  made->family =
      families_
          .try_emplace(ClassKey{shape_id(request), partition, 0, uid.value, stay, std::nullopt}, static_cast<uint32_t>(families_.size()))
          .first->second;
  made->ages = aging != nullptr;
  if (own && aging) {
    made->association = own->association;
    made->kept = own->kept;
    made->kept_in = own->kept_in;
  }
  made->request = request;
  made->named = reservation != 0 && !request->reservation.empty();
  made->shape.reservation = reservation;
  made->shape.warned = params.preempt.notice(*request);
  made->shape.partition = partition;
  made->shape.uid = uid;
  made->shape.time_limit_min = time_limit_min;
  if (auto shape = make_shape(*request, definition, params)) made->shape.shape = std::move(*shape);
  else made->shape.never = std::move(shape).error();
  classes_.push_back(std::move(made));
  return it->second;
}

// Drops requests and classes that nobody refers to any more, once these are the greater part.
void Pending::forget_unused() {
  if (shape_of_request_.size() < 1024 || shape_of_request_.size() < 4 * entries_.size()) return;
  std::unordered_map<const RequestBody*, std::pair<RequestBodyPtr, uint32_t>> kept;
  entries_.for_each([&](uint32_t id, const Entry&) {
    if (const Job* job = jobs_.find(id))
      if (auto it = shape_of_request_.find(job->request.get()); it != shape_of_request_.end()) kept.insert(*it);
  });
  shape_of_request_ = std::move(kept);
}

}  // namespace muster::sched
