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

SettingsTable settings_of(const SprioOptions& o) {
  SettingsTable t;
  t.add("federation", o.federation);
  t.add("format", o.format);
  t.add("jobs", o.jobs);
  t.add("local", o.local);
  t.add("long", o.long_output);
  t.add("norm", o.normalized);
  t.add("partitions", o.partitions);
  t.add("sibling", o.sibling);
  t.add("sort", o.sort);
  t.add("users", o.users);
  t.add_number("verbose", o.verbose);
  t.add("weights", o.weights);
  return t;
}

int list(Session& session, const SprioOptions& o, PriorityListing listing, PriorityFilter filter, const os::CliLog& log) {
  if (log.enabled(os::LogLevel::kVerbose)) settings_of(o).say();
  say_asking(log, session.conf());
  Names names;
  const fields::Environment env = print_environment(session.conf(), o, names);
  PriorityLines lines(o, std::move(listing), std::move(filter), env);
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
  const SprioOptions& o = parse.options;
  set_verbosity(log, o.verbose);
  PriorityListing listing = make_priority_listing(o);
  for (const std::string& m : listing.messages) log.error("{}", m);
  if (listing.failed) return 1;
  Result<PriorityFilter> filter = make_priority_filter(o);
  if (!filter) {
    report(log, filter.error());
    return 1;
  }
  std::optional<Session> session = find_session(Patience::kNone, o.clusters, log);
  if (!session || !has_multifactor(session->conf(), log)) return 1;
  return list(*session, o, std::move(listing), std::move(*filter), log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
