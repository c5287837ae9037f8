// What gres.conf and slurm.conf say about a node's GPUs, and what AutoDetect found → what the node registers.
// Pure. gres.conf(5) AutoDetect, File, Type.
//
// Configured devices keep their numbers, whatever is missing: the controller counts by the configuration. A configured device that was not
// found, or whose Type, Cores or Links contradict what was found, is not registered; the controller then has fewer than configured and sets
// the node INVALID with both counts. Devices that were found but are not configured are left alone. Without any configured GPU all that
// were found are registered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"

namespace muster::slurmd {

struct FoundDevice {
  std::string type;
  std::vector<std::string> files;
  Bitmap cores;
  std::vector<int32_t> links;
  std::string uuid;
};
struct Reconciled {
  std::vector<GresDevices> devices;   // all names; GPUs with what was found about them
  std::vector<std::string> uuids;     // by GPU number
  std::vector<std::string> problems;  // for the log
};
// `vendor_flags`: GresFlag of the mechanism that found them, used where the configuration has none for the environment.
Reconciled reconcile_gpus(const std::vector<GresDevices>& configured, const std::vector<FoundDevice>& found, uint32_t vendor_flags);

// "h100" fits "nvidia_h100_80gb_hbm3"; "a100_3g.20gb" fits "nvidia_a100-sxm4-40gb_3g.20gb". "" fits everything.
bool type_fits(std::string_view configured, std::string_view found);

}  // namespace muster::slurmd
