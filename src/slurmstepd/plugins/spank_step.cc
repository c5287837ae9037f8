#include "slurmstepd/plugins/spank_step.h"

#include <unistd.h>

#include "plugin/spank/stack.h"
#include "slurmstepd/environment.h"
#include "slurmstepd/plugins/as_user.h"

namespace muster::slurmstepd {
namespace {

uint16_t count_of(const std::string& cpus) {
  Bitmap b;
  return Bitmap::parse_ranges(cpus, b) ? static_cast<uint16_t>(b.count()) : 0;
}

spank::Facts facts_of(const step_rpc::StepdLaunch& launch) {
  const step_rpc::StepSpank& spank = launch.spank.front();
  spank::Facts facts;
  facts.uid = launch.uid.value;
  facts.gid = launch.gid.value;
  facts.groups = std::vector<gid_t>(launch.groups.begin(), launch.groups.end());
  facts.job = launch.job.value;
  facts.step = launch.step.value;
  facts.num_nodes = spank.num_nodes;
  facts.node_id = launch.node_id;
  facts.num_tasks = spank.num_tasks;
  facts.cpus_per_task = std::max(1u, spank.cpus_per_task);
  facts.restarts = launch.generation;
  facts.array_job = spank.array_job;
  facts.array_task = spank.array_task;
  facts.num_cpus = count_of(spank.step_cpus);
  facts.job_cpus = spank.job_cpus;
  facts.step_cpus = spank.step_cpus;
  facts.job_mem_mb = spank.job_mem_mb;
  facts.step_mem_mb = spank.step_mem_mb;
  if (!launch.tasks.empty()) facts.argv = launch.tasks.front().argv;
  for (size_t i = 0; i < launch.tasks.size(); ++i) facts.tasks.push_back({static_cast<uint32_t>(i), launch.tasks[i].rank, 0, {}});
  return facts;
}

class Variables final : public spank::JobEnvironment {
 public:
  void take(const std::vector<std::string>& entries) { list_ = Environment(entries); }
  const std::vector<std::string>& entries() const override { return list_.entries(); }
  void set(const std::string& entry) override { list_.set(entry); }
  void unset(std::string_view name) override { list_.unset(name); }

 private:
  Environment list_{{}};
};

class SpankStep final : public StepPlugins {
 public:
  SpankStep(const step_rpc::StepdLaunch& launch, std::unique_ptr<spank::Stack> stack) : launch_(launch), stack_(std::move(stack)) {
    stack_->facts = facts_of(launch);
    stack_->environment = &variables_;
  }

  Result<> begin(std::vector<std::string>& environment) override {
    using enum spank::Callback;
    variables_.take(environment);
    MUSTER_TRY_VOID(stack_->call(kInit));
    MUSTER_TRY_VOID(stack_->give_entries(launch_.spank.front().options));
    MUSTER_TRY_VOID(stack_->call(kInitPostOpt));
    if (stack_->has(kUserInit)) MUSTER_TRY_VOID(as_user(launch_.uid, launch_.gid, launch_.groups, [&] { return stack_->call(kUserInit); }));
    environment = variables_.entries();
    return {};
  }

  bool blames_job() const override { return stack_->blames_job(); }

  bool task_as_root(size_t task, const std::vector<std::string>& environment) override {
    variables_.take(environment);
    stack_->facts.argv = launch_.tasks[task].argv;
    stack_->facts.tasks[task].pid = ::getpid();
    return passes(spank::Callback::kTaskInitPrivileged, task);
  }

  bool task_as_user(size_t task, std::vector<std::string>& environment, std::vector<std::string>& argv) override {
    if (!passes(spank::Callback::kTaskInit, task)) return false;
    environment = variables_.entries();
    argv = *stack_->facts.argv;
    return true;
  }

  Result<> forked(size_t task, pid_t pid) override {
    stack_->facts.tasks[task].pid = pid;
    return stack_->call(spank::Callback::kTaskPostFork, &stack_->facts.tasks[task]);
  }

  void task_ended(size_t task, int32_t status) override {
    stack_->facts.tasks[task].exit_status = status;
    passes(spank::Callback::kTaskExit, task);
  }

  void end() override {
    if (auto ok = stack_->call(spank::Callback::kExit); !ok) tell(ok.error());
  }

 private:
  bool passes(spank::Callback callback, size_t task) {
    auto ok = stack_->call(callback, &stack_->facts.tasks[task]);
    if (!ok) tell(ok.error());
    return ok.has_value();
  }
  void tell(const Error& e) const { stack_->log(os::LogLevel::kError, "spank: " + std::string(e.message())); }

  const step_rpc::StepdLaunch& launch_;
  std::unique_ptr<spank::Stack> stack_;
  Variables variables_;
};

}  // namespace

Result<std::unique_ptr<StepPlugins>> make_spank(const step_rpc::StepdLaunch& launch, PluginWords words) {
  spank::Stack::Ports ports{std::move(words.log), std::move(words.say)};
  MUSTER_TRY(stack, spank::Stack::load(launch.spank.front().plugins, S_CTX_REMOTE, std::move(ports)));
  return std::make_unique<SpankStep>(launch, std::move(stack));
}

}  // namespace muster::slurmstepd
