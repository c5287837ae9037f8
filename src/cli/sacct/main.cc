// sacct: what the accounting database recorded of jobs and steps. sacct(1).
#include <unistd.h>

#include "base/text.h"
#include "cli/accounting/fresh_records.h"
#include "cli/accounting/no_accounting.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/sacct/completion.h"
#include "cli/sacct/content.h"
#include "cli/sacct/print.h"
#include "cli/sacct/unknown_names.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

int tell(const os::CliLog& log, const QueryMistake& m) {
  if (m.form == QueryMistake::Form::kPlain) put_error(m.text);
  else if (m.form == QueryMistake::Form::kFatal) log.fatal("{}", m.text);
  else log.error("{}", m.text);
  if (!m.hint.empty()) log.info("{}", m.hint);
  return 1;
}

int unknown_column(const os::CliLog& log, const Error& e) {
  log.error("Invalid field requested: \"{}\"", e.message());
  if (!e.hint.empty()) log.info("{}", e.hint);
  return 1;
}

fields::Environment environment(const SacctOptions& o, const ClientConf& conf, Names& names) {
  fields::Environment env = print_environment(conf, o, names);
  env.noconvert = o.noconvert;
  env.expand_patterns = o.expand_patterns;
  env.array_text_length = o.array_text_length.value_or(64);
  return env;
}

// --use-local-uid: shows the number that the recorded user name has on this host.
void use_local_uids(rpc::JobRecords& part) {
  for (JobRecord& job : part.jobs)
    if (Result<Uid> uid = os::find_uid(job.user); uid && !job.user.empty()) job.uid = *uid;
}

int trouble(const os::CliLog& log, const Error& e) {
  report(log, e, "Problem talking to the database: ");
  return 1;
}

// Refuses a QOS that is none, and learns the numbers of all where a column shows them. Gives the exit code where nothing can be listed.
std::optional<int> learn_qos(const SacctOptions& options, Session& session, const rpc::JobRecordFilter& filter, fields::RecordStyle& style,
                             const os::CliLog& log) {
  const bool numbers = to_lower(options.format).find("qosraw") != std::string::npos;
  if (filter.qos.empty() && !numbers) return std::nullopt;
  auto known = known_qos(session);
  if (!known) return trouble(log, known.error());
  if (Result<> valid = check_record_qos(*known, filter); !valid) {
    log.error("{}", valid.error().text);
    log.fatal("problem processing qos list");
    return 1;
  }
  for (const auto& [name, q] : *known) style.qos_numbers[name] = q.id;
  return std::nullopt;
}

std::optional<int> learn_wckeys(const SacctOptions& options, Session& session, fields::RecordStyle& style, const os::CliLog& log) {
  if (to_lower(options.format).find("wckeyid") == std::string::npos) return std::nullopt;
  auto known = wckey_numbers(session);
  if (!known) return trouble(log, known.error());
  style.wckey_numbers = std::move(*known);
  return std::nullopt;
}

// --whole-hetjob: which job a component named by its own id belongs to, only its record tells.
Result<> mean_wholes(const SacctOptions& options, Session& session, RecordQuery& query) {
  const auto question = wholes_question(options, query);
  if (!question) return {};
  Result<rpc::Empty> done = session.stream(*question, [&](rpc::JobRecords&& part) -> Result<> {
    for (const JobRecord& job : part.jobs) mean_whole(query, job);
    return {};
  });
  if (!done) return std::unexpected(std::move(done).error());
  return {};
}

// --batch-script, --env-vars.
int show_contents(const SacctOptions& options, Session& session, const os::CliLog& log) {
  Names names;
  const fields::Environment env = environment(options, session.conf(), names);
  auto records = make_record_query(options, session.conf().cluster_name, env.now, Uid{getuid()});
  if (!records) return tell(log, records.error());
  if (Result<> connected = session.connect(); !connected) return trouble(log, connected.error());
  wait_for_records(session.conf(), records->query.filter);
  const rpc::QueryContent query{records->query.filter, options.batch_script ? ContentKind::kScript : ContentKind::kEnvironment};
  Out out;
  ContentPrinter printer(query.kind, isatty(STDOUT_FILENO) == 1, env, out);
  Result<rpc::Empty> done = session.stream(query, [&](rpc::ContentPart&& part) -> Result<> {
    printer.add(std::move(part));
    return {};
  });
  printer.end();
  out.flush();
  if (!done) return trouble(log, done.error());
  if (printer.refused().empty()) return 0;
  log.error("Access/permission denied: job {}", printer.refused());
  log.info("a job's script and environment are for its owner, coordinators of its account and operators");
  return 1;
}

int list(const SacctOptions& options, Session& session, const os::CliLog& log) {
  Result<fields::Table<fields::RecordView>> table = record_table(options);
  if (!table) return unknown_column(log, table.error());
  Names names;
  fields::Environment env = environment(options, session.conf(), names);
  auto query = make_record_query(options, session.conf().cluster_name, env.now, Uid{getuid()});
  if (!query) return tell(log, query.error());
  log.verbose("{}", window_text(query->query.filter));
  fields::RecordStyle style{options.units, options.truncate, query->query.filter.from, query->query.filter.until};
  if (Result<> connected = session.connect(); !connected) return trouble(log, connected.error());
  wait_for_records(session.conf(), query->query.filter);
  if (Result<> known = check_record_clusters(session, query->query.filter, session.conf().cluster_name); !known) {
    report(log, known.error());
    return 1;
  }
  if (Result<> meant = mean_wholes(options, session, *query); !meant) return trouble(log, meant.error());
  if (auto code = learn_qos(options, session, query->query.filter, style, log)) return *code;
  if (auto code = learn_wckeys(options, session, style, log)) return *code;
  UnknownNames unknown(query->query.filter);
  Out out;
  std::optional<Document> document;
  if (options.data.kind == DataOutput::Kind::kText) table->header(out.buffer());
  else document.emplace(options.data, options, "jobs", session.conf(), out).from_database();
  WholeJobs jobs([&](const rpc::JobRecords& part) {
    if (document) write_records(options, query->selectors, style, env, part, document->sink(), out);
    else print_records(options, query->selectors, *table, style, env, part, out);
  });
  Result<rpc::Empty> done = session.stream(query->query, [&](rpc::JobRecords&& part) -> Result<> {
    if (options.local_uid) use_local_uids(part);
    unknown.seen(part);
    jobs.add(std::move(part));
    return {};
  });
  jobs.end();
  document.reset();
  out.flush();
  if (!done) return trouble(log, done.error());
  auto warnings = unknown.warnings(session);
  if (!warnings) return trouble(log, warnings.error());
  for (const std::string& text : *warnings) log.info("warning: {}", text);
  return 0;
}

int run(int argc, char** argv) {
  os::CliLog log("sacct");
  QueryParse<SacctOptions> parse = parse_sacct(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kSacct, parse.messages, 1)) return *code;
  const SacctOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  if (auto code = data_parser_asked(options.data, log)) return *code;
  if (options.helpformat) {
    Out().put(fields::record_help());
    return 0;
  }
  Result<ClientConf> conf = find_client_conf();
  if (!conf) {
    report_fatal(log, conf.error());
    return 1;
  }
  if (options.completion || !options.completion_file.empty()) return list_completions(options, *conf, log);
  if (!conf->accounting_dbd) {
    put_error(kStorageDisabled);
    return 1;
  }
  Session session(std::move(*conf), Patience::kNone, Whom::kDatabase);
  return options.batch_script || options.environment ? show_contents(options, session, log) : list(options, session, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
