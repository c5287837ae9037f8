// Any text as slurm.conf (after a minimal head), gres.conf, topology.conf, resources.yaml and namespace.yaml: refused with errors that say where, or
// loaded; never a crash. The first byte chooses the file.
#include <cstdint>
#include <cstdlib>

#include "config/load.h"
#include "config/show_config.h"

namespace {

constexpr char kHead[] = "ClusterName=f\nSlurmctldHost=h\nAuthType=auth/slurm\nGresTypes=gpu\n"
                         "NodeName=n[1-4] CPUs=8 RealMemory=1000 Gres=gpu:2\nPartitionName=p Nodes=n[1-4] Default=YES\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  muster::config::MemoryFiles files;
  const uint8_t which = data[0] < 128 ? data[0] % 4 : data[0] < 192 ? 4 : 5;
  files.put("/c/slurm.conf", which == 0 ? text : which == 1 ? kHead + text : which == 5 ? kHead + std::string("NamespaceType=namespace/linux\n") : kHead);
  if (which == 4) files.put("/c/resources.yaml", text);
  if (which == 5) files.put("/c/namespace.yaml", text);
  if (which == 2) files.put("/c/gres.conf", text);
  if (which == 3) files.put("/c/topology.conf", text);
  auto loaded = muster::config::load_config(files, "/c/slurm.conf");
  if (!loaded) {
    if (loaded.error().empty() || loaded.error()[0].text().empty()) std::abort();  // refused without a word
    return 0;
  }
  if (muster::config::show_config(*loaded, {}).empty()) std::abort();
  for (uint32_t i = 0; i < loaded->config.nodes.size() && i < 8; ++i) (void)muster::config::devices_of(loaded->gres, loaded->config, i);
  return 0;
}
