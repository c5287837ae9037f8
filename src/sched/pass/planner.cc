#include "sched/planner.h"

#include "sched/pass/pass.h"

namespace muster::sched {

struct Planner::Impl {
  Availability nodes;
  Pending pending;
  ProfileMemory memory;
};

Planner::Planner() : impl_(std::make_unique<Impl>()) {}
Planner::~Planner() = default;

Plan Planner::plan(const Cluster& cluster, const Params& params, Time now, Pass pass) {
  impl_->nodes.update(cluster.nodes, params);
  impl_->nodes.reserve(cluster, params, now);
  impl_->pending.update(cluster, params, now);
  return PlanPass(cluster, params, now, pass, impl_->nodes, impl_->pending, &impl_->memory).run();
}

Result<Planner::Forecast> Planner::will_run(const Cluster& cluster, const Params& params, const RequestBody& request, Time now) {
  std::vector<const Partition*> partitions;
  for (const std::string& name : request.partitions) {
    const Partition* p = cluster.partition(name);
    if (!p) return fail(Errc::kInvalidPartition, {}, "\"" + name + "\": no such partition");
    partitions.push_back(p);
  }
  if (partitions.empty()) partitions.push_back(cluster.partitions.find(cluster.default_partition));
  if (!partitions.front()) return fail(Errc::kDefaultPartitionNotSet);
  Params ahead = params;
  ahead.backfill = true;
  impl_->nodes.update(cluster.nodes, ahead);
  impl_->nodes.reserve(cluster, ahead, now);
  impl_->pending.update(cluster, ahead, now);
  PlanPass pass(cluster, ahead, now, Pass::kFull, impl_->nodes, impl_->pending);
  pass.run();
  Result<Forecast> best = fail(Errc::kRequestedPartConfigUnavailable);
  for (const Partition* partition : partitions) {
    if (auto ever = can_ever_run(cluster, params, request, partition->index); !ever) {
      if (!best) best = std::unexpected(std::move(ever).error());
      continue;
    }
    MUSTER_TRY(shape, make_shape(request, *partition, params));
    RequestClass c;
    c.shape = std::move(shape);
    c.partition = partition->index;
    c.uid = request.uid;
    c.time_limit_min = request.time_limit_min.value_or(partition->default_time_min.value_or(partition->max_time_min));
    c.warned = params.preempt.notice(request);
    for (uint32_t reservation : impl_->pending.reservations_for(cluster, request, partition->index)) {
      c.reservation = reservation;
      auto got = pass.forecast(request, c);
      if (!best || (got && got->start < best->start)) best = std::move(got);
    }
  }
  return best;
}

}  // namespace muster::sched
