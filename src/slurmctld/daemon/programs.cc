#include "slurmctld/daemon/programs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostlist/hostlist.h"
#include "model/mail.h"
#include "os/process.h"

namespace muster::slurmctld {
namespace {

std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) env.emplace_back(*e);
  env.insert(env.end(), extra.begin(), extra.end());
  return env;
}

std::string subject(const Job& j, uint16_t what) {
  std::string id = std::to_string(j.id.value), name = j.request->name;
  if (what & kMailBegin) return "Slurm Job_id=" + id + " Name=" + name + " Began";
  if (what & kMailRequeue) return "Slurm Job_id=" + id + " Name=" + name + " Requeued";
  std::string verb = j.state == JobState::kCompleted ? "Ended" : "Failed";
  return "Slurm Job_id=" + id + " Name=" + name + " " + verb + ", Run time " + format_span_full(j.ended - j.started) + ", " +
         std::string(job_state_name(j.state)) + ", ExitCode " + std::to_string(WEXITSTATUS(j.exit_status));
}

}  // namespace

Programs::Programs(net::Loop& loop, os::Log& log) : log_(log) {
  loop.on_signal(SIGCHLD, [this] { reap(); });
}

void Programs::power(const PowerNodes& what, const Cluster& cluster, const config::Config& c) {
  const std::string& program = what.resume ? c.resume_program : c.suspend_program;
  if (program.empty()) return;
  std::vector<std::string> names;
  for (NodeId id : what.nodes)
    if (const Node* n = cluster.nodes.find(id.value)) names.push_back(n->spec->name);
  start(program, {program, compress_hosts(names)}, {});
}

void Programs::mail(const SendMail& what, const Cluster& cluster, const config::Config& c) {
  const Job* j = cluster.jobs.find(what.job.value);
  if (!j || c.mail_prog.empty() || ::access(c.mail_prog.c_str(), X_OK) != 0) return;
  std::string to = j->request->mail_user.empty() ? j->request->user_name : j->request->mail_user;
  if (to.find('@') == std::string::npos && !c.mail_domain.empty()) to += "@" + c.mail_domain;
  if (to.empty() || to[0] == '-') return;
  start(c.mail_prog, {c.mail_prog, "-s", subject(*j, what.what), to}, {"SLURM_JOB_ID=" + std::to_string(j->id.value)});
}

void Programs::start(const std::string& program, std::vector<std::string> argv, const std::vector<std::string>& extra_env) {
  os::SpawnSpec spec;
  spec.path = program;
  spec.argv = std::move(argv);
  spec.env = environment_with(extra_env);
  spec.new_session = true;
  auto pid = os::spawn(spec);
  if (!pid) log_.error("{} could not be started: {}", program, pid.error().message());
  else running_[*pid] = program;
}

void Programs::reap() {
  for (const os::Reaped& r : os::reap_children()) {
    auto at = running_.find(r.pid);
    if (at == running_.end()) continue;
    if (!r.status.ok()) log_.error("{} ended with status {}", at->second, r.status.code ? r.status.code : r.status.signal);
    running_.erase(at);
  }
}

}  // namespace muster::slurmctld
