// Access: who may use a reservation. Every list that it has must admit the job: users, groups, accounts (with those below them), QOS and
// partitions; root and SlurmUser may use them all. scontrol(1) RESERVATIONS - SPECIFICATIONS.
//
// Cost: O(names listed), and O(depth) of the tree of accounts.
#pragma once

#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sched {

// Root and SlurmUser, whom no list keeps out. A magnetic reservation draws in only those whom its lists admit.
bool uses_any_reservation(const Params& params, Uid user);

// Which of the lists does not admit the job in the partition: "Users", "Accounts" …; "": all do.
std::string_view kept_out_by(const Cluster& cluster, const Reservation& r, const RequestBody& request, std::string_view partition);
// The same for what a user may see and delete: QOS and partitions are not asked. `accounts`: those of the user.
bool is_for_user(const Cluster& cluster, const Reservation& r, std::string_view user, const std::vector<std::string>& accounts);

}  // namespace muster::sched
