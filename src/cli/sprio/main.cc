// sprio: what the priorities of pending jobs are made of. sprio(1).
#include "cli/common/command.h"
#include "cli/common/multifactor.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/common/settings_table.h"
#include "cli/sprio/print.h"

namespace muster::cli {
namespace {

constexpr const char* kQueryError = "Couldn't get priority factors from controller: ";

SettingsTable settings_of(const SprioOptions& options) {
  SettingsTable table;
  table.add("federation", options.federation);
  table.add("format", options.format);
  table.add("jobs", options.jobs);
  table.add("local", options.local);
  table.add("long", options.long_output);
  table.add("norm", options.normalized);
  table.add("partitions", options.partitions);
  table.add("sibling", options.sibling);
  table.add("sort", options.sort);
  table.add("users", options.users);
  table.add_number("verbose", options.verbose);
  table.add("weights", options.weights);
  return table;
}

int list(Session& session, const SprioOptions& options, PriorityListing listing, PriorityFilter filter, const os::CliLog& log) {
  if (log.enabled(os::LogLevel::kVerbose)) settings_of(options).say();
  say_asking(log, session.conf());
  Names names;
  const fields::Environment env = print_environment(session.conf(), options, names);
  PriorityLines lines(options, std::move(listing), std::move(filter), env);
  Result<rpc::Empty> done = session.stream(rpc::QueryPriorities{}, [&](rpc::PriorityRows&& part) -> Result<> {
    lines.add(part);
    return {};
  });
  if (!done) {
    show_query_error(done.error(), kQueryError);
    return 1;
  }
  if (lines.found_nothing()) {
    Out().put("Unable to find jobs matching user/id(s) specified\n");
    return 0;
  }
  Out out;
  lines.print(out.buffer());
  out.flush();
  for (const std::string& job : lines.missing()) log.info("warning: no job {} is pending", job);
  return 0;
}

int run(int argc, char** argv) {
  os::CliLog log("sprio");
  QueryParse<SprioOptions> parse = parse_sprio(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kSprio, parse.messages, 1)) return *code;
  const SprioOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  PriorityListing listing = make_priority_listing(options);
  for (const std::string& m : listing.messages) log.error("{}", m);
  if (listing.failed) return 1;
  Result<PriorityFilter> filter = make_priority_filter(options);
  if (!filter) {
    report(log, filter.error());
    return 1;
  }
  std::optional<Session> session = find_session(Patience::kNone, options.clusters, log);
  if (!session || !has_multifactor(session->conf(), log)) return 1;
  return list(*session, options, std::move(listing), std::move(*filter), log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
