#include "slurmctld/daemon/programs.h"

#include <signal.h>
#include <unistd.h>

#include "hostlist/hostlist.h"
#include "os/process.h"
#include "os/users.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/daemon/mail_text.h"

namespace muster::slurmctld {
namespace {

std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) env.emplace_back(*e);
  env.insert(env.end(), extra.begin(), extra.end());
  return env;
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
  if (c.mail_prog.empty() || ::access(c.mail_prog.c_str(), X_OK) != 0) return;
  const JobRequest& r = *what.job.request;
  std::string to = r.mail_user.empty() ? r.user_name : r.mail_user;
  if (to.find('@') == std::string::npos && !c.mail_domain.empty()) to += "@" + c.mail_domain;
  if (to.empty() || to[0] == '-') return;
  JobNames names;
  names.cluster = cluster.name;
  if (const Partition* p = cluster.partitions.find(what.job.partition)) names.partition = p->name;
  if (what.job.allocation) names.node_list = node_list_of(cluster, *what.job.allocation);
  if (auto group = os::find_group(r.gid)) names.group = group->name;
  Time now = net::Loop::now();
  start(c.mail_prog, {c.mail_prog, "-s", mail_subject(what, now), to}, mail_environment(what, names, now));
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
