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
    if (e.text.starts_with(' ')) put_error(e.text);
    else report(log, e);
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
  if (!tree && !r.is_sizes()) q.accounts = r.accounts;  // of a tree the accounts below count, too
  return q;
}

Result<rpc::QueryJobSizes> sizes_query(const ReportRequest& r, TextList clusters) {
  rpc::QueryJobSizes q;
  rpc::JobRecordFilter& f = q.filter;
  f.clusters = std::move(clusters);
  f.from = r.from;
  f.until = r.until;
  f.duplicates = true;
  f.wckeys = r.wckeys;
  f.partitions = r.partitions;
  f.nodes = r.nodes;
  for (const std::string& name : r.users) {
    const Result<Uid> user = os::find_uid(name);
    if (!user) return fail(Errc::kUserIdMissing, "Invalid user: " + name);
    f.users.push_back(*user);
  }
  for (const std::string& name : r.gids) {
    const Result<Gid> group = os::find_gid(name);
    if (!group) return fail(Errc::kGroupIdMissing, "Invalid group: " + name);
    f.groups.push_back(Uid{group->value});  // groups are numbers there
  }
  for (const std::string& job : r.jobs) {
    MUSTER_TRY(selector, parse_job_selector(job.substr(0, job.find('.'))));
    f.jobs.push_back(std::move(selector));
  }
  return q;
}

// ---- how it is printed
Form form_of(SacctOptions::Form form) {
  return form == SacctOptions::Form::kAligned ? Form::kAligned : form == SacctOptions::Form::kParsable ? Form::kEnded : Form::kSeparated;
}

void put_title(const Reporter& c, const ReportRequest& r, Out& out) {
  if (c.options.noheader) return;
  const std::string rule(80, '-');
  out.line(rule);
  out.line(report_title(r));
  const std::string_view unit = fields::report_time_name(c.time);
  const std::string what = c.time == ReportTime::kPercent                                ? ""
                           : c.options.tres.empty() && r.report != Report::kReservations ? "CPU "
                                                                                         : "TRES ";
  if (r.is_sizes() && r.job_count) out.line("Units are in number of jobs ran");
  else if (r.is_sizes()) out.line("Time reported in " + std::string(unit));
  else out.line("Usage reported in " + what + std::string(unit));
  out.line(rule);
}

Result<> put_rows(const Reporter& c, const ReportRequest& r, const std::vector<ReportRow>& rows, Out& out) {
  fields::TableStyle style;
  style.form = form_of(c.options.form);
  style.header = !c.options.noheader;
  fields::Table<ReportView> table(style);
  const std::string usual = fields::report_default_columns(r.report, c.time, !c.options.tres.empty());
  if (Result<> added = table.add(fields::report_fields(r.report), r.format.empty() ? usual : r.format); !added)
    return fail(Errc::kInvalidReq, " Unknown field '" + std::string(added.error().message()) + "'", added.error().hint);
  put_title(c, r, out);
  table.header(out.buffer());
  for (const ReportRow& row : rows) {
    table.row({row, c.time}, out.buffer());
    out.put("");
  }
  return {};
}

void put_size_line(Form form, const std::vector<std::string>& cells, bool names, std::string& out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t from = out.size();
    if (form != Form::kAligned && i > 0) out += '|';
    const size_t start = out.size();
    out += cells[i];
    make_plain(out, start);
    const auto width = static_cast<int16_t>(i < 2 ? 9 : i + 1 == cells.size() ? 12 : 13);
    if (form == Form::kAligned)
      fields::fit_value(out, from, width, names ? fields::Fit::kCut : i < 2 ? fields::Fit::kMarked : fields::Fit::kWhole);
  }
  if (form == Form::kEnded) out += '|';
  out += '\n';
}

