// Each reason has a rule that says when it is true; a job whose reason has no rule is a violation, too. The rules are written down here once
// more, from the guide job_reason_codes, and count for themselves.
//
// Resources and Priority say that a job cannot start. So whoever says one of them must not surely have room on nodes that nobody else waits
// for: those promised to another job or reserved are left out, and of a request that free_room.h does not know, and where jobs preempt others,
// nothing is said.
#include "sim/check_reasons.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "model/account_directory.h"
#include "model/channels.h"
#include "model/dependency.h"
#include "sim/check_limit_reasons.h"
#include "sim/check_reservations.h"
#include "sim/free_room.h"
#include "sim/limit_sums.h"
#include "sim/queue_order.h"
#include "slurmctld/core/decide.h"

namespace muster::sim {
namespace {

using Partitions = std::vector<const Partition*>;

struct Asked {
  const Cluster& cluster;
  const sched::Params& params;
  const Time now;
  const Job& job;
  const Reason reason;
  const RequestBody& request() const { return *job.request; }
};

template <class F>
bool in_some_partition(const Asked& q, F&& f) {
  return std::ranges::any_of(asked_partitions(q.cluster, q.job), [&](const Partition* p) { return f(*p); });
}

// ---- of the job alone
bool is_held(const Asked& q) { return q.job.priority == 0; }
bool is_held_by_user(const Asked& q) { return is_held(q) && !(q.job.flags & kJobHeldByAdmin); }
bool is_held_by_admin(const Asked& q) { return is_held(q) && !(q.job.flags & kJobHeldByUser); }
bool is_cleaned(const Asked& q) { return (q.job.flags & kJobCompleting) && !q.job.cleaned_up(); }
bool begins_later(const Asked& q) { return std::max(q.job.eligible, q.request().begin) > q.now; }

bool misses_deadline(const Asked& q) {
  const uint32_t least = q.request().time_min_min ? q.request().time_min_min : q.job.time_limit_min;
  const Time end = least == kUnlimited32 ? kTimeInfinite : q.now + minutes(least);
  return q.request().deadline != Time{} && (q.now >= q.request().deadline || (least != kUnlimited32 && end > q.request().deadline));
}

// f(record) for each record of the job or array that a dependency is about.
template <class F>
void each_target(const Cluster& cluster, const Dependency& on, F&& f) {
  cluster.jobs.for_each([&](uint32_t id, const Job& j) {
    const bool meant = id == on.job.value || j.array_job_id == on.job || (j.het && j.het.leader == on.job);
    if (!meant) return;
    const bool one_task = on.array_task != kNoArrayTask && on.array_task != kWholeArray;
    if (one_task && !(j.array_tasks ? j.array_tasks->pending.test(on.array_task) : j.array_task == on.array_task)) return;
    f(j);
  });
}

bool is_over(const Job& job) { return job.finished() && !(job.flags & (kJobRequeued | kJobRequeueHold)); }

bool is_open(const Asked& asked, const Dependency& on) {
  bool open = false;
  if (on.type == DependencyType::kSingleton) {
    asked.cluster.jobs.for_each([&](uint32_t id, const Job& o) {
      open |= id != asked.job.id.value && o.request->uid == asked.request().uid && o.name() == asked.job.name() && !is_over(o);
    });
    return open;
  }
  bool forgotten = true;
  each_target(asked.cluster, on, [&](const Job& target) {
    forgotten = false;
    if (on.type != DependencyType::kAfter) open |= !is_over(target);
    else open |= target.pending() || target.started + minutes(on.delay_min) > asked.now;
  });
  forgotten |= asked.cluster.arrays.contains(on.job.value);                          // the task that started last may be
  return open || (forgotten && on.delay_min > 0 && asked.job.eligible > asked.now);  // when its minutes are over was worked out before
}

bool has_failed(const Asked& asked, const Dependency& on) {
  using enum DependencyType;
  if (on.type != kAfterOk && on.type != kAfterNotOk && on.type != kAfterCorr) return false;
  bool there = false, failed = false;
  each_target(asked.cluster, on, [&](const Job& target) {
    there = true;
    // How it ended counts for good, also where it is to run once more since: sbatch(1) --dependency. So no flag of a requeue is asked about.
    failed |= target.finished() && (target.state == JobState::kCompleted) == (on.type == kAfterNotOk);
    failed |= target.restarts > 0;  // its run before
  });
  const ArrayGroup* array = asked.cluster.arrays.find(on.job.value);  // some of its tasks may be forgotten
  if (array) failed |= (on.type == kAfterNotOk ? array->ended_ok : array->ended_bad) > 0;
  return failed || !there;  // forgotten since
}

// A component of a heterogeneous job waits for the others as for a dependency.
bool waits_for_component(const Asked& q) {
  bool out = false;
  for (uint32_t i = 0; q.job.het && i < q.job.het.size; ++i) {
    const Job* other = q.cluster.jobs.find(q.job.het.component(i).value);
    out |= !other || other->priority == 0 || other->dependencies || other->eligible > q.now || other->request->begin > q.now ||
           (other->flags & kJobCompleting);
  }
  return out;
}

bool depends(const Asked& q) {
  const auto& mine = q.job.dependencies;
  return waits_for_component(q) || (mine && std::ranges::any_of(mine->list, [&](const Dependency& d) { return is_open(q, d); }));
}

bool never_depends(const Asked& q) {
  const auto& mine = q.job.dependencies;
  return mine && std::ranges::any_of(mine->list, [&](const Dependency& d) { return has_failed(q, d); });
}

bool array_is_full(const Asked& q) {
  if (!q.job.array_job_id) return false;
  const ArrayGroup* group = q.cluster.arrays.find(q.job.array_job_id.value);
  const uint32_t most = q.job.array_tasks && q.job.array_tasks->max_running ? q.job.array_tasks->max_running
                        : group                                             ? group->max_running
                                                                            : 0;
  uint32_t running = 0;
  q.cluster.jobs.for_each(
      [&](uint32_t, const Job& o) { running += o.array_job_id == q.job.array_job_id && !o.pending() && !o.finished(); });
  return most > 0 && running >= most;
}

// ---- of its partitions
bool is_down(const Asked& q) {
  return in_some_partition(q, [](const Partition& p) { return p.state == PartitionState::kDown; });
}
bool is_inactive(const Asked& q) {
  return in_some_partition(q, [](const Partition& p) { return p.state == PartitionState::kInactive; });
}
bool has_no_nodes(const Asked& q) {
  return in_some_partition(q, [](const Partition& p) { return p.nodes.none(); });
}
bool wants_too_many_nodes(const Asked& q) {
  const RequestBody& r = q.request();
  return in_some_partition(q, [&](const Partition& p) {
    const uint32_t most = r.max_nodes ? r.max_nodes : r.min_nodes && !r.num_tasks ? r.min_nodes : kUnlimited32;
    return r.min_nodes > p.max_nodes || std::min(most, r.num_tasks ? r.num_tasks : most) < p.min_nodes;
  });
}
bool wants_too_long(const Asked& q) {
  return in_some_partition(q, [&](const Partition& p) { return q.job.time_limit_min > p.max_time_min; });
}

bool bars(const std::vector<std::string>& allowed, const std::vector<std::string>& denied, const std::string& name) {
  return (!allowed.empty() && std::ranges::find(allowed, name) == allowed.end()) || std::ranges::find(denied, name) != denied.end();
}
bool account_is_barred(const Asked& q) {
  return in_some_partition(q, [&](const Partition& p) { return bars(p.allow_accounts, p.deny_accounts, q.request().account); });
}
bool qos_is_barred(const Asked& q) {
  return in_some_partition(q, [&](const Partition& p) { return bars(p.allow_qos, p.deny_qos, q.request().qos); });
}

// ---- of accounts
bool has_no_association(const Asked& q) {
  return q.params.enforcement.associations &&
         in_some_partition(q, [&](const Partition& p) { return !own_association(q.cluster, q.request(), p); });
}
bool may_not_use_qos(const Asked& q) {
  return (q.params.enforcement.associations || q.params.enforcement.qos) && in_some_partition(q, [&](const Partition& p) {
           if (!q.cluster.directory || !q.cluster.directory->qos.contains(q.request().qos)) return true;
           const AssociationRecord* own = own_association(q.cluster, q.request(), p);
           return !q.request().qos_granted && own && std::ranges::find(own->qos, q.request().qos) == own->qos.end();
         });
}

// ---- of what others have, and keep
bool keeps_license(const Asked& q, const Job& other, const std::string& name) {
  const Verdict* v = q.cluster.moment.verdicts.find(other.id.value);
  return other.id != q.job.id && other.pending() && v && v->expected_start != Time{} &&
         std::ranges::any_of(other.request->licenses->list, [&](const LicenseShare& l) { return l.name == name; });
}

bool lacks_license(const Asked& asked, const LicenseShare& license) {
  if (asked.params.hierarchies && asked.params.hierarchies->find(license.name)) return true;  // check_layers counts those
  uint64_t there = 0, used = 0;
  bool kept = false;
  for (size_t i = 0; i < asked.params.licenses.size(); ++i)
    if (asked.params.licenses[i].first == license.name) there = asked.params.usable_licenses(i);
  asked.cluster.jobs.for_each([&](uint32_t, const Job& o) {
    kept |= keeps_license(asked, o, license.name);
    const bool claims = o.pending() && o.id != asked.job.id && o.turns->claim;  // what it gets when others have ended is nobody else's
    const AllocationPtr held = claims ? o.turns->claim->allocation : o.allocation;
    if ((o.pending() && !claims) || o.finished() || !held) return;
    for (const LicenseShare& l : held->licenses) used += l.name == license.name ? l.count : 0;
  });
  asked.cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    kept |= r.ends(asked.now) > asked.now && std::ranges::any_of(r.licenses, [&](const LicenseShare& l) { return l.name == license.name; });
  });
  return kept || used + license.count > there;
}

