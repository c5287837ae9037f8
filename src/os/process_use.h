// What a process has used until now, and which processes it has started, from /proc and without a fork. proc(5): stat, statm,
// smaps_rollup, io, task/TID/children.
//
// The kernel adds what a child has used to its parent when the parent waits for it. So the sum over the living processes of a family holds
// all that the family has used, but for children that were adopted elsewhere. Cost: about 15 µs a process (three small files), smaps_rollup
// as long as the kernel needs for all mappings.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::os {

enum class ResidentKind : uint8_t {
  kAll,        // RSS
  kUnshared,   // RSS less its shared part (JobAcctGatherParams=NoShared)
  kPortioned,  // PSS: a page that n processes share counts for 1/n (UsePss)
};

struct ProcessUse {
  pid_t parent = 0;
  uint32_t threads = 0;
  uint32_t core = 0;                    // that it ran on last, by the kernel's number
  Duration user_time{}, system_time{};  // its own and that of children it has waited for, as the next three
  uint64_t major_faults = 0;
  uint64_t read_bytes = 0, written_bytes = 0;      // what read(2) and write(2) moved; 0 where we may not know
  uint64_t resident_bytes = 0, virtual_bytes = 0;  // 0 of one that has ended and is not waited for yet
};
Result<ProcessUse> read_process_use(pid_t pid, ResidentKind kind = ResidentKind::kAll);

// The children of all threads of a process that has so many; none of one that is gone.
std::vector<pid_t> children_of(pid_t pid, uint32_t threads);

}  // namespace muster::os
