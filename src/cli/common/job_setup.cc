#include "cli/common/job_setup.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "hostlist/hostlist.h"
#include "os/cli_log.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/users.h"

namespace muster::cli {
namespace {

Result<> set_identity(JobOptions& options) {
  AskedRequest& request = options.request;
  request.uid = Uid{getuid()};
  request.gid = Gid{getgid()};
  if (!options.user_text.empty()) {
    Result<Uid> uid = os::find_uid(options.user_text);
    if (!uid) return fail(Errc::kUserIdMissing, "Invalid user id: " + options.user_text);
    if (*uid != request.uid && getuid() != 0)
      return fail(Errc::kAccessDenied, "--uid is for root: you are not permitted to submit as " + options.user_text);
    if (*uid != request.uid) {
      MUSTER_TRY(user, os::find_user(*uid));
      request.uid = *uid;
      request.gid = user.gid;
    }
  }
  if (!options.group_text.empty()) {
    Result<Gid> gid = os::find_gid(options.group_text);
    if (!gid) return fail(Errc::kGroupIdMissing, "Invalid group id: " + options.group_text);
    request.gid = *gid;
  }
  return {};
}

Result<> set_limits(JobOptions& options, const ClientConf& conf) {
  Result<os::LimitSet> which = os::LimitSet{};
  if (options.propagate) {
    which = os::parse_limit_set(options.propagate->empty() ? "ALL" : join(*options.propagate, ","));
  } else if (!conf.propagate_limits_except.empty()) {
    which = os::parse_limit_set_except(conf.propagate_limits_except);
  } else {
    which = os::parse_limit_set(conf.propagate_limits);
  }
  if (!which) return std::unexpected(which.error());
  for (const os::SoftLimit& l : os::current_limits(*which))
    options.request.limits.push_back({std::string(os::limit_kinds()[l.kind].name), l.soft});
  return {};
}

mode_t current_umask() {
  mode_t mask = umask(0);
  umask(mask);
  return mask;
}

// --distribution=arbitrary: the node list names a node for each task, in the order of tasks; names beyond the number of tasks are left out.
Result<> set_places(JobOptions& options) {
  AskedRequest& request = options.request;
  if (!request.distribution->arbitrary() || request.required_nodes.empty()) return {};
  MUSTER_TRY(named, request.required_nodes.parsed());
  if (named.has_functions())
    return fail(Errc::kInvalidNodeName, "Invalid node name " + request.required_nodes.text(),
                "--distribution=arbitrary lists nodes by their names");
  std::vector<std::string> places = named.names();
  const auto count = static_cast<uint32_t>(places.size());
  if (request.num_tasks > count && !options.host_file.empty())
    return fail(Errc::kInvalidNodeName, "Too few NodeNames in Slurm Hostfile",
                options.host_file + " names " + std::to_string(count) + " nodes for " + std::to_string(request.num_tasks) + " tasks");
  if (request.num_tasks > count)
    return fail(Errc::kInvalidNodeName, "Asked for " + std::to_string(request.num_tasks) + " tasks have " + std::to_string(count) +
                                            " in the nodelist.  Check your nodelist, or set the -n option to be " + std::to_string(count));
  if (request.num_tasks) places.resize(request.num_tasks);
  else request.num_tasks = count;
  request.required_nodes = join(places, ",");
  const auto nodes = static_cast<uint32_t>(unique_hosts(places).size());
  request.min_nodes = request.max_nodes = nodes;
  options.step.num_tasks = request.num_tasks;
  options.step.min_nodes = options.step.max_nodes = nodes;
  return {};
}

// Reads the lists of nodes that are in files.
Result<> read_node_files(JobOptions& options) {
  AskedRequest& request = options.request;
  for (const std::string* path : {&options.node_file, &options.nodelist_file, &options.host_file}) {
    if (path->empty()) continue;
    MUSTER_TRY(list, read_node_file(*path));
    request.required_nodes = list;
  }
  if (!options.exclude_file.empty()) {
    MUSTER_TRY(list, read_node_file(options.exclude_file));
    request.excluded_nodes = list;
  }
  MUSTER_TRY_VOID(set_places(options));
  options.step.required_nodes = request.required_nodes;
  options.step.excluded_nodes = request.excluded_nodes;
  return {};
}

// A job has all nodes of --nodelist, so it has at least that many.
Result<> count_named_nodes(AskedRequest& request) {
  if (request.required_nodes.empty()) return {};
  if (!request.required_nodes.parsed() || request.required_nodes->has_functions())
    return {};  // the controller reports errors and knows functions
  std::vector<std::string> names = request.required_nodes->names();
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto count = static_cast<uint32_t>(names.size());
  if (request.max_nodes && count > request.max_nodes)
    return fail(Errc::kInvalidNodeCount,
                "invalid number of nodes (-N " + std::to_string(count) + "-" + std::to_string(request.max_nodes) + ")",
                "--nodelist names " + std::to_string(count) + " nodes, and the job has all of them");
  request.min_nodes = std::max(request.min_nodes, count);
  return {};
}

// --core-spec counts only where the site allows it.
void drop_core_spec(JobOptions& o, const ClientConf& conf, std::string_view program) {
  if (conf.allow_spec_resources) return;
  for (auto [option, name] : {std::pair("core-spec", "-S"), std::pair("thread-spec", "--thread-spec")})
    if (o.given(option))
      os::CliLog(program).error("Ignoring {} since it's not allowed by configuration (AllowSpecResourcesUsage = No)", name);
  if ((o.given("core-spec") || o.given("thread-spec")) && !o.given("exclusive")) o.request.exclusive = Exclusive::kDefault;
  o.request.core_spec = 0;
  o.request.core_spec_is_threads = o.request.core_spec_given = false;
}

void set_directory(JobOptions& o) {
  std::string here = current_directory();
  if (o.chdir.empty()) o.request.work_dir = std::move(here);
  else o.request.work_dir = o.chdir.starts_with('/') ? o.chdir : here + "/" + o.chdir;
}

}  // namespace

Result<std::string> read_node_file(const std::string& path) {
  Result<std::string> text = os::read_file(path, 4 << 20);
  if (!text) return fail(Errc::kInvalidNodeName, "Unable to read the list of nodes " + path, std::string(text.error().message()));
  std::vector<std::string> names;
  for (char& c : *text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  for (std::string_view word : split(*text, ' ')) {
    if (word.starts_with('#')) continue;
    names.emplace_back(word);
  }
  return join(names, ",");
}

Result<> complete_request(JobOptions& options, const ClientConf& conf, std::string_view program, std::span<const std::string> arguments) {
  if (!options.request.clusters.empty()) MUSTER_TRY_VOID(check_clusters(conf, options.request.clusters));
  MUSTER_TRY_VOID(set_identity(options));
  set_directory(options);
  drop_core_spec(options, conf, program);
  AskedRequest& r = options.request;
  bool no_nodes = options.given("nodes") && !r.min_nodes && !r.max_nodes && r.node_sizes.empty();
  if (no_nodes && options.command != Command::kSrun) return fail(Errc::kInvalidNodeCount, {}, "--nodes=0: a job has at least one node");
  r.umask = options.umask ? *options.umask : current_umask();
  MUSTER_TRY_VOID(set_limits(options, conf));
  r.submit_line = joined(program, arguments);
  MUSTER_TRY_VOID(read_node_files(options));
  return count_named_nodes(r);
}

}  // namespace muster::cli
