// What a profile keeps for single partitions, as amounts that follow the devices of each node (Amounts::gres): the CPUs left of
// MaxCPUsPerNode and MaxCPUsPerSocket, and, where several partitions share CPUs (OverSubscribe), how much the jobs of each share. Only
// partitions that need it have amounts; without any the profile is as wide as the devices.
//
// Sharing is kept as what is left of a large number, so that the timeline can take it and find its least like any other amount.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "sched/fit/request_class.h"
#include "sched/future/timeline.h"
#include "sched/supply/availability.h"

namespace muster::sched {

class PartitionAmounts {
 public:
  PartitionAmounts(const Cluster& cluster, bool whole_cores);

  // Each appends the partitions' amounts to those of the devices: for an idle node; for one that the jobs of `held` are on, whose sharing
  // is added later.
  void add_all(const Kind& kind, std::vector<uint64_t>& gres) const;
  void add_free(const Kind& kind, const std::vector<PartitionUse>& held, std::vector<uint64_t>& gres) const;
  // What a job of the partition holds: CPUs that count against the partition's limit.
  void add_held(const Kind& kind, uint32_t partition, uint64_t cpus, std::vector<uint64_t>& gres) const;
  // Adds the job's sharing to `gres`, which becomes as wide as the node's.
  void share(const Kind& kind, uint32_t partition, const Sharing& sharing, std::vector<uint64_t>& gres) const;

  // What a job of the class must find: the number of the amount, and CPUs; nothing: its partition has no limit.
  std::optional<std::pair<uint32_t, uint64_t>> need(const RequestClass& c, const Kind& kind, uint32_t units) const;
  // How many of these units the partition's limit leaves to the class.
  uint32_t units_left(const RequestClass& c, const Kind& kind, uint32_t units, std::span<const uint64_t> gres) const;
  // The sharing as the class sees it: the sharers of its own partition; those of a partition that is no peer count as standing apart.
  Sharing sharing(const RequestClass& asked, const Kind& kind, const Sharing& all, std::span<const uint64_t> gres) const;

 private:
  struct Limited {
    uint32_t partition = 0;
    PartitionLimit limit;
  };
  size_t limit_at(const Kind& k, size_t i) const { return k.gres.size() + i; }
  size_t sharing_at(const Kind& k, size_t i) const { return k.gres.size() + limited_.size() + 3 * i; }
  uint64_t cpus_of(const Kind& k, uint64_t units) const { return whole_cores_ ? units * k.threads : units; }

  bool whole_cores_;
  std::vector<Limited> limited_;
  std::vector<uint32_t> sharing_;  // partitions; none where only one shares
};

}  // namespace muster::sched
