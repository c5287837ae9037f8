// StepCore: the life of one step on one node, from the launch to the last word to slurmd, as a machine of phases. It decides and does
// nothing itself: its StepHost carries its decisions out. No I/O, clock or thread.
//
//   connecting → preparing → module → opening → starting → running → lingering → closing → finished
//
// Each phase is followed by the next when its work is done. A step that is ended before it runs goes straight to closing: what is left of
// it is ended, plugins have their last word, files are swept and written, and readers get the rest of the output. A step is ended by
// SIGCONT, SIGTERM, KillWait, then SIGKILL again and again until nothing is left. slurmstepd(8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "slurmstepd/core/step_host.h"

namespace muster::slurmstepd {

enum class StepPhase : uint8_t {
  kIdle,        // nothing was said yet
  kConnecting,  // to srun
  kPreparing,   // the login environment is loaded
  kModule,      // the MPI module makes itself ready
  kOpening,     // the tasks' files are opened
  kStarting,    // tasks come up
  kRunning,     // all tasks run, or did
  kLingering,   // the tasks have ended, their children have not (--wait-for-children), or the step is to stay
  kClosing,
  kFinished,  // the result waits for slurmd
};

// The part of a launch that shapes the step's life.
struct StepPlan {
  size_t tasks = 0;
  bool to_srun = false;  // srun takes its output and gives it signals
  bool login_environment = false;
  bool module = false;  // srun --mpi
  bool site_prolog = false, prolog = false;
  bool wait_for_children = false;
  bool oom_kill_step = false;
  bool stays = false;  // the external step: it ends when it is told to, whoever has ended what runs in it
  bool batch = false;
  uint32_t kill_wait_seconds = 0;
  std::optional<Duration> limit;  // the step's own, not the job's
  WarnSignal warn;
};
StepPlan plan_of(const step_rpc::StepdLaunch& launch, bool module);

class StepCore {
 public:
  explicit StepCore(StepHost& host) : host_(host) {}

  // ---- the start. `prepared`: groups, socket and script are there, or why not.
  void begin(StepPlan plan, const Result<>& prepared);
  void connected(const Result<>& outcome);
  void login_environment(const Result<>& found);  // without it the step starts all the same
  void module_ready();
  void module_failed(const Error& error);
  void files_open();
  // `failed`: why the task's prolog failed.
  void prolog_ended(size_t task, bool of_site, const std::optional<Error>& failed);
  void started(size_t task);  // its process runs its program
  void not_started(size_t task, const Error& error, bool at_directory);
  void launch_again(size_t task);

  // ---- life
  void module_gone();  // it ended without being told to: its socket says so
  void module_wants_abort(const std::string& why);
  void set_limit(std::optional<Duration> limit);
  // JobAcctGatherParams=OverMemoryKill: the whole step ends, on all of its nodes. `step`: "StepId=12.0".
  void over_memory(Bytes has, Bytes limit, const std::string& step);
  void fired(StepTimer timer);

  // ---- ends
  void task_ended(size_t task, int32_t status);  // for each task that was reaped, and then once:
  struct Reaped {
    std::vector<EndedTask> tasks;
    std::optional<Error> module;  // set when it has ended: the error of a step that has not started
  };
  void reaped(const Reaped& what);
  void programs_idle() { look_if_over(); }
  void end(uint32_t kill_wait_seconds, const std::string& message);  // 0: SIGKILL
  void srun_lost();
  void readers_changed();
  void written();
  void release();  // slurmd has the result, or will not want it

  StepPhase phase() const { return phase_; }
  bool over() const { return phase_ >= StepPhase::kClosing; }  // nothing of it starts any more
  bool finished() const { return phase_ == StepPhase::kFinished; }
  bool begun() const { return phase_ != StepPhase::kIdle; }
  bool is_ended(size_t task) const { return tasks_[task].state == Task::kEnded; }
  int32_t status_of(size_t task) const { return tasks_[task].status; }  // of one that ended
  const step_rpc::StepdReport& state() const { return state_; }

 private:
  struct Task {
    enum State : uint8_t { kWaiting, kMadeReady, kOnItsWay, kRunning, kEnded } state = kWaiting;
    int32_t status = 0;
    bool in_tmp = false;
  };
  enum class Ending : uint8_t {
    kByItself,
    kGivenUp,  // it could not start
    kAsked,    // somebody asked for its end, who does not wait long for readers
  };
  // How far kClosing has come.
  enum class Closing : uint8_t {
    kQuiet,    // nothing of it runs any more, or soon so
    kSwept,    // its files and what the module left are swept
    kWriting,  // the rest of the output is on its way to files
    kWritten,
    kEndSaid,  // srun has been told that there is no more
  };
  void go_on_to_login();
  void go_on_to_tasks();
  void start_tasks();
  void start_next_tasks();
  void begin_task(size_t task);
  void go_on_to_program(size_t task, bool of_site);
  void launch(size_t task);
  void task_failed(size_t task, const Error& error);
  void look_if_all_started();
  void all_started();

  void launch_failed(const Error& error, bool node_fault);
  void plugins_failed(const Error& error);
  void end_before_start(uint32_t kill_wait_seconds);
  void nothing_more_starts(uint32_t kill_wait_seconds);
  void terminate(uint32_t kill_wait_seconds);
  void kill_now();
  void kill_soon();
  void abort_when_it_has_ended();
  void abort_step();
  void watch_limit();
  void look_for_oom_kills();
  void look_if_over();
  void all_tasks_ended();
  void close_when_quiet();
  void wait_for_readers();
  void finish();
  void set_timer(StepTimer timer, Duration delay);
  void cancel_timer(StepTimer timer);
  bool armed(StepTimer timer) const { return armed_ & 1u << static_cast<uint8_t>(timer); }

  StepHost& host_;
  StepPlan plan_;
  StepPhase phase_ = StepPhase::kIdle;
  std::vector<Task> tasks_;
  size_t next_ = 0;       // those from here on wait to be started
  size_t starting_ = 0;   // begun, but not yet running their programs
  size_t running_ = 0;    // with a process
  bool started_ = false;  // all tasks came up
  bool warned_ = false, module_begun_ = false, released_ = false;
  Ending ending_ = Ending::kByItself;
  Closing closing_ = Closing::kQuiet;
  uint8_t armed_ = 0;       // timers that were set and not cancelled since
  uint64_t oom_kills_ = 0;  // told so far
  Duration began_{}, quiet_until_{};
  step_rpc::StepdReport state_;
};

}  // namespace muster::slurmstepd
