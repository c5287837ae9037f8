// Options for amounts: nodes, tasks, CPUs, memory, disk, generic resources, licences, and whether nodes are shared.
#include <algorithm>
#include <iterator>

#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_nodes(JobOptions& o, const Given& g) {
  MUSTER_TRY(n, parse_node_count(g.value));
  o.request.min_nodes = n.min;
  o.request.max_nodes = n.max;
  o.request.node_sizes = n.sizes;
  return {};
}

Result<> set_exclusive(JobOptions& options, const Given& given) {
  options.exclusive_allocation = false;
  if (!given.has_value || given.value.empty()) options.request.exclusive = Exclusive::kNode;
  else if (iequals(given.value, "user")) options.request.exclusive = Exclusive::kUser;
  else if (iequals(given.value, "mcs")) options.request.exclusive = Exclusive::kMcs;
  else if (iequals(given.value, "topo")) options.request.exclusive = Exclusive::kTopo;
  else if (given.command == Command::kSrun && iequals(given.value, "allocation")) {
    options.request.exclusive = Exclusive::kNode;
    options.exclusive_allocation = true;
  } else {
    return bad_spec(given, given.command == Command::kSrun ? "known: allocation, user, mcs, topo" : "known: user, mcs, topo");
  }
  return {};
}

Result<> set_mem_update(JobOptions& o, const Given& g) {
  const MemUpdateText wanted{std::string(g.value)};
  if (wanted.empty()) return bad_spec(g, "margin@delay is meant, 20@10 for 20 percent after ten minutes");
  if (!wanted.parsed()) return bad_spec(g, std::string(wanted.parsed().error().message()));
  o.request.mem_update = wanted;
  return {};
}

Result<> set_oversubscribe(JobOptions& o, const Given&) {
  o.request.exclusive = Exclusive::kOversubscribe;
  return {};
}

Result<> set_core_spec(JobOptions& o, const Given& g) {
  MUSTER_TRY_VOID((set_count_or_zero<&AskedRequest::core_spec>(o, g)));
  o.request.core_spec_is_threads = std::string_view(g.info->name) == "thread-spec";
  o.request.core_spec_given = true;
  return {};
}

constexpr const char* kExclusiveDoc =
    "Keeps other jobs off the allocated nodes; all CPUs and GRES of the nodes belong to the job, but only as "
    "much memory as it asked for (--mem=0 for all). With user, mcs or topo only jobs of other users, of "
    "other labels, or on the same topology segment are kept off.";

