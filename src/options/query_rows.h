// Rows that several query commands have: each is written here once, and the commands' tables name it. What differs between the commands (a
// variable, a sentence) is an argument. Only squeue_rows.cc … step_tool_rows.cc include it.
#pragma once

#include "options/query_setters.h"

namespace muster::options_detail {

inline constexpr CommandSet kSqueue = only(Command::kSqueue), kSinfo = only(Command::kSinfo), kScancel = only(Command::kScancel),
                            kScontrol = only(Command::kScontrol), kSattach = only(Command::kSattach), kSbcast = only(Command::kSbcast),
                            kSacct = only(Command::kSacct), kSacctmgr = only(Command::kSacctmgr), kSwait = only(Command::kSwait),
                            kSshare = only(Command::kSshare), kSprio = only(Command::kSprio), kScrontab = only(Command::kScrontab),
                            kStrigger = only(Command::kStrigger), kSreport = only(Command::kSreport), kSstat = only(Command::kSstat),
                            kSh5util = only(Command::kSh5util);

inline constexpr const char* kNoFederation = "without a federation, as here, this cluster is asked";

// ---- what is selected
template <class R>
constexpr OptionRow<R> all_row(CommandSet commands, const char* variable, const char* doc) {
  return {{.name = "all",
           .letter = 'a',
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kFilter,
           .summary = "hidden partitions too",
           .doc = doc},
          q_all<R>};
}
template <class R>
constexpr OptionRow<R> hide_row(CommandSet commands, const char* doc) {
  return {{.name = "hide", .commands = commands, .section = Section::kFilter, .summary = "no hidden partitions", .doc = doc}, q_hide<R>};
}
template <class R>
constexpr OptionRow<R> future_row(CommandSet commands) {
  return {{.name = "future",
           .letter = 'F',
           .commands = commands,
           .env = {.other = "SCONTROL_FUTURE"},
           .section = Section::kFilter,
           .summary = "nodes in state FUTURE too",
           .doc = "Shows nodes in state FUTURE."},
          q_flag<R, &R::future>};
}

// ---- columns and lines
template <class R>
constexpr OptionRow<R> format_row(CommandSet commands, const char* variable, const char* doc) {
  return {{.name = "format",
           .letter = 'o',
           .arg = Arg::kRequired,
           .arg_name = "format",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kDisplay,
           .summary = "columns, as %[.][width]letter",
           .doc = doc},
          q_text<R, &R::format>};
}
template <class R>
constexpr OptionRow<R> long_format_row(CommandSet commands, const char* variable) {
  return {{.name = "Format",
           .letter = 'O',
           .arg = Arg::kRequired,
           .arg_name = "fields",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kDisplay,
           .summary = "columns, by name",
           .doc = "Field names with commas, each with :[.][-]width and a suffix if wanted."},
          q_text<R, &R::long_format>};
}
// Does the same as -O help.
template <class R>
constexpr OptionRow<R> helpformat_row(CommandSet commands) {
  return {{.name = "helpformat",
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "list the columns",
           .doc = "Lists the names that --Format takes."},
          [](R& o, const Given&) -> Result<> {
            o.long_format = "help";
            return {};
          }};
}
template <class R>
constexpr OptionRow<R> sort_row(CommandSet commands, const char* variable) {
  return {{.name = "sort",
           .letter = 'S',
           .arg = Arg::kRequired,
           .arg_name = "fields",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kDisplay,
           .summary = "order of the lines",
           .doc = "Letters of --format with commas, a minus before one to turn its order around."},
          q_text<R, &R::sort>};
}
template <class R>
constexpr OptionRow<R> noheader_row(CommandSet commands, char letter, const char* summary) {
  return {{.name = "noheader",
           .letter = letter,
           .commands = commands,
           .section = Section::kDisplay,
           .summary = summary,
           .doc = "Leaves out the header."},
          q_flag<R, &R::noheader>};
}
template <class R>
constexpr OptionRow<R> long_row(CommandSet commands) {
  return {{.name = "long",
           .letter = 'l',
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "more columns",
           .doc = "A wider set of columns, and the time of the query."},
          q_flag<R, &R::long_output>};
}
template <class R>
constexpr OptionRow<R> noconvert_row(CommandSet commands) {
  return {{.name = "noconvert",
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "sizes in their own unit",
           .doc = "2048M stays 2048M and does not become 2G."},
          q_flag<R, &R::noconvert>};
}
template <class R>
constexpr OptionRow<R> iterate_row(CommandSet commands) {
  return {{.name = "iterate",
           .letter = 'i',
           .arg = Arg::kRequired,
           .arg_name = "seconds",
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "again every so many seconds",
           .doc = "Repeats the listing until stopped."},
          q_iterate<R>};
}
// Not an option but an environment variable.
template <class R>
constexpr OptionRow<R> array_text_row(CommandSet commands) {
  return {{.commands = commands,
           .env = {.other = "SLURM_BITSTR_LEN"},
           .doc = "Length of the text for an array's pending tasks; 64 by default, 0 for all of it."},
          q_count<R, &R::array_text_length>};
}

// ---- tables of accounting
template <class R>
constexpr OptionRow<R> parsable_row(CommandSet commands) {
  return {{.name = "parsable",
           .letter = 'p',
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "| after each value",
           .doc = "Values are separated by |, and one stands at the end of the line."},
          q_value<R, &R::form, SacctOptions::Form::kParsable>};
}
template <class R>
constexpr OptionRow<R> parsable2_row(CommandSet commands) {
  return {{.name = "parsable2",
           .letter = 'P',
           .commands = commands,
           .section = Section::kDisplay,
           .summary = "| between values",
           .doc = "Values are separated by |, with none at the end of the line."},
          q_value<R, &R::form, SacctOptions::Form::kParsable2>};
}
#define MUSTER_PARSABLE_ROWS(R, SET) noheader_row<R>(SET, 'n', "no header lines"), parsable_row<R>(SET), parsable2_row<R>(SET)

// ---- documents
template <class R, DataOutput::Kind Kind>
constexpr OptionRow<R> data_row(CommandSet commands, const char* name, const char* summary, const char* doc) {
  return {{.name = name,
           .arg = Arg::kOptional,
           .arg_name = "list|parser",
           .commands = commands,
           .section = Section::kDisplay,
           .summary = summary,
           .doc = doc},
          q_data<R, Kind>};
}
template <class R, auto Member>
constexpr OptionRow<R> variable_row(CommandSet commands, const char* name, const char* doc) {
  return {{.commands = commands, .env = {.other = name}, .doc = doc}, q_text<R, Member>};
}
#define MUSTER_DATA_STYLE_ROWS(R, SET)                                           \
  variable_row<R, &R::json_style>(SET, "SLURM_JSON", "compact or pretty JSON."), \
      variable_row<R, &R::yaml_style>(SET, "SLURM_YAML", "compact or pretty YAML.")
#define MUSTER_DATA_ROWS(R, SET)                                                                                                           \
  data_row<R, DataOutput::Kind::kJson>(SET, "json", "print JSON", "Prints all fields as JSON; 'list' prints the data parsers there are."), \
      data_row<R, DataOutput::Kind::kYaml>(SET, "yaml", "print YAML",                                                                      \
                                           "Prints all fields as YAML; 'list' prints the data parsers there are."),                        \
      MUSTER_DATA_STYLE_ROWS(R, SET),                                                                                                      \
      variable_row<R, &R::time_format>(SET, "SLURM_TIME_FORMAT", "How times are printed: standard, relative, or a strftime format.")

// ---- clusters
template <class R>
constexpr OptionRow<R> clusters_row(CommandSet commands) {
  return {{.name = "clusters",
           .letter = 'M',
           .arg = Arg::kRequired,
           .arg_name = "names",
           .commands = commands,
           .env = {.other = "SLURM_CLUSTERS"},
           .section = Section::kSites,
           .summary = "ask these clusters",
           .doc = "Cluster names with commas. The default is the cluster of the configuration."},
          q_text<R, &R::clusters>};
}
template <class R>
constexpr OptionRow<R> cluster_row(CommandSet commands) {
  return {{.name = "clusters",
           .letter = 'M',
           .arg = Arg::kRequired,
           .arg_name = "name",
           .commands = commands,
           .env = {.other = "SLURM_CLUSTERS"},
           .section = Section::kSites,
           .summary = "ask this cluster",
           .doc = "The default is the cluster of the configuration."},
          q_text<R, &R::clusters>};
}
template <class R>
constexpr OptionRow<R> local_row(CommandSet commands, const char* variable, const char* doc) {
  return {{.name = "local",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kSites,
           .summary = "only this cluster",
           .doc = doc},
          q_flag<R, &R::local>};
}
template <class R>
constexpr OptionRow<R> federation_row(CommandSet commands, const char* variable, const char* doc, const char* note = kNoFederation) {
  return {{.name = "federation",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kSites,
           .summary = "all clusters of the federation",
           .doc = doc,
           .note = note,
           .needs = "federation"},
          q_flag<R, &R::federation>};
}
template <class R>
constexpr OptionRow<R> sibling_row(CommandSet commands, const char* variable, const char* doc) {
  return {{.name = "sibling",
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kSites,
           .summary = "every sibling of federated jobs",
           .doc = doc,
           .note = kNoFederation,
           .needs = "federation"},
          q_flag<R, &R::sibling>};
}

// ---- options that every command has
template <class R>
constexpr OptionRow<R> quiet_row(CommandSet commands) {
  return {{.name = "quiet",
           .letter = 'Q',
           .commands = commands,
           .section = Section::kHelp,
           .summary = "print only errors",
           .doc = "Leaves out all messages but errors."},
          q_flag<R, &R::quiet>};
}
template <class R>
constexpr OptionRow<R> verbose_row(CommandSet commands, const char* doc, const char* variable = nullptr) {
  return {{.name = "verbose",
           .letter = 'v',
           .commands = commands,
           .env = {.other = variable},
           .section = Section::kHelp,
           .summary = "say more",
           .doc = doc},
          q_verbose<R>};
}
template <class R>
constexpr OptionRow<R> usage_row(CommandSet commands, char letter = 0, bool hidden = false) {
  return {{.name = "usage",
           .letter = letter,
           .commands = commands,
           .section = Section::kHelp,
           .summary = "print a short summary",
           .doc = "Prints a summary of the command line and ends.",
           .hidden = hidden},
          q_flag<R, &R::usage>};
}
template <class R>
constexpr OptionRow<R> help_row(CommandSet commands, char letter) {
  return {{.name = "help",
           .letter = letter,
           .commands = commands,
           .section = Section::kHelp,
           .summary = "print this help",
           .doc = "Prints the options and ends."},
          q_flag<R, &R::help>};
}
template <class R>
constexpr OptionRow<R> version_row(CommandSet commands) {
  return {{.name = "version",
           .letter = 'V',
           .commands = commands,
           .section = Section::kHelp,
           .summary = "print the version",
           .doc = "Prints the version and ends."},
          q_flag<R, &R::version>};
}
#define MUSTER_HELP_ROWS(R, SET, HELP_LETTER) help_row<R>(SET, HELP_LETTER), version_row<R>(SET)
#define MUSTER_CONF_ROWS(R, SET)                                                                                \
  OptionRow<R>{{.commands = SET, .env = {.other = "SLURM_CONF"}, .doc = "Where slurm.conf is."}, q_nothing<R>}, \
      variable_row<R, &R::debug_flags>(SET, "SLURM_DEBUG_FLAGS", "Debug flags of the command itself; they take the place of DebugFlags.")

}  // namespace muster::options_detail
