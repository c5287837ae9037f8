// sreport's options; its reports and their words are in cli/. sreport(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SreportOptions;

constexpr OptionRow<O> kRows[] = {
    {{.name = "all_clusters",
      .letter = 'a',
      .commands = kSreport,
      .section = Section::kSites,
      .summary = "all clusters",
      .doc = "Reports of all clusters that the database knows, not only of the one of the configuration."},
     q_flag<O, &O::all_clusters>},
    {{.name = "cluster",
      .letter = 'M',
      .arg = Arg::kRequired,
      .arg_name = "names",
      .commands = kSreport,
      .env = {.other = "SREPORT_CLUSTER"},
      .section = Section::kSites,
      .summary = "these clusters",
      .doc = "Cluster names with commas. The default is the cluster of the configuration."},
     q_text<O, &O::clusters>},
    federation_row<O>(kSreport, "SREPORT_FEDERATION", "Reports of all clusters of the federation."),
    local_row<O>(kSreport, "SREPORT_LOCAL", "Reports of the cluster of the configuration, whatever federation it is in."),
    {{.name = "tres",
      .letter = 'T',
      .arg = Arg::kRequired,
      .arg_name = "tres",
      .commands = kSreport,
      .env = {.other = "SREPORT_TRES"},
      .section = Section::kFilter,
      .summary = "what is counted: cpu, mem, gres/gpu ...",
      .doc =
          "Names of TRES with commas, or ALL. The default is cpu; of reservations it is all that they reserve. Reports of jobs take one."},
     q_text<O, &O::tres>},
    MUSTER_PARSABLE_ROWS(O, kSreport),
    {{.name = "time",
      .letter = 't',
      .arg = Arg::kRequired,
      .arg_name = "format",
      .commands = kSreport,
      .section = Section::kDisplay,
      .summary = "unit of usage: Seconds, Minutes, Hours, Percent, …",
      .doc = "The unit of usage: Seconds, Minutes, Hours or Percent, or an amount with its share: SecPer, MinPer, HourPer. In any letter "
             "case; it may be shortened. The default is Minutes."},
     q_text<O, &O::report_time>},
    data_row<O, DataOutput::Kind::kJson>(
        kSreport, "json", "print JSON", "Prints the report as JSON, with usage in TRES-seconds; 'list' prints the data parsers there are."),
    data_row<O, DataOutput::Kind::kYaml>(
        kSreport, "yaml", "print YAML", "Prints the report as YAML, with usage in TRES-seconds; 'list' prints the data parsers there are."),
    MUSTER_DATA_STYLE_ROWS(O, kSreport),
    quiet_row<O>(kSreport),
    verbose_row<O>(kSreport, "Prints what sreport does."),
    usage_row<O>(kSreport, 0, true),
    MUSTER_HELP_ROWS(O, kSreport, 'h'),
    MUSTER_CONF_ROWS(O, kSreport),
};
}  // namespace

std::span<const OptionRow<SreportOptions>> sreport_rows() { return kRows; }

}  // namespace muster
