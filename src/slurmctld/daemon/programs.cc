#include "slurmctld/daemon/programs.h"

#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "config/power_action.h"
#include "os/files.h"
#include "os/process.h"
#include "os/users.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/daemon/mail_text.h"
#include "slurmctld/daemon/resume_file.h"

namespace muster::slurmctld {
namespace {

std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> env = site::own_environment();
  env.insert(env.end(), extra.begin(), extra.end());
  return env;
}

JobNames names_of(const Job& job, const Cluster& cluster) {
  JobNames names;
  names.cluster = cluster.name;
  if (const Partition* p = cluster.partitions.find(job.partition)) names.partition = p->name;
  if (job.allocation) names.node_list = node_list_of(cluster, *job.allocation);
  if (auto group = os::find_group(job.request->gid)) names.group = group->name;
  return names;
}

const std::string& configured_program(event::PowerProgram program, const config::Config& config) {
  static const std::string kNothing;
  switch (program) {
    case event::PowerProgram::kResume: return config.resume_program;
    case event::PowerProgram::kSuspend: return config.suspend_program;
    case event::PowerProgram::kResumeFailed: return config.resume_fail_program;
    case event::PowerProgram::kReboot: return config.reboot_program;
    case event::PowerProgram::kNone: break;
  }
  return kNothing;
}

std::string names_of(const std::vector<NodeId>& nodes, const Cluster& cluster) {
  std::vector<std::string> names;
  for (NodeId id : nodes)
    if (const Node* node = cluster.nodes.find(id.value)) names.push_back(node->spec->name);
  return join(names, ",");
}

JobProgramEnd end_of(const std::tuple<JobId, uint32_t, bool>& key, const std::string& error) {
  return {std::get<0>(key), std::get<1>(key), std::get<2>(key), error};
}

}  // namespace

Programs::Programs(net::Loop& loop, os::Log& log, Ended ended, std::function<bool(pid_t, int)> also)
    : loop_(loop), log_(log), ended_(std::move(ended)), also_(std::move(also)), runner_(loop, log), mailer_(loop, log) {
  runner_.set_bound_to_us();
  mailer_.set_most(kMailsAtOnce);
  loop.on_signal(SIGCHLD, [this] { reap(); });
}

void Programs::power(const PowerNodes& what, const Cluster& cluster, const config::Config& config) {
  config::PowerCommand command = config::power_command(config, configured_program(what.program, config), what.action);
  if (command.argv.empty()) {
    if (!what.action.empty())
      log_.error("PowerAction {} for {}: slurm.conf has none of that name any more, nothing is run", what.action,
                 node_list_of(cluster, what.nodes));
    return;
  }
  Running run{command.argv[0], {}};
  std::vector<std::string> environment;
  if (what.program == event::PowerProgram::kResume) {
    const std::string path = config.state_save_location + "/resume." + std::to_string(++resumed_) + ".json";
    if (auto written = os::write_file_atomic(path, resume_file(cluster, what), 0600); !written)
      log_.error("SLURM_RESUME_FILE: {}", written.error().message());
    else environment.push_back("SLURM_RESUME_FILE=" + (run.file = path));
  }
  // A RebootProgram that is no PowerAction is told the names with commas between them: slurm.conf(5) reboot_from_controller.
  const bool each_name = what.program == event::PowerProgram::kReboot && !command.action;
  command.argv.push_back(each_name ? names_of(what.nodes, cluster) : node_list_of(cluster, what.nodes));
  if (!what.features.empty()) command.argv.push_back(join(what.features, ","));
  start(std::move(run), std::move(command.argv), environment);
}

void Programs::reservation(const RunReservationProgram& what, const config::Config& c) {
  const std::string& program = what.epilog ? c.resv_epilog : c.resv_prolog;
  if (!program.empty()) start({program, {}}, {program, what.reservation}, {});
}

