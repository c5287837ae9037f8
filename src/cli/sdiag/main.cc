// sdiag: what the controller counted of its own work. sdiag(1).
#include <getopt.h>

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

constexpr int kUsageOnly = 256, kJson = 257, kYaml = 258, kNoTrunc = 259;
constexpr option kOptions[] = {{"all", no_argument, nullptr, 'a'},
                               {"reset", no_argument, nullptr, 'r'},
                               {"sort-by-id", no_argument, nullptr, 'i'},
                               {"sort-by-time", no_argument, nullptr, 't'},
                               {"sort-by-time2", no_argument, nullptr, 'T'},
                               {"cluster", required_argument, nullptr, 'M'},
                               {"json", optional_argument, nullptr, kJson},
                               {"yaml", optional_argument, nullptr, kYaml},
                               {"no-trunc", no_argument, nullptr, kNoTrunc},
                               {"version", no_argument, nullptr, 'V'},
                               {"help", no_argument, nullptr, 'h'},
                               {"usage", no_argument, nullptr, kUsageOnly},
                               {}};

// The exit code where the arguments leave nothing to ask; nullopt: go on with `asked`.
std::optional<int> read_arguments(int argc, char** argv, Asked& asked) {
  opterr = 0;
  for (int at = optind, found; (found = getopt_long(argc, argv, ":artiTM:Vh", kOptions, nullptr)) != -1; at = optind) {
    switch (found) {
      case 'a':
      case kNoTrunc: break;  // everything is shown, and lines are not truncated
      case 'r': asked.reset = true; break;
      case 'i': asked.order = CallOrder::kById; break;
      case 't': asked.order = CallOrder::kByTotalTime; break;
      case 'T': asked.order = CallOrder::kByMeanTime; break;
      case 'M': asked.cluster = optarg; break;
      case kJson: asked.data = {DataOutput::Kind::kJson, optarg ? optarg : ""}; break;
      case kYaml: asked.data = {DataOutput::Kind::kYaml, optarg ? optarg : ""}; break;
      case 'V': return Out().line(kVersionText), 0;
      case 'h': return Out().put(kUsage), 0;
      case kUsageOnly:
        return Out().line("Usage: sdiag [-aritTV] [-M cluster] [--all] [--reset] [--json] [--yaml] [--sort-by-id] [--sort-by-time] "
                          "[--sort-by-time2]"),
               0;
      case ':': return wrong("option '" + std::string(argv[optind - 1]) + "' requires an argument; sdiag --help lists the options");
      default: return wrong("unrecognized option '" + std::string(argv[at]) + "'; sdiag --help lists them");
    }
  }
  if (optind < argc) return wrong("unrecognized option '" + std::string(argv[optind]) + "'; sdiag --help lists them");
  return std::nullopt;
}

int run(int argc, char** argv) {
  Asked asked;
  const char* clusters = getenv("SLURM_CLUSTERS");
  if (clusters) asked.cluster = clusters;
  if (auto code = read_arguments(argc, argv, asked)) return *code;
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
