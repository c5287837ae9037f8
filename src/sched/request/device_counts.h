// Devices asked for in several ways: for the job, its nodes, sockets and tasks (--gpus, --gpus-per-node or --gres,
// --gpus-per-socket, --gpus-per-task or --tres-per-task). They are one amount seen from several sides: each rules the others,
// none is added to another, and those that cannot all be true are refused.
#pragma once

#include "sched/request/request_shape.h"

namespace muster::sched {

// The same kind of device; a need without a type is one for any.
inline bool alike(const GresNeed& a, const GresNeed& b) {
  return a.name == b.name && (a.type == b.type || a.type.empty() || b.type.empty());
}
uint64_t count_alike(const std::vector<GresNeed>& list, const GresNeed& need);

// What one way of asking asks for, and how it is called for GPUs and for other kinds.
struct Counted {
  std::vector<GresNeed>& needs;
  std::string_view gpus, others;
  std::string option(const GresNeed& need) const { return std::string(need.name == "gpu" ? gpus : others); }
};
inline Counted by_job(std::vector<GresNeed>& needs) { return {needs, "--gpus", "--gpus"}; }
inline Counted by_node(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-node", "--gres"}; }
inline Counted by_socket(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-socket", "--gpus-per-socket"}; }
inline Counted by_task(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-task", "--tres-per-task"}; }

// `counts` without a type that `typed` has types for: those it gets, several in proportion. An error where that does not come
// out even.
Result<> type_counts(const Counted& typed, Counted counts);

// Leaves each kind in one of per_node (or per_socket), per_job and per_task; what the others said is in the numbers of nodes
// and tasks. Shares of devices (shard, mps) stay as they are. Errors name the options.
Result<> settle_devices(const RequestBody& request, Shape& shape);

}  // namespace muster::sched
