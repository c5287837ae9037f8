// place_step: the layout of a step's tasks over its job's nodes. srun(1): -N -n -c -w -x -r --exact --overlap --gres --mem --distribution.
// Steps do not share what they hold, except with --overlap. A step without --exact takes every CPU of the job that is free on its nodes;
// the batch, extern and interactive steps hold nothing.
#include <algorithm>
#include <numeric>

#include "sched/fit/node_fit.h"
#include "sched/fit/request_class.h"
#include "sched/place/gang_chooser.h"
#include "sched/place/placement.h"
#include "sched/planner.h"
#include "sched/request/device_counts.h"

namespace muster::sched {
namespace {

bool takes_memory(const StepRequest& r, const RequestBody& job) {
  if (r.mem_per_node_mb) return *r.mem_per_node_mb > 0;
  if (r.mem_per_cpu_mb) return *r.mem_per_cpu_mb > 0;
  if (r.mem_per_gpu_mb) return *r.mem_per_gpu_mb > 0;
  return job.mem_per_cpu_mb && *job.mem_per_cpu_mb > 0;
}

// What is left of the job on one of its nodes.
struct Room {
  uint32_t index = 0;
  Bitmap cpus;
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  uint32_t cap = 0;  // tasks
};

// The part of the share that makes up `n`: its first devices, or shares of them.
GresShare part_of(const GresShare& g, uint64_t n) {
  GresShare part{g.name, g.type, n, {}, {}};
  uint64_t left = n;
  g.devices.for_each([&](size_t d) {
    const uint64_t here = std::min(left, g.shares.empty() ? 1 : g.shares_on(d));
    if (here == 0) return;
    part.devices.set(d);
    if (!g.shares.empty()) part.shares.push_back(here);
    left -= here;
  });
  return part;
}

class StepPlacer {
 public:
  StepPlacer(const Cluster& cluster, const Job& job, const StepRequest& request, const StepBounds& bounds)
      : cluster_(cluster), job_(job), r_(request), nodes_(job.allocation->nodes), most_on_node_(bounds.most_tasks) {}

  Result<std::vector<StepShare>> run() {
    MUSTER_TRY_VOID(read_request());
    auto now = attempt(true);
    if (now || r_.overlap) return now;
    // Would it fit if nothing else ran?
    auto alone = attempt(false);
    if (!alone) return alone;
    return fail(Errc::kNodesBusy);
  }

 private:
  Result<> read_request() {
    MUSTER_TRY(dist, r_.distribution.parsed());
    dist_ = dist;
    cpus_per_task_ = std::max(r_.cpus_per_task, 1u);
    exact_ = (r_.exact || r_.exclusive || r_.cpus_per_task > 0 || r_.cpus_per_gpu > 0) && !r_.whole;
    MUSTER_TRY(per_node, gres_needs(r_.tres_per_node, "--gres"));
    MUSTER_TRY(per_step, gres_needs(r_.tres_per_step, "--gpus"));
    MUSTER_TRY(per_task, gres_needs(r_.tres_per_task, "--gpus-per-task"));
    MUSTER_TRY(per_socket, gres_needs(r_.tres_per_socket, "--gpus-per-socket"));
    per_node_ = std::move(per_node);
    for (GresNeed& need : per_socket) {
      need.count = mul_sat(need.count, std::max(r_.sockets_per_node, 1u));
      per_node_.push_back(std::move(need));
    }
    per_step_ = std::move(per_step);
    per_task_ = std::move(per_task);
    MUSTER_TRY_VOID(settle_devices());
    // --gpus-per-socket only says where GPUs lie: a job that has its nodes whole has all their GPUs, and so have its steps.
    const bool others_asked = !(r_.tres_per_node.empty() && r_.tres_per_step.empty() && r_.tres_per_task.empty());
    const bool as_job = !others_asked && job_.allocation->whole_nodes && r_.tres_per_socket == job_.request->tres_per_socket;
    if (as_job) per_node_.clear();
    gres_asked_ =
        !as_job && !(r_.tres_per_node.empty() && r_.tres_per_step.empty() && r_.tres_per_task.empty() && r_.tres_per_socket.empty());
    if (!gres_asked_ && r_.ntasks_per_gpu && r_.num_tasks) {  // --ntasks-per-gpu says how many GPUs so many tasks have
      per_step_.push_back({"gpu", "", (uint64_t{r_.num_tasks} + r_.ntasks_per_gpu - 1) / r_.ntasks_per_gpu});
      gres_asked_ = true;
    }
    for (const TresText* text :
         {&job_.request->tres_per_node, &job_.request->tres_per_job, &job_.request->tres_per_task, &job_.request->tres_per_socket})
      for (const Tres& t : text->value().items())
        if (t.is_gres()) job_gres_.push_back(t.name);
    if (r_.num_tasks > kMaxStepTasks) return fail(Errc::kInvalidTaskCount, {}, "--ntasks: at most " + std::to_string(kMaxStepTasks));
    if (dist_.nodes == Distribution::Nodes::kArbitrary && !r_.required_nodes.empty()) return read_arbitrary();
    return allowed_nodes();
  }

