#include "slurmd/daemon/task_layout.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "model/file_pattern.h"
#include "slurmd/core/cgroup_plan.h"
#include "slurmd/core/cpu_bind.h"
#include "slurmd/core/device_environment.h"
#include "slurmd/core/gres_bind.h"
#include "slurmd/core/mem_bind.h"

namespace muster::slurmd {
namespace {

// Words of a line, with quotes and backslashes as a shell has them.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t index = 0; index < line.size(); ++index) {
    char letter = line[index];
    if (quote ? letter == quote : letter == '"' || letter == '\'') {
      quote = quote ? 0 : letter;
      open = true;
    } else if (letter == '\\' && quote != '\'' && index + 1 < line.size()) {
      word += line[++index];
      open = true;
    } else if (!quote && (letter == ' ' || letter == '\t')) {
      if (open) out.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += letter;
      open = true;
    }
  }
  if (open) out.push_back(word);
  return out;
}

// The place of `rank` in "0,4-6,*"; nullopt: it is not there.
std::optional<uint32_t> offset_in(std::string_view ranks, uint32_t rank) {
  if (ranks == "*") return rank;
  uint32_t before = 0;
  for (std::string_view part : split(ranks, ',')) {
    if (part == "*") return before;
    size_t dash = part.find('-');
    auto first = parse_number<uint32_t>(part.substr(0, dash));
    auto last = dash == part.npos ? first : parse_number<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) continue;
    if (rank >= *first && rank <= *last) return before + (rank - *first);
    before += *last - *first + 1;
  }
  return std::nullopt;
}

std::string replace_symbols(const std::string& word, uint32_t rank, uint32_t offset) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '%' && i + 1 < word.size() && (word[i + 1] == 't' || word[i + 1] == 'o')) {
      out += std::to_string(word[++i] == 't' ? rank : offset);
    } else {
      out += word[i];
    }
  }
  return out;
}

// The machine as configured, where more is configured than there is (config_overrides): tasks are not bound there, but devices still go by
// the cores that the configuration gives them.
CpuMap configured_machine(const NodeHardware& h) {
  CpuMap m;
  m.threads_per_core = std::max(1u, h.threads_per_core);
  m.cores_per_socket = h.cores_per_socket;
  m.os_cpu.resize(h.cpus);
  std::iota(m.os_cpu.begin(), m.os_cpu.end(), 0u);
  m.numa_node.assign(h.cpus, 0);
  return m;
}

CpuBindDefaults site_defaults(const Setup& setup, const rpc::StepCredential& credential) {
  const config::Config& conf = setup.config();
  using Kind = CpuBind::Kind;
  std::optional<Kind> node;
  Kind partition = Kind::kDefault;
  bool differ = false;
  for (const rpc::StepNode& n : credential.nodes) {
    auto index = conf.node_index(n.address.name);
    if (!index) continue;
    const CpuBindText& bind = conf.nodes[*index].line->cpu_bind;
    if (bind.empty()) continue;
    differ = differ || (node && *node != bind->kind);
    node = bind->kind;
  }
  for (const config::PartitionConfig& p : conf.partitions)
    if (p.spec.name == credential.partition) partition = p.spec.cpu_bind->kind;
  return cpu_bind_defaults(differ || !node ? Kind::kDefault : *node, partition, conf.task_plugin_param);
}

// The CPUs, memory and devices of the tasks, and the words about them for the user.
struct Bound {
  CpuBinding cpus;
  MemBinding memory;
  DeviceBinding gpus;
  Bitmap gpus_held;
  bool gpus_apart = false;               // what a task is not bound to is closed to it
  std::vector<std::string> environment;  // of every task
};

Result<Bound> bind_tasks(const Setup& setup, const rpc::StepCredential& credential, const rpc::StepNode& here, const StepRequest& request,
                         const Bitmap& cpus, const NodeContext& context) {
  const bool affinity = setup.cpus_are_real && has_task_plugin(setup.config(), "affinity");
  const auto count = static_cast<uint32_t>(here.ranks.size());
  const CpuMap machine = setup.cpus_are_real ? setup.cpus : configured_machine(setup.hardware);
  Bound out;
  StepRequest unbound = request;
  if (!affinity) unbound.cpu_bind = "none";
  MUSTER_TRY(bound, bind_cpus(unbound, count, cpus, machine, affinity ? site_defaults(setup, credential) : CpuBindDefaults{}));
  out.cpus = std::move(bound);
  out.memory.tasks.resize(count);
  if (affinity) {
    MUSTER_TRY(memory, bind_memory(request.mem_bind, out.cpus.os_cpus, machine));
    out.memory = std::move(memory);
    out.environment = cpu_bind_environment(out.cpus);
    out.environment.insert(out.environment.end(), out.memory.environment.begin(), out.memory.environment.end());
  } else {
    out.cpus.verbose = false;
  }
  out.gpus_held = gpus_of(here.gres);
  DeviceBindRequest devices{"gpu", out.gpus_held, context.devices_constrained, {}, here.ranks};
  for (const Bitmap& own : out.cpus.own) {
    Bitmap cores;
    own.for_each([&](size_t cpu) { cores.set(machine.core_of(cpu)); });
    devices.task_cores.push_back(std::move(cores));
  }
  MUSTER_TRY(gpus, bind_devices(request.tres_bind, devices, context.gres));
  out.gpus = std::move(gpus);
  out.gpus_apart = context.devices_constrained && !request.gres_flags->allow_task_sharing;
  // Shards are used through their GPU, which all of the step's tasks see.
  for (const TresBinds::Part& part : request.tres_bind->parts)
    if (part.tres != "gres/gpu" && part.tres != "gres/shard")
      out.gpus.notes.push_back("slurmstepd: warning: --tres-bind=" + part.tres + " has no effect: only GPUs are bound to tasks");
  if (out.memory.sort)
    out.gpus.notes.push_back("slurmstepd: warning: --mem-bind=sort has no effect: free pages are sorted on Knights Landing only");
  return out;
}

