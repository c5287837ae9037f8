#include "slurmctld/core/priority_rows.h"

#include "sched/queue/pending.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kRowsPerPart = 1000;

FactorRow factor_row(const sched::PriorityFactor& f, std::string name = {}) { return {std::move(name), f.normal, f.weighted}; }

// PriorityWeight* in the place of the weighted factors.
PriorityRow weights_of(const sched::PriorityParams& p) {
  PriorityRow out;
  auto weight = [](double value, std::string name = {}) { return FactorRow{std::move(name), 0, value}; };
  out.age = weight(p.weight_age);
  out.association = weight(p.weight_assoc);
  out.fair_share = weight(p.weight_fairshare);
  out.job_size = weight(p.weight_job_size);
  out.partition_factor = weight(p.weight_partition);
  out.qos_factor = weight(p.weight_qos);
  for (const sched::TresWeight& w : p.weight_tres) out.tres.push_back(weight(w.weight, w.tres.text()));
  return out;
}

// Held jobs and those whose --begin has not come have no priority to speak of; Slurm does not list them either.
bool is_ranked(const Job& job, Time now) {
  return job.pending() && job.request && job.priority != 0 && (job.dependencies || job.eligible <= now);
}

void fill_factors(PriorityRow& row, const sched::PriorityFactors& f) {
  row.age = factor_row(f.age);
  row.association = factor_row(f.association);
  row.fair_share = factor_row(f.fair_share);
  row.job_size = factor_row(f.job_size);
  row.partition_factor = factor_row(f.partition);
  row.qos_factor = factor_row(f.qos);
  for (const auto& [name, factor] : f.tres) row.tres.push_back(factor_row(factor, name));
  row.site = f.site;
}

}  // namespace

PriorityQuery::PriorityQuery(std::shared_ptr<const Cluster> cluster, const sched::PriorityParams& params, Time now, Privacy privacy)
    : cluster_(std::move(cluster)), params_(params), now_(now), rule_(*cluster_, params, now), privacy_(std::move(privacy)) {}

void PriorityQuery::add(const Job& job, rpc::PriorityRows& part) const {
  for (uint32_t partition : sched::partitions_of(*cluster_, job)) {
    const sched::PriorityFactors factors = rule_.factors(job, partition);
    const Partition* found = cluster_->partitions.find(partition);
    PriorityRow row;
    row.job = job.id;
    row.sluid = sluid_of(job.id, job.submitted, job.restarts);
    row.user = job.request->uid;
    row.account = job.request->account;
    row.partition = found ? found->name : std::string();
    row.qos = job.request->qos;
    row.priority = factors.priority;
    row.nice = factors.nice;
    if (rule_.moves(job)) fill_factors(row, factors);  // one that was set by hand is made of nothing
    part.jobs.push_back(std::move(row));
  }
}

bool PriorityQuery::next(rpc::PriorityRows& part) {
  part = {};
  const bool first = !begun_;
  begun_ = true;
  if (first) part.weights = weights_of(params_);
  over_ = over_ || cluster_->jobs.empty();
  while (!over_ && part.jobs.size() < kRowsPerPart) {
    over_ = true;
    cluster_->jobs.for_each(
        [&](uint32_t key, const Job& j) {
          if (is_ranked(j, now_) && privacy_.shows(j)) add(j, part);
          over_ = part.jobs.size() < kRowsPerPart;  // walked to its end, unless this part is full
          next_key_ = key + 1;
          return over_;
        },
        next_key_);
  }
  return first || !part.jobs.empty();
}

}  // namespace muster::slurmctld
