// Options for GPUs, and how tasks are bound to devices, CPUs and memory.
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

constexpr JobOptionRow kGpuRows[] = {
    {{.name = "gpus",
      .letter = 'G',
      .arg = Arg::kRequired,
      .arg_name = "[type:]number",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GPUS", .srun = "SLURM_GPUS", .salloc = "SALLOC_GPUS"},
      .section = Section::kGpus,
      .summary = "GPUs for the whole job",
      .doc = "The total number of GPUs, such as 16 or h100:16. Every node of the allocation has at least one."},
     set_text<&JobOptions::gpus>},
    {{.name = "gpus-per-node",
      .arg = Arg::kRequired,
      .arg_name = "[type:]number",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GPUS_PER_NODE", .srun = "SLURM_GPUS_PER_NODE", .salloc = "SALLOC_GPUS_PER_NODE"},
      .section = Section::kGpus,
      .summary = "GPUs on each node",
      .doc = "So many GPUs on every node; several types with commas. Sets SLURM_GPUS_PER_NODE for the job. "
             "Excludes --gres=gpu."},
     set_text<&JobOptions::gpus_per_node>},
    {{.name = "gpus-per-socket",
      .arg = Arg::kRequired,
      .arg_name = "[type:]number",
      .commands = kJobs,
      .section = Section::kGpus,
      .summary = "GPUs on each socket",
      .doc = "So many GPUs on every socket; needs --sockets-per-node."},
     set_text<&JobOptions::gpus_per_socket>},
    {{.name = "gpus-per-task",
      .arg = Arg::kRequired,
      .arg_name = "[type:]number",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GPUS_PER_TASK", .srun = "SLURM_GPUS_PER_TASK", .salloc = "SALLOC_GPUS_PER_TASK"},
      .section = Section::kGpus,
      .summary = "GPUs for each task",
      .doc = "So many GPUs for every task, and each task sees its own (--tres-bind=gres/gpu:per_task). Needs "
             "a task count, or --gpus from which it follows."},
     set_text<&JobOptions::gpus_per_task>},
    {{.name = "ntasks-per-gpu",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.srun = "SLURM_NTASKS_PER_GPU"},
      .section = Section::kGpus,
      .summary = "tasks for each GPU",
      .doc = "So many tasks for every GPU. With --ntasks the GPUs follow from it, with GPUs the tasks do. "
             "Binds as --tres-bind=gres/gpu:single does. Excludes --gpus-per-task, --gpus-per-socket and "
             "--ntasks-per-node."},
     set_count<&AskedRequest::ntasks_per_gpu>},
    {{.name = "cpus-per-gpu",
      .arg = Arg::kRequired,
      .arg_name = "ncpus",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CPUS_PER_GPU", .srun = "SLURM_CPUS_PER_GPU", .salloc = "SALLOC_CPUS_PER_GPU"},
      .section = Section::kGpus,
      .summary = "CPUs for each GPU",
      .doc = "So many CPUs for every allocated GPU. Excludes --cpus-per-task."},
     set_count<&AskedRequest::cpus_per_gpu>},
    {{.name = "mem-per-gpu",
      .arg = Arg::kRequired,
      .arg_name = "size[K|M|G|T]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_MEM_PER_GPU", .srun = "SLURM_MEM_PER_GPU", .salloc = "SALLOC_MEM_PER_GPU"},
      .section = Section::kGpus,
      .summary = "memory for each GPU",
      .doc = "Memory for every allocated GPU, in MiB without a suffix. Excludes --mem and --mem-per-cpu."},
     set_memory<&AskedRequest::mem_per_gpu_mb>},
    {{.name = "gpu-bind",
      .arg = Arg::kRequired,
      .arg_name = "[verbose,]type",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GPU_BIND", .srun = "SLURM_GPU_BIND", .salloc = "SALLOC_GPU_BIND"},
      .section = Section::kGpus,
      .summary = "which GPUs a task sees",
      .doc = "Short for --tres-bind=gres/gpu:type. Types: closest, none, map:<list>, mask:<list>, "
             "per_task:<n>, single:<n>; map_gpu and mask_gpu are the older names."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY(text, parse_gpu_bind(g.value));
       o.gpu_bind = text;
       return {};
     }},
    {{.name = "gpu-freq",
      .arg = Arg::kRequired,
      .arg_name = "[type=]value,...",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_GPU_FREQ", .srun = "SLURM_GPU_FREQ", .salloc = "SALLOC_GPU_FREQ"},
      .section = Section::kGpus,
      .summary = "clock of the GPUs",
      .doc = "low, medium, high, highm1 or MHz, for the GPU and, with memory=, for its memory; verbose logs "
             "the result. NVIDIA's cards only; when the step ends they get their highest clocks."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY_VOID(check_gpu_freq(g.value));
       o.gpu_freq = std::string(g.value);
       return {};
     }},
    {{.name = "tres-bind",
      .arg = Arg::kRequired,
      .arg_name = "tres:[verbose,]type[+...]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_TRES_BIND", .srun = "SLURM_TRES_BIND", .salloc = "SALLOC_TRES_BIND"},
      .section = Section::kGpus,
      .summary = "which devices a task sees",
      .doc = "For each resource, such as gres/gpu, how tasks are bound to its devices: closest, none, "
             "map:<list>, mask:<list>, per_task:<n>, single:<n>."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY(text, parse_tres_bind(g.value));
       o.request.tres_bind = text;
       return {};
     }},
};

