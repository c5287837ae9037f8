#include "model/cluster.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "model/account_directory.h"
#include "model/channels.h"

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

const Reservation* Cluster::reservation(std::string_view name) const {
  const Reservation* found = nullptr;
  reservations.for_each([&](uint32_t, const Reservation& r) {
    if (!found && iequals(r.name, name)) found = &r;
  });
  return found;
}

uint64_t Cluster::license_used(const std::string& name) const {
  if (!licenses_used) return 0;
  auto it = licenses_used->find(name);
  return it == licenses_used->end() ? 0 : it->second;
}

const BillingMethod& Cluster::billing() const {
  static const BillingMethod kSum;
  return moment.billing_method ? *moment.billing_method : kSum;
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

void Cluster::count_channels(const Job& job, bool held) {
  for (uint32_t channel : channels_held(job)) {
    const uint32_t* known = channels.find(channel);
    const uint32_t holders = known ? *known : 0;
    if (held) channels.set(channel, holders + 1);
    else if (holders > 1) channels.set(channel, holders - 1);
    else channels.erase(channel);
  }
}

void Cluster::recount_channels() {
  channels = {};
  jobs.for_each([&](uint32_t, const Job& j) { count_channels(j, true); });
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

const QosRecord* qos_in(const AccountDirectory* directory, std::string_view name) {
  return directory ? directory->qos.find(name) : nullptr;
}

double usage_factor(const AccountDirectory* directory, std::string_view qos) {
  const QosRecord* q = qos_in(directory, qos);
  return q ? q->usage_factor.value_or(1) : 1;
}

bool never_decays(const AccountDirectory* directory, std::string_view qos) {
  const QosRecord* q = qos_in(directory, qos);
  return q && has_flag(*q, "NoDecay");
}

std::set<std::string> qos_names(const AccountDirectory* directory) {
  std::set<std::string> out;
  if (directory) directory->qos.for_each([&](const std::string& name, const QosRecord&) { out.insert(name); });
  return out;
}

// Of the jobs that use one of these QOS, or of all that use something.
std::vector<Charge> accruing(const Cluster& c, const std::set<std::string>* qos = nullptr) {
  std::vector<Charge> out;
  if (qos && qos->empty()) return out;
  c.jobs.for_each([&](uint32_t, const Job& j) {
    if (j.pending() || j.finished() || (qos && !qos->contains(j.request->qos))) return;
    if (Charge charge = Charge::of(j, c.partitions); charge.accrues) out.push_back(std::move(charge));
  });
  return out;
}

}  // namespace

// Another directory takes the place of this one: jobs of a QOS whose UsageFactor is another one there are charged anew, and what was used
// until now is settled by the old rules.
void Cluster::change_directory(std::shared_ptr<const AccountDirectory> next, std::vector<uint32_t> changed, std::set<std::string> qos,
                               Time now) {
  for (const std::string& name : qos)
    if (never_decays(directory.get(), name) != never_decays(next.get(), name)) settle_qos(name, now);
  std::erase_if(qos, [&](const std::string& name) { return usage_factor(directory.get(), name) == usage_factor(next.get(), name); });
  const std::vector<Charge> charged_anew = accruing(*this, &qos);
  for (const Charge& c : charged_anew) {
    settle_holders(c, now);
    ledger.take(c, directory.get(), tres_table());
  }
  ledger.hang(directory.get(), next.get(), std::move(changed));
  directory = std::move(next);
  for (const Charge& c : charged_anew) ledger.add(c, directory.get(), tres_table());
}

void Cluster::learn_accounts(const AccountChanges& changes, Time now) {
  auto next = directory ? std::make_shared<AccountDirectory>(*directory) : std::make_shared<AccountDirectory>();
  next->learn(changes);
  std::vector<uint32_t> changed = changes.removed_associations;
  for (uint32_t id : changed) settle_line(id, now);
  for (const AssociationRecord& a : changes.associations) changed.push_back(a.id);
  std::set<std::string> qos(changes.removed_qos.begin(), changes.removed_qos.end());
  for (const QosRecord& q : changes.qos) qos.insert(q.name);
  const bool first = !directory;
  move_usage(next.get(), changed, now);
  change_directory(std::move(next), std::move(changed), std::move(qos), now);
  if (first) settle_running(now);
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
  change_directory(nullptr, std::move(all), qos_names(directory.get()), Time{});
  usage = UsageBook();
  moment.fair_factors = nullptr;
}

// What has a rate without an amount begins with one: the usage of jobs that ran when it was not kept yet counts from here on.
void Cluster::settle_running(Time now) {
  for (const Charge& c : accruing(*this)) settle_holders(c, now);
}

void Cluster::recharge(const Charge& was, const Charge& is, Time now) {
  if (was == is) return;
  if (is.allocation) know_tres(tres_of(*is.allocation));
  for (const Charge* c : {&was, &is})
    if (c->accrues) settle_holders(*c, now);
  ledger.take(was, directory.get(), tres_table());
  ledger.add(is, directory.get(), tres_table());
}

void Cluster::settle_holders(const Charge& charge, Time now) {
  settle_line(charge.association, now);
  charge.each_qos([&](std::string_view qos) { settle_qos(qos, now); });
}

void Cluster::change_partition(uint32_t index, const Partition* next, Time now) {
  const Partition* known = partitions.find(index);
  const std::string before = known ? known->qos : "", after = next ? next->qos : "";
  std::vector<const Job*> moved;
  if (!iequals(before, after))
    jobs.for_each([&](uint32_t, const Job& j) {
      if (j.partition == index && !j.finished()) moved.push_back(&j);
    });
  std::vector<Charge> was;
  for (const Job* j : moved) was.push_back(Charge::of(*j, partitions));
  if (next) partitions.set(index, *next);
  else partitions.erase(index);
  for (size_t i = 0; i < moved.size(); ++i) recharge(was[i], Charge::of(*moved[i], partitions), now);
}

void Cluster::settle_line(uint32_t association, Time now) {
  for (uint32_t id : line_of(directory.get(), association)) settle_association(id, now);
}

void Cluster::settle_association(uint32_t id, Time now) {
  if (now != Time{}) usage.settle_association(id, ledger.use_of(Holder::association(id)).rate, now, usage_rule.half_life);
}

Duration Cluster::half_life_of_qos(std::string_view qos) const {
  return never_decays(directory.get(), qos) ? Duration::zero() : usage_rule.half_life;
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

Duration Cluster::half_life_of(const Holder& holder) const {
  return holder.qos().empty() ? usage_rule.half_life : half_life_of_qos(holder.qos());
}

void Cluster::set_half_life(Duration half_life, Time now) {
  settle_everything(now);
  settle_running(now);
  usage_rule.half_life = half_life;
}

// A QOS with NoDecay is a quota that only an administrator fills up again. Guide qos.
void Cluster::reset_usage(Time now) {
  std::vector<std::pair<std::string, Spent>> quotas;
  usage.each_qos([&](const std::string& name, const Spent&) {
    if (never_decays(directory.get(), name)) quotas.emplace_back(name, used_by_qos(name, now));
  });
  usage.reset_all(now);
  for (auto& [name, spent] : quotas) usage.put_qos(name, std::move(spent));
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
  jobs.for_each([&](uint32_t, const Job& j) { out.add(Charge::of(j, partitions), directory.get(), tres_table()); });
  return out;
}

void Cluster::recount_ledger() {
  nodes.for_each([&](uint32_t, const Node& n) { know_tres(tres_of(*n.spec)); });
  jobs.for_each([&](uint32_t, const Job& j) {
    if (const Charge c = Charge::of(j, partitions); c.allocation) know_tres(tres_of(*c.allocation));
  });
  ledger = counted_ledger();
}

}  // namespace muster
