// Resource limits that travel with a job: which ones (PropagateResourceLimits, --propagate), taking them on the submit host, carrying them
// in the environment (SLURM_RLIMIT_*), and what the node may grant. slurm.conf(5), sbatch(1), srun(1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/process.h"

namespace muster::os {

struct LimitKind {
  std::string_view name;  // "NOFILE"; the variable is SLURM_RLIMIT_NOFILE
  int resource;           // RLIMIT_NOFILE
};
std::span<const LimitKind> limit_kinds();  // AS CORE CPU DATA FSIZE MEMLOCK NOFILE NPROC RSS STACK

// A set of limits: bit i is limit_kinds()[i].
using LimitSet = uint32_t;
LimitSet all_limits();
// "ALL", "NONE" or names separated by commas, in any case, with or without RLIMIT_ in front.
Result<LimitSet> parse_limit_set(std::string_view text);
// PropagateResourceLimitsExcept: all but those named.
Result<LimitSet> parse_limit_set_except(std::string_view text);

struct SoftLimit {
  size_t kind = 0;    // index into limit_kinds()
  uint64_t soft = 0;  // RLIM_INFINITY = unlimited
  bool operator==(const SoftLimit&) const = default;
};
std::vector<SoftLimit> current_limits(LimitSet which);
// "SLURM_RLIMIT_NOFILE=1024"; unlimited is the largest 64-bit number, as Slurm writes it.
std::vector<std::string> limits_to_env(std::span<const SoftLimit> limits);
// The limits found in the environment. Values: a number, "unlimited", "infinity", "-1". Anything else is an error.
Result<std::vector<SoftLimit>> limits_from_env(std::span<const std::string> env);

// The limits for spawn() to set: a soft limit above our hard limit is cut to it, and `notes` say so ("NPROC: 4096 asked for, 1024 is the
// hard limit here").
struct GrantedLimits {
  std::vector<LimitSetting> settings;
  std::vector<std::string> notes;
};
GrantedLimits grant_limits(std::span<const SoftLimit> wanted);

Result<> set_own_limit(int resource, uint64_t soft, uint64_t hard);
// For slurmd: lifts the daemon's limit on locked memory (RDMA needs that), as LimitMEMLOCK=infinity in a unit file does. False: we may not
// raise the limit, and it stays as it was.
bool unlimit_own_memlock();
// For daemons: allows as many descriptors as the hard limit does. Returns the new soft limit.
Result<uint64_t> raise_own_nofile();

}  // namespace muster::os
