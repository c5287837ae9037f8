// slurmd: the node daemon. Flags and signals of slurmd(8). `slurmd gpu-watch …` is the process of slurmd/daemon/gpu_watch.h,
// `slurmd gpu-health …` that of slurmd/daemon/gpu_health.h.
#include <string_view>

#include "os/node/gpu_health.h"
#include "os/node/gpu_sampler.h"
#include "slurmd/daemon/slurmd.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "gpu-watch") return muster::os::gpu_watch_main(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "gpu-health") return muster::os::gpu_health_main(argc, argv);
  return muster::slurmd::run_slurmd(argc, argv);
}
