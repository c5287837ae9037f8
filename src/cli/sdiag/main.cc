// sdiag: what the controller counted of its own work. sdiag(1).
#include "cli/common/command.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/common/version.h"
#include "cli/sdiag/report.h"
#include "fields/json_statistics.h"
#include "os/users.h"

namespace muster::cli {
namespace {

constexpr std::string_view kUsage = R"(Usage: sdiag [OPTIONS]
  -a, --all           every counter and statistic (the default)
  -r, --reset         set the counters to 0; for operators
  -M, --cluster=NAME  ask this cluster
  -i, --sort-by-id    order calls by the number of the message or user
  -t, --sort-by-time  order calls by total time
  -T, --sort-by-time2 order calls by mean time
  --json[=PARSER]     all of it as JSON
  --yaml[=PARSER]     all of it as YAML
  -V, --version       print the version

Help options:
  --help              print this
  --usage             print the names of the options
)";

struct Asked {
  bool reset = false;
  CallOrder order = CallOrder::kByCount;
  std::string cluster;
  DataOutput data;
};

// Reads "--json" or "--yaml=v0.0.44".
std::optional<DataOutput> data_output(std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  if (name != "--json" && name != "--yaml") return std::nullopt;
  std::string parser(name.size() == word.size() ? std::string_view() : word.substr(name.size() + 1));
  return DataOutput{name == "--json" ? DataOutput::Kind::kJson : DataOutput::Kind::kYaml, std::move(parser)};
}

// Prints the same figures as data, in the styles that the variables of the manual page ask for.
void put_data(const Asked& asked, const rpc::Statistics& s, const ClientConf& conf, Names& names) {
  QueryCommon options;
  if (const char* style = getenv("SLURM_JSON")) options.json_style = style;
  if (const char* style = getenv("SLURM_YAML")) options.yaml_style = style;
  Out out;
  Document document(asked.data, options, "statistics", conf, out);
  fields::json_statistics(
      s, [&](Uid u) { return names.user(u); }, document.sink());
}

int wrong(const std::string& line) {
  Out err;
  os::CliLog("sdiag").error("{}", line);
  return 1;
}

// The exit code where the arguments leave nothing to ask; nullopt: go on with `asked`.
std::optional<int> read_arguments(const std::vector<std::string>& arguments, Asked& asked) {
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    auto is = [&](std::string_view letter, std::string_view name) { return argument == letter || argument == name; };
    if (is("-V", "--version")) return Out().line(kVersionText), 0;
    if (is("-h", "--help")) return Out().put(kUsage), 0;
    if (argument == "--usage")
      return Out().line("Usage: sdiag [-aritTV] [-M cluster] [--all] [--reset] [--json] [--yaml] [--sort-by-id] [--sort-by-time] "
                        "[--sort-by-time2]"),
             0;
    if (is("-a", "--all") || argument == "--no-trunc") continue;  // lines are not truncated
    if (is("-r", "--reset")) asked.reset = true;
    else if (is("-i", "--sort-by-id")) asked.order = CallOrder::kById;
    else if (is("-t", "--sort-by-time")) asked.order = CallOrder::kByTotalTime;
    else if (is("-T", "--sort-by-time2")) asked.order = CallOrder::kByMeanTime;
    else if (argument.starts_with("--cluster=")) asked.cluster = argument.substr(10);
    else if (is("-M", "--cluster") && index + 1 < arguments.size()) asked.cluster = arguments[++index];
    else if (std::optional<DataOutput> data = data_output(argument)) asked.data = std::move(*data);
    else return wrong("unrecognized option '" + argument + "'; sdiag --help lists them");
  }
  return std::nullopt;
}

int run(int argc, char** argv) {
  Asked asked;
  const char* clusters = getenv("SLURM_CLUSTERS");
  if (clusters) asked.cluster = clusters;
  if (auto code = read_arguments(arguments_of(argc, argv), asked)) return *code;
  os::CliLog log("sdiag");
  if (auto code = data_parser_asked(asked.data, log)) return *code;
  Result<Session> session = Session::find(Patience::kNone);
  if (!session) {
    report(log, session.error());
    return 1;
  }
  if (Result<> ok = asked.cluster.empty() ? Result<>() : check_clusters(session->conf(), asked.cluster); !ok) {
    report(log, ok.error());
    return 1;
  }
  rpc::QueryStatistics query;
  query.reset = asked.reset;
  Result<rpc::Statistics> s = session->call(query);
  if (!s) {
    show_query_error(s.error(), asked.reset ? "slurm_reset_statistics: " : "slurm_get_statistics: ");
    return 1;
  }
  Names names;
  if (asked.reset) Out().line("Reset scheduling statistics");
  else if (asked.data.kind != DataOutput::Kind::kText) put_data(asked, *s, session->conf(), names);
  else Out().put(statistics_text(*s, asked.order, [&](Uid u) { return names.user(u); }));
  return 0;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
