// A job of a trace as the request that sbatch would have sent: what is said of its size becomes nodes, tasks, CPUs, GPUs and memory, as evenly as
// the numbers allow. Where the trace and the site do not fit together (a partition that slurm.conf does not have), RequestRules say what to do, and
// Adapted counts how often that was. Pure.
//
//   n nodes, c CPUs, g GPUs; c and g multiples of n   one task a node with c/n CPUs, g/n GPUs a node
//   else                                             c tasks of one CPU on n nodes, g GPUs for the job
//   no nodes                                         as many nodes as the scheduler likes; g GPUs for the job
#pragma once

#include <map>
#include <set>
#include <string>

#include "model/job_request.h"
#include "sim/replay/trace.h"
#include "slurmctld/core/caller.h"

namespace muster::sim::replay {

struct RequestRules {
  std::map<std::string, std::string> partitions;  // name in the trace → name in slurm.conf
  bool ignore_memory = false, ignore_gpu_type = false, ignore_qos = false, ignore_partition = false, ignore_limit = false;
  bool follow = true;                                      // a job waits for the one that it was to follow (SWF field 17)
  std::set<std::string> known_partitions, known_licenses;  // of slurm.conf
};

struct Adapted {
  std::map<std::string, uint64_t> other_partition;  // by the trace's name: jobs that went to the default partition
  std::map<std::string, uint64_t> no_license;       // by its name: jobs that run without it
};

inline constexpr uint32_t kFirstUid = 10'000;  // of the trace's users, in their order

slurmctld::Caller caller_of(const Trace& trace, const TraceJob& job);
// `begin`: unset, or when it became eligible in the trace, whatever it waited for until then; `after`: the id that the job to be followed has in the
// replay, 0: none.
JobRequest request_of(const Trace& trace, const TraceJob& job, const RequestRules& rules, Time begin, uint32_t after, Adapted& adapted);

}  // namespace muster::sim::replay
