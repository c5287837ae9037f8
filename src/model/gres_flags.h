// GresFlags: the flags of --gres-flags, "enforce-binding,one-task-per-sharing". sbatch(1), srun(1) --gres-flags. Pure.
//
// Flags that are not known have no effect: the option table refuses them where they are typed.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace muster {

struct GresFlags {
  std::optional<bool> enforce_binding;       // enforce-binding, disable-binding; none: as the site has it
  std::optional<bool> one_task_per_sharing;  // one-task-per-sharing, multiple-tasks-per-sharing; none: as the site has it
  bool allow_task_sharing = false;           // a task may use the devices of the step's other tasks

  static Result<GresFlags> parse(std::string_view text);
};

}  // namespace muster