bool licenses_lack(const Asked& q) {
  const LicenseNeeds& needs = q.request().licenses.value();
  if (q.job.het && !needs.list.empty()) return true;  // others may need some, too
  auto lacks = [&](const LicenseShare& l) { return lacks_license(q, l); };
  return needs.any ? std::ranges::all_of(needs.list, lacks) : std::ranges::any_of(needs.list, lacks);
}

std::vector<const Reservation*> named_reservations(const Asked& q) {
  std::vector<const Reservation*> out;
  for (const std::string& name : q.request().reservation->names)
    if (const Reservation* r = q.cluster.reservation(name)) out.push_back(r);
  return out;
}
bool reservation_is_not_for_it(const Asked& q) {
  return std::ranges::any_of(named_reservations(q), [&](const Reservation* r) {
    return !r->active(q.now) || in_some_partition(q, [&](const Partition& p) { return !is_let_in(q.cluster, *r, q.request(), p.name); });
  });
}
bool reservation_is_gone(const Asked& q) {
  if (q.job.flags & kJobResvDelHold) return is_held(q);  // its name is taken out of what the job asks for
  return !q.request().reservation.empty() && named_reservations(q).size() < q.request().reservation->names.size();
}

bool named_node_is_away(const Asked& q) {
  bool out = false;
  for (const std::string& name : q.request().required_nodes->names()) {
    const Node* n = q.cluster.node(name);
    out |= !n || n->admin != NodeState::kIdle || (n->flags & ~(kNodePlanned | kNodeReserved)) != 0 || !n->hardware;
    q.cluster.reservations.for_each(
        [&](uint32_t, const Reservation& r) { out |= n && r.nodes.test(n->id.value) && r.ends(q.now) > q.now; });
  }
  return out;
}