  // The counts describe one amount from several sides, and many come from variables that the job set. A count for nodes takes precedence
  // over one for the step, and tasks share what their node has.
  Result<> settle_devices() {
    const Counted step = by_job(per_step_), node = by_node(per_node_), task = by_task(per_task_);
    MUSTER_TRY_VOID(type_counts(step, node));
    MUSTER_TRY_VOID(type_counts(task, node));
    MUSTER_TRY_VOID(type_counts(step, task));
    std::erase_if(per_step_, [&](const GresNeed& step) { return count_alike(per_node_, step) > 0; });
    std::erase_if(per_task_, [&](const GresNeed& task) {
      const uint64_t node = count_alike(per_node_, task);
      if (is_shared_gres(task.name) || node == 0) return false;
      tasks_on_node_ = std::min(tasks_on_node_, node / task.count);
      return true;
    });
    std::erase_if(per_step_, [&](const GresNeed& step) { return count_alike(per_task_, step) > 0; });
    return {};
  }

  // The index in the job of each node of the list, or an error.
  Result<std::vector<uint32_t>> indexes(const NodeList& list, std::string_view option) const {
    MUSTER_TRY(ids, nodes_named(cluster_, list));
    std::vector<uint32_t> out;
    for (uint32_t id : ids) {
      auto it = std::find_if(nodes_.begin(), nodes_.end(), [&](const NodeShare& s) { return s.node.value == id; });
      if (it == nodes_.end() && option != "--exclude")
        return fail(Errc::kRequestedNodeConfigUnavailable, {}, std::string(option) + ": a node outside the job's allocation");
      if (it != nodes_.end()) out.push_back(static_cast<uint32_t>(it - nodes_.begin()));
    }
    return out;
  }

  Result<> read_arbitrary() {
    MUSTER_TRY(list, indexes(r_.required_nodes, "--nodelist"));
    const uint32_t tasks = r_.num_tasks ? r_.num_tasks : static_cast<uint32_t>(list.size());
    if (tasks > list.size())
      return fail(Errc::kInvalidTaskCount, {},
                  "--distribution=arbitrary lists " + std::to_string(list.size()) + " places for " + std::to_string(tasks) + " tasks");
    list.resize(tasks);
    arbitrary_ = std::move(list);
    return {};
  }

  Result<> allowed_nodes() {
    Bitmap out(nodes_.size(), true);
    if (r_.relative >= 0) {
      if (static_cast<size_t>(r_.relative) >= nodes_.size())
        return fail(Errc::kRequestedNodeConfigUnavailable, {},
                    "--relative=" + std::to_string(r_.relative) + ": the job has " + std::to_string(nodes_.size()) + " nodes");
      for (int32_t i = 0; i < r_.relative; ++i) out.reset(static_cast<size_t>(i));
    }
    if (!r_.excluded_nodes.empty()) {
      MUSTER_TRY(list, indexes(r_.excluded_nodes, "--exclude"));
      for (uint32_t i : list) out.reset(i);
    }
    required_ = Bitmap(nodes_.size());
    if (!r_.required_nodes.empty()) {
      MUSTER_TRY(list, indexes(r_.required_nodes, "--nodelist"));
      for (uint32_t i : list) required_.set(i);
      if (!out.contains(required_)) return fail(Errc::kRequestedNodeConfigUnavailable, {}, "--nodelist and --exclude name the same node");
    }
    allowed_ = std::move(out);
    return settle_counts();
  }

