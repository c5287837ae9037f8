// sprio's options. sprio(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SprioOptions;

constexpr OptionRow<O> kRows[] = {
    {{.name = "jobs",
      .letter = 'j',
      .arg = Arg::kOptional,
      .arg_name = "ids",
      .commands = kSprio,
      .section = Section::kFilter,
      .summary = "these jobs",
      .doc = "Job ids or SLUIDs with commas; without them all jobs. A list as the next word is understood, too."},
     q_list<O, &O::jobs>},
    {{.name = "partition",
      .letter = 'p',
      .arg = Arg::kRequired,
      .arg_name = "partitions",
      .commands = kSprio,
      .section = Section::kFilter,
      .summary = "priorities in these partitions",
      .doc = "Partition names with commas."},
     q_list<O, &O::partitions>},
    {{.name = "user",
      .letter = 'u',
      .arg = Arg::kRequired,
      .arg_name = "users",
      .commands = kSprio,
      .section = Section::kFilter,
      .summary = "jobs of these users",
      .doc = "User names or numbers with commas."},
     q_list<O, &O::users>},
    format_row<O>(kSprio, "SPRIO_FORMAT",
                  "Each column is a percent sign, a dot to align right, a width and a letter, as in '%.15i %9r %.10Y'."),
    sort_row<O>(kSprio, nullptr),
    noheader_row<O>(kSprio, 'h', "no header line"),
    {{.name = "long",
      .letter = 'l',
      .commands = kSprio,
      .section = Section::kDisplay,
      .summary = "more columns",
      .doc = "User, account, QOS and nice value, too."},
     q_flag<O, &O::long_output>},
    {{.name = "norm",
      .letter = 'n',
      .commands = kSprio,
      .section = Section::kDisplay,
      .summary = "factors before they are weighted",
      .doc = "Shows each factor as a number from 0 to 1, and the priority as part of the highest there can be."},
     q_flag<O, &O::normalized>},
    {{.name = "weights",
      .letter = 'w',
      .commands = kSprio,
      .section = Section::kDisplay,
      .summary = "the weights, and no jobs",
      .doc = "Shows the configured weight of each factor."},
     q_flag<O, &O::weights>},
    cluster_row<O>(kSprio),
    local_row<O>(kSprio, "SPRIO_LOCAL", "Shows only this cluster's jobs, also in a federation."),
    federation_row<O>(kSprio, "SPRIO_FEDERATION",
                      "Shows the jobs of all clusters of a federation that this cluster is a member of. Without one, this cluster's."),
    sibling_row<O>(kSprio, "SPRIO_SIBLING", "Shows all sibling jobs of a federation. Without one, this cluster's jobs."),
    verbose_row<O>(kSprio, "Prints what sprio was told."),
    usage_row<O>(kSprio),
    MUSTER_HELP_ROWS(O, kSprio, 0),
    MUSTER_CONF_ROWS(O, kSprio),
};
}  // namespace

std::span<const OptionRow<SprioOptions>> sprio_rows() { return kRows; }

}  // namespace muster
