// swait's options. swait(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SwaitOptions;

Result<> set_timeout(O& o, const Given& g) {
  auto seconds = parse_number<uint32_t>(g.value, 0, 0x7fffffff);
  if (!seconds)
    return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(g.value) + "\" for --timeout.",
                "expected seconds; 0: as long as it takes");
  o.timeout_seconds = *seconds;
  return {};
}

constexpr OptionRow<O> kRows[] = {
    {{.name = "timeout",
      .arg = Arg::kRequired,
      .arg_name = "seconds",
      .commands = kSwait,
      .section = Section::kFilter,
      .summary = "wait so long at most",
      .doc = "Ends with exit code 1 when steps are still there after so many seconds. 0, or no such option: as long as it takes."},
     set_timeout},
    quiet_row<O>(kSwait),
    verbose_row<O>(kSwait, "Prints what swait does. Not with --quiet."),
    usage_row<O>(kSwait),
    MUSTER_HELP_ROWS(O, kSwait, 'h'),
    {{.commands = kSwait, .env = {.other = "SLURM_CONF"}, .doc = "Where slurm.conf is."}, q_nothing<O>},
    {{.commands = kSwait, .env = {.other = "SLURM_JOB_SLUID|SLURM_JOB_ID"}, .doc = "The job to wait for when none is named."},
     q_text<O, &O::job_in_environment>},
};
}  // namespace

std::span<const OptionRow<SwaitOptions>> swait_rows() { return kRows; }

}  // namespace muster