void put_sizes(const Reporter& c, const ReportRequest& r, const SizeTable& t, Out& out) {
  const Form form = form_of(c.options.form);
  put_title(c, r, out);
  if (!c.options.noheader) {
    std::vector<std::string> names = {"Cluster", r.report == Report::kSizesByWckey ? "WCKey" : "Account"};
    names.insert(names.end(), t.headers.begin(), t.headers.end());
    names.emplace_back("% of cluster");
    put_size_line(form, names, true, out.buffer());
    std::string rule = std::string(9, '-') + " " + std::string(9, '-') + " ";
    for (size_t i = 0; i < t.headers.size(); ++i) rule += std::string(13, '-') + " ";
    if (form == Form::kAligned) out.line(rule + std::string(12, '-') + " ");
  }
  for (const SizeLine& l : t.lines) {
    std::vector<std::string> cells = {l.cluster, l.label};
    for (uint64_t amount : l.amounts)
      cells.push_back(r.job_count ? std::to_string(amount) : fields::report_amount(amount, l.total, c.time));
    cells.push_back(fields::report_amount(l.used, l.total, ReportTime::kPercent));
    put_size_line(form, cells, false, out.buffer());
    out.put("");
  }
}

void json_sizes(const ReportRequest& r, const SizeTable& t, fields::TreeSink& sink) {
  for (const SizeLine& l : t.lines) {
    sink.begin_object();
    for (auto [key, value] :
         {std::pair("cluster", &l.cluster), std::pair(r.report == Report::kSizesByWckey ? "wckey" : "account", &l.label)}) {
      sink.key(key);
      sink.text(*value);
    }
    sink.key("sizes");
    sink.begin_list();
    for (size_t i = 0; i < l.amounts.size(); ++i) {
      sink.begin_object();
      sink.key("size");
      sink.text(t.headers[i]);
      sink.key(r.job_count ? "jobs" : "used_seconds");
      sink.number_unsigned(l.amounts[i]);
      sink.end_object();
    }
    sink.end_list();
    sink.key("used_seconds");
    sink.number_unsigned(l.used);
    sink.key("total_seconds");
    sink.number_unsigned(l.total);
    sink.end_object();
  }
}

// ---- the reports
bool as_data(const Reporter& c) { return c.options.data.kind != DataOutput::Kind::kText; }

Result<> report_reservations(Reporter& c, Session& session, const ReportRequest& r, const std::vector<ReportTres>& tres, Out& out) {
  rpc::QueryReservationUsage q;
  q.clusters = clusters_of(c, r, session.conf());
  q.names = r.names;
  q.nodes = r.nodes;
  q.from = r.from;
  q.until = r.until;
  const RowContext context{r, tres, proper_name};
  std::vector<ReportRow> rows;
  MUSTER_TRY_VOID(session.stream(
      q,
      [&](rpc::ReservationUsages&& part) -> Result<> {
        for (const rpc::ReservationUsage& u : part.reservations) std::ranges::move(reservation_rows(context, u), std::back_inserter(rows));
        return {};
      },
      kReportTime));
  if (!as_data(c)) return put_rows(c, r, rows, out);
  Document document(c.options.data, c.options, "reports", session.conf(), out);
  document.from_database();
  for (const ReportRow& row : rows) fields::json_report_row(r.report, row, document.sink());
  return {};
}

