#include "model/ledger.h"

#include <algorithm>
#include <functional>

#include "model/account_directory.h"

namespace muster {
namespace {

constexpr size_t kDeepest = 64;  // no real tree is so deep; this ends a cycle, which slurmdbd refuses anyway

uint32_t parent_of(const AccountDirectory* directory, uint32_t association) {
  const AssociationRecord* a = directory ? directory->associations.find(association) : nullptr;
  return a ? a->parent_id : 0;
}

// Calls f(holder) for every holder that the charge counts for.
template <class F>
void each_holder(const Charge& c, const AccountDirectory* directory, F&& f) {
  if (c.association)
    for (uint32_t id : line_of(directory, c.association)) f(Holder::association(id));
  if (const std::string& qos = c.request->qos; !qos.empty()) {
    f(Holder::qos(qos));
    f(Holder::user_of_qos(qos, c.request->uid));
    if (!c.request->account.empty()) f(Holder::account_of_qos(qos, c.request->account));
  }
  if (c.running) f(Holder::user_of_partition(c.partition, c.request->uid));
}

Use use_of(const Charge& c, const TresTable& table) {
  return {c.submitted, c.running, c.allocation ? counts_of(*c.allocation, table) : TresCounts()};
}

void add(Use& to, const Use& by) {
  to.submitted += by.submitted;
  to.running += by.running;
  to.held.add(by.held);
}

void take(Use& from, const Use& by) {
  from.submitted -= std::min(from.submitted, by.submitted);
  from.running -= std::min(from.running, by.running);
  from.held.take(by.held);
}

}  // namespace

Holder Holder::account_of_qos(std::string_view qos, std::string_view account) {
  return {0, "a" + std::string(account) + "\n" + std::string(qos)};
}

Charge Charge::of(const Job& job) {
  Charge out;
  if (job.finished()) return out;
  out.association = job.association;
  out.partition = job.partition;
  out.submitted = job.array_tasks ? static_cast<uint32_t>(job.array_tasks->pending.count()) : 1;
  out.request = job.request;
  if (job.pending()) return out;
  out.running = 1;
  out.allocation = job.allocation;
  return out;
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
  const Use by = muster::use_of(charge, table);
  each_holder(charge, directory, [&](const Holder& h) { change(h, by, true); });
}

void Ledger::take(const Charge& charge, const AccountDirectory* directory, const TresTable& table) {
  if (charge.none()) return;
  const Use by = muster::use_of(charge, table);
  each_holder(charge, directory, [&](const Holder& h) { change(h, by, false); });
}

// Takes what each association has from all those it hung below, the lowest first, so that what remains in one above is then without it.
// In the new tree the highest are added first, so that they do not bring along what those below them add later.
void Ledger::hang(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed) {
  std::erase_if(changed, [&](uint32_t id) { return !associations_.contains(id) || parent_of(before, id) == parent_of(after, id); });
  std::ranges::sort(changed);
  changed.erase(std::ranges::unique(changed).begin(), changed.end());
  auto move = [&](const AccountDirectory* tree, bool more) {
    for (uint32_t id : changed) {
      const Use own = use_of(Holder::association(id));
      const std::vector<uint32_t> line = line_of(tree, id);
      for (size_t i = 1; i < line.size(); ++i) change(Holder::association(line[i]), own, more);
    }
  };
  std::ranges::stable_sort(changed, std::greater<>(), [&](uint32_t id) { return line_of(before, id).size(); });
  move(before, false);
  std::ranges::stable_sort(changed, std::less<>(), [&](uint32_t id) { return line_of(after, id).size(); });
  move(after, true);
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
