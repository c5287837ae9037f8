// Commands that ask the slurmd and the slurmstepds of this host: listpids, listjobs, liststeps, pidinfo, getent, show slurmd; and show
// daemons, which asks no daemon. slurmd is found by the agent socket that belongs to the configuration. scontrol(1).
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/common/settings_table.h"
#include "cli/scontrol/context.h"
#include "config/hosts.h"
#include "config/load.h"
#include "os/clock.h"
#include "site/conf_files.h"
#include "site/trust.h"

namespace muster::cli {
namespace {

struct LocalNode {
  std::string name, host;
};

// The NodeNames whose NodeHostname is `host`, in the order of slurm.conf. This is the only use a command makes of the whole slurm.conf:
// other commands do without the parsers. kConfig with the first mistake of the files.
Result<std::vector<std::string>> node_names_of_host(const ClientConf& conf, std::string_view host) {
  site::DiskFiles files;
  auto loaded = config::load_config(files, conf.path);
  if (!loaded) return fail(Errc::kConfig, loaded.error().front().text());
  std::vector<std::string> out;
  for (const config::NodeConfig& n : loaded->config.nodes)
    if (iequals(n.hostname(), host) || iequals(n.hostname(), "localhost")) out.push_back(n.name);
  return out;
}

// The nodes whose slurmd would run here, in the order of slurm.conf; only the node named, if one is.
std::vector<LocalNode> nodes_here(Context& c, const std::string& named) {
  if (!named.empty()) return {{named, short_hostname()}};
  std::vector<LocalNode> out;
  Session* session = c.query_session();
  if (!session) return out;
  Result<std::vector<std::string>> names = node_names_of_host(session->conf(), short_hostname());
  if (names)
    for (std::string& n : *names) out.push_back({std::move(n), short_hostname()});
  return out;
}

// Asks one slurmd of this host.
template <class Request>
Result<wire::AnswerTo<Request>> ask(Context& context, const LocalNode& node, const Request& request) {
  Session* session = context.query_session();
  if (!session) return fail(Errc::kConfig);
  std::string pid_file = config::substitute_node(session->conf().slurmd_pid_file, node.name, node.host);
  net::ClientOptions how = client_options(session->conf(), Patience::kNone);
  how.agent_sockets = {site::slurmd_agent_socket(pid_file, node.name)};
  how.controllers.clear();
  MUSTER_TRY(client, net::connect_client(how));
  MUSTER_TRY(frame, client->request(wire::number_of<Request>, wire::encoded(request), kAnswerTime));
  wire::AnswerTo<Request> answer;
  MUSTER_TRY_VOID(wire::decode(frame.payload, answer, wire::kOfOurOwn));
  return answer;
}

// Collects the steps of every slurmd of this host. False after a complaint that none answers.
bool local_steps(Context& context, const std::string& node, bool processes, std::vector<rpc::LocalStep>& out) {
  rpc::QueryLocalSteps query;
  query.processes = processes;
  bool any = false;
  for (const LocalNode& n : nodes_here(context, node)) {
    Result<rpc::LocalSteps> steps = ask(context, n, query);
    if (!steps) continue;
    any = true;
    std::move(steps->steps.begin(), steps->steps.end(), std::back_inserter(out));
  }
  if (!any && context.exit_code == 0)
    context.complain("No slurmd found on this node" + (node.empty() ? std::string() : " for NodeName " + node));
  return any;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string id_text(const rpc::LocalStep& s) { return std::to_string(s.job.value) + "." + step_id_text(s.step); }

void print_pids(const rpc::LocalStep& s, Out& out) {
  for (const rpc::LocalProcess& p : s.processes) {
    auto number = [&](uint32_t n) { return padded(p.task ? std::to_string(n) : "-", 7); };
    out.line(padded(std::to_string(p.pid), 8) + " " + padded(std::to_string(s.job.value), 8) + " " + padded(step_id_text(s.step), 8) + " " +
             number(p.local) + " " + padded(p.task ? std::to_string(p.global) : "-", 8));
  }
}

}  // namespace

void list_pids(Context& context, Words words) {
  std::string id = words.empty() ? "*" : words[0], node = words.size() > 1 ? words[1] : "";
  std::optional<rpc::JobSelector> wanted;
  if (id != "*") {
    Result<rpc::JobSelector> s = parse_job_selector(id);
    if (!s) return context.complain("\"" + id + "\" does not look like a jobid");
    wanted = std::move(*s);
  }
  std::vector<rpc::LocalStep> steps;
  if (!local_steps(context, node, true, steps)) return;
  Out out;
  out.line("PID      JOBID    STEPID   LOCALID GLOBALID");
  bool job_here = false, shown = false;
  for (const rpc::LocalStep& s : steps) {
    if (wanted && s.job != wanted->job) continue;
    job_here = true;
    if (wanted && wanted->has_step && s.step != wanted->step) continue;
    print_pids(s, out);
    shown = true;
  }
  out.flush();
  if (shown) return;
  std::string where = node.empty() ? "this node" : "node " + node;
  if (!wanted) context.complain("No job steps exist on " + where + ".");
  else if (wanted->has_step) context.complain("StepId=" + id + " does not exist on " + where + ".");
  else if (!job_here) context.complain("There are no steps for job " + id + " on " + where + ".");
}

void list_jobs(Context& c, Words words) {
  std::vector<rpc::LocalStep> steps;
  if (!local_steps(c, words.empty() ? "" : words[0], false, steps)) return;
  std::set<uint32_t> jobs;
  for (const rpc::LocalStep& s : steps) jobs.insert(s.job.value);
  Out out;
  out.line("JOBID");
  for (uint32_t job : jobs) out.line(std::to_string(job));
}

void list_steps(Context& c, Words words) {
  std::vector<rpc::LocalStep> steps;
  if (!local_steps(c, words.empty() ? "" : words[0], false, steps)) return;
  Out out;
  out.line("STEPID");
  for (const rpc::LocalStep& s : steps) out.line(id_text(s));
}

void pid_info(Context& context, Words words) {
  std::optional<int32_t> pid = parse_number<int32_t>(words[0], 1);
  std::vector<rpc::LocalStep> steps;
  if (pid && !local_steps(context, "", true, steps)) return;
  auto at = std::ranges::find_if(steps, [&](const rpc::LocalStep& s) {
    return std::ranges::any_of(s.processes, [&](const rpc::LocalProcess& p) { return p.pid == *pid; });
  });
  if (at == steps.end()) return context.complain("Failed to locate job for requested pid");
  Out out;
  Session* session = context.query_session();
  if (!session) return;
  rpc::QueryJobs query;
  rpc::JobSelector job;
  job.job = at->job;
  query.filter.jobs.push_back(job);
  query.show_all = true;
  Time ends{};
  Result<rpc::Empty> done = session->stream(query, [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs) ends = row.ends;
    return {};
  });
  const bool limited = done && ends != kTimeUnset && ends != kTimeInfinite;
  out.line("Slurm JobId=" + std::to_string(at->job.value) + " ends at " +
           (limited                 ? calendar_text(ends)
            : ends == kTimeInfinite ? "no time: its limit is UNLIMITED"
                                    : "unknown time"));
  if (limited) out.line("Job remaining time is " + std::to_string(std::max<int64_t>(0, to_seconds(ends - os::wall_now()))) + " seconds");
}

namespace {

void print_entities(const rpc::LocalStep& step, Out& out) {
  out.line("JobId=" + id_text(step) + ":");
  const passwd* user = ::getpwuid(step.uid.value);
  out.line("User:");
  std::string name = user ? user->pw_name : std::to_string(step.uid.value);
  if (user) {
    out.line(name + ":" + user->pw_passwd + ":" + std::to_string(user->pw_uid) + ":" + std::to_string(user->pw_gid) + ":" + user->pw_gecos +
             ":" + user->pw_dir + ":" + user->pw_shell);
  } else {
    out.line(name);
  }
  out.line("Groups:");
  if (user) {
    std::vector<gid_t> gids(256);
    int count = static_cast<int>(gids.size());
    if (::getgrouplist(user->pw_name, user->pw_gid, gids.data(), &count) < 0) count = static_cast<int>(gids.size());
    for (int i = 0; i < count; ++i)
      if (const group* g = ::getgrgid(gids[static_cast<size_t>(i)]))
        out.line(std::string(g->gr_name) + ":" + g->gr_passwd + ":" + std::to_string(g->gr_gid) + ":" + name);
  }
  out.line("");
}

}  // namespace

void get_entities(Context& c, Words words) {
  std::vector<rpc::LocalStep> steps;
  if (!local_steps(c, words.empty() ? "" : words[0], false, steps)) return;
  Out out;
  for (const rpc::LocalStep& s : steps) print_entities(s, out);
}

void show_slurmd(Context& c, Words words) {
  bool any = false;
  for (const LocalNode& n : nodes_here(c, words.empty() ? "" : words[0])) {
    Result<rpc::Text> text = ask(c, n, rpc::QueryLocalDaemon{});
    if (!text) continue;
    Out().put((any ? "\n" : "") + text->text);
    any = true;
  }
  if (!any && c.exit_code == 0) c.complain("slurm_load_slurmd_status: Connection refused");
}

// Prints which daemons the configuration wants on this host.
void show_daemons(Context& c) {
  Session* session = c.query_session();
  if (!session) return;
  std::string host = short_hostname(), out;
  for (const ControllerHost& h : session->conf().controllers)
    if (h.name.substr(0, h.name.find('.')) == host && out.empty()) out = "slurmctld";
  Result<std::vector<std::string>> here = node_names_of_host(session->conf(), host);
  if (!here) return c.complain("", here.error());
  if (!here->empty()) out += out.empty() ? "slurmd" : " slurmd";
  Out().line(out);
}

}  // namespace muster::cli
