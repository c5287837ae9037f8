// Stepd: one step on one node, with real processes. It takes the launch from slurmd and does what core/step_core.h decides: starts the
// tasks, watches over them, ends them, and keeps the result until slurmd (this one or its successor) has taken it. slurmstepd(8).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "model/step_run.h"
#include "net/channel.h"
#include "net/loop.h"
#include "os/held_process.h"
#include "os/node/cpu_frequency.h"
#include "os/oom_shield.h"
#include "slurmstepd/core/step_core.h"
#include "slurmstepd/environment.h"
#include "slurmstepd/errands.h"
#include "slurmstepd/mpi_module.h"
#include "slurmstepd/output_relay.h"
#include "slurmstepd/processes.h"
#include "slurmstepd/step_plugins.h"
#include "slurmstepd/step_profiler.h"
#include "slurmstepd/stream.h"
#include "slurmstepd/task_files.h"
#include "slurmstepd/use_watch.h"
#include "slurmstepd/user_programs.h"

namespace muster::slurmstepd {

class Stepd : private StepHost {
 public:
  // `slurmd_fd`: our end of the socket pair that slurmd made. Without `make_plugins` a step that has plugins fails.
  explicit Stepd(int slurmd_fd, MakePlugins make_plugins = {});
  int run();

 private:
  // What a task needs until it runs its program.
  struct TaskStart {
    explicit TaskStart(const std::vector<std::string>& environment) : env(environment) {}
    Environment env;
    std::vector<os::FdMapping> fds;
    std::vector<os::Fd> ours;  // of those, and the groups it joins
    std::optional<os::Launch> launch;
    std::unique_ptr<net::Loop::Watch> watch;
  };
  struct Task {
    const step_rpc::TaskLaunch* launch = nullptr;
    pid_t pid = 0;  // 0: it has no process
    std::unique_ptr<TaskStart> start;
  };

  void attend(net::ChannelPtr channel);
  void on_frame(net::Channel* from, const net::Frame& frame);
  void on_launch(step_rpc::StepdLaunch launch);
  void attach(const step_rpc::StepdAttach& where, bool named_by_root);
  Result<> prepare();
  void make_stream();
  Result<> write_script();
  Result<> write_run_file();
  void set_frequency();
  std::string step_name() const;
  step_rpc::StepdReport shown_state() const;
  void watch_for_removal();
  void on_children();
  StepProcesses::Spared spared() const;
  void signal_tasks(int signal, bool leaders_only);
  bool runs(const Task& task) const { return task.pid > 0 && !core_.is_ended(place_of(task)); }
  size_t place_of(const Task& task) const { return static_cast<size_t>(&task - tasks_.data()); }

  // ---- what the core has done by its host (core/step_host.h)
  Duration now() override { return net::Loop::monotonic(); }
  void set_timer(StepTimer timer, Duration delay) override;
  void cancel_timer(StepTimer timer) override { timers_[static_cast<size_t>(timer)].reset(); }
  bool processes_left() override { return processes_.any_left(); }
  bool programs_run() override { return programs_.any(); }
  bool srun_connected() override { return stream_ && stream_->connected(); }
  bool readers_attached() override { return stream_ && stream_->attached(); }
  bool outputs_open() override { return stream_ && stream_->outputs_open(); }
  uint64_t oom_kills() override { return processes_.oom_kills(); }
  void connect_to_srun() override;
  void load_login_environment() override;
  void prepared() override;
  void open_files() override;
  void signal_tasks(int signal) override { signal_tasks(signal, false); }
  void signal_everything(int signal) override;
  void kill_everything() override;
  void reap() override { on_children(); }
  void give_up_start() override;
  void sweep() override;
  void write_the_rest() override;
  void say_end_to_srun() override { stream_->say_end(); }
  void close_stream() override;
  void clean_up() override;
  void leave() override;
  void wait_to_leave() override { watch_for_removal(); }
  void note(const std::string& line) override;
  void note_to_srun(const std::string& line) override;
  void note_oom_kills(uint64_t more) override;
  void note_of_node(const std::string& text) override;
  std::string out_of_time() override;
  void tell_ended(const std::vector<EndedTask>& tasks, bool out_of_memory) override;
  void abort_on_all_nodes() override;
  void report(const step_rpc::StepdReport& state) override;

