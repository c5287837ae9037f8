#include "sched/explain/changes.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "model/tres_list.h"

namespace muster::sched {
namespace {

// One variation of the request. A row goes from the mildest change to the strongest.
struct Change {
  std::string text;
  std::string key;  // of scontrol update job: "TimeLimit=60"; "" where there is none
  RequestBody request;
  std::vector<uint32_t> partitions;
  uint32_t time_limit_min = 0;
};
using Row = std::vector<Change>;

std::string shown_minutes(uint32_t m) { return m == kUnlimited32 ? "UNLIMITED" : format_span(minutes(m)); }

// Time limits that people write, from a week down.
constexpr uint32_t kLimits[] = {7 * 24 * 60, 3 * 24 * 60, 2 * 24 * 60, 24 * 60, 12 * 60, 8 * 60, 6 * 60, 4 * 60, 3 * 60,
                                2 * 60,      60,          30,          15,      10,      5,      2,      1};
constexpr uint32_t kLeastPart = 24;  // nobody wants to hear of less than that part of the time asked for

// The list with its count of GPUs replaced: "gres/gpu:h100:8".
std::string with_gpus(TresList list, uint64_t count) {
  for (Tres& t : list.items())
    if (t.is_gpu()) t.count = count;
  return list.text();
}

struct GpuEntry {
  std::string type;
  uint64_t count = 0;
};
std::optional<GpuEntry> only_gpu(const TresList& tres) {
  std::optional<GpuEntry> out;
  for (const Tres& t : tres.items()) {
    if (!t.is_gpu()) continue;
    if (out) return std::nullopt;  // several types: left alone
    out = GpuEntry{t.type, t.count};
  }
  return out;
}

constexpr uint32_t kForecastsOfRow = 6;  // the strongest change, and the halving of at most 32

class Changes {
 public:
  Changes(const Cluster& cluster, const Job& job, uint32_t free_nodes)
      : cluster_(cluster), job_(job), free_nodes_(free_nodes), partitions_(partitions_of(cluster, job)) {}

  std::vector<Row> rows() {
    wishes();
    time();
    other_partitions();
    memory();
    cpus();
    gpus();
    nodes();
    return std::move(rows_);
  }

 private:
  Change as_it_is(std::string text, std::string key) const {
    return {std::move(text), std::move(key), *job_.request, partitions_, job_.time_limit_min};
  }
  void single(std::string text, std::string key, const std::function<void(RequestBody&)>& edit) {
    Change c = as_it_is(std::move(text), std::move(key));
    edit(c.request);
    rows_.push_back({std::move(c)});
  }

  void wishes() {
    const RequestBody& request = *job_.request;
    if (request.contiguous) single("without --contiguous", "Contiguous=no", [](RequestBody& x) { x.contiguous = false; });
    if (request.switches) single("without --switches", "", [](RequestBody& x) { x.switches = 0; });
    if (request.exclusive == Exclusive::kNode || request.exclusive == Exclusive::kUser)
      single("without --exclusive", "", [](RequestBody& x) { x.exclusive = Exclusive::kDefault; });
    if (!request.required_nodes.empty())
      single("without --nodelist=" + request.required_nodes.text(), "ReqNodeList=", [](RequestBody& x) { x.required_nodes.clear(); });
    if (!request.excluded_nodes.empty())
      single("without --exclude=" + request.excluded_nodes.text(), "ExcNodeList=", [](RequestBody& x) { x.excluded_nodes.clear(); });
    if (!request.features.empty())
      single("without --constraint=" + request.features.text(), "Features=", [](RequestBody& x) { x.features.clear(); });
    if (!request.extra_constraint.empty())
      single("without --extra=" + request.extra_constraint.text(), "Extra=", [](RequestBody& x) { x.extra_constraint.clear(); });
    if (auto gpu = only_gpu(request.tres_per_node.value()); gpu && !gpu->type.empty()) {
      const std::string any = without_type(request.tres_per_node.value());
      single("any GPU instead of " + gpu->type, "TresPerNode=" + any, [&](RequestBody& x) { x.tres_per_node = any; });
    }
  }

