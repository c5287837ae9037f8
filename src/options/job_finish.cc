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

Result<> finish_memory(JobOptions& o) {
  constexpr std::string_view kNames[] = {"mem", "mem-per-cpu", "mem-per-gpu"};
  auto drop = [&](std::string_view name) {
    if (name == "mem") o.request.mem_per_node_mb.reset();
    else if (name == "mem-per-cpu") o.request.mem_per_cpu_mb.reset();
    else o.request.mem_per_gpu_mb.reset();
  };
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = i + 1; j < 3; ++j) {
      if (!both_given(o, kNames[i], kNames[j], drop)) continue;
      if (o.source_of(kNames[i]) == Source::kEnvironment)
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

Result<> finish_sharing(JobOptions& o) {
  if (o.quiet && o.verbose > 0) return conflict("don't specify both --verbose (-v) and --quiet (-Q)");
  auto keep_typed = [&](std::string_view weak) {
    // Only --exclusive has a variable, so only --exclusive can give way.
    if (weak == "exclusive") o.request.exclusive = Exclusive::kOversubscribe;
  };
  if (both_given(o, "exclusive", "oversubscribe", keep_typed))
    return conflict("--exclusive and --oversubscribe options are mutually exclusive");
  // Specialized cores are left to the system only on nodes the job has alone.
  bool spec = o.given("core-spec") || o.given("thread-spec");
  if (spec && o.request.exclusive == Exclusive::kDefault) o.request.exclusive = Exclusive::kNode;
  return {};
}

// --hint and the options that set the same numbers. On the command line the numbers win; a number from the environment gives way to a typed
// hint.
Result<> finish_hint(JobOptions& o, std::vector<Message>& messages) {
  constexpr std::string_view kNumbers[] = {"ntasks-per-core", "cores-per-socket", "sockets-per-node", "threads-per-core",
                                           "extra-node-info"};
  AskedRequest& r = o.request;
  for (std::string_view other : {std::string_view("threads-per-core"), std::string_view("ntasks-per-core")})
    if (o.given("extra-node-info") && o.given(other) && o.source_of(other) != Source::kEnvironment)
      return conflict("-B,--extra-node-info is mutually exclusive with --" + std::string(other));
  if (r.hint.empty()) return {};
  for (std::string_view name : kNumbers) {
    if (!o.given(name)) continue;
    if (o.source_of(name) == Source::kEnvironment && o.source_of("hint") != Source::kEnvironment) {
      if (name == "ntasks-per-core") r.ntasks_per_core = 0;
      if (name == "threads-per-core") r.threads_per_core = 0;
      continue;
    }
    if (o.source_of("hint") != Source::kEnvironment)
      messages.push_back(
          {Message::Level::kWarning,
           "Following options are mutually exclusive with --hint: --ntasks-per-core, --threads-per-core, --cores-per-socket, "
           "--sockets-per-node and -B. Ignoring --hint, as --" +
               std::string(name) + " is given."});
    r.hint.clear();
    return {};
  }
  if (r.hint->one_thread()) r.threads_per_core = 1;
  if (r.hint->kind == TaskHint::Kind::kMemoryBound) r.cores_per_socket = 1;
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

Result<> check_gpu_conflicts(JobOptions& o) {
  auto drop = [&](std::string_view weak) {
    if (weak == "gpus-per-task") o.gpus_per_task.clear();
    if (weak == "gpus-per-socket") o.gpus_per_socket.clear();
    if (weak == "gpus-per-node") o.gpus_per_node.clear();
    if (weak == "gres") o.gres.clear();
    if (weak == "ntasks-per-gpu") o.request.ntasks_per_gpu = 0;
    if (weak == "ntasks-per-node") o.request.ntasks_per_node = 0;
    if (weak == "cpus-per-gpu") o.request.cpus_per_gpu = 0;
    if (weak == "cpus-per-task") o.request.cpus_per_task = 0;
  };
  if (both_given(o, "gpus-per-task", "ntasks-per-gpu", drop))
    return conflict("--gpus-per-task is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  if (both_given(o, "gpus-per-socket", "ntasks-per-gpu", drop))
    return conflict("--gpus-per-socket is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  if (both_given(o, "ntasks-per-node", "ntasks-per-gpu", drop))
    return conflict("--ntasks-per-node is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
  // Since 26.05 the two ways to ask for GPUs per node exclude each other; --gres with other names may stand beside --gpus-per-node.
  if (names_gpu(o.gres) && both_given(o, "gres", "gpus-per-node", drop))
    return conflict("--gres=gpu and --gpus-per-node are mutually exclusive", "use one of the two for GPUs");
  // A count typed for the step or its tasks is more specific than the count per node that the job's environment holds.
  auto typed = [&](std::string_view name) { return o.given(name) && o.source_of(name) != Source::kEnvironment; };
  const auto per_task = parse_tres_per_task(o.tres_per_task);
  const bool task = typed("gpus-per-task") || (typed("tres-per-task") && per_task && per_task->gpus);
  if (o.command == Command::kSrun && (typed("gpus") || task) && o.source_of("gpus-per-node") == Source::kEnvironment)
    o.gpus_per_node.clear();
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

Result<> check_gpu_counts(JobOptions& o) {
  if (both_given(o, "cpus-per-gpu", "cpus-per-task", [&](std::string_view weak) {
        if (weak == "cpus-per-gpu") o.request.cpus_per_gpu = 0;
        if (weak == "cpus-per-task") o.request.cpus_per_task = 0;
      }))
    return bad_gpus("--cpus-per-gpu is mutually exclusive with --cpus-per-task");
  if (!o.gpus_per_socket.empty() && o.request.sockets_per_node == 0)
    return bad_gpus("--gpus-per-socket option requires --sockets-per-node specification");
  for (const std::string* list : {&o.gpus, &o.gpus_per_node, &o.gpus_per_task, &o.gpus_per_socket}) {
    const auto parts = split(*list, ',');
    const auto typed = std::ranges::count_if(parts, [](std::string_view part) { return !parse_count(trim(part)); });
    if (typed > 0 && typed < std::ssize(parts)) return conflict("Invalid GRES specification (with and without type identification)");
  }
  // The counts of a step inside a job are checked against what the job has, not here.
  if (o.command == Command::kSrun && o.job_id) return {};
  MUSTER_TRY(all, gpus_in(o.gpus));
  MUSTER_TRY(node, gpus_in(o.gpus_per_node));
  MUSTER_TRY(socket, gpus_in(o.gpus_per_socket));
  MUSTER_TRY(task, gpus_in(o.gpus_per_task));
  if ((all && node > all) || (all && socket > all) || (node && socket > node))
    return bad_gpus("Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket");
  if (all && task && o.given("ntasks") && all != task * o.request.num_tasks)
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
Result<> finish_per_task(JobOptions& o) {
  AskedRequest& r = o.request;
  bool weak = o.source_of("tres-per-task") == Source::kEnvironment;
  if (!o.tres_per_task.empty()) {
    MUSTER_TRY(t, parse_tres_per_task(o.tres_per_task));
    if (t.cpus && r.cpus_per_task && t.cpus != r.cpus_per_task && !weak && o.source_of("cpus-per-task") != Source::kEnvironment)
      return conflict("--tres-per-task=cpu and --cpus-per-task are mutually exclusive");
    if (t.cpus && (!weak || !r.cpus_per_task)) r.cpus_per_task = t.cpus;
    if (t.gpus && !o.gpus_per_task.empty()) {
      if (weak) t.tres = without_gres(t.tres, "gpu");
      else if (o.source_of("gpus-per-task") == Source::kEnvironment) o.gpus_per_task.clear();
      else return conflict("--tres-per-task=gres/gpu and --gpus-per-task are mutually exclusive");
    }
    append(r.tres_per_task, t.tres);
  }
  if (!o.gpus_per_task.empty()) {
    MUSTER_TRY(text, gpus_to_tres(o.gpus_per_task));
    append(r.tres_per_task, text);
  }
  return {};
}

// --gpu-bind, --tres-bind, and the bindings that --gpus-per-task, --tres-per-task and --ntasks-per-gpu imply; the stronger source wins.
void finish_bind(JobOptions& o) {
  AskedRequest& r = o.request;
  Source bind = o.source_of("tres-bind");
  if (!o.gpu_bind.empty() && o.source_of("gpu-bind") >= bind) {
    bind_instead(r.tres_bind, "gres/gpu", o.gpu_bind);
    bind = o.source_of("gpu-bind");
  }
  auto imply = [&](std::string_view tres, uint64_t count, const char* how, Source source) {
    if (!count) return;
    bool explicit_bind = r.tres_bind.text().find(std::string(tres) + ":") != std::string::npos;
    if (explicit_bind && (bind != Source::kEnvironment || source == Source::kEnvironment)) return;
    bind_instead(r.tres_bind, tres, how + std::to_string(count));
  };
  Source per_task = std::max(o.source_of("gpus-per-task"), o.source_of("tres-per-task"));
  imply("gres/gpu", r.tres_per_task->gres("gpu"), "per_task:", per_task);
  imply("gres/shard", r.tres_per_task->gres("shard"), "per_task:", per_task);
  imply("gres/gpu", r.ntasks_per_gpu, "single:", o.source_of("ntasks-per-gpu"));
}

Result<> finish_tres(JobOptions& o) {
  AskedRequest& r = o.request;
  if (!o.gres.empty() && !iequals(o.gres, "none")) {
    MUSTER_TRY(text, gres_to_tres(o.gres));
    append(r.tres_per_node, text);
  }
  if (!o.gpus_per_node.empty()) {
    MUSTER_TRY(text, gpus_to_tres(o.gpus_per_node));
    append(r.tres_per_node, text);
  }
  if (!o.gpus.empty()) {
    MUSTER_TRY(text, gpus_to_tres(o.gpus));
    append(r.tres_per_job, text);
  }
  if (!o.gpus_per_socket.empty()) {
    MUSTER_TRY(text, gpus_to_tres(o.gpus_per_socket));
    append(r.tres_per_socket, text);
  }
  MUSTER_TRY_VOID(finish_per_task(o));
  finish_bind(o);
  if (!o.gpu_freq.empty()) r.tres_freq = "gpu:" + o.gpu_freq;
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

Result<> finish_counts(JobOptions& o, std::vector<Message>& messages) {
  AskedRequest& r = o.request;
  // With fewer tasks than nodes, the other nodes would stay unused.
  bool counted = r.node_sizes.empty() && o.given("ntasks") && o.given("nodes");
  if (counted && r.num_tasks < r.min_nodes) {
    messages.push_back({Message::Level::kWarning, "can't run " + std::to_string(r.num_tasks) + " processes on " +
                                                      std::to_string(r.min_nodes) + " nodes, setting nnodes to " +
                                                      std::to_string(r.num_tasks)});
    r.min_nodes = r.num_tasks;
    if (r.max_nodes) r.max_nodes = r.num_tasks;
  }
  finish_tasks_per_gpu(r);
  const bool listed = !r.required_nodes.empty() || !o.nodelist_file.empty() || !o.node_file.empty();
  if (listed) o.host_file.clear();
  if (!o.host_file.empty() && !istarts_with(o.distribution, "arbitrary")) o.distribution = "arbitrary";
  if (!o.distribution.empty()) {
    MUSTER_TRY(text, parse_distribution(o.distribution, o.plane_size));
    if (text.starts_with("arbitrary") && o.host_file.empty() && !listed && o.command != Command::kSrun)
      return conflict("With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option");
    r.distribution = text;
  }
  if (!o.wait4switch.empty() && r.switches && r.switches_wait == Duration{}) {
    auto t = parse_time_limit(o.wait4switch);
    if (!t) return conflict("Invalid --switches specification", "the variable for the longest wait holds no time");
    r.switches_wait = minutes(t->minutes.value_or(kUnlimited32));
  }
  if (o.umask) r.umask = *o.umask;
  bool login_env = o.command == Command::kSbatch && r.env_export == EnvExport::kNone && r.get_user_env.empty();
  if (login_env) r.get_user_env = "yes";
  return {};
}

Result<> check_step_rules(const JobOptions& o) {
  if (o.step.overlap && o.given("exclusive") && o.source_of("exclusive") != Source::kEnvironment)
    return conflict("--exclusive and --overlap are mutually exclusive");
  bool nodes_named =
      !o.request.required_nodes.empty() || !o.request.excluded_nodes.empty() || !o.nodelist_file.empty() || !o.exclude_file.empty();
  if (o.step.relative >= 0 && nodes_named) return conflict("-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
  if (o.request.no_allocate && o.request.required_nodes.empty() && o.nodelist_file.empty())
    return conflict("must specify a node list with -Z, --no-allocate.");
  if (o.request.no_allocate && (!o.request.excluded_nodes.empty() || !o.exclude_file.empty()))
    return conflict("can not specify --exclude list with -Z, --no-allocate.");
  if (o.request.no_allocate && (o.bcast || o.given("uid") || o.given("gid")))
    return conflict("--bcast, --uid and --gid cannot be used with -Z, --no-allocate.",
                    "what runs without a job runs as its caller, and nodes take files for jobs alone");
  return {};
}

void take_counts(const AskedRequest& r, StepRequest& s) {
  s.min_nodes = r.min_nodes;
  s.max_nodes = r.max_nodes;
  s.num_tasks = r.num_tasks;
  s.cpus_per_task = r.cpus_per_task;
  s.ntasks_per_node = r.ntasks_per_node;
  s.ntasks_per_socket = r.ntasks_per_socket;
  s.ntasks_per_core = r.ntasks_per_core;
  s.ntasks_per_gpu = r.ntasks_per_gpu;
  s.threads_per_core = r.threads_per_core;
  s.cores_per_socket = r.cores_per_socket;
  s.sockets_per_node = r.sockets_per_node;
  s.overcommit = r.overcommit;
  s.mem_per_node_mb = r.mem_per_node_mb;
  s.mem_per_cpu_mb = r.mem_per_cpu_mb;
  s.mem_per_gpu_mb = r.mem_per_gpu_mb;
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

Result<> take_devices(const JobOptions& o, StepRequest& s) {
  const AskedRequest& r = o.request;
  s.tres_per_node = iequals(o.gres, "none") ? TresText("none") : r.tres_per_node;
  if (!o.step_gres.empty() && o.source_of("gres") != Source::kCommandLine) {
    if (iequals(o.step_gres, "none")) {
      s.tres_per_node = "none";
    } else {
      MUSTER_TRY(text, gres_to_tres(o.step_gres));
      s.tres_per_node = text;
    }
  }
  s.tres_per_step = r.tres_per_job;
  if (s.ntasks_per_gpu && s.num_tasks && !asks_gpus(s))
    append(s.tres_per_step, "gres/gpu:" + std::to_string((s.num_tasks + s.ntasks_per_gpu - 1) / s.ntasks_per_gpu));
  s.tres_per_socket = r.tres_per_socket;
  s.tres_per_task = without_licenses(r.tres_per_task);
  s.cpus_per_gpu = r.cpus_per_gpu;
  s.tres_bind = r.tres_bind;
  s.tres_freq = r.tres_freq;
  s.gres_flags = r.gres_flags;
  s.licenses = r.licenses;
  return {};
}

void take_placement(const AskedRequest& r, StepRequest& s) {
  s.required_nodes = r.required_nodes;
  s.excluded_nodes = r.excluded_nodes;
  s.features = r.features;
  s.distribution = r.distribution;
  s.cpu_bind = r.cpu_bind;
  s.mem_bind = r.mem_bind;
  s.cpu_freq = r.cpu_freq;
  s.hint = r.hint;
  s.network = r.network;
  s.resv_ports = r.resv_ports;
  s.resv_ports_set = r.resv_ports_set;
}

// How the step's tasks run, and for how long.
void take_life(const JobOptions& o, StepRequest& s) {
  const AskedRequest& r = o.request;
  s.immediate = r.immediate_seconds != 0;
  s.immediate_seconds = r.immediate_seconds;
  s.time_limit_min = r.time_limit_min;
  s.no_kill = r.no_kill;
  s.open_mode = r.open_mode;
  s.umask = r.umask;
  s.acctg_freq = r.acctg_freq;
  s.profile = r.profile;
  s.comment = r.comment;
  s.warn = r.warn;
  s.preserve_env = o.preserve_env;
  s.debug_level = o.verbose;
  s.oom_kill_step_set = r.oom_kill_step_set;
  s.oom_kill_step = r.oom_kill_step;
  s.work_dir = o.chdir;
  if (s.pty) s.unbuffered = true;
  if (o.bcast) s.bcast = o.bcast_path.empty() ? "." : o.bcast_path;
}

// A step asks its job for the same fields that these options ask of the cluster.
Result<> fill_step(JobOptions& o, std::vector<Message>& messages) {
  AskedRequest& r = o.request;
  StepRequest& s = o.step;
  MUSTER_TRY_VOID(check_step_rules(o));
  s.name = r.name;
  take_counts(r, s);
  MUSTER_TRY_VOID(take_devices(o, s));
  if (o.job_id && o.source_of("tres-per-task") == Source::kCommandLine && s.tres_per_task != r.tres_per_task)
    messages.push_back({Message::Level::kWarning,
                        "Ignoring --tres-per-task license specification: the licenses are the job's, and all of its steps have them"});
  take_placement(r, s);
  take_life(o, s);
  // --exclusive of a step means --exact, except in the forms that concern only the allocation.
  bool step_exclusive = o.given("exclusive") && r.exclusive == Exclusive::kNode && !o.exclusive_allocation;
  if (step_exclusive) s.exclusive = s.exact = true;
  if ((r.cpus_per_task || r.cpus_per_gpu) && !o.whole) s.exact = true;
  if (o.whole && s.exact) return conflict("--whole is mutually exclusive with --exact and --exclusive");
  r.std_in = s.std_in;
  r.std_out = s.std_out;
  r.std_err = s.std_err;
  return {};
}

}  // namespace

bool finish_job_options(JobOptions& o, std::vector<Message>& messages) {
  using Level = Message::Level;
  auto passes = [&](Result<> result, Level level) {
    if (!result) options_detail::add_error(messages, result.error(), level, o.command);
    return result.has_value();
  };
  // Slurm calls the conflicts of the first three fatal and everything else an error.
  return passes(finish_memory(o), Level::kFatal) && passes(finish_spec(o), Level::kFatal) &&
         passes(check_gpu_conflicts(o), Level::kFatal) && passes(check_gpu_counts(o), Level::kError) &&
         passes(finish_sharing(o), Level::kError) && passes(check_times(o), Level::kError) &&
         passes(finish_hint(o, messages), Level::kError) && passes(finish_tres(o), Level::kError) &&
         passes(finish_counts(o, messages), Level::kError) &&
         (o.command != Command::kSrun || passes(fill_step(o, messages), Level::kError));
}

}  // namespace muster
