// Devices of one node: how many there are for a need by counting, and which ones a share gets. Also shares of
// devices (mps, shard). Guide gres, gres.conf(5).
//
// Choice: devices whose sockets hold the chosen cores first, of those the ones with the most Links among them, then
// the lowest number. Shares come from one
// device (the first with room; with LL_SHARED_GRES the one with the smallest part in use) unless the site
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

// Devices of the job as a whole (--gpus) that come to one node.
struct JobGres {
  std::vector<uint64_t> counts;  // along Shape::per_job
};

struct Device {
  uint32_t entry;  // in kind.gres
  uint32_t index;  // within the name
};

// Free devices or shares for the need, over all types if it names none; what must come from one device
// counts as the most that one has.
uint64_t gres_available(const GresNeed& need, const Kind& kind, GresCounts free);
// The tasks that a per-task need allows, `fixed` being asked for the node besides.
uint64_t tasks_by_gres(const GresNeed& need, const std::vector<GresNeed>& fixed, const Shape& shape, const Kind& kind, GresCounts free);

// All needs of one node as one list, typed ones first so that an untyped need does not take their devices.
std::vector<GresNeed> needs_on_node(const Shape& shape, uint32_t tasks, const JobGres& job);

// Free devices of the need, or devices with free shares, ascending; none of count-only kinds.
std::vector<Device> free_devices(const Kind& kind, const NodeUse& use, const GresNeed& need);
bool near_socket(const Kind& kind, const GresDevices& devices, uint32_t socket);

// Devices for all needs into `out`; false: not there. `sockets`: where the share's cores are.
bool choose_devices(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                    const std::vector<uint32_t>& sockets, std::vector<GresShare>& out);
// The same, evenly from the sockets as far as each has such devices.
bool choose_devices_evenly(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                           const std::vector<uint32_t>& sockets, std::vector<GresShare>& out);
// Everything a job with whole nodes gets: all devices that are free, but neither shares of GPUs nor what is
// given on request only (Flags=explicit).
void all_devices(const Kind& kind, const NodeUse& use, std::vector<GresShare>& out);

}  // namespace muster::sched
