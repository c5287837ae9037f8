#include "options/parser.h"

#include <algorithm>

#include "base/text.h"
#include "model/het.h"
#include "options/components.h"
#include "options/parser_detail.h"
#include "options/script_directives.h"

namespace muster {

bool env_flag_is_set(std::string_view value) {
  if (value.empty() || value == "yes") return true;
  auto n = parse_number<int64_t>(value);
  return n && *n != 0;
}

std::optional<std::string> JobCommandLine::value(std::string_view name) const {
  std::optional<std::string> out;
  for (const ScannedOption& o : scan.options)
    if (rows[o.row]->info.name == name) out = o.value;
  return out;
}

namespace {

Result<> set_plugin_option(JobOptions& o, const Given& g) {
  o.plugin_options.push_back({g.info->name, g.has_value, std::string(g.value), g.source});
  return {};
}

std::vector<JobOptionRow> rows_of_plugins(Command command, std::span<const PluginOption> plugins) {
  std::vector<JobOptionRow> out;
  out.reserve(plugins.size());
  for (const PluginOption& p : plugins)
    out.push_back({{.name = p.name.c_str(),
                    .arg = p.arg,
                    .arg_name = p.arg_name.c_str(),
                    .commands = only(command),
                    .section = Section::kPlugins,
                    .summary = p.summary.c_str(),
                    .doc = p.summary.c_str()},
                   set_plugin_option});
  return out;
}

}  // namespace

namespace {

// Scans up to the end of one component; `rest` is what follows its ":", if there is one.
bool scan_component(JobCommandLine& line, std::span<const std::string> arguments, std::optional<std::vector<std::string>>& rest,
                    std::vector<Message>& messages) {
  auto infos = options_detail::infos_of<JobOptions>(line.rows);
  auto scan = scan_arguments(infos, arguments, Operands::kEndOptions);
  if (!scan) {
    options_detail::add_getopt_error(messages, scan.error(), line.command, infos);
    return false;
  }
  line.scan = std::move(*scan);
  // A ":" as a word of its own separates components; srun may have one after a command, too.
  std::vector<std::string>& operands = line.scan.operands;
  const auto last = line.command == Command::kSrun || operands.empty() ? operands.end() : operands.begin() + 1;
  const auto colon = std::find(operands.begin(), last, ":");
  if (colon == last) return true;
  rest.emplace(colon + 1, operands.end());
  operands.erase(colon, operands.end());
  return true;
}

}  // namespace

JobScanResult scan_job_command(Command command, std::span<const std::string> arguments, std::span<const PluginOption> plugins) {
  JobScanResult out;
  out.line.command = command;
  out.line.rows = job_rows(command);
  if (!plugins.empty()) {
    out.line.plugin_rows = std::make_shared<const std::vector<JobOptionRow>>(rows_of_plugins(command, plugins));
    for (const JobOptionRow& row : *out.line.plugin_rows) out.line.rows.push_back(&row);
  }
  std::optional<std::vector<std::string>> rest;
  if (!scan_component(out.line, arguments, rest, out.messages)) return out;
  while (rest) {
    if (out.more.size() + 1 >= kMostComponents) {
      out.messages.push_back(
          {Message::Level::kError, "a heterogeneous job has at most " + std::to_string(kMostComponents) + " components"});
      return out;
    }
    JobCommandLine next = out.component(out.more.size() + 1);
    const std::vector<std::string> words = std::move(*rest);
    rest.reset();
    if (!scan_component(next, words, rest, out.messages)) return out;
    out.more.push_back(std::move(next));
  }
  return out;
}

JobCommandLine JobScanResult::component(size_t at) const {
  if (at == 0) return line;
  if (at <= more.size()) return more[at - 1];
  JobCommandLine none = line;
  none.scan = {};
  return none;
}

std::optional<std::string> JobScanResult::value(std::string_view name) const {
  for (size_t i = more.size(); i-- > 0;)
    if (auto v = more[i].value(name)) return v;
  return line.value(name);
}

namespace {

using options_detail::Applier;

// Splits directives into options by the command's own rows.
bool apply_script(const JobCommandLine& line, const JobInputs& in, Applier<JobOptions>& apply, JobParse& out) {
  auto directives = read_directives(*in.script, in.script_name);
  if (!directives) {
    options_detail::add_error(out.messages, directives.error(), Message::Level::kFatal, line.command);
    return false;
  }
  auto infos = options_detail::infos_of<JobOptions>(line.rows);
  const size_t component = in.before.size();
  for (const DirectiveLine& directive : directives->lines) {
    if (directive.component > component) break;
    auto scan = scan_arguments(infos, directive.words, Operands::kEndOptions);
    std::string where = in.script_name + ", line " + std::to_string(directive.line);
    if (!scan) {
      options_detail::add_getopt_error(out.messages, scan.error(), line.command, infos);
      out.messages.push_back({Message::Level::kHint, where});
      return false;
    }
    for (const ScannedOption& o : scan->options) {
      if (directive.component < component && !is_handed_on(line.rows[o.row]->info.name)) continue;
      if (line.rows[o.row]->info.client_only) {
        out.messages.push_back(
            {Message::Level::kWarning, "--" + std::string(line.rows[o.row]->info.name) + " is ignored in a batch script (" + where + ")"});
        continue;
      }
      if (!apply.one(*line.rows[o.row], Source::kScript, nullptr, o.has_value, o.value)) {
        out.messages.push_back({Message::Level::kHint, where});
        return false;
      }
    }
    if (!scan->operands.empty()) {
      out.messages.push_back({Message::Level::kError, "Invalid directive found in batch script: " + scan->operands[0]});
      out.messages.push_back({Message::Level::kHint, where});
      return false;
    }
  }
  if (!directives->foreign_lines.empty() && !out.options.ignore_pbs && !line.given("ignore-pbs"))
    out.messages.push_back({Message::Level::kWarning, "#PBS and #BSUB lines are not translated (line " +
                                                          std::to_string(directives->foreign_lines[0]) +
                                                          "): write them as #SBATCH, or use --ignore-pbs"});
  return true;
}

// "help" as the value of some options prints a list instead of running.
std::string topic_asked(const JobOptions& o) {
  if (o.request.hint.text() == "help") return "hint";
  if (iequals(o.request.cpu_bind.text(), "help")) return "cpu-bind";
  if (iequals(o.request.mem_bind.text(), "help")) return "mem-bind";
  if (iequals(o.gres, "help")) return "gres";
  if (iequals(o.step.mpi, "list")) return "mpi";
  return {};
}

// --help and --version on the command line win over everything else there, wrong values included.
Outcome asked_first(const JobCommandLine& line) {
  for (const ScannedOption& s : line.scan.options) {
    std::string_view name = line.rows[s.row]->info.name;
    if (name == "help") return Outcome::kHelp;
    if (name == "usage") return Outcome::kUsage;
    if (name == "version") return Outcome::kVersion;
  }
  return Outcome::kRun;
}

}  // namespace

JobParse parse_job_command(const JobCommandLine& line, const JobInputs& in) {
  JobParse out;
  out.operands = line.scan.operands;
  if (Outcome o = asked_first(line); o != Outcome::kRun) {
    out.outcome = o;
    return out;
  }
  JobOptions& options = out.options;
  options.command = line.command;
  bool in_allocation =
      line.command == Command::kSrun && (line.given("jobid") || (in.env && (in.env("SLURM_JOB_ID") || in.env("SLURM_JOBID"))));
  Applier<JobOptions> apply(options, options.seen, out.messages, line.command, in.now, in_allocation);
  if (in.script && !apply_script(line, in, apply, out)) return out;
  if (in.env && !apply.environment(line.rows, in.env)) return out;
  for (const JobCommandLine& before : in.before) {
    Scan handed_on = before.scan;
    std::erase_if(handed_on.options, [&](const ScannedOption& o) { return !is_handed_on(line.rows[o.row]->info.name); });
    if (!apply.command_line(line.rows, handed_on)) return out;
  }
  if (!apply.command_line(line.rows, line.scan)) return out;
  out.topic = topic_asked(options);
  if (!out.topic.empty()) {
    out.outcome = Outcome::kTopicHelp;
    return out;
  }
  if (line.command == Command::kSbatch && options.wrap && !out.operands.empty()) {
    out.messages.push_back({Message::Level::kError, "Script arguments not permitted with --wrap option"});
    return out;
  }
  if (line.command == Command::kSrun && out.operands.empty() && !options.request.test_only) {
    out.messages.push_back({Message::Level::kFatal, "No command given to execute."});
    return out;
  }
  if (!finish_job_options(options, out.messages)) return out;
  out.outcome = Outcome::kRun;
  return out;
}

Result<> set_job_option(JobOptions& options, std::string_view name, std::string_view value, Time now) {
  std::vector<std::string_view> names;
  std::string wanted(name);
  for (char& c : wanted)
    if (c == '_') c = '-';
  for (const JobOptionRow* row : job_rows(options.command)) {
    if (!row->info.name) continue;
    names.push_back(row->info.name);
    if (row->info.name != wanted && !is_other_spelling(row->info, wanted)) continue;
    std::vector<Message> messages;
    Applier<JobOptions> apply(options, options.seen, messages, options.command, now, false);
    if (apply.one(*row, Source::kCommandLine, nullptr, row->info.arg != Arg::kNone && !value.empty(), value)) return {};
    Error e(Errc::kInvalidReq, messages.empty() ? std::string() : messages[0].text);
    if (messages.size() > 1) e.hint = messages[1].text;
    return std::unexpected(std::move(e));
  }
  std::string_view near = did_you_mean(wanted, names);
  return fail(Errc::kInvalidReq, "unknown option " + wanted, near.empty() ? std::string() : "did you mean " + std::string(near) + "?");
}

}  // namespace muster
