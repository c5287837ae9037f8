// Options for the identity of the job and how it is charged and queued: name, account, QOS, dependency, priority.
#include "model/dependency.h"
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_job_name(JobOptions& o, const Given& g) {
  // Inside a job SLURM_JOB_NAME is the job's own name, not what the user wants a step to be called.
  if (g.source == Source::kEnvironment && g.command == Command::kSrun && g.in_allocation) return {};
  o.request.name = std::string(g.value);
  return {};
}

Result<> set_partition(JobOptions& o, const Given& g) {
  o.request.partitions.clear();
  for (std::string_view p : split(g.value, ',')) o.request.partitions.emplace_back(trim(p));
  return {};
}

Result<> set_dependency(JobOptions& o, const Given& g) {
  // The text is kept; the controller, which knows the jobs, reads it again.
  MUSTER_TRY(checked, parse_dependencies(g.value));
  static_cast<void>(checked);
  o.request.dependency = std::string(g.value);
  return {};
}

Result<> set_kill_on_invalid_dep(JobOptions& o, const Given& g) {
  auto yes = parse_yes_no(g.value);
  if (!yes) return bad_spec(g, "expected yes or no");
  o.request.kill_on_invalid_dependency = *yes;
  o.request.kill_on_invalid_dependency_set = true;
  return {};
}

Result<> set_nice(JobOptions& options, const Given& given) {
  constexpr int64_t kMax = 2147483645;
  if (!given.has_value) {
    options.request.nice = 100;
    return {};
  }
  std::string_view text = given.value.starts_with('+') ? given.value.substr(1) : given.value;
  auto v = parse_number<int64_t>(text);
  if (!v) return bad_number(given);
  if (*v > kMax || *v < -kMax) return fail(Errc::kInvalidReq, "Invalid --nice value, out of range (+/- 2147483645)");
  options.request.nice = static_cast<int32_t>(*v);
  return {};
}

Result<> set_priority(JobOptions& o, const Given& g) {
  if (iequals(g.value, "TOP")) {
    o.request.priority = kUnlimited32;
    return {};
  }
  auto v = parse_number<int64_t>(g.value);
  if (!v) return bad_number(g);
  if (*v < 0) return fail(Errc::kInvalidReq, "Priority must be >= 0");
  if (*v >= 0xfffffffe) return fail(Errc::kInvalidReq, "Priority must be < 4294967294");
  o.request.priority = static_cast<uint32_t>(*v);
  return {};
}

