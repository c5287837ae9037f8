// Roll-ups: records of jobs, events and reservations cut at the edges of hours, and summed up: the usage of each hour. sreport(1) says what
// a cluster's time is divided into. Pure: what is rolled twice from the same records is the same. docs/adr/0015 says when that happens.
//
// A cluster's time, of each hour and TRES, is given away in this order, so that its parts never exceed the whole:
//   allocated    by jobs, and by reservations that nobody used (not those with MAINT or IGNORE_JOBS)
//   down         nodes that were down or drained
//   planned down nodes in a reservation with MAINT (not IGNORE_JOBS), FUTURE or powered down
//   planned      as much as waiting jobs asked for; what they asked for beyond that is over-committed
// The rest is idle. Usage of entries is not cut down: with OverSubscribe it may be more than the cluster had.
//
// Cost: a job about 0.2 µs for each hour that it touches, and its key once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/record_audience.h"
#include "model/usage_report.h"
#include "model/usage_time.h"

namespace muster::slurmdbd {

class UsageRoll {
 public:
  // The hours between these edges, which ascend; at least two.
  explicit UsageRoll(std::vector<Time> edges);

  // Reservations before the jobs in them. `holders`: whose usage its idle time is, in equal parts; none: nobody's.
  void add(const ReservationRecord& reservation, std::vector<UsageKey> holders);
  // `joules`: what all its steps took; in parts as long as its time in each hour. What a job takes counts when it has ended.
  void add(const JobRecord& job, uint64_t joules = 0);
  void add(const EventRecord& event);  // of a node, or what the cluster was made of
  std::vector<Usage> take();           // one for each hour

 private:
  struct Hour {
    std::unordered_map<uint32_t, TresAmounts> used;  // by the number of a key
    ClusterTime cluster;
    TresAmounts waiting;
  };
  struct Reserved {
    ReservationRecord record;
    std::vector<UsageKey> holders;
    std::map<size_t, TresAmounts> used;  // by its jobs, by hour
  };
  uint32_t number_of(UsageKey key);
  template <class F>
  void each_hour(const Span& span, F&& f);  // f(hour, seconds)
  void add_energy(const Span& used, uint32_t number, uint64_t joules);
  void give_idle_reservations();

  std::vector<Time> edges_;
  std::vector<Hour> hours_;
  std::map<UsageKey, uint32_t> numbers_;
  std::vector<const UsageKey*> keys_;
  std::multimap<std::string, Reserved, std::less<>> reserved_;  // by name
};

// Sums of several spans of one cluster, such as the hours of a day. `count` is that of the last.
class UsageSum {
 public:
  void add(const Usage& usage);
  Usage take();

 private:
  std::map<UsageKey, TresAmounts> entries_;
  ClusterTime cluster_;
};

// Which entries of a cluster an answer has, for those who are to see them, and how they are summed.
class UsageSelection {
 public:
  UsageSelection(const rpc::QueryUsage& question, std::string cluster, RecordAudience audience);
  void add(const Usage& usage);  // whole spans; in the order of time
  Usage take();

 private:
  using Names = std::vector<std::string>;  // sorted
  Names accounts_, users_, qos_, wckeys_, partitions_;
  std::string cluster_;
  RecordAudience audience_;
  uint32_t parts_;
  UsageSum sum_;
};

// The roll-ups that [from, until), at edges of hours, is made of: months and days where a whole one is in it and is over by `rolled`, else
// hours. Consecutive ones of one period are one stretch. Cost: O(months).
struct UsageStretch {
  UsagePeriod period{};
  Time from{}, until{};
  bool operator==(const UsageStretch&) const = default;
};
std::vector<UsageStretch> stretches(Time from, Time until, Time rolled);

}  // namespace muster::slurmdbd
