// The Standard Workload Format, version 2.2, of the Parallel Workloads Archive (Feitelson et al.): 18 numbers a line, -1 for what is not known,
// comments behind ";", of which the header's "UnixStartTime", "Queue" and "Partition" are read.
//
//   1 job  2 submit  3 wait  4 run  5 processors had  6 CPU time  7 memory had (KB a processor)  8 processors asked  9 time asked (s)
//   10 memory asked (KB a processor)  11 status  12 user  13 group  14 application  15 queue  16 partition  17 preceding job  18 think time
//
// Status: 1 completed, 0 failed, 5 cancelled; 2, 3 and 4 are parts of a job that was checkpointed and are left out, since the job has a line of
// its own. A line with fewer fields than 11 is wrong; fields 12 to 18 that are missing are not known. The user's group is its account, the queue
// its QOS only where the header names it. Think times are in the trace's submit times already.
#pragma once

#include "sim/replay/trace.h"

namespace muster::sim::replay {

Result<Trace> read_swf(std::string_view text, const ReadOptions& options);

}  // namespace muster::sim::replay
