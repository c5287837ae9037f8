// CpuMap: how the CPU numbers of the model lie on one machine. Plain values; hwloc fills them
// (os/node/hardware.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bitmap.h"

namespace muster {

// From the model's CPU numbers, (socket · cores + core) · threads + thread, to those of the kernel and back.
struct CpuMap {
  std::vector<uint32_t> os_cpu;     // by model CPU number
  std::vector<uint32_t> numa_node;  // by model CPU number: the kernel's NUMA node number
  uint32_t threads_per_core = 1;
  uint32_t cores_per_socket = 0;  // 0: one socket

  size_t cpus() const { return os_cpu.size(); }
  size_t core_of(size_t cpu) const { return cpu / threads_per_core; }
  size_t socket_of(size_t cpu) const { return cores_per_socket ? core_of(cpu) / cores_per_socket : 0; }
  Bitmap to_os(const Bitmap& model_cpus) const;  // numbers beyond the machine are left out
  Bitmap from_os(const Bitmap& os_cpus) const;
  Bitmap cores_of_os(const Bitmap& os_cpus) const;  // model core numbers with at least one of these CPUs
  Bitmap numa_nodes_of(const Bitmap& model_cpus) const;
};

}  // namespace muster
