// Fields of amounts: CPUs, nodes, tasks, memory, shapes, TRES, and the nodes a job has.
#include "fields/field_table.h"
#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

uint32_t most(uint32_t maximum, uint32_t asked) { return maximum ? maximum : asked; }
void min_memory_text(V v, S o) { put_mem(o, min_memory(v.request).mb, v.env.noconvert); }
void star(S o, uint32_t n) { put_number_or(o, n, "*"); }

constexpr JobField kFields[] = {
    {'C', "NumCPUs", "", "CPUS", 0, kWorks, "CPUs held, or asked for while pending", [](V v, S o) { put_number(o, v.row.cpus); },
     [](V v) { return int64_t{v.row.cpus}; }},
    {'D', "NumNodes", "", "NODES", 0, kWorks, "Nodes held, or the least asked for while pending",
     [](V v, S o) { put_number(o, v.row.nodes); }, [](V v) { return int64_t{v.row.nodes}; }},
    {0, "NumTasks", "", "TASKS", 0, kWorks, "Tasks", [](V v, S o) { put_number(o, v.row.tasks); },
     [](V v) { return int64_t{v.row.tasks}; }},
    {0, "MaxCPUs", "", "MAX_CPUS", 0, kWorks, "Most CPUs it may get: those asked for without a maximum",
     [](V v, S o) { put_number(o, most(v.row.max_cpus, v.row.cpus)); }, [](V v) { return int64_t{most(v.row.max_cpus, v.row.cpus)}; }},
    {0, "MaxNodes", "", "MAX_NODES", 0, kWorks, "Most nodes it may get: those asked for without a maximum",
     [](V v, S o) { put_number(o, most_nodes(v)); }, [](V v) { return int64_t{most_nodes(v)}; }},
    {'c', "MinCpus", "", "MIN_CPUS", 0, kWorks, "Least CPUs on a node", [](V v, S o) { put_number(o, min_cpus_per_node(v.request)); },
     [](V v) { return int64_t{min_cpus_per_node(v.request)}; }},
    {'m', "MinMemory", "", "MIN_MEMORY", 0, kWorks, "Memory asked for per node, CPU or GPU", min_memory_text,
     [](V v) { return static_cast<int64_t>(min_memory(v.request).mb); }},
    {'d', "MinTmpDisk", "", "MIN_TMP_DISK", 0, kWorks, "Temporary disk asked for per node",
     [](V v, S o) { put_mem(o, v.request.tmp_disk_mb, v.env.noconvert); }, [](V v) { return static_cast<int64_t>(v.request.tmp_disk_mb); }},
    {'H', "Sockets", "", "SOCKETS_PER_NODE", 0, kWorks, "Sockets per node asked for",
     [](V v, S o) { star(o, v.request.sockets_per_node); }},
    {'I', "Cores", "", "CORES_PER_SOCKET", 0, kWorks, "Cores per socket asked for", [](V v, S o) { star(o, v.request.cores_per_socket); }},
    {'J', "Threads", "", "THREADS_PER_CORE", 0, kWorks, "Threads per core asked for",
     [](V v, S o) { star(o, v.request.threads_per_core); }},
    {'z', "SCT", "", "S:C:T", 0, kWorks, "Sockets, cores and threads asked for",
     [](V v, S o) {
       star(o, v.request.sockets_per_node);
       o += ':';
       star(o, v.request.cores_per_socket);
       o += ':';
       star(o, v.request.threads_per_core);
     }},
    {'X', "CoreSpec", "", "CORE_SPEC", 0, kWorks, "Cores left to the system on each node",
     [](V v, S o) {
       put_number_or(o, v.request.core_spec, "N/A");
       if (v.request.core_spec && v.request.core_spec_is_threads) o += " Threads";
     }},
    {0, "cpus-per-task", "", "CPUS_PER_TASK", 0, kWorks, "CPUs of a task",
     [](V v, S o) { put_number(o, v.request.cpus_per_task ? v.request.cpus_per_task : 1u); },
     [](V v) { return int64_t{v.request.cpus_per_task}; }},
    {0, "cpus-per-tres", "", "CPUS_PER_TRES", 0, kWorks, "CPUs for each GPU",
     [](V v, S o) {
       if (v.request.cpus_per_gpu) o += "gres/gpu:";
       put_number_or(o, v.request.cpus_per_gpu, "N/A");
     }},
    {0, "mem-per-tres", "", "MEM_PER_TRES", 0, kWorks, "Memory for each GPU",
     [](V v, S o) {
       if (v.request.mem_per_gpu_mb) o += "gres/gpu:";
       put_number_or(o, v.request.mem_per_gpu_mb.value_or(0), "N/A");
     }},
    {0, "NTPerCore", "", "NTASKS_PER_CORE", 0, kWorks, "Tasks per core",
     [](V v, S o) { put_number_or(o, v.request.ntasks_per_core, "N/A"); }},
    {0, "NTPerNode", "", "NTASKS_PER_NODE", 0, kWorks, "Tasks per node", [](V v, S o) { put_number(o, v.request.ntasks_per_node); }},
    {0, "NTPerSocket", "", "NTASKS_PER_SOCKET", 0, kWorks, "Tasks per socket",
     [](V v, S o) { put_number_or(o, v.request.ntasks_per_socket, "N/A"); }},
    {0, "tres-alloc", "", "TRES_ALLOC", 0, kWorks, "TRES held, or asked for while pending",
     [](V v, S o) { put_or(o, tres_text(v.row.tres->allocated.empty() ? v.row.tres->requested : v.row.tres->allocated), "N/A"); }, nullptr,
     Split::kNever, "", kRowTres},
    {'N', "NodeList", "", "NODELIST", kWideValue | kWideHeader, kWorks, "Nodes of the job", [](V v, S o) { put(o, v.row.node_list); },
     nullptr, Split::kNever, "", kRowNodes},
    {'B', "BatchHost", "", "EXEC_HOST", 0, kWorks, "Host that runs the script or the allocating command",
     [](V v, S o) { put_or(o, v.request.kind == JobKind::kBatch ? v.row.batch_host : v.request.alloc_node, "n/a"); }},
    {'Y', "SchedNodes", "", "SCHEDNODES", kWideValue | kWideHeader, kWorks, "Nodes a pending job is expected to get",
     [](V v, S o) { put_or(o, v.row.expected_nodes); }, nullptr, Split::kNever, "", kRowVerdict},
};

}  // namespace

std::span<const JobField> job_resource_fields() { return kFields; }

}  // namespace muster::fields
