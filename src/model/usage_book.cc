#include "model/usage_book.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/usage.h"

namespace muster {
namespace {

constexpr double kMillion = 1e6;

void add(Spent& to, const Spent& by, double sign) {
  to.wall = bounded(to.wall + sign * by.wall);
  to.tres.resize(std::max(to.tres.size(), by.tres.size()));
  for (size_t i = 0; i < by.tres.size(); ++i) to.tres[i] = bounded(to.tres[i] + sign * by.tres[i]);
}

StoredSpent stored(const Spent& spent, const TresTable& table) {
  StoredSpent out;
  out.at = spent.at;
  out.wall = spent.wall;
  std::map<std::string_view, double> by_name;
  for (uint32_t i = 0; i < std::min<size_t>(spent.tres.size(), table.size()); ++i)
    if (spent.tres[i] > 0) by_name[table.name(i)] = spent.tres[i];
  for (const auto& [name, amount] : by_name) {
    out.tres.emplace_back(name);
    out.amounts.push_back(amount);
  }
  return out;
}

}  // namespace

bool Spent::operator==(const Spent& o) const {
  if (at != o.at || wall != o.wall) return false;
  for (size_t i = 0; i < std::max(tres.size(), o.tres.size()); ++i)
    if (of(i) != o.of(i)) return false;
  return true;
}

void settle(Spent& spent, const UsageRate& rate, Time now, Duration half_life) {
  const Elapsed time = elapsed(spent.at, now, half_life);
  spent.at = now;
  spent.wall = bounded(spent.wall * time.left + static_cast<double>(rate.wall) / kMillion * time.gained);
  spent.tres.resize(std::max(spent.tres.size(), rate.tres.size()));
  for (size_t i = 0; i < spent.tres.size(); ++i)
    spent.tres[i] = bounded(spent.tres[i] * time.left + static_cast<double>(rate.tres[i]) / kMillion * time.gained);
}

Spent as_of(Spent spent, const UsageRate& rate, Time now, Duration half_life) {
  settle(spent, rate, now, half_life);
  return spent;
}

void UsageBook::settle_association(uint32_t id, const UsageRate& rate, Time now, Duration half_life) {
  if (!associations_.contains(id)) return associations_.set(id, Spent{now, 0, {}});
  settle(*associations_.edit(id), rate, now, half_life);
}

void UsageBook::settle_qos(std::string_view name, const UsageRate& rate, Time now, Duration half_life) {
  if (!qos_.contains(name)) return void(qos_.edit(name).at = now);
  settle(qos_.edit(name), rate, now, half_life);
}

void UsageBook::hang(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed) {
  auto move = [this](double sign) { return [this, sign](uint32_t id, std::span<const uint32_t> above) { change(id, above, sign); }; };
  move_in_tree(before, after, std::move(changed), move(-1), move(1));
}

void UsageBook::change(uint32_t id, std::span<const uint32_t> above, double sign) {
  const Spent* known = association(id);
  if (!known) return;
  const Spent own = *known;
  for (uint32_t up : above) {
    if (!associations_.contains(up)) associations_.set(up, Spent{own.at, 0, {}});
    add(*associations_.edit(up), own, sign);
  }
}

void UsageBook::reset_association(uint32_t id, std::span<const uint32_t> above) {
  const Spent* known = association(id);
  if (!known) return;
  const Time at = known->at;
  change(id, above, -1);
  associations_.set(id, Spent{at, 0, {}});
}

void UsageBook::reset_qos(std::string_view name) {
  if (const Spent* known = qos(name)) qos_.edit(name) = Spent{known->at, 0, {}};
}

void UsageBook::reset_all(Time now) {
  std::vector<uint32_t> ids;
  associations_.for_each([&](uint32_t id, const Spent&) { ids.push_back(id); });
  for (uint32_t id : ids) associations_.set(id, Spent{now, 0, {}});
  std::vector<std::string> names;
  qos_.for_each([&](const std::string& name, const Spent&) { names.push_back(name); });
  for (const std::string& name : names) qos_.edit(name) = Spent{now, 0, {}};
}

bool UsageBook::operator==(const UsageBook& o) const {
  bool same = qos_.size() == o.qos_.size();
  PersistentMap<Spent>::diff(associations_, o.associations_,
                             [&](uint32_t, const Spent* a, const Spent* b) { same = same && a && b && *a == *b; });
  qos_.for_each([&](const std::string& name, const Spent& spent) {
    const Spent* other = o.qos(name);
    same = same && other && *other == spent;
  });
  return same;
}

std::vector<StoredSpent> stored(const UsageBook& book, const TresTable& table) {
  std::vector<StoredSpent> out;
  book.each_association([&](uint32_t id, const Spent& spent) {
    out.push_back(stored(spent, table));
    out.back().association = id;
  });
  book.each_qos([&](const std::string& name, const Spent& spent) {
    out.push_back(stored(spent, table));
    out.back().qos = name;
  });
  return out;
}

void put_stored(UsageBook& book, const StoredSpent& entry, const TresTable& table) {
  Spent spent{entry.at, bounded(entry.wall), {}};
  for (size_t i = 0; i < std::min(entry.tres.size(), entry.amounts.size()); ++i) {
    const uint32_t index = table.find(entry.tres[i]);
    if (index == TresTable::kUnknown) continue;
    if (index >= spent.tres.size()) spent.tres.resize(index + 1);
    spent.tres[index] = bounded(entry.amounts[i]);
  }
  if (entry.association) book.put_association(entry.association, std::move(spent));
  else book.put_qos(entry.qos, std::move(spent));
}

}  // namespace muster
