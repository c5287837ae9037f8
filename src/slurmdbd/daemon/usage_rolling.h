// Rolls up usage in the database: which hours are due, their records, what comes of them (core/usage_roll.h) and where it is kept. Runs on
// the thread that owns the Storage. ADR 15 says when an hour is rolled (again).
#pragma once

#include <string>
#include <vector>

#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/usage_roll.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

inline constexpr size_t kHoursPerRoll = 168;   // in one transaction
inline constexpr size_t kHoursOnTheSpot = 48;  // that a report counts from records where they are not rolled yet

// The usage of the hours between these edges, from the records. Cost: one pass over the records of that time.
Result<std::vector<Usage>> usage_of_hours(sql::Storage& storage, const Directory& directory, const std::string& cluster,
                                          std::vector<Time> edges);

// Rolls up the earliest hours that are due, and the days and months that they complete or change. Returns whether there is more to do.
Result<bool> roll_some(sql::Storage& storage, const Directory& directory, const std::string& cluster, Time now);

// The usage of one cluster within [from, until), which are begins of hours. The hour that lasts counts as far as it has come. Reads only.
Result<Usage> usage_within(sql::Storage& storage, const Directory& directory, const std::string& cluster, Time from, Time until, Time now,
                           UsageSelection selection);

}  // namespace muster::slurmdbd
