#include "sched/gate.h"

#include <algorithm>

#include "base/text.h"
#include "model/account_directory.h"

namespace muster::sched {
namespace {

constexpr uint32_t kUnlimitedMinutes = 365 * 24 * 60;  // as what a job without a limit may still use is counted

bool limits_users(const Partition& p) { return p.max_cpus_per_user != kUnlimited32; }

acct::Admission admission(const Cluster& cluster, const Params& params, const RequestBody& r, const Partition& p) {
  return acct::admit(cluster.directory.get(), params.enforcement,
                     {r.user_name, r.account, r.qos, p.name, r.qos_granted, !r.reservation.empty(), &cluster.partitions, r.wckey},
                     acct::Moment::kStart);
}

std::vector<acct::Bound> bounds_of(const Cluster& cluster, const Params& params, const acct::Admitted& admitted, const RequestBody& r,
                                   const Partition& p) {
  return acct::bounds_on(cluster, limits_held(params), {admitted.association, r.account, r.qos, r.uid}, p);
}

// EnforceUsageThreshold of the job's QOS: an association that has had more than its share waits. Guide qos.
Bar below_threshold(const Cluster& cluster, const Params& params, const FairFactorsPtr& factors, const RequestBody& r,
                    uint32_t association) {
  if (!params.enforcement.limits || !cluster.directory || !factors || !association) return {};
  const QosRecord* q = cluster.directory->qos.find(r.qos);
  if (!q || !q->usage_threshold || *q->usage_threshold < 0 || !has_flag(*q, "EnforceUsageThreshold")) return {};
  const double factor = factors->of(association);
  if (factor >= *q->usage_threshold) return {};
  auto shown = [](double n) { return std::to_string(n).substr(0, 6); };
  return {Reason::kQOSUsageThreshold, "UsageThreshold of QOS " + r.qos + ": the fair-share factor is " + shown(factor) + ", at least " +
                                          shown(*q->usage_threshold) + " is asked for"};
}

acct::Wanted wanted_with(const std::vector<acct::Bound>& bounds, const Allocation& chosen, const Partition& partition,
                         const Cluster& cluster) {
  acct::Wanted out{counts_of(chosen, cluster.tres_table()), {}};
  out.nodes = nodes_of(chosen);
  if (acct::any_of_one_node(bounds))
    out.each_node = most_on_a_node(chosen, cluster.tres_table(), partition.tres_billing_weights, cluster.billing());
  return out;
}

}  // namespace

acct::Held limits_held(const Params& params) { return {params.enforcement.limits, params.priority.multifactor}; }

bool Gate::judges_limits(const Params& params, const Partition& partition) { return params.enforcement.limits || limits_users(partition); }

std::unique_ptr<Gate> Gate::make(const Cluster& cluster, const Params& params, Time now, FairFactorsPtr factors) {
  bool any = judges_accounts(params);
  if (!any) cluster.partitions.for_each([&](uint32_t, const Partition& p) { any |= limits_users(p); });
  if (!any) return nullptr;
  return std::unique_ptr<Gate>(new Gate(cluster, params, now, factors ? std::move(factors) : cluster.moment.fair_factors));
}

Gate::Known& Gate::know(const Question& question) {
  const RequestBody& request = question.request;
  auto [at, fresh] = known_[question.partition.index].try_emplace(&request);
  Known& known = at->second;
  if (!fresh) return known;
  const acct::Admission verdict = admission(cluster_, params_, request, question.partition);
  if (auto* wait = std::get_if<acct::Wait>(&verdict)) {
    known.bar = {wait->reason, wait->detail};
    return known;
  }
  const auto& admitted = std::get<acct::Admitted>(verdict);
  known.association = admitted.association ? admitted.association->id : 0;
  known.bar = below_threshold(cluster_, params_, factors_, request, known.association);
  auto [party, first] =
      parties_.try_emplace({known.association, request.uid.value, question.partition.index, request.account, request.qos});
  if (first) party->second.bounds = bounds_of(cluster_, params_, admitted, request, question.partition);
  if (!party->second.bounds.empty()) known.party = &party->second;
  return known;
}

std::optional<acct::Excess> Gate::excess(Known& known, const Question& q, acct::Wanted wanted, acct::When when) const {
  if (!known.party) return std::nullopt;
  wanted.time_limit_min = q.time_limit_min;
  return acct::first_exceeded(known.party->bounds, {cluster_, ledger_, now_, params_.enforcement.safe}, wanted, when);
}

Bar Gate::bar_of(const acct::Excess& e) const { return {e.reason(cluster_.tres_table()), e.detail(cluster_.tres_table())}; }

Bar Gate::bars(const Question& q) { return know(q).bar; }

Bar Gate::bars(const Question& q, const Least& least) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone || !known.party) return known.bar;
  if (auto at = known.party->barred.find(q.alike); at != known.party->barred.end()) return at->second;
  const auto over = excess(known, q, {least.all, least.each_node}, acct::kBeforeNodes);
  return over ? bar_of(*over) : Bar();
}