void Programs::mail(const SendMail& what, const Cluster& cluster, const config::Config& config) {
  if (config.mail_prog.empty() || ::access(config.mail_prog.c_str(), X_OK) != 0) return;
  const RequestBody& request = *what.job.request;
  std::string to = request.mail_user.empty() ? request.user_name : request.mail_user;
  if (to.find('@') == std::string::npos && !config.mail_domain.empty()) to += "@" + config.mail_domain;
  if (to.empty() || to[0] == '-') return;
  Time now = net::Loop::now();
  auto complain = [this](const std::string& error) {
    if (auto untold = told_.tell("mail", net::Loop::monotonic())) log_.error("MailProg: {}{}", error, net::Pace::more(*untold));
  };
  // A user may have as many mails as are left for all others, so nobody's mails are in the way of another's.
  size_t& own = mails_of_[request.uid];
  if (own >= kMailsKept - mails_) return complain("a mail is dropped, " + std::to_string(own) + " wait already for " + to);
  ++mails_;
  ++own;
  mailer_.run({site::ProgramCall(config.mail_prog, {"-s", mail_subject(what, now), to})},
              environment_with(mail_environment(what, names_of(what.job, cluster), now)), kMailTime,
              [this, complain, uid = request.uid](const std::string& error) {
                --mails_;
                if (--mails_of_[uid] == 0) mails_of_.erase(uid);
                if (!error.empty()) complain(error);
              });
}

void Programs::job_program(const RunJobProgram& what, const Cluster& cluster, const config::Config& config) {
  const Key key(what.job.id, what.job.restarts, what.epilog);
  auto [at, first] = job_runs_.try_emplace(key);
  if (!first) {
    if (at->second.outcome) ended_(end_of(key, *at->second.outcome));
    return;
  }
  std::vector<site::ProgramCall> calls;
  for (std::string& path : site::expand_programs(what.epilog ? config.epilog_slurmctld : config.prolog_slurmctld))
    calls.emplace_back(std::move(path));
  const auto run = runner_.run(std::move(calls), job_program_environment(what.job, names_of(what.job, cluster), what.epilog),
                               what.epilog ? config.epilog_timeout : config.prolog_timeout,
                               [this, key](const std::string& error) { job_program_over(key, error); });
  if (auto entry = job_runs_.find(key); entry != job_runs_.end()) entry->second.run = run;
}

void Programs::job_program_over(const Key& key, const std::string& error) {
  const char* name = std::get<2>(key) ? "EpilogSlurmctld" : "PrologSlurmctld";
  if (!error.empty()) log_.error("{} of job {}: {}", name, std::get<0>(key).value, error);
  job_runs_[key].outcome = error;
  ended_(end_of(key, error));
}

void Programs::abandon(const AbandonProlog& what) {
  auto at = job_runs_.find({what.job, what.generation, false});
  if (at == job_runs_.end()) return;
  runner_.abandon(at->second.run);
  job_runs_.erase(at);
}

void Programs::recorded(const JobProgramEnd& end) { job_runs_.erase({end.job, end.generation, end.epilog}); }

void Programs::start(Running run, std::vector<std::string> argv, const std::vector<std::string>& extra_env) {
  os::SpawnSpec spec;
  spec.path = run.program;
  spec.argv = std::move(argv);
  spec.env = environment_with(extra_env);
  spec.new_session = true;
  auto pid = os::spawn(spec);
  if (pid) running_[*pid] = std::move(run);
  else log_.error("{} could not be started: {}", run.program, pid.error().message());
}

void Programs::reap() {
  const std::vector<os::Reaped> ended = os::reap_children();
  if (ended.size() == os::kReapedAtOnce) loop_.defer([this] { reap(); });
  for (const os::Reaped& r : ended) {
    if (runner_.reaped(r.pid, r.status.raw) || mailer_.reaped(r.pid, r.status.raw) || (also_ && also_(r.pid, r.status.raw))) continue;
    auto at = running_.find(r.pid);
    if (at == running_.end()) continue;
    if (!r.status.ok()) log_.error("{} ended with status {}", at->second.program, r.status.code ? r.status.code : r.status.signal);
    if (!at->second.file.empty()) ::unlink(at->second.file.c_str());
    running_.erase(at);
  }
}

}  // namespace muster::slurmctld
