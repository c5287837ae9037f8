// Limits at the moment of a start: how many tasks of an array run at once, what the partition allows, what accounting allows.
#include <algorithm>
#include <functional>
#include <set>

#include "base/saturating.h"
#include "model/account_directory.h"
#include "sim/limit_sums.h"
#include "sim/usage_sums.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

using enum LimitKind;

// What a job that starts would bring others to, by looking at every job.
class LimitCount {
 public:
  using Fail = std::function<void(const std::string&)>;
  LimitCount(const Cluster& cluster, const UsageSums& usage, bool decays, const event::JobStarted& e, const Job& job, Fail fail)
      : c_(cluster),
        usage_(usage),
        decays_(decays),
        e_(e),
        job_(job),
        limit_min_(e.time_limit_min.value_or(job.time_limit_min)),
        fail_(std::move(fail)) {}

  void run() {
    for (const BoundBy& bound : bounds_of(c_, *job_.request, e_.association, c_.partitions.at(e_.partition))) {
      check(bound);
      check_time(bound);
    }
  }

 private:
  uint64_t wanted(const Limit& l) const { return amount_of(*e_.allocation, l.tres); }
  uint64_t minutes_wanted(const Limit& l) const { return mul_sat(wanted(l), limit_min_ == kUnlimited32 ? 365 * 24 * 60 : limit_min_); }
  void together(const BoundBy& bound, uint64_t held, uint64_t wanted) const {
    if (wanted > 0 && add_sat(held, wanted) > bound.limit.value)
      fail_("brings " + name(bound) + " to " + std::to_string(held) + " + " + std::to_string(wanted) + " of " +
            std::to_string(bound.limit.value));
  }
  void alone(const BoundBy& bound, uint64_t has) const {
    if (has > bound.limit.value) fail_("has " + std::to_string(has) + ", " + name(bound) + " is " + std::to_string(bound.limit.value));
  }
  std::string name(const BoundBy& bound) const {
    for (const LimitInfo& info : kLimits)
      if (info.kind == bound.limit.kind) return std::string(info.name) + " " + bound.limit.tres + " of " + bound.whom();
    return bound.whom();
  }
  void check(const BoundBy& bound) const {
    const Limit& limit = bound.limit;
    const LimitSums sums(c_, bound, *job_.request);
    switch (limit.kind) {
      case kGrpTres:
      case kMaxTresPerUser:
      case kMaxTresPerAccount:
        return limit.tres == "node" ? check_nodes(bound, sums) : together(bound, sums.held(limit.tres), wanted(limit));
      case kGrpJobs:
      case kMaxJobs:
      case kMaxJobsPerUser:
      case kMaxJobsPerAccount: return together(bound, sums.running(), 1);
      case kMaxTresPerJob: return alone(bound, wanted(limit));
      case kMaxTresPerNode: return check_node(bound);
      case kMinTresPerJob:
        if (wanted(limit) < limit.value) fail_("has " + std::to_string(wanted(limit)) + ", less than " + name(bound));
        return;
      default: return;
    }
  }
  // A node that several jobs share counts once.
  void check_nodes(const BoundBy& bound, const LimitSums& sums) const {
    const std::set<uint32_t> nodes = sums.nodes();
    uint64_t more = 0;
    for (const NodeShare& s : e_.allocation->nodes) more += !nodes.contains(s.node.value);
    together(bound, nodes.size(), more);
  }
  void check_node(const BoundBy& bound) const {
    for (const NodeShare& s : e_.allocation->nodes) {
      Allocation one;
      one.nodes = {s};
      alone(bound, amount_of(one, bound.limit.tres));
    }
  }
  void check_time(const BoundBy& bound) const {
    const Limit& limit = bound.limit;
    switch (limit.kind) {
      case kGrpTresRunMins:
      case kMaxTresRunMinsPerUser:
      case kMaxTresRunMinsPerAccount:
        return together(bound, LimitSums(c_, bound, *job_.request).run_minutes(limit.tres, e_.time, false), minutes_wanted(limit));
      case kMaxTresMinsPerJob: return alone(bound, mul_sat(wanted(limit), limit_min_));
      case kMaxWall: return alone(bound, limit_min_);
      case kGrpTresMins: return used_up(bound, wanted(limit) > 0);
      case kGrpWall: return used_up(bound, true);
      default: return;
    }
  }
  void used_up(const BoundBy& bound, bool wants) const {
    if (!decays_) return;  // limits on what was used hold with priority/multifactor alone
    constexpr double kSurely = 0.98;
    const double used = usage_.minutes(LimitSums(c_, bound, *job_.request), bound.limit.tres, e_.time);
    if (wants && used * kSurely - 1 > static_cast<double>(bound.limit.value))
      fail_("starts, and " + std::to_string(used) + " minutes of " + name(bound) + " are used, of " + std::to_string(bound.limit.value));
  }

  const Cluster& c_;
  const UsageSums& usage_;
  const bool decays_;
  const event::JobStarted& e_;
  const Job& job_;
  const uint32_t limit_min_;
  Fail fail_;
};

}  // namespace