// ---- Priority, Resources
bool shares_partition(const Partitions& one, const Partitions& other) {
  return std::ranges::any_of(one, [&](const Partition* p) { return std::ranges::find(other, p) != other.end(); });
}

// Another job that waits for nodes comes before it in one of its partitions. Priorities that move with time are not worked out here, nor is
// the turn of a heterogeneous job: then some other job has to wait there.
bool comes_later(const Asked& q) {
  const Partitions mine = asked_partitions(q.cluster, q.job);
  const bool exact = !q.params.priority.multifactor && !q.job.het && q.cluster.reservations.empty() && !q.params.preempt.preempts();
  bool out = false;
  q.cluster.jobs.for_each([&](uint32_t id, const Job& o) {
    if (id == q.job.id.value || !o.pending() || !waits_for_room(slurmctld::reason_shown(q.cluster, o))) return;
    const Partitions theirs = asked_partitions(q.cluster, o);
    if (q.cluster.reservations.empty() && !shares_partition(mine, theirs)) return;  // in a reservation its jobs wait for one another
    out |= !exact || o.het || turn_of(q.cluster, o) > turn_of(q.cluster, q.job);
  });
  return out;
}

// Without backfill the nodes of its partition are left to a job that waits, also by jobs of other partitions.
bool others_wait(const Asked& q) {
  bool out = false;
  q.cluster.jobs.for_each([&](uint32_t id, const Job& o) {
    out |= id != q.job.id.value && o.pending() && waits_for_room(slurmctld::reason_shown(q.cluster, o));
  });
  return out;
}