// srun(1) --gres-flags=allow-task-sharing: without it a task that is bound to some of the step's GPUs opens these alone.
void bind_to_gpus(const Bound& b, const Bitmap& own, const std::vector<GresShare>& step, const NodeContext& context,
                  step_rpc::TaskLaunch& t) {
  if (own.none()) return;
  const bool apart = b.gpus_apart && !(own == b.gpus_held);
  std::vector<GresShare> open = step;  // the GPUs of shards too: those are not bound
  for (GresShare& g : open)
    if (apart && g.name == "gpu") g.devices &= own;
  for (std::string& e : bound_environment(context, gpus_of(open), own)) t.environment.push_back(std::move(e));
  if (apart) t.denied_devices = denied_files(context.gres, open);
}

void apply(const Bound& b, uint32_t i, const NodeContext& context, step_rpc::TaskLaunch& t) {
  t.os_cpus = b.cpus.os_cpus[i];
  t.memory = b.memory.tasks[i];
  t.environment.insert(t.environment.end(), b.environment.begin(), b.environment.end());
  if (b.cpus.verbose) t.notes.push_back(cpu_bind_line(b.cpus, context.node, t.rank, i));
  if (b.memory.verbose) t.notes.push_back(mem_bind_line(b.memory, context.node, t.rank, i));
  if (i == 0) t.notes.insert(t.notes.end(), b.gpus.notes.begin(), b.gpus.notes.end());
}

}  // namespace

Result<std::vector<std::string>> multi_prog_argv(std::string_view text, uint32_t rank) {
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    size_t end = line.find_first_of(" \t");
    auto offset = offset_in(line.substr(0, end), rank);
    if (!offset) continue;
    std::vector<std::string> argv = end == line.npos ? std::vector<std::string>{} : words_of(trim(line.substr(end)));
    if (argv.empty()) break;
    for (std::string& w : argv) w = replace_symbols(w, rank, *offset);
    return argv;
  }
  return fail(Errc::kInvalidArgument, "--multi-prog: no program for task " + std::to_string(rank));
}

bool has_task_plugin(const config::Config& c, std::string_view name) {
  return std::ranges::any_of(c.task_plugins, [&](const std::string& p) { return p == name || p == "task/" + std::string(name); });
}

Result<std::vector<step_rpc::TaskLaunch>> lay_out_tasks(const Setup& setup, const rpc::StepCredential& credential, size_t node_index,
                                                        const StepRequest& request, const Bitmap& cpus, const NodeContext& context) {
  const rpc::StepNode& here = credential.nodes[node_index];
  auto count = static_cast<uint32_t>(here.ranks.size());
  if (count == 0) return fail(Errc::kInvalidTaskCount, "no task of the step is for node " + setup.node);
  MUSTER_TRY(bound, bind_tasks(setup, credential, here, request, cpus, context));
  std::vector<step_rpc::TaskLaunch> out(count);
  for (uint32_t index = 0; index < count; ++index) {
    step_rpc::TaskLaunch& task = out[index];
    task.rank = here.ranks[index];
    task.argv = request.argv;
    if (request.multi_prog) {
      MUSTER_TRY(argv, multi_prog_argv(request.multi_prog_text, task.rank));
      task.argv = std::move(argv);
    }
    if (task.argv.empty()) return fail(Errc::kInvalidArgument, "no program to run");
    task.environment = task_environment(task.rank, index);
    apply(bound, index, context, task);
    bind_to_gpus(bound, bound.gpus.devices[index], here.gres, context, task);
    FileNames names;
    names.job = credential.job;
    names.step = credential.step;
    names.node = setup.node;
    names.node_index = static_cast<uint32_t>(node_index);
    names.rank = task.rank;
    names.restarts = credential.generation;
    names.sluid = credential.sluid;
    names.user = credential.user_name;
    names.job_name = credential.job_name;
    names.array_job = credential.array_job;
    names.array_task = credential.array_task;
    auto path = [&](const std::string& pattern) {
      return pattern.empty() ? std::string() : below(request.work_dir, expand_file_pattern(pattern, names));
    };
    task.std_in = path(request.std_in);
    task.std_out = path(request.std_out);
    task.std_err = request.std_err.empty() && !request.std_out.empty() ? task.std_out : path(request.std_err);
  }
  return out;
}

}  // namespace muster::slurmd
