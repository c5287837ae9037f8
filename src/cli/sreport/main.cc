// sreport: usage from the accounting database, as reports. One command line, or a prompt. sreport(1).
#include <utility>

#include "base/text.h"
#include "cli/accounting/no_accounting.h"
#include "cli/common/dialogue.h"
#include "cli/common/document.h"
#include "cli/common/job_ids.h"
#include "cli/common/version.h"
#include "cli/sreport/usage.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

using fields::ReportTime;
using fields::ReportView;
using Form = fields::TableStyle::Form;

class Reporter final : public Dialogue {
 public:
  explicit Reporter(SreportOptions o) : Dialogue("sreport"), options(std::move(o)) {}
  SreportOptions options;
  ReportTime time = ReportTime::kMinutes;
  std::vector<std::string> last;  // the line before, for "!!"

  using Dialogue::complain;
  void complain(const Error& e) {
    exit_code = 1;
    if (e.code != Errc::kUnknownKeyword && !e.text.starts_with(' '))
      return e.code == Errc::kNotFound ? report_fatal(log, e) : report(log, e);
    put_error(e.text);
    if (!e.hint.empty()) log.info("{}", e.hint);
  }
  Session* session() {
    if (!session_) {
      Result<ClientConf> conf = find_client_conf();
      if (!conf) {
        exit_code = 1;
        report_fatal(log, conf.error());
        return nullptr;
      }
      if (!conf->accounting_dbd) {
        complain(kNoDatabase);
        return nullptr;
      }
      session_.emplace(std::move(*conf), Patience::kNone, Whom::kDatabase);
    }
    Result<> connected = session_->connect();
    if (connected) return &*session_;
    exit_code = 1;
    log.error("Problem talking to the database: {}", connected.error().message());
    if (!connected.error().hint.empty()) log.info("{}", connected.error().hint);
    return nullptr;
  }

 private:
  std::optional<Session> session_;
};

std::string proper_name(const std::string& login) {
  const Result<os::User> user = os::find_user(login);
  return user ? user->gecos : std::string();
}

// ---- what is asked
TextList clusters_of(const Reporter& c, const ReportRequest& r, const ClientConf& conf) {
  if (r.all_clusters || c.options.all_clusters) return {};
  if (!r.clusters.empty()) return r.clusters;
  TextList named;
  for (std::string_view name : split(c.options.clusters, ',')) named.emplace_back(trim(name));
  return named.empty() ? TextList{conf.cluster_name} : named;
}

uint32_t parts_of(Report report) {
  switch (report) {
    case Report::kAccountsByUser:
    case Report::kUsersByAccount:
    case Report::kTopUsage: return kUsageAccount | kUsageUser;
    case Report::kAccountsByQos: return kUsageAccount | kUsageQos;
    case Report::kUsersByWckey:
    case Report::kWckeysByUser: return kUsageUser | kUsageWckey;
    default: return 0;
  }
}

rpc::QueryUsage usage_query(const ReportRequest& r, TextList clusters) {
  rpc::QueryUsage q;
  q.clusters = std::move(clusters);
  q.from = r.from;
  q.until = r.until;
  q.parts = parts_of(r.report);
  q.users = r.users;
  q.wckeys = r.wckeys;
  const bool tree = r.report == Report::kAccountsByUser || r.report == Report::kAccountsByQos;
  if (!tree) q.accounts = r.accounts;  // of a tree the accounts below count, too
  return q;
}

