// Options for how srun starts and follows the tasks of a step.
#include "options/components.h"
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_job_id(JobOptions& o, const Given& g) {
  const size_t bar = g.value.find('_');
  auto v = parse_number<uint32_t>(g.value.substr(0, bar), 1);
  if (!v) return bad_number(g);
  o.job_id = JobId{*v};
  o.array_task = kNoArrayTask;
  if (bar == g.value.npos) return {};
  auto task = parse_number<uint32_t>(g.value.substr(bar + 1), 0, kNoArrayTask - 1);
  if (!task) return bad_number(g);
  o.array_task = *task;
  return {};
}

Result<> set_kill_on_bad_exit(JobOptions& o, const Given& g) {
  uint32_t v = 1;
  if (g.has_value && !g.value.empty()) {
    auto n = parse_number<uint32_t>(g.value);
    if (!n) return bad_number(g);
    v = *n;
  }
  o.step.kill_on_bad_exit = v ? KillOnBadExit::kYes : KillOnBadExit::kNo;
  return {};
}

Result<> set_slurmd_debug(JobOptions& options, const Given& given) {
  constexpr std::string_view kTags[] = {"error", "info", "verbose", "debug", "debug2"};
  if (auto n = parse_number<uint32_t>(given.value, 2, 6)) {
    options.step.slurmd_debug = *n;
    return {};
  }
  for (size_t i = 0; i < std::size(kTags); ++i) {
    if (!iequals(kTags[i], given.value)) continue;
    options.step.slurmd_debug = static_cast<uint32_t>(i + 2);
    return {};
  }
  return bad_spec(given, "expected 2 to 6, or error, info, verbose, debug, debug2");
}

Result<> set_ignore_signals(JobOptions& o, const Given& g) {
  constexpr uint8_t kAllowed[] = {1, 2, 3, 10, 12, 15};  // HUP INT QUIT USR1 USR2 TERM
  o.ignore_signals.clear();
  for (std::string_view part : split(g.value, ',', true)) {
    auto s = parse_signal(trim(part));
    bool allowed = false;
    for (uint8_t a : kAllowed) allowed = allowed || s == a;
    if (!allowed) return bad_spec(g, "\"" + std::string(part) + "\" is none of INT QUIT TERM HUP USR1 USR2");
    o.ignore_signals.push_back(*s);
  }
  return {};
}

Result<> set_bcast(JobOptions& o, const Given& g) {
  o.bcast = true;
  o.bcast_path = std::string(g.value);
  return {};
}

Result<> set_compress(JobOptions& o, const Given& g) {
  if (g.has_value && !g.value.empty() && !iequals(g.value, "lz4") && !iequals(g.value, "none")) return bad_spec(g, "known: lz4, none");
  o.compress = g.value.empty() ? "lz4" : to_lower(g.value);
  return {};
}

Result<> set_treewidth(JobOptions& o, const Given& g) {
  if (iequals(g.value, "off")) {
    o.treewidth = 0;
    return {};
  }
  auto width = parse_number<uint32_t>(g.value, 1, 65533);
  if (!width) return bad_number(g);
  o.treewidth = *width;
  return {};
}

Result<> set_send_libs(JobOptions& o, const Given& g) {
  bool on = true;
  if (g.has_value && !g.value.empty()) {
    auto v = parse_yes_no(g.value);
    if (!v) return bad_spec(g, "expected yes or no");
    on = *v;
  }
  o.step.send_libs = on;
  return {};
}

