// sacctmgr's global options; its commands are in cli/. sacctmgr(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SacctmgrOptions;

constexpr OptionRow<O> kRows[] = {
    {{.name = "immediate",
      .letter = 'i',
      .commands = kSacctmgr,
      .section = Section::kFilter,
      .summary = "do it without asking",
      .doc = "Changes are made at once; nobody is asked."},
     q_flag<O, &O::immediate>},
    {{.name = "readonly",
      .letter = 'r',
      .commands = kSacctmgr,
      .section = Section::kFilter,
      .summary = "change nothing",
      .doc = "Commands that change something are refused."},
     q_flag<O, &O::readonly>},
    {{.name = "associations",
      .letter = 's',
      .commands = kSacctmgr,
      .section = Section::kDisplay,
      .summary = "associations too",
      .doc = "Shows the associations of what is shown."},
     q_flag<O, &O::associations>},
    MUSTER_PARSABLE_ROWS(O, kSacctmgr),
    {{.name = "format",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "fields",
      .commands = kSacctmgr,
      .section = Section::kDisplay,
      .summary = "columns, by name",
      .doc = "Names of columns with commas, as format= of show takes them."},
     q_text<O, &O::format>},
    {{.name = "oneliner",
      .commands = kSacctmgr,
      .section = Section::kDisplay,
      .summary = "a line for each record",
      .doc = "Every record is one line, with this option and without it.",
      .hidden = true},
     q_nothing<O>},
    {{.name = "quiet",
      .letter = 'Q',
      .commands = kSacctmgr,
      .section = Section::kHelp,
      .summary = "errors only",
      .doc = "Prints no messages but errors."},
     q_flag<O, &O::quiet>},
    verbose_row<O>(kSacctmgr, "Prints what sacctmgr does."),
    usage_row<O>(kSacctmgr, 0, true),
    data_row<O, DataOutput::Kind::kJson>(kSacctmgr, "json", "print JSON",
                                         "Prints all that list, show and ping say as JSON; columns are not chosen. 'list' prints the data "
                                         "parsers there are. Commands that change something refuse it."),
    data_row<O, DataOutput::Kind::kYaml>(kSacctmgr, "yaml", "print YAML",
                                         "Prints all that list, show and ping say as YAML; columns are not chosen. 'list' prints the data "
                                         "parsers there are. Commands that change something refuse it."),
    MUSTER_HELP_ROWS(O, kSacctmgr, 'h'),
    MUSTER_CONF_ROWS(O, kSacctmgr),
    MUSTER_DATA_STYLE_ROWS(O, kSacctmgr),
};
}  // namespace

std::span<const OptionRow<SacctmgrOptions>> sacctmgr_rows() { return kRows; }

}  // namespace muster
