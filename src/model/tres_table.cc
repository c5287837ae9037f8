#include "model/tres_table.h"

#include <algorithm>

#include "base/text.h"
#include "model/hres.h"

namespace muster {
namespace {

std::string tres_of_gres(const std::string& name, const std::string& type = {}) {
  return to_lower(type.empty() ? "gres/" + name : "gres/" + name + ":" + type);
}

uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

void name_gres(std::vector<std::string>& out, const std::string& name, const std::string& type) {
  out.push_back(tres_of_gres(name));
  if (!type.empty()) out.push_back(tres_of_gres(name, type));
}

// Sums up over all nodes, with one entry for each name and type: a job has few kinds.
std::vector<GresShare> devices_of(const Allocation& allocation) {
  std::vector<GresShare> out;
  for (const NodeShare& node : allocation.nodes)
    for (const GresShare& g : node.gres) {
      auto at = std::ranges::find_if(out, [&](const GresShare& o) { return o.name == g.name && o.type == g.type; });
      if (at == out.end()) out.push_back({g.name, g.type, g.count, {}, {}});
      else at->count = sum(at->count, g.count);
    }
  return out;
}

}  // namespace

void TresCounts::add(size_t tres, uint64_t count) {
  if (count == 0) return;
  if (tres >= counts_.size()) counts_.resize(tres + 1);
  counts_[tres] = sum(counts_[tres], count);
}

void TresCounts::put(size_t tres, uint64_t count) {
  if (counts_.size() <= tres) counts_.resize(tres + 1);
  counts_[tres] = count;
}

void TresCounts::add(const TresCounts& more) {
  for (size_t i = 0; i < more.counts_.size(); ++i) add(i, more.counts_[i]);
}

void TresCounts::take(const TresCounts& less) {
  for (size_t i = 0; i < std::min(counts_.size(), less.counts_.size()); ++i) counts_[i] -= std::min(counts_[i], less.counts_[i]);
}

void TresCounts::raise(const TresCounts& to) {
  counts_.resize(std::max(counts_.size(), to.counts_.size()));
  for (size_t i = 0; i < to.counts_.size(); ++i) counts_[i] = std::max(counts_[i], to.counts_[i]);
}

TresCounts TresCounts::times(uint64_t factor) const {
  TresCounts out;
  out.counts_.reserve(counts_.size());
  for (uint64_t n : counts_) out.counts_.push_back(__builtin_mul_overflow(n, factor, &n) ? UINT64_MAX : n);
  return out;
}

bool TresCounts::none() const {
  return std::ranges::all_of(counts_, [](uint64_t n) { return n == 0; });
}

bool TresCounts::operator==(const TresCounts& o) const {
  for (size_t i = 0; i < std::max(counts_.size(), o.counts_.size()); ++i)
    if ((*this)[i] != o[i]) return false;
  return true;
}

void TresProducts::add(const TresCounts& counts, uint64_t times) {
  sums_.resize(std::max(sums_.size(), counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) sums_[i] += Sum{counts[i]} * times;
}

void TresProducts::add(const TresProducts& more) {
  sums_.resize(std::max(sums_.size(), more.sums_.size()));
  for (size_t i = 0; i < more.sums_.size(); ++i) sums_[i] += more.sums_[i];
}

void TresProducts::take(const TresProducts& less) {
  for (size_t i = 0; i < std::min(sums_.size(), less.sums_.size()); ++i) sums_[i] -= std::min(sums_[i], less.sums_[i]);
}

bool TresProducts::none() const {
  return std::ranges::all_of(sums_, [](Sum n) { return n == 0; });
}

bool TresProducts::operator==(const TresProducts& o) const {
  for (size_t i = 0; i < std::max(sums_.size(), o.sums_.size()); ++i)
    if ((*this)[i] != o[i]) return false;
  return true;
}

TresTable::TresTable() { learn({"cpu", "mem", "node", "billing"}); }

uint32_t TresTable::find(std::string_view name) const {
  auto at = index_.find(name);
  return at == index_.end() ? kUnknown : at->second;
}

bool TresTable::knows(const std::vector<std::string>& names) const {
  return std::ranges::all_of(names, [&](const std::string& name) { return index_.contains(name); });
}

void TresTable::learn(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (index_.try_emplace(name, size()).second) {
      names_.push_back(name);
      kinds_.push_back(TresName::of(name));
    }
}

std::vector<std::string> tres_of(const NodeSpec& node) {
  std::vector<std::string> out;
  for (const GresDevices& g : node.gres) name_gres(out, g.name, g.type);
  return out;
}

std::vector<std::string> tres_of(const Allocation& allocation) {
  std::vector<std::string> out;
  for (const GresShare& g : devices_of(allocation)) name_gres(out, g.name, g.type);
  for (const LicenseShare& l : allocation.licenses)
    if (!names_layer(l.name)) out.push_back(tres_of_license(l.name));
  return out;
}

std::string tres_of_license(const std::string& name) { return to_lower("license/" + name); }

void add_gres(TresCounts& counts, const TresTable& table, const std::string& name, const std::string& type, uint64_t count) {
  if (const uint32_t any = table.find(tres_of_gres(name)); any != TresTable::kUnknown) counts.add(any, count);
  if (type.empty()) return;
  if (const uint32_t typed = table.find(tres_of_gres(name, type)); typed != TresTable::kUnknown) counts.add(typed, count);
}

void add_license(TresCounts& counts, const TresTable& table, const std::string& name, uint64_t count) {
  if (const uint32_t at = table.find(tres_of_license(name)); at != TresTable::kUnknown) counts.add(at, count);
}

TresCounts counts_of(const Allocation& allocation, const TresTable& table) {
  TresCounts out;
  for (const NodeShare& node : allocation.nodes) {
    out.add(TresTable::kCpu, node.counted_cpus());
    out.add(TresTable::kMem, node.mem_mb);
  }
  out.add(TresTable::kNode, allocation.nodes.size());
  out.add(TresTable::kBilling, allocation.billing.value_or(out[TresTable::kCpu]));
  for (const GresShare& g : devices_of(allocation)) add_gres(out, table, g.name, g.type, g.count);
  for (const LicenseShare& l : allocation.licenses) add_license(out, table, l.name, l.count);
  return out;
}

TresCounts most_on_a_node(const Allocation& allocation, const TresTable& table, const BillingText& weights, const BillingMethod& method) {
  TresCounts most;
  for (const NodeShare& node : allocation.nodes) {
    TresCounts here;
    here.add(TresTable::kCpu, node.counted_cpus());
    here.add(TresTable::kMem, node.mem_mb);
    here.add(TresTable::kNode, 1);
    for (const GresShare& g : node.gres) add_gres(here, table, g.name, g.type, g.count);
    here.add(TresTable::kBilling, billing_of(weights, method, here, table));
    most.raise(here);
  }
  return most;
}

}  // namespace muster
