// StepHost: the machine as the life of a step needs it. StepCore has its decisions carried out by these calls, at once and in their order;
// what comes of a call later comes back as the call of StepCore that is named behind the arrow. `Stepd` is the host of a real node; tests
// and the simulator have their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/step_rpc.h"

namespace muster::slurmstepd {

enum class StepTimer : uint8_t { kKill, kQuiet, kLimit, kWarn, kModule, kAbort };
inline constexpr size_t kStepTimers = 6;

struct EndedTask {
  size_t task = 0;     // its place in the launch
  int32_t status = 0;  // wait status
  std::string text;    // why it never ran
};

class StepHost {
 public:
  virtual ~StepHost() = default;

  // ---- time
  virtual Duration now() = 0;                                   // of a clock that never steps
  virtual void set_timer(StepTimer timer, Duration delay) = 0;  // → fired; a timer that runs is set anew
  virtual void cancel_timer(StepTimer timer) = 0;

  // ---- what there is
  virtual bool processes_left() = 0;  // of the step, besides slurmstepd
  virtual bool programs_run() = 0;    // prologs, epilogs, sweepers → programs_idle
  virtual bool module_runs() = 0;
  virtual bool srun_connected() = 0;    // → srun_lost
  virtual bool readers_attached() = 0;  // → readers_changed
  virtual bool outputs_open() = 0;      // of tasks, to srun → readers_changed
  virtual uint64_t oom_kills() = 0;     // so far

  // ---- the start
  virtual void connect_to_srun() = 0;         // → connected
  virtual void load_login_environment() = 0;  // → login_environment
  virtual void prepared() = 0;                // what is told and set before anything runs
  virtual std::string module_name() = 0;      // "mpi/pmix"
  virtual Result<> start_module() = 0;        // → module_ready, module_failed, module_gone, reaped
  virtual void module_is_ready() = 0;         // srun learns that this node wants to hear of nodes that are gone
  virtual Result<> begin_plugins() = 0;
  virtual bool plugins_blame_job() = 0;
  virtual void open_files() = 0;                           // → files_open
  virtual Result<> wire(size_t task) = 0;                  // its variables and descriptors
  virtual void run_prolog(size_t task, bool of_site) = 0;  // → prolog_ended
  enum class Launched : uint8_t { kOnItsWay, kHeld };      // → started or not_started; kHeld: it waits for release_tasks()
  virtual Result<Launched> launch(size_t task, bool in_tmp) = 0;
  virtual void go_to_tmp(size_t task, const Error& why) = 0;  // its directory cannot be entered → launch_again
  virtual void has_started(size_t task) = 0;                  // it runs its program
  virtual void forget_start(size_t task) = 0;                 // what was made ready for it goes
  virtual Result<> release_tasks() = 0;                       // starts the held tasks, which wait for each other
  virtual void all_run(const std::string& word) = 0;          // `word` is for their files: what went wrong meanwhile; "": nothing

  // ---- the end
  virtual void is_over(const EndedTask& task, bool epilog) = 0;  // plugins, module, epilog and debug notes of a task that ran
  virtual void signal_tasks(int signal) = 0;                     // with what they started in their process groups
  virtual void signal_everything(int signal) = 0;                // processes of the step, and tasks on their way to it
  virtual void kill_everything() = 0;                            // SIGKILL
  virtual void reap() = 0;                                       // → task_ended, reaped; both before it returns
  virtual void give_up_start() = 0;                              // errands, held tasks, programs: they end now
  virtual void finish_module() = 0;                              // once it has said all that it has to say → reaped
  virtual void kill_module() = 0;
  virtual void end_plugins() = 0;
  virtual void sweep() = 0;            // what the module left → programs_idle
  virtual void write_the_rest() = 0;   // output that goes to files through us → written
  virtual void say_end_to_srun() = 0;  // it closes when it has everything → srun_lost
  virtual void close_stream() = 0;
  virtual void clean_up() = 0;       // files, groups, the script
  virtual void leave() = 0;          // the process ends
  virtual void wait_to_leave() = 0;  // stays until slurmd takes the result

  // ---- words
  virtual void note(const std::string& line) = 0;  // on the step's standard error, and srun's
  virtual void note_to_srun(const std::string& line) = 0;
  virtual void note_oom_kills(uint64_t more) = 0;
  virtual void note_of_node(const std::string& text) = 0;  // "slurmstepd-NODE: error: …"
  virtual std::string out_of_time() = 0;                   // the words for it
  virtual void tell_ended(const std::vector<EndedTask>& tasks, bool out_of_memory) = 0;
  virtual void abort_on_all_nodes() = 0;                        // by way of srun
  virtual void report(const step_rpc::StepdReport& state) = 0;  // to slurmd; job, step and processes are filled in
};

}  // namespace muster::slurmstepd