  // How many nodes and tasks are wanted.
  Result<> settle_counts() {
    const auto there = static_cast<uint32_t>(allowed_.count());
    min_nodes_ = r_.min_nodes;
    max_nodes_ = r_.max_nodes ? r_.max_nodes : r_.min_nodes ? r_.min_nodes : there;
    tasks_ = r_.num_tasks;
    if (required_.any()) {
      const auto named = static_cast<uint32_t>(required_.count());
      if (!r_.min_nodes) min_nodes_ = max_nodes_ = named;
      if (max_nodes_ < named) {  // a choice among the nodes named
        allowed_ &= required_;
        required_ = Bitmap(nodes_.size());
      }
    }
    if (tasks_) {
      min_nodes_ = std::min(min_nodes_, tasks_);
      max_nodes_ = std::min(max_nodes_, tasks_);
    }
    if (min_nodes_ > there) {
      if (r_.relative < 0)
        return fail(Errc::kRequestedNodeConfigUnavailable, {},
                    "--nodes=" + std::to_string(r_.min_nodes) + ": the job has " + std::to_string(there) + " nodes to offer");
      min_nodes_ = there;  // srun warns, --relative wins
    }
    max_nodes_ = std::max(std::min(max_nodes_, there), std::max(min_nodes_, 1u));
    // Where nothing is asked for, the step has the whole allocation with the job's own layout.
    as_job_ = !tasks_ && !r_.min_nodes && !r_.ntasks_per_node;
    if (!tasks_ && !as_job_ && !r_.min_nodes) min_nodes_ = max_nodes_;
    if (as_job_ && !required_.any()) min_nodes_ = max_nodes_;
    return {};
  }

  std::vector<Room> rooms(bool minding_others) const {
    std::vector<Room> out;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      const NodeShare& s = nodes_[i];
      Room room{i, s.cpus, s.mem_mb, s.gres, 0};
      if (job_.run->releasing.any() && !job_.run->releasing.test(i)) room.cpus = Bitmap();
      out.push_back(std::move(room));
    }
    if (!minding_others || r_.overlap) return out;
    for (const Step& step : job_.steps) {
      if (step.overlap || step.id.value >= kInteractiveStep.value) continue;
      const bool memory = step.request && takes_memory(*step.request, *job_.request);
      for (const StepShare& s : step.shares) {
        if (s.done || s.node_index >= out.size()) continue;
        Room& room = out[s.node_index];
        room.cpus -= s.cpus;
        if (memory) room.mem_mb -= std::min(room.mem_mb, s.mem_mb);
        for (const GresShare& g : s.gres) remove_gres(room.gres, g);
      }
    }
    return out;
  }

  static uint64_t gres_in(const std::vector<GresShare>& gres, const GresNeed& need) {
    uint64_t n = 0;
    for (const GresShare& g : gres)
      if (g.name == need.name && (need.type.empty() || g.type == need.type)) n += g.count;
    return n;
  }

  // A job with --mem-update may have less by now than it asked for, and than srun in it knows: then its steps have all that is left.
  uint64_t memory_of(const Room& room, uint64_t cpus, uint64_t gpus) const {
    const uint64_t asked = memory_asked(cpus, gpus);
    return job_.request->mem_update.empty() ? asked : std::min(asked, nodes_[room.index].mem_mb);
  }

  uint64_t memory_asked(uint64_t cpus, uint64_t gpus) const {
    if (r_.mem_per_node_mb) return *r_.mem_per_node_mb;
    if (r_.mem_per_cpu_mb) return mul_sat(*r_.mem_per_cpu_mb, cpus);
    if (r_.mem_per_gpu_mb) return mul_sat(*r_.mem_per_gpu_mb, gpus);
    if (job_.request->mem_per_cpu_mb) return mul_sat(*job_.request->mem_per_cpu_mb, cpus);
    return 0;
  }

