#include "cli/scancel/plan.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/common/job_setup.h"
#include "hostlist/hostlist.h"
#include "os/users.h"

namespace muster::cli {
namespace {

void add_list(std::vector<std::string>& out, const std::string& text) {
  for (std::string_view part : split(text, ',')) out.emplace_back(trim(part));
}

Result<> add_users(const ScancelOptions& o, rpc::JobFilter& f) {
  if (o.me) f.users.push_back(Uid{getuid()});
  for (std::string_view name : split(o.user, ',')) {
    Result<Uid> uid = os::find_uid(name);
    if (!uid) return fail(Errc::kUserIdMissing, "Invalid user name: " + std::string(name));
    f.users.push_back(*uid);
  }
  return {};
}

Result<> add_nodes(const ScancelOptions& o, rpc::JobFilter& f) {
  if (o.nodes.empty()) return {};
  std::string list = o.nodes;
  if (list.find('/') != std::string::npos) {
    MUSTER_TRY(read, read_node_file(list));
    list = read;
  }
  MUSTER_TRY(hosts, expand_hosts(list));
  f.nodes = std::move(hosts);
  return {};
}

bool has_filter(const ScancelOptions& o) {
  return o.me || !o.states.empty() || !o.account.empty() || !o.name.empty() || !o.partition.empty() || !o.qos.empty() ||
         !o.reservation.empty() || !o.user.empty() || !o.wckey.empty() || !o.nodes.empty();
}

}  // namespace

Result<rpc::SignalJobs> plan_cancel(const ScancelOptions& options, const std::vector<std::string>& operands) {
  rpc::SignalJobs out;
  rpc::JobFilter& filter = out.filter;
  for (const std::string& operand : operands)
    for (std::string_view one : split_outside_brackets(operand)) {
      MUSTER_TRY(selector, parse_job_selector(trim(one)));
      filter.jobs.push_back(std::move(selector));
    }
  if (filter.jobs.empty() && !has_filter(options))
    return fail(Errc::kInvalidReq, "No job identification provided",
                "name jobs (scancel 123), or choose them with --me, --user, --state, --partition, --name …");
  MUSTER_TRY_VOID(add_users(options, filter));
  MUSTER_TRY_VOID(add_nodes(options, filter));
  add_list(filter.names, options.name);
  add_list(filter.partitions, options.partition);
  add_list(filter.accounts, options.account);
  add_list(filter.qos, options.qos);
  add_list(filter.reservations, options.reservation);
  add_list(filter.wckeys, options.wckey);
  for (const std::string& state : options.states) {
    std::optional<JobStateFilter> bits = parse_job_state(state);
    if (!bits) return fail(Errc::kInvalidReq, "Invalid job state specified: " + state);
    filter.states |= bits->states;
    filter.state_flags |= bits->flags;
  }
  // scancel(1) knows only three states, in which a stopped job counts as running.
  if (filter.states & (1u << static_cast<unsigned>(JobState::kRunning))) filter.state_flags |= kJobStopped;
  out.signal = options.signal.value_or(0);
  out.scope = options.full ? rpc::SignalScope::kFull : options.batch ? rpc::SignalScope::kBatch : rpc::SignalScope::kSteps;
  out.hurry = options.hurry;
  out.cron = options.cron;
  out.admin_comment = options.admin_comment;
  return out;
}

std::string error_line(const rpc::PerJobError& e, bool quiet) {
  if (quiet && (e.code == errc_number(Errc::kInvalidJobId) || e.code == errc_number(Errc::kAlreadyDone) ||
                e.code == errc_number(Errc::kJobFinished)))
    return {};
  std::string_view text = e.text.empty() ? errc_text_of_number(e.code) : std::string_view(e.text);
  bool step = e.job.find('.') != std::string::npos;
  return (step ? "Kill job error on job step id " : "Kill job error on job id ") + e.job + ": " + std::string(text);
}

std::string action_line(const rpc::SignalJobs& r, const rpc::JobSelector& target) {
  const std::string name = selector_text(target), what = target.has_step ? "step " : "job ";
  if (r.signal == 0) return "Terminating " + what + name;
  const char* scope = target.has_step                       ? ""
                      : r.scope == rpc::SignalScope::kFull  ? "full "
                      : r.scope == rpc::SignalScope::kBatch ? "batch "
                                                            : "";
  return "Signal " + std::to_string(r.signal) + " to " + scope + what + name;
}

namespace {

struct Setting {
  const char* name;
  std::string value;
};

std::vector<Setting> filters(const ScancelOptions& o) {
  return {{"account", o.account},         {"job_name", o.name},           {"nodelist", o.nodes}, {"partition", o.partition}, {"qos", o.qos},
          {"reservation", o.reservation}, {"state", join(o.states, ",")}, {"user_name", o.user}, {"wckey", o.wckey}};
}

}  // namespace

std::string filters_text(const ScancelOptions& o) {
  std::string out;
  for (const Setting& s : filters(o))
    if (!s.value.empty()) out += std::string(s.name) + "=" + s.value + " ";
  if (o.me) out += "user_id=" + std::to_string(getuid()) + " ";
  return out;
}

std::vector<std::string> settings_lines(const ScancelOptions& options, const rpc::SignalJobs& request) {
  std::vector<Setting> all = filters(options);
  for (auto [name, on] : {std::pair("batch", options.batch), std::pair("ctld", options.ctld), std::pair("full", options.full),
                          std::pair("hurry", options.hurry), std::pair("interactive", options.interactive)})
    all.push_back({name, on ? "true" : "false"});
  all.push_back({"sibling", options.sibling});
  all.push_back({"user_id", std::to_string(getuid())});
  all.push_back({"verbose", std::to_string(options.verbose)});
  std::ranges::sort(all, {}, [](const Setting& s) { return std::string_view(s.name); });
  for (size_t i = 0; i < request.filter.jobs.size(); ++i) all.push_back({"job_id", selector_text(request.filter.jobs[i])});
  std::vector<std::string> out;
  size_t job = 0;
  for (const Setting& s : all) {
    std::string name = s.name == std::string_view("job_id") ? "job_id[" + std::to_string(job++) + "]" : s.name;
    name.resize(std::max<size_t>(name.size(), 15), ' ');
    out.push_back(name + ": " + (s.value.empty() ? "(null)" : s.value));
  }
  return out;
}

}  // namespace muster::cli
