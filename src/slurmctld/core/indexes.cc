#include "slurmctld/core/indexes.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"
#include "model/accounting.h"
#include "model/mail.h"

namespace muster::slurmctld {
namespace {

// How many jobs a record stands for.
// A record that tasks which wait have left their array's for: those that leave it later look among its dependents for the one to join.
bool is_part(const Job& job) {
  return job.pending() && job.array_job_id && job.id != job.array_job_id && (job.array_tasks || job.dependencies);
}

uint32_t tasks_of(const Job& job) { return job.array_tasks ? static_cast<uint32_t>(job.array_tasks->pending.count()) : 1; }

}  // namespace

Time latest_start(const Job& job) {
  uint32_t least = job.request->time_min_min ? job.request->time_min_min : job.time_limit_min;
  return least == kUnlimited32 ? job.request->deadline : job.request->deadline - minutes(least);
}

std::optional<LimitMail> next_limit_mail(const Job& job) {
  constexpr struct {
    uint16_t mail;
    JobWarning said;
    int percent;
  } kMarks[] = {{kMailTimeLimit50, kWarnedHalf, 50}, {kMailTimeLimit80, kWarned80, 80}, {kMailTimeLimit90, kWarned90, 90}};
  if (job.time_limit_min == kUnlimited32 || job.ends == kTimeUnset || job.ends == kTimeInfinite) return std::nullopt;
  for (const auto& m : kMarks)
    if ((job.request->mail_type & m.mail) && !(job.run->time_warned & m.said))
      return LimitMail{job.ends - minutes(job.time_limit_min) * (100 - m.percent) / 100, m.mail, m.said};
  return std::nullopt;
}

// Whether the job is over, with nothing left to do but to be forgotten when it is old enough.
bool Indexes::only_ages(const Job& job) const {
  return job.finished() && job.cleaned_up() && min_job_age_ > Duration::zero() && !(job.flags & (kJobRequeued | kJobRequeueHold));
}

template <class F>
void Indexes::each_timer(const Job& job, F&& visit) const {
  if (job.pending()) {
    if (job.eligible != kTimeUnset) visit(job.eligible, TimerKind::kJobBegin);
    if (job.request->deadline != kTimeUnset) visit(latest_start(job) + Duration(1), TimerKind::kJobDeadline);
    if (job.request->immediate_seconds) visit(job.submitted + seconds(job.request->immediate_seconds), TimerKind::kJobImmediate);
  } else if (!job.finished()) {
    if (job.state == JobState::kRunning && job.run->memory_due != kTimeUnset) visit(job.run->memory_due, TimerKind::kJobMemory);
    // While the job waits for its nodes its time has not begun; the event that ends the waiting sets its end anew.
    if (job.ends != kTimeUnset && job.ends != kTimeInfinite && !(job.flags & kJobConfiguring)) {
      visit(job.ends, TimerKind::kJobLimit);
      const WarnSignal& w = job.request->warn;
      if (w.signal && !(job.run->time_warned & kWarnedSignal)) visit(job.ends - seconds(w.seconds_before_end), TimerKind::kJobWarn);
      if (auto mail = next_limit_mail(job)) visit(mail->at, TimerKind::kJobMail);
    }
  } else if (only_ages(job)) {
    visit(job.ended + min_job_age_, TimerKind::kJobPurge);
  }
}

void Indexes::open(const Obligation& o) {
  if (open_.insert(o).second) due_.push_back(o);
}

namespace {

// f(name) for each reservation that the job is counted for, in lower case.
template <class F>
void each_reservation(const Job& job, F&& f) {
  if (job.finished()) return;
  if (!job.pending()) {
    if (!job.run->reservation_name.empty()) f(to_lower(job.run->reservation_name));
    return;
  }
  for (const std::string& name : job.request->reservation->names) f(to_lower(name));
}

}  // namespace

void Indexes::add(const Job& job) {
  each_reservation(job, [&](std::string name) { in_reservation_[std::move(name)].insert(job.id); });
  each_timer(job, [&](Time at, TimerKind kind) { timers_.emplace(at, kind, job.id.value); });
  if (job.record_position > recorded_) unrecorded_.insert({job.record_position, false, job.id.value});
  job_count_ += tasks_of(job);
  UserJobs& user = users_[job.request->uid.value];
  user.count += tasks_of(job);
  if (only_ages(job)) user.ended.emplace(job.ended, job.id);
  state_counts_.add(job);
  if (job.pending() && job.dependencies) {
    for (const Dependency& d : job.dependencies->list) {
      if (d.state != DependencyState::kUnfulfilled) continue;
      if (d.type == DependencyType::kSingleton) singletons_.insert(job.id);
      else dependents_[d.job].insert(job.id);
    }
  }
  if (is_part(job)) dependents_[job.array_job_id].insert(job.id);
  if (job.waits_for_turn()) waiting_turns_.insert(job.id);
  if (job.turns->claim) claiming_.insert(job.id);
  if (job.prolog_due) open({Duty::kProlog, job.id, {}});
  if (job.epilog_due) open({Duty::kEpilog, job.id, {}});
  if (job.finished() && !job.all_released()) completing_.emplace(job.ended, job.id);
  for (const NodeShare& s : job.run->leaving) {
    on_node_[s.node.value].insert(job.id);
    open({Duty::kTerminate, job.id, s.node});
  }
  if (!job.holds_nodes()) return;
  const auto& nodes = job.allocation->nodes;
  bool live = !job.finished();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live && !job.run->releasing.test(i)) continue;
    on_node_[nodes[i].node.value].insert(job.id);
    if (job.run->releasing.test(i)) open({Duty::kTerminate, job.id, nodes[i].node});
  }
  job.run->settling.for_each([&](size_t i) { open({Duty::kSettle, job.id, nodes[i].node}); });
  if (!job.prolog_due && !(job.flags & kJobPowerUpNode))
    job.run->preparing.for_each([&](size_t i) { open({Duty::kPrepare, job.id, nodes[i].node}); });
  if (job.state == JobState::kRunning && job.request->kind == JobKind::kBatch && !job.launched && !(job.flags & kJobConfiguring) &&
      job.run->releasing.none())
    open({Duty::kLaunchBatch, job.id, job.batch_share().node});
}

