// Exhaustion: when running jobs have used up minutes that a limit allows, and are ended for it: GrpTRESMins and GrpWall of associations and
// QOS, MaxTRESMins of each job. sacctmgr(1); guide resource_limits. Not with AccountingStorageEnforce=safe, where a job is started only if it
// can run to its end.
//
// At a constant rate, and rates change only with events, the moment is known exactly (model/usage.h). Cost: O(limits of the holder).
#pragma once

#include <optional>
#include <vector>

#include "acct/limits.h"

namespace muster::acct {

// The next moment at which a limit on minutes is reached by those of the holder that run, as the limits stand on the holder itself and
// scaled by the LimitFactor of any QOS; kTimeInfinite: none is. A limit that has been reached before `now` is none.
Time used_up_at(const Cluster& cluster, const Holder& holder, Time now);
// Whether the holder has such a limit at all.
bool has_minutes(const Cluster& cluster, const Holder& holder);

// The limit on minutes that this running job has come to, by itself or with others; it refers to `bounds`.
std::optional<Excess> used_up(const std::vector<Bound>& bounds, const Cluster& cluster, const Job& job, Time now);
// When it comes to one by itself (MaxTRESMins); kTimeInfinite: there is none. A suspended job uses nothing.
Time uses_up_own_at(const std::vector<Bound>& bounds, const Cluster& cluster, const Job& job);

}  // namespace muster::acct
