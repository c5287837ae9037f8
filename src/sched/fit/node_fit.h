// NodeFit: how many tasks of a shape one node can take, and which CPUs, memory and devices they get.
//
// There are two levels. Counting works from counters of free units, memory and devices; it is exact where Shape::counts_decide(), else an
// upper bound. Choosing picks the very CPUs and devices from what is held now; it may refuse what counting allowed. Choice within a node
// (guide cpu_management): whole cores or single CPUs; task by task cyclic over sockets (block with -m *:block), cores nearest to the chosen
// devices first, lowest numbers first. Devices: gres_choice.h. CR_Socket: the sockets touched are filled up. Cores that the node keeps for
// a GPU (RestrictedCoresPerGPU) are for jobs that have that GPU. With enforce-binding see bound_sockets.h.
//
// Cost: counting O(kinds of devices), choosing O(CPUs + devices) of the node.
#pragma once

#include <cstdint>
#include <optional>

#include "model/resources.h"
#include "sched/fit/gres_choice.h"
#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

struct NodeFree {
  uint32_t units = 0;
  uint64_t mem_mb = 0;
  GresCounts gres;
};

inline constexpr uint32_t kNoTasks = 0;
inline constexpr uint32_t kManyTasks = 1u << 24;

// Whether nodes of this kind qualify at all: sockets, cores, threads, disk.
bool kind_qualifies(const Shape& shape, const Kind& kind);

// Units that `tasks` tasks take on a node where the job has so many GPUs.
uint32_t units_for(const Shape& shape, const Kind& kind, uint32_t tasks, uint64_t gpus);
uint64_t memory_for(const Shape& shape, const Kind& kind, uint32_t units, uint64_t gpus);

// Whether all cores that the node keeps for GPUs (RestrictedCoresPerGPU) are kept from this job, because it asks for no GPU.
bool keeps_from(const Shape& shape, const Kind& kind);

// Of the cores that the node keeps for GPUs, how many (as units) the job has for certain where it has one task.
uint32_t units_opened_for(const Shape& shape, const Kind& kind);

// The most tasks that fit, by counting; kNoTasks: none. Where the shape asks for per_job devices, one of each is set aside.
uint32_t count_tasks(const Shape& shape, const Kind& kind, const NodeFree& free);
// How many of the devices that the job asks for as a whole (--gpus) the node can give: free ones that also find their memory
// (--mem-per-gpu) and CPUs (--cpus-per-gpu) there.
uint64_t job_devices(const Shape& shape, const Kind& kind, const GresNeed& need, const NodeFree& free);
// Whether count_tasks() is exact for the shape on this kind of node; otherwise it is a bound.
bool counts_decide(const Shape& shape, const Kind& kind);

// The share for `tasks` tasks, or nothing if the layout forbids it. `use`: what is held on the node now, as the job sees it.
std::optional<NodeShare> choose_on_node(const Shape& shape, const Kind& kind, NodeId id, const NodeUse& use, uint32_t tasks,
                                        const JobGres& job_gres);

}  // namespace muster::sched