void Indexes::remove(const Job& job) {
  each_reservation(job, [&](const std::string& name) {
    auto at = in_reservation_.find(name);
    if (at == in_reservation_.end()) return;
    at->second.erase(job.id);
    if (at->second.empty()) in_reservation_.erase(at);
  });
  each_timer(job, [&](Time at, TimerKind kind) { timers_.erase({at, kind, job.id.value}); });
  if (job.record_position > recorded_) unrecorded_.erase({job.record_position, false, job.id.value});
  job_count_ -= tasks_of(job);
  if (auto user = users_.find(job.request->uid.value); user != users_.end()) {
    user->second.ended.erase({job.ended, job.id});
    if ((user->second.count -= tasks_of(job)) == 0) users_.erase(user);
  }
  state_counts_.remove(job);
  if (job.pending() && job.dependencies) {
    for (const Dependency& d : job.dependencies->list) {
      singletons_.erase(job.id);
      auto at = dependents_.find(d.job);
      if (at == dependents_.end()) continue;
      at->second.erase(job.id);
      if (at->second.empty()) dependents_.erase(at);
    }
  }
  if (auto at = is_part(job) ? dependents_.find(job.array_job_id) : dependents_.end(); at != dependents_.end()) {
    at->second.erase(job.id);
    if (at->second.empty()) dependents_.erase(at);
  }
  waiting_turns_.erase(job.id);
  claiming_.erase(job.id);
  for (Duty duty : {Duty::kProlog, Duty::kEpilog}) open_.erase({duty, job.id, {}});
  completing_.erase({job.ended, job.id});
  for (const NodeShare& s : job.run->leaving) node_released(job, s.node);
  if (!job.holds_nodes()) return;
  for (const NodeShare& s : job.allocation->nodes) {
    node_released(job, s.node);
    for (Duty duty : {Duty::kSettle, Duty::kPrepare}) open_.erase({duty, job.id, s.node});
  }
  open_.erase({Duty::kLaunchBatch, job.id, job.batch_share().node});
}

void Indexes::node_released(const Job& job, NodeId node) {
  open_.erase({Duty::kTerminate, job.id, node});
  if (auto at = on_node_.find(node.value); at != on_node_.end()) {
    at->second.erase(job.id);
    if (at->second.empty()) on_node_.erase(at);
  }
}

