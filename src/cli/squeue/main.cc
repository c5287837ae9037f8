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

SettingsTable settings_of(const SqueueOptions& o) {
  SettingsTable t;
  t.add("all", o.visibility == Visibility::kAll);
  t.add("array", o.array);
  t.add("federation", o.federation);
  t.add("format", o.format.empty() ? o.long_format : o.format);
  t.add_number("iterate", o.iterate_seconds.value_or(0));
  t.add_number("job_flag", o.filters_jobs);
  t.add("jobs", o.jobs);
  t.add("licenses", o.licenses);
  t.add("local", o.local);
  t.add("names", o.names);
  t.add("nodes", o.nodes);
  t.add("partitions", o.partitions);
  t.add("priority", o.priority);
  t.add("reservation", o.reservation);
  t.add("sibling", o.sibling);
  t.add("sort", o.sort);
  t.add_number("start_flag", o.start);
  t.add("states", o.states);
  t.add_number("step_flag", o.filters_steps);
  t.add("steps", o.steps);
  t.add("users", o.users);
  t.add_number("verbose", o.verbose);
  return t;
}

// Prints one listing. False after an error, which was reported.
bool list_once(Session& session, const SqueueOptions& o, const Listing& listing, const os::CliLog& log) {
  Result<rpc::QueryJobs> query = make_query(o);
  if (!query) {
    report(log, query.error());
    return false;
  }
  query->parts |= listing.parts;
  if (log.enabled(os::LogLevel::kVerbose)) say_listing(log, settings_of(o), session.conf());
  Names names;
  fields::Environment env = print_environment(session.conf(), o, names);
  env.noconvert = o.noconvert;
  env.expand_patterns = o.expand_patterns;
  env.array_text_length = o.array_text_length.value_or(64);
  Out out;
  if (o.data.kind != DataOutput::Kind::kText) {
    Result<> done = print_document(session, o, *query, env, out);
    out.flush();
    if (!done) show_query_error(done.error(), kLoadError);
    return done.has_value();
  }
  if (!o.clusters.empty() && !o.noheader) out.line("CLUSTER: " + session.conf().cluster_name);
  if (o.iterate_seconds || o.long_output) out.put(fields::date_line(env.now));
  Result<> done = o.filters_steps ? print_steps(session, o, listing, *query, env, out) : print_jobs(session, o, listing, *query, env, out);
  if (done && o.verbose) put_error("last_update_time=" + std::to_string(unix_seconds(os::wall_now())));
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
  const SqueueOptions& o = parse.options;
  if (!parse.operands.empty()) {
    log.error("Unrecognized option: {}", parse.operands[0]);
    return 1;
  }
  set_verbosity(log, o.verbose);
  if (std::optional<std::string> help = format_help(o)) {
    Out out;
    out.put(*help);
    return 0;
  }
  if (auto code = data_parser_asked(o.data, log)) return *code;
  Listing listing = make_listing(o);
  for (const std::string& m : listing.messages) log.error("{}", m);
  if (listing.failed) return 1;
  if (o.watch) {
    for (const auto& [other, name] : {std::pair(o.iterate_seconds.has_value(), "--iterate"), std::pair(o.filters_steps, "--steps"),
                                      std::pair(o.data.kind != DataOutput::Kind::kText, "--json and --yaml")})
      if (other) {
        log.error("--watch cannot be combined with {}", name);
        return 1;
      }
    return watch_jobs(o, listing, log);
  }
  std::optional<Session> session = find_session(Patience::kNone, o.clusters, log);
  if (!session) return 1;
  bool good = list_once(*session, o, listing, log);
  while (o.iterate_seconds) {
    sleep(*o.iterate_seconds);
    Result<Session> again = Session::find(Patience::kNone);
    Out().line("");
    good = again && list_once(*again, o, listing, log);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
