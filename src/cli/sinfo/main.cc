// sinfo: partitions and the states of their nodes. sinfo(1).
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/document.h"
#include "cli/common/job_setup.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/common/settings_table.h"
#include "fields/format.h"
#include "fields/node_filter.h"
#include "fields/show_reservation.h"
#include "fields/sinfo_formats.h"
#include "fields/sinfo_groups.h"
#include "fields/sort.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

using fields::SinfoView;

struct Fetched {
  std::vector<NodeRow> nodes;
  std::vector<PartitionRow> partitions;
};

bool listed(const TextList& list, const std::string& name) { return std::find(list.begin(), list.end(), name) != list.end(); }

// The request names the partitions of -p, but the controller is free to answer with more.
Result<Fetched> fetch(Session& session, const SinfoOptions& options) {
  rpc::QueryNodes query;
  query.nodes = options.nodes;
  if (options.nodes.find('/') != std::string::npos) {
    MUSTER_TRY(list, read_node_file(options.nodes));
    query.nodes = list;
  }
  query.partitions = options.partitions;
  query.show_all = options.visibility == Visibility::kAll;
  Fetched out;
  auto on_part = [&](rpc::NodeRows&& part) -> Result<> {
    for (NodeRow& n : part.nodes) out.nodes.push_back(std::move(n));
    for (PartitionRow& p : part.partitions) out.partitions.push_back(std::move(p));
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (!options.partitions.empty()) {
    std::erase_if(out.partitions, [&](const PartitionRow& p) { return !listed(options.partitions, p.partition.name); });
    std::erase_if(out.nodes, [&](const NodeRow& n) {
      return std::ranges::none_of(n.partitions, [&](const std::string& p) { return listed(options.partitions, p); });
    });
  }
  return out;
}

fields::SinfoLayout layout_of(const SinfoOptions& o) {
  using L = fields::SinfoLayout;
  if (o.summarize) return L::kSummary;
  if (o.list_reasons) return o.long_output ? L::kLongReasons : L::kReasons;
  if (o.node_centric) return o.long_output ? L::kLongNode : L::kNode;
  return o.long_output ? L::kLong : L::kDefault;
}

std::function<bool(const NodeRow&)> keep_rule(const SinfoOptions& o, fields::NodeStateFilter filter) {
  return [&o, filter = std::move(filter)](const NodeRow& n) {
    if (o.dead && fields::is_responding(n)) return false;
    if (o.responding && !fields::is_responding(n)) return false;
    if (n.state == NodeState::kFuture && !o.future && o.states.empty()) return false;
    if (o.list_reasons && filter.empty()) return fields::lists_reason(n);
    return filter.matches(n);
  };
}

// The columns of --Format, of --format, or the usual ones for the rows found; mistakes in them are reported.
fields::Format<SinfoView> format_of(const SinfoOptions& o, const Fetched& rows, const os::CliLog& log) {
  std::string usual =
      fields::sinfo_format(layout_of(o), fields::partition_column_width(rows.partitions), fields::node_column_width(rows.nodes));
  fields::ParsedFormat<SinfoView> parsed = !o.long_format.empty() ? fields::parse_long_format<SinfoView>(o.long_format)
                                                                  : fields::parse_format<SinfoView>(o.format.empty() ? usual : o.format);
  for (const std::string& m : parsed.messages) log.error("{}", m);
  return std::move(parsed.format);
}

fields::GroupOptions grouping_of(const SinfoOptions& o, const fields::NodeStateFilter& filter) {
  fields::GroupOptions how;
  how.node_centric = o.node_centric;
  how.exact = o.exact;
  how.empty_partitions = !o.node_centric && !o.list_reasons;
  how.keep = keep_rule(o, filter);
  return how;
}

std::vector<uint32_t> order_of(const SinfoOptions& o, const std::vector<SinfoView>& views, const os::CliLog& log) {
  std::string_view usual = o.node_centric ? fields::kSinfoNodeSort : fields::kSinfoSort;
  fields::ParsedSort<SinfoView> sort = fields::parse_sort<SinfoView>(o.sort.empty() ? usual : std::string_view(o.sort));
  for (const std::string& m : sort.messages) log.error("{}", m);
  return fields::sorted_order(views, sort.keys);
}

void put_document(const SinfoOptions& o, const std::vector<SinfoView>& views, const ClientConf& conf) {
  Out out;
  Document document(o.data, o, "sinfo", conf, out);
  for (const SinfoView& v : views) {
    fields::json_sinfo(v, document.sink());
    out.put("");
  }
}

SettingsTable settings_of(const SinfoOptions& options) {
  SettingsTable table;
  table.add("dead", options.dead);
  table.add("exact", options.exact);
  table.add("filtering", !options.states.empty() || !options.nodes.empty() || !options.partitions.empty());
  table.add("format", options.format.empty() ? options.long_format : options.format);
  table.add_number("iterate", options.iterate_seconds.value_or(0));
  table.add("long", options.long_output);
  table.add("no_header", options.noheader);
  table.add("node_format", options.node_centric);
  table.add("nodes", options.nodes.empty() ? std::string("n/a") : options.nodes);
  table.add("partition", options.partitions.empty() ? std::string("n/a") : join(options.partitions, ","));
  table.add("responding", options.responding);
  table.add("states", options.states);
  table.add("sort", options.sort);
  table.add("summarize", options.summarize);
  table.add_number("verbose", options.verbose);
  return table;
}

Result<> list_once(Session& session, const SinfoOptions& options, const fields::NodeStateFilter& filter, const os::CliLog& log) {
  if (log.enabled(os::LogLevel::kVerbose)) say_listing(log, settings_of(options), session.conf());
  MUSTER_TRY(rows, fetch(session, options));
  if (log.enabled(os::LogLevel::kVerbose))
    put_error("last_update_time=" + std::to_string(unix_seconds(os::wall_now())) + " records=" + std::to_string(rows.nodes.size()));
  Names names;
  fields::Environment env = print_environment(session.conf(), options, names);
  env.noconvert = options.noconvert;
  const fields::Format<SinfoView> format = format_of(options, rows, log);
  const std::vector<fields::SinfoLine> lines = fields::group_nodes(rows.partitions, rows.nodes, format, grouping_of(options, filter), env);
  std::vector<SinfoView> views;
  for (const fields::SinfoLine& line : lines) views.push_back({line, env});
  const std::vector<uint32_t> order = order_of(options, views, log);
  if (options.data.kind != DataOutput::Kind::kText) {
    put_document(options, views, session.conf());
    return {};
  }
  Out out;
  if (!options.clusters.empty() && !options.noheader) out.line("CLUSTER: " + session.conf().cluster_name);
  if (options.iterate_seconds || (options.long_output && options.format.empty() && options.long_format.empty()))
    out.put(fields::date_line(env.now));
  if (!options.noheader) format.header(out.buffer());
  for (uint32_t i : order) {
    format.row(views[i], out.buffer());
    out.put("");
  }
  return {};
}

Result<> list_reservations(Session& session, const SinfoOptions& options) {
  std::vector<ReservationRow> rows;
  Result<rpc::Empty> done = session.stream(rpc::QueryReservations{}, [&](rpc::ReservationRows&& part) -> Result<> {
    std::ranges::move(part.reservations, std::back_inserter(rows));
    return {};
  });
  if (!done) return std::unexpected(done.error());
  Out out;
  if (options.iterate_seconds || options.long_output) out.put(fields::date_line(os::wall_now()));
  if (rows.empty()) {
    out.line("No reservations in the system");
    return {};
  }
  std::string text;
  fields::list_reservations(rows, !options.noheader, text);
  out.put(text);
  return {};
}

int run(int argc, char** argv) {
  os::CliLog log("sinfo");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SinfoOptions> parse = parse_sinfo(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kSinfo, parse.messages, 1)) return *code;
  const SinfoOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  if (iequals(options.format, "help") || iequals(options.long_format, "help")) {
    Out out;
    out.put(fields::field_help<SinfoView>(false));
    return 0;
  }
  if (auto code = data_parser_asked(options.data, log)) return *code;
  Result<fields::NodeStateFilter> filter = fields::NodeStateFilter::parse(options.states);
  if (!filter) {
    report(log, filter.error());
    return 1;
  }
  for (;;) {
    std::optional<Session> session = find_session(Patience::kNone, options.clusters, log);
    if (!session) return 1;
    Result<> done = options.reservations ? list_reservations(*session, options) : list_once(*session, options, *filter, log);
    if (!done) show_query_error(done.error(), "slurm_load_partitions: ");
    if (!options.iterate_seconds) return done ? 0 : 1;
    sleep(*options.iterate_seconds);
    Out().line("");
  }
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