// The %limit is in the array's record, which the task leaves with this event.
void Checkers::check_array_limit(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  if (!j || !j->array_job_id || !j->array_tasks) return;
  uint32_t limit = j->array_tasks->max_running, running = 0;
  if (!limit) return;
  mirror_.jobs.for_each([&](uint32_t, const Job& o) { running += o.array_job_id == j->array_job_id && !o.pending() && !o.finished(); });
  if (running >= limit)
    fail("array_limit", "array " + std::to_string(j->array_job_id.value) + ": " + std::to_string(running + 1) + " tasks at once, %" +
                            std::to_string(limit));
}

void Checkers::check_partition_limits(const event::JobStarted& started) {
  const Job* job = mirror_.jobs.find(started.job.value);
  const Partition* partition = mirror_.partitions.find(started.partition);
  auto bad = [&](const std::string& what) { fail("partition_limits", "job " + std::to_string(started.job.value) + ": " + what); };
  if (!job) return;
  if (!partition) return bad("no such partition");
  const auto& nodes = started.allocation->nodes;
  if (partition->state != PartitionState::kUp && partition->state != PartitionState::kDrain)
    bad("starts in " + partition->name + ", which is " + std::string(partition_state_name(partition->state)));
  if (nodes.size() > partition->max_nodes) bad(std::to_string(nodes.size()) + " nodes, MaxNodes=" + std::to_string(partition->max_nodes));
  if (partition->oversubscribe == OverSubscribe::kExclusive && !started.allocation->whole_nodes) bad(partition->name + " is EXCLUSIVE");
  for (const NodeShare& s : nodes) {
    const Node* n = mirror_.nodes.find(s.node.value);
    if (!n) return bad("no such node");
    if (!partition->nodes.test(s.node.value)) bad(name(s.node) + " is not in " + partition->name);
    if (n->admin != NodeState::kIdle || (n->flags & (kNodeDrain | kNodeFail | kNodeInvalid | kNodeNoRespond)))
      bad(name(s.node) + " is " + node_state_long(n->admin, n->flags));
    if (s.cpus.count() > partition->max_cpus_per_node && !started.allocation->whole_nodes)
      bad(std::to_string(s.cpus.count()) + " CPUs on " + name(s.node) + ", MaxCPUsPerNode=" + std::to_string(partition->max_cpus_per_node));
  }
}

// Where accounting is enforced, a job that starts has an association, and a QOS that is one of the association's. Worked out from what
// slurmdbd had said in the log until then, by looking at every association.
void Checkers::check_admission(const event::JobStarted& start) {
  const acct::Enforcement& enforced = world_.scenario.settings.sched.enforcement;
  const Job* started = mirror_.jobs.find(start.job.value);
  if (!enforced.associations || !started) return;
  const RequestBody& request = *started->request;
  const Partition& partition = mirror_.partitions.at(start.partition);
  const AssociationRecord* own = own_association(mirror_, request, partition);
  const std::string job = "job " + std::to_string(start.job.value) + " of " + request.user_name + " with account '" + request.account +
                          "', QOS '" + request.qos + "' in " + partition.name;
  if (!own) return fail("admission", job + " starts without an association");
  if (own->id != start.association) fail("admission", job + " starts for association " + std::to_string(start.association));
  const bool may_use = request.qos_granted || std::ranges::find(own->qos, request.qos) != own->qos.end();
  if (enforced.qos && (!may_use || !mirror_.directory->qos.contains(request.qos)))
    fail("admission", job + " starts with a QOS that it may not use");
}

// At a start nobody comes to hold more than a limit lets: of the association and all above it, of the QOS of the job and of the partition.
// They may hold more only because the limit was lowered, and then nothing more starts. Counted from all jobs, and not by the ledger.
void Checkers::check_group_limits(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  if (!world_.scenario.settings.sched.enforcement.limits || !mirror_.directory || !j) return;
  LimitCount(mirror_, usage_, world_.scenario.settings.sched.priority.multifactor, e, *j, [&](const std::string& what) {
    fail("group_limits", "job " + std::to_string(e.job.value) + " " + what);
  }).run();
}

// A submission that would bring somebody to more jobs in the queue than a limit lets is refused.
void Checkers::check_submit_limits(const event::JobSubmitted& submitted) {
  const SharedRequest* request = mirror_.requests.find(submitted.request.value);
  const Partition* partition = mirror_.partitions.find(submitted.partition);
  if (!world_.scenario.settings.sched.enforcement.limits || !mirror_.directory || !request || !partition) return;
  const uint64_t jobs = submitted.array_tasks ? submitted.array_tasks->pending.count() : 1;
  for (const BoundBy& bound : bounds_of(mirror_, *request->body, submitted.association, *partition)) {
    const LimitKind kind = bound.limit.kind;
    if (kind != kGrpSubmitJobs && kind != kMaxSubmitJobs && kind != kMaxSubmitJobsPerUser && kind != kMaxSubmitJobsPerAccount) continue;
    const uint64_t there = LimitSums(mirror_, bound, *request->body).submitted();
    if (there + jobs > bound.limit.value)
      fail("group_limits", "job " + std::to_string(submitted.job.value) + " is the " + std::to_string(there + jobs) +
                               "th in the queue of " + bound.whom() + ", of " + std::to_string(bound.limit.value));
  }
}

}  // namespace muster::sim
