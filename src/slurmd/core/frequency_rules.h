// Which CPU frequency a step gets: what srun asked for under the site's rules. slurm.conf(5) CpuFreqDef, CpuFreqGovernors.
#pragma once

#include <string>
#include <vector>

#include "model/job_request.h"

namespace muster::slurmd {

struct FrequencyRules {
  std::string default_governor;        // CpuFreqDef, "" = none
  std::vector<std::string> governors;  // CpuFreqGovernors
  bool confined = false;               // tasks are kept to their CPUs: without that nothing is set
};
struct FrequencyOrder {
  CpuFrequencyText wish;  // for slurmstepd; empty: nothing is set
  std::string note;       // for the step's stderr; "": none
};
// --cpu-freq is a request, not a requirement: what cannot be set is told, and the step runs.
FrequencyOrder frequency_order(const CpuFrequencyText& asked, const FrequencyRules& rules);

}  // namespace muster::slurmd