Result<> set_cpu_bind(JobOptions& o, const Given& g) {
  MUSTER_TRY_VOID(check_cpu_bind(g.value));
  o.request.cpu_bind = std::string(g.value);
  return {};
}

Result<> set_mem_bind(JobOptions& o, const Given& g) {
  MUSTER_TRY_VOID(check_mem_bind(g.value));
  o.request.mem_bind = std::string(g.value);
  return {};
}

Result<> set_accel_bind(JobOptions& options, const Given& given) {
  std::string how;
  bool gpu = false, nic = false;
  for (char c : given.value) {
    if (c == 'v') how = "verbose,";
    else if (c == 'g') gpu = true;
    else if (c == 'n') nic = true;
    else return bad_spec(given, "expected letters of v, g, n");
  }
  if (gpu) options.gpu_bind = how + "closest";
  if (nic) options.request.tres_bind = "gres/nic:" + how + "closest";
  return {};
}

constexpr JobOptionRow kBindingRows[] = {
    {{.name = "cpu-bind",
      .arg = Arg::kRequired,
      .arg_name = "[quiet|verbose,]type",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_CPU_BIND"},
      .section = Section::kBinding,
      .summary = "which CPUs a task runs on",
      .doc = "none, rank, sockets, cores, threads, ldoms, map_cpu:<list>, mask_cpu:<list>, rank_ldom, "
             "map_ldom:<list>, mask_ldom:<list>; verbose reports the result; help prints this."},
     set_cpu_bind},
    {{.name = "mem-bind",
      .arg = Arg::kRequired,
      .arg_name = "[quiet|verbose,]type",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_MEM_BIND", .srun = "SLURM_MEM_BIND", .salloc = "SALLOC_MEM_BIND"},
      .section = Section::kBinding,
      .summary = "which NUMA memory a task uses",
      .doc = "none, local, prefer, rank, map_mem:<list>, mask_mem:<list>; verbose reports the result; help "
             "prints this."},
     set_mem_bind},
    {{.name = "cpu-freq",
      .arg = Arg::kRequired,
      .arg_name = "p1[-p2][:governor]",
      .commands = kJobs,
      .env = {.srun = "SLURM_CPU_FREQ_REQ"},
      .section = Section::kBinding,
      .summary = "clock of the CPUs",
      .doc = "kHz, low, medium, high or highm1, a range of them, and a governor (conservative, ondemand, "
             "performance, powersave, schedutil, userspace), for the steps of the job: on CPUs that tasks are confined to, where the "
             "machine allows it."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY_VOID(check_cpu_freq(g.value));
       o.request.cpu_freq = std::string(g.value);
       return {};
     }},
    {{.name = "accel-bind",
      .arg = Arg::kRequired,
      .arg_name = "[v]{g|n}",
      .commands = kSrunOnly,
      .section = Section::kBinding,
      .summary = "older way to say --tres-bind",
      .doc = "g binds tasks to their closest GPUs, n to their closest NICs, v reports it.",
      .hidden = true},
     set_accel_bind},
};
}  // namespace

std::span<const JobOptionRow> job_gpu_rows() { return kGpuRows; }
std::span<const JobOptionRow> job_binding_rows() { return kBindingRows; }

}  // namespace muster