  // Threads of a core that tasks may run on; 0 = all.
  uint32_t threads_used() const {
    if (r_.threads_per_core) return r_.threads_per_core;
    if (r_.hint->one_thread() || r_.ntasks_per_core == 1) return 1;
    return 0;
  }

  uint32_t threads_of(uint32_t index) const {
    const Node* n = cluster_.nodes.find(nodes_[index].node.value);
    return n && n->spec ? make_kind(*n, false).threads : 1;
  }

  // The CPUs of a room that tasks can be placed on.
  uint64_t task_cpus(const Room& room) const {
    const uint32_t use = threads_used();
    if (!use) return room.cpus.count();
    const uint32_t threads = threads_of(room.index);
    uint64_t n = 0;
    for (size_t cpu = room.cpus.first(); cpu != Bitmap::npos;) {
      const size_t end = (cpu / threads + 1) * threads;
      uint32_t on_core = 0;
      for (; cpu != Bitmap::npos && cpu < end; cpu = room.cpus.next(cpu + 1)) ++on_core;
      n += std::min(on_core, use);
    }
    return n;
  }

  void cap_room(Room& room) const {
    uint64_t cap = r_.overcommit ? most_on_node_ : task_cpus(room) / cpus_per_task_;
    if (room.cpus.none()) cap = 0;
    if (r_.ntasks_per_node) cap = std::min<uint64_t>(cap, r_.ntasks_per_node);
    cap = std::min(cap, tasks_on_node_);
    for (const GresNeed& need : per_node_)
      if (gres_in(room.gres, need) < need.count) cap = 0;
    for (const GresNeed& need : per_step_)
      if (gres_in(room.gres, need) == 0) cap = 0;
    for (const GresNeed& need : per_task_) cap = std::min(cap, gres_in(room.gres, need) / need.count);
    if (r_.ntasks_per_gpu) {
      uint64_t gpus = 0;
      for (const GresNeed& need : per_node_) gpus += need.name == "gpu" ? need.count : 0;
      if (!gpus) gpus = gres_in(room.gres, {"gpu", "", 0, false});
      cap = std::min(cap, mul_sat(gpus, r_.ntasks_per_gpu));
    }
    if (!gres_asked_)  // by default all that the job asked for
      for (const GresShare& g : nodes_[room.index].gres)
        if (wanted_by_job(g.name) && gres_in(room.gres, {g.name, g.type, 0, false}) < g.count) cap = 0;
    const uint64_t least = memory_of(room, cpus_per_task_, 1);
    if (least > room.mem_mb) cap = 0;
    else if (r_.mem_per_cpu_mb && *r_.mem_per_cpu_mb && exact_) cap = std::min(cap, room.mem_mb / *r_.mem_per_cpu_mb / cpus_per_task_);
    room.cap = static_cast<uint32_t>(std::min<uint64_t>(cap, most_on_node_));
  }

  bool wanted_by_job(const std::string& name) const { return std::find(job_gres_.begin(), job_gres_.end(), name) != job_gres_.end(); }

  Result<std::vector<StepShare>> attempt(bool minding_others) {
    std::vector<Room> all = rooms(minding_others);
    for (Room& room : all) cap_room(room);
    if (!arbitrary_.empty()) return place_arbitrary(all);
    std::vector<Room> open;
    for (Room& room : all) {
      if (!allowed_.test(room.index)) continue;
      if (room.cap > 0) open.push_back(std::move(room));
      else if (required_.test(room.index)) return too_little(room);
    }
    if (open.empty()) return too_little(all.front());
    std::vector<Room> chosen;
    MUSTER_TRY(tasks, choose_nodes(std::move(open), chosen));
    return lay_out(chosen, tasks);
  }

