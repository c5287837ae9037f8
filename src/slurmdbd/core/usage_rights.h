// Whose usage a caller may see, and whose the idle time of a reservation is. Pure. sreport(1), slurmdbd.conf(5) PrivateData.
#pragma once

#include <string>
#include <vector>

#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/core/usage_roll.h"

namespace muster::slurmdbd {

// `sees_all`: the caller is an operator or above. Without PrivateData=usage everybody may see everything. Cost: O(associations).
UsageAudience usage_audience(const Directory& directory, const Settings& settings, const std::string& user, bool sees_all);

// The accounts and users that a reservation names, users with their default account, each with the default QOS. Whom it denies holds
// nothing.
std::vector<UsageKey> holders_of(const Directory& directory, const std::string& cluster, const ReservationRecord& reservation);

}  // namespace muster::slurmdbd
