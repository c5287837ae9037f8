#include "sched/gate.h"

#include <algorithm>

namespace muster::sched {
namespace {

constexpr uint32_t kUnlimitedMinutes = 365 * 24 * 60;  // as what a job without a limit may still use is counted

bool limits_users(const Partition& p) { return p.max_cpus_per_user != kUnlimited32; }

acct::Admission admission(const Cluster& cluster, const Params& params, const RequestBody& r, const Partition& p) {
  return acct::admit(cluster.directory.get(), params.enforcement, {r.user_name, r.account, r.qos, p.name, r.qos_granted},
                     acct::Moment::kStart);
}

std::vector<acct::Bound> bounds_of(const Cluster& cluster, const Params& params, const acct::Admitted& admitted, const RequestBody& r,
                                   const Partition& p) {
  return acct::bounds_on(cluster, {params.enforcement.limits, params.priority.multifactor}, {admitted.association, r.account, r.qos, r.uid},
                         p);
}

}  // namespace

bool Gate::judges_limits(const Params& params, const Partition& partition) { return params.enforcement.limits || limits_users(partition); }

std::unique_ptr<Gate> Gate::make(const Cluster& cluster, const Params& params, Time now) {
  bool any = judges_accounts(params);
  if (!any) cluster.partitions.for_each([&](uint32_t, const Partition& p) { any |= limits_users(p); });
  return any ? std::unique_ptr<Gate>(new Gate(cluster, params, now)) : nullptr;
}

Gate::Known& Gate::know(const Question& q) {
  const RequestBody& r = q.request;
  auto [at, fresh] = known_[q.partition.index].try_emplace(&r);
  Known& known = at->second;
  if (!fresh) return known;
  const acct::Admission verdict = admission(cluster_, params_, r, q.partition);
  if (auto* wait = std::get_if<acct::Wait>(&verdict)) {
    known.bar = {wait->reason, wait->detail};
    return known;
  }
  const auto& admitted = std::get<acct::Admitted>(verdict);
  known.association = admitted.association ? admitted.association->id : 0;
  auto [party, first] = parties_.try_emplace({known.association, r.uid.value, q.partition.index, r.account, r.qos});
  if (first) party->second.bounds = bounds_of(cluster_, params_, admitted, r, q.partition);
  if (!party->second.bounds.empty()) known.party = &party->second;
  return known;
}

std::optional<acct::Excess> Gate::excess(Known& known, const Question& q, const TresCounts& counts, acct::When when) const {
  if (!known.party) return std::nullopt;
  return acct::first_exceeded(known.party->bounds, {cluster_, ledger_, now_, params_.enforcement.safe}, {counts, 1, q.time_limit_min},
                              when);
}

Bar Gate::bar_of(const acct::Excess& e) const { return {e.reason(cluster_.tres_table()), e.detail(cluster_.tres_table())}; }

Bar Gate::bars(const Question& q) { return know(q).bar; }

Bar Gate::bars(const Question& q, const TresCounts& least) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone || !known.party) return known.bar;
  if (auto at = known.party->barred.find(q.alike); at != known.party->barred.end()) return at->second;
  const auto over = excess(known, q, least, acct::kBeforeNodes);
  return over ? bar_of(*over) : Bar();
}

Bar Gate::bars(const Question& q, const Allocation& chosen) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone || !known.party) return known.bar;
  const auto over = excess(known, q, counts_of(chosen, cluster_.tres_table()), acct::kWithNodes);
  if (!over) return {};
  return known.party->barred[q.alike] = bar_of(*over);
}

void Gate::started(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min) {
  Charge charge;
  charge.association = know({*request, partition}).association;
  charge.partition = partition.index;
  charge.running = 1;
  charge.request = request;
  charge.allocation = allocation;
  charge.accrues = true;
  charge.due = Charge::second_of(now_ + minutes(time_limit_min == kUnlimited32 ? kUnlimitedMinutes : time_limit_min));
  ledger_.add(charge, cluster_.directory.get(), cluster_.tres_table());
}

std::optional<Gate::Full> Gate::full(const Question& q, const TresCounts& least) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone) return std::nullopt;
  const auto over = excess(known, q, least, acct::kBeforeNodes);
  if (!over) return std::nullopt;
  return Full{over->view(cluster_.tres_table()), over->bound->holder};
}

bool Gate::uses(const Full& full, const Job& running) const {
  return counts_for(Charge::of(running), full.holder, cluster_.directory.get());
}

Result<> may_be_submitted(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                          const acct::Wanted& wanted) {
  if (!params.enforcement.limits || !cluster.directory) return {};
  const acct::Admission verdict = admission(cluster, params, request, partition);
  auto* admitted = std::get_if<acct::Admitted>(&verdict);
  if (!admitted) return {};  // of several partitions not this one
  const auto bounds = bounds_of(cluster, params, *admitted, request, partition);
  auto over = acct::first_exceeded(bounds, {cluster, cluster.ledger}, wanted, acct::kAtSubmission);
  const QosRecord* qos = cluster.directory->qos.find(request.qos);
  if (!over && qos && std::ranges::find(qos->flags, "DenyOnLimit") != qos->flags.end()) over = acct::first_exceeded_alone(bounds, wanted);
  return over ? fail(Errc::kAccountingPolicy, {}, over->detail(cluster.tres_table())) : Result<>();
}

Result<> admitted_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition) {
  if (!Gate::judges_accounts(params)) return {};
  const acct::Admission verdict = admission(cluster, params, request, partition);
  if (auto* wait = std::get_if<acct::Wait>(&verdict)) return fail(Errc::kAccountingPolicy, {}, wait->detail);
  return {};
}

Result<> within_limits_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                           const Allocation& allocation) {
  if (!Gate::judges_limits(params, partition)) return {};
  const acct::Admission verdict = admission(cluster, params, request, partition);
  auto* admitted = std::get_if<acct::Admitted>(&verdict);
  if (!admitted) return {};  // admitted_now says so
  const auto bounds = bounds_of(cluster, params, *admitted, request, partition);
  if (bounds.empty()) return {};
  const acct::Wanted wanted{counts_of(allocation, cluster.tres_table()), 1, kUnlimited32};
  const auto over = acct::first_exceeded(bounds, {cluster, cluster.ledger}, wanted, acct::kWhereItStarts);
  if (over) return fail(Errc::kAccountingPolicy, {}, over->detail(cluster.tres_table()));
  return {};
}

}  // namespace muster::sched
