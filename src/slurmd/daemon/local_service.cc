// What scontrol asks of the slurmd on its own host: which jobs, steps and processes are here, and how this daemon stands. None of it is
// secret: /proc tells any user the same. scontrol(1) listjobs, liststeps, listpids, pidinfo, getent, show slurmd. And what pam_slurm_adopt
// asks, which only root may.
#include <unistd.h>

#include <algorithm>

#include "base/version.h"
#include "config/key_table.h"
#include "config/load.h"
#include "net/notify.h"
#include "os/process_tree.h"
#include "site/conf_files.h"
#include "slurmd/daemon/external_step.h"
#include "slurmd/daemon/slurmd.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

// The tasks first, then what they started, in the order of their numbers.
std::vector<rpc::LocalProcess> processes_of(const Setup& setup, const step_rpc::StepdReport& step) {
  std::vector<rpc::LocalProcess> out;
  uint32_t local = 0;
  for (const step_rpc::TaskProcess& t : step.tasks) out.push_back({t.pid, true, local++, t.rank});
  os::ProcessSet set;
  set.root = step.pid;  // slurmstepd, who adopts what its tasks leave behind
  set.include_root = false;
  std::vector<pid_t> others;
  for (const os::ProcessInfo& p : os::find_processes(set)) others.push_back(p.pid);
  if (step.step == kExternStep)
    for (pid_t pid : external_processes(setup, step.job)) others.push_back(pid);
  std::ranges::sort(others);
  others.erase(std::ranges::unique(others).begin(), others.end());
  for (pid_t pid : others) {
    bool task = std::ranges::any_of(step.tasks, [&](const auto& t) { return t.pid == pid; });
    if (!task) out.push_back({pid, false, 0, 0});
  }
  std::erase_if(out, [](const rpc::LocalProcess& p) { return !os::read_process(p.pid); });
  return out;
}

std::string line(std::string_view key, std::string_view value) {
  std::string out(key);
  out.resize(std::max<size_t>(out.size(), 24), ' ');
  return out + " = " + std::string(value) + "\n";
}

}  // namespace

rpc::LocalSteps Slurmd::local_steps(const rpc::QueryLocalSteps& q) const {
  rpc::LocalSteps out;
  stepds_.for_each_step([&](const step_rpc::StepdReport& step) {
    if ((q.job && step.job != q.job) || step.state != step_rpc::StepdState::kRunning) return;
    rpc::LocalStep row{step.job, step.step, step.uid, {}};
    if (q.processes) row.processes = processes_of(setup_, step);
    out.steps.push_back(std::move(row));
  });
  return out;
}

std::string Slurmd::about_this_daemon() const {
  std::string steps;
  stepds_.for_each_step([&](const step_rpc::StepdReport& s) {
    if (s.state == step_rpc::StepdState::kRunning) steps += (steps.empty() ? "" : ",") + step_name(s.job, s.step);
  });
  const NodeHardware& h = setup_.hardware;
  auto number = [](uint64_t n) { return std::to_string(n); };
  return line("Active Steps", steps.empty() ? "NONE" : steps) + line("Actual CPUs", number(h.cpus)) +
         line("Actual Boards", number(h.boards)) + line("Actual sockets", number(h.sockets)) +
         line("Actual cores", number(h.cores_per_socket)) + line("Actual threads per core", number(h.threads_per_core)) +
         line("Actual real memory", number(h.real_memory_mb) + " MB") + line("Actual temp disk space", number(h.tmp_disk_mb) + " MB") +
         line("Boot time", format_time(h.slurmd_start)) + line("Hostname", setup_.node) +
         line("Last slurmctld msg time", last_order_ == kTimeUnset ? "NONE" : format_time(last_order_)) +
         line("Slurmd PID", number(static_cast<uint64_t>(::getpid()))) +
         line("Slurmd Debug", number(static_cast<uint64_t>(setup_.config().slurmd_debug))) +
         line("Slurmd Logfile", setup_.log_file.empty() ? "(null)" : setup_.log_file) + line("Version", kVersion);
}

Result<> Slurmd::on_local_query(const net::ChannelPtr& channel, const net::Frame& f) {
  if (!may_ask(PeerRight::kLook, channel->peer())) return fail(Errc::kAccessDenied);
  if (f.message == wire::number_of<rpc::QueryLocalDaemon>) {
    net::answer(*channel, f, rpc::Text{about_this_daemon()});
    return {};
  }
  rpc::QueryLocalSteps q;
  MUSTER_TRY_VOID(wire::decode(f.payload, q));
  net::answer(*channel, f, local_steps(q));
  return {};
}

// The process is the one at the other end of the socket, as the kernel says. Nobody but root may have it moved: a user's process in the
// step of another would be out of that one's sight.
Result<> Slurmd::on_adopt(const net::ChannelPtr& channel, const net::Frame& frame) {
  const net::Peer& peer = channel->peer();
  if (!may_ask(PeerRight::kAdopt, peer) || peer.trust != net::Trust::kLocalUser || peer.uid.value != 0) return fail(Errc::kAccessDenied);
  if (peer.pid <= 0) return fail(Errc::kAccessDenied, "the process is in another namespace of processes than slurmd");
  rpc::AdoptProcess ask;
  MUSTER_TRY_VOID(wire::decode(frame.payload, ask));
  std::vector<step_rpc::StepdReport> steps;
  stepds_.for_each_step([&](const step_rpc::StepdReport& s) {
    const bool runs = s.step == kExternStep && s.state == step_rpc::StepdState::kRunning && !core_.has_ended(s.job, s.generation);
    if (runs && core_.is_external_open(s.job) && !core_.is_suspended(s.job) && s.uid == ask.uid) steps.push_back(s);
  });
  rpc::ProcessAdopted out = adopt(setup_, std::move(steps), ask.only_one, peer.pid);
  if (out.outcome == rpc::Adoption::kDone) out.text = namespaces_.file_of(out.job);  // src/pam/join.h
  if (out.outcome == rpc::Adoption::kDone) log_.info("process {} of uid {} is in job {}", peer.pid, ask.uid.value, out.job.value);
  else if (out.outcome == rpc::Adoption::kFailed) log_.error("process {} is not in job {}: {}", peer.pid, out.job.value, out.text);
  net::answer(*channel, frame, out);
  return {};
}

// Takes the log levels from slurm.conf as it is now; everything else waits for a reconfigure.
void Slurmd::reopen_log() {
  site::DiskFiles files;
  if (auto loaded = config::load_config(files, setup_.config().path, arguments_.node_line)) {
    Setup levels = setup_;
    levels.loaded = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
    os::LogOptions o = log_options(levels, arguments_);
    log_.set_levels(o.file_level, o.stderr_level, o.syslog_level);
  }
  [[maybe_unused]] auto ok = log_.reopen();
}

}  // namespace muster::slurmd
