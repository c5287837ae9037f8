#include "model/cpu_map.h"

#include <algorithm>

namespace muster {

Bitmap CpuMap::to_os(const Bitmap& model_cpus) const {
  Bitmap out;
  model_cpus.for_each([&](size_t i) {
    if (i < os_cpu.size()) out.set(os_cpu[i]);
  });
  return out;
}
Bitmap CpuMap::from_os(const Bitmap& os_cpus) const {
  Bitmap out(os_cpu.size());
  for (size_t i = 0; i < os_cpu.size(); ++i)
    if (os_cpus.test(os_cpu[i])) out.set(i);
  return out;
}
Bitmap CpuMap::cores_of_os(const Bitmap& os_cpus) const {
  Bitmap out(os_cpu.size() / std::max(1u, threads_per_core));
  for (size_t i = 0; i < os_cpu.size(); ++i)
    if (os_cpus.test(os_cpu[i])) out.set(i / threads_per_core);
  return out;
}
Bitmap CpuMap::numa_nodes_of(const Bitmap& model_cpus) const {
  Bitmap out;
  model_cpus.for_each([&](size_t i) {
    if (i < numa_node.size()) out.set(numa_node[i]);
  });
  return out;
}

}  // namespace muster
