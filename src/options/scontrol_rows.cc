// scontrol's global options; its commands are in cli/. scontrol(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = ScontrolOptions;

constexpr OptionRow<O> kRows[] = {
    all_row<O>(kScontrol, "SCONTROL_ALL", "Shows hidden partitions and those you may not use."),
    hide_row<O>(kScontrol, "Leaves out hidden partitions; this is the default."),
    future_row<O>(kScontrol),
    {{.name = "details",
      .letter = 'd',
      .commands = kScontrol,
      .section = Section::kDisplay,
      .summary = "more about each",
      .doc = "Makes 'show' print more, such as the CPUs and devices of a job on each node."},
     q_flag<O, &O::details>},
    {{.name = "oneliner",
      .letter = 'o',
      .commands = kScontrol,
      .section = Section::kDisplay,
      .summary = "one line for each record",
      .doc = "Prints each record on one line."},
     q_flag<O, &O::oneliner>},
    MUSTER_DATA_ROWS(O, kScontrol),
    {{.name = "uid",
      .letter = 'u',
      .arg = Arg::kRequired,
      .arg_name = "user",
      .commands = kScontrol,
      .section = Section::kSites,
      .summary = "update jobs as this user",
      .doc = "A user's name or number. For root."},
     q_text<O, &O::uid_text>},
    cluster_row<O>(kScontrol),
    local_row<O>(kScontrol, "SCONTROL_LOCAL", "Shows only this cluster's jobs, also in a federation."),
    federation_row<O>(kScontrol, "SCONTROL_FEDERATION", "Shows the jobs of all clusters of a federation."),
    sibling_row<O>(kScontrol, "SCONTROL_SIBLING", "Shows all sibling jobs of a federation."),
    quiet_row<O>(kScontrol),
    verbose_row<O>(kScontrol, "Prints what scontrol does."),
    usage_row<O>(kScontrol),
    MUSTER_HELP_ROWS(O, kScontrol, 'h'),
    MUSTER_CONF_ROWS(O, kScontrol),
    {{.commands = kScontrol, .env = {.other = "SLURM_CONF_OUT"}, .doc = "Where 'write config' writes."}, q_text<O, &O::conf_out>},
    array_text_row<O>(kScontrol),
    {{.commands = kScontrol, .env = {.other = "SLURM_TOPO_LEN"}, .doc = "Longest line of 'show topology'."},
     q_count<O, &O::topology_length>},
};
}  // namespace

std::span<const OptionRow<ScontrolOptions>> scontrol_rows() { return kRows; }

}  // namespace muster
