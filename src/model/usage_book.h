// UsageBook: what each association (with all those below it) and each QOS has used of late: TRES-seconds of every TRES, and seconds that
// jobs ran, as they decay (model/usage.h). Guides fair_tree, resource_limits; sacctmgr(1) GrpTRESMins, GrpWall, UsageFactor.
//
// Nothing is written while time passes. The ledger has the rate at which each holder uses; an entry here is the amount at the moment at
// which that rate last changed. The event that changes a rate settles the entry first, with its own time (Cluster::recharge), so what is
// used now is what is left of the amount plus what the rate has brought since: as_of. It is exact at every instant, and a restart gives the
// same numbers, because the amounts are state and kept in snapshots.
//
// Cost: settle O(TRES + log n) and one exponential.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/pdict.h"
#include "base/pmap.h"
#include "base/time.h"
#include "model/ledger.h"

namespace muster {

struct Spent {
  Time at{};                 // the moment for which the amounts hold
  double wall = 0;           // seconds
  std::vector<double> tres;  // TRES-seconds, by index in the TresTable; what stands beyond the list is 0
  double of(size_t index) const { return index < tres.size() ? tres[index] : 0; }
  bool operator==(const Spent& o) const;
};

// Brings the amounts to `now`. Where that is before spent.at the clock was set back: they stay as they are and hold for `now` from then on.
void settle(Spent& spent, const UsageRate& rate, Time now, Duration half_life);
Spent as_of(Spent spent, const UsageRate& rate, Time now, Duration half_life);

class UsageBook {
 public:
  const Spent* association(uint32_t id) const { return associations_.find(id); }
  const Spent* qos(std::string_view name) const { return qos_.find(name); }

  // Settles the entry, which is made if there is none.
  void settle_association(uint32_t id, const UsageRate& rate, Time now, Duration half_life);
  void settle_qos(std::string_view name, const UsageRate& rate, Time now, Duration half_life);

  // These get others above them: what they have used goes with them. They and all above them, before and after, have been settled for the
  // same moment.
  void hang(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed);
  // It is no longer there: what it used stays with those above it.
  void forget_association(uint32_t id) { associations_.erase(id); }
  void forget_qos(std::string_view name) { qos_.erase(name); }
  // From `now` on nothing has been used; those above an association lose as much. Settled before.
  void reset_association(uint32_t id, std::span<const uint32_t> above);
  void reset_qos(std::string_view name);
  void reset_all(Time now);

  // f(uint32_t id, const Spent&), f(const std::string& qos, const Spent&)
  template <class F>
  void each_association(F&& f) const {
    associations_.for_each(f);
  }
  template <class F>
  void each_qos(F&& f) const {
    qos_.for_each(f);
  }
  void put_association(uint32_t id, Spent spent) { associations_.set(id, std::move(spent)); }
  void put_qos(std::string_view name, Spent spent) { qos_.edit(name) = std::move(spent); }

  size_t size() const { return associations_.size() + qos_.size(); }
  bool operator==(const UsageBook& o) const;

 private:
  void change(uint32_t id, std::span<const uint32_t> above, double sign);
  PersistentMap<Spent> associations_;
  PersistentDictionary<Spent> qos_;
};

// An entry as it is stored: TRES by name, since their indexes are another controller's matter after a restart.
struct StoredSpent {
  uint32_t association = 0;  // 0: of the QOS
  std::string qos;
  Time at{};
  double wall = 0;
  std::vector<std::string> tres;  // those with an amount, sorted
  std::vector<double> amounts;    // of each of them
  bool operator==(const StoredSpent&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "association", self.association);
    field(2, "qos", self.qos);
    field(3, "at", self.at);
    field(4, "wall", self.wall);
    field(5, "tres", self.tres);
    field(6, "amounts", self.amounts);
  }
};
std::vector<StoredSpent> stored(const UsageBook& book, const TresTable& table);
// Puts it into the book. A TRES that the table does not know is left out; who restores makes it known first. An amount that is no number or
// below 0 counts as 0.
void put_stored(UsageBook& book, const StoredSpent& entry, const TresTable& table);

}  // namespace muster