Result<rpc::QueryJobSizes> sizes_query(const ReportRequest& request, TextList clusters) {
  rpc::QueryJobSizes query;
  rpc::JobRecordFilter& filter = query.filter;
  filter.clusters = std::move(clusters);
  filter.from = request.from;
  filter.until = request.until;
  filter.duplicates = true;
  filter.wckeys = request.wckeys;
  filter.partitions = request.partitions;
  filter.nodes = request.nodes;
  for (const std::string& name : request.users) {
    const Result<Uid> user = os::find_uid(name);
    if (!user) return fail(Errc::kUserIdMissing, "Invalid user id: " + name);
    filter.users.push_back(*user);
  }
  for (const std::string& name : request.gids) {
    const Result<Gid> group = os::find_gid(name);
    if (!group) return fail(Errc::kGroupIdMissing, "Invalid group: " + name);
    filter.groups.push_back(Uid{group->value});  // groups are numbers there
  }
  for (const std::string& job : request.jobs) {
    MUSTER_TRY(selector, parse_job_selector(job.substr(0, job.find('.'))));
    filter.jobs.push_back(std::move(selector));
  }
  return query;
}

// ---- how it is printed
Form form_of(SacctOptions::Form form) {
  return form == SacctOptions::Form::kAligned ? Form::kAligned : form == SacctOptions::Form::kParsable ? Form::kEnded : Form::kSeparated;
}

void put_title(const Reporter& reporter, const ReportRequest& request, Out& out) {
  if (reporter.options.noheader) return;
  const std::string rule(80, '-');
  out.line(rule);
  out.line(report_title(request));
  if (request.is_sizes() && !reporter.options.tres.empty()) out.line("TRES type is " + to_lower(reporter.options.tres));
  const std::string_view unit = fields::report_time_name(reporter.time);
  const std::string what = reporter.time == ReportTime::kPercent                                      ? ""
                           : reporter.options.tres.empty() && request.report != Report::kReservations ? "CPU "
                                                                                                      : "TRES ";
  if (request.is_sizes() && request.job_count) out.line("Units are in number of jobs ran");
  else if (request.is_sizes()) out.line("Time reported in " + std::string(unit));
  else out.line("Usage reported in " + what + std::string(unit));
  out.line(rule);
}

Result<> put_rows(const Reporter& reporter, const ReportRequest& request, const std::vector<ReportRow>& rows, Out& out) {
  fields::TableStyle style;
  style.form = form_of(reporter.options.form);
  style.header = !reporter.options.noheader;
  fields::Table<ReportView> table(style);
  const std::string usual = fields::report_default_columns(request.report, reporter.time, !reporter.options.tres.empty(), request.tree);
  if (Result<> added = table.add(fields::report_fields(request.report), request.format.empty() ? usual : request.format); !added)
    return fail(Errc::kInvalidReq, " Unknown field '" + std::string(added.error().message()) + "'", added.error().hint);
  put_title(reporter, request, out);
  table.header(out.buffer());
  for (const ReportRow& row : rows) {
    table.row({row, reporter.time}, out.buffer());
    out.put("");
  }
  return {};
}

// The columns of a report of sizes: those of its list, or of format=, then one for each size, then the part of the cluster.
class SizeColumns {
 public:
  SizeColumns(Form form, const ReportRequest& request, size_t sizes)
      : form_(form), sizes_(sizes), fields_(fields::report_fields(request.report)) {}

  Result<> add(std::string_view list) {
    for (std::string_view part : split(list, ',')) {
      MUSTER_TRY(column, fields::parse_column(trim(part)));
      const fields::ReportField* field = fields::find_column(fields_, column.name);
      if (!field) return fail(Errc::kInvalidReq, " Unknown field '" + std::string(column.name) + "'");
      lead_.push_back({field, column.width.value_or(field->width)});
    }
    return {};
  }
  void header(const std::vector<std::string>& sizes, std::string& out) const {
    std::vector<std::string> cells;
    for (const Lead& lead : lead_) cells.emplace_back(lead.field->header);
    cells.insert(cells.end(), sizes.begin(), sizes.end());
    cells.emplace_back("% of cluster");
    line(cells, true, out);
    if (form_ != Form::kAligned) return;
    for (size_t i = 0; i < cells.size(); ++i) out.append(static_cast<size_t>(std::abs(width(i))), '-') += ' ';
    out += '\n';
  }
  void row(const SizeLine& size, bool job_count, fields::ReportTime time, std::string& out) const {
    ReportRow row;
    row.cluster = size.cluster;
    row.account = size.label;
    std::vector<std::string> cells;
    for (const Lead& lead : lead_) lead.field->text({row, time}, cells.emplace_back());
    for (uint64_t amount : size.amounts)  // parts of the line's own
      cells.push_back(job_count ? std::to_string(amount) : fields::report_amount(amount, size.used, time));
    cells.push_back(fields::report_amount(size.used, size.total, ReportTime::kPercent));
    line(cells, false, out);
  }