  static std::string without_type(TresList list) {
    for (Tres& t : list.items())
      if (t.is_gpu()) t.type.clear();
    return list.text();
  }

  void time() {
    const uint32_t limit = job_.time_limit_min;
    std::vector<uint32_t> shorter;
    for (uint32_t p : partitions_)  // a limit above the partition's bars it
      if (const Partition* partition = cluster_.partitions.find(p); partition && partition->max_time_min < limit)
        shorter.push_back(partition->max_time_min);
    const uint32_t least = (limit == kUnlimited32 ? kLimits[0] : limit) / kLeastPart;
    for (uint32_t m : kLimits)
      if (m >= least) shorter.push_back(m);
    std::sort(shorter.rbegin(), shorter.rend());
    Row row;
    uint32_t last = limit;
    for (uint32_t m : shorter) {
      if (m == 0 || m >= last) continue;
      last = m;
      Change c = as_it_is("--time=" + shown_minutes(m) + " instead of " + shown_minutes(limit), "TimeLimit=" + shown_minutes(m));
      c.request.time_limit_min = m;
      c.time_limit_min = m;
      row.push_back(std::move(c));
    }
    rows_.push_back(std::move(row));
  }

  // Partitions that anybody may use. Whether the user may use one of the others is decided only at submission.
  bool open_to_all(const Partition& p) const {
    return p.state == PartitionState::kUp && !p.hidden && !p.root_only && !p.req_resv && p.allow_groups.empty() &&
           p.allow_accounts.empty() && p.deny_accounts.empty() && p.allow_qos.empty() && p.deny_qos.empty() && p.alloc_nodes.empty();
  }
  void other_partitions() {
    size_t offered = 0;
    cluster_.partitions.for_each([&](uint32_t index, const Partition& p) {
      if (std::find(partitions_.begin(), partitions_.end(), index) != partitions_.end() || !open_to_all(p)) return;
      if (++offered > 6) return;
      Change c = as_it_is("--partition=" + p.name, "Partition=" + p.name);
      c.partitions = {index};
      c.request.partitions = {p.name};
      rows_.push_back({std::move(c)});
    });
  }

  void memory() {
    const RequestBody& request = *job_.request;
    auto row_of = [&](const std::optional<uint64_t>& now, std::string_view option, std::string_view key,
                      std::optional<uint64_t> RequestBody::*member) {
      if (!now || *now < 2) return;
      Row row;
      for (uint64_t mb : {*now / 2, *now / 4}) {
        if (!mb) continue;
        Change c = as_it_is(std::string(option) + "=" + format_mem_mb(mb) + " instead of " + format_mem_mb(*now),
                            key.empty() ? "" : std::string(key) + "=" + format_mem_mb(mb));
        c.request.*member = mb;
        row.push_back(std::move(c));
      }
      rows_.push_back(std::move(row));
    };
    row_of(request.mem_per_node_mb, "--mem", "MinMemoryNode", &RequestBody::mem_per_node_mb);
    row_of(request.mem_per_cpu_mb, "--mem-per-cpu", "MinMemoryCPU", &RequestBody::mem_per_cpu_mb);
    row_of(request.mem_per_gpu_mb, "--mem-per-gpu", "", &RequestBody::mem_per_gpu_mb);
  }

  void cpus() {
    const uint32_t now = job_.request->cpus_per_task;
    Row row;
    for (uint32_t n = now / 2; n >= 1 && row.size() < 3; n /= 2) {
      Change c =
          as_it_is("--cpus-per-task=" + std::to_string(n) + " instead of " + std::to_string(now), "CpusPerTask=" + std::to_string(n));
      c.request.cpus_per_task = n;
      row.push_back(std::move(c));
    }
    rows_.push_back(std::move(row));
  }

