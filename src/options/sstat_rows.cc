// sstat's options. sstat(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SstatOptions;

constexpr OptionRow<O> kRows[] = {
    {{.name = "jobs",
      .letter = 'j',
      .arg = Arg::kRequired,
      .arg_name = "job[.step],...",
      .commands = kSstat,
      .section = Section::kFilter,
      .summary = "these jobs or steps",
      .doc = "Jobs and steps with commas, as 12, 12_3, 12.0, 12.batch or a SLUID. Of a job without a step, its lowest numbered step is "
             "shown. The words behind the options are taken alike."},
     q_list<O, &O::jobs>},
    {{.name = "allsteps",
      .letter = 'a',
      .commands = kSstat,
      .section = Section::kFilter,
      .summary = "all steps of a job",
      .doc = "Shows all running steps of a job that is named without a step, the batch script among them."},
     q_flag<O, &O::all_steps>},
    {{.name = "format",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "fields",
      .commands = kSstat,
      .section = Section::kDisplay,
      .summary = "columns, by name",
      .doc = "Names of columns with commas; --helpformat lists them. %N after a name makes it N characters wide, %-N "
             "puts the value to the left."},
     q_text<O, &O::format>},
    {{.name = "fields",
      .arg = Arg::kRequired,
      .arg_name = "fields",
      .commands = kSstat,
      .section = Section::kDisplay,
      .summary = "the same as --format",
      .doc = "The same as --format."},
     q_text<O, &O::format>},
    {{.name = "helpformat",
      .letter = 'e',
      .commands = kSstat,
      .section = Section::kDisplay,
      .summary = "list the columns",
      .doc = "Lists the names that --format takes."},
     q_flag<O, &O::helpformat>},
    {{.name = "pidformat",
      .letter = 'i',
      .commands = kSstat,
      .section = Section::kDisplay,
      .summary = "the processes on each node",
      .doc = "Lists the processes of each step, with a line for each node."},
     q_flag<O, &O::pids>},
    noconvert_row<O>(kSstat),
    MUSTER_PARSABLE_ROWS(O, kSstat),
    verbose_row<O>(kSstat, "Prints what sstat was told."),
    usage_row<O>(kSstat),
    MUSTER_HELP_ROWS(O, kSstat, 'h'),
    MUSTER_CONF_ROWS(O, kSstat),
};
}  // namespace

std::span<const OptionRow<SstatOptions>> sstat_rows() { return kRows; }

}  // namespace muster
