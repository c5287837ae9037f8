// Limits at the moment of a start: how many tasks of an array run at once, what the partition allows, what accounting allows.
#include <algorithm>
#include <functional>
#include <set>

#include "model/account_directory.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

uint64_t amount_of(const Allocation& a, const std::string& tres) {
  uint64_t out = 0;
  for (const NodeShare& s : a.nodes) {
    if (tres == "cpu") out += s.counted_cpus();
    if (tres == "mem") out += s.mem_mb;
    for (const GresShare& g : s.gres)
      if (tres == "gres/" + g.name || tres == "gres/" + g.name + ":" + g.type) out += g.count;
  }
  return out;
}

// What a job that starts would bring others to, by looking at every job.
class LimitCount {
 public:
  using Fail = std::function<void(const std::string&)>;
  LimitCount(const Cluster& cluster, const event::JobStarted& e, const Job& job, Fail fail)
      : c_(cluster), e_(e), job_(job), fail_(std::move(fail)) {
    const QosRecord* own = cluster.directory->qos.find(job.request->qos);
    const QosRecord* of_partition = cluster.directory->qos.find(cluster.partitions.at(e.partition).qos);
    if (of_partition) levels_.push_back(of_partition);
    if (own && own != of_partition) levels_.insert(has_flag(*own, "OverPartQOS") ? levels_.begin() : levels_.end(), own);
  }

  void run() {
    for (const QosRecord* q : levels_)
      for (const Limit& l : q->limits)
        if (q == levels_.front() || !find_limit(levels_.front()->limits, l.kind, l.tres)) check_of_qos(*q, l);
    const auto& associations = c_.directory->associations;
    for (const AssociationRecord* a = associations.find(e_.association); a; a = associations.find(a->parent_id))
      for (const Limit& l : a->limits)
        if (!by_qos(l)) check_of_association(*a, l);
  }

 private:
  bool by_qos(const Limit& l) const {
    return std::ranges::any_of(levels_, [&](const QosRecord* q) { return find_limit(q->limits, l.kind, l.tres).has_value(); });
  }
  bool counts_for_qos(const Job& o, const std::string& qos) const {
    const Partition* p = c_.partitions.find(o.partition);
    return o.request->qos == qos || (p && p->qos == qos);
  }
  bool stands_below(uint32_t id, uint32_t above) const {
    for (const AssociationRecord* a = c_.directory->associations.find(id); a; a = c_.directory->associations.find(a->parent_id))
      if (a->id == above) return true;
    return false;
  }
  template <class F>
  void check(const std::string& whom, const Limit& limit, bool jobs, F counts) const {
    uint64_t wanted = jobs ? 1 : amount_of(*e_.allocation, limit.tres), held = 0;
    std::set<uint32_t> nodes;  // one that several jobs share counts once
    c_.jobs.for_each([&](uint32_t, const Job& o) {
      if (o.pending() || o.finished() || !counts(o)) return;
      held += jobs ? 1 : amount_of(*o.allocation, limit.tres);
      for (const NodeShare& s : o.allocation->nodes) nodes.insert(s.node.value);
    });
    if (limit.tres == "node") {
      held = nodes.size();
      for (const NodeShare& s : e_.allocation->nodes) wanted += !nodes.contains(s.node.value);
    }
    if (wanted > 0 && held + wanted > limit.value)
      fail_("brings " + whom + " to " + std::to_string(held + wanted) + " " + (jobs ? "jobs" : limit.tres) + " of " +
            std::to_string(limit.value));
  }
  void check_node(const std::string& whom, const Limit& l) const {
    for (const NodeShare& s : e_.allocation->nodes) {
      Allocation one;
      one.nodes = {s};
      if (const uint64_t has = amount_of(one, l.tres); has > l.value)
        fail_("has " + std::to_string(has) + " " + l.tres + " on one node, MaxTRESPerNode of " + whom + " is " + std::to_string(l.value));
    }
  }
  void check_of_qos(const QosRecord& q, const Limit& l) const {
    const bool of_user = l.kind == LimitKind::kMaxTresPerUser || l.kind == LimitKind::kMaxJobsPerUser;
    const bool jobs = l.kind == LimitKind::kGrpJobs || l.kind == LimitKind::kMaxJobsPerUser;
    if (l.kind == LimitKind::kMaxTresPerNode) return check_node("QOS " + q.name, l);
    if (!of_user && l.kind != LimitKind::kGrpTres && l.kind != LimitKind::kGrpJobs) return;
    check("QOS " + q.name, l, jobs,
          [&](const Job& o) { return counts_for_qos(o, q.name) && (!of_user || o.request->uid == job_.request->uid); });
  }
  void check_of_association(const AssociationRecord& a, const Limit& l) const {
    const std::string whom = "account " + a.account + " " + a.user;
    if (l.kind == LimitKind::kMaxTresPerNode && a.id == e_.association) check_node(whom, l);
    if (l.kind == LimitKind::kGrpTres || l.kind == LimitKind::kGrpJobs)
      check(whom, l, l.kind == LimitKind::kGrpJobs, [&](const Job& o) { return stands_below(o.association, a.id); });
  }

  const Cluster& c_;
  const event::JobStarted& e_;
  const Job& job_;
  Fail fail_;
  std::vector<const QosRecord*> levels_;  // the one whose limits come first before the other
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
  const AssociationRecord* own = nullptr;
  if (mirror_.directory)
    mirror_.directory->associations.for_each([&](uint32_t, const AssociationRecord& a) {
      const bool meant =
          a.user == request.user_name && a.account == request.account && (a.partition.empty() || a.partition == partition.name);
      if (meant && (!own || !a.partition.empty())) own = &a;
    });
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
  LimitCount(mirror_, e, *j, [&](const std::string& what) {
    fail("group_limits", "job " + std::to_string(e.job.value) + " " + what);
  }).run();
}

}  // namespace muster::sim
