// Facts of amounts: CPUs, nodes, tasks, memory, shapes, TRES, and the nodes a job has. Included by job_fields.cc alone.
#pragma once

#include <algorithm>

#include "fields/job_composites.h"
#include "fields/job_fact.h"
#include "fields/job_values.h"

namespace muster::fields::resource {

inline uint32_t most_cpus(const JobRow& r) { return r.max_cpus ? r.max_cpus : r.cpus; }
inline uint64_t least_memory(const ShownRequest& q) { return min_memory(q).mb; }
inline bool asks_per_cpu(const JobView& v) { return min_memory(v.request).per == MinMemory::kCpu; }
inline bool asks_not_per_cpu(const JobView& v) { return !asks_per_cpu(v); }
inline std::optional<uint64_t> memory_per(const ShownRequest& q, MinMemory::Per per) {
  const MinMemory least = min_memory(q);
  return least.per == per ? std::optional(least.mb) : std::nullopt;
}
inline std::optional<uint64_t> memory_per_cpu(const ShownRequest& q) { return memory_per(q, MinMemory::kCpu); }
inline std::optional<uint64_t> memory_per_node(const ShownRequest& q) { return memory_per(q, MinMemory::kNode); }
inline uint64_t node_memory(const ShownRequest& q) { return memory_per_node(q).value_or(0); }
inline bool spares_cores(const JobView& v) { return !v.request.core_spec_is_threads; }
inline bool spares_threads(const JobView& v) { return v.request.core_spec_is_threads; }
inline uint32_t spared_cores(const ShownRequest& q) { return q.core_spec_is_threads ? 0 : q.core_spec; }
inline uint32_t spared_threads(const ShownRequest& q) { return q.core_spec_is_threads ? q.core_spec : 0; }
inline uint32_t cpus_of_task(const ShownRequest& q) { return std::max(1u, q.cpus_per_task); }
inline std::string per_gpu(uint64_t count) { return "gres/gpu:" + std::to_string(count); }
inline std::string cpus_per_tres(const ShownRequest& q) { return q.cpus_per_gpu ? per_gpu(q.cpus_per_gpu) : std::string(); }
inline std::string mem_per_tres(const ShownRequest& q) { return q.mem_per_gpu_mb ? per_gpu(*q.mem_per_gpu_mb) : std::string(); }
inline const TresAmounts& tres_asked(const JobRow& r) { return r.tres->requested; }
inline const TresAmounts& tres_held(const JobRow& r) { return r.tres->allocated; }
inline const TresAmounts& tres_held_or_asked(const JobRow& r) { return tres_held(r).empty() ? tres_asked(r) : tres_held(r); }
inline std::string_view host(const JobView& v) { return v.request.kind == JobKind::kBatch ? v.row.batch_host : v.request.alloc_node; }
inline bool is_pending(const JobView& v) { return v.row.state == JobState::kPending; }
inline bool has_shares(const JobView& v) { return !v.row.shares.empty(); }

constexpr JobFact kFacts[] = {
    field<Quantity, &JobRow::cpus>("CPUs held, or asked for while pending", column('C', "NumCPUs", "CPUS"), shown("NumCPUs", at(160, 20)),
                                   member("cpus", 750)),
    field<Quantity, &JobRow::nodes>("Nodes held, or the least asked for while pending", column('D', "NumNodes", "NODES"),
                                    shown("NumNodes", at(160, 10)).written(show_nodes), member("node_count", 760)),
    field<Quantity, &JobRow::tasks>("Tasks", column(0, "NumTasks", "TASKS"), shown("NumTasks", at(160, 30)), member("tasks", 770)),
    field<Number, most_cpus>("Most CPUs it may get: those asked for without a maximum", column(0, "MaxCPUs", "MAX_CPUS"),
                             member<Quantity, &JobRow::max_cpus>("max_cpus", 620)),
    field<Number, most_nodes>("Most nodes it may get: those asked for without a maximum", column(0, "MaxNodes", "MAX_NODES"),
                              member<Quantity, &JobRow::max_nodes>("max_nodes", 630)),
    field<Words, &ShownRequest::node_sizes>("The numbers of nodes it can run on", member("job_size_str", 550)),
    field<Quantity, min_cpus_per_node>("Least CPUs on a node", column('c', "MinCpus", "MIN_CPUS"), shown("MinCPUsNode", at(230, 10)),
                                       member("minimum_cpus_per_node", 820)),
    field<MemMb, least_memory>("Memory asked for per node, CPU or GPU", column('m', "MinMemory", "MIN_MEMORY")),
    field<MemMb, least_memory>("Memory asked for per CPU", shown("MinMemoryCPU", at(230, 20)).when(asks_per_cpu),
                               member<Quantity, memory_per_cpu>("memory_per_cpu", 800)),
    field<MemMb, node_memory>("Memory asked for per node", shown("MinMemoryNode", at(230, 30)).when(asks_not_per_cpu),
                              member<Quantity, memory_per_node>("memory_per_node", 810)),
    field<MemMb, &ShownRequest::tmp_disk_mb>("Temporary disk asked for per node", column('d', "MinTmpDisk", "MIN_TMP_DISK"),
                                             shown("MinTmpDiskNode", at(230, 40)), member("minimum_tmp_disk_per_node", 830)),
    field<Asked, &ShownRequest::sockets_per_node>("Sockets per node asked for", column('H', "Sockets", "SOCKETS_PER_NODE").none("*"),
                                                  shown("Socks/Node", at(190, 10)), member("sockets_per_node", 1060)),
    field<Asked, &ShownRequest::cores_per_socket>("Cores per socket asked for", column('I', "Cores", "CORES_PER_SOCKET").none("*"),
                                                  member("cores_per_socket", 250)),
    field<Asked, &ShownRequest::threads_per_core>("Threads per core asked for", column('J', "Threads", "THREADS_PER_CORE").none("*"),
                                                  member("threads_per_core", 1220)),
    composite("Sockets, cores and threads asked for", column('z', "SCT", "S:C:T").written(shape),
              shown("ReqB:S:C:T", at(160, 50)).written(show_shape)),
    composite("Cores left to the system on each node", column('X', "CoreSpec", "CORE_SPEC").none("N/A").written(core_spec)),
    field<Asked, spared_cores>("Cores left to the system on each node", shown("CoreSpec", at(190, 30)).when(spares_cores),
                               member<Number>("core_spec", 230)),
    field<Asked, spared_threads>("Threads left to the system on each node", shown("ThreadSpec", at(190, 40)).when(spares_threads),
                                 member<Number>("thread_spec", 240)),
    field<Quantity, cpus_of_task>("CPUs of a task", column(0, "cpus-per-task", "CPUS_PER_TASK"), shown("CPUs/Task", at(160, 40)),
                                  member("cpus_per_task", 270)),
    field<Text, cpus_per_tres>("CPUs for each GPU", column(0, "cpus-per-tres", "CPUS_PER_TRES").none("N/A"),
                               shown("CpusPerTres", at(400, 10)).if_any(), member("cpus_per_tres", 310)),
    field<Text, mem_per_tres>("Memory for each GPU", column(0, "mem-per-tres", "MEM_PER_TRES").none("N/A").written(mem_per_tres_column),
                              shown("MemPerTres", at(410, 10)).if_any(), member("memory_per_tres", 650)),
    field<Asked, &ShownRequest::ntasks_per_core>("Tasks per core", column(0, "NTPerCore", "NTASKS_PER_CORE"),
                                                 member("tasks_per_core", 700)),
    field<Quantity, &ShownRequest::ntasks_per_node>("Tasks per node", column(0, "NTPerNode", "NTASKS_PER_NODE"),
                                                    shown("NtasksPerN:B:S:C", at(190, 20)).written(show_tasks_per),
                                                    member("tasks_per_node", 720)),
    field<Asked, &ShownRequest::ntasks_per_socket>("Tasks per socket", column(0, "NTPerSocket", "NTASKS_PER_SOCKET"),
                                                   member("tasks_per_socket", 730)),
    field<Asked, &ShownRequest::ntasks_per_gpu>("Tasks per GPU", member("tasks_per_tres", 710)),
    field<Amounts, tres_held_or_asked>("TRES held, or asked for while pending", column(0, "tres-alloc", "TRES_ALLOC").parts(kRowTres)),
    field<Amounts, tres_asked>("TRES asked for", shown("ReqTRES", at(170, 10)), member("tres_req_str", 1290)),
    field<Amounts, tres_held>("TRES held", shown("AllocTRES", at(180, 10)), member("tres_alloc_str", 1300)),
    composite("What is billed", member("billable_tres", 260).written(Shape::kNumber, json_billable)),
    field<Text, &JobRow::node_list>("Nodes of the job",
                                    column('N', "NodeList", "NODELIST").none("").cut(kWideValue | kWideHeader).parts(kRowNodes),
                                    shown("NodeList", at(140, 10)).none(""), member("nodes", 680)),
    field<Text, &JobRow::batch_host>("Host that runs the script or the allocating command",
                                     column<Text, host>('B', "BatchHost", "EXEC_HOST").none("n/a"),
                                     shown("BatchHost", at(150, 10)).if_any(), member("batch_host", 120)),
    field<Text, &JobRow::expected_nodes>("Nodes a pending job is expected to get",
                                         column('Y', "SchedNodes", "SCHEDNODES").cut(kWideValue | kWideHeader).parts(kRowVerdict),
                                         shown("SchedNodeList", at(140, 20)).when(is_pending).if_any(), member("scheduled_nodes", 1000)),
    field<Text, &JobRow::gres_allocated>("GRES held on all its nodes", shown("JOB_GRES", at(200, 10)).details().when(has_shares)),
    block("What it holds on each node", at(210, 10), show_shares),
    // Slurm lacks this key: it is there where a topology has a say, as one word without blanks, which parsers of key=value need.
    field<Text, &JobRow::placement>("Where its nodes are in the topology",
                                    shown("Placement", at(220, 10)).details().when(has_shares).if_any()),
    composite("What it holds on each node", member("job_resources", 540).written(Shape::kObject, json_resources)),
    composite("GRES held on each node", member("gres_detail", 470).written(Shape::kTexts, json_gres_detail)),
};

}  // namespace muster::fields::resource