// Nodes that are kept for somebody else within the time that the job may run; nullopt: not all of them are known.
std::optional<std::set<uint32_t>> kept_nodes(const Asked& asked) {
  std::set<uint32_t> out;
  bool known = true;
  auto add = [&](const Bitmap& nodes) { nodes.for_each([&](size_t id) { out.insert(static_cast<uint32_t>(id)); }); };
  asked.cluster.reservations.for_each([&](uint32_t, const Reservation& r) { add(r.nodes); });
  asked.cluster.jobs.for_each([&](uint32_t id, const Job& o) {
    if (!o.pending() || id == asked.job.id.value) return;
    const Verdict* v = asked.cluster.moment.verdicts.find(id);
    if (!v || v->expected_start == Time{}) return;
    known &= !o.array_tasks || o.array_tasks->pending.count() == 1;  // of the others is not said where
    const NodeList expected(std::string(v->expected_nodes.view()));
    for (const std::string& name : expected->names())
      if (const Node* n = asked.cluster.node(name)) out.insert(n->id.value);
  });
  if (!known) return std::nullopt;
  return out;
}

// It could start now, and nobody else would have to wait for that.
bool surely_could_start(const Asked& asked) {
  if (asked.job.het || asked.params.preempt.preempts() || (!asked.params.backfill && others_wait(asked))) return false;
  const bool may_be_barred =
      asked.params.enforcement.associations && asked.request().partitions.size() > 1;  // in that partition, not in another
  if (may_be_barred) return false;
  const std::optional<std::set<uint32_t>> kept = kept_nodes(asked);
  if (!kept) return false;
  std::vector<FreeNode> nodes = free_nodes(asked.cluster);
  std::erase_if(nodes, [&](const FreeNode& n) { return kept->contains(n.id); });
  return in_some_partition(asked, [&](const Partition& p) {
    const bool open = p.state == PartitionState::kUp || p.state == PartitionState::kDrain;
    const bool admits = asked.job.time_limit_min <= p.max_time_min && asked.request().min_nodes <= p.max_nodes;
    return open && admits && surely_has_room(asked.request(), p, asked.params, nodes);
  });
}

// Nobody waits for more than one.
bool lacks_channel(const Asked& q) {
  if (!q.params.imex_channels) return false;
  std::set<uint32_t> held;
  q.cluster.jobs.for_each([&](uint32_t, const Job& job) {
    for (uint32_t channel : channels_held(job)) held.insert(channel);
  });
  return held.size() >= q.params.imex_channels;
}

bool lacks_room(const Asked& q) { return lacks_channel(q) || !surely_could_start(q); }
bool lacks_turn(const Asked& q) { return comes_later(q) && lacks_room(q); }

bool fits_nowhere(const Asked& q) {
  if (is_held(q)) return true;  // it was put back so (requeue)
  const std::vector<FreeNode> nodes = empty_nodes(q.cluster);
  return q.job.het || !in_some_partition(q, [&](const Partition& p) { return surely_has_room(q.request(), p, q.params, nodes); });
}

struct Rule {
  Reason reason;
  bool (*is_true)(const Asked&);
};

constexpr Rule kRules[] = {
    {Reason::kJobHeldUser, is_held_by_user},
    {Reason::kJobHeldAdmin, is_held_by_admin},
    {Reason::kJobHoldMaxRequeue, is_held},
    {Reason::kLaunchFailedHeld, is_held},
    {Reason::kCleaning, is_cleaned},
    {Reason::kBeginTime, begins_later},
    {Reason::kDeadLine, misses_deadline},
    {Reason::kDependency, depends},
    {Reason::kDependencyNeverSatisfied, never_depends},
    {Reason::kJobArrayTaskLimit, array_is_full},
    {Reason::kPartitionDown, is_down},
    {Reason::kPartitionInactive, is_inactive},
    {Reason::kPartitionConfig, has_no_nodes},
    {Reason::kPartitionNodeLimit, wants_too_many_nodes},
    {Reason::kPartitionTimeLimit, wants_too_long},
    {Reason::kAccountNotAllowed, account_is_barred},
    {Reason::kQOSNotAllowed, qos_is_barred},
    {Reason::kInvalidAccount, has_no_association},
    {Reason::kInvalidQOS, may_not_use_qos},
    {Reason::kLicenses, licenses_lack},
    {Reason::kReservation, reservation_is_not_for_it},
    {Reason::kReservationDeleted, reservation_is_gone},
    {Reason::kReqNodeNotAvail, named_node_is_away},
    {Reason::kBadConstraints, fits_nowhere},
    {Reason::kResources, lacks_room},
    {Reason::kPriority, lacks_turn},
};

