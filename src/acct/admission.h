// Admission: under which association, account and QOS a job runs, or why it may not. A submission, an update, a waiting job and a start all
// ask the same function: see README.md. slurm.conf(5) AccountingStorageEnforce; guides accounting, qos and wckey; sbatch(1) --account, --qos, --wckey.
//
// Cost: rules x O(log n); no rule looks at all associations or all users.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "acct/enforcement.h"
#include "base/errc.h"
#include "model/account_directory.h"
#include "model/cluster.h"
#include "model/enums.h"

namespace muster::acct {

struct Asked {
  std::string_view user;
  std::string_view account, qos;  // "": the default
  std::string_view partition;
  bool qos_granted = false;                              // by an operator: it need not be one of the association's
  bool reserved = false;                                 // the job names a reservation
  const PersistentMap<Partition>* partitions = nullptr;  // of the cluster; null: nobody asks whether the QOS belongs to one of them
  std::string_view wckey = {};                           // the user's default among them
};

enum class Moment : uint8_t { kSubmission, kUpdate, kStart };

struct Admitted {
  const AssociationRecord* association = nullptr;  // null: there is none, and none is needed; else one of the directory's
  std::string account, qos;                        // with the defaults
};
struct Never {
  Errc error{};
  std::string detail;
};
struct Wait {
  Reason reason{};
  std::string detail;
};
using Admission = std::variant<Admitted, Never, Wait>;

// The association that a job with this request has in the partition, or else in the first of the partitions it names where it has any; 0:
// none. This settles, once at a submission, an update and a start, what the job is counted for.
uint32_t association_of(const Cluster& cluster, const RequestBody& request, uint32_t partition);
// Those of jobs that wait and have none that is known: they were submitted before it was, or it was made anew. Cost: O(jobs).
std::vector<std::pair<JobId, uint32_t>> associations_found(const Cluster& cluster);

// `directory` null: slurmdbd has never been reached.
Admission admit(const AccountDirectory* directory, const Enforcement& enforcement, const Asked& asked, Moment moment);

}  // namespace muster::acct