namespace {

// The hash of a request whose body is one of those known.
uint64_t hash_of(const RequestBodyPtr& body, const PackedOwn& own) { return mix64(reinterpret_cast<uintptr_t>(body.get())) ^ own.hash(); }

std::array<std::string, 2> blobs_of(const SharedRequest& r) {
  ContentHashes hashes = r.own.content_hashes();
  return {std::move(hashes.script_hash), std::move(hashes.environment_hash)};
}

}  // namespace

void Indexes::add_request(RequestId id, const SharedRequest& request) {
  bodies_.add(request.body);
  requests_.add(hash_of(request.body, request.own), id.value);
  for (const std::string& hash : blobs_of(request)) hold_blob(hash);
}

void Indexes::remove_request(RequestId id, const SharedRequest& request) {
  for (const std::string& hash : blobs_of(request)) let_go_of_blob(hash);
  bodies_.remove(request.body);
  requests_.remove(hash_of(request.body, request.own), id.value);
}

void Indexes::hold_blob(const std::string& hash) {
  if (!hash.empty()) ++blobs_[hash];
}

void Indexes::let_go_of_blob(const std::string& hash) {
  auto at = blobs_.find(hash);
  if (at == blobs_.end() || --at->second > 0) return;
  unused_blobs_.push_back(hash);
  blobs_.erase(at);
}

void Indexes::hold_blobs(const JobRecord& record) {
  hold_blob(record.script_hash);
  hold_blob(record.environment_hash);
}

void Indexes::let_go_of_blobs(const JobRecord& record) {
  let_go_of_blob(record.script_hash);
  let_go_of_blob(record.environment_hash);
}

std::vector<std::string> Indexes::take_unused_blobs() {
  std::vector<std::string> out = std::move(unused_blobs_);
  unused_blobs_.clear();
  std::erase_if(out, [&](const std::string& hash) { return blob_used(hash); });  // asked for again meanwhile
  return out;
}

RequestId Indexes::find_request(const JobRequest& request, const Cluster& cluster) const {
  const RequestBodyPtr body = bodies_.find(request);
  if (!body) return RequestId{};
  const PackedOwn own(request);
  return RequestId(requests_.find(hash_of(body, own), [&](uint32_t id) {
    const SharedRequest& known = cluster.requests.at(id);
    return known.body == body && known.own == own;
  }));
}

void Indexes::recorded(uint64_t position) {
  recorded_ = position;
  unrecorded_.erase(unrecorded_.begin(), unrecorded_.lower_bound({position + 1, false, 0}));
}

void Indexes::add_node(const Node& node) {
  if (node.resume_deadline != kTimeUnset) timers_.emplace(node.resume_deadline, TimerKind::kNodeResume, node.id.value);
  if (node.resume_after != kTimeUnset) timers_.emplace(node.resume_after, TimerKind::kNodeReturn, node.id.value);
}

void Indexes::remove_node(const Node& node) {
  if (node.resume_deadline != kTimeUnset) timers_.erase({node.resume_deadline, TimerKind::kNodeResume, node.id.value});
  if (node.resume_after != kTimeUnset) timers_.erase({node.resume_after, TimerKind::kNodeReturn, node.id.value});
}

template <class F>
void Indexes::each_moment(const Reservation& r, F&& f) {
  if (!r.begun && !r.floats()) f(std::min(r.start, r.end));
  if (!r.end_floats && r.end != kTimeInfinite) f(r.end);
  if (r.begun && r.has(kResvPurgeComp)) f(std::max(r.last_used, r.start) + r.purge_after);
}

void Indexes::add_reservation(const Reservation& r) {
  each_moment(r, [&](Time at) { timers_.emplace(at, TimerKind::kReservation, r.id); });
  if (r.replaces() || r.has(kResvPartNodes)) changing_.insert(r.id);
}

void Indexes::remove_reservation(const Reservation& r) {
  each_moment(r, [&](Time at) { timers_.erase({at, TimerKind::kReservation, r.id}); });
  changing_.erase(r.id);
}

