// Which GPUs get which clocks for a step: the clocks asked for, else those of the site's rule. srun(1) --gpu-freq, slurm.conf(5)
// GpuFreqDef.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/gpu_frequency.h"
#include "model/job_request.h"
#include "model/resources.h"

namespace muster::slurmd {

struct GpuClockOrder {
  std::optional<GpuFrequencyWish> wish;  // none: nothing is to be done
  std::vector<std::string> files;        // of the GPUs that the step holds whole
  bool by_site = false;                  // nobody asked: faults are for slurmd's log
  std::string note;                      // for the step's stderr; "": none
};
// `asked`: the request's tres_freq; where it is empty, `site` holds. `node`: its devices, `share`: the step's.
GpuClockOrder gpu_clock_order(const TresFrequencyText& asked, const Parsed<GpuFrequencyWish>& site, const std::vector<GresDevices>& node,
                              const std::vector<GresShare>& share);

}  // namespace muster::slurmd
