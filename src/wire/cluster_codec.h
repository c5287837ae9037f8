// A Cluster as the chunks of a snapshot, and back. Order: head, requests, partitions, nodes, arrays, jobs, so that one pass restores it.
// Jobs are linked to their shared request again and the name tables are rebuilt; volatile state (verdicts, what a connected slurmd last
// said) is left out. A restored cluster equals the one that replaying the log would give.
//
// Errors of decode: Errc::kFrameMalformed naming the record and field; also when a chunk is missing (the head counts the records) or a
// job refers to a request that does not exist. Cost: one pass, about 0.3 µs a pending job; memory: one chunk beyond the result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace muster {

inline constexpr size_t kSnapshotChunkBytes = 1 << 20;  // a chunk ends with the record that passes it

std::vector<std::string> encode_cluster(const Cluster& cluster);
Result<Cluster> decode_cluster(std::span<const std::string> chunks);

}  // namespace muster
