#include "model/cluster.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "model/account_directory.h"

namespace muster {
namespace {

std::optional<uint32_t> find_name(const std::shared_ptr<const std::unordered_map<std::string, uint32_t>>& names, std::string_view name) {
  if (!names) return std::nullopt;
  auto it = names->find(std::string(name));
  if (it == names->end()) return std::nullopt;
  return it->second;
}

}  // namespace

const Node* Cluster::node(std::string_view name) const {
  auto key = find_name(node_names, name);
  return key ? nodes.find(*key) : nullptr;
}

const Partition* Cluster::partition(std::string_view name) const {
  auto key = find_name(partition_names, name);
  return key ? partitions.find(*key) : nullptr;
}

uint64_t Cluster::license_used(const std::string& name) const {
  if (!licenses_used) return 0;
  auto it = licenses_used->find(name);
  return it == licenses_used->end() ? 0 : it->second;
}

void Cluster::count_licenses(const Job& job, bool held) {
  if (!job.allocation || job.allocation->licenses.empty()) return;
  auto next = licenses_used ? std::make_shared<std::map<std::string, uint64_t>>(*licenses_used)
                            : std::make_shared<std::map<std::string, uint64_t>>();
  for (const LicenseShare& l : job.allocation->licenses) {
    uint64_t& used = (*next)[l.name];
    used = held ? used + l.count : used - std::min(used, l.count);
    if (used == 0) next->erase(l.name);
  }
  licenses_used = std::move(next);
}

void Cluster::recount_licenses() {
  licenses_used = nullptr;
  jobs.for_each([&](uint32_t, const Job& j) {
    if (!j.pending() && !j.finished()) count_licenses(j, true);
  });
}

const TresTable& Cluster::tres_table() const {
  static const TresTable kAlwaysThere;
  return tres ? *tres : kAlwaysThere;
}

void Cluster::know_tres(const std::vector<std::string>& names) {
  if (tres_table().knows(names)) return;
  auto more = std::make_shared<TresTable>(tres_table());
  more->learn(names);
  tres = std::move(more);
}

namespace {

std::vector<uint32_t> above(const AccountDirectory* directory, uint32_t association) {
  std::vector<uint32_t> line = line_of(directory, association);
  if (!line.empty()) line.erase(line.begin());
  return line;
}

// Of the jobs that use a QOS whose UsageFactor changes.
std::vector<Charge> charges_of_changed_factors(const Cluster& c, const AccountChanges& changes) {
  std::set<std::string_view> names;
  for (const QosRecord& is : changes.qos)
    if (const QosRecord* was = c.directory->qos.find(is.name); was && was->usage_factor != is.usage_factor) names.insert(is.name);
  std::vector<Charge> out;
  if (names.empty()) return out;
  c.jobs.for_each([&](uint32_t, const Job& j) {
    if (j.pending() || j.finished() || !names.contains(j.request->qos)) return;
    if (Charge charge = Charge::of(j); charge.accrues) out.push_back(std::move(charge));
  });
  return out;
}

}  // namespace

void Cluster::learn_accounts(const AccountChanges& changes, Time now) {
  auto next = directory ? std::make_shared<AccountDirectory>(*directory) : std::make_shared<AccountDirectory>();
  next->learn(changes);
  std::vector<uint32_t> changed = changes.removed_associations;
  for (const AssociationRecord& a : changes.associations) changed.push_back(a.id);
  move_usage(next.get(), changed, now);
  const std::vector<Charge> refactored = directory ? charges_of_changed_factors(*this, changes) : std::vector<Charge>();
  for (const Charge& c : refactored) {
    settle_line(c.association, now);
    settle_qos(c.request->qos, now);
    ledger.take(c, directory.get(), tres_table());
  }
  ledger.hang(directory.get(), next.get(), std::move(changed));
  directory = std::move(next);
  for (const Charge& c : refactored) ledger.add(c, directory.get(), tres_table());
  for (uint32_t id : changes.removed_associations) usage.forget_association(id);
  for (const std::string& name : changes.removed_qos) usage.forget_qos(name);
}

// Usage goes with an association that gets another parent; one that is removed leaves it to those above. This comes before the ledger moves
// what the association holds, since until now those above it have used at the old rates.
void Cluster::move_usage(const AccountDirectory* next, std::vector<uint32_t> changed, Time now) {
  std::erase_if(changed, [&](uint32_t id) {
    const bool known = usage.association(id) || !ledger.use_of(Holder::association(id)).none();
    return !known || !next->associations.contains(id) || parent_of(directory.get(), id) == parent_of(next, id);
  });
  for (uint32_t id : changed)
    for (const AccountDirectory* tree : {static_cast<const AccountDirectory*>(directory.get()), next})
      for (uint32_t each : line_of(tree, id)) settle_association(each, now);
  usage.hang(directory.get(), next, std::move(changed));
}

void Cluster::forget_accounts() {
  std::vector<uint32_t> all;
  if (directory) directory->associations.for_each([&](uint32_t id, const AssociationRecord&) { all.push_back(id); });
  ledger.hang(directory.get(), nullptr, std::move(all));
  directory = nullptr;
  usage = UsageBook();
}

void Cluster::recharge(const Charge& was, const Charge& is, Time now) {
  if (was == is) return;
  if (is.allocation) know_tres(tres_of(*is.allocation));
  for (const Charge* c : {&was, &is}) {
    if (!c->accrues) continue;
    settle_line(c->association, now);
    settle_qos(c->request->qos, now);
  }
  ledger.take(was, directory.get(), tres_table());
  ledger.add(is, directory.get(), tres_table());
}

void Cluster::settle_line(uint32_t association, Time now) {
  for (uint32_t id : line_of(directory.get(), association)) settle_association(id, now);
}

void Cluster::settle_association(uint32_t id, Time now) {
  if (now != Time{}) usage.settle_association(id, ledger.use_of(Holder::association(id)).rate, now, usage_rule.half_life);
}

Duration Cluster::half_life_of_qos(std::string_view qos) const {
  const QosRecord* q = directory ? directory->qos.find(qos) : nullptr;
  const bool decays = !q || std::ranges::none_of(q->flags, [](const std::string& f) { return iequals(f, "NoDecay"); });
  return decays ? usage_rule.half_life : Duration::zero();
}

void Cluster::settle_qos(std::string_view qos, Time now) {
  if (now != Time{} && !qos.empty()) usage.settle_qos(qos, ledger.use_of(Holder::qos(qos)).rate, now, half_life_of_qos(qos));
}

void Cluster::settle_everything(Time now) {
  std::vector<uint32_t> ids;
  usage.each_association([&](uint32_t id, const Spent&) { ids.push_back(id); });
  for (uint32_t id : ids) settle_association(id, now);
  std::vector<std::string> names;
  usage.each_qos([&](const std::string& name, const Spent&) { names.push_back(name); });
  for (const std::string& name : names) settle_qos(name, now);
}

Spent Cluster::used_by_association(uint32_t association, Time now) const {
  const Spent* known = usage.association(association);
  return known ? as_of(*known, ledger.use_of(Holder::association(association)).rate, now, usage_rule.half_life) : Spent{now, 0, {}};
}

Spent Cluster::used_by_qos(std::string_view qos, Time now) const {
  const Spent* known = usage.qos(qos);
  return known ? as_of(*known, ledger.use_of(Holder::qos(qos)).rate, now, half_life_of_qos(qos)) : Spent{now, 0, {}};
}

Spent Cluster::used_by(const Holder& holder, Time now) const {
  if (holder.association()) return used_by_association(holder.association(), now);
  return holder.qos().empty() ? Spent{now, 0, {}} : used_by_qos(holder.qos(), now);
}

void Cluster::set_half_life(Duration half_life, Time now) {
  settle_everything(now);
  usage_rule.half_life = half_life;
}

void Cluster::reset_usage(Time now) {
  usage.reset_all(now);
  usage_rule.last_reset = now;
}

void Cluster::reset_usage_of_association(uint32_t association, Time now) {
  settle_everything(now);
  usage.reset_association(association, above(directory.get(), association));
  if (!directory) return;
  directory->associations.for_each([&](uint32_t id, const AssociationRecord&) {
    const std::vector<uint32_t> line = above(directory.get(), id);
    if (std::ranges::find(line, association) != line.end()) usage.reset_association(id, {});
  });
}

void Cluster::reset_usage_of_qos(std::string_view qos, Time now) {
  settle_qos(qos, now);
  usage.reset_qos(qos);
}

Ledger Cluster::counted_ledger() const {
  Ledger out;
  jobs.for_each([&](uint32_t, const Job& j) { out.add(Charge::of(j), directory.get(), tres_table()); });
  return out;
}

void Cluster::recount_ledger() {
  nodes.for_each([&](uint32_t, const Node& n) { know_tres(tres_of(*n.spec)); });
  jobs.for_each([&](uint32_t, const Job& j) {
    if (const Charge c = Charge::of(j); c.allocation) know_tres(tres_of(*c.allocation));
  });
  ledger = counted_ledger();
}

}  // namespace muster
