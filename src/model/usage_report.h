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

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

// Whose usage it is. Fields that a question does not ask apart are "".
struct UsageKey {
  std::string account, user, qos, wckey, partition;
  bool wasted = false;  // of runs that came to nothing: see came_to_nothing()
  auto operator<=>(const UsageKey&) const = default;
  MUSTER_FIELDS(v(1, "account", s.account); v(2, "user", s.user); v(3, "qos", s.qos); v(4, "wckey", s.wckey);
                v(5, "partition", s.partition); v(6, "wasted", s.wasted);)
};
struct UsageEntry {
  UsageKey key;
  TresAmounts used;
  bool operator==(const UsageEntry&) const = default;
  MUSTER_FIELDS(v(1, "key", s.key); v(2, "used", s.used);)
};

// A cluster's time, as `sreport cluster Utilization` divides it. What is left of `reported` is idle.
struct ClusterTime {
  TresAmounts reported;  // what the cluster had
  TresAmounts allocated, down, planned_down;
  TresAmounts planned;         // nobody had it, and jobs waited that could not start
  TresAmounts over_committed;  // jobs waited for more than there was
  TresAmounts count;           // what the cluster had at the end: no usage, but TRES
  bool operator==(const ClusterTime&) const = default;
  MUSTER_FIELDS(v(1, "reported", s.reported); v(2, "allocated", s.allocated); v(3, "down", s.down); v(4, "planned_down", s.planned_down);
                v(5, "planned", s.planned); v(6, "over_committed", s.over_committed); v(7, "count", s.count);)
};

// Usage of one span of time, as the database keeps it of an hour, a day or a month. Entries are in the order of their keys, each once.
struct Usage {
  std::vector<UsageEntry> entries;
  ClusterTime cluster;
  bool operator==(const Usage&) const = default;
  MUSTER_FIELDS(v(1, "entries", s.entries); v(2, "cluster", s.cluster);)
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
  MUSTER_FIELDS(v(1, "clusters", s.clusters); v(2, "accounts", s.accounts); v(3, "users", s.users); v(4, "qos", s.qos);
                v(5, "wckeys", s.wckeys); v(6, "partitions", s.partitions); v(7, "from", s.from); v(8, "until", s.until);
                v(9, "parts", s.parts);)
};
// Parts of the answer, cluster by cluster. A cluster's time comes with its first part.
struct UsageAnswer {
  std::string cluster;
  Usage usage;
  Time from{}, until{};  // the hours that were meant
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "usage", s.usage); v(3, "from", s.from); v(4, "until", s.until);)
};

// How long jobs of which size ran within [filter.from, filter.until), and how many there were.
struct QueryJobSizes {
  JobRecordFilter filter;
  MUSTER_FIELDS(v(1, "filter", s.filter);)
};
struct JobSize {
  std::string cluster, account, wckey;
  TresAmounts each;  // what each of these jobs had
  uint64_t jobs = 0, seconds = 0;
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "account", s.account); v(3, "wckey", s.wckey); v(4, "each", s.each); v(5, "jobs", s.jobs);
                v(6, "seconds", s.seconds);)
};
struct JobSizes {
  std::vector<JobSize> sizes;
  MUSTER_FIELDS(v(1, "sizes", s.sizes);)
};

// The reservations that were at some time within [from, until), each whole.
struct QueryReservationUsage {
  std::vector<std::string> clusters, names, nodes;
  Time from{}, until{};
  MUSTER_FIELDS(v(1, "clusters", s.clusters); v(2, "names", s.names); v(3, "nodes", s.nodes); v(4, "from", s.from); v(5, "until", s.until);)
};
struct ReservationUsage {
  ReservationRecord reservation;
  TresAmounts allocated;  // by its jobs: TRES × seconds
  MUSTER_FIELDS(v(1, "reservation", s.reservation); v(2, "allocated", s.allocated);)
};
struct ReservationUsages {
  std::vector<ReservationUsage> reservations;
  MUSTER_FIELDS(v(1, "reservations", s.reservations);)
};

// sacctmgr show event.
struct QueryEvents {
  std::vector<std::string> clusters, nodes, reasons;
  std::vector<Uid> users;
  Time from{}, until{};
  bool of_nodes = true, of_clusters = true;
  bool open = false;  // only those that last
  uint32_t min_cpus = 0, max_cpus = 0;
  MUSTER_FIELDS(v(1, "clusters", s.clusters); v(2, "nodes", s.nodes); v(3, "reasons", s.reasons); v(4, "users", s.users);
                v(5, "from", s.from); v(6, "until", s.until); v(7, "of_nodes", s.of_nodes); v(8, "of_clusters", s.of_clusters);
                v(9, "open", s.open); v(10, "min_cpus", s.min_cpus); v(11, "max_cpus", s.max_cpus);)
};
struct EventRecords {
  std::vector<EventRecord> events;
  MUSTER_FIELDS(v(1, "events", s.events);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