 private:
  struct Lead {
    const fields::ReportField* field;
    int16_t width;
  };
  int16_t width(size_t cell) const { return cell < lead_.size() ? lead_[cell].width : cell < lead_.size() + sizes_ ? 13 : 12; }
  void line(const std::vector<std::string>& cells, bool names, std::string& out) const {
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t from = out.size();
      if (form_ != Form::kAligned && i > 0) out += '|';
      const size_t start = out.size();
      out += cells[i];
      make_plain(out, start);
      const fields::Fit fit = names ? fields::Fit::kCut : i < lead_.size() ? lead_[i].field->fit : fields::Fit::kWhole;
      if (form_ == Form::kAligned) fields::fit_value(out, from, width(i), fit);
    }
    if (form_ == Form::kEnded) out += '|';
    out += '\n';
  }

  Form form_;
  size_t sizes_;
  std::span<const fields::ReportField> fields_;
  std::vector<Lead> lead_;
};

Result<> put_sizes(const Reporter& reporter, const ReportRequest& request, const SizeTable& table, Out& out) {
  SizeColumns columns(form_of(reporter.options.form), request, table.headers.size());
  MUSTER_TRY_VOID(
      columns.add(request.format.empty() ? fields::report_default_columns(request.report, reporter.time, false) : request.format));
  put_title(reporter, request, out);
  if (!reporter.options.noheader) columns.header(table.headers, out.buffer());
  for (const SizeLine& line : table.lines) {
    columns.row(line, request.job_count, reporter.time, out.buffer());
    out.put("");
  }
  return {};
}

void json_sizes(const ReportRequest& request, const SizeTable& table, fields::TreeSink& sink) {
  for (const SizeLine& line : table.lines) {
    sink.begin_object();
    for (auto [key, value] :
         {std::pair("cluster", &line.cluster), std::pair(request.report == Report::kSizesByWckey ? "wckey" : "account", &line.label)}) {
      sink.key(key);
      sink.text(*value);
    }
    sink.key("sizes");
    sink.begin_list();
    for (size_t i = 0; i < line.amounts.size(); ++i) {
      sink.begin_object();
      sink.key("size");
      sink.text(table.headers[i]);
      sink.key(request.job_count ? "jobs" : "used_seconds");
      sink.number_unsigned(line.amounts[i]);
      sink.end_object();
    }
    sink.end_list();
    sink.key("used_seconds");
    sink.number_unsigned(line.used);
    sink.key("total_seconds");
    sink.number_unsigned(line.total);
    sink.end_object();
  }
}

// ---- the reports
bool as_data(const Reporter& c) { return c.options.data.kind != DataOutput::Kind::kText; }

Result<> report_reservations(Reporter& reporter, Session& session, const ReportRequest& request, const std::vector<ReportTres>& tres,
                             Out& out) {
  rpc::QueryReservationUsage query;
  query.clusters = clusters_of(reporter, request, session.conf());
  query.names = request.names;
  query.nodes = request.nodes;
  query.from = request.from;
  query.until = request.until;
  const RowContext context{request, tres, proper_name};
  std::vector<ReportRow> rows;
  MUSTER_TRY_VOID(session.stream(
      query,
      [&](rpc::ReservationUsages&& part) -> Result<> {
        for (const rpc::ReservationUsage& u : part.reservations) std::ranges::move(reservation_rows(context, u), std::back_inserter(rows));
        return {};
      },
      kReportTime));
  if (!as_data(reporter)) return put_rows(reporter, request, rows, out);
  Document document(reporter.options.data, reporter.options, "reports", session.conf(), out);
  document.from_database();
  for (const ReportRow& row : rows) fields::json_report_row(request.report, row, document.sink());
  return {};
}

