// Options that only batch scripts (sbatch) or only interactive allocations (salloc) have, and those for the behaviour of all three commands
// themselves: verbosity, test runs, help.
#include "model/array_spec.h"
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_array(JobOptions& o, const Given& g) {
  // The controller checks MaxArraySize.
  MUSTER_TRY(checked, parse_array_spec(g.value, kMaxArrayTaskId));
  static_cast<void>(checked);
  o.request.array = std::string(g.value);
  return {};
}

Result<> set_requeue(JobOptions& o, const Given& g) {
  bool flag = g.source == Source::kEnvironment && parse_yes_no(g.value).has_value();
  if (flag && !*parse_yes_no(g.value)) return {};
  const bool expedite = iequals(g.value, "expedite");
  if (g.has_value && !g.value.empty() && !flag && !expedite) return bad_spec(g, "expected expedite");
  o.request.requeue = TriState::kYes;
  o.request.requeue_expedite = expedite;
  return {};
}

Result<> set_kill_command(JobOptions& o, const Given& g) {
  o.kill_command = 0;
  if (!g.has_value || g.value.empty()) return {};
  auto s = parse_signal(g.value);
  if (!s) return bad_spec(g, "\"" + std::string(g.value) + "\" is neither a signal's name nor its number");
  o.kill_command = *s;
  return {};
}

Result<> set_verbose(JobOptions& o, const Given& g) {
  // SBATCH_DEBUG and the like hold the number of -v.
  if (g.source == Source::kEnvironment) o.verbose = parse_number<uint32_t>(g.value, 0, 16).value_or(1);
  else ++o.verbose;
  return {};
}

Result<> set_resv_ports(JobOptions& o, const Given& g) {
  o.request.resv_ports = 0;
  o.request.resv_ports_set = true;
  if (!g.has_value || g.value.empty()) return {};
  auto count = parse_number<uint32_t>(g.value, 0, 65535);
  if (!count) return bad_number(g);
  o.request.resv_ports = *count;
  o.request.resv_ports_set = *count > 0;
  return {};
}

constexpr JobOptionRow kBatch[] = {
    {{.name = "array",
      .letter = 'a',
      .arg = Arg::kRequired,
      .arg_name = "indexes[%limit]",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_ARRAY_INX"},
      .section = Section::kBatch,
      .summary = "submit a job array",
      .doc = "One task for each index: 0-15, 0,6,16-32, 0-15:4 (every fourth). %4 at the end lets four run "
             "at a time. The largest index is below MaxArraySize."},
     set_array},
    {{.name = "wrap",
      .arg = Arg::kRequired,
      .arg_name = "command",
      .commands = kSbatchOnly,
      .section = Section::kBatch,
      .summary = "make a script of this command",
      .doc = "Submits a small sh script that runs the command; no script may be named then.",
      .client_only = true},
     [](JobOptions& o, const Given& g) -> Result<> {
       o.wrap = std::string(g.value);
       return {};
     }},
    {{.name = "wait",
      .letter = 'W',
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_WAIT"},
      .section = Section::kBatch,
      .summary = "return when the job has ended",
      .doc = "Waits for the job and exits with its code; 1 if a signal ended it, the highest code of an "
             "array's tasks."},
     set_flag<&JobOptions::wait>},
    {{.name = "parsable",
      .commands = kSbatchOnly,
      .section = Section::kBatch,
      .summary = "print only the job id",
      .doc = "Prints the job id and, if there is one to name, the cluster after a semicolon. Errors are "
             "printed as ever."},
     set_flag<&JobOptions::parsable>},
    {{.name = "requeue",
      .arg = Arg::kOptional,
      .arg_name = "expedite",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_REQUEUE"},
      .section = Section::kBatch,
      .summary = "may be run again",
      .doc = "The job may be put back into the queue after a node failure, a preemption or by an "
             "administrator, and then starts from the beginning with the same id. With expedite, where "
             "SlurmctldParameters=enable_expedited_requeue allows it, a job whose node or launch failed starts again "
             "at once and before all others."},
     set_requeue},
    {{.name = "no-requeue",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_NO_REQUEUE"},
      .section = Section::kBatch,
      .summary = "must not be run again",
      .doc = "The job is never put back into the queue."},
     [](JobOptions& o, const Given&) -> Result<> {
       o.request.requeue = TriState::kNo;
       return {};
     }},
    {{.name = "batch",
      .arg = Arg::kRequired,
      .arg_name = "features",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_BATCH"},
      .section = Section::kBatch,
      .summary = "features of the node of the script",
      .doc = "Runs the script on a node of the allocation with these features, part of those in --constraint; "
             "without such a node on the first one."},
     set_text<&AskedRequest::batch_features>},
    {{.name = "ignore-pbs",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_IGNORE_PBS"},
      .section = Section::kBatch,
      .summary = "pass over #PBS and #BSUB lines",
      .doc = "Directives of other systems in the script are passed over without a word. Without the option a "
             "warning says that they are not translated."},
     set_flag<&JobOptions::ignore_pbs>},
    {{.name = "no-shell",
      .commands = kSallocOnly,
      .section = Section::kBatch,
      .summary = "allocate and return",
      .doc = "Returns once the resources are allocated and starts nothing; use srun --jobid in the "
             "allocation and scancel to give it back."},
     set_flag<&JobOptions::no_shell>},
    {{.name = "bell",
      .commands = kSallocOnly,
      .env = {.salloc = "SALLOC_BELL"},
      .section = Section::kBatch,
      .summary = "ring the bell when granted",
      .doc = "Rings the terminal's bell when the allocation is granted. By default only after a wait of ten "
             "seconds."},
     [](JobOptions& o, const Given&) -> Result<> {
       o.bell = Bell::kAlways;
       return {};
     }},
    {{.name = "no-bell",
      .commands = kSallocOnly,
      .env = {.salloc = "SALLOC_NO_BELL"},
      .section = Section::kBatch,
      .summary = "never ring the bell",
      .doc = "The terminal's bell stays silent."},
     [](JobOptions& o, const Given&) -> Result<> {
       o.bell = Bell::kNever;
       return {};
     }},
    {{.name = "kill-command",
      .letter = 'K',
      .arg = Arg::kOptional,
      .arg_name = "signal",
      .commands = kSallocOnly,
      .env = {.salloc = "SALLOC_KILL_CMD"},
      .section = Section::kBatch,
      .summary = "signal the command when the job ends",
      .doc = "Signals the command when the allocation is taken back: SIGHUP for a shell on a terminal, "
             "SIGTERM otherwise, or the signal named directly after the letter (-K1)."},
     set_kill_command},
};