Result<> report_sizes(Reporter& c, Session& session, const ReportRequest& r, const std::vector<ReportTres>& tres, Out& out) {
  const TextList clusters = clusters_of(c, r, session.conf());
  MUSTER_TRY(query, sizes_query(r, clusters));
  std::vector<rpc::JobSize> sizes;
  MUSTER_TRY_VOID(session.stream(
      query,
      [&](rpc::JobSizes&& part) -> Result<> {
        std::ranges::move(part.sizes, std::back_inserter(sizes));
        return {};
      },
      kReportTime));
  MUSTER_TRY(usage, ask_usage(session, usage_query(r, clusters)));
  MUSTER_TRY(accounts, ask_accounts(session, clusters));
  const SizeTable table = size_table({r, tres, proper_name}, sizes, usage, accounts);
  if (!as_data(c)) {
    put_sizes(c, r, table, out);
    return {};
  }
  Document document(c.options.data, c.options, "reports", session.conf(), out);
  document.from_database();
  json_sizes(r, table, document.sink());
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

Result<> report_usage(Reporter& c, Session& session, const ReportRequest& r, const std::vector<ReportTres>& tres, Out& out) {
  const TextList clusters = clusters_of(c, r, session.conf());
  MUSTER_TRY(usage, ask_usage(session, usage_query(r, clusters)));
  std::vector<AssociationRecord> accounts;
  if (r.report == Report::kAccountsByUser || r.report == Report::kAccountsByQos) {
    MUSTER_TRY(known, ask_accounts(session, clusters));
    accounts = std::move(known);
  }
  std::vector<ReportRow> rows;
  for (const ClusterUsage& u : usage) {
    const std::vector<ReportTres> all = tres.empty() ? all_tres(u.usage.cluster.count) : tres;
    std::ranges::move(rows_of({r, all, proper_name}, u, accounts), std::back_inserter(rows));
  }
  if (!as_data(c)) return put_rows(c, r, rows, out);
  Document document(c.options.data, c.options, "reports", session.conf(), out);
  document.from_database();
  for (const ReportRow& row : rows) fields::json_report_row(r.report, row, document.sink());
  return {};
}

void make_report(Reporter& c, Words words) {
  Result<ReportRequest> r = parse_report(words, os::wall_now());
  if (!r) {
    c.complain(r.error());
    if (r.error().text.starts_with(' ') && !r.error().hint.empty()) c.log.info("{}", r.error().hint);
    return;
  }
  const bool of_all = r->report == Report::kReservations;
  Result<std::vector<ReportTres>> tres = parse_report_tres(c.options.tres.empty() && !of_all ? "cpu" : c.options.tres);
  if (!tres) return c.complain(tres.error());
  if (r->is_sizes() && tres->size() != 1)
    return c.complain(Error(Errc::kInvalidReq, "Job reports only support a single TRES", "-T cpu, or -T gres/gpu"));
  Session* session = c.session();
  if (!session) return;
  Out out;
  const auto make = of_all ? report_reservations : r->is_sizes() ? report_sizes : report_usage;
  if (Result<> done = make(c, *session, *r, *tres, out); !done) c.complain(done.error());
}

// ---- the prompt's own words
void set_time(Reporter& c, Words words) {
  const auto time = words.empty() ? std::nullopt : fields::parse_report_time(words[0]);
  if (!time) return c.complain("Invalid time format: " + (words.empty() ? std::string() : words[0]));
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

void run_line(Reporter& c, Words line) {
  if (line[0] == "!!") {
    if (c.last.empty()) return c.complain("There is no command before this one");
    const std::vector<std::string> again = c.last;
    return run_line(c, again);
  }
  c.last.assign(line.begin(), line.end());
  // A report's kind is asked first: "user" and "u" are reports.
  for (std::string_view kind : {"cluster", "job", "reservation", "user"})
    if (istarts_with(kind, line[0])) return make_report(c, line);
  for (const Verb& v : kVerbs)
    if (line[0].size() >= std::min(v.least, v.name.size()) && istarts_with(v.name, line[0])) return v.run(c, line.subspan(1));
  make_report(c, line);  // which says what there is
}

int run(int argc, char** argv) {
  QueryParse<SreportOptions> parse = parse_sreport(arguments_of(argc, argv), process_environment());
  Reporter c(std::move(parse.options));
  if (parse.outcome == Outcome::kHelp) {
    print_help(c, {});
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kSreport, parse.messages, 1)) return *code;
  set_verbosity(c.log, c.options.verbose);
  if (auto code = data_parser_asked(c.options.data, c.log)) return *code;
  if (c.options.quiet) c.log.set_level(os::LogLevel::kError);
  if (!c.options.report_time.empty()) {
    const std::string word = c.options.report_time;
    set_time(c, Words(&word, 1));
    if (c.exit_code) return c.exit_code;
  }
  if (!parse.operands.empty()) run_line(c, parse.operands);
  else c.interact([&](Words line) { run_line(c, line); });
  return c.exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