Result<> report_sizes(Reporter& reporter, Session& session, const ReportRequest& request, const std::vector<ReportTres>& tres, Out& out) {
  const TextList clusters = clusters_of(reporter, request, session.conf());
  MUSTER_TRY(query, sizes_query(request, clusters));
  std::vector<rpc::JobSize> sizes;
  MUSTER_TRY_VOID(session.stream(
      query,
      [&](rpc::JobSizes&& part) -> Result<> {
        std::ranges::move(part.sizes, std::back_inserter(sizes));
        return {};
      },
      kReportTime));
  MUSTER_TRY(accounts, ask_accounts(session, clusters));
  const SizeTable table = size_table({request, tres, proper_name}, sizes, accounts);
  if (!as_data(reporter)) return put_sizes(reporter, request, table, out);
  Document document(reporter.options.data, reporter.options, "reports", session.conf(), out);
  document.from_database();
  json_sizes(request, table, document.sink());
  return {};
}

std::vector<ReportRow> rows_of(const RowContext& context, const ClusterUsage& usage, const std::vector<AssociationRecord>& accounts) {
  switch (context.request.report) {
    case Report::kAccountsByUser:
    case Report::kAccountsByQos: return tree_rows(context, usage, AccountTree(accounts, usage.cluster));
    case Report::kUtilization: return cluster_rows(context, usage);
    case Report::kWckeysByUser: return wckey_rows(context, usage);
    default: return user_rows(context, usage);
  }
}

Result<> report_usage(Reporter& reporter, Session& session, const ReportRequest& request, const std::vector<ReportTres>& tres, Out& out) {
  const TextList clusters = clusters_of(reporter, request, session.conf());
  MUSTER_TRY(usage, ask_usage(session, usage_query(request, clusters)));
  std::vector<AssociationRecord> accounts;
  if (request.report == Report::kAccountsByUser || request.report == Report::kAccountsByQos) {
    MUSTER_TRY(known, ask_accounts(session, clusters));
    accounts = std::move(known);
  }
  std::vector<ReportRow> rows;
  for (const ClusterUsage& u : usage) {
    const std::vector<ReportTres> all = tres.empty() ? all_tres(u.usage.cluster.count) : tres;
    std::ranges::move(rows_of({request, all, proper_name}, u, accounts), std::back_inserter(rows));
  }
  if (!as_data(reporter)) return put_rows(reporter, request, rows, out);
  Document document(reporter.options.data, reporter.options, "reports", session.conf(), out);
  document.from_database();
  for (const ReportRow& row : rows) fields::json_report_row(request.report, row, document.sink());
  return {};
}

void make_report(Reporter& reporter, Words words) {
  Result<ReportRequest> request = parse_report(words, os::wall_now());
  if (!request) return reporter.complain(request.error());
  const bool of_all = request->report == Report::kReservations;
  Result<std::vector<ReportTres>> tres = parse_report_tres(reporter.options.tres.empty() && !of_all ? "cpu" : reporter.options.tres);
  if (!tres) return reporter.complain(tres.error());
  if (request->is_sizes() && tres->size() != 1)
    return reporter.complain(
        Error(Errc::kInvalidReq, " Job report only supports a single --tres type.\n Generate a separate report for each TRES type."));
  Session* session = reporter.session();
  if (!session) return;
  Out out;
  const auto make = of_all ? report_reservations : request->is_sizes() ? report_sizes : report_usage;
  if (Result<> done = make(reporter, *session, *request, *tres, out); !done) reporter.complain(done.error());
}

