#include "model/cluster.h"

#include <algorithm>
#include <optional>

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

void Cluster::learn_accounts(const AccountChanges& changes) {
  auto next = directory ? std::make_shared<AccountDirectory>(*directory) : std::make_shared<AccountDirectory>();
  next->learn(changes);
  std::vector<uint32_t> changed = changes.removed_associations;
  for (const AssociationRecord& a : changes.associations) changed.push_back(a.id);
  ledger.hang(directory.get(), next.get(), std::move(changed));
  directory = std::move(next);
}

void Cluster::forget_accounts() {
  std::vector<uint32_t> all;
  if (directory) directory->associations.for_each([&](uint32_t id, const AssociationRecord&) { all.push_back(id); });
  ledger.hang(directory.get(), nullptr, std::move(all));
  directory = nullptr;
}

void Cluster::recharge(const Charge& was, const Charge& is) {
  if (was == is) return;
  if (is.allocation) know_tres(tres_of(*is.allocation));
  ledger.take(was, directory.get(), tres_table());
  ledger.add(is, directory.get(), tres_table());
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