// Only a job that is held waits with these, and only with these does such a job wait.
constexpr std::array kOfHeld = {Reason::kJobHeldUser, Reason::kJobHeldAdmin, Reason::kJobHoldMaxRequeue, Reason::kLaunchFailedHeld};

struct Unchecked {
  Reason reason;
  std::string_view why;
};
constexpr Unchecked kUnchecked[] = {
    {Reason::kQOSUsageThreshold, "the fair-share factor would have to be worked out here: acct/fair_share_test.cc"},
    {Reason::kNoTopologyUnit, "no simulated cluster has a topology: sched/rules and the worlds of property_test.cc do"},
    {Reason::kSchedDefer, "no simulated cluster has SchedulerParameters=defer"},
    {Reason::kMaxMemPerLimit, "no simulated cluster has MaxMemPerNode"},
};

bool is_true_of_one(const Asked& q) {
  for (const Rule& rule : kRules)
    if (rule.reason == q.reason) return rule.is_true(q);
  return in_some_partition(q, [&](const Partition& p) { return limit_is_reached({q.cluster, q.params, q.now, q.job, p}, q.reason); });
}

// The components of a heterogeneous job wait for what one of them waits for.
bool is_true(const Asked& q) {
  if (!q.job.het) return is_true_of_one(q);
  for (uint32_t i = 0; i < q.job.het.size; ++i)
    if (const Job* one = q.cluster.jobs.find(q.job.het.component(i).value))
      if (is_true_of_one({q.cluster, q.params, q.now, *one, q.reason})) return true;
  return false;
}

std::string described(const Asked& asked) {
  const RequestBody& request = asked.request();
  const Verdict* v = asked.cluster.moment.verdicts.find(asked.job.id.value);
  std::string out = "job " + std::to_string(asked.job.id.value) + " waits for " + std::string(reason_name(asked.reason)) +
                    ", which is not true [-n" + std::to_string(request.num_tasks) + " -c" + std::to_string(request.cpus_per_task) + " -N" +
                    std::to_string(request.min_nodes) + "-" + std::to_string(request.max_nodes) + " mem " +
                    std::to_string(request.mem_per_node_mb.value_or(0)) + "/" + std::to_string(request.mem_per_cpu_mb.value_or(0)) + " " +
                    request.tres_per_node.text() + " " + request.tres_per_job.text() + " -t" + std::to_string(asked.job.time_limit_min) +
                    " priority " + std::to_string(asked.job.priority) + " account " + request.account + " QOS " + request.qos;
  for (const Partition* p : asked_partitions(asked.cluster, asked.job)) out += " -p" + p->name;
  out += " -d" + std::string(asked.job.own.get(&RequestOwn::dependency));
  if (v) out += "; " + std::string(v->detail.view()) + "; expected on " + std::string(v->expected_nodes.view());
  return out + "]";
}

}  // namespace

std::string_view why_unchecked(Reason reason) {
  for (const Unchecked& u : kUnchecked)
    if (u.reason == reason) return u.why;
  return why_limit_is_unchecked(reason);
}

void check_reasons(const Cluster& cluster, const sched::Params& params, Time now, const std::function<void(const std::string&)>& complain) {
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.pending()) return;
    const Asked q{cluster, params, now, job, slurmctld::reason_shown(cluster, job)};
    const bool of_held = std::ranges::find(kOfHeld, q.reason) != kOfHeld.end();
    if (is_held(q) && !of_held && q.reason != Reason::kBadConstraints && q.reason != Reason::kReservationDeleted)
      complain("job " + std::to_string(job.id.value) + " is held and waits for " + std::string(reason_name(q.reason)));
    if (why_unchecked(q.reason).empty() && !is_true(q)) complain(described(q));
  });
}

}  // namespace muster::sim
