#include "slurmd/daemon/spank.h"

namespace muster::slurmd {
namespace {

std::string plugin_dir(const Setup& s) {
  return s.config().plugin_dir.empty() ? spank::default_plugin_dir(s.program_directory) : s.config().plugin_dir;
}

// nullopt where there are no plugins.
Result<std::optional<step_rpc::StepSpank>> stack_of_step(const Setup& s, std::vector<std::string> options) {
  MUSTER_TRY(stack, plugstack_of(s));
  if (stack.plugins.empty()) return std::nullopt;
  step_rpc::StepSpank out;
  out.plugins = std::move(stack.plugins);
  out.options = std::move(options);
  return out;
}

}  // namespace

Result<spank::Plugstack> plugstack_of(const Setup& s) { return spank::read_plugstack(s.config().plug_stack_config, plugin_dir(s)); }

Result<> add_spank(const Setup& setup, const node_rpc::JobOnNode& job, step_rpc::StepdLaunch& launch) {
  MUSTER_TRY(spank, stack_of_step(setup, job.request->spank_env));
  if (!spank) return {};
  spank->num_nodes = 1;  // the script is a step of one task on one node
  spank->num_tasks = 1;
  spank->cpus_per_task = job.request->cpus_per_task;
  spank->job_cpus = spank->step_cpus = job.share.cpus.to_ranges();
  spank->job_mem_mb = spank->step_mem_mb = job.share.mem_mb;
  spank->array_job = job.array_job_id.value;
  spank->array_task = job.array_task;
  launch.spank.push_back(std::move(*spank));
  return {};
}

Result<> add_spank(const Setup& setup, const rpc::StepCredential& credential, size_t node_index, const StepRequest& request,
                   step_rpc::StepdLaunch& launch) {
  MUSTER_TRY(spank, stack_of_step(setup, request.spank_options));
  if (!spank) return {};
  const rpc::StepNode& here = credential.nodes[node_index];
  spank->num_nodes = static_cast<uint32_t>(credential.nodes.size());
  spank->num_tasks = credential.num_tasks;
  spank->cpus_per_task = credential.cpus_per_task;
  spank->step_cpus = here.cpu_list;
  spank->step_mem_mb = here.mem_mb;
  // Where srun has no plugins the controller does not say the job's shares; the step's own are the least that they can be.
  spank->job_cpus = node_index < credential.job_cpus.size() ? credential.job_cpus[node_index] : here.cpu_list;
  spank->job_mem_mb = node_index < credential.job_mem_mb.size() ? credential.job_mem_mb[node_index] : here.mem_mb;
  spank->array_job = credential.array_job.value;
  spank->array_task = credential.array_task;
  launch.spank.push_back(std::move(*spank));
  return {};
}

Result<> NodePlugins::start(const Setup& setup) {
  MUSTER_TRY(stack, plugstack_of(setup));
  for (const std::string& n : stack.notes) log_.error("{}", n);
  if (stack.plugins.empty()) return {};
  spank::Stack::Ports ports;
  ports.log = [this](os::LogLevel level, const std::string& text) { log_.write(level, text); };
  ports.say = [this](const std::string& text) { log_.write(os::LogLevel::kInfo, text); };
  MUSTER_TRY(loaded, spank::Stack::load(stack.plugins, S_CTX_SLURMD, std::move(ports)));
  stack_ = std::move(loaded);
  loaded_ = std::move(stack.plugins);
  if (auto ok = stack_->call(spank::Callback::kInit); !ok) return fail(ok.error().code, "spank: " + std::string(ok.error().message()));
  return {};
}

NodePlugins::~NodePlugins() {
  if (!stack_) return;
  if (auto ok = stack_->call(spank::Callback::kSlurmdExit); !ok) log_.error("spank: {}", ok.error().message());
}

std::optional<site::ProgramCall> NodePlugins::job_script(const Setup& s, spank::Callback callback) const {
  auto now = plugstack_of(s);
  // A broken file is reported by the process, which then fails as a plugin would.
  const bool known = now && now->plugins == loaded_;
  if (known && !(stack_ && stack_->has(callback))) return std::nullopt;
  const char* which = callback == spank::Callback::kJobProlog ? "prolog" : "epilog";
  return site::ProgramCall{s.stepd_with_plugins, {"spank", which, s.config().plug_stack_config, plugin_dir(s)}};
}

}  // namespace muster::slurmd
