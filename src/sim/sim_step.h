// SimStep: slurmstepd of one step on a simulated machine: the real StepCore. Its processes, its srun and its files are drawn from the seed:
// tasks that ignore SIGTERM, children that stay behind, an srun that goes away, directories that cannot be entered.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "slurmstepd/core/step_core.h"

namespace muster::sim {

class World;

class SimStep final : public slurmstepd::StepHost, public std::enable_shared_from_this<SimStep> {
 public:
  struct Life {
    Duration runtime{};
    int32_t exit_status = 0;
    bool batch = false;
    bool stays = false;   // the external step: what it runs from its start goes on until it is ended
    bool breaks = false;  // its start may go wrong, its srun may go away
  };
  struct Told {
    std::function<void(const step_rpc::StepdReport&)> report;
    std::function<void()> empty;  // no process of it is left
    std::function<void()> left;   // slurmstepd itself ended
  };
  SimStep(World& world, Life life, Told told) : world_(world), life_(life), told_(std::move(told)) {}

  void begin();
  void end(uint32_t kill_wait_seconds) { core_.end(kill_wait_seconds, {}); }
  void signal(int number);
  void stop(bool stopped);
  void release() { core_.release(); }
  bool finished() const { return core_.finished(); }
  const step_rpc::StepdReport& state() const { return core_.state(); }

 private:
  struct Process {
    Time ends{};
    uint64_t plan = 0;  // number of the end that counts
    Duration left{};    // to run, while stopped
    int32_t status = 0;
  };
  using Processes = std::map<uint32_t, Process>;  // 0: the task
  void later(Duration low, Duration high, std::function<void()> what);
  void add(uint32_t number, Duration runtime, int32_t status);
  void ends_in(uint32_t number, Duration in, int32_t status);
  void gone(uint32_t number, int32_t status);

  Duration now() override;
  void set_timer(slurmstepd::StepTimer timer, Duration delay) override;
  void cancel_timer(slurmstepd::StepTimer timer) override { ++timers_[timer]; }
  bool processes_left() override { return !alive_.empty(); }
  bool programs_run() override { return false; }
  bool module_runs() override { return false; }
  bool srun_connected() override { return srun_; }
  bool readers_attached() override { return false; }
  bool outputs_open() override { return !alive_.empty(); }
  uint64_t oom_kills() override { return 0; }
  void connect_to_srun() override;
  void load_login_environment() override { core_.login_environment({}); }
  void prepared() override {}
  std::string module_name() override { return {}; }
  Result<> start_module() override { return {}; }
  void module_is_ready() override {}
  Result<> begin_plugins() override { return {}; }
  bool plugins_blame_job() override { return false; }
  void open_files() override;
  Result<> wire(size_t) override { return {}; }
  void run_prolog(size_t, bool) override {}
  Result<Launched> launch(size_t task, bool in_tmp) override;
  void go_to_tmp(size_t task, const Error& why) override;
  void has_started(size_t) override {}
  void forget_start(size_t) override {}
  Result<> release_tasks() override { return {}; }
  void all_run(const std::string&) override {}
  void is_over(const slurmstepd::EndedTask&, bool) override {}
  void signal_tasks(int number) override { signal(number); }
  void signal_everything(int number) override;
  void kill_everything() override;
  void reap() override;
  void give_up_start() override {}
  void finish_module() override {}
  void kill_module() override {}
  void end_plugins() override {}
  void sweep() override {}
  void write_the_rest() override;
  void say_end_to_srun() override;
  void close_stream() override { srun_ = false; }
  void clean_up() override {}
  void leave() override { told_.left(); }
  void wait_to_leave() override {}
  void note(const std::string&) override {}
  void note_to_srun(const std::string&) override {}
  void note_oom_kills(uint64_t) override {}
  void note_of_node(const std::string&) override {}
  std::string out_of_time() override { return "TIME LIMIT"; }
  void tell_ended(const std::vector<slurmstepd::EndedTask>&, bool) override {}
  void abort_on_all_nodes() override {}
  void report(const step_rpc::StepdReport& state) override { told_.report(state); }

  World& world_;
  const Life life_;
  const Told told_;
  slurmstepd::StepCore core_{*this};
  Processes alive_;
  std::vector<int32_t> dead_;  // statuses of the task, not reaped yet: one at most
  bool srun_ = false, stopped_ = false;
  uint64_t last_plan_ = 0;
  std::map<slurmstepd::StepTimer, uint64_t> timers_;  // number of the setting that counts
};

}  // namespace muster::sim
