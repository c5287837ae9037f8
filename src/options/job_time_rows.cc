// Options for when the job runs and for how long.
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_time(JobOptions& o, const Given& g) {
  auto t = parse_time_limit(g.value);
  if (!t) return bad_spec(g, "formats: minutes, min:sec, hours:min:sec, days-hours[:min[:sec]], UNLIMITED");
  // Zero asks for no limit, as sbatch(1) says.
  o.request.time_limit_min = t->minutes && *t->minutes != 0 ? *t->minutes : kUnlimited32;
  return {};
}

Result<> set_time_min(JobOptions& o, const Given& g) {
  auto t = parse_time_limit(g.value);
  if (!t) return bad_spec(g, "formats: minutes, min:sec, hours:min:sec, days-hours[:min[:sec]]");
  o.request.time_min_min = t->minutes.value_or(kUnlimited32);
  return {};
}

template <auto Member>
Result<> set_time_point(JobOptions& o, const Given& g) {
  auto t = parse_time_point(g.value, g.now);
  if (!t) return bad_spec(g, std::string(t.error().message()));
  member<Member>(o) = *t;
  return {};
}

Result<> set_delay_boot(JobOptions& o, const Given& g) {
  auto t = parse_time_limit(g.value);
  if (!t || !t->minutes) return bad_spec(g, "expected minutes");
  o.request.delay_boot = minutes(*t->minutes);
  o.request.delay_boot_set = true;
  return {};
}

Result<> set_signal(JobOptions& o, const Given& g) {
  auto s = parse_warn_signal(g.value, g.command == Command::kSbatch);
  if (!s) return bad_spec(g, s.error().text);
  o.request.warn = *s;
  return {};
}

Result<> set_immediate(JobOptions& o, const Given& g) {
  if (!g.has_value) {
    o.request.immediate_seconds = 1;
    return {};
  }
  auto v = parse_number<uint32_t>(g.value, 1);
  if (!v) return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(g.value) + "\" for immediate.");
  o.request.immediate_seconds = *v;
  return {};
}

constexpr JobOptionRow kRows[] = {
    {{.name = "time",
      .letter = 't',
      .arg = Arg::kRequired,
      .arg_name = "time",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_TIMELIMIT", .srun = "SLURM_TIMELIMIT", .salloc = "SALLOC_TIMELIMIT"},
      .section = Section::kTime,
      .summary = "time limit",
      .doc = "How long the job may run: minutes, minutes:seconds, hours:minutes:seconds, days-hours, "
             "days-hours:minutes or days-hours:minutes:seconds. Seconds are rounded up to a minute. Zero asks "
             "for no limit. When the limit is reached, processes get SIGTERM and, after KillWait, SIGKILL."},
     set_time},
    {{.name = "time-min",
      .arg = Arg::kRequired,
      .arg_name = "time",
      .commands = kJobs,
      .section = Section::kTime,
      .summary = "shortest time limit that is still useful",
      .doc = "Lets backfill shorten the limit down to this value when the job can then start earlier."},
     set_time_min},
    {{.name = "begin",
      .letter = 'b',
      .arg = Arg::kRequired,
      .arg_name = "time",
      .commands = kSbatchOnly | kSrunOnly,
      .section = Section::kTime,
      .summary = "do not start before this time",
      .doc = "A clock time (16:00, 4PM, noon, teatime), a date (2026-01-20, 01/20/26, tomorrow), both "
             "(2026-01-20T12:34:00), or a distance such as now+1hour."},
     set_time_point<&AskedRequest::begin>},
    {{.name = "begin",
      .arg = Arg::kRequired,
      .arg_name = "time",
      .commands = kSallocOnly,
      .section = Section::kTime,
      .summary = "do not start before this time",
      .doc = "A clock time (16:00, 4PM, noon, teatime), a date (2026-01-20, 01/20/26, tomorrow), both "
             "(2026-01-20T12:34:00), or a distance such as now+1hour."},
     set_time_point<&AskedRequest::begin>},
    {{.name = "deadline",
      .arg = Arg::kRequired,
      .arg_name = "time",
      .commands = kJobs,
      .section = Section::kTime,
      .summary = "drop the job if it cannot end by then",
      .doc = "Removes the job once it can no longer finish before this time. A time limit must be known. "
             "Formats are those of --begin."},
     set_time_point<&AskedRequest::deadline>},
    {{.name = "immediate",
      .letter = 'I',
      .arg = Arg::kOptional,
      .arg_name = "seconds",
      .commands = kSrunOnly | kSallocOnly,
      .env = {.srun = "SLURM_IMMEDIATE", .salloc = "SALLOC_IMMEDIATE"},
      .section = Section::kTime,
      .summary = "give up if resources are not free in time",
      .doc = "Ends with an error if the resources are not available within so many seconds (1 without a "
             "number). Write the number directly after the letter: -I60."},
     set_immediate},
    {{.name = "signal",
      .arg = Arg::kRequired,
      .arg_name = "[{R|B}:]sig[@seconds]",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_SIGNAL"},
      .section = Section::kTime,
      .summary = "signal before the time limit",
      .doc = "Sends the signal, a name or a number, so many seconds before the end (60 by default; delivery "
             "may be up to 60 s early). B: signals only the batch shell. R: lets the job overlap a "
             "reservation that allows it."},
     set_signal},
    {{.name = "signal",
      .arg = Arg::kRequired,
      .arg_name = "[R:]sig[@seconds]",
      .commands = kSrunOnly | kSallocOnly,
      .env = {.srun = "SLURM_SIGNAL", .salloc = "SALLOC_SIGNAL"},
      .section = Section::kTime,
      .summary = "signal before the time limit",
      .doc = "Sends the signal, a name or a number, so many seconds before the end (60 by default; delivery "
             "may be up to 60 s early). R: lets the job overlap a reservation that allows it."},
     set_signal},
    {{.name = "delay-boot",
      .arg = Arg::kRequired,
      .arg_name = "minutes",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_DELAY_BOOT", .srun = "SLURM_DELAY_BOOT", .salloc = "SALLOC_DELAY_BOOT"},
      .section = Section::kTime,
      .summary = "wait this long before rebooting nodes",
      .doc = "Uses only nodes that already have the wanted features until the job has been eligible for this "
             "long."},
     set_delay_boot},
};
}  // namespace

std::span<const JobOptionRow> job_time_rows() { return kRows; }

}  // namespace muster
