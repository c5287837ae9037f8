// The parts of a run: a job that gives up nodes goes on as another part, with a record of its own in the accounting database
// (model/accounting.h). Which part held when, what its record's key is, and for how long a run was suspended by then. Pure.
//
// A part that lasted for no time has no record: the clock may stand still, or have been set back.
#pragma once

#include "model/accounting.h"
#include "model/job.h"

namespace muster::slurmctld {

// Whether giving up nodes at that moment ends a part and begins another.
bool begins_part(const Job& job, Time at);
// The key of the record of the part that held until that moment or beyond it, so that a step keeps its part although the job gives up nodes
// at the moment at which the step began. Of kTimeInfinite: the last part.
JobRecordKey key_of(const Job& job, Time moment);

// How long the run has been suspended by that moment.
Duration suspended_by(const Job& job, Time moment);
// How much of that is not yet in `before`, what it was at an earlier moment.
Duration suspended_since(const Job& job, Duration before, Time moment);

}  // namespace muster::slurmctld
