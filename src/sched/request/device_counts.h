// A request can ask for devices in several ways: for the job, its nodes, its sockets and its tasks (--gpus, --gpus-per-node or --gres,
// --gpus-per-socket, --gpus-per-task or --tres-per-task). All of them describe one amount: each bounds the others, none is added to
// another, and numbers that cannot all be true are refused.
#pragma once

#include "sched/request/request_shape.h"

namespace muster::sched {

// Whether both are the same kind of device; a need without a type means any type.
inline bool alike(const GresNeed& a, const GresNeed& b) {
  return a.name == b.name && (a.type == b.type || a.type.empty() || b.type.empty());
}
uint64_t count_alike(const std::vector<GresNeed>& list, const GresNeed& need);

// The needs stated in one way, and the option that states them for GPUs and for other kinds.
struct Counted {
  std::vector<GresNeed>& needs;
  std::string_view gpus, others;
  std::string option(const GresNeed& need) const { return std::string(need.name == "gpu" ? gpus : others); }
};
inline Counted by_job(std::vector<GresNeed>& needs) { return {needs, "--gpus", "--gpus"}; }
inline Counted by_node(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-node", "--gres"}; }
inline Counted by_socket(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-socket", "--gpus-per-socket"}; }
inline Counted by_task(std::vector<GresNeed>& needs) { return {needs, "--gpus-per-task", "--tres-per-task"}; }

// Where `counts` names a device without a type and `typed` names types of it, gives the untyped need those types, several in proportion. An
// error where the proportion does not come out even.
Result<> type_counts(const Counted& typed, Counted counts);

// Leaves each kind in only one of per_node (or per_socket), per_job and per_task; what the other ways of asking said is expressed in the
// numbers of nodes and tasks. Shares of devices (shard, mps) stay as they are. Errors name the options.
Result<> settle_devices(const RequestBody& request, Shape& shape);

}  // namespace muster::sched
