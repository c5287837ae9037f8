// What sreport, `muster report` and `sacctmgr show event` ask slurmdbd: usage out of the roll-ups, sizes of jobs, reservations, events.
// sreport(1), guide accounting. Amounts of usage are TresAmounts that count TRES × seconds (memory: MiB × seconds).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/time.h"
#include "model/accounting.h"
#include "model/tres_amounts.h"

namespace muster {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

// Whose usage it is. Fields that a question does not ask apart are "".
struct UsageKey {
  std::string account, user, qos, wckey, partition;
  bool wasted = false;  // of runs that came to nothing: see came_to_nothing()
  auto operator<=>(const UsageKey&) const = default;
  MUSTER_FIELDS(field(1, "account", self.account); field(2, "user", self.user); field(3, "qos", self.qos); field(4, "wckey", self.wckey);
                field(5, "partition", self.partition); field(6, "wasted", self.wasted);)
};
struct UsageEntry {
  UsageKey key;
  TresAmounts used;
  bool operator==(const UsageEntry&) const = default;
  MUSTER_FIELDS(field(1, "key", self.key); field(2, "used", self.used);)
};

// A cluster's time, as `sreport cluster Utilization` divides it. What is left of `reported` is idle.
struct ClusterTime {
  TresAmounts reported;  // what the cluster had
  TresAmounts allocated, down, planned_down;
  TresAmounts planned;         // nobody had it, and jobs waited that could not start
  TresAmounts over_committed;  // jobs waited for more than there was
  TresAmounts count;           // what the cluster had at the end: no usage, but TRES
  bool operator==(const ClusterTime&) const = default;
  MUSTER_FIELDS(field(1, "reported", self.reported); field(2, "allocated", self.allocated); field(3, "down", self.down);
                field(4, "planned_down", self.planned_down); field(5, "planned", self.planned);
                field(6, "over_committed", self.over_committed); field(7, "count", self.count);)
};

// Usage of one span of time, as the database keeps it of an hour, a day or a month. Entries are in the order of their keys, each once.
struct Usage {
  std::vector<UsageEntry> entries;
  ClusterTime cluster;
  bool operator==(const Usage&) const = default;
  MUSTER_FIELDS(field(1, "entries", self.entries); field(2, "cluster", self.cluster);)
};

// Which parts of a key are asked apart; the others are summed over.
enum UsagePart : uint32_t {
  kUsageAccount = 1u << 0,
  kUsageUser = 1u << 1,
  kUsageQos = 1u << 2,
  kUsageWckey = 1u << 3,
  kUsagePartition = 1u << 4,
  kUsageWasted = 1u << 5,
};

namespace rpc {

// Usage of whole hours within [from, until), of each cluster: `from` is rounded up and `until` down to an hour of slurmdbd's local time,
// and the hour that lasts now counts as far as it has come. Empty lists match all; names are joined by OR, lists by AND. With
// PrivateData=usage a caller gets their own entries and those of accounts that they coordinate. kResultTooLarge: see usage.h.
struct QueryUsage {
  std::vector<std::string> clusters, accounts, users, qos, wckeys, partitions;
  Time from{}, until{};
  uint32_t parts = 0;  // UsagePart
  MUSTER_FIELDS(field(1, "clusters", self.clusters); field(2, "accounts", self.accounts); field(3, "users", self.users);
                field(4, "qos", self.qos); field(5, "wckeys", self.wckeys); field(6, "partitions", self.partitions);
                field(7, "from", self.from); field(8, "until", self.until); field(9, "parts", self.parts);)
};
// Parts of the answer, cluster by cluster. A cluster's time comes with its first part.
struct UsageAnswer {
  std::string cluster;
  Usage usage;
  Time from{}, until{};  // the hours that were meant
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "usage", self.usage); field(3, "from", self.from);
                field(4, "until", self.until);)
};

// How long jobs of which size ran within [filter.from, filter.until), and how many there were.
struct QueryJobSizes {
  JobRecordFilter filter;
  MUSTER_FIELDS(field(1, "filter", self.filter);)
};
struct JobSize {
  std::string cluster, account, wckey;
  TresAmounts each;  // what each of these jobs had
  uint64_t jobs = 0, seconds = 0;
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "account", self.account); field(3, "wckey", self.wckey);
                field(4, "each", self.each); field(5, "jobs", self.jobs); field(6, "seconds", self.seconds);)
};
struct JobSizes {
  std::vector<JobSize> sizes;
  MUSTER_FIELDS(field(1, "sizes", self.sizes);)
};

// The reservations that were at some time within [from, until), each whole.
struct QueryReservationUsage {
  std::vector<std::string> clusters, names, nodes;
  Time from{}, until{};
  MUSTER_FIELDS(field(1, "clusters", self.clusters); field(2, "names", self.names); field(3, "nodes", self.nodes);
                field(4, "from", self.from); field(5, "until", self.until);)
};
struct ReservationUsage {
  ReservationRecord reservation;
  TresAmounts allocated;  // by its jobs: TRES × seconds
  MUSTER_FIELDS(field(1, "reservation", self.reservation); field(2, "allocated", self.allocated);)
};
struct ReservationUsages {
  std::vector<ReservationUsage> reservations;
  MUSTER_FIELDS(field(1, "reservations", self.reservations);)
};

// sacctmgr show event.
struct QueryEvents {
  std::vector<std::string> clusters, nodes, reasons;
  std::vector<Uid> users;
  Time from{}, until{};
  bool of_nodes = true, of_clusters = true;
  bool open = false;  // only those that last
  uint32_t min_cpus = 0, max_cpus = 0;
  MUSTER_FIELDS(field(1, "clusters", self.clusters); field(2, "nodes", self.nodes); field(3, "reasons", self.reasons);
                field(4, "users", self.users); field(5, "from", self.from); field(6, "until", self.until);
                field(7, "of_nodes", self.of_nodes); field(8, "of_clusters", self.of_clusters); field(9, "open", self.open);
                field(10, "min_cpus", self.min_cpus); field(11, "max_cpus", self.max_cpus);)
};
struct EventRecords {
  std::vector<EventRecord> events;
  MUSTER_FIELDS(field(1, "events", self.events);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
