// Rules between options, and texts that several options make together. Runs once, after all sources have been applied.
#include <algorithm>
#include <limits>
#include <string>

#include "base/text.h"
#include "model/tres_list.h"
#include "options/job_options.h"
#include "options/parser_detail.h"
#include "options/values.h"

namespace muster {
namespace {

std::unexpected<Error> conflict(std::string text, std::string hint = {}) {
  return fail(Errc::kInvalidReq, std::move(text), std::move(hint));
}

void forget(JobOptions& o, std::string_view name) {
  std::erase_if(o.seen, [&](const Seen& s) { return s.info->name && s.info->name == name; });
}

// For two options that exclude each other: one that was typed or stands in the script beats one from the environment, which `drop` removes;
// the answer is then false. Otherwise both stay, and the answer is true.
template <class Drop>
bool both_given(JobOptions& o, std::string_view a, std::string_view b, Drop drop) {
  if (!o.given(a) || !o.given(b)) return false;
  bool a_env = o.source_of(a) == Source::kEnvironment, b_env = o.source_of(b) == Source::kEnvironment;
  if (a_env == b_env) return true;
  std::string_view weak = a_env ? a : b;
  drop(weak);
  forget(o, weak);
  return false;
}

Result<> finish_memory(JobOptions& options) {
  constexpr std::string_view kNames[] = {"mem", "mem-per-cpu", "mem-per-gpu"};
  auto drop = [&](std::string_view name) {
    if (name == "mem") options.request.mem_per_node_mb.reset();
    else if (name == "mem-per-cpu") options.request.mem_per_cpu_mb.reset();
    else options.request.mem_per_gpu_mb.reset();
  };
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = i + 1; j < 3; ++j) {
      if (!both_given(options, kNames[i], kNames[j], drop)) continue;
      if (options.source_of(kNames[i]) == Source::kEnvironment)
        return conflict("SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.");
      return conflict("--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
    }
  }
  return {};
}

Result<> finish_spec(JobOptions& o) {
  // Both options write the same field. It holds the one applied last, which is right when the other is from the environment.
  if (both_given(o, "core-spec", "thread-spec", [](std::string_view) {}))
    return conflict("-S/--core-spec and --thread-spec options are mutually exclusive");
  return {};
}

Result<> check_times(const JobOptions& o) {
  const bool never = o.request.deadline != kTimeUnset && o.request.begin > o.request.deadline;
  return never ? conflict("Incompatible begin and deadline time specification") : Result<>();
}

Result<> finish_sharing(JobOptions& options) {
  if (options.quiet && options.verbose > 0) return conflict("don't specify both --verbose (-v) and --quiet (-Q)");
  auto keep_typed = [&](std::string_view weak) {
    // Only --exclusive has a variable, so only --exclusive can give way.
    if (weak == "exclusive") options.request.exclusive = Exclusive::kOversubscribe;
  };
  if (both_given(options, "exclusive", "oversubscribe", keep_typed))
    return conflict("--exclusive and --oversubscribe options are mutually exclusive");
  // Specialized cores are left to the system only on nodes the job has alone.
  bool spec = options.given("core-spec") || options.given("thread-spec");
  if (spec && options.request.exclusive == Exclusive::kDefault) options.request.exclusive = Exclusive::kNode;
  return {};
}

// --hint and the options that set the same numbers. On the command line the numbers win; a number from the environment gives way to a typed
// hint.
Result<> finish_hint(JobOptions& options, std::vector<Message>& messages) {
  constexpr std::string_view kNumbers[] = {"ntasks-per-core", "cores-per-socket", "sockets-per-node", "threads-per-core",
                                           "extra-node-info"};
  AskedRequest& request = options.request;
  for (std::string_view other : {std::string_view("threads-per-core"), std::string_view("ntasks-per-core")})
    if (options.given("extra-node-info") && options.given(other) && options.source_of(other) != Source::kEnvironment)
      return conflict("-B,--extra-node-info is mutually exclusive with --" + std::string(other));
  if (request.hint.empty()) return {};
  for (std::string_view name : kNumbers) {
    if (!options.given(name)) continue;
    if (options.source_of(name) == Source::kEnvironment && options.source_of("hint") != Source::kEnvironment) {
      if (name == "ntasks-per-core") request.ntasks_per_core = 0;
      if (name == "threads-per-core") request.threads_per_core = 0;
      continue;
    }
    if (options.source_of("hint") != Source::kEnvironment)
      messages.push_back(
          {Message::Level::kWarning,
           "Following options are mutually exclusive with --hint: --ntasks-per-core, --threads-per-core, --cores-per-socket, "
           "--sockets-per-node and -B. Ignoring --hint, as --" +
               std::string(name) + " is given."});
    request.hint.clear();
    return {};
  }
  if (request.hint->one_thread()) request.threads_per_core = 1;
  if (request.hint->kind == TaskHint::Kind::kMemoryBound) request.cores_per_socket = 1;
  return {};
}

std::string without_gres(std::string_view list, std::string_view gres) {
  TresList out = TresList::parse(list).value_or(TresList());
  out.drop_gres(gres);
  return out.text();
}

// Looks at the text as it was typed, because a count of 0 names GPUs, too.
bool names_gpu(std::string_view gres) {
  for (std::string_view part : split(gres, ',')) {
    part = trim(part);
    if (istarts_with(part, "gres:") || istarts_with(part, "gres/")) part.remove_prefix(5);
    if (part.substr(0, part.find(':')) == "gpu") return true;
  }
  return false;
}

void append(std::string& list, const std::string& more, const char* separator = ",") {
  if (more.empty()) return;
  list += (list.empty() ? "" : separator) + more;
}
void append(TresText& list, const std::string& more) {
  std::string text = list.text();
  append(text, more);
  list = std::move(text);
}

Result<> check_gpu_conflicts(JobOptions& options) {
  auto drop = [&](std::string_view weak) {
    if (weak == "gpus-per-task") options.gpus_per_task.clear();
    if (weak == "gpus-per-socket") options.gpus_per_socket.clear();
    if (weak == "gpus-per-node") options.gpus_per_node.clear();
    if (weak == "gres") options.gres.clear();
    if (weak == "ntasks-per-gpu") options.request.ntasks_per_gpu = 0;
    if (weak == "ntasks-per-node") options.request.ntasks_per_node = 0;
    if (weak == "cpus-per-gpu") options.request.cpus_per_gpu = 0;
    if (weak == "cpus-per-task") options.request.cpus_per_task = 0;
  };
  if (both_given(options, "gpus-per-task", "ntasks-per-gpu", drop))
    return conflict("--gpus-per-task is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  if (both_given(options, "gpus-per-socket", "ntasks-per-gpu", drop))
    return conflict("--gpus-per-socket is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  if (both_given(options, "ntasks-per-node", "ntasks-per-gpu", drop))
    return conflict("--ntasks-per-node is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  // Since 26.05 the two ways to ask for GPUs per node exclude each other; --gres with other names may stand beside --gpus-per-node.
  if (names_gpu(options.gres) && both_given(options, "gres", "gpus-per-node", drop))
    return conflict("--gres=gpu and --gpus-per-node are mutually exclusive", "use one of the two for GPUs");
  // A count typed for the step or its tasks is more specific than the count per node that the job's environment holds.
  auto typed = [&](std::string_view name) { return options.given(name) && options.source_of(name) != Source::kEnvironment; };
  const auto per_task = parse_tres_per_task(options.tres_per_task);
  const bool task = typed("gpus-per-task") || (typed("tres-per-task") && per_task && per_task->gpus);
  if (options.command == Command::kSrun && (typed("gpus") || task) && options.source_of("gpus-per-node") == Source::kEnvironment)
    options.gpus_per_node.clear();
  return {};
}

// Slurm's two sentences about counts of GPUs that contradict each other: the reason, and that the request is invalid.
std::unexpected<Error> bad_gpus(std::string_view text, std::string hint = {}) {
  return conflict(std::string(text) + "\nInvalid generic resource (gres) specification", std::move(hint));
}

Result<uint64_t> gpus_in(const std::string& text) {
  uint64_t total = 0;
  if (!text.empty()) MUSTER_TRY_VOID(gpus_to_tres(text, &total));
  return total;
}

Result<> check_gpu_counts(JobOptions& options) {
  if (both_given(options, "cpus-per-gpu", "cpus-per-task", [&](std::string_view weak) {
        if (weak == "cpus-per-gpu") options.request.cpus_per_gpu = 0;
        if (weak == "cpus-per-task") options.request.cpus_per_task = 0;
      }))
    return bad_gpus("--cpus-per-gpu is mutually exclusive with --cpus-per-task");
  if (!options.gpus_per_socket.empty() && options.request.sockets_per_node == 0)
    return bad_gpus("--gpus-per-socket option requires --sockets-per-node specification");
  for (const std::string* list : {&options.gpus, &options.gpus_per_node, &options.gpus_per_task, &options.gpus_per_socket}) {
    const auto parts = split(*list, ',');
    const auto typed = std::ranges::count_if(parts, [](std::string_view part) { return !parse_count(trim(part)); });
    if (typed > 0 && typed < std::ssize(parts)) return conflict("Invalid GRES specification (with and without type identification)");
  }
  // The counts of a step inside a job are checked against what the job has, not here.
  if (options.command == Command::kSrun && options.job_id) return {};
  MUSTER_TRY(all, gpus_in(options.gpus));
  MUSTER_TRY(node, gpus_in(options.gpus_per_node));
  MUSTER_TRY(socket, gpus_in(options.gpus_per_socket));
  MUSTER_TRY(task, gpus_in(options.gpus_per_task));
  if ((all && node > all) || (all && socket > all) || (node && socket > node))
    return bad_gpus("Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket");
  if (all && task && options.given("ntasks") && all != task * options.request.num_tasks)
    return bad_gpus("Failed to validate job spec. Based on --gpus and --gpus-per-task number of requested tasks differ from -n/--ntasks.");
  return {};
}

// A list such as "gres/gpu:closest+gres/nic:map:0,1" without the entries for one resource.
std::string without_binding(std::string_view list, std::string_view tres) {
  std::string out;
  for (std::string_view part : split(list, '+')) {
    const bool same = part.starts_with(tres) && (part.size() == tres.size() || part[tres.size()] == ':');
    if (!same) append(out, std::string(part), "+");
  }
  return out;
}

// `how` takes the place of what the text has for the resource.
void bind_instead(TresBindText& binds, std::string_view tres, const std::string& how) {
  std::string text = without_binding(binds.text(), tres);
  append(text, std::string(tres) + ":" + how, "+");
  binds = std::move(text);
}

// --tres-per-task and --gpus-per-task. A job's environment holds both (SLURM_TRES_PER_TASK repeats the others), so a value from there gives
// way to a typed one and is not counted twice.
Result<> finish_per_task(JobOptions& options) {
  AskedRequest& request = options.request;
  bool weak = options.source_of("tres-per-task") == Source::kEnvironment;
  if (!options.tres_per_task.empty()) {
    MUSTER_TRY(t, parse_tres_per_task(options.tres_per_task));
    if (t.cpus && request.cpus_per_task && t.cpus != request.cpus_per_task && !weak &&
        options.source_of("cpus-per-task") != Source::kEnvironment)
      return conflict("--tres-per-task=cpu and --cpus-per-task are mutually exclusive");
    if (t.cpus && (!weak || !request.cpus_per_task)) request.cpus_per_task = t.cpus;
    if (t.gpus && !options.gpus_per_task.empty()) {
      if (weak) t.tres = without_gres(t.tres, "gpu");
      else if (options.source_of("gpus-per-task") == Source::kEnvironment) options.gpus_per_task.clear();
      else return conflict("--tres-per-task=gres/gpu and --gpus-per-task are mutually exclusive");
    }
    append(request.tres_per_task, t.tres);
  }
  if (!options.gpus_per_task.empty()) {
    MUSTER_TRY(text, gpus_to_tres(options.gpus_per_task));
    append(request.tres_per_task, text);
  }
  return {};
}

// --resources asks for more of the list that --licenses begins.
Result<> finish_licenses(JobOptions& options) {
  if (options.resources.empty()) return {};
  std::string all = options.request.licenses.text();
  if (all.find('|') != all.npos) return fail(Errc::kLicenses, {}, "--resources cannot be combined with --licenses=a|b");
  append(all, options.resources);
  options.request.licenses = std::move(all);
  return {};
}

// --gpu-bind, --tres-bind, and the bindings that --gpus-per-task, --tres-per-task and --ntasks-per-gpu imply; the stronger source wins.
void finish_bind(JobOptions& options) {
  AskedRequest& request = options.request;
  Source bind = options.source_of("tres-bind");
  if (!options.gpu_bind.empty() && options.source_of("gpu-bind") >= bind) {
    bind_instead(request.tres_bind, "gres/gpu", options.gpu_bind);
    bind = options.source_of("gpu-bind");
  }
  auto imply = [&](std::string_view tres, uint64_t count, const char* how, Source source) {
    if (!count) return;
    bool explicit_bind = request.tres_bind.text().find(std::string(tres) + ":") != std::string::npos;
    if (explicit_bind && (bind != Source::kEnvironment || source == Source::kEnvironment)) return;
    bind_instead(request.tres_bind, tres, how + std::to_string(count));
  };
  Source per_task = std::max(options.source_of("gpus-per-task"), options.source_of("tres-per-task"));
  imply("gres/gpu", request.tres_per_task->gres("gpu"), "per_task:", per_task);
  imply("gres/shard", request.tres_per_task->gres("shard"), "per_task:", per_task);
  imply("gres/gpu", request.ntasks_per_gpu, "single:", options.source_of("ntasks-per-gpu"));
}

Result<> finish_tres(JobOptions& options) {
  AskedRequest& request = options.request;
  if (!options.gres.empty() && !iequals(options.gres, "none")) {
    MUSTER_TRY(text, gres_to_tres(options.gres));
    append(request.tres_per_node, text);
  }
  if (!options.gpus_per_node.empty()) {
    MUSTER_TRY(text, gpus_to_tres(options.gpus_per_node));
    append(request.tres_per_node, text);
  }
  if (!options.gpus.empty()) {
    MUSTER_TRY(text, gpus_to_tres(options.gpus));
    append(request.tres_per_job, text);
  }
  if (!options.gpus_per_socket.empty()) {
    MUSTER_TRY(text, gpus_to_tres(options.gpus_per_socket));
    append(request.tres_per_socket, text);
  }
  MUSTER_TRY_VOID(finish_per_task(options));
  MUSTER_TRY_VOID(finish_licenses(options));
  finish_bind(options);
  if (!options.gpu_freq.empty()) request.tres_freq = "gpu:" + options.gpu_freq;
  return {};
}

// --ntasks-per-gpu together with a number of GPUs gives the number of tasks.
void finish_tasks_per_gpu(AskedRequest& r) {
  if (!r.ntasks_per_gpu || r.num_tasks) return;
  uint64_t gpus = r.tres_per_job->gres("gpu");
  if (!gpus) gpus = r.tres_per_node->gres("gpu") * std::max(1u, r.min_nodes);
  uint64_t tasks = std::min<uint64_t>(gpus, std::numeric_limits<uint32_t>::max()) * r.ntasks_per_gpu;
  r.num_tasks = static_cast<uint32_t>(std::min<uint64_t>(tasks, std::numeric_limits<int32_t>::max()));
}

Result<> finish_counts(JobOptions& options, std::vector<Message>& messages) {
  AskedRequest& request = options.request;
  // With fewer tasks than nodes, the other nodes would stay unused.
  bool counted = request.node_sizes.empty() && options.given("ntasks") && options.given("nodes");
  if (counted && request.num_tasks < request.min_nodes) {
    messages.push_back({Message::Level::kWarning, "can't run " + std::to_string(request.num_tasks) + " processes on " +
                                                      std::to_string(request.min_nodes) + " nodes, setting nnodes to " +
                                                      std::to_string(request.num_tasks)});
    request.min_nodes = request.num_tasks;
    if (request.max_nodes) request.max_nodes = request.num_tasks;
  }
  finish_tasks_per_gpu(request);
  const bool listed = !request.required_nodes.empty() || !options.nodelist_file.empty() || !options.node_file.empty();
  if (listed) options.host_file.clear();
  if (!options.host_file.empty() && !istarts_with(options.distribution, "arbitrary")) options.distribution = "arbitrary";
  if (!options.distribution.empty()) {
    MUSTER_TRY(text, parse_distribution(options.distribution, options.plane_size));
    if (text.starts_with("arbitrary") && options.host_file.empty() && !listed && options.command != Command::kSrun)
      return conflict("With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option");
    request.distribution = text;
  }
  if (!options.wait4switch.empty() && request.switches && request.switches_wait == Duration{}) {
    auto t = parse_time_limit(options.wait4switch);
    if (!t) return conflict("Invalid --switches specification", "the variable for the longest wait holds no time");
    request.switches_wait = minutes(t->minutes.value_or(kUnlimited32));
  }
  if (options.umask) request.umask = *options.umask;
  bool login_env = options.command == Command::kSbatch && request.env_export == EnvExport::kNone && request.get_user_env.empty();
  if (login_env) request.get_user_env = "yes";
  return {};
}

Result<> check_step_rules(const JobOptions& options) {
  if (options.step.overlap && options.given("exclusive") && options.source_of("exclusive") != Source::kEnvironment)
    return conflict("--exclusive and --overlap are mutually exclusive");
  bool nodes_named = !options.request.required_nodes.empty() || !options.request.excluded_nodes.empty() || !options.nodelist_file.empty() ||
                     !options.exclude_file.empty();
  if (options.step.relative >= 0 && nodes_named) return conflict("-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
  if (options.request.no_allocate && options.request.required_nodes.empty() && options.nodelist_file.empty())
    return conflict("must specify a node list with -Z, --no-allocate.");
  if (options.request.no_allocate && (!options.request.excluded_nodes.empty() || !options.exclude_file.empty()))
    return conflict("can not specify --exclude list with -Z, --no-allocate.");
  if (options.request.no_allocate && (options.bcast || options.given("uid") || options.given("gid")))
    return conflict("--bcast, --uid and --gid cannot be used with -Z, --no-allocate.",
                    "what runs without a job runs as its caller, and nodes take files for jobs alone");
  return {};
}

void take_counts(const AskedRequest& request, StepRequest& step) {
  step.min_nodes = request.min_nodes;
  step.max_nodes = request.max_nodes;
  step.num_tasks = request.num_tasks;
  step.cpus_per_task = request.cpus_per_task;
  step.ntasks_per_node = request.ntasks_per_node;
  step.ntasks_per_socket = request.ntasks_per_socket;
  step.ntasks_per_core = request.ntasks_per_core;
  step.ntasks_per_gpu = request.ntasks_per_gpu;
  step.threads_per_core = request.threads_per_core;
  step.cores_per_socket = request.cores_per_socket;
  step.sockets_per_node = request.sockets_per_node;
  step.overcommit = request.overcommit;
  step.mem_per_node_mb = request.mem_per_node_mb;
  step.mem_per_cpu_mb = request.mem_per_cpu_mb;
  step.mem_per_gpu_mb = request.mem_per_gpu_mb;
}

// A step uses the licenses of its job, so it asks for none.
TresText without_licenses(const TresText& tres) {
  TresList list = tres.value();
  if (!std::erase_if(list.items(), [](const Tres& t) { return t.kind == "license"; })) return tres;
  return list.text();
}

bool asks_gpus(const StepRequest& s) {
  return std::ranges::any_of(
      std::initializer_list<const TresText*>{&s.tres_per_node, &s.tres_per_step, &s.tres_per_task, &s.tres_per_socket},
      [](const TresText* list) { return list->value().gres("gpu") > 0; });
}

Result<> take_devices(const JobOptions& options, StepRequest& step) {
  const AskedRequest& request = options.request;
  step.tres_per_node = iequals(options.gres, "none") ? TresText("none") : request.tres_per_node;
  if (!options.step_gres.empty() && options.source_of("gres") != Source::kCommandLine) {
    if (iequals(options.step_gres, "none")) {
      step.tres_per_node = "none";
    } else {
      MUSTER_TRY(text, gres_to_tres(options.step_gres));
      step.tres_per_node = text;
    }
  }
  step.tres_per_step = request.tres_per_job;
  if (step.ntasks_per_gpu && step.num_tasks && !asks_gpus(step))
    append(step.tres_per_step, "gres/gpu:" + std::to_string((step.num_tasks + step.ntasks_per_gpu - 1) / step.ntasks_per_gpu));
  step.tres_per_socket = request.tres_per_socket;
  step.tres_per_task = without_licenses(request.tres_per_task);
  step.cpus_per_gpu = request.cpus_per_gpu;
  step.tres_bind = request.tres_bind;
  step.tres_freq = request.tres_freq;
  step.gres_flags = request.gres_flags;
  step.licenses = request.licenses;
  return {};
}

void take_placement(const AskedRequest& request, StepRequest& step) {
  step.required_nodes = request.required_nodes;
  step.excluded_nodes = request.excluded_nodes;
  step.features = request.features;
  step.distribution = request.distribution;
  step.cpu_bind = request.cpu_bind;
  step.mem_bind = request.mem_bind;
  step.cpu_freq = request.cpu_freq;
  step.hint = request.hint;
  step.network = request.network;
  step.resv_ports = request.resv_ports;
  step.resv_ports_set = request.resv_ports_set;
}

// How the step's tasks run, and for how long.
void take_life(const JobOptions& options, StepRequest& step) {
  const AskedRequest& request = options.request;
  step.immediate = request.immediate_seconds != 0;
  step.immediate_seconds = request.immediate_seconds;
  step.time_limit_min = request.time_limit_min;
  step.no_kill = request.no_kill;
  step.open_mode = request.open_mode;
  step.umask = request.umask;
  step.acctg_freq = request.acctg_freq;
  step.profile = request.profile;
  step.comment = request.comment;
  step.warn = request.warn;
  step.preserve_env = options.preserve_env;
  step.debug_level = options.verbose;
  step.oom_kill_step_set = request.oom_kill_step_set;
  step.oom_kill_step = request.oom_kill_step;
  step.work_dir = options.chdir;
  if (step.pty) step.unbuffered = true;
  if (options.bcast) step.bcast = options.bcast_path.empty() ? "." : options.bcast_path;
}

// A step asks its job for the same fields that these options ask of the cluster.
Result<> fill_step(JobOptions& options, std::vector<Message>& messages) {
  AskedRequest& request = options.request;
  StepRequest& step = options.step;
  MUSTER_TRY_VOID(check_step_rules(options));
  step.name = request.name;
  take_counts(request, step);
  MUSTER_TRY_VOID(take_devices(options, step));
  if (options.job_id && options.source_of("tres-per-task") == Source::kCommandLine && step.tres_per_task != request.tres_per_task)
    messages.push_back({Message::Level::kWarning,
                        "Ignoring --tres-per-task license specification: the licenses are the job's, and all of its steps have them"});
  take_placement(request, step);
  take_life(options, step);
  // --exclusive of a step means --exact, except in the forms that concern only the allocation.
  bool step_exclusive = options.given("exclusive") && request.exclusive == Exclusive::kNode && !options.exclusive_allocation;
  if (step_exclusive) step.exclusive = step.exact = true;
  if ((request.cpus_per_task || request.cpus_per_gpu) && !options.whole) step.exact = true;
  if (options.whole && step.exact) return conflict("--whole is mutually exclusive with --exact and --exclusive");
  request.std_in = step.std_in;
  request.std_out = step.std_out;
  request.std_err = step.std_err;
  return {};
}

}  // namespace

bool finish_job_options(JobOptions& options, std::vector<Message>& messages) {
  using Level = Message::Level;
  auto passes = [&](Result<> result, Level level) {
    if (!result) options_detail::add_error(messages, result.error(), level, options.command);
    return result.has_value();
  };
  // Slurm calls the conflicts of the first three fatal and everything else an error.
  return passes(finish_memory(options), Level::kFatal) && passes(finish_spec(options), Level::kFatal) &&
         passes(check_gpu_conflicts(options), Level::kFatal) && passes(check_gpu_counts(options), Level::kError) &&
         passes(finish_sharing(options), Level::kError) && passes(check_times(options), Level::kError) &&
         passes(finish_hint(options, messages), Level::kError) && passes(finish_tres(options), Level::kError) &&
         passes(finish_counts(options, messages), Level::kError) &&
         (options.command != Command::kSrun || passes(fill_step(options, messages), Level::kError));
}

}  // namespace muster
