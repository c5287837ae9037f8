#include "sched/request/device_counts.h"

#include <algorithm>
#include <numeric>

namespace muster::sched {
namespace {

constexpr uint64_t kMaxTasks = 1u << 24;

std::unexpected<Error> contradiction(const std::string& why) { return fail(Errc::kInvalidReq, {}, why); }

bool untyped(const GresNeed& need) { return need.type.empty(); }

std::vector<GresNeed> of_name(const std::vector<GresNeed>& list, const std::string& name) {
  std::vector<GresNeed> out;
  for (const GresNeed& g : list)
    if (g.name == name) out.push_back(g);
  return out;
}

class Settler {
 public:
  Settler(const RequestBody& r, Shape& s) : r_(r), s_(s) {}

  Result<> run() {
    MUSTER_TRY_VOID(type_counts(node_, socket_));
    MUSTER_TRY_VOID(type_counts(socket_, node_));
    MUSTER_TRY_VOID(sockets());
    for (const Counted& said : {job_, task_})
      for (const Counted& place : {node_, socket_}) MUSTER_TRY_VOID(type_counts(said, place));
    MUSTER_TRY_VOID(type_counts(job_, task_));
    MUSTER_TRY_VOID(settle(s_.per_job, &Settler::job_by_nodes));
    MUSTER_TRY_VOID(settle(s_.per_task, &Settler::tasks_by_node));
    return settle(s_.per_job, &Settler::job_by_tasks);
  }

 private:
  // The rule returns true where other needs now express this one, which is then removed.
  template <class F>
  Result<> settle(std::vector<GresNeed>& needs, F&& rule) {
    for (size_t i = 0; i < needs.size();) {
      const GresNeed need = needs[i];
      if (is_shared_gres(need.name)) {
        ++i;
        continue;
      }
      MUSTER_TRY(said, (this->*rule)(need));
      if (said) std::erase_if(needs, [&](const GresNeed& g) { return g == need; });
      else ++i;
    }
    return {};
  }

  uint64_t on_a_node(const GresNeed& need) const {
    return count_alike(s_.per_node, need) + mul_sat(count_alike(s_.per_socket, need), r_.sockets_per_node);
  }

  Result<> sockets() {
    for (const GresNeed& socket : s_.per_socket) {
      const uint64_t node = count_alike(s_.per_node, socket), all = mul_sat(socket.count, r_.sockets_per_node);
      if (node && node != all)
        return contradiction("--gpus-per-socket and --sockets-per-node make " + std::to_string(all) + " for each node, and " +
                             node_.option(socket) + " says " + std::to_string(node));
      std::erase_if(s_.per_node, [&](const GresNeed& g) { return alike(g, socket); });
    }
    return {};
  }

  Result<bool> job_by_nodes(const GresNeed& job) {
    const uint64_t each = on_a_node(job);
    if (!each) return false;
    if (job.count % each)
      return contradiction("--gpus=" + std::to_string(job.count) + " is no multiple of " + node_.option(job) + "=" + std::to_string(each));
    const uint64_t nodes = job.count / each;
    const std::string so = "--gpus and " + node_.option(job) + " make " + std::to_string(nodes) + " nodes, ";
    if (nodes_ && nodes_ != nodes) return contradiction(so + "and of another type " + std::to_string(nodes_));
    nodes_ = nodes;
    const uint32_t least = std::max(r_.min_nodes, 1u), most = r_.max_nodes ? r_.max_nodes : kUnlimited32;
    const bool sized = s_.node_sizes.empty() || std::ranges::find(s_.node_sizes, nodes) != s_.node_sizes.end();
    if (nodes < least || nodes > most || !sized) return contradiction(so + "which --nodes does not allow");
    if (r_.num_tasks && nodes > r_.num_tasks && !r_.overcommit) return contradiction(so + "more than --ntasks");
    if (named_beyond(nodes)) return contradiction(so + "fewer than --nodelist names");
    s_.min_nodes = s_.max_nodes = static_cast<uint32_t>(std::min(nodes, kMaxTasks));
    s_.grow = false;
    return true;
  }

