#include "model/step_profile.h"

namespace muster {

std::string profile_step_name(StepId step) {
  if (step == kBatchStep) return "batch";
  if (step == kInteractiveStep) return "interactive";
  if (step == kExternStep) return "extern";
  return std::to_string(step.value);
}

std::string profile_file_name(JobId job, StepId step, const std::string& node) {
  return std::to_string(job.value) + "_" + profile_step_name(step) + "_" + node + ".samples";
}

}  // namespace muster