constexpr JobOptionRow kGeneral[] = {
    {{.name = "clusters",
      .letter = 'M',
      .arg = Arg::kRequired,
      .arg_name = "names",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CLUSTERS|SLURM_CLUSTERS", .srun = "SLURM_CLUSTERS", .salloc = "SALLOC_CLUSTERS|SLURM_CLUSTERS"},
      .section = Section::kSites,
      .summary = "clusters that may take the job",
      .doc = "Sends the job to one of these clusters, to the one that can start it first. The default is the "
             "cluster of the configuration."},
     set_text<&AskedRequest::clusters>},
    {{.name = "network",
      .arg = Arg::kRequired,
      .arg_name = "spec",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_NETWORK", .srun = "SLURM_NETWORK", .salloc = "SALLOC_NETWORK"},
      .section = Section::kSites,
      .summary = "network resources",
      .doc = "A request to SwitchType, shown with the job. With switch/nvidia_imex, unique-channel-per-segment gives each segment "
             "(--segment) of a block topology an IMEX channel of its own, where the job has one for all otherwise; other words are "
             "refused. Without a SwitchType it is only recorded."},
     set_text<&AskedRequest::network>},
    {{.name = "stepmgr",
      .commands = kJobs,
      .section = Section::kSites,
      .summary = "a step manager for the job",
      .doc = "Lets a daemon on the job's first node manage its steps, where the cluster does not do so for "
             "all jobs. They begin and end there without slurmctld, which hears of them a moment later."},
     set_flag<&AskedRequest::stepmgr>},
    {{.name = "resv-ports",
      .arg = Arg::kOptional,
      .arg_name = "count",
      .commands = kJobs,
      .env = {.srun = "SLURM_RESV_PORTS"},
      .section = Section::kSites,
      .summary = "reserve communication ports",
      .doc = "Each step gets so many ports of MpiParams=ports for itself, as SLURM_STEP_RESV_PORTS tells its tasks; "
             "without a number one per task of a node, with 0 none. In sbatch and salloc: for every srun of the job."},
     set_resv_ports},
    {{.name = "uid",
      .arg = Arg::kRequired,
      .arg_name = "user",
      .commands = kJobs,
      .section = Section::kSites,
      .summary = "run as this user (root only)",
      .doc = "A user's name or number. For root.",
      .client_only = true},
     set_text<&JobOptions::user_text>},
    {{.name = "gid",
      .arg = Arg::kRequired,
      .arg_name = "group",
      .commands = kJobs,
      .section = Section::kSites,
      .summary = "run with this group (root only)",
      .doc = "A group's name or number. For root.",
      .client_only = true},
     set_text<&JobOptions::group_text>},
    {{.name = "test-only",
      .commands = kSbatchOnly | kSrunOnly,
      .section = Section::kHelp,
      .summary = "check, and say when it would start",
      .doc = "Checks the request and prints when the job is expected to start. Nothing is submitted."},
     set_flag<&AskedRequest::test_only>},
    {{.name = "quiet",
      .letter = 'Q',
      .commands = kJobs,
      .section = Section::kHelp,
      .summary = "print only errors",
      .doc = "Leaves out informational messages, also the job id. Excludes --verbose."},
     set_flag<&JobOptions::quiet>},
    {{.name = "verbose",
      .letter = 'v',
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_DEBUG", .srun = "SLURM_DEBUG", .salloc = "SALLOC_DEBUG"},
      .section = Section::kHelp,
      .summary = "say more; repeat for more",
      .doc = "Prints what happens, more with every further v. The environment variable holds the number of "
             "times."},
     set_verbose},
    {{.name = "help",
      .letter = 'h',
      .commands = kJobs,
      .section = Section::kHelp,
      .summary = "print this help",
      .doc = "Prints the options and ends.",
      .client_only = true},
     set_flag<&JobOptions::help>},
    {{.name = "usage",
      .commands = kJobs,
      .section = Section::kHelp,
      .summary = "print a short summary",
      .doc = "Prints a summary of the command line and ends.",
      .client_only = true},
     set_flag<&JobOptions::usage>},
    {{.name = "version",
      .letter = 'V',
      .commands = kJobs,
      .section = Section::kHelp,
      .summary = "print the version",
      .doc = "Prints the version and ends.",
      .client_only = true},
     set_flag<&JobOptions::version>},
};
}  // namespace

std::span<const JobOptionRow> job_batch_rows() { return kBatch; }
std::span<const JobOptionRow> job_general_rows() { return kGeneral; }

}  // namespace muster
