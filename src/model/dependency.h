// Reads the text of --dependency, and writes what `scontrol show job` and squeue %E print of it. sbatch(1) --dependency.
// "afterok:20:21,afterany:23" (all must hold) or "afterok:20?afterany:23" (one is enough); "after:20+5" with minutes; "afterok:40_3",
// "afterok:40_[1-3]" for tasks of an array, "afterok:40" or "afterok:40_*" for the whole; a bare job id is afterany. Errors:
// Errc::kDependency with a hint that names the piece. Cost: O(text + dependencies).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"

namespace muster {

// Dependency::array_task of a dependency on all tasks of an array; printed as "40_*". The parser sets it where the user wrote that;
// code that knows that a bare id is an array's sets it too.
inline constexpr uint32_t kWholeArray = 0xffffffffu;
inline constexpr size_t kMaxDependencies = 10'000;

// Repeated dependencies are dropped. "" gives an empty list.
Result<Dependencies> parse_dependencies(std::string_view text);

// Writes "afterok:41(unfulfilled),singleton(unfulfilled)", with '?' between them where one is enough; fulfilled ones are left out. ""
// when nothing is open: scontrol prints (null) then.
std::string format_dependencies(const Dependencies& dependencies);

std::string_view dependency_type_name(DependencyType type);  // "afterok"

}  // namespace muster
