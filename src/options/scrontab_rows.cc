// scrontab's options. scrontab(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = ScrontabOptions;

template <O::Action Value>
constexpr OptionRow<O> action_row(const char* name, char letter, const char* summary, const char* doc) {
  return {{.name = name, .letter = letter, .commands = kScrontab, .section = Section::kFilter, .summary = summary, .doc = doc},
          q_value<O, &O::action, Value>};
}

constexpr OptionRow<O> kRows[] = {
    action_row<O::Action::kEdit>(
        "edit", 'e', "edit the crontab",
        "Opens the crontab, or an example where there is none, in $VISUAL or $EDITOR, and installs what is saved."),
    action_row<O::Action::kList>("list", 'l', "print the crontab", "Prints the crontab as it is."),
    action_row<O::Action::kRemove>("remove", 'r', "remove the crontab",
                                   "Removes the crontab. Jobs of it that wait are cancelled; those that run go on and do not come again."),
    {{.name = "user",
      .letter = 'u',
      .arg = Arg::kRequired,
      .arg_name = "user",
      .commands = kScrontab,
      .section = Section::kFilter,
      .summary = "another user's crontab",
      .doc = "Operators may list the crontab of another user; root and SlurmUser may change it."},
     q_text<O, &O::user>},
    verbose_row<O>(kScrontab, "Prints the numbers of the jobs."),
    usage_row<O>(kScrontab),
    MUSTER_HELP_ROWS(O, kScrontab, 'h'),
    {{.commands = kScrontab, .env = {.other = "SLURM_CONF"}, .doc = "Where slurm.conf is."}, q_nothing<O>},
    variable_row<O, &O::debug_flags>(kScrontab, "SLURM_DEBUG_FLAGS",
                                     "Debug flags of the command itself; they take the place of DebugFlags."),
};
}  // namespace

std::span<const OptionRow<ScrontabOptions>> scrontab_rows() { return kRows; }

}  // namespace muster