  std::unexpected<Error> too_little(const Room& room) const {
    for (const auto* needs : {&per_node_, &per_step_, &per_task_})
      for (const GresNeed& need : *needs)
        if (gres_in(room.gres, need) < std::max<uint64_t>(needs == &per_step_ ? 1 : need.count, 1))
          return fail(Errc::kInvalidGres, {}, "the job holds too little gres/" + need.name + " on a node");
    if (memory_of(room, cpus_per_task_, 1) > room.mem_mb)
      return fail(Errc::kMemoryRequest, {}, "the job holds " + std::to_string(room.mem_mb) + " MiB on a node");
    return fail(Errc::kTooManyRequestedCpus, {}, "a task needs " + std::to_string(cpus_per_task_) + " CPUs on one node");
  }

  Result<> within_limit(uint64_t tasks, size_t nodes) const {
    if (tasks <= uint64_t{most_on_node_} * nodes) return {};
    return fail(Errc::kInvalidTaskCount, {},
                "MaxTasksPerNode=" + std::to_string(most_on_node_) + ": " + std::to_string(tasks) + " tasks on " + std::to_string(nodes) +
                    (nodes == 1 ? " node" : " nodes"));
  }

  // In a topology of blocks, a step that fits into one block stays in one: of those with enough nodes, the block with the fewest.
  void prefer_block(std::vector<Room>& open) const {
    const Partition* partition = cluster_.partitions.find(job_.partition);
    const Topology* topology = partition && cluster_.topologies ? cluster_.topologies->of(*partition) : nullptr;
    if (!topology || topology->kind != TopologyKind::kBlock || max_nodes_ >= open.size()) return;
    auto in = [&](const TopologyUnit& block, const Room& r) { return std::ranges::binary_search(block.nodes, nodes_[r.index].node.value); };
    const TopologyUnit* best = nullptr;
    ptrdiff_t least = 0;
    for (const TopologyUnit& block : topology->units) {
      const ptrdiff_t n = std::ranges::count_if(open, [&](const Room& r) { return in(block, r); });
      if (n < max_nodes_ || (best && n >= least)) continue;
      best = &block;
      least = n;
    }
    if (best) std::stable_partition(open.begin(), open.end(), [&](const Room& r) { return in(*best, r); });
  }

  // The nodes to use, in the job's order, and the tasks on each.
  Result<std::vector<uint32_t>> choose_nodes(std::vector<Room> open, std::vector<Room>& chosen) const {
    if (open.size() < min_nodes_) return fail(Errc::kNodesBusy, {}, "too few of the job's nodes can take a task");
    auto cap_sum = [](const std::vector<Room>& rooms) {
      uint64_t n = 0;
      for (const Room& r : rooms) n += r.cap;
      return n;
    };
    // Required nodes come first, then the others in order, up to the maximum; beyond that a node is added only while tasks lack room.
    prefer_block(open);
    std::stable_partition(open.begin(), open.end(), [&](const Room& r) { return required_.test(r.index); });
    for (Room& room : open) {
      if (chosen.size() >= max_nodes_) break;
      chosen.push_back(std::move(room));
    }
    std::sort(chosen.begin(), chosen.end(), [](const Room& a, const Room& b) { return a.index < b.index; });
    std::vector<uint32_t> tasks;
    if (!tasks_) {
      for (const Room& r : chosen) {
        const uint32_t wanted = as_job_ ? std::max(nodes_[r.index].tasks, 1u) : std::max(r_.ntasks_per_node, 1u);
        MUSTER_TRY_VOID(within_limit(wanted, 1));
        if (wanted > r.cap && !(as_job_ && r.cap > 0)) return fail(Errc::kTooManyRequestedCpus);
        tasks.push_back(std::min(wanted, r.cap));
      }
      return tasks;
    }
    MUSTER_TRY_VOID(within_limit(tasks_, chosen.size()));
    if (cap_sum(chosen) < tasks_)
      return fail(Errc::kTooManyRequestedCpus, {},
                  "room for " + std::to_string(cap_sum(chosen)) + " of " + std::to_string(tasks_) + " tasks");
    std::vector<uint32_t> caps;
    for (const Room& r : chosen) caps.push_back(r.cap);
    // The nodes must also have enough for the step's --gpus; that is checked when the devices are handed out.
    const bool even = !dist_.pack || dist_.nodes == Distribution::Nodes::kCyclic || dist_.nodes == Distribution::Nodes::kPlane;
    return spread_tasks(caps, tasks_, even);
  }

