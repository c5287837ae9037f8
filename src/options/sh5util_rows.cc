// sh5util's options. sh5util(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = Sh5utilOptions;
using enum O::Action;

template <O::Action What>
Result<> set_action(O& o, const Given&) {
  o.action = What;
  return {};
}

// Task_3 is one task; Tasks is an older spelling of Task.
bool is_series(std::string_view name) {
  for (std::string_view known : {"Energy", "Filesystem", "Network", "Task", "Tasks"})
    if (iequals(name, known)) return true;
  return istarts_with(name, "Task_") && parse_number<uint32_t>(name.substr(5));
}

Result<> set_series(O& o, const Given& g) {
  if (!is_series(g.value))
    return fail(Errc::kInvalidReq, "Bad value for --series=\"" + std::string(g.value) + "\"",
                "known: Energy, Filesystem, Network, Task, Task_#");
  o.series = g.value;
  return {};
}

Result<> set_level(O& o, const Given& g) {
  if (!iequals(g.value, "Node:Totals") && !iequals(g.value, "Node:TimeSeries"))
    return fail(Errc::kInvalidReq, "Bad value for --level=\"" + std::string(g.value) + "\"", "known: Node:Totals, Node:TimeSeries");
  o.time_series = iequals(g.value, "Node:TimeSeries");
  return {};
}

constexpr OptionRow<O> kRows[] = {
    {{.name = "jobs",
      .letter = 'j',
      .arg = Arg::kRequired,
      .arg_name = "job[.step],...",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "the job, or steps of it",
      .doc =
          "The job whose profiles are meant, by its own number (JobIDRaw of sacct), or steps of it with commas, as 12.0,12.batch. Without "
          "a step, all of them. Always needed."},
     q_text<O, &O::jobs>},
    {{.name = "extract",
      .letter = 'E',
      .commands = kSh5util,
      .section = Section::kDisplay,
      .summary = "write series of a job file",
      .doc = "Writes tables of a job file as comma separated values."},
     set_action<kExtract>},
    {{.name = "item-extract",
      .letter = 'I',
      .commands = kSh5util,
      .section = Section::kDisplay,
      .summary = "write one item of all samples",
      .doc =
          "Writes one column of a series as comma separated values, with a line for each sample: the least and the most with their nodes, "
          "the sum, the average, and each value. Prints the sample at which each step's sum was highest. Needs --series and --data."},
     set_action<kItemExtract>},
    {{.name = "list",
      .letter = 'L',
      .commands = kSh5util,
      .section = Section::kDisplay,
      .summary = "print the items of a series",
      .doc = "Prints the names of the columns that a series of a job file has. Needs --series."},
     set_action<kList>},
    {{.name = "series",
      .letter = 's',
      .arg = Arg::kRequired,
      .arg_name = "name",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "Energy, Filesystem, Network, Task, Task_#",
      .doc =
          "The series that is meant: Energy, Filesystem, Network, Task (of all tasks) or Task_3 (of one). --extract takes all without it."},
     set_series},
    {{.name = "data",
      .letter = 'd',
      .arg = Arg::kRequired,
      .arg_name = "item",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "the item of the series",
      .doc = "The column for --item-extract, by the name that --list prints or the long one: CPU_Utilization, VM_Size, Read_Megabytes, "
             "Write_Megabytes and others."},
     q_text<O, &O::data>},
    {{.name = "level",
      .letter = 'l',
      .arg = Arg::kRequired,
      .arg_name = "Node:Totals|Node:TimeSeries",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "a line for each series, or each sample",
      .doc = "Node:Totals, the default of --extract: a line for each series with the least, the most, the sum and the average of each "
             "column. Node:TimeSeries: all samples."},
     set_level},
    {{.name = "node",
      .letter = 'N',
      .arg = Arg::kRequired,
      .arg_name = "name",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "of this node alone",
      .doc = "With --extract: only what this node recorded. Without it, all nodes."},
     q_text<O, &O::node>},
    {{.name = "input",
      .letter = 'i',
      .arg = Arg::kRequired,
      .arg_name = "path",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "the job file to read",
      .doc = "The job file for --extract, --item-extract and --list. Default: ./job_JOB.h5."},
     q_text<O, &O::input>},
    {{.name = "output",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "path",
      .commands = kSh5util,
      .section = Section::kDisplay,
      .summary = "the file to write",
      .doc =
          "Where the result goes. Defaults: ./job_JOB.h5, with --extract ./extract_JOB.csv, with --item-extract ./SERIES_ITEM_JOB.csv. A "
          "file of that name is replaced when the new one is complete."},
     q_text<O, &O::output>},
    {{.name = "profiledir",
      .letter = 'p',
      .arg = Arg::kRequired,
      .arg_name = "dir",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "where nodes have recorded",
      .doc = "The folder of the recordings, with a folder for each user in it. Default: ProfileHDF5Dir of acct_gather.conf."},
     q_text<O, &O::profile_directory>},
    {{.name = "savefiles",
      .letter = 'S',
      .commands = kSh5util,
      .section = Section::kDisplay,
      .summary = "keep the recordings",
      .doc = "Leaves the recordings where they are after they were merged."},
     q_flag<O, &O::save_files>},
    {{.name = "user",
      .arg = Arg::kRequired,
      .arg_name = "name",
      .commands = kSh5util,
      .section = Section::kFilter,
      .summary = "whose job it is",
      .doc = "The user whose job it is, for root. Default: who runs sh5util."},
     q_text<O, &O::user>},
    usage_row<O>(kSh5util),
    MUSTER_HELP_ROWS(O, kSh5util, 'h'),
    {{.commands = kSh5util, .env = {.other = "SLURM_CONF"}, .doc = "Where slurm.conf is, beside which acct_gather.conf stands."},
     q_nothing<O>},
};
}  // namespace

std::span<const OptionRow<Sh5utilOptions>> sh5util_rows() { return kRows; }

}  // namespace muster
