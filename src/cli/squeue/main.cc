// squeue: the queue as lines, steps as lines with -s. squeue(1).
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/common/settings_table.h"
#include "cli/squeue/print.h"
#include "cli/squeue/query.h"
#include "cli/squeue/watch.h"
#include "fields/format.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

constexpr const char* kLoadError = "slurm_load_jobs error: ";

SettingsTable settings_of(const SqueueOptions& options) {
  SettingsTable table;
  table.add("all", options.visibility == Visibility::kAll);
  table.add("array", options.array);
  table.add("federation", options.federation);
  table.add("format", options.format.empty() ? options.long_format : options.format);
  table.add_number("iterate", options.iterate_seconds.value_or(0));
  table.add_number("job_flag", options.filters_jobs);
  table.add("jobs", options.jobs);
  table.add("licenses", options.licenses);
  table.add("local", options.local);
  table.add("names", options.names);
  table.add("nodes", options.nodes);
  table.add("partitions", options.partitions);
  table.add("priority", options.priority);
  table.add("reservation", options.reservation);
  table.add("sibling", options.sibling);
  table.add("sort", options.sort);
  table.add_number("start_flag", options.start);
  table.add("states", options.states);
  table.add_number("step_flag", options.filters_steps);
  table.add("steps", options.steps);
  table.add("users", options.users);
  table.add_number("verbose", options.verbose);
  return table;
}

// Prints one listing. False after an error, which was reported.
bool list_once(Session& session, const SqueueOptions& options, const Listing& listing, const os::CliLog& log) {
  Result<rpc::QueryJobs> query = make_query(options);
  if (!query) {
    report(log, query.error());
    return false;
  }
  query->parts |= listing.parts;
  if (log.enabled(os::LogLevel::kVerbose)) say_listing(log, settings_of(options), session.conf());
  Names names;
  fields::Environment env = print_environment(session.conf(), options, names);
  env.noconvert = options.noconvert;
  env.expand_patterns = options.expand_patterns;
  env.array_text_length = options.array_text_length.value_or(64);
  Out out;
  if (options.data.kind != DataOutput::Kind::kText) {
    Result<> done = print_document(session, options, *query, env, out);
    out.flush();
    if (!done) show_query_error(done.error(), kLoadError);
    return done.has_value();
  }
  if (!options.clusters.empty() && !options.noheader) out.line("CLUSTER: " + session.conf().cluster_name);
  if (options.iterate_seconds || options.long_output) out.put(fields::date_line(env.now));
  Result<> done = options.filters_steps ? print_steps(session, options, listing, *query, env, out)
                                        : print_jobs(session, options, listing, *query, env, out);
  if (done && options.verbose) put_error("last_update_time=" + std::to_string(unix_seconds(os::wall_now())));
  if (done) return true;
  out.flush();
  if (done.error().code == Errc::kInvalidNodeName) return report(log, done.error()), false;
  show_query_error(done.error(), kLoadError);
  return false;
}

int run(int argc, char** argv) {
  os::CliLog log("squeue");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SqueueOptions> parse = parse_squeue(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kSqueue, parse.messages, 1)) return *code;
  const SqueueOptions& options = parse.options;
  if (!parse.operands.empty()) {
    log.error("Unrecognized option: {}", parse.operands[0]);
    return 1;
  }
  set_verbosity(log, options.verbose);
  if (std::optional<std::string> help = format_help(options)) {
    Out out;
    out.put(*help);
    return 0;
  }
  if (auto code = data_parser_asked(options.data, log)) return *code;
  Listing listing = make_listing(options);
  for (const std::string& m : listing.messages) log.error("{}", m);
  if (listing.failed) return 1;
  if (options.watch) {
    for (const auto& [other, name] :
         {std::pair(options.iterate_seconds.has_value(), "--iterate"), std::pair(options.filters_steps, "--steps"),
          std::pair(options.data.kind != DataOutput::Kind::kText, "--json and --yaml")})
      if (other) {
        log.error("--watch cannot be combined with {}", name);
        return 1;
      }
    return watch_jobs(options, listing, log);
  }
  std::optional<Session> session = find_session(Patience::kNone, options.clusters, log);
  if (!session) return 1;
  bool good = list_once(*session, options, listing, log);
  while (options.iterate_seconds) {
    sleep(*options.iterate_seconds);
    Result<Session> again = Session::find(Patience::kNone);
    Out().line("");
    good = again && list_once(*again, options, listing, log);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
