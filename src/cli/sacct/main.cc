// sacct: what the accounting database recorded of jobs and steps. sacct(1).
#include <unistd.h>

#include "base/text.h"
#include "cli/accounting/no_accounting.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/sacct/print.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

void plain(const std::string& text) {
  std::string line = text + "\n";
  [[maybe_unused]] ssize_t n = ::write(2, line.data(), line.size());
}

int tell(const os::CliLog& log, const QueryMistake& m) {
  if (m.form == QueryMistake::Form::kPlain)
    plain(m.text);
  else if (m.form == QueryMistake::Form::kFatal)
    log.fatal("{}", m.text);
  else
    log.error("{}", m.text);
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

// --use-local-uid: the number that the recorded name has here.
void use_local_uids(rpc::JobRecords& part) {
  for (JobRecord& job : part.jobs)
    if (Result<Uid> uid = os::find_uid(job.user); uid && !job.user.empty()) job.uid = *uid;
}

int list(const SacctOptions& o, Session& session, const os::CliLog& log) {
  Result<fields::Table<fields::RecordView>> table = record_table(o);
  if (!table) return unknown_column(log, table.error());
  Names names;
  fields::Environment env = environment(o, session.conf(), names);
  auto query = make_record_query(o, session.conf().cluster_name, env.now, Uid{getuid()});
  if (!query) return tell(log, query.error());
  log.verbose("{}", window_text(query->query.filter));
  const fields::RecordStyle style{o.units, o.truncate, query->query.filter.from, query->query.filter.until};
  Result<> connected = session.connect();
  if (!connected) {
    log.error("Problem talking to the database: {}", connected.error().message());
    if (!connected.error().hint.empty()) log.info("{}", connected.error().hint);
    return 1;
  }
  Out out;
  std::optional<Document> document;
  if (o.data.kind == DataOutput::Kind::kText)
    table->header(out.buffer());
  else
    document.emplace(o.data, o, "jobs", session.conf(), out).from_database();
  WholeJobs jobs([&](const rpc::JobRecords& part) {
    if (document)
      write_records(o, query->selectors, style, env, part, document->sink(), out);
    else
      print_records(o, query->selectors, *table, style, env, part, out);
  });
  Result<rpc::Empty> done = session.stream(query->query, [&](rpc::JobRecords&& part) -> Result<> {
    if (o.local_uid) use_local_uids(part);
    jobs.add(std::move(part));
    return {};
  });
  jobs.end();
  document.reset();
  out.flush();
  if (done) return 0;
  report(log, done.error(), "Problem talking to the database: ");
  return 1;
}

int run(int argc, char** argv) {
  os::CliLog log("sacct");
  QueryParse<SacctOptions> parse = parse_sacct(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kSacct, parse.messages, 1)) return *code;
  const SacctOptions& o = parse.options;
  if (o.verbose) log.set_level(o.verbose > 1 ? os::LogLevel::kDebug : os::LogLevel::kVerbose);
  if (auto code = data_parser_asked(o.data, log)) return *code;
  if (o.helpformat) {
    Out().put(fields::record_help());
    return 0;
  }
  Result<ClientConf> conf = find_client_conf();
  if (!conf) {
    log.fatal("{}", conf.error().message());
    if (!conf.error().hint.empty()) log.info("{}", conf.error().hint);
    return 1;
  }
  if (!conf->accounting_dbd) {
    plain(std::string(kStorageDisabled));
    return 1;
  }
  Session session(std::move(*conf), Patience::kNone, Whom::kDatabase);
  return list(o, session, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
