// parse_squeue … parse_sprio: one template applied to each command's rows.
#include "model/sluid.h"
#include "model/trigger.h"
#include "options/job_options.h"
#include "options/parser_detail.h"
#include "options/query_options.h"

namespace muster {
namespace {

using options_detail::Applier;

template <class Options>
QueryParse<Options> parse_query(Command command, std::span<const OptionRow<Options>> table, std::span<const std::string> arguments,
                                const EnvLookup& env) {
  QueryParse<Options> out;
  std::vector<const OptionRow<Options>*> rows;
  for (const auto& row : table) rows.push_back(&row);
  auto infos = options_detail::infos_of<Options>(rows);
  auto scan = scan_arguments(infos, arguments, Operands::kAnywhere);
  if (!scan) {
    options_detail::add_getopt_error(out.messages, scan.error(), command, infos);
    return out;
  }
  out.operands = scan->operands;
  Applier<Options> apply(out.options, out.options.seen, out.messages, command, Time{}, false);
  if (env && !apply.environment(rows, env)) return out;
  if (!apply.command_line(rows, *scan)) return out;
  out.outcome = out.options.help      ? Outcome::kHelp
                : out.options.usage   ? Outcome::kUsage
                : out.options.version ? Outcome::kVersion
                                      : Outcome::kRun;
  return out;
}

void failed(auto& parse, std::string text) {
  parse.outcome = Outcome::kFailed;
  parse.messages.push_back({Message::Level::kError, std::move(text)});
}

// Whether the text is "12", "12_3", "12_[1-4]", "12+1" or a Sluid. Of a step's id, callers pass the part before the dot.
bool is_job_id(std::string_view id) {
  if (parse_sluid(id)) return true;
  size_t digits = id.find_first_not_of("0123456789");
  bool tail = digits == id.npos || id[digits] == '_' || id[digits] == '+';
  return tail && parse_number<uint32_t>(id.substr(0, digits), 1).has_value();
}

template <class Row>
void add_infos(std::span<const Row> rows, std::vector<const OptionInfo*>& out) {
  for (const auto& row : rows) out.push_back(&row.info);
}

}  // namespace

bool QueryCommon::given(std::string_view name) const {
  for (const Seen& s : seen)
    if (s.info->name && s.info->name == name) return true;
  return false;
}

bool QueryCommon::typed(std::string_view name) const {
  for (const Seen& s : seen)
    if (s.info->name && s.info->name == name) return s.source == Source::kCommandLine;
  return false;
}

namespace {

// In "squeue -j 12" and "sprio -j 12" the list is optional and may stand as the next word.
void take_next_word(TextList& list, std::vector<std::string>& operands) {
  if (!list.empty() || operands.empty()) return;
  for (std::string_view part : split_outside_brackets(operands[0])) list.emplace_back(trim(part));
  operands.erase(operands.begin());
}

}  // namespace

QueryParse<SqueueOptions> parse_squeue(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SqueueOptions>(Command::kSqueue, squeue_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  SqueueOptions& options = out.options;
  if (options.filters_jobs || options.filters_steps) take_next_word(options.filters_jobs ? options.jobs : options.steps, out.operands);
  if (!out.operands.empty()) {
    failed(out, "Unrecognized option: " + out.operands[0]);
    return out;
  }
  for (const std::string& id : options.jobs)
    if (!is_job_id(id)) return failed(out, "Invalid job id: " + id), out;
  for (const std::string& id : options.steps)
    if (!is_job_id(id.substr(0, id.find('.')))) return failed(out, "Invalid job_step id: " + id), out;
  // A typed -o or -O beats the environment's choice of the other one; --local beats --federation.
  if (options.typed("format") && options.typed("Format")) return failed(out, "-o (--format) is incompatible with -O (--Format)"), out;
  if (options.typed("format") && !options.typed("Format")) options.long_format.clear();
  if (options.typed("Format") && !options.typed("format")) options.format.clear();
  if (options.local) options.federation = false;
  return out;
}

QueryParse<SinfoOptions> parse_sinfo(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SinfoOptions>(Command::kSinfo, sinfo_rows(), arguments, env);
  if (out.options.typed("Format") && !out.options.typed("format")) out.options.format.clear();
  if (out.options.local) out.options.federation = false;
  // Partitions that are named are shown even when they are hidden, so -a beside -p has no clear meaning.
  if (out.outcome == Outcome::kRun && out.options.typed("all") && out.options.typed("partition"))
    failed(out, "Conflicting options, -a and -p, specified. Please choose one or the other.");
  return out;
}

QueryParse<ScancelOptions> parse_scancel(std::span<const std::string> arguments, const EnvLookup& env) {
  return parse_query<ScancelOptions>(Command::kScancel, scancel_rows(), arguments, env);
}

QueryParse<ScontrolOptions> parse_scontrol(std::span<const std::string> arguments, const EnvLookup& env) {
  return parse_query<ScontrolOptions>(Command::kScontrol, scontrol_rows(), arguments, env);
}

QueryParse<SattachOptions> parse_sattach(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SattachOptions>(Command::kSattach, sattach_rows(), arguments, env);
  const SattachOptions& o = out.options;
  if (out.outcome == Outcome::kRun && o.pty && (o.label || o.input_filter || o.output_filter || o.error_filter))
    failed(out, "--pty is not compatible with --label, --input-filter, --output-filter and --error-filter");
  if (out.outcome == Outcome::kRun && out.operands.size() != 1)
    failed(out, out.operands.empty() ? "no step id was given" : "too many parameters");
  return out;
}

QueryParse<SbcastOptions> parse_sbcast(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SbcastOptions>(Command::kSbcast, sbcast_rows(), arguments, env);
  if (out.outcome == Outcome::kRun && out.operands.size() != 2)
    failed(out, "Need two file names, have " + std::to_string(out.operands.size()) + " names");
  return out;
}

QueryParse<SacctOptions> parse_sacct(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SacctOptions>(Command::kSacct, sacct_rows(), arguments, env);
  if (out.outcome == Outcome::kRun && !out.operands.empty()) {
    failed(out, "Unknown arguments:");
    for (const std::string& word : out.operands) out.messages.push_back({Message::Level::kError, " " + word});
  }
  if (out.options.local) out.options.federation = false;
  return out;
}

QueryParse<SacctmgrOptions> parse_sacctmgr(std::span<const std::string> arguments, const EnvLookup& env) {
  return parse_query<SacctmgrOptions>(Command::kSacctmgr, sacctmgr_rows(), arguments, env);
}

QueryParse<SreportOptions> parse_sreport(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SreportOptions>(Command::kSreport, sreport_rows(), arguments, env);
  if (!out.options.clusters.empty()) out.options.local = true;
  if (out.options.local) out.options.federation = false;
  return out;
}

QueryParse<SwaitOptions> parse_swait(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SwaitOptions>(Command::kSwait, swait_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  if (out.options.quiet && out.options.verbose) failed(out, "don't specify both --verbose (-v) and --quiet (-Q)");
  else if (out.operands.size() > 1) failed(out, "too many arguments: one job is waited for");
  return out;
}

QueryParse<SshareOptions> parse_sshare(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SshareOptions>(Command::kSshare, sshare_rows(), arguments, env);
  if (out.outcome == Outcome::kRun && !out.operands.empty()) failed(out, "Unrecognized option: " + out.operands[0]);
  return out;
}

// Jobs may also be named by the words behind the options.
QueryParse<SstatOptions> parse_sstat(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SstatOptions>(Command::kSstat, sstat_rows(), arguments, env);
  for (const std::string& word : out.operands)
    for (std::string_view part : split_outside_brackets(word)) out.options.jobs.emplace_back(trim(part));
  return out;
}

namespace {

// What is wrong with the options of sh5util, and how bad that is; the first lines are Slurm's. No text: nothing.
Message fault_of(const Sh5utilOptions& o) {
  using enum Message::Level;
  using enum Sh5utilOptions::Action;
  if (o.typed("extract") + o.typed("item-extract") + o.typed("list") > 1)
    return {kError, "Only one of --extract, --item-extract and --list can be asked for at a time"};
  if (o.jobs.empty()) return {kError, "JobID must be specified."};
  if ((o.action == kItemExtract || o.action == kList) && o.series.empty()) return {kFatal, "Must specify series option --series"};
  if (o.action == kItemExtract && o.data.empty()) return {kFatal, "Must specify data option --data "};
  return {kError, ""};
}

}  // namespace

QueryParse<Sh5utilOptions> parse_sh5util(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<Sh5utilOptions>(Command::kSh5util, sh5util_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  Message fault = fault_of(out.options);
  if (fault.text.empty() && !out.operands.empty()) fault.text = "Unrecognized option: " + out.operands[0];
  if (fault.text.empty()) return out;
  out.outcome = Outcome::kFailed;
  out.messages.push_back(std::move(fault));
  return out;
}

QueryParse<SprioOptions> parse_sprio(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<SprioOptions>(Command::kSprio, sprio_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  SprioOptions& options = out.options;
  if (options.typed("jobs")) take_next_word(options.jobs, out.operands);
  if (!out.operands.empty()) failed(out, "Unrecognized option: " + out.operands[0]);
  if (options.clusters.find(',') != std::string::npos) failed(out, "Only one cluster can be asked at a time: " + options.clusters);
  if (options.typed("format") && options.long_output) {
    out.outcome = Outcome::kFailed;
    out.messages.push_back(
        {Message::Level::kFatal, "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry."});
  }
  if (!options.clusters.empty()) options.local = true;
  if (options.local) options.federation = false;
  return out;
}

QueryParse<ScrontabOptions> parse_scrontab(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<ScrontabOptions>(Command::kScrontab, scrontab_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  const ScrontabOptions& o = out.options;
  const int asked = o.typed("edit") + o.typed("list") + o.typed("remove");
  if (asked > 1) failed(out, "only one of -e, -l and -r can be used");
  else if (asked == 1 && !out.operands.empty()) failed(out, "a file is installed; -e, -l and -r take none");
  else if (asked == 0 && out.operands.empty()) failed(out, "a file, or - for standard input, or one of -e, -l and -r is needed");
  else if (out.operands.size() > 1) failed(out, "too many arguments: one file is installed");
  return out;
}

namespace {

// What is wrong with the options of strigger, in Slurm's words; "": nothing.
std::string fault_of(const StriggerOptions& options) {
  if (options.set + options.get + options.clear != 1) return "You must use exactly one of the following options: --set, --get or --clear";
  if (options.clear && !options.id && options.job.empty() && options.user.empty())
    return "You must specify a --id, --jobid, or --user to clear";
  if (options.set && !options.on)
    return "You must specify a trigger: --down, --drained, --draining, --fail, --idle, --reconfig, --resume, --up, --fini, --time, "
           "--primary_slurmctld_resumed_operation, --primary_slurmctld_acct_buffer_full, --primary_slurmdbd_failure or "
           "--primary_slurmdbd_resumed_operation";
  const uint32_t of_jobs = bit_of(TriggerOn::kTime) | bit_of(TriggerOn::kFini);
  if ((options.on & of_jobs) && options.job.empty()) return "You must specify a --jobid value";
  if (options.set && options.program.empty()) return "You must specify a --program value";
  if (!options.program.empty() && options.program[0] != '/') return "The --program value must start with \"/\"";
  return {};
}

}  // namespace

QueryParse<StriggerOptions> parse_strigger(std::span<const std::string> arguments, const EnvLookup& env) {
  auto out = parse_query<StriggerOptions>(Command::kStrigger, strigger_rows(), arguments, env);
  if (out.outcome != Outcome::kRun) return out;
  if (const std::string fault = fault_of(out.options); !fault.empty()) failed(out, fault);
  return out;
}

std::vector<const OptionInfo*> option_infos(Command command) {
  std::vector<const OptionInfo*> out;
  switch (command) {
    case Command::kSqueue: add_infos(squeue_rows(), out); break;
    case Command::kSinfo: add_infos(sinfo_rows(), out); break;
    case Command::kScancel: add_infos(scancel_rows(), out); break;
    case Command::kScontrol: add_infos(scontrol_rows(), out); break;
    case Command::kSattach: add_infos(sattach_rows(), out); break;
    case Command::kSbcast: add_infos(sbcast_rows(), out); break;
    case Command::kSacct: add_infos(sacct_rows(), out); break;
    case Command::kSacctmgr: add_infos(sacctmgr_rows(), out); break;
    case Command::kSwait: add_infos(swait_rows(), out); break;
    case Command::kSshare: add_infos(sshare_rows(), out); break;
    case Command::kSprio: add_infos(sprio_rows(), out); break;
    case Command::kSstat: add_infos(sstat_rows(), out); break;
    case Command::kSh5util: add_infos(sh5util_rows(), out); break;
    case Command::kScrontab: add_infos(scrontab_rows(), out); break;
    case Command::kStrigger: add_infos(strigger_rows(), out); break;
    case Command::kSreport: add_infos(sreport_rows(), out); break;
    default:
      for (const JobOptionRow* row : job_rows(command)) out.push_back(&row->info);
  }
  return out;
}

}  // namespace muster
