// Limits: what bounds the jobs of associations, QOS and users of a partition, together or each for itself. One table (limit_rows.h) has a
// row for each limit. Everybody who asks walks the table and knows no limit by name: a submission, a pass before and after it has chosen nodes,
// a start, explain. To add one: docs/checklists/add-a-limit.md. sacctmgr(1); guide resource_limits; slurm.conf(5)
// AccountingStorageEnforce=limits.
//
// A limit on a TRES that the cluster does not know holds nobody back. The guide's order: a limit of the partition's QOS, then the same one of
// the job's QOS (the other way round with OverPartQOS), then that of the association; only the first that is set applies. A lowered limit
// ends nothing that runs, but for those on minutes that were used (exhaustion.h).
//
// A limit on nodes counts each of them once, however many jobs of its holder stand there; so a job may always share those that the holder has.
//
// Cost: bounds_on O(rows x limits of those concerned); first_exceeded O(bounds x log n), whatever the number of jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acct/admission.h"
#include "model/cluster.h"
#include "model/explanation.h"

namespace muster::acct {

// The moments at which a limit is checked.
enum When : uint8_t {
  kAtSubmission = 1,   // a job over the limit is refused
  kBeforeNodes = 2,    // for a waiting job, with the least that it takes
  kWithNodes = 4,      // with the nodes that were chosen for it
  kWhereItStarts = 8,  // the same, at the moment of the start
  kToAccrue = 16,      // before a waiting job begins to grow in priority by its age
  kWhileItWaits = kBeforeNodes | kWithNodes | kWhereItStarts,
};

// What a job would add.
struct Wanted {
  TresCounts tres;
  TresCounts each_node;  // on the node where it takes the most
  uint32_t jobs = 1;     // tasks of an array at its submission
  Bitmap nodes = {};     // those that were chosen; empty: none were, yet
  uint32_t time_limit_min = kUnlimited32;
};

struct LimitRow;

// A limit that is set and bounds the job.
struct Bound {
  const LimitRow* row = nullptr;
  Holder holder = Holder::association(0);  // whose use counts
  uint32_t tres = 0;
  uint64_t limit = 0;
  double factor = 1;  // UsageFactor of the job's QOS, where what the job wants counts for so much more or less
  std::string whom;   // "account team-a", "QOS fast", "partition debug"
};

// Whose job it is.
struct Asker {
  const AssociationRecord* association = nullptr;  // null: none
  std::string_view account, qos;
  Uid user{};
};

// Which limits hold, besides those of partitions, which always do: those of associations and QOS, and of these the ones on what was used
// (only with priority/multifactor: nothing else lets usage decay).
struct Held {
  bool accounts = false, used = false;
  bool operator==(const Held&) const = default;
};
std::vector<Bound> bounds_on(const Cluster& cluster, Held held, const Asker& asker, const Partition& partition);
// Those that bound a job where it is.
std::vector<Bound> bounds_on(const Cluster& cluster, Held held, const Job& job);
// Whether it is the reason of a limit of an association.
bool is_of_association(Reason reason);
// Whether one of them is about what a job takes on a single node, or asked at that moment; else nobody need work that out.
bool any_of_one_node(const std::vector<Bound>& bounds);
bool any_asked(const std::vector<Bound>& bounds, When when);
// What the holder of a limit on used minutes has used of it by now, in minutes.
double minutes_used(const Bound& bound, const Cluster& cluster, Time now);

struct Excess {
  const Bound* bound = nullptr;
  uint64_t used = 0, wanted = 0;
  Reason reason(const TresTable& table) const;
  std::string detail(const TresTable& table) const;  // "GrpTRES=cpu of account team-a: 2 of 2 in use, 1 more wanted"
  LimitView view(const TresTable& table) const;
};
// What holders have, and have used, at one moment.
struct Standing {
  const Cluster& cluster;  // what was used
  const Ledger& ledger;    // who has what: the cluster's, or one in which a pass has counted its starts
  Time now{};
  bool safe = false;  // AccountingStorageEnforce=safe: what those who run may still use counts as used, and so does what a job wants
};
// The first limit that the job would exceed; it refers to `bounds`.
std::optional<Excess> first_exceeded(const std::vector<Bound>& bounds, const Standing& standing, const Wanted& wanted, When when);
// The first limit that the job would exceed by itself, whatever others have: DenyOnLimit of a QOS refuses such a job.
std::optional<Excess> first_exceeded_alone(const std::vector<Bound>& bounds, const Wanted& wanted);

}  // namespace muster::acct
