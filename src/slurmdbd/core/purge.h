// Which records slurmdbd purges, and from which age on: the Purge…After keys of slurmdbd.conf(5). Pure, but for the process's time zone (TZ):
// hours, days and months are those of its clock.
#pragma once

#include <optional>

#include "base/time.h"
#include "config/cgroup_conf.h"
#include "config/purge_age.h"

namespace muster::slurmdbd {

struct PurgeRules {  // of what has no age nothing is purged
  std::optional<config::PurgeAge> events, jobs, reservations, steps, transactions, usage;
  size_t most_rows = 50'000;  // MaxPurgeLimit: of one transaction
};
// The loader has left out ages that cannot be read, with a notice each.
PurgeRules purge_rules(const config::SimpleConf& conf);

// Records purge when the hour, day or month begins, depending on the unit. So this is the begin of the one that `now` is in, less the age.
// An age that reaches back beyond 1970 gives 1970. Cost: a few calls of localtime, one for each month.
Time purge_before(config::PurgeAge age, Time now);

}  // namespace muster::slurmdbd