// ---- the prompt's own words
void set_time(Reporter& c, Words words) {
  const auto time = words.empty() ? std::nullopt : fields::parse_report_time(words[0]);
  if (!time) return c.complain("unknown time format " + (words.empty() ? std::string() : words[0]));
  c.time = *time;
}
void print_help(Reporter&, Words);
template <SacctOptions::Form form>
void set_form(Reporter& c, Words) {
  c.options.form = form;
}

struct Verb {
  std::string_view name;
  size_t least;
  void (*run)(Reporter&, Words);
  std::string_view help, summary;
};
constexpr Verb kVerbs[] = {
    {"exit", 1, [](Reporter& c, Words) { c.done = true; }, "exit", "end the prompt"},
    {"help", 1, print_help, "help", "this list"},
    {"nonparsable", 1, set_form<SacctOptions::Form::kAligned>, "nonparsable", "columns again"},
    {"parsable", 1, set_form<SacctOptions::Form::kParsable>, "parsable", "| after each value"},
    {"parsable2", 9, set_form<SacctOptions::Form::kParsable2>, "parsable2", "| between values"},
    {"quiet", 4, [](Reporter& c, Words) { c.log.set_level(os::LogLevel::kError); }, "quiet", "print errors only"},
    {"quit", 4, [](Reporter& c, Words) { c.done = true; }, "", ""},
    {"time", 1, set_time, "time FORMAT", "SecPer, MinPer, HourPer, Seconds, Minutes, Hours or Percent"},
    {"verbose", 4, [](Reporter& c, Words) { c.log.set_level(os::LogLevel::kVerbose); }, "verbose", "say more"},
    {"version", 4, [](Reporter&, Words) { Out().line(kVersionText); }, "version", "print the version"},
};

void print_help(Reporter&, Words) {
  Out out;
  out.put(help_text(Command::kSreport));
  out.put("\nReports:\n");
  for (std::string_view line :
       {"  cluster AccountUtilizationByUser|AccountUtilizationByQOS|UserUtilizationByAccount|UserUtilizationByWckey|Utilization|"
        "WCKeyUtilizationByUser",
        "  job SizesByAccount|SizesByAccountAndWckey|SizesByWckey", "  reservation Utilization", "  user TopUsage"})
    out.line(line);
  out.put("\nAt the prompt:\n");
  for (const Verb& v : kVerbs)
    if (!v.help.empty()) out.put(verb_help(v.help, v.summary, 20));
}

void run_line(Reporter& reporter, Words line) {
  if (line[0] == "!!") {
    if (reporter.last.empty()) return reporter.complain("There is no command before this one");
    const std::vector<std::string> again = reporter.last;
    return run_line(reporter, again);
  }
  reporter.last.assign(line.begin(), line.end());
  // A report's kind is asked first: "user" and "u" are reports.
  for (std::string_view kind : {"cluster", "job", "reservation", "user"})
    if (istarts_with(kind, line[0])) return make_report(reporter, line);
  for (const Verb& v : kVerbs)
    if (line[0].size() >= std::min(v.least, v.name.size()) && istarts_with(v.name, line[0])) return v.run(reporter, line.subspan(1));
  make_report(reporter, line);  // which says what there is
}

int run(int argc, char** argv) {
  QueryParse<SreportOptions> parse = parse_sreport(arguments_of(argc, argv), process_environment());
  Reporter reporter(std::move(parse.options));
  if (parse.outcome == Outcome::kHelp) {
    print_help(reporter, {});
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kSreport, parse.messages, 1)) return *code;
  set_verbosity(reporter.log, reporter.options.verbose);
  if (auto code = data_parser_asked(reporter.options.data, reporter.log)) return *code;
  if (reporter.options.quiet) reporter.log.set_level(os::LogLevel::kError);
  if (!reporter.options.report_time.empty()) {
    const std::string word = reporter.options.report_time;
    set_time(reporter, Words(&word, 1));
    if (reporter.exit_code) return reporter.exit_code;
  }
  if (!parse.operands.empty()) run_line(reporter, parse.operands);
  else reporter.interact([&](Words line) { run_line(reporter, line); });
  return reporter.exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