constexpr JobOptionRow kRows[] = {
    {{.name = "nodes",
      .letter = 'N',
      .arg = Arg::kRequired,
      .arg_name = "min[-max]",
      .commands = kJobs,
      .env = {.srun = "SLURM_JOB_NUM_NODES|SLURM_NNODES"},
      .section = Section::kResources,
      .summary = "number of nodes, or a range",
      .doc = "One number, a range min-max, or the sizes that are welcome: 1,2,4 or 1-15:4. k and m multiply "
             "by 1024 and 1048576. Without it, as many nodes as the tasks, CPUs and GPUs need."},
     set_nodes},
    {{.name = "ntasks",
      .letter = 'n',
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.srun = "SLURM_NTASKS|SLURM_NPROCS"},
      .section = Section::kResources,
      .summary = "number of tasks",
      .doc = "How many tasks the resources must serve; srun starts that many. The default is one task per "
             "node."},
     set_count<&AskedRequest::num_tasks>},
    {{.name = "cpus-per-task",
      .letter = 'c',
      .arg = Arg::kRequired,
      .arg_name = "ncpus",
      .commands = kJobs,
      .env = {.srun = "SRUN_CPUS_PER_TASK|SLURM_CPUS_PER_TASK"},
      .section = Section::kResources,
      .summary = "CPUs for each task",
      .doc = "So many CPUs, on one node, for every task. Steps started by srun inherit it through "
             "SLURM_CPUS_PER_TASK."},
     set_count<&AskedRequest::cpus_per_task>},
    {{.name = "ntasks-per-node",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.srun = "SLURM_NTASKS_PER_NODE"},
      .section = Section::kResources,
      .summary = "tasks on each node",
      .doc = "So many tasks on every node; together with --ntasks, at most so many."},
     set_count<&AskedRequest::ntasks_per_node>},
    {{.name = "mem",
      .arg = Arg::kRequired,
      .arg_name = "size[K|M|G|T]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_MEM_PER_NODE", .srun = "SLURM_MEM_PER_NODE", .salloc = "SALLOC_MEM_PER_NODE"},
      .section = Section::kResources,
      .summary = "memory per node",
      .doc = "Memory on each node, in MiB without a suffix. 0 means all memory of the node. Excludes "
             "--mem-per-cpu and --mem-per-gpu; given on the command line it replaces any of the three from "
             "the environment."},
     set_memory<&AskedRequest::mem_per_node_mb>},
    {{.name = "mem-per-cpu",
      .arg = Arg::kRequired,
      .arg_name = "size[K|M|G|T]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_MEM_PER_CPU", .srun = "SLURM_MEM_PER_CPU", .salloc = "SALLOC_MEM_PER_CPU"},
      .section = Section::kResources,
      .summary = "memory per allocated CPU",
      .doc = "Memory for each usable CPU of the allocation, in MiB without a suffix. Excludes --mem and "
             "--mem-per-gpu."},
     set_memory<&AskedRequest::mem_per_cpu_mb>},
    {{.name = "mem-update",
      .arg = Arg::kRequired,
      .arg_name = "margin@delay",
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "give back unused memory",
      .doc = "Once the job has run for the delay, its memory limit on each node becomes what it uses then on the node where it "
             "uses most, and the margin in percent on top; a tenth of what it was given stays, and the limit never grows. "
             "20@10 means 20 percent after ten minutes; the delay is written as --time is. Others get the memory that is "
             "left over. JobAcctGatherType has to be set. The steps of such a job have no step manager."},
     set_mem_update},
    {{.name = "tmp",
      .arg = Arg::kRequired,
      .arg_name = "size[K|M|G|T]",
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "temporary disk per node",
      .doc = "Takes only nodes with at least so much temporary disk space, in MiB without a suffix."},
     set_memory<&AskedRequest::tmp_disk_mb>},
    {{.name = "mincpus",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "least CPUs per node",
      .doc = "Takes only nodes with at least so many CPUs (hardware threads)."},
     set_count<&AskedRequest::min_cpus_per_node>},
    {{.name = "gres",
      .arg = Arg::kRequired,
      .arg_name = "name[:type][:count],...",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GRES", .srun = "SLURM_GRES", .salloc = "SALLOC_GRES"},
      .section = Section::kResources,
      .summary = "generic resources per node",
      .doc = "Generic resources on every node, such as gpu:2 or gpu:a100:8; the count is 1 by default and "
             "takes the suffixes k, m, g, t, p. 'help' lists the names the site knows. gpu here excludes "
             "--gpus-per-node. 'none' gives a step no generic resources of its job."},
     set_text<&JobOptions::gres>},
    {{.name = "gres-flags",
      .arg = Arg::kRequired,
      .arg_name = "flags",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GRES_FLAGS", .srun = "SLURM_GRES_FLAGS", .salloc = "SALLOC_GRES_FLAGS"},
      .section = Section::kResources,
      .summary = "how CPUs and devices belong together",
      .doc = "enforce-binding: only CPUs near the chosen devices; disable-binding: any CPUs; "
             "one-task-per-sharing and multiple-tasks-per-sharing rule shared devices; allow-task-sharing "
             "lets tasks of a step see each other's devices."},
     [](JobOptions& o, const Given& g) -> Result<> {
       constexpr std::string_view kKnown[] = {"enforce-binding", "disable-binding", "one-task-per-sharing", "multiple-tasks-per-sharing",
                                              "allow-task-sharing"};
       bool given[std::size(kKnown)] = {};
       for (std::string_view flag : split(g.value, ',', true)) {
         const auto at = std::ranges::find_if(kKnown, [&](std::string_view k) { return iequals(k, flag); });
         if (at == std::end(kKnown)) return bad_spec(g, "\"" + std::string(flag) + "\" is not one of the flags in the manual page");
         given[at - std::begin(kKnown)] = true;
       }
       for (size_t on : {0u, 2u})  // each with the word that negates it
         if (given[on] && given[on + 1])
           return bad_spec(g, std::string(kKnown[on]) + " and " + std::string(kKnown[on + 1]) + " exclude each other");
       o.request.gres_flags = to_lower(g.value);
       return {};
     }},
    {{.name = "licenses",
      .letter = 'L',
      .arg = Arg::kRequired,
      .arg_name = "name[@db][:count],...",
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "licences",
      .doc = "Licences the job holds while it runs. Commas ask for all of them, bars for one of them; not "
             "both."},
     [](JobOptions& o, const Given& g) -> Result<> {
       if (g.value.find(',') != g.value.npos && g.value.find('|') != g.value.npos)
         return fail(Errc::kLicenses, {}, "use either ',' (all) or '|' (any), not both");
       o.request.licenses = std::string(g.value);
       return {};
     }},
    {{.name = "resources",
      .arg = Arg::kRequired,
      .arg_name = "name[:count|:variable],...",
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "hierarchical resources",
      .doc = "Hierarchical resources (resources.yaml) the job holds while it runs; the count is 1 by default, or a "
             "variable that resources.yaml gives a value. --licenses takes them, too; both together ask for all."},
     [](JobOptions& o, const Given& g) -> Result<> {
       if (g.value.find('|') != g.value.npos) return fail(Errc::kLicenses, {}, "use ',' (all); '|' (any) is for licences only");
       o.resources = g.value;
       return {};
     }},
    {{.name = "tres-per-task",
      .arg = Arg::kRequired,
      .arg_name = "tres[/name]=count,...",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_TRES_PER_TASK", .srun = "SLURM_TRES_PER_TASK", .salloc = "SALLOC_TRES_PER_TASK"},
      .section = Section::kResources,
      .summary = "trackable resources for each task",
      .doc = "What each task needs, such as cpu=4,gres/gpu:a100=1,license/ansys=1. GPUs asked for like this "
             "are bound to their task unless --tres-bind says otherwise."},
     set_text<&JobOptions::tres_per_task>},
    {{.name = "exclusive",
      .arg = Arg::kOptional,
      .arg_name = "user|mcs|topo",
      .commands = kSbatchOnly | kSallocOnly,
      .env = {.sbatch = "SBATCH_EXCLUSIVE", .salloc = "SALLOC_EXCLUSIVE"},
      .section = Section::kResources,
      .summary = "do not share nodes with other jobs",
      .doc = kExclusiveDoc},
     set_exclusive},
    {{.name = "exclusive",
      .arg = Arg::kOptional,
      .arg_name = "allocation|user|mcs|topo",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_EXCLUSIVE"},
      .section = Section::kResources,
      .summary = "whole nodes; inside a job, like --exact",
      .doc = "Inside a job the same as --exact. For a new job, whole nodes and --exact for its step; "
             "'allocation' takes whole nodes without --exact. user, mcs and topo only rule who else may be "
             "on the nodes."},
     set_exclusive},
    {{.name = "oversubscribe",
      .letter = 's',
      .commands = kJobs,
      .section = Section::kResources,
      .summary = "share resources with other jobs",
      .doc = "Allows the job's resources to be shared with other jobs, where the partition permits it. "
             "Excludes --exclusive."},
     set_oversubscribe},
    {{.name = "overcommit",
      .letter = 'O',
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_OVERCOMMIT", .srun = "SLURM_OVERCOMMIT", .salloc = "SALLOC_OVERCOMMIT"},
      .section = Section::kResources,
      .summary = "more tasks than CPUs",
      .doc = "Allocates as if there were one task per node, and lets a step run more than one task on a CPU."},
     set_flag<&AskedRequest::overcommit>},
    {{.name = "core-spec",
      .letter = 'S',
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CORE_SPEC", .srun = "SLURM_CORE_SPEC", .salloc = "SALLOC_CORE_SPEC"},
      .section = Section::kResources,
      .summary = "cores per node left to the system",
      .doc = "Cores of each node that the application does not use. Takes whole nodes. Excludes --thread-spec."},
     set_core_spec},
    {{.name = "thread-spec",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_THREAD_SPEC", .srun = "SLURM_THREAD_SPEC", .salloc = "SALLOC_THREAD_SPEC"},
      .section = Section::kResources,
      .summary = "threads per node left to the system",
      .doc = "Hardware threads of each node that the application does not use. Takes whole nodes. Excludes "
             "--core-spec."},
     set_core_spec},
};
}  // namespace

std::span<const JobOptionRow> job_resource_rows() { return kRows; }

}  // namespace muster
