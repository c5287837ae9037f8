#include "sched/rules/job_rules.h"

#include <algorithm>
#include <array>
#include <bit>

namespace muster::sched {
namespace {

// In the order in which they are asked: what an operator closed, what is asked for, what is used up.
constexpr std::array kRules = {&kPartitionState, &kPartitionHasNodes, &kPartitionNodes,    &kPartitionTime,   &kPartitionLists,
                               &kAccounting,     &kRequestItself,     &kReservationAccess, &kReservationTime, &kDeferred,
                               &kLimits,         &kLicenses,          &kChannels,          &kPoweredNodes};
static_assert(kRules.size() <= 8 * sizeof(RuleSet));

template <class F>
RuleSet rules_that(F&& f) {
  RuleSet out = 0;
  for (size_t i = 0; i < kRules.size(); ++i)
    if (f(*kRules[i])) out |= RuleSet{1} << i;
  return out;
}

// Calls f(rule) for the members, in order, until it returns true.
template <class F>
void each_until(RuleSet rules, F&& f) {
  for (; rules; rules &= rules - 1)
    if (f(*kRules[static_cast<size_t>(std::countr_zero(rules))])) return;
}

RuleSet alike() {
  return rules_that([](const JobRule& r) { return r.same_for_class; });
}

}  // namespace

std::span<const JobRule* const> job_rules() { return kRules; }

RuleSet rules_concerning(const RequestClass& c, const Partition& p, const Params& params) {
  return rules_that([&](const JobRule& r) { return !r.concerns || r.concerns(c, p, params); });
}

RuleSet rules_of(Of of) {
  return rules_that([&](const JobRule& r) { return r.of == of; });
}

RuleSet rules_foreseen() {
  return rules_that([](const JobRule& r) { return r.by == HelpedBy::kForeseen; });
}

Hold first_to_hold(RuleSet rules, const JobQuestion& question, const Held& held, Grant& grant) {
  Hold out;
  each_until(rules, [&](const JobRule& rule) {
    out = rule.holds(question, held, grant);
    if (out) out.rule = &rule;
    return static_cast<bool>(out);
  });
  return out;
}

Hold first_to_hold_class(RuleSet rules, const JobQuestion& question) {
  static const Held kNothing;
  Grant nothing;
  return first_to_hold(rules & alike(), question, kNothing, nothing);
}

RuleSet rules_left(RuleSet rules, const Hold& barred) {
  return rules & (~alike() | rules_that([&](const JobRule& r) { return &r == barred.rule; }));
}

Result<> let_start(const StartQuestion& question) {
  for (const JobRule* rule : kRules)
    if (rule->at_start) MUSTER_TRY_VOID(rule->at_start(question));
  return {};
}

Result<> could_ever_pass(const Params& params, const Shape& shape) {
  for (const JobRule* rule : kRules)
    if (rule->ever) MUSTER_TRY_VOID(rule->ever(params, shape));
  return {};
}

HeldCounter::HeldCounter(const Cluster& cluster, const Params& params)
    : counting_(rules_that([&](const JobRule& r) { return r.counts && r.counts(cluster, params); })) {
  each_until(counting_, [&](const JobRule& rule) {
    if (rule.begin) rule.begin(held_, cluster, params);
    return false;
  });
}

void HeldCounter::add(const Holding& job) {
  each_until(counting_, [&](const JobRule& rule) {
    if (rule.take) rule.take(held_, job);
    return false;
  });
}

}  // namespace muster::sched
