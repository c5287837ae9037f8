#include "sched/queue/priority.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/account_directory.h"
#include "model/stopped_age.h"
#include "model/tres_list.h"
#include "sched/request/request_shape.h"

namespace muster::sched {
namespace {

constexpr uint32_t kAllPartitions = 0xffffffffu;

// What the request wants at least; the same arithmetic as where squeue shows a pending job's size.
double wanted_nodes(const RequestBody& r) { return std::max(r.min_nodes, 1u); }
double wanted_tasks(const RequestBody& r) {
  if (r.num_tasks) return r.num_tasks;
  return wanted_nodes(r) * std::max(r.ntasks_per_node, 1u);
}
double wanted_cpus(const RequestBody& r) { return wanted_tasks(r) * std::max(r.cpus_per_task, 1u); }

double wanted_memory(const RequestBody& r) {
  if (r.mem_per_node_mb) return static_cast<double>(*r.mem_per_node_mb) * wanted_nodes(r);
  if (r.mem_per_cpu_mb) return static_cast<double>(*r.mem_per_cpu_mb) * wanted_cpus(r);
  return 0;
}

double wanted_gres(const RequestBody& r, std::string_view name, std::string_view type) {
  auto sum = [&](const TresText& list, double times) {
    double n = 0;
    for (const Tres& t : list->items())
      if (t.is_gres() && iequals(t.name, name) && (type.empty() || iequals(t.type, type))) n += static_cast<double>(t.count) * times;
    return n;
  };
  return sum(r.tres_per_node, wanted_nodes(r)) + sum(r.tres_per_job, 1) + sum(r.tres_per_task, wanted_tasks(r)) +
         sum(r.tres_per_socket, wanted_nodes(r) * std::max(r.sockets_per_node, 1u));
}

// Alternatives count nothing, as none of them is sure.
double wanted_licenses(const RequestBody& r, std::string_view name) {
  double n = 0;
  if (r.licenses.empty() || r.licenses->any) return n;
  for (const LicenseShare& l : r.licenses->list)
    if (iequals(l.name, name)) n += static_cast<double>(l.count);
  return n;
}

double wanted(const TresName& tres, const RequestBody& r) {
  switch (tres.kind) {
    case TresKind::kCpu: return wanted_cpus(r);
    case TresKind::kMem: return wanted_memory(r);
    case TresKind::kNode: return wanted_nodes(r);
    case TresKind::kGres: return wanted_gres(r, tres.name, tres.type);
    case TresKind::kLicense: return wanted_licenses(r, tres.name);
    case TresKind::kBilling:  // known only when it has nodes: guide tres
    case TresKind::kOther: break;
  }
  return 0;
}

uint64_t priority_of(const auto& record) { return find_limit(record.limits, LimitKind::kPriority).value_or(0); }

}  // namespace

PriorityRule::PriorityRule(const Cluster& cluster, const PriorityParams& params, Time now, FairFactorsPtr fair_factors)
    : cluster_(&cluster), params_(params), now_(now), fair_factors_(fair_factors ? std::move(fair_factors) : cluster.moment.fair_factors) {
  now_ = period_start(now, params.period);
  cluster.partitions.for_each([&](uint32_t, const Partition& p) { top_partition_ = std::max(top_partition_, p.priority_job_factor); });
}

bool PriorityRule::moves(const Job& job) const {
  const bool counted = job.pending() || (params_.of_running && !job.finished());
  return params_.multifactor && job.priority != 0 && counted && !(job.flags & kJobPriorityFixed) && job.request;
}

Time PriorityRule::age_from(const Job& job) const {
  if (params_.accrue_always) return job.submitted;
  return std::max({job.submitted, job.eligible, job.accrues});  // what is not set is long ago
}

double PriorityRule::age_part(Time since) const {
  const std::optional<Duration> stopped = stopped_age(since);
  if ((now_ <= since && !stopped) || params_.max_age.count() <= 0) return 0;
  const Duration old = stopped ? *stopped : now_ - since;
  const double age = static_cast<double>(old.count()) / static_cast<double>(params_.max_age.count());
  return params_.weight_age * std::min(age, 1.0);
}

uint32_t PriorityRule::total(double fixed, double age) {
  // 0 would mean held.
  return static_cast<uint32_t>(std::clamp(std::floor(fixed + age), 1.0, static_cast<double>(kUnlimited32 - 2)));
}

uint32_t PriorityRule::of(const Job& job) const {
  if (!moves(job)) return job.priority;
  const uint32_t now = total(fixed_part(*job.request, job.partition, job.time_limit_min, job.association),
                             job.dependencies && !params_.accrue_always ? 0 : age_part(age_from(job)));
  return std::max(now, least(*job.request, job.partition, job.priority, job.partition));
}

uint32_t PriorityRule::least(const RequestBody& r, uint32_t partition, uint32_t kept, uint32_t kept_in) const {
  if (!params_.only_up || kept <= 1) return 0;
  if (partition == kept_in) return kept;
  return total(kept, std::round(partition_part(r, partition) - partition_part(r, kept_in)));
}

double PriorityRule::size_factor(const RequestBody& r, uint32_t time_limit_min) const {
  if (params_.small_relative_to_time) {
    const double limit = time_limit_min == kUnlimited32 ? 365.0 * 24 * 60 : std::max(time_limit_min, 1u);
    const double cpus = totals(kAllPartitions).cpus;
    return cpus > 0 ? std::min(1.0, wanted_cpus(r) / limit / cpus) : 0;
  }
  // Half by its nodes and half by its CPUs, as 22.05 shows it.
  const Totals& all = totals(kAllPartitions);
  return (part_of(wanted_nodes(r), all.nodes) + part_of(wanted_cpus(r), all.cpus)) / 2;
}

// PriorityFavorSmall turns it round: one of them is all, and all of them are the least there is.
double PriorityRule::part_of(double wants, double all) const {
  const double most = std::max(all, 1.0);
  const double counted = std::clamp(wants, 1.0, most);
  return (params_.favor_small ? most - counted + 1 : counted) / most;
}

double PriorityRule::partition_factor(uint32_t partition) const {
  const Partition* p = cluster_->partitions.find(partition);
  if (!p) return 0;
  return params_.raw_partition ? p->priority_job_factor : static_cast<double>(p->priority_job_factor) / top_partition_;
}

double PriorityRule::fair_share_factor(uint32_t association) const { return fair_factors_ ? fair_factors_->of(association) : 0; }

double PriorityRule::association_factor(uint32_t association) const {
  const AccountDirectory* directory = cluster_->directory.get();
  const AssociationRecord* a = directory ? directory->associations.find(association) : nullptr;
  if (!a) return 0;
  const auto own = static_cast<double>(priority_of(*a));
  if (params_.raw_association) return own;
  if (!top_association_) {
    top_association_ = 0;
    directory->associations.for_each(
        [&](uint32_t, const AssociationRecord& each) { top_association_ = std::max(*top_association_, priority_of(each)); });
  }
  return *top_association_ ? own / static_cast<double>(*top_association_) : 0;
}

double PriorityRule::qos_factor(const RequestBody& request) const {
  const AccountDirectory* directory = cluster_->directory.get();
  const QosRecord* q = directory ? directory->qos.find(request.qos) : nullptr;
  if (!q) return 0;
  const auto own = static_cast<double>(priority_of(*q));
  if (params_.raw_qos) return own;
  if (!top_qos_) {
    top_qos_ = 0;
    directory->qos.for_each([&](const std::string&, const QosRecord& each) { top_qos_ = std::max(*top_qos_, priority_of(each)); });
  }
  return *top_qos_ ? own / static_cast<double>(*top_qos_) : 0;
}

const PriorityRule::Totals& PriorityRule::totals(uint32_t partition) const {
  auto [it, fresh] = totals_.try_emplace(partition);
  Totals& totals = it->second;
  if (!fresh) return totals;
  auto add = [&](const Node& n) {
    totals.nodes += 1;
    totals.cpus += n.spec->cpus;
    totals.mem_mb += static_cast<double>(n.spec->real_memory_mb);
    for (const GresDevices& g : n.spec->gres) {
      totals.gres[to_lower("gres/" + g.name)] += static_cast<double>(g.count);
      if (!g.type.empty()) totals.gres[to_lower("gres/" + g.name + ":" + g.type)] += static_cast<double>(g.count);
    }
  };
  if (partition == kAllPartitions) {
    cluster_->nodes.for_each([&](uint32_t, const Node& n) { add(n); });
  } else if (const Partition* p = cluster_->partitions.find(partition)) {
    p->nodes.for_each([&](size_t id) {
      if (const Node* n = cluster_->nodes.find(static_cast<uint32_t>(id))) add(*n);
    });
  }
  return totals;
}

double PriorityRule::tres_factor(const TresName& tres, const RequestBody& r, uint32_t partition) const {
  const double wants = wanted(tres, r);
  if (params_.raw_tres || wants == 0) return wants;
  const double all = whole(tres, partition);
  return all > 0 ? std::min(1.0, wants / all) : 0;
}

// What there is in the partition; of licences, which belong to no node, in the cluster.
double PriorityRule::whole(const TresName& tres, uint32_t partition) const {
  switch (tres.kind) {
    case TresKind::kCpu: return totals(partition).cpus;
    case TresKind::kMem: return totals(partition).mem_mb;
    case TresKind::kNode: return totals(partition).nodes;
    case TresKind::kGres: {
      const auto& gres = totals(partition).gres;
      auto at = gres.find(tres.text());
      return at == gres.end() ? 0 : at->second;
    }
    case TresKind::kLicense:
      for (const auto& [name, count] : params_.licenses)
        if (iequals(name, tres.name)) return static_cast<double>(count);
      return 0;
    case TresKind::kBilling:
    case TresKind::kOther: break;
  }
  return 0;
}

double PriorityRule::fixed_part(const RequestBody& r, uint32_t partition, uint32_t time_limit_min, uint32_t association) const {
  double sum = static_cast<double>(r.site_factor) - r.nice;
  if (params_.weight_fairshare) sum += params_.weight_fairshare * fair_share_factor(association);
  if (params_.weight_assoc) sum += params_.weight_assoc * association_factor(association);
  if (params_.weight_qos) sum += params_.weight_qos * qos_factor(r);
  if (params_.weight_job_size) sum += params_.weight_job_size * size_factor(r, time_limit_min);
  return sum + partition_part(r, partition);
}

// What the partition makes of the request.
double PriorityRule::partition_part(const RequestBody& r, uint32_t partition) const {
  double sum = params_.weight_partition ? params_.weight_partition * partition_factor(partition) : 0;
  for (const TresWeight& w : params_.weight_tres) sum += w.weight * tres_factor(w.tres, r, partition);
  return sum;
}

PriorityFactors PriorityRule::factors(const Job& job, uint32_t partition) const {
  PriorityFactors out;
  const RequestBody& request = *job.request;
  auto weigh = [](double normal, double weight) { return PriorityFactor{normal, normal * weight}; };
  const double age = job.dependencies && !params_.accrue_always ? 0 : age_part(age_from(job));
  out.age = {params_.weight_age ? age / params_.weight_age : 0, age};
  out.fair_share = weigh(fair_share_factor(job.association), params_.weight_fairshare);
  out.association = weigh(association_factor(job.association), params_.weight_assoc);
  out.qos = weigh(qos_factor(request), params_.weight_qos);
  out.job_size = weigh(size_factor(request, job.time_limit_min), params_.weight_job_size);
  out.partition = weigh(partition_factor(partition), params_.weight_partition);
  for (const TresWeight& w : params_.weight_tres)
    out.tres.emplace_back(w.tres.text(), weigh(tres_factor(w.tres, request, partition), w.weight));
  out.site = request.site_factor;
  out.nice = request.nice;
  out.priority = job.priority;
  if (moves(job))
    out.priority = std::max(total(fixed_part(request, partition, job.time_limit_min, job.association), age),
                            least(request, partition, job.priority, job.partition));
  return out;
}

}  // namespace muster::sched
