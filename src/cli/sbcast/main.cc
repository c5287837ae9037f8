// sbcast: sends a file to all nodes of a job. sbcast(1).
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/find_job.h"
#include "cli/common/job_ids.h"
#include "cli/common/job_setup.h"
#include "cli/common/settings_table.h"
#include "cli/sbcast/send_file.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

std::string job_named(const SbcastOptions& o) {
  std::string text = o.job;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID"})
    if (const char* v = getenv(name); v && text.empty()) text = v;
  return text;
}

// The jobs whose nodes get the file: of a heterogeneous job that is named as a whole, each component that runs.
std::vector<std::string> jobs_meant(Session& session, const SbcastOptions& options) {
  const std::string text = job_named(options);
  auto selector = parse_job_selector(text);
  if (options.no_allocation || !selector || selector->has_step || selector->het_offset || selector->sluid ||
      selector->array_task != kNoArrayTask)
    return {text};
  rpc::QueryJobs query;
  query.filter.jobs.push_back(*selector);
  query.show_all = true;
  query.parts = kRowStateOnly;
  std::vector<std::string> out;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs)
      if (row.het.leader == selector->job && (row.state == JobState::kRunning || row.state == JobState::kSuspended))
        out.push_back(component_name(row.id, row.het));
    return {};
  };
  if (!session.stream(query, on_part) || out.empty()) return {text};
  return out;
}

Result<rpc::AskCredential> job_meant(Session& session, const SbcastOptions& options) {
  const std::string text = job_named(options);
  if (text.empty())
    return fail(Errc::kInvalidReq, "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option.");
  MUSTER_TRY(s, parse_job_selector(text));
  rpc::AskCredential ask;
  if (auto job = find_job(session, s)) ask.job = *job;
  else return fail(job.error().code, "Slurm job " + selector_text(s) + " lookup error: " + std::string(job.error().message()));
  ask.sluid = s.sluid;
  ask.has_step = s.has_step;
  ask.step = s.step;
  ask.purpose = rpc::CredentialPurpose::kSendFile;
  return ask;
}

Result<std::vector<std::string>> listed_nodes(const SbcastOptions& o) {
  std::string list = o.nodes;
  if (list.find('/') != std::string::npos) {
    MUSTER_TRY(read, read_node_file(list));
    list = read;
  }
  return expand_hosts(list);
}

// --no-allocation: the nodes are given by name, and root's own word is enough for them.
Result<FileTargets> nodes_without_job(Session& session, const SbcastOptions& options) {
  if (options.nodes.empty()) return fail(Errc::kInvalidReq, "--no-allocation needs --nodelist");
  FileTargets out;
  out.as_caller = true;
  rpc::QueryNodes query;
  MUSTER_TRY(names, listed_nodes(options));
  query.nodes = join(names, ",");
  query.show_all = true;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::NodeRows&& part) -> Result<> {
    for (const NodeRow& n : part.nodes) out.nodes.push_back({n.name, n.address, n.port});
    return {};
  }));
  return out;
}

Result<FileTargets> find_targets(Session& session, const SbcastOptions& options) {
  if (options.no_allocation) return nodes_without_job(session, options);
  MUSTER_TRY(ask, job_meant(session, options));
  Result<FileTargets> found = nodes_of_job(session, ask);
  if (!found)
    return fail(found.error().code, "Slurm job " + std::to_string(ask.job.value) + " lookup error: " + std::string(found.error().message()),
                found.error().hint);
  FileTargets targets = std::move(*found);
  if (options.nodes.empty()) return targets;
  MUSTER_TRY(names, listed_nodes(options));
  for (const std::string& name : names)
    if (std::ranges::none_of(targets.nodes, [&](const rpc::NodeAddress& n) { return n.name == name; }))
      return fail(Errc::kInvalidNodeName, "node " + name + " is not one of job " + std::to_string(ask.job.value));
  std::erase_if(targets.nodes, [&](const rpc::NodeAddress& n) { return std::ranges::find(names, n.name) == names.end(); });
  return targets;
}

void say_settings(const SbcastOptions& options, const FileToSend& file, const FileTargets& targets) {
  SettingsTable table;
  table.add_number("block_size", file.block);
  table.add_number("compress", file.lz4);
  table.add("exclude", options.exclude);
  table.add("force", options.force);
  table.add_number("fanout", file.fanout);
  table.add("preserve", options.preserve);
  table.add("send_libs", options.send_libs);
  table.add_number("timeout", options.timeout_seconds.value_or(0));
  table.add_number("verbose", options.verbose);
  table.add("source", file.source);
  table.add("dest", file.destination);
  std::vector<std::string> names;
  for (const rpc::NodeAddress& n : targets.nodes) names.push_back(n.name);
  table.add("node_list", compress_hosts(names));
  struct stat s {};
  if (::stat(file.source.c_str(), &s) == 0) {
    table.add_number("size", static_cast<uint64_t>(s.st_size));
    table.add("mtime", calendar_text(from_unix(s.st_mtime)));
  }
  table.say("sbcast: ");
}

Result<> send_to(Session& session, const SbcastOptions& options, const std::vector<std::string>& operands, const os::CliLog& log) {
  const ClientConf& conf = session.conf();
  MUSTER_TRY(targets, find_targets(session, options));
  const NodeDialer dialer = NodeDialer::of(conf);
  FileToSend file;
  file.source = operands[0];
  file.destination = destination_of(operands[0], operands[1], conf, current_directory());
  file.force = options.force;
  file.preserve = options.preserve;
  file.block = options.size_bytes.value_or(kUsualBlock);
  file.lz4 = wants_lz4(options.compress, conf);
  file.fanout = options.fanout.value_or(conf.tree_width);
  if (options.timeout_seconds) file.timeout = seconds(*options.timeout_seconds);
  if (log.enabled(os::LogLevel::kVerbose)) say_settings(options, file, targets);
  MUSTER_TRY_VOID(send_file(dialer, targets, file));
  if (!options.send_libs) return {};
  MUSTER_TRY(directory, send_libraries(dialer, targets, file, options.exclude.empty() ? conf.bcast_exclude : options.exclude));
  if (!directory.empty()) log.verbose("the libraries are in {}", directory);
  return {};
}

Result<> broadcast(const SbcastOptions& o, const std::vector<std::string>& operands, const os::CliLog& log) {
  if (operands.size() != 2)
    return fail(Errc::kInvalidReq, "Need two file names, have " + std::to_string(operands.size()) + " names",
                "sbcast [options] SOURCE DEST");
  MUSTER_TRY(session, Session::find(Patience::kMessageTimeout, Whom::kStepManager));
  for (const std::string& job : jobs_meant(session, o)) {
    SbcastOptions one = o;
    one.job = job;
    MUSTER_TRY_VOID(send_to(session, one, operands, log));
  }
  return {};
}

int run(int argc, char** argv) {
  os::CliLog log("sbcast");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SbcastOptions> parse = parse_sbcast(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kSbcast, parse.messages, 1)) return *code;
  set_verbosity(log, parse.options.verbose);
  if (Result<> done = broadcast(parse.options, parse.operands, log); !done) {
    report(log, done.error());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
