// Ledger: how many jobs there are, and what they hold, counted for each holder that a limit can be set on: an association and those above
// it, a QOS, a user or an account within a QOS, a user in a partition. A value of persistent tables: a copy is a few pointers, so a
// scheduling pass keeps one of its own and adds the jobs that it starts. It follows from the jobs and the tree of associations alone;
// apply updates it with each change of a job, and it is counted anew only after a snapshot was read (Cluster::recount_ledger).
//
// A job counts as submitted until it is over (each pending task of an array counts once), and as running from its start until it is over:
// a suspended job keeps what it has, but its usage stands still. What a job gave up while it runs no longer counts, even while a node is still cleaning up after it.
// A node that several jobs of one holder share counts once among what that holds; node-seconds are those of each job.
//
// Cost: a change O(depth of the association x log n), and O(nodes) more where the allocation changed; a question O(log n).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pdict.h"
#include "base/pmap.h"
#include "model/job.h"
#include "model/node_counts.h"
#include "model/partition.h"
#include "model/tres_table.h"

namespace muster {

struct AccountDirectory;

// At which rate something is used, in millionths a second: the UsageFactor of a QOS makes its jobs count for more or less.
struct UsageRate {
  TresCounts tres;    // TRES-seconds
  uint64_t wall = 0;  // seconds that jobs run
  bool none() const { return wall == 0 && tres.none(); }
  bool operator==(const UsageRate&) const = default;
};

struct Use {
  uint32_t submitted = 0, running = 0;
  uint32_t accruing = 0;  // of those that wait: how many grow in priority by that, where a limit counts them (Job::accrues)
  TresCounts held;
  NodeCounts nodes;  // on which they stand
  UsageRate rate;
  TresProducts due;  // of each job what it uses, times the second at which its time limit ends
  bool none() const { return submitted == 0 && running == 0 && accruing == 0 && held.none() && rate.none() && due.none(); }
  // TRES-minutes that those which run may still use before their time limits (GrpTRESRunMins).
  uint64_t run_minutes(size_t tres, Time now) const;
  bool operator==(const Use&) const = default;
};

// One of those that the ledger counts for.
class Holder {
 public:
  static Holder association(uint32_t id) { return {id, {}}; }
  static Holder qos(std::string_view qos) { return {0, "q" + std::string(qos)}; }
  static Holder user_of_qos(std::string_view qos, Uid user) { return {0, "u" + std::to_string(user.value) + " " + std::string(qos)}; }
  static Holder account_of_qos(std::string_view qos, std::string_view account);
  static Holder user_of_partition(uint32_t partition, Uid user) {
    return {0, "p" + std::to_string(partition) + " " + std::to_string(user.value)};
  }
  bool operator==(const Holder&) const = default;
  uint32_t association() const { return association_; }  // 0: another kind
  // The user or the account of those within a QOS, as it is printed; "": another kind.
  std::string_view party() const;
  std::string_view within() const;  // the QOS of such
  // Of a QOS as a whole; "": another kind.
  std::string_view qos() const { return name_.starts_with('q') ? std::string_view(name_).substr(1) : std::string_view(); }

 private:
  friend class Ledger;
  Holder(uint32_t association, std::string name) : association_(association), name_(std::move(name)) {}
  uint32_t association_;  // 0: the name says who it is
  std::string name_;
};

// What one job contributes to the ledger.
struct Charge {
  uint32_t association = 0;
  uint32_t partition = 0;
  uint32_t submitted = 0, running = 0;
  uint32_t accruing = 0;      // it waits, and its age counts for a limit on such jobs
  std::string partition_qos;  // in lower case; what the job holds counts for that QOS, too
  bool accrues = false;       // what it holds is being used: not while it is suspended
  uint64_t due = 0;           // the second at which its time limit ends, while it accrues
  RequestBodyPtr request;     // whose account, QOS and user it goes to
  AllocationPtr allocation;   // null: it holds nothing

  static Charge of(const Job& job, const PersistentMap<Partition>& partitions);
  // f(qos) for the QOS of the job and for that of its partition, if it is another one.
  template <class F>
  void each_qos(F&& f) const {
    if (!request->qos.empty()) f(std::string_view(request->qos));
    if (!partition_qos.empty() && partition_qos != request->qos) f(std::string_view(partition_qos));
  }
  static uint64_t second_of(Time end);  // since 2020
  bool none() const { return submitted == 0 && running == 0; }
  bool operator==(const Charge&) const = default;  // of one and the same job: compares pointers
};

// The association and all those above it, the lowest first.
std::vector<uint32_t> line_of(const AccountDirectory* directory, uint32_t association);
uint32_t parent_of(const AccountDirectory* directory, uint32_t association);  // 0: none
// What of each association in `changed` (those that may have another parent in `after`; sorted here, each once) has to be taken from all
// above it in the old tree and added to all above it in the new one: take(id, above) for the lowest first, so that what remains in one
// above is then without it, then add(id, above) for the highest first, so that they do not bring along what those below them add later.
void move_in_tree(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed,
                  const std::function<void(uint32_t, std::span<const uint32_t>)>& take,
                  const std::function<void(uint32_t, std::span<const uint32_t>)>& add);
// Whether a charge counts for the holder.
bool counts_for(const Charge& charge, const Holder& holder, const AccountDirectory* directory);

class Ledger {
 public:
  const Use& use_of(const Holder& holder) const;
  // f(std::string_view user_or_account, bool user, const Use&) for each user and account that has something in the QOS. Cost: O(all that
  // have something in any QOS or partition).
  template <class F>
  void each_within(std::string_view qos, F&& f) const {
    others_.for_each([&](const std::string& name, const Use& use) {
      const Holder holder(0, name);
      if (holder.within() == qos && !holder.party().empty()) f(holder.party(), name[0] == 'u', use);
    });
  }

  void add(const Charge& charge, const AccountDirectory* directory, const TresTable& table);
  void take(const Charge& charge, const AccountDirectory* directory, const TresTable& table);
  // The tree of associations changed from `before` to `after`; only associations in `changed` may differ. Cost:
  // O(changed x depth x log n).
  void hang(const AccountDirectory* before, const AccountDirectory* after, std::vector<uint32_t> changed);

  bool operator==(const Ledger& o) const;

 private:
  void change(const Holder& holder, const Use& by, bool more);
  PersistentMap<Use> associations_;  // by id: its own and of all below it
  PersistentDictionary<Use> others_;
};

}  // namespace muster
