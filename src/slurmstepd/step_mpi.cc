// Stepd, with --mpi: the module before the first task, letters between it and srun, its end.
#include <algorithm>

#include "os/process.h"
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kModuleTimeout = seconds(60);
constexpr Duration kAborterEnds = milliseconds(500);

}  // namespace

// The tasks start when the module is ready; until then the step is starting.
void Stepd::start_module() {
  MpiModule::Events events;
  events.ready = [this] {
    module_timer_.reset();
    if (started_ || ending_) return;
    if (stream_) stream_->send_letter({});  // to nobody: srun learns that this node wants to know who is gone
    start_tasks();
  };
  events.failed = [this](const Error& e) {
    module_timer_.reset();
    if (!started_ && !tasks_over_) launch_failed(e, false);
  };
  events.letter = [this](const mpi_rpc::NodeLetter& m) {
    if (stream_) stream_->send_letter(m);
  };
  events.abort = [this](const std::string& why) {
    note("slurmstepd-" + launch_->node + ": error: " + why);
    abort_when_it_has_ended();
  };
  events.gone = [this] { module_gone(); };
  events.note = [this](const std::string& text) { note("slurmstepd-" + launch_->node + ": " + text); };
  mpi_ = std::make_unique<MpiModule>(loop_, std::move(*mpi_setup_), std::move(events));
  os::SpawnSpec spec;
  spec.credentials = who_;
  spec.cgroup_procs_fds = processes_.join_fds();
  if (launch_->oom_score_adj) spec.oom_score_adj = launch_->oom_score_adj;
  if (auto ok = mpi_->start(*launch_, std::move(spec)); !ok)
    return launch_failed(Error(Errc::kMpiPluginPrelaunchFailed, "mpi/" + mpi_->type() + ": " + std::string(ok.error().message())), false);
  module_timer_ = loop_.after(kModuleTimeout, [this] {
    if (started_ || tasks_over_) return;
    launch_failed(Error(Errc::kMpiPluginPrelaunchFailed, "mpi/" + mpi_->type() + ": the module is not ready after " +
                                                             std::to_string(to_seconds(kModuleTimeout)) + " s"),
                  false);
  });
}

// Its process is reaped; module_gone() was told before, by its socket.
void Stepd::module_ended(int32_t status) {
  if (tasks_over_ || started_) return;
  const os::ExitStatus how = os::ExitStatus::of(status);
  std::string why = "mpi/" + mpi_->type() + ": the module ended with " +
                    (how.signal ? "signal " + std::to_string(how.signal) : "exit code " + std::to_string(how.code));
  if (ending_) why = "the step was ended before its tasks started";
  launch_failed(Error(Errc::kMpiPluginPrelaunchFailed, std::move(why)), false);
}

// Not by our doing. Tasks may notice and end before it is reaped, so this does not wait for that.
void Stepd::module_gone() {
  if (!started_ || ending_ || tasks_over_) return;
  note("slurmstepd-" + launch_->node + ": error: mpi/" + mpi_->type() + ": the module is gone");
  abort_step();
}

// A task that aborts ends by itself, with the status that it means to be seen: SIGTERM must not be faster.
void Stepd::abort_when_it_has_ended() {
  if (abort_timer_) return;
  if (std::ranges::any_of(tasks_, [](const Task& t) { return t.ended && t.status != 0; })) return abort_step();
  abort_timer_ = loop_.after(kAborterEnds, [this] { abort_step(); });
}

// Everywhere, as srun ends a step; without srun here.
void Stepd::abort_step() {
  abort_timer_.reset();
  if (stream_ && stream_->connected())
    stream_->abort_step();
  else
    end(launch_->kill_wait_seconds, {});
}

}  // namespace muster::slurmstepd
