// Stepd: the life of one step on one node. Takes the launch from slurmd, starts the tasks, watches over them,
// ends them, and keeps the result until slurmd has taken it (or a slurmd that started anew has). Manual page:
// slurmstepd(8).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "os/held_process.h"
#include "os/node/cpu_frequency.h"
#include "slurmstepd/environment.h"
#include "slurmstepd/mpi_module.h"
#include "slurmstepd/output_relay.h"
#include "slurmstepd/processes.h"
#include "slurmstepd/step_plugins.h"
#include "slurmstepd/stream.h"
#include "slurmstepd/task_files.h"

namespace muster::slurmstepd {

class Stepd {
 public:
  // `slurmd_fd`: our end of the socket pair that slurmd made. Without `make_plugins` a step that has plugins fails.
  explicit Stepd(int slurmd_fd, MakePlugins make_plugins = {});
  int run();

 private:
  struct Task {
    const step_rpc::TaskLaunch* launch = nullptr;
    pid_t pid = 0;  // 0: not running
    bool ended = false;
    int32_t status = 0;
  };

  void attend(net::ChannelPtr channel);
  void on_frame(net::Channel* from, const net::Frame& frame);
  void on_launch(step_rpc::StepdLaunch launch);
  void start_tasks();
  void attach(const rpc::StepIo& io);
  Result<> prepare();
  Result<> write_script();
  void set_frequency();

  // task_start.cc
  Result<> start_task(Task& task);
  Result<std::vector<os::FdMapping>> wire_task(Task& task, std::vector<os::Fd>& ours);
  Result<> run_task_prologs(const step_rpc::TaskLaunch& task, Environment& env);
  void run_task_epilogs(const step_rpc::TaskLaunch& task, int32_t status);
  os::SpawnSpec spec_of(const step_rpc::TaskLaunch& task) const;

  // plugin_start.cc
  Result<> begin_plugins();
  void plugins_failed(const Error& error);
  void plugin_says(const std::string& line);
  void plugin_logs(os::LogLevel level, const std::string& text);
  void enter_directory(const std::string& directory);
  Result<pid_t> hold_task(Task& task, os::SpawnSpec& spec);
  Result<> release_tasks();
  void end_plugins();

  // step_mpi.cc
  void start_module();
  void module_ended(int32_t status);
  void module_gone();
  void abort_when_it_has_ended();
  void abort_step();

  void launch_failed(const Error& error, bool node_fault);

  void watch_limit();
  void out_of_time();
  void on_children();
  void task_ended(Task& task, int32_t status);
  void look_for_oom_kills();
  std::string step_name() const;
  void signal_tasks(int signal, bool leaders_only);
  void end(uint32_t kill_wait_seconds, const std::string& message);
  void note(const std::string& line);  // on the step's standard error, and srun's

  // debug_notes.cc: what --slurmd-debug makes it say
  enum class Detail : uint32_t { kInfo = 3, kVerbose = 4, kDebug = 5, kDebug2 = 6 };
  void tell(Detail detail, const std::string& text);
  void tell_of_start();
  void tell_of_task(const Task& task);
  void tell_of_end(const Task& task);
  void kill_now();
  void all_tasks_ended();
  void finish_when_quiet();
  void finished();
  void watch_for_removal();
  void leave();
  void report();

  net::Loop loop_;
  std::vector<net::ChannelPtr> channels_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<step_rpc::StepdLaunch> launch_;
  std::optional<os::Credentials> who_;
  std::vector<os::FdMapping> none_;
  std::unique_ptr<TaskFiles> files_;
  OutputRelay relay_{loop_};
  StepProcesses processes_;
  std::unique_ptr<SrunStream> stream_;
  std::vector<os::LimitSetting> limits_;
  std::optional<mpi_rpc::StepMpi> mpi_setup_;  // came before the launch
  std::unique_ptr<MpiModule> mpi_;
  os::Fd pty_master_;
  std::optional<os::CpuFrequencyHold> frequency_;  // while tasks run
  std::vector<Task> tasks_;
  size_t running_ = 0;
  bool started_ = false, ending_ = false, tasks_over_ = false, finished_ = false, released_ = false,
       flushing_ = false, lingering_ = false, hurrying_ = false;
  int kill_rounds_ = 0;
  uint64_t oom_kills_ = 0;  // told so far
  step_rpc::StepdReport state_;
  MakePlugins make_plugins_;
  std::unique_ptr<StepPlugins> plugins_;   // from its start to its end
  std::vector<os::HeldProcess> held_;      // tasks that wait for each other
  bool in_task_ = false;                   // in the process of a task, where plugins run
  Duration began_{};                     // of the loop's clock: when the tasks were started
  std::optional<Duration> limit_;        // the step's own
  bool warned_ = false;
  std::unique_ptr<net::Loop::Timer> kill_timer_, quiet_timer_, limit_timer_, warn_timer_, module_timer_,
      abort_timer_;  // runs while a task that aborts has yet to end
};

}  // namespace muster::slurmstepd
