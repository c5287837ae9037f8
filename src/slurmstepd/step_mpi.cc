// Stepd, for steps with --mpi: the module before the first task, letters between it and srun, its end.
#include "os/process.h"
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {

Result<> Stepd::start_module() {
  MpiModule::Events events;
  events.ready = [this] { core_.module_ready(); };
  events.failed = [this](const Error& e) { core_.module_failed(e); };
  events.letter = [this](const mpi_rpc::NodeLetter& m) {
    if (stream_) stream_->send_letter(m);
  };
  events.abort = [this](const std::string& why) { core_.module_wants_abort(why); };
  events.gone = [this] { core_.module_gone(); };
  events.note = [this](const std::string& text) { note("slurmstepd-" + launch_->node + ": " + text); };
  mpi_ = std::make_unique<MpiModule>(loop_, std::move(*mpi_setup_), std::move(events));
  os::SpawnSpec spec;
  spec.credentials = who_;
  spec.cgroup_procs_fds = processes_.join_fds();
  spec.namespaces = namespace_->inside.fds();
  spec.oom_shield = &oom_;
  if (auto ok = mpi_->start(*launch_, std::move(spec)); !ok)
    return std::unexpected(Error(Errc::kMpiPluginPrelaunchFailed, module_name() + ": " + std::string(ok.error().message())));
  return {};
}

void Stepd::module_is_ready() {
  if (stream_) stream_->send_letter({});  // to nobody: srun learns that this node wants to know who is gone
}

// The error of a module that ended before the tasks ran.
Error Stepd::end_of_module(int32_t status) const {
  const os::ExitStatus how = os::ExitStatus::of(status);
  std::string why =
      "the module ended with " + (how.signal ? "signal " + std::to_string(how.signal) : "exit code " + std::to_string(how.code));
  if (!mpi_->why_not_started().empty()) why = mpi_->why_not_started();
  return Error(Errc::kMpiPluginPrelaunchFailed, "mpi/" + mpi_->type() + ": " + why);
}

}  // namespace muster::slurmstepd
