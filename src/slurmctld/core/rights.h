// Rights: who may do what, to the cluster and to a job. rights.def has a row for each thing that is judged and says who may; this judges.
// Decisions and queries alike ask it. Of a caller whom a host with a certificate of its own passes on only the rights of an ordinary user
// count, and where that host is a node, only to jobs that have a part of it or were submitted there (docs/adr/0019). scontrol(1) AUTHORIZATION; guide user_permissions; docs/security.md. Cost: O(log n) of the accounts
// known.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "model/account_directory.h"
#include "model/job.h"
#include "slurmctld/core/caller.h"
#include "slurmctld/core/settings.h"

namespace muster::slurmctld {

enum class Right : uint8_t {
#define MUSTER_RIGHT(name, level, page, words) name,
#include "slurmctld/core/rights.def"
#undef MUSTER_RIGHT
};

// Who has a right. Root has every one.
enum class RightLevel : uint8_t {
  kAnyone,
  kOwner,            // of the job, or root: for what happens in the job's name. Nobody else, whatever their level
  kOwnerOrOperator,  // of the job
  kManager,          // the job's owner, a coordinator of its account or of one above that, an operator
  kCoordinator,      // the same, but for the owner as such
  kOperator,         // AdminLevel=Operator: Slurm's "privileged"
  kAdministrator,    // AdminLevel=Administrator
  kRoot,             // root and SlurmUser
};

std::string_view who_has(RightLevel level);  // in words

struct RightRow {
  const char* name;  // without its k
  RightLevel level;
  const char* page;
  const char* words;
};
const RightRow& right_row(Right right);
std::span<const RightRow> right_rows();  // in the order of the enum

class Rights {
 public:
  // `directory` null: nothing is known of accounts, and nobody has a right by them.
  Rights(const Settings& settings, std::shared_ptr<const AccountDirectory> directory, const Caller& who);

  // For a right that is judged for each job: whether the caller has it for any job there is.
  bool may(Right right) const;
  bool may(Right right, const Job& job) const;
  bool is_privileged() const { return standing_ != Standing::kUser; }  // root, SlurmUser, administrators, operators

 private:
  enum class Standing : uint8_t { kUser, kOperator, kAdministrator, kRoot };
  bool owns(const Job& job) const { return uid_ == job.request->uid && within_reach(job); }
  bool within_reach(const Job& job) const;
  bool coordinates(const Job& job) const;

  std::shared_ptr<const AccountDirectory> directory_;
  Uid uid_;
  std::string name_;
  Subject through_;
  std::optional<NodeId> through_node_;
  Standing standing_ = Standing::kUser;
};

}  // namespace muster::slurmctld
