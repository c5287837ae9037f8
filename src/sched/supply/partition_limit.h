// MaxCPUsPerNode, MaxCPUsPerSocket: what all jobs of one partition may have together of a node, and of each of its sockets.
// slurm.conf(5).
//
//   concerns    whether the partition has such a limit
//   left        which nodes it leaves: CPUs that one more job may have there
//   allows      whether it still holds at the start
//   text        what it says
// What helps: a job of the same partition gives CPUs of the node back. Cost: O(CPUs of a node / 64).
#pragma once

#include <cstdint>
#include <string>

#include "base/bitmap.h"
#include "model/job_request.h"

namespace muster::sched {

struct PartitionLimit {
  uint32_t per_node = kUnlimited32, per_socket = kUnlimited32;  // CPUs

  bool concerns() const { return per_node != kUnlimited32 || per_socket != kUnlimited32; }
  // Of a node of so many sockets and CPUs, `held` being what the partition's jobs have there.
  uint64_t left(uint32_t sockets, uint32_t cpus, const Bitmap& held) const;
  bool allows(uint32_t sockets, uint32_t cpus, const Bitmap& held, const Bitmap& more) const;
  std::string text() const;
};

}  // namespace muster::sched