  // task_start.cc
  Result<> wire(size_t task) override;
  void run_prolog(size_t task, bool of_site) override;
  Result<Launched> launch(size_t task, bool in_tmp) override;
  void go_to_tmp(size_t task, const Error& why) override;
  void has_started(size_t task) override;
  void forget_start(size_t task) override { tasks_[task].start.reset(); }
  void all_run(const std::string& word) override;
  void is_over(const EndedTask& task, bool epilog) override;
  void prolog_done(size_t task, bool of_site, const UserPrograms::Outcome& outcome);
  void settle(size_t task);
  Result<> wire_files(const step_rpc::TaskLaunch& task, TaskStart& start);
  Result<> wire_terminal(const step_rpc::TaskLaunch& t, TaskStart& start);
  void run_task_epilog(const step_rpc::TaskLaunch& task, bool of_site);
  os::SpawnSpec spec_of(const step_rpc::TaskLaunch& task);
  Result<os::SpawnSpec> task_spec(const Task& task, bool in_tmp, std::vector<os::Fd>& groups);

  // plugin_start.cc
  Result<> begin_plugins() override;
  bool plugins_blame_job() override { return plugins_ && plugins_->blames_job(); }
  Result<> release_tasks() override;
  void end_plugins() override;
  void plugin_says(const std::string& line);
  void plugin_logs(os::LogLevel level, const std::string& text);
  void enter_directory(const std::string& directory);
  Result<pid_t> hold_task(Task& task, os::SpawnSpec& spec);

  // step_mpi.cc
  std::string module_name() override { return "mpi/" + mpi_->type(); }
  bool module_runs() override { return mpi_ && mpi_->running(); }
  Result<> start_module() override;
  void module_is_ready() override;
  void finish_module() override { mpi_->finish(); }
  void kill_module() override { mpi_->kill(); }
  Error end_of_module(int32_t status) const;

  // debug_notes.cc: what --slurmd-debug makes it say
  enum class Detail : uint32_t { kInfo = 3, kVerbose = 4, kDebug = 5, kDebug2 = 6 };
  void tell(Detail detail, const std::string& text);
  void tell_of_start();
  void tell_of_task(const Task& task);
  void tell_of_end(const EndedTask& task);

  net::Loop loop_;
  std::vector<net::ChannelPtr> channels_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<step_rpc::StepdLaunch> launch_;
  std::optional<os::Credentials> who_;
  std::unique_ptr<Errands> openings_, writings_;  // the first are given up with what was to start
  std::unique_ptr<TaskFiles> files_;
  std::unique_ptr<OutputRelay> relay_;
  os::OomShield oom_;  // before all that starts processes
  UserPrograms programs_{loop_};
  StepProcesses processes_;
  std::unique_ptr<StepProfiler> profiler_;  // none: no time series are recorded
  std::unique_ptr<UseWatch> use_;           // none: nothing is gathered
  std::unique_ptr<SrunStream> stream_;
  std::vector<os::LimitSetting> limits_;
  std::optional<mpi_rpc::StepMpi> mpi_setup_;  // came before the launch
  std::unique_ptr<MpiModule> mpi_;
  Result<NamespaceSides> namespace_;  // of mounts, of the job; an error fails the launch
  os::Fd pty_master_;
  std::optional<os::CpuFrequencyHold> frequency_;  // while tasks run
  StepCore core_{*this};
  std::vector<Task> tasks_;
  std::vector<step_rpc::TaskProcess> running_;  // since all run
  std::array<std::unique_ptr<net::Loop::Timer>, kStepTimers> timers_;
  std::unique_ptr<net::Loop::Timer> removal_timer_;
  bool roots_io_ = false;  // of the next address
  MakePlugins make_plugins_;
  std::unique_ptr<StepPlugins> plugins_;  // from its start to its end
  std::vector<os::HeldProcess> held_;     // tasks that wait for each other
  bool in_task_ = false;                  // in the process of a task, where plugins run
};

}  // namespace muster::slurmstepd
