#include "sim/limit_sums.h"

#include <algorithm>

namespace muster::sim {
namespace {

using enum LimitKind;

bool is_of_user(LimitKind kind) {
  return kind == kMaxTresPerUser || kind == kMaxJobsPerUser || kind == kMaxSubmitJobsPerUser || kind == kMaxTresRunMinsPerUser;
}
bool is_of_account(LimitKind kind) {
  return kind == kMaxTresPerAccount || kind == kMaxJobsPerAccount || kind == kMaxSubmitJobsPerAccount || kind == kMaxTresRunMinsPerAccount;
}
bool is_of_all_above(LimitKind kind) {
  return kind == kGrpJobs || kind == kGrpSubmitJobs || kind == kGrpWall || kind == kGrpTres || kind == kGrpTresMins ||
         kind == kGrpTresRunMins;
}
// The limit of a QOS that takes the place of one of an association.
LimitKind of_qos(LimitKind kind) { return kind == kMaxJobs ? kMaxJobsPerUser : kind == kMaxSubmitJobs ? kMaxSubmitJobsPerUser : kind; }

bool stands_below(const Cluster& cluster, uint32_t id, uint32_t above) {
  const auto& all = cluster.directory->associations;
  for (const AssociationRecord* a = all.find(id); a; a = all.find(a->parent_id))
    if (a->id == above) return true;
  return false;
}

}  // namespace

uint64_t amount_of(const Allocation& allocation, std::string_view tres) {
  uint64_t out = 0;
  if (tres == "node") return allocation.nodes.size();
  if (tres == "billing" && allocation.billing) return *allocation.billing;
  if (tres.starts_with("license/"))
    for (const LicenseShare& l : allocation.licenses) out += tres.substr(8) == l.name ? l.count : 0;
  for (const NodeShare& s : allocation.nodes) {
    if (tres == "cpu" || tres == "billing") out += s.counted_cpus();
    if (tres == "mem") out += s.mem_mb;
    for (const GresShare& g : s.gres)
      if (tres == "gres/" + g.name || tres == "gres/" + g.name + ":" + g.type) out += g.count;
  }
  return out;
}

const AssociationRecord* own_association(const Cluster& cluster, const RequestBody& request, const Partition& partition) {
  const AssociationRecord* own = nullptr;
  if (cluster.directory)
    cluster.directory->associations.for_each([&](uint32_t, const AssociationRecord& a) {
      const bool meant = a.user == request.user_name && a.account == request.account;
      if (meant && (a.partition == partition.name || (a.partition.empty() && !own))) own = &a;
    });
  return own;
}

std::string BoundBy::whom() const { return qos ? "QOS " + qos->name : "account " + association->account + " " + association->user; }

std::vector<BoundBy> bounds_of(const Cluster& cluster, const RequestBody& request, uint32_t association, const Partition& partition) {
  std::vector<BoundBy> out;
  std::vector<const QosRecord*> levels;
  const QosRecord* own = cluster.directory->qos.find(request.qos);
  const QosRecord* of_partition = partition.qos.empty() ? nullptr : cluster.directory->qos.find(partition.qos);
  if (of_partition) levels.push_back(of_partition);
  if (own && own != of_partition) levels.insert(has_flag(*own, "OverPartQOS") ? levels.begin() : levels.end(), own);
  for (const QosRecord* q : levels)
    for (const Limit& l : q->limits)
      if (q == levels.front() || !find_limit(levels.front()->limits, l.kind, l.tres)) out.push_back({l, q, nullptr});
  const auto& associations = cluster.directory->associations;
  for (const AssociationRecord* a = associations.find(association); a; a = associations.find(a->parent_id))
    for (const Limit& l : a->limits) {
      if (a->id != association && !is_of_all_above(l.kind)) continue;
      if (a->parent_id == 0 && (l.kind == kGrpTresMins || l.kind == kGrpWall)) continue;  // not enforced on root: sacctmgr(1)
      const bool by_qos =
          std::ranges::any_of(levels, [&](const QosRecord* q) { return find_limit(q->limits, of_qos(l.kind), l.tres).has_value(); });
      if (!by_qos) out.push_back({l, nullptr, a});
    }
  return out;
}

LimitSums::LimitSums(const Cluster& cluster, const BoundBy& bound, const RequestBody& asker, bool claims)
    : cluster_(cluster), bound_(bound), asker_(asker), claims_(claims) {}

bool LimitSums::counts(uint32_t association, const RequestBody& request, uint32_t partition) const {
  if (!bound_.qos) return stands_below(cluster_, association, bound_.association->id);
  const Partition* p = cluster_.partitions.find(partition);
  if (request.qos != bound_.qos->name && (!p || p->qos != bound_.qos->name)) return false;
  if (is_of_user(bound_.limit.kind)) return request.uid == asker_.uid;
  return !is_of_account(bound_.limit.kind) || request.account == asker_.account;
}

void LimitSums::each_running(const std::function<void(const Job&)>& f) const {
  cluster_.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.pending() && !job.finished() && job.allocation && counts(job)) f(job);
    if (!claims_ || !job.pending() || !job.turns->claim) return;
    std::vector<ClaimPart> parts = job.turns->claim->parts;
    if (parts.empty()) parts = {{job.id, job.partition, job.turns->claim->allocation}};
    for (const ClaimPart& part : parts) {
      const Job* of = cluster_.jobs.find(part.job.value);
      if (!of || !counts(*of)) continue;
      Job held = *of;
      held.allocation = part.allocation;
      f(held);
    }
  });
}

uint64_t LimitSums::held(std::string_view tres) const {
  if (tres == "node") return nodes().size();
  uint64_t out = 0;
  each_running([&](const Job& job) { out += amount_of(*job.allocation, tres); });
  return out;
}

std::set<uint32_t> LimitSums::nodes() const {
  std::set<uint32_t> out;
  each_running([&](const Job& job) {
    for (const NodeShare& s : job.allocation->nodes) out.insert(s.node.value);
  });
  return out;
}

uint64_t LimitSums::running() const {
  uint64_t out = 0;
  each_running([&](const Job&) { ++out; });
  return out;
}

uint64_t LimitSums::submitted() const {
  uint64_t out = 0;
  cluster_.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.finished() && counts(job)) out += job.array_tasks ? job.array_tasks->pending.count() : 1;
  });
  return out;
}

uint64_t LimitSums::run_minutes(std::string_view tres, Time now, bool up) const {
  constexpr uint64_t kYear = 365 * 24 * 60;
  uint64_t out = 0;
  each_running([&](const Job& job) {
    if (job.state == JobState::kSuspended) return;  // its usage stands still
    const bool limited = job.time_limit_min != kUnlimited32;
    const Time end = limited ? job.ends : job.started + minutes(kYear);
    const Time from = job.pending() ? end - minutes(limited ? job.time_limit_min : kYear) : now;
    const auto left = static_cast<uint64_t>(std::max<int64_t>(0, to_seconds(end - from)));
    out += amount_of(*job.allocation, tres) * left / 60 + up;
  });
  return out;
}

}  // namespace muster::sim
