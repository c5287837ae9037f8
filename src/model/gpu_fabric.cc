#include "model/gpu_fabric.h"

#include <cinttypes>
#include <cstdio>

namespace muster {

std::string GpuFabric::text() const {
  if (!known()) return "";
  char text[64];
  snprintf(text, sizeof text, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64 ".%" PRIu32, cluster_high >> 32,
           cluster_high >> 16 & 0xffff, cluster_high & 0xffff, cluster_low >> 48, cluster_low & 0xffffffffffff, clique);
  return text;
}

}  // namespace muster