  // Whether more nodes are named than the devices allow, all of which the job would otherwise have. A smaller --nodes or --ntasks makes the
  // list a choice.
  bool named_beyond(uint64_t nodes) const {
    if (s_.required_nodes.empty() || s_.arbitrary) return false;
    const size_t named = s_.required_nodes->count();
    return named > nodes && (!r_.max_nodes || named <= r_.max_nodes) && (!r_.num_tasks || named <= r_.num_tasks);
  }

  // The node's devices belong to the tasks: a node takes at most as many tasks as it has devices for, and without --ntasks exactly that many.
  Result<bool> tasks_by_node(const GresNeed& task) {
    const uint64_t each = on_a_node(task);
    if (!each) return false;
    const uint64_t tasks = each / task.count;
    const uint32_t least = r_.num_tasks || r_.overcommit ? 1 : std::max(r_.ntasks_per_node, 1u);  // else a maximum, or ignored
    if (tasks < least)
      return contradiction(std::to_string(least) + " tasks with " + task_.option(task) + "=" + std::to_string(task.count) +
                           " on a node need more than " + node_.option(task) + "=" + std::to_string(each));
    const auto most = static_cast<uint32_t>(std::min(tasks, kMaxTasks));
    s_.tasks_per_node = s_.tasks_per_node ? std::min(s_.tasks_per_node, most) : most;
    return true;
  }

  Result<bool> job_by_tasks(const GresNeed& job) {
    const uint64_t each = count_alike(s_.per_task, job);
    if (!each) return false;
    if (job.count % each) return contradiction("--gpus is no multiple of " + task_.option(job));
    const uint64_t tasks = job.count / each;
    if (r_.num_tasks && r_.num_tasks != tasks)
      return contradiction("--gpus and " + task_.option(job) + " make " + std::to_string(tasks) + " tasks, and --ntasks says " +
                           std::to_string(r_.num_tasks));
    if (s_.num_tasks && s_.num_tasks != tasks)
      return contradiction("--gpus and " + task_.option(job) + " make " + std::to_string(tasks) + " tasks, and of another type " +
                           std::to_string(s_.num_tasks));
    s_.num_tasks = static_cast<uint32_t>(std::min(tasks, kMaxTasks));
    return true;
  }

  const RequestBody& r_;
  Shape& s_;
  Counted job_ = by_job(s_.per_job), node_ = by_node(s_.per_node), socket_ = by_socket(s_.per_socket), task_ = by_task(s_.per_task);
  uint64_t nodes_ = 0;  // as --gpus made them
};

}  // namespace

uint64_t count_alike(const std::vector<GresNeed>& list, const GresNeed& need) {
  uint64_t n = 0;
  for (const GresNeed& g : list)
    if (alike(g, need)) n += g.count;
  return n;
}

Result<> type_counts(const Counted& typed, Counted counts) {
  std::vector<GresNeed> out;
  for (const GresNeed& all : counts.needs) {
    std::vector<GresNeed> types = of_name(typed.needs, all.name);
    if (!all.type.empty() || is_shared_gres(all.name) || std::ranges::all_of(types, untyped)) {
      out.push_back(all);
      continue;
    }
    const uint64_t sum = count_alike(types, all), same = std::gcd(sum, all.count), portion = sum / same;
    const bool clear = std::ranges::none_of(types, untyped) && of_name(counts.needs, all.name).size() == 1;
    const bool even = types.size() == 1 || std::ranges::all_of(types, [&](const GresNeed& g) { return g.count % portion == 0; });
    if (!clear || !even)
      return contradiction(counts.option(all) + "=" + std::to_string(all.count) + " does not go by the types of " + typed.option(all));
    for (GresNeed& g : types) {
      g.count = types.size() == 1 ? all.count : g.count / portion * (all.count / same);
      out.push_back(std::move(g));
    }
  }
  counts.needs = std::move(out);
  return {};
}

Result<> settle_devices(const RequestBody& request, Shape& shape) { return Settler(request, shape).run(); }

}  // namespace muster::sched
