// Options for files, working directory, environment, mail, accounting and sampling.
#include "model/mail.h"
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

Result<> set_open_mode(JobOptions& o, const Given& g) {
  if (g.value.size() && istarts_with("append", g.value)) o.request.open_mode = OpenMode::kAppend;
  else if (g.value.size() && istarts_with("truncate", g.value)) o.request.open_mode = OpenMode::kTruncate;
  else return bad_spec(g, "expected append or truncate");
  return {};
}

// Splits at commas outside quotes and removes the quotes: a quoted value may hold commas.
std::vector<std::string> split_quoted(std::string_view text) {
  std::vector<std::string> out(1);
  char quote = 0;
  for (char c : text) {
    if (quote ? c == quote : (c == '\'' || c == '"')) quote = quote ? 0 : c;
    else if (c == ',' && !quote) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

Result<> set_export(JobOptions& options, const Given& given) {
  options.export_given = true;
  options.export_list.clear();
  options.export_all = iequals(given.value, "ALL");
  if (options.export_all) options.request.env_export = EnvExport::kAll;
  else if (iequals(given.value, "NONE")) options.request.env_export = EnvExport::kNone;
  else if (iequals(given.value, "NIL")) options.request.env_export = EnvExport::kNil;
  else {
    options.request.env_export = EnvExport::kList;
    for (std::string& part : split_quoted(given.value)) {
      if (iequals(part, "ALL")) options.export_all = true;
      else if (iequals(part, "NONE") || iequals(part, "NIL"))
        return bad_spec(given, part + " stands alone: variables cannot be named beside it");
      else if (part.empty() || part[0] == '=') return bad_spec(given, "a variable without a name");
      else options.export_list.push_back(std::move(part));
    }
    if (options.export_list.empty()) options.request.env_export = EnvExport::kAll;
  }
  return {};
}

Result<> set_mail_type(JobOptions& o, const Given& g) {
  MUSTER_TRY(bits, parse_mail_type(g.value));
  o.request.mail_type = bits;
  return {};
}

Result<> set_propagate(JobOptions& o, const Given& g) {
  if (!g.has_value || g.value.empty()) {
    o.propagate = std::vector<std::string>{"ALL"};
    return {};
  }
  MUSTER_TRY(names, parse_propagate(g.value));
  o.propagate = names;
  return {};
}

Result<> set_oom_kill_step(JobOptions& o, const Given& g) {
  bool on = true;
  if (g.has_value && !g.value.empty()) {
    auto v = parse_number<uint32_t>(g.value, 0, 1);
    if (!v) return bad_spec(g, "expected 0 or 1");
    on = *v;
  }
  o.request.oom_kill_step_set = true;
  o.request.oom_kill_step = on;
  return {};
}

constexpr const char* kBatchPattern =
    "A file name pattern: %j job id, %A array job id, %a array index, %x job name, %u user, %N first node, "
    "%% a percent sign; a number after % pads with zeros.";
constexpr const char* kStepPattern = "all (the default), none, a task's number, or a file name pattern with %j %J %s %t %n %N %x %u %A %a.";

constexpr JobOptionRow kRows[] = {
    {{.name = "output",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "pattern",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_OUTPUT"},
      .section = Section::kOutput,
      .summary = "file for standard output (and error)",
      .doc = kBatchPattern},
     set_text<&AskedRequest::std_out>},
    {{.name = "error",
      .letter = 'e',
      .arg = Arg::kRequired,
      .arg_name = "pattern",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_ERROR"},
      .section = Section::kOutput,
      .summary = "file for standard error",
      .doc = kBatchPattern},
     set_text<&AskedRequest::std_err>},
    {{.name = "input",
      .letter = 'i',
      .arg = Arg::kRequired,
      .arg_name = "pattern",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_INPUT"},
      .section = Section::kOutput,
      .summary = "file for standard input",
      .doc = kBatchPattern},
     set_text<&AskedRequest::std_in>},
    {{.name = "output",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "mode",
      .commands = kSrunOnly,
      .env = {.srun = "SRUN_OUTPUT"},
      .section = Section::kOutput,
      .summary = "where the tasks' output goes",
      .doc = kStepPattern},
     set_text<&StepRequest::std_out>},
    {{.name = "error",
      .letter = 'e',
      .arg = Arg::kRequired,
      .arg_name = "mode",
      .commands = kSrunOnly,
      .env = {.srun = "SRUN_ERROR"},
      .section = Section::kOutput,
      .summary = "where the tasks' errors go",
      .doc = kStepPattern},
     set_text<&StepRequest::std_err>},
    {{.name = "input",
      .letter = 'i',
      .arg = Arg::kRequired,
      .arg_name = "mode",
      .commands = kSrunOnly,
      .env = {.srun = "SRUN_INPUT"},
      .section = Section::kOutput,
      .summary = "where the tasks' input comes from",
      .doc = kStepPattern},
     set_text<&StepRequest::std_in>},
    {{.name = "open-mode",
      .arg = Arg::kRequired,
      .arg_name = "append|truncate",
      .commands = kSbatchOnly | kSrunOnly,
      .env = {.sbatch = "SBATCH_OPEN_MODE", .srun = "SLURM_OPEN_MODE"},
      .section = Section::kOutput,
      .summary = "add to the files or replace them",
      .doc = "Whether existing output and error files are continued or emptied. The default is the site's."},
     set_open_mode},
    {{.name = "chdir",
      .letter = 'D',
      .arg = Arg::kRequired,
      .arg_name = "directory",
      .commands = kJobs,
      .env = {.srun = "SLURM_REMOTE_CWD|SLURM_WORKING_DIR"},
      .section = Section::kOutput,
      .summary = "working directory",
      .doc = "Where the script, command or tasks run. Relative to the current directory, which is the default."},
     set_text<&JobOptions::chdir>},
    {{.name = "export",
      .arg = Arg::kRequired,
      .arg_name = "[ALL,]vars|ALL|NIL|NONE",
      .commands = kSbatchOnly,
      .env = {.sbatch = "SBATCH_EXPORT"},
      .section = Section::kOutput,
      .summary = "which variables the job gets",
      .doc = "ALL: the whole environment (the default). NONE: only SLURM_* variables, and the login "
             "environment of the node. NIL: only SLURM_* variables. A list: those variables, NAME or "
             "NAME=value, besides all others when ALL stands in it."},
     set_export},
    {{.name = "export",
      .arg = Arg::kRequired,
      .arg_name = "[ALL,]vars|ALL|NONE",
      .commands = kSrunOnly,
      .env = {.srun = "SRUN_EXPORT_ENV|SLURM_EXPORT_ENV"},
      .section = Section::kOutput,
      .summary = "which variables the tasks get",
      .doc = "ALL: the whole environment (the default). NONE: nothing of it. A list: SLURM* variables and "
             "those named, NAME or NAME=value, besides all others when ALL stands in it."},
     set_export},
    {{.name = "export-file",
      .arg = Arg::kRequired,
      .arg_name = "file|fd",
      .commands = kSbatchOnly,
      .section = Section::kOutput,
      .summary = "file with variables for the job",
      .doc = "A file, or an open file descriptor's number, with NAME=value texts separated by zero bytes. "
             "Replaces the environment that --export would give."},
     set_text<&JobOptions::export_file>},
    {{.name = "get-user-env",
      .arg = Arg::kOptional,
      .arg_name = "timeout][mode",
      .commands = kSbatchOnly | kSallocOnly,
      .env = {.sbatch = "SBATCH_GET_USER_ENV"},
      .section = Section::kOutput,
      .summary = "load the login environment",
      .doc = "Gives the job the variables of a login shell of its user; variables of the submission win over "
             "them."},
     [](JobOptions& o, const Given& g) -> Result<> {
       // Older releases took "[timeout][mode]": seconds and S or L. Both parts are accepted and mean nothing more than the option alone.
       std::string_view v = g.value;
       while (!v.empty() && v.front() >= '0' && v.front() <= '9') v.remove_prefix(1);
       bool flag = g.source == Source::kEnvironment && parse_yes_no(g.value).value_or(false);
       if (!flag && !v.empty() && !iequals(v, "S") && !iequals(v, "L")) return bad_spec(g, "it takes no value today");
       o.request.get_user_env = g.value.empty() || flag ? "yes" : std::string(g.value);
       return {};
     }},
    {{.name = "propagate",
      .arg = Arg::kOptional,
      .arg_name = "limit,...",
      .commands = kSbatchOnly | kSrunOnly,
      .section = Section::kOutput,
      .summary = "resource limits the job inherits",
      .doc = "Which soft limits of the shell the processes get: ALL, NONE, or any of AS CORE CPU DATA FSIZE "
             "MEMLOCK NOFILE NPROC RSS STACK. Without a value, all."},
     set_propagate},
    {{.name = "mail-type",
      .arg = Arg::kRequired,
      .arg_name = "types",
      .commands = kJobs,
      .section = Section::kNotify,
      .summary = "events to send mail about",
      .doc = "NONE, BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, STAGE_OUT, TIME_LIMIT, TIME_LIMIT_90, "
             "TIME_LIMIT_80, TIME_LIMIT_50, ARRAY_TASKS (one mail per array task), or ALL for the first "
             "seven but NONE."},
     set_mail_type},
    {{.name = "mail-user",
      .arg = Arg::kRequired,
      .arg_name = "address",
      .commands = kJobs,
      .section = Section::kNotify,
      .summary = "who gets the mail",
      .doc = "A mail address or a user name. The default is the submitting user."},
     set_text<&AskedRequest::mail_user>},
    {{.name = "acctg-freq",
      .arg = Arg::kRequired,
      .arg_name = "type=seconds,...",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_ACCTG_FREQ", .srun = "SLURM_ACCTG_FREQ", .salloc = "SALLOC_ACCTG_FREQ"},
      .section = Section::kAccounting,
      .summary = "how often use is sampled",
      .doc = "Sampling intervals in seconds for task, energy, network and filesystem; 0 turns one off. Where JobAcctGatherType is set, "
             "what tasks use is looked at that often; energy is for --profile=energy; the other kinds are recorded and not gathered."},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY_VOID(check_acctg_freq(g.value));
       o.request.acctg_freq = std::string(g.value);
       return {};
     }},
    {{.name = "profile",
      .arg = Arg::kRequired,
      .arg_name = "all|none|type,...",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_PROFILE", .srun = "SLURM_PROFILE", .salloc = "SALLOC_PROFILE"},
      .section = Section::kAccounting,
      .summary = "detailed measurement over time",
      .doc = "Records time series of what each step's tasks use (task) and of what its nodes take (energy), where slurm.conf has "
             "AcctGatherProfileType=acct_gather_profile/hdf5; sh5util(1) makes a file of the job of them. Each kind is sampled as often as "
             "--acctg-freq says. Network and lustre are taken, but nothing of them is gathered: the step's standard error says so, unless "
             "they came with all.",
      .note = "of networks and file systems nothing is gathered",
      .needs = "accounting"},
     [](JobOptions& o, const Given& g) -> Result<> {
       MUSTER_TRY_VOID(check_profile(g.value));
       o.request.profile = std::string(g.value);
       return {};
     }},
    {{.name = "oom-kill-step",
      .arg = Arg::kOptional,
      .arg_name = "0|1",
      .commands = kJobs,
      .env = {.srun = "SLURM_OOMKILLSTEP"},
      .section = Section::kAccounting,
      .summary = "out of memory ends the whole step",
      .doc = "Whether a step is killed as a whole when one of its tasks runs out of memory. 1 without a value."},
     set_oom_kill_step},
};
}  // namespace

std::span<const JobOptionRow> job_output_rows() { return kRows; }

}  // namespace muster