Bar Gate::bars(const Question& q, const Allocation& chosen) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone || !known.party) return known.bar;
  const auto over = excess(known, q, wanted_with(known.party->bounds, chosen, q.partition, cluster_), acct::kWithNodes);
  if (!over) return {};
  if (q.alike == kNotAlike) return bar_of(*over);
  return known.party->barred[q.alike] = bar_of(*over);
}

Charge Gate::charge_of(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation,
                       uint32_t time_limit_min) {
  Charge charge;
  charge.association = know({*request, partition}).association;
  charge.partition = partition.index;
  if (!partition.qos.empty()) charge.partition_qos = to_lower(partition.qos);
  charge.running = 1;
  charge.request = request;
  charge.allocation = allocation;
  charge.accrues = true;
  charge.due = Charge::second_of(now_ + minutes(time_limit_min == kUnlimited32 ? kUnlimitedMinutes : time_limit_min));
  return charge;
}

void Gate::started(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min) {
  ledger_.add(charge_of(request, partition, allocation, time_limit_min), cluster_.directory.get(), cluster_.tres_table());
}

void Gate::taken_back(const RequestBodyPtr& request, const Partition& partition, const AllocationPtr& allocation, uint32_t time_limit_min) {
  ledger_.take(charge_of(request, partition, allocation, time_limit_min), cluster_.directory.get(), cluster_.tres_table());
}

std::optional<Gate::Full> Gate::full(const Question& q, const Least& least) {
  Known& known = know(q);
  if (known.bar.reason != Reason::kNone) return std::nullopt;
  const auto over = excess(known, q, {least.all, least.each_node}, acct::kBeforeNodes);
  if (!over) return std::nullopt;
  return Full{over->view(cluster_.tres_table()), over->bound->holder};
}

bool Gate::uses(const Full& full, const Job& running) const {
  return counts_for(Charge::of(running, cluster_.partitions), full.holder, cluster_.directory.get());
}

Result<bool> may_be_submitted(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                              const acct::Wanted& wanted) {
  if (!params.enforcement.limits || !cluster.directory) return false;
  const acct::Admission verdict = admission(cluster, params, request, partition);
  auto* admitted = std::get_if<acct::Admitted>(&verdict);
  if (!admitted) return false;  // of several partitions not this one
  const auto bounds = bounds_of(cluster, params, *admitted, request, partition);
  auto over = acct::first_exceeded(bounds, {cluster, cluster.ledger}, wanted, acct::kAtSubmission);
  const QosRecord* qos = cluster.directory->qos.find(request.qos);
  if (!over && qos && has_flag(*qos, "DenyOnLimit")) over = acct::first_exceeded_alone(bounds, wanted);
  // The reason by name, as the commands print it first; then which limit, and how much is used.
  if (over)
    return fail(Errc::kAccountingPolicy, std::string(reason_name(over->reason(cluster.tres_table()))), over->detail(cluster.tres_table()));
  return params.priority.multifactor && !params.priority.accrue_always && acct::any_asked(bounds, acct::kToAccrue);
}

Result<> admitted_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition) {
  if (!Gate::judges_accounts(params)) return {};
  const acct::Admission verdict = admission(cluster, params, request, partition);
  if (auto* wait = std::get_if<acct::Wait>(&verdict)) return fail(Errc::kAccountingPolicy, {}, wait->detail);
  const auto* association = std::get<acct::Admitted>(verdict).association;
  const Bar bar = below_threshold(cluster, params, cluster.moment.fair_factors, request, association ? association->id : 0);
  return bar.reason == Reason::kNone ? Result<>() : fail(Errc::kAccountingPolicy, {}, bar.detail);
}

Result<> within_limits_now(const Cluster& cluster, const Params& params, const RequestBody& request, const Partition& partition,
                           const AtStart& start) {
  if (!Gate::judges_limits(params, partition)) return {};
  const acct::Admission verdict = admission(cluster, params, request, partition);
  auto* admitted = std::get_if<acct::Admitted>(&verdict);
  if (!admitted) return {};  // admitted_now says so
  const auto bounds = bounds_of(cluster, params, *admitted, request, partition);
  if (bounds.empty()) return {};
  acct::Wanted wanted = wanted_with(bounds, start.allocation, partition, cluster);
  wanted.time_limit_min = start.time_limit_min;
  const auto over =
      acct::first_exceeded(bounds, {cluster, cluster.ledger, start.now, params.enforcement.safe}, wanted, acct::kWhereItStarts);
  if (over) return fail(Errc::kAccountingPolicy, {}, over->detail(cluster.tres_table()));
  return {};
}

}  // namespace muster::sched
