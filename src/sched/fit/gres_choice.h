// Devices of one node: how many there are for a need by counting, and which ones a share gets. Also shares of devices (mps, shard). Guide
// gres, gres.conf(5).
//
// Choice: devices whose sockets hold the chosen cores come first, among them those with the most Links to each other, then the lowest
// number. Shares come from one device (the first with room; with LL_SHARED_GRES the one with the smallest part in use) unless the site
// allows several (MULTIPLE_SHARING_GRES_PJ). A GPU is given whole or in shares, never both.
//
// Cost: O(entries) to count, O(devices) to choose, O(devices³) with Links.
#pragma once

#include <cstdint>
#include <vector>

#include "model/resources.h"
#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// What one node gives of the devices that the job asks for as a whole (--gpus).
struct JobGres {
  std::vector<uint64_t> counts;  // along Shape::per_job
};

struct Device {
  uint32_t entry;  // in kind.gres
  uint32_t index;  // within the name
};

// Free devices or shares for the need, over all types if it names none. Where all must come from one device, this is the most that any one
// device has.
uint64_t gres_available(const GresNeed& need, const Kind& kind, GresCounts free);
// How many tasks a per-task need allows, where `fixed` is asked for the node besides.
uint64_t tasks_by_gres(const GresNeed& need, const std::vector<GresNeed>& fixed, const Shape& shape, const Kind& kind, GresCounts free);

// All needs of one node as one list, typed ones first so that an untyped need does not take their devices.
std::vector<GresNeed> needs_on_node(const Shape& shape, uint32_t tasks, const JobGres& job);

// Free devices for the need, or devices with free shares, in ascending order; kinds that are only counted have none.
std::vector<Device> free_devices(const Kind& kind, const NodeUse& use, const GresNeed& need);
bool near_socket(const Kind& kind, const GresDevices& devices, uint32_t socket);

// Puts devices for all needs into `out`; false: the node has too few. `sockets`: where the share's cores are.
bool choose_devices(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                    const std::vector<uint32_t>& sockets, std::vector<GresShare>& out);
// The same, but taken evenly from the sockets as far as each has such devices.
bool choose_devices_evenly(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                           const std::vector<uint32_t>& sockets, std::vector<GresShare>& out);
// Everything that a job with whole nodes gets: all free devices, but neither shares of GPUs nor devices that are given on request only
// (Flags=explicit).
void all_devices(const Kind& kind, const NodeUse& use, std::vector<GresShare>& out);

}  // namespace muster::sched