constexpr JobOptionRow kRows[] = {
    {{.name = "job-name",
      .letter = 'J',
      .arg = Arg::kRequired,
      .arg_name = "name",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_JOB_NAME", .srun = "SLURM_JOB_NAME", .salloc = "SALLOC_JOB_NAME"},
      .section = Section::kJob,
      .summary = "what the job is called",
      .doc = "The job's name in listings and accounting. Without it, the name of the script or of the "
             "program. Inside a job, srun ignores SLURM_JOB_NAME so that steps keep names of their own."},
     set_job_name},
    {{.name = "account",
      .letter = 'A',
      .arg = Arg::kRequired,
      .arg_name = "account",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_ACCOUNT", .srun = "SLURM_ACCOUNT", .salloc = "SALLOC_ACCOUNT"},
      .section = Section::kJob,
      .summary = "account to charge",
      .doc = "Charges the job's use to this account. The default is the user's default account."},
     set_text<&AskedRequest::account>},
    {{.name = "partition",
      .letter = 'p',
      .arg = Arg::kRequired,
      .arg_name = "partitions",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_PARTITION", .srun = "SLURM_PARTITION", .salloc = "SALLOC_PARTITION"},
      .section = Section::kJob,
      .summary = "partition, or several with commas",
      .doc = "Where the job may run. With several partitions the one that can start it first is taken. "
             "Without the option, the cluster's default partition."},
     set_partition},
    {{.name = "qos",
      .letter = 'q',
      .arg = Arg::kRequired,
      .arg_name = "qos",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_QOS", .srun = "SLURM_QOS", .salloc = "SALLOC_QOS"},
      .section = Section::kJob,
      .summary = "quality of service",
      .doc = "The quality of service, or several with commas, that rules the job's priority and limits. It "
             "must be one that the association allows."},
     set_text<&AskedRequest::qos>},
    {{.name = "reservation",
      .arg = Arg::kRequired,
      .arg_name = "names",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_RESERVATION", .srun = "SLURM_RESERVATION", .salloc = "SALLOC_RESERVATION"},
      .section = Section::kJob,
      .summary = "run inside a reservation",
      .doc = "Takes the resources from the named reservation. With several names the first that can start "
             "the job is used."},
     set_text<&AskedRequest::reservation>},
    {{.name = "wckey",
      .arg = Arg::kRequired,
      .arg_name = "wckey",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_WCKEY", .srun = "SLURM_WCKEY", .salloc = "SALLOC_WCKEY"},
      .section = Section::kJob,
      .summary = "workload key for accounting",
      .doc = "Marks the job with a workload characterization key, where the site tracks them."},
     set_text<&AskedRequest::wckey>},
    {{.name = "comment",
      .arg = Arg::kRequired,
      .arg_name = "text",
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "a comment kept with the job",
      .doc = "Any text; it is stored with the job and can be shown by queries and accounting."},
     set_text<&AskedRequest::comment>},
    {{.name = "extra",
      .arg = Arg::kRequired,
      .arg_name = "text",
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "free text, or a node filter",
      .doc = "Text stored with the job for tools. Where the site enables it, an expression that nodes' extra "
             "data must satisfy."},
     set_text<&AskedRequest::extra>},
    {{.name = "dependency",
      .letter = 'd',
      .arg = Arg::kRequired,
      .arg_name = "type:job[:job][,...]",
      .commands = kJobs,
      .env = {.srun = "SLURM_DEPENDENCY"},
      .section = Section::kJob,
      .summary = "start only after other jobs",
      .doc = "Holds the job back until the named jobs have started (after[+minutes]), ended (afterany), "
             "succeeded (afterok), failed (afternotok), until the matching array task succeeded (aftercorr), "
             "or until no job of the same name and user is left (singleton). Separate conditions by commas "
             "when all must hold, by question marks when one is enough."},
     set_dependency},
    {{.name = "kill-on-invalid-dep",
      .arg = Arg::kRequired,
      .arg_name = "yes|no",
      .commands = kSbatchOnly,
      .section = Section::kJob,
      .summary = "cancel if a dependency cannot come true",
      .doc = "Whether a job whose dependency can never be satisfied is cancelled or stays pending. The "
             "default is the site's."},
     set_kill_on_invalid_dep},
    {{.name = "hold",
      .letter = 'H',
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "submit, but do not start",
      .doc = "The job waits until it is released with scontrol release."},
     set_flag<&AskedRequest::hold>},
    {{.name = "nice",
      .arg = Arg::kOptional,
      .arg_name = "amount",
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "lower the priority (default 100)",
      .doc = "Takes the amount from the job's priority. Negative amounts, which raise it, are for privileged "
             "users."},
     set_nice},
    {{.name = "priority",
      .arg = Arg::kRequired,
      .arg_name = "value|TOP",
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "set the priority (operators)",
      .doc = "Fixes the job's priority instead of computing it; TOP is the highest. For operators and "
             "administrators."},
     set_priority},
    {{.name = "mcs-label",
      .arg = Arg::kRequired,
      .arg_name = "label",
      .commands = kJobs,
      .section = Section::kJob,
      .summary = "security label",
      .doc = "The multi-category security label of the job, where an MCSPlugin is in use: the user's name (mcs/user), the account "
             "(mcs/account), one of the user's groups (mcs/group), or any word (mcs/label)."},
     set_text<&AskedRequest::mcs_label>},
};
}  // namespace

std::span<const JobOptionRow> job_identity_rows() { return kRows; }

}  // namespace muster