  Result<std::vector<StepShare>> lay_out(const std::vector<Room>& rooms, const std::vector<uint32_t>& tasks) const {
    std::vector<StepShare> out;
    for (size_t i = 0; i < rooms.size(); ++i) {
      StepShare share;
      share.node_index = rooms[i].index;
      share.task_count = tasks[i];
      out.push_back(std::move(share));
    }
    number_tasks(out);
    std::vector<uint64_t> left;
    for (const GresNeed& need : per_step_) left.push_back(need.count);
    for (size_t i = 0; i < rooms.size(); ++i) MUSTER_TRY_VOID(fill(rooms[i], rooms.size() - 1 - i, left, out[i]));
    for (size_t g = 0; g < left.size(); ++g)
      if (left[g] > 0) return fail(Errc::kInvalidGres, {}, "the job holds too little gres/" + per_step_[g].name);
    return out;
  }

  // Gives the step CPUs, devices and memory of one node. `after`: how many nodes still need one device each.
  Result<> fill(const Room& room, size_t after, std::vector<uint64_t>& left, StepShare& share) const {
    std::vector<GresShare> gres = room.gres;
    uint64_t gpus = 0;
    auto take = [&](const GresNeed& need, uint64_t count) {
      for (size_t i = 0; i < gres.size() && count > 0;) {
        const GresShare& g = gres[i];
        if (g.name != need.name || (!need.type.empty() && g.type != need.type)) {
          ++i;
          continue;
        }
        const GresShare part = part_of(g, std::min(count, g.count));
        count -= part.count;
        if (g.name == "gpu") gpus += part.count;
        add_gres(share.gres, part);
        remove_gres(gres, part);  // gone from the list if that was all
      }
      return count == 0;
    };
    bool ok = true;
    for (const GresNeed& need : per_node_) ok &= take(need, need.count);
    for (const GresNeed& need : per_task_) ok &= take(need, need.count * share.task_count);
    for (size_t g = 0; g < per_step_.size(); ++g) {
      if (left[g] <= after) return fail(Errc::kInvalidGres, {}, "--gpus: fewer than the step has nodes");
      const uint64_t n = std::min(left[g] - after, gres_in(gres, per_step_[g]));
      ok &= take(per_step_[g], n);
      left[g] -= n;
    }
    if (!gres_asked_)
      for (const GresShare& g : room.gres)
        if (wanted_by_job(g.name)) ok &= take({g.name, g.type, 0, false}, g.count);
    if (!ok) return fail(Errc::kInvalidGres, {}, "the job holds too few devices on a node");
    const uint64_t wants =
        std::max<uint64_t>(r_.overcommit ? std::min<uint64_t>(room.cpus.count(), cpus_per_task_ * uint64_t{share.task_count})
                                         : cpus_per_task_ * uint64_t{share.task_count},
                           gpus * r_.cpus_per_gpu);
    if (!pick_cpus(room, wants, share.cpus)) return fail(Errc::kTooManyRequestedCpus);
    const Bitmap& uncounted = nodes_[room.index].taken_back;  // the job has no memory for CPUs of the system
    const uint64_t counted = share.cpus.count() - share.cpus.count_and(uncounted);
    share.mem_mb = memory_of(room, exact_ ? std::min(wants, counted) : counted, gpus);
    if (share.mem_mb > room.mem_mb) return fail(Errc::kMemoryRequest);
    if (!takes_memory(r_, *job_.request)) share.mem_mb = nodes_[room.index].mem_mb;
    return {};
  }

  bool pick_cpus(const Room& room, uint64_t wants, Bitmap& out) const {
    if (task_cpus(room) < wants) return false;
    if (!exact_) {
      out = room.cpus;
      return true;
    }
    const uint32_t use = threads_used(), threads = use ? threads_of(room.index) : 1;
    uint64_t left = wants;
    out = Bitmap(room.cpus.size());
    for (size_t cpu = room.cpus.first(); cpu != Bitmap::npos && left > 0;) {
      const size_t end = (cpu / threads + 1) * threads;
      uint32_t on_core = 0;
      for (; cpu != Bitmap::npos && cpu < end; cpu = room.cpus.next(cpu + 1)) {
        out.set(cpu);  // the rest of a core whose threads are not all used goes with it
        ++on_core;
      }
      left -= std::min<uint64_t>(left, use ? std::min(on_core, use) : on_core);
    }
    return true;
  }