  void gpus() {
    auto row_of = [&](TresText RequestBody::*member, std::string_view option, std::string_view key) {
      const TresList& now = (job_.request.get()->*member).value();
      std::optional<GpuEntry> gpu = only_gpu(now);
      if (!gpu || gpu->count < 2) return;
      Row row;
      for (uint64_t n = gpu->count / 2; n >= 1 && row.size() < 4; n /= 2) {
        const std::string less = with_gpus(now, n);
        Change c = as_it_is(std::string(option) + "=" + std::to_string(n) + " instead of " + std::to_string(gpu->count),
                            std::string(key) + "=" + less);
        c.request.*member = less;
        row.push_back(std::move(c));
      }
      rows_.push_back(std::move(row));
    };
    row_of(&RequestBody::tres_per_node, "--gpus-per-node", "TresPerNode");
    row_of(&RequestBody::tres_per_job, "--gpus", "TresPerJob");
    row_of(&RequestBody::tres_per_task, "--gpus-per-task", "TresPerTask");
  }

  void nodes() {
    const RequestBody& request = *job_.request;
    if (request.min_nodes < 2 || !request.node_sizes.empty()) return;
    Row row;
    uint32_t last = request.min_nodes;
    for (uint32_t count : {free_nodes_, request.min_nodes / 2, request.min_nodes / 4, 1u}) {
      if (count == 0 || count >= last) continue;
      last = count;
      Change change = as_it_is("--nodes=" + std::to_string(count) + " instead of " + std::to_string(request.min_nodes),
                               "NumNodes=" + std::to_string(count));
      change.request.min_nodes = count;
      change.request.max_nodes = count;
      if (request.num_tasks) {
        change.request.num_tasks = std::max<uint32_t>(1, static_cast<uint32_t>(uint64_t{request.num_tasks} * count / request.min_nodes));
        if (change.request.num_tasks != request.num_tasks) {
          change.text += ", --ntasks=" + std::to_string(change.request.num_tasks);
          change.key += " NumTasks=" + std::to_string(change.request.num_tasks);
        }
      }
      row.push_back(std::move(change));
    }
    rows_.push_back(std::move(row));
  }

  const Cluster& cluster_;
  const Job& job_;
  const uint32_t free_nodes_;
  const std::vector<uint32_t> partitions_;
  std::vector<Row> rows_;
};

// Whether the start is earlier by so much that a change is worth it: by five minutes, and by a quarter of the wait.
bool clearly_sooner(Time start, std::optional<Time> as_it_is, Time now) {
  if (!as_it_is) return true;
  return start < *as_it_is && *as_it_is - start >= std::max<Duration>(minutes(5), (*as_it_is - now) / 4);
}

}  // namespace

Alternatives find_alternatives(const Cluster& cluster, const Job& job, WhatIf& queue, Time now, std::optional<Time> as_it_is,
                               uint32_t free_nodes) {
  Alternatives out;
  const std::string update = "scontrol update JobId=" + std::to_string(job.id.value) + " ";
  for (const Row& row : Changes(cluster, job, free_nodes).rows()) {
    if (row.empty()) continue;
    auto start_of = [&](const Change& c) -> std::optional<Time> {
      ++out.tried;
      Result<Planner::Forecast> got = queue.forecast(c.request, c.partitions, c.time_limit_min);
      return got ? std::optional(got->start) : std::nullopt;
    };
    if (out.tried + kForecastsOfRow > kMaxForecasts) break;
    const std::optional<Time> earliest = start_of(row.back());
    if (!earliest || !clearly_sooner(*earliest, as_it_is, now)) continue;
    // Halving finds the mildest change that starts the job as early.
    size_t mild = 0, enough = row.size() - 1;
    while (mild < enough) {
      const size_t middle = (mild + enough) / 2;
      const std::optional<Time> start = start_of(row[middle]);
      if (start && *start <= *earliest) enough = middle;
      else mild = middle + 1;
    }
    const Change& c = row[enough];
    out.list.push_back({c.text, c.key.empty() ? "" : update + c.key, *earliest, *earliest <= now});
  }
  std::stable_partition(out.list.begin(), out.list.end(), [](const Alternative& a) { return a.at_once; });
  if (out.list.size() > kMaxAlternatives) out.list.resize(kMaxAlternatives);
  return out;
}

}  // namespace muster::sched
