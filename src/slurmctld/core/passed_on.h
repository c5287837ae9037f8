// What counts of a request that a host with a certificate of its own passes on (docs/adr/0019). Whoever is root there can name any user, so:
//
//   a node        a user counts as himself who has a job on that node now; even then only for what passed_on.def says, and only with his rights
//                 to jobs that have a part of the node or were submitted there (rights.h)
//   a login host  every user counts as himself
//   both          never root, SlurmUser, operators and administrators, whose jobs could do elsewhere what they may. While nothing is known of
//                 accounts that slurmdbd has, anybody may be one
//
// Who does not count as himself is nobody: he may look at what everybody may see, and changes nothing. Hosts that have the cluster key are
// believed in everything.
#pragma once

#include <memory>

#include "model/account_directory.h"
#include "model/cluster.h"
#include "slurmctld/core/caller.h"
#include "slurmctld/core/command.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

inline constexpr Uid kNobody{0xffffffffu};

// What a request counts for that a node passes on: passed_on.def.
enum class NodeReach : uint8_t { kCounts, kLooks, kRefused };
struct PassedOnRow {
  uint16_t number;
  NodeReach reach;
  const char* why;
};
const PassedOnRow& passed_on_row(const CommandRow& row);

// Whether the user has a job that holds something of the node. Cost: O(jobs on the node).
bool has_job_on(const Cluster& cluster, const Indexes& indexes, NodeId node, Uid user);

// Whether a user has more rights than users have, or may have for all that is known. `name`: of the user database; "": it is not known.
bool is_more_than_a_user(const Settings& settings, const std::shared_ptr<const AccountDirectory>& directory, Uid user,
                         const std::string& name);
// Whether credentials of this job are for hosts with the cluster key alone, when this user asks for them: a host with a certificate that is
// shown one could use it in the name of somebody for whom it may not speak.
bool by_key_alone(const Cluster& cluster, const Settings& settings, const Job& job, Uid asks);

// `who`: the user whom the host names, with the name that the user database has for him; who.through is the host. `has_job`: has_job_on() of a
// node. kAccessDenied names the host and the rule. O(1).
Result<Caller> passed_on(const Settings& settings, const std::shared_ptr<const AccountDirectory>& directory, const CommandRow& row,
                         Caller who, bool has_job);

}  // namespace muster::slurmctld
