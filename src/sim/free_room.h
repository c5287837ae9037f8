// Free room: what is left of the nodes, counted from the jobs alone, and whether a request surely has room there. Its arithmetic is its own:
// it asks nothing of the scheduler. "Surely" errs on the side of no: of a request that asks for something this file does not know (node
// lists, features, sockets …) it never says that there is room.
//
// Cost: O(jobs · nodes of each), O(nodes · log) for a request.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sim {

struct FreeNode {
  uint32_t id = 0;
  bool usable = false;                         // it is up, and nobody keeps all of it
  bool idle = true;                            // nobody has anything of it
  bool shared = false;                         // somebody has CPUs there that he shares with others
  uint32_t threads = 1, cores = 0;             // of each core; cores of which nobody has any
  uint64_t mem_mb = 0, all_mem_mb = 0;         // that nobody has; of the node
  std::map<std::string, uint64_t> gpus;        // that nobody has, by type
  std::map<uint32_t, uint32_t> of_partitions;  // CPUs that the jobs of a partition have
};

std::vector<FreeNode> free_nodes(const Cluster& cluster);
// As if no job were there and all nodes were up.
std::vector<FreeNode> empty_nodes(const Cluster& cluster);

// Whether a job (or one task of an array) surely has room on these of the partition's nodes, now.
bool surely_has_room(const RequestBody& request, const Partition& partition, const sched::Params& params,
                     const std::vector<FreeNode>& nodes);

// The most that a job may come to have with what it asks for, counting whole cores and whole nodes: of "cpu", "mem", "node", "billing",
// "gres/NAME[:TYPE]", "license/NAME"; on one node, or on all.
uint64_t most_wanted(const Cluster& cluster, const RequestBody& request, const Partition& partition, const std::string& tres,
                     bool one_node);
// The least, of "cpu", "node" and "gres/gpu"; of others 0.
uint64_t least_wanted(const RequestBody& request, const std::string& tres);

}  // namespace muster::sim
