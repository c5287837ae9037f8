#include "model/ledger.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "model/account_directory.h"
#include "model/stopped_age.h"

namespace muster {
namespace {

constexpr size_t kDeepest = 64;  // no real tree is so deep; this ends a cycle, which slurmdbd refuses anyway

// Calls f(holder) for every holder that the charge counts for.
template <class F>
void each_holder(const Charge& c, const AccountDirectory* directory, F&& f) {
  if (c.association)
    for (uint32_t id : line_of(directory, c.association)) f(Holder::association(id));
  c.each_qos([&](std::string_view qos) {
    f(Holder::qos(qos));
    f(Holder::user_of_qos(qos, c.request->uid));
    if (!c.request->account.empty()) f(Holder::account_of_qos(qos, c.request->account));
  });
  if (c.running) f(Holder::user_of_partition(c.partition, c.request->uid));
}

// UsageFactor of the QOS in millionths. Greater ones than 10,000 count as that: no site means them, and sums stay exact.
uint64_t usage_factor(const Charge& c, const AccountDirectory* directory) {
  constexpr double kMillion = 1e6, kMost = 1e4;
  const QosRecord* qos = directory ? directory->qos.find(c.request->qos) : nullptr;
  const double factor = qos ? qos->usage_factor.value_or(1) : 1;
  return static_cast<uint64_t>(std::llround(std::clamp(factor, 0.0, kMost) * kMillion));
}

Use use_of(const Charge& charge, const AccountDirectory* directory, const TresTable& table) {
  Use out;
  out.submitted = charge.submitted;
  out.running = charge.running;
  out.accruing = charge.accruing;
  if (charge.allocation) {
    out.held = counts_of(*charge.allocation, table);
    out.nodes.add(nodes_of(*charge.allocation));
  }
  if (!charge.accrues) return out;
  const uint64_t factor = usage_factor(charge, directory);
  out.rate = {out.held.times(factor), factor * charge.running};
  out.due.add(out.rate.tres, charge.due);
  return out;
}

constexpr int64_t k2020 = 1'577'836'800;

// A job without a limit counts as one of a year, as where the scheduler looks ahead.
Time end_of(const Job& job) {
  const bool limited = job.ends != kTimeUnset && job.ends != kTimeInfinite && job.time_limit_min != kUnlimited32;
  return limited ? job.ends : job.started + minutes(365 * 24 * 60);
}

void add(Use& to, const Use& by) {
  to.submitted += by.submitted;
  to.running += by.running;
  to.accruing += by.accruing;
  to.held.add(by.held);
  to.nodes.add(by.nodes);
  to.held.put(TresTable::kNode, to.nodes.nodes().count());
  to.rate.tres.add(by.rate.tres);
  to.rate.wall += by.rate.wall;
  to.due.add(by.due);
}

void take(Use& from, const Use& by) {
  from.submitted -= std::min(from.submitted, by.submitted);
  from.running -= std::min(from.running, by.running);
  from.accruing -= std::min(from.accruing, by.accruing);
  from.held.take(by.held);
  from.nodes.take(by.nodes);
  from.held.put(TresTable::kNode, from.nodes.nodes().count());
  from.rate.tres.take(by.rate.tres);
  from.rate.wall -= std::min(from.rate.wall, by.rate.wall);
  from.due.take(by.due);
}

}  // namespace

Holder Holder::account_of_qos(std::string_view qos, std::string_view account) {
  return {0, "a" + std::string(account) + "\n" + std::string(qos)};
}

std::string_view Holder::party() const {
  if (name_.starts_with('u')) return std::string_view(name_).substr(1, name_.find(' ') - 1);
  if (name_.starts_with('a')) return std::string_view(name_).substr(1, name_.find('\n') - 1);
  return {};
}

std::string_view Holder::within() const {
  if (name_.starts_with('u')) return std::string_view(name_).substr(name_.find(' ') + 1);
  if (name_.starts_with('a')) return std::string_view(name_).substr(name_.find('\n') + 1);
  return {};
}

uint64_t Charge::second_of(Time end) { return static_cast<uint64_t>(std::max<int64_t>(0, (end - from_unix(k2020)) / seconds(1))); }

uint64_t Use::run_minutes(size_t tres, Time now) const {
  constexpr TresProducts::Sum kMillionthsOfAMinute = 60'000'000;
  const TresProducts::Sum begun = TresProducts::Sum{rate.tres[tres]} * Charge::second_of(now);
  const TresProducts::Sum left = due[tres] > begun ? (due[tres] - begun) / kMillionthsOfAMinute : 0;
  return static_cast<uint64_t>(std::min<TresProducts::Sum>(left, UINT64_MAX));
}

Charge Charge::of(const Job& job, const PersistentMap<Partition>& partitions) {
  Charge out;
  if (job.finished()) return out;
  out.association = job.association;
  out.partition = job.partition;
  out.submitted = job.array_tasks ? static_cast<uint32_t>(job.array_tasks->pending.count()) : 1;
  out.request = job.request;
  if (const Partition* p = partitions.find(job.partition); p && !p->qos.empty()) out.partition_qos = to_lower(p->qos);
  if (job.pending()) {
    out.accruing = job.accrues != kTimeUnset && !stopped_age(job.accrues);
    return out;
  }
  out.running = 1;
  out.allocation = job.allocation;
  out.accrues = job.state != JobState::kSuspended;
  if (out.accrues) out.due = second_of(end_of(job));
  return out;
}

uint32_t parent_of(const AccountDirectory* directory, uint32_t association) {
  const AssociationRecord* a = directory ? directory->associations.find(association) : nullptr;
  return a ? a->parent_id : 0;
}

std::vector<uint32_t> line_of(const AccountDirectory* directory, uint32_t association) {
  std::vector<uint32_t> out;
  for (uint32_t id = association; id && out.size() < kDeepest; id = parent_of(directory, id)) out.push_back(id);
  return out;
}

bool counts_for(const Charge& charge, const Holder& holder, const AccountDirectory* directory) {
  bool found = false;
  if (!charge.none()) each_holder(charge, directory, [&](const Holder& h) { found |= h == holder; });
  return found;
}

const Use& Ledger::use_of(const Holder& holder) const {
  static const Use kNothing;
  const Use* use = holder.association_ ? associations_.find(holder.association_) : others_.find(holder.name_);
  return use ? *use : kNothing;
}

void Ledger::change(const Holder& holder, const Use& by, bool more) {
  Use* use = nullptr;
  if (holder.association_) {
    if (!associations_.contains(holder.association_)) associations_.set(holder.association_, {});
    use = associations_.edit(holder.association_);
  } else {
    use = &others_.edit(holder.name_);
  }
  if (more) muster::add(*use, by);
  else muster::take(*use, by);
  if (!use->none()) return;
  if (holder.association_) associations_.erase(holder.association_);
  else others_.erase(holder.name_);
}

void Ledger::add(const Charge& charge, const AccountDirectory* directory, const TresTable& table) {
  if (charge.none()) return;
  const Use by = muster::use_of(charge, directory, table);
  each_holder(charge, directory, [&](const Holder& h) { change(h, by, true); });
}

void Ledger::take(const Charge& charge, const AccountDirectory* directory, const TresTable& table) {
  if (charge.none()) return;
  const Use by = muster::use_of(charge, directory, table);
  each_holder(charge, directory, [&](const Holder& h) { change(h, by, false); });
}

void move_in_tree(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed,
                  const std::function<void(uint32_t, std::span<const uint32_t>)>& take,
                  const std::function<void(uint32_t, std::span<const uint32_t>)>& add) {
  std::erase_if(changed, [&](uint32_t id) { return parent_of(before, id) == parent_of(after, id); });
  std::ranges::sort(changed);
  changed.erase(std::ranges::unique(changed).begin(), changed.end());
  auto each = [&](const AccountDirectory* tree, const auto& f) {
    for (uint32_t id : changed)
      if (const std::vector<uint32_t> line = line_of(tree, id); line.size() > 1) f(id, std::span(line).subspan(1));
  };
  std::ranges::stable_sort(changed, std::greater<>(), [&](uint32_t id) { return line_of(before, id).size(); });
  each(before, take);
  std::ranges::stable_sort(changed, std::less<>(), [&](uint32_t id) { return line_of(after, id).size(); });
  each(after, add);
}

void Ledger::hang(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed) {
  std::erase_if(changed, [&](uint32_t id) { return !associations_.contains(id); });
  auto move = [&](bool more) {
    return [this, more](uint32_t id, std::span<const uint32_t> above) {
      const Use own = use_of(Holder::association(id));
      for (uint32_t up : above) change(Holder::association(up), own, more);
    };
  };
  move_in_tree(before, after, std::move(changed), move(false), move(true));
}

bool Ledger::operator==(const Ledger& o) const {
  bool same = others_.size() == o.others_.size();
  PersistentMap<Use>::diff(associations_, o.associations_,
                           [&](uint32_t, const Use* a, const Use* b) { same = same && a && b && *a == *b; });
  others_.for_each([&](const std::string& name, const Use& use) {
    const Use* other = o.others_.find(name);
    same = same && other && *other == use;
  });
  return same;
}

}  // namespace muster
