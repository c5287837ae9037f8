#include "sched/future/profile_partitions.h"

#include <algorithm>

namespace muster::sched {
namespace {

constexpr uint64_t kLarge = uint64_t{1} << 48;

}  // namespace

PartitionAmounts::PartitionAmounts(const Cluster& cluster, bool whole_cores) : whole_cores_(whole_cores) {
  cluster.partitions.for_each([&](uint32_t index, const Partition& p) {
    const PartitionLimit limit{p.max_cpus_per_node, p.max_cpus_per_socket};
    if (limit.concerns()) limited_.push_back({index, limit});
    if (p.oversubscribe == OverSubscribe::kYes || p.oversubscribe == OverSubscribe::kForce) sharing_.push_back(index);
  });
  if (sharing_.size() < 2) sharing_.clear();
}

void PartitionAmounts::add_all(const Kind& k, std::vector<uint64_t>& gres) const { add_free(k, {}, gres); }

void PartitionAmounts::add_free(const Kind& k, const std::vector<PartitionUse>& held, std::vector<uint64_t>& gres) const {
  for (const Limited& l : limited_) {
    const PartitionUse* own = use_of_partition(held, l.partition);
    gres.push_back(l.limit.left(k.sockets, k.cpus, own ? own->cpus : Bitmap()));
  }
  gres.insert(gres.end(), 3 * sharing_.size(), kLarge);
}

void PartitionAmounts::add_held(const Kind&, uint32_t partition, uint64_t cpus, std::vector<uint64_t>& gres) const {
  for (const Limited& l : limited_) gres.push_back(l.partition == partition ? cpus : 0);
  gres.insert(gres.end(), 3 * sharing_.size(), 0);
}

void PartitionAmounts::share(const Kind& k, uint32_t partition, const Sharing& s, std::vector<uint64_t>& gres) const {
  for (size_t i = 0; i < sharing_.size(); ++i) {
    if (sharing_[i] != partition || s.sharers == 0) continue;
    if (gres.size() < sharing_at(k, sharing_.size())) gres.resize(sharing_at(k, sharing_.size()), 0);
    gres[sharing_at(k, i)] += s.sharers;
    gres[sharing_at(k, i) + 1] += s.stacked;
    gres[sharing_at(k, i) + 2] += s.leaning;
  }
}

std::optional<std::pair<uint32_t, uint64_t>> PartitionAmounts::need(const RequestClass& c, const Kind& k, uint32_t units) const {
  if (c.shape.whole) return std::nullopt;
  for (size_t i = 0; i < limited_.size(); ++i)
    if (limited_[i].partition == c.partition) return std::pair{static_cast<uint32_t>(limit_at(k, i)), cpus_of(k, units)};
  return std::nullopt;
}

uint32_t PartitionAmounts::units_left(const RequestClass& c, const Kind& k, uint32_t units, std::span<const uint64_t> gres) const {
  if (c.shape.whole) return units;
  for (size_t i = 0; i < limited_.size(); ++i)
    if (limited_[i].partition == c.partition) {
      const uint64_t left = gres[limit_at(k, i)];
      return static_cast<uint32_t>(std::min<uint64_t>(units, whole_cores_ ? left / k.threads : left));
    }
  return units;
}

Sharing PartitionAmounts::sharing(const RequestClass& asked, const Kind& kind, const Sharing& all, std::span<const uint64_t> gres) const {
  if (sharing_.empty()) return all;
  Sharing out{0, all.apart, 0, all.largest, 0};
  for (size_t i = 0; i < sharing_.size(); ++i) {
    const size_t at = sharing_at(kind, i);
    const auto sharers = static_cast<uint32_t>(kLarge - gres[at]);
    if (sharing_[i] == asked.partition) {
      out.sharers = sharers;
      out.stacked = kLarge - gres[at + 1];
      out.leaning = static_cast<uint32_t>(kLarge - gres[at + 2]);
    } else if (!asked.peers.test(sharing_[i])) {
      out.apart += sharers;
    }
  }
  return out;
}

}  // namespace muster::sched