const std::set<JobId>& Indexes::jobs_in(std::string_view reservation) const {
  static const std::set<JobId> kNone;
  auto at = in_reservation_.find(to_lower(reservation));
  return at == in_reservation_.end() ? kNone : at->second;
}

Time Indexes::next_timer() const {
  Time next = timers_.empty() ? kTimeInfinite : std::get<0>(*timers_.begin());
  for (const auto& [job, until] : held_back_) next = std::min(next, until);
  return next;
}

bool Indexes::pop_due(Time now, Timer& timer) {
  if (timers_.empty() || std::get<0>(*timers_.begin()) > now) return false;
  std::tie(timer.at, timer.kind, timer.id) = *timers_.begin();
  timers_.erase(timers_.begin());
  return true;
}

std::vector<Obligation> Indexes::take_due(Time now, Duration repeat_after) {
  std::vector<Obligation> out;
  size_t prepares = 0;
  std::erase_if(held_back_, [&](const auto& held) { return held.second <= now; });
  auto send = [&](const Obligation& obligation) {
    if (!open_.contains(obligation)) return;
    if (auto held = held_back_.find(obligation.job); obligation.duty == Duty::kTerminate && held != held_back_.end()) {
      sent_at_[obligation] = held->second;
      sent_.emplace(held->second, obligation);
      return;
    }
    if (obligation.duty == Duty::kPrepare && ++prepares > kMostPrepares) return due_.push_back(obligation);
    if (auto at = sent_at_.find(obligation); at != sent_at_.end()) sent_.erase({at->second, obligation});
    sent_at_[obligation] = now + repeat_after;
    sent_.emplace(now + repeat_after, obligation);
    out.push_back(obligation);
  };
  std::vector<Obligation> due = std::move(due_);
  due_.clear();
  std::sort(due.begin(), due.end());
  due.erase(std::unique(due.begin(), due.end()), due.end());
  for (const Obligation& o : due) send(o);
  while (!sent_.empty() && sent_.begin()->first <= now) {
    Obligation o = sent_.begin()->second;
    sent_.erase(sent_.begin());
    sent_at_.erase(o);
    send(o);
  }
  return out;
}

void Indexes::node_connected(NodeId node) {
  for (JobId job : jobs_on(node))
    for (Duty duty : {Duty::kLaunchBatch, Duty::kTerminate, Duty::kSettle, Duty::kPrepare})
      if (Obligation o{duty, job, node}; open_.contains(o)) due_.push_back(o);
}

const std::set<JobId>& Indexes::jobs_on(NodeId node) const {
  static const std::set<JobId> kNone;
  auto at = on_node_.find(node.value);
  return at == on_node_.end() ? kNone : at->second;
}

std::vector<JobId> Indexes::dependents_of(JobId job) const {
  auto at = dependents_.find(job);
  if (at == dependents_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

bool Indexes::same_as(const Indexes& o) const {
  return open_ == o.open_ && on_node_ == o.on_node_ && dependents_ == o.dependents_ && singletons_ == o.singletons_ &&
         completing_ == o.completing_ && bodies_.size() == o.bodies_.size() && requests_.size() == o.requests_.size() &&
         blobs_ == o.blobs_ && job_count_ == o.job_count_ && users_ == o.users_ && state_counts_ == o.state_counts_ &&
         unrecorded_ == o.unrecorded_ && waiting_turns_ == o.waiting_turns_ && claiming_ == o.claiming_ &&
         in_reservation_ == o.in_reservation_ && changing_ == o.changing_;
}

Indexes rebuild_indexes(const Cluster& cluster, Duration min_job_age) {
  Indexes x(min_job_age);
  x.recorded(cluster.recorded_position);
  cluster.kept_records.for_each([&](uint32_t number, const KeptRecord& r) {
    x.add_unrecorded({r.position, true, number});
    if (r.job) x.hold_blobs(*r.job);
  });
  cluster.requests.for_each([&](uint32_t id, const SharedRequest& r) { x.add_request(RequestId(id), r); });
  cluster.nodes.for_each([&](uint32_t, const Node& n) { x.add_node(n); });
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) { x.add_reservation(r); });
  cluster.jobs.for_each([&](uint32_t, const Job& j) { x.add(j); });
  return x;
}

}  // namespace muster::slurmctld