  void number_tasks(std::vector<StepShare>& shares) const {
    const uint32_t total =
        std::accumulate(shares.begin(), shares.end(), 0u, [](uint32_t n, const StepShare& s) { return n + s.task_count; });
    auto nodes = dist_.nodes;
    if (nodes == Distribution::Nodes::kDefault || nodes == Distribution::Nodes::kArbitrary)
      nodes = total <= shares.size() ? Distribution::Nodes::kCyclic : Distribution::Nodes::kBlock;
    const uint32_t plane = nodes == Distribution::Nodes::kPlane ? dist_.plane : 1;
    if (nodes == Distribution::Nodes::kBlock) {
      uint32_t next = 0;
      for (StepShare& s : shares) {
        s.first_task = next;
        next += s.task_count;
      }
      return;
    }
    std::vector<std::vector<uint32_t>> ranks(shares.size());
    for (uint32_t next = 0; next < total;)
      for (size_t i = 0; i < shares.size(); ++i)
        for (uint32_t p = 0; p < plane && ranks[i].size() < shares[i].task_count; ++p) ranks[i].push_back(next++);
    for (size_t i = 0; i < shares.size(); ++i) set_ranks(shares[i], std::move(ranks[i]));
  }

  static void set_ranks(StepShare& share, std::vector<uint32_t> ranks) {
    share.first_task = ranks.empty() ? 0 : ranks.front();
    bool run = true;
    for (size_t i = 1; i < ranks.size(); ++i) run &= ranks[i] == ranks[i - 1] + 1;
    if (!run) share.ranks = std::move(ranks);
  }

  Result<std::vector<StepShare>> place_arbitrary(std::vector<Room>& all) const {
    std::vector<std::vector<uint32_t>> ranks(all.size());
    for (uint32_t rank = 0; rank < arbitrary_.size(); ++rank) ranks[arbitrary_[rank]].push_back(rank);
    std::vector<Room> rooms;
    std::vector<uint32_t> tasks;
    for (size_t i = 0; i < all.size(); ++i) {
      if (ranks[i].empty()) continue;
      MUSTER_TRY_VOID(within_limit(ranks[i].size(), 1));
      if (ranks[i].size() > all[i].cap) return too_little(all[i]);
      tasks.push_back(static_cast<uint32_t>(ranks[i].size()));
      rooms.push_back(std::move(all[i]));
    }
    MUSTER_TRY(out, lay_out(rooms, tasks));
    for (StepShare& s : out) {
      s.ranks.clear();
      set_ranks(s, std::move(ranks[s.node_index]));
    }
    return out;
  }

  const Cluster& cluster_;
  const Job& job_;
  const StepRequest& r_;
  const std::vector<NodeShare>& nodes_;
  const uint32_t most_on_node_;  // MaxTasksPerNode
  Distribution dist_;
  bool exact_ = false, gres_asked_ = false, as_job_ = false;
  uint64_t tasks_on_node_ = UINT64_MAX;  // as many as its devices are enough for
  uint32_t cpus_per_task_ = 1, tasks_ = 0, min_nodes_ = 0, max_nodes_ = 0;
  std::vector<GresNeed> per_node_, per_step_, per_task_;
  std::vector<std::string> job_gres_;
  Bitmap allowed_, required_;
  std::vector<uint32_t> arbitrary_;
};

}  // namespace

Result<std::vector<StepShare>> place_step(const Cluster& cluster, const Job& job, const StepRequest& request, const StepBounds& bounds) {
  if (!job.allocation || job.allocation->nodes.empty() || !job.request) return fail(Errc::kJobNotRunning);
  return StepPlacer(cluster, job, request, bounds).run();
}

}  // namespace muster::sched
