// What counts of a request that a host with a certificate of its own passes on (docs/adr/0019). Whoever is root there can name any user, so:
//
//   a node        a user counts as himself who has a job on that node now; even then only his rights to jobs that have a part of the node or
//                 were submitted there (rights.h)
//   a login host  every user counts as himself
//   both          never root, SlurmUser, operators and administrators, whose jobs could do elsewhere what they may
//
// Who does not count as himself is nobody: he may look at what everybody may see, and changes nothing. Hosts that have the cluster key are
// believed in everything. Cost: O(jobs) where the node has any.
#pragma once

#include <memory>

#include "model/account_directory.h"
#include "model/cluster.h"
#include "slurmctld/core/caller.h"
#include "slurmctld/core/command.h"

namespace muster::slurmctld {

inline constexpr Uid kNobody{0xffffffffu};

// `who`: the user whom the host names, with the name that the user database has for him; who.through is the host. kAccessDenied names the host
// and the rule.
Result<Caller> passed_on(const Cluster& cluster, const Settings& settings, std::shared_ptr<const AccountDirectory> directory,
                         const CommandRow& row, Caller who);

}  // namespace muster::slurmctld
