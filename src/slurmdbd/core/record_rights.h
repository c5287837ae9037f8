// Whose records and usage a caller may see, which is judged here and nowhere else, and whose the idle time of a reservation is. Pure.
// slurmdbd.conf(5) PrivateData, DisableCoordDBD; sacct(1), sreport(1).
#pragma once

#include <string>
#include <vector>

#include "model/record_audience.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/core/usage_roll.h"

namespace muster::slurmdbd {

// What somebody sees of what PrivateData hides: his own, and that of the accounts that he coordinates, with those below them. Operators see
// all; that is for whoever asks to say. Cost: O(associations × depth of the tree).
RecordAudience record_audience(const Directory& directory, const Settings& settings, Uid uid, const std::string& user);

// The accounts and users that a reservation names, users with their default account, each with the default QOS. Whom it denies holds
// nothing.
std::vector<UsageKey> holders_of(const Directory& directory, const std::string& cluster, const ReservationRecord& reservation);

}  // namespace muster::slurmdbd
