#include "model/gres_flags.h"

#include "base/text.h"

namespace muster {

Result<GresFlags> GresFlags::parse(std::string_view text) {
  GresFlags out;
  for (std::string_view flag : split(text, ',')) {
    flag = trim(flag);
    if (iequals(flag, "enforce-binding")) out.enforce_binding = true;
    else if (iequals(flag, "disable-binding")) out.enforce_binding = false;
    else if (iequals(flag, "one-task-per-sharing")) out.one_task_per_sharing = true;
    else if (iequals(flag, "multiple-tasks-per-sharing")) out.one_task_per_sharing = false;
    else if (iequals(flag, "allow-task-sharing")) out.allow_task_sharing = true;
  }
  return out;
}

}  // namespace muster
