// The NodeName line of a node that slurm.conf need not have: what `slurmd -Z` says of its machine, with what --conf adds or says instead.
// slurmd(8) --conf. Pure; slurmctld judges the keys as it judges those of scontrol create.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "model/rpc.h"

namespace muster::slurmd {

// The keys of --conf="Key=value …", quotes removed. kInvalidArgument: it is no such text, or names a key that slurmd has another option for.
Result<std::vector<rpc::KeyValue>> parse_conf_option(std::string_view text);

// What the machine has, and --conf. One of CPUs, Boards, SocketsPerBoard, CoresPerSocket and ThreadsPerCore in --conf stands for all of
// them. `gpus`: those found, "gpu:h100:8"; they count unless --conf has GPUs.
std::vector<rpc::KeyValue> node_definition(const NodeHardware& machine, const std::vector<rpc::KeyValue>& conf, const std::string& gpus);

bool has_gpus(const std::vector<rpc::KeyValue>& conf);

// As config::load_config reads it.
std::string node_line(const std::string& name, const std::vector<rpc::KeyValue>& definition);

}  // namespace muster::slurmd
