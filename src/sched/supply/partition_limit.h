// MaxCPUsPerNode, MaxCPUsPerSocket: how many CPUs of a node, and of each of its sockets, all jobs of one partition may have together.
// slurm.conf(5).
//
//   concerns    whether the partition has such a limit
//   left        how many CPUs one more job may have on a node
//   allows      whether the limit still holds at the start
//   text        the limit in words
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
  // For a node of so many sockets and CPUs, where the partition's jobs have `held`.
  uint64_t left(uint32_t sockets, uint32_t cpus, const Bitmap& held) const;
  bool allows(uint32_t sockets, uint32_t cpus, const Bitmap& held, const Bitmap& more) const;
  std::string text() const;
};

}  // namespace muster::sched