constexpr JobOptionRow kRows[] = {
    {{.name = "jobid",
      .arg = Arg::kRequired,
      .arg_name = "id",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_JOB_ID|SLURM_JOBID"},
      .section = Section::kLaunch,
      .summary = "start a step in this job",
      .doc = "Starts the step in a job that is already running, as if SLURM_JOB_ID were set. 12_3 is a task of an "
             "array. With --test-only: when this waiting job is to start."},
     set_job_id},
    {{.name = "relative",
      .letter = 'r',
      .arg = Arg::kRequired,
      .arg_name = "n",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "first node of the step",
      .doc = "The step begins at node n of the allocation, counted from 0. Not with --nodelist or --exclude."},
     [](JobOptions& o, const Given& g) -> Result<> {
       auto v = parse_number<int32_t>(g.value, 0);
       if (!v) return bad_number(g);
       o.step.relative = *v;
       return {};
     }},
    {{.name = "exact",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_EXACT"},
      .section = Section::kLaunch,
      .summary = "only what the step asks for",
      .doc = "The step gets just the resources it asked for, so that others can run beside it. Otherwise it "
             "gets all CPUs and memory of its nodes in the job."},
     set_flag<&StepRequest::exact>},
    {{.name = "whole",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "all the job has on the step's nodes",
      .doc = "The opposite of --exact, and what a step gets without --exact, --exclusive and --cpus-per-task.",
      .hidden = true},
     set_flag<&JobOptions::whole>},
    {{.name = "overlap",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_OVERLAP"},
      .section = Section::kLaunch,
      .summary = "share with the job's other steps",
      .doc = "The step shares CPUs, memory and GRES with every other step, to look into a running job."},
     set_flag<&StepRequest::overlap>},
    {{.name = "interactive",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "the job's interactive step",
      .doc = "Used by salloc to start the shell on the first node (LaunchParameters=use_interactive_step).",
      .hidden = true},
     set_flag<&StepRequest::interactive>},
    {{.name = "mpi",
      .arg = Arg::kRequired,
      .arg_name = "type",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_MPI_TYPE"},
      .section = Section::kLaunch,
      .summary = "how MPI starts: none, pmi2, pmix",
      .doc = "Which interface MPI programs find each other by: pmix for Open MPI and others, pmi2 for MPICH and those made from "
             "it, or none. A version may be named (pmix_v4). 'list' prints those that are there. The default is the site's "
             "MpiDefault."},
     set_text<&StepRequest::mpi>},
    {{.name = "multi-prog",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "several programs, from a file",
      .doc = "The program named is a file that says which task ranks run which program."},
     set_flag<&StepRequest::multi_prog>},
    {{
         .name = "pty",
         .arg = Arg::kOptional,
         .arg_name = "fd",
         .commands = kSrunOnly,
         .section = Section::kLaunch,
         .summary = "task 0 on a pseudo terminal",
         .doc = "Runs task 0 on a pseudo terminal, for shells; the other tasks' output goes to /dev/null.",
     },
     [](JobOptions& o, const Given& g) -> Result<> {
       if (g.has_value && !g.value.empty())
         return bad_spec(g, "a terminal on another file descriptor is not available yet; use --pty alone");
       o.step.pty = true;
       return {};
     }},
    {{.name = "label",
      .letter = 'l',
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_LABELIO"},
      .section = Section::kLaunch,
      .summary = "put the task number before each line",
      .doc = "Every line of output begins with the number of its task."},
     set_flag<&StepRequest::label>},
    {{.name = "unbuffered",
      .letter = 'u',
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_UNBUFFEREDIO"},
      .section = Section::kLaunch,
      .summary = "pass output on at once",
      .doc = "Gives the tasks a pseudo terminal, so that their C library does not hold output back."},
     set_flag<&StepRequest::unbuffered>},
    {{.name = "kill-on-bad-exit",
      .letter = 'K',
      .arg = Arg::kOptional,
      .arg_name = "0|1",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_KILL_BAD_EXIT"},
      .section = Section::kLaunch,
      .summary = "a failed task ends the step",
      .doc = "Whether the step is ended when a task exits with a code other than zero. 1 without a value; "
             "the default is KillOnBadExit. Write the value directly after the letter (-K0)."},
     set_kill_on_bad_exit},
    {{.name = "wait",
      .letter = 'W',
      .arg = Arg::kRequired,
      .arg_name = "seconds",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_WAIT"},
      .section = Section::kLaunch,
      .summary = "time for the last tasks to end",
      .doc = "How long after the first task's exit the others may go on; 0 means for ever. The default is "
             "WaitTime."},
     [](JobOptions& o, const Given& g) -> Result<> {
       auto v = parse_number<uint32_t>(g.value, 0, 0x7fffffff);
       if (!v) return bad_number(g);
       o.step.wait_seconds = *v;
       return {};
     }},
    {{.name = "prolog",
      .arg = Arg::kRequired,
      .arg_name = "program|none",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_PROLOG"},
      .section = Section::kLaunch,
      .summary = "srun runs this first",
      .doc = "Run by srun, where srun runs, before the tasks start; it replaces SrunProlog."},
     set_text<&JobOptions::prolog>},
    {{.name = "epilog",
      .arg = Arg::kRequired,
      .arg_name = "program|none",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_EPILOG"},
      .section = Section::kLaunch,
      .summary = "srun runs this last",
      .doc = "Run by srun, where srun runs, after the tasks have ended; it replaces SrunEpilog."},
     set_text<&JobOptions::epilog>},
    {{.name = "task-prolog",
      .arg = Arg::kRequired,
      .arg_name = "program",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_TASK_PROLOG"},
      .section = Section::kLaunch,
      .summary = "run before each task",
      .doc = "Run on the node before each task; lines it prints such as 'export NAME=value' change the "
             "task's environment."},
     set_text<&StepRequest::task_prolog>},
    {{.name = "task-epilog",
      .arg = Arg::kRequired,
      .arg_name = "program",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_TASK_EPILOG"},
      .section = Section::kLaunch,
      .summary = "run after each task",
      .doc = "Run on the node after each task; it should be short."},
     set_text<&StepRequest::task_epilog>},
    {{.name = "disable-status",
      .letter = 'X',
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_DISABLE_STATUS"},
      .section = Section::kLaunch,
      .summary = "pass the first Ctrl-C on",
      .doc = "The first Ctrl-C goes to the tasks instead of printing their state."},
     set_flag<&JobOptions::disable_status>},
    {{.name = "quit-on-interrupt",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "one Ctrl-C ends the step",
      .doc = "A single Ctrl-C ends the step instead of printing its state."},
     set_flag<&JobOptions::quit_on_interrupt>},
    {{.name = "ignore-signals",
      .arg = Arg::kRequired,
      .arg_name = "signals",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "signals srun shall not act on",
      .doc = "Any of INT, QUIT, TERM, HUP, USR1, USR2, names or numbers with commas. srun does nothing about "
             "them."},
     set_ignore_signals},
    {{.name = "threads",
      .letter = 'T',
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_THREADS"},
      .section = Section::kLaunch,
      .summary = "launches at a time",
      .doc = "How many nodes srun asks for a launch at the same time; all of them by default."},
     [](JobOptions& o, const Given& g) -> Result<> {
       auto v = parse_number<uint32_t>(g.value, 1, 65535);
       if (!v) return bad_number(g);
       o.threads = *v;
       return {};
     }},
    {{.name = "async",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "return once the step is launched",
      .doc = "The step runs on without srun, which prints its id and ends. Its input is /dev/null, and its output goes to "
             "files: slurm-%J.out where --output names none. Inside a job only."},
     set_flag<&JobOptions::async>},
    {{.name = "parsable",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "with --async, print only the step id",
      .doc = "With --async, prints only the step's id."},
     set_flag<&JobOptions::parsable>},
    {{.name = "wait-for-children",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "a task ends with its last process",
      .doc = "The step goes on until all processes of its tasks have ended, not only the first of each."},
     [](JobOptions& o, const Given&) -> Result<> {
       o.step.wait_for_children = true;
       return {};
     }},
    {{.name = "preserve-env",
      .letter = 'E',
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "keep node and task counts in the environment",
      .doc = "SLURM_JOB_NUM_NODES and SLURM_NTASKS reach the tasks as they are, not as the options say."},
     set_flag<&JobOptions::preserve_env>},
    {{.name = "slurmd-debug",
      .arg = Arg::kRequired,
      .arg_name = "level",
      .commands = kSrunOnly,
      .env = {.srun = "SLURMD_DEBUG"},
      .section = Section::kLaunch,
      .summary = "node messages on the step's stderr",
      .doc = "error, info, verbose, debug, debug2 (2 to 6): messages of the node's step daemon on the step's "
             "stderr. Errors alone is the default."},
     set_slurmd_debug},
    {{.name = "no-allocate",
      .letter = 'Z',
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "run without a job (root)",
      .doc = "Runs on the nodes of --nodelist without a job in the queue, whoever else has them and whatever their "
             "state. For root and SlurmUser. Options of job allocations do nothing then."},
     set_flag<&AskedRequest::no_allocate>},
    {{.name = "bcast",
      .arg = Arg::kOptional,
      .arg_name = "path",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_BCAST"},
      .section = Section::kTransfer,
      .summary = "copy the program to the nodes first",
      .doc = "Copies the program to this path on every node and runs it from there; a path that ends in a "
             "slash is a directory."},
     set_bcast},
    {{.name = "bcast-exclude",
      .arg = Arg::kRequired,
      .arg_name = "NONE|path,...",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_BCAST_EXCLUDE"},
      .section = Section::kTransfer,
      .summary = "libraries not to copy",
      .doc = "Directories whose libraries --send-libs leaves out."},
     set_text<&JobOptions::bcast_exclude>},
    {{.name = "compress",
      .arg = Arg::kOptional,
      .arg_name = "type",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_COMPRESS"},
      .section = Section::kTransfer,
      .summary = "compress what --bcast sends",
      .doc = "lz4 (what the option alone means) or none. Without the option BcastParameters decides."},
     set_compress},
    {{.name = "treewidth",
      .arg = Arg::kRequired,
      .arg_name = "size|off",
      .commands = kSrunOnly,
      .section = Section::kTransfer,
      .summary = "fanout of what --bcast sends",
      .doc = "To how many nodes each node passes the program of --bcast on, TreeWidth by default; off: srun sends to each "
             "itself. The launch needs no such tree: it is handed to every node at once."},
     set_treewidth},
    {{.name = "send-libs",
      .arg = Arg::kOptional,
      .arg_name = "yes|no",
      .commands = kSrunOnly,
      .env = {.srun = "SLURM_SEND_LIBS"},
      .section = Section::kTransfer,
      .summary = "send the libraries along",
      .doc = "With --bcast, copies the shared libraries the program needs too."},
     set_send_libs},
    {{.name = "msg-timeout",
      .arg = Arg::kRequired,
      .arg_name = "seconds",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "time limit for launch messages",
      .doc = "How long srun waits for the nodes to answer a launch, instead of MessageTimeout."},
     [](JobOptions& o, const Given& g) -> Result<> {
       auto v = parse_number<uint32_t>(g.value, 1, 0x7fffffff);
       if (!v) return bad_number(g);
       o.msg_timeout_seconds = *v;
       return {};
     }},
    {{.name = "het-group",
      .arg = Arg::kRequired,
      .arg_name = "groups",
      .commands = kSrunOnly,
      .section = Section::kLaunch,
      .summary = "components that run the step",
      .doc = "In which components of a heterogeneous job the step runs: numbers from 0 and ranges of them, as 0,2-3. 0 unless given."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY(groups, parse_het_group(g.value));
       o.het_groups = std::move(groups);
       return {};
     }},
};
}  // namespace

std::span<const JobOptionRow> step_launch_rows() { return kRows; }

}  // namespace muster
