// sbatch: submits a batch script. Arguments → script → options → one request. sbatch(1).
#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_environment.h"
#include "cli/common/spank.h"
#include "cli/sbatch/submit.h"
#include "model/het.h"
#include "options/script_directives.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

constexpr int kWrongOption = 255;

// The value of SchedulerParameters=max_script_size=N; the controller checks the size, too.
size_t max_script_bytes(const ClientConf& conf) {
  for (std::string_view part : split(conf.scheduler_parameters, ','))
    if (istarts_with(trim(part), "max_script_size="))
      return parse_number<size_t>(trim(part).substr(16), 1, size_t{512} << 20).value_or(kDefaultMaxScript);
  return kDefaultMaxScript;
}

// The script, or --wrap, may stand with any component; it is the first's.
JobParse parse_first(const JobScanResult& scan, const JobInputs& in) {
  JobParse parse = parse_job_command(scan.line, in);
  if (auto wrapped = scan.value("wrap"); wrapped && !scan.more.empty()) parse.options.wrap = *wrapped;
  return parse;
}

// The other components of a heterogeneous job: those that ":" separates on the command line, "#SBATCH hetjob" in the script. The exit code
// where one is wrong.
std::optional<int> parse_others(const JobScanResult& scan, JobInputs in, const std::string& script, std::vector<JobOptions>& out) {
  size_t count = scan.more.size() + 1;
  if (in.script)
    if (auto directives = read_directives(script, in.script_name)) count = std::max(count, directives->components);
  if (count > kMostComponents) {
    const Message much{Message::Level::kError, "a heterogeneous job has at most " + std::to_string(kMostComponents) + " components"};
    show(std::span(&much, 1), "sbatch");
    return kWrongOption;
  }
  for (size_t i = 1; i < count; ++i) {
    in.before.push_back(scan.component(i - 1));
    JobCommandLine line = scan.component(i);
    line.scan.operands.clear();
    JobParse parse = parse_job_command(line, in);
    if (auto code = settled(parse.outcome, Command::kSbatch, parse.messages, kWrongOption, parse.topic)) return code;
    out.push_back(std::move(parse.options));
  }
  return std::nullopt;
}

int run(int argc, char** argv) {
  os::CliLog log("sbatch");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  Result<ClientConf> conf = find_client_conf();
  std::optional<SpankHost> plugins = start_plugins(Command::kSbatch, conf, arguments, log);
  if (!plugins) return 1;
  JobScanResult scan = scan_job_command(Command::kSbatch, arguments, plugins->options());
  if (!scan.ok()) {
    show(scan.messages, "sbatch");
    return kWrongOption;
  }
  JobInputs in;
  in.env = process_environment();
  in.now = os::wall_now();
  // --help and --version need neither script nor configuration.
  bool lists = std::ranges::any_of(arguments, [](const std::string& a) { return a.ends_with("=help"); });  // --gres=help …
  if (lists || scan.line.given("help") || scan.line.given("usage") || scan.line.given("version")) {
    JobParse asked = parse_job_command(scan.line, in);
    std::optional<int> code = settled(asked.outcome, Command::kSbatch, asked.messages, kWrongOption, asked.topic, plugins->options());
    if (code || !lists) return code.value_or(0);
  }
  if (!conf) {
    report_fatal(log, conf.error());
    return 1;
  }
  Session session(std::move(*conf), Patience::kMessageTimeout);
  Result<Script> script = load_script(scan, max_script_bytes(session.conf()));
  if (!script) {
    report(log, script.error());
    return 1;
  }
  in.script = scan.value("wrap") ? nullptr : &script->text;
  in.script_name = script->name;
  std::vector<JobOptions> components;
  JobParse parse = parse_first(scan, in);
  if (auto code = settled(parse.outcome, Command::kSbatch, parse.messages, kWrongOption, parse.topic)) return *code;
  components.push_back(parse.options);
  if (auto code = parse_others(scan, in, script->text, components)) return *code;
  if (parse.options.quiet) log.set_level(os::LogLevel::kError);
  set_verbosity(log, parse.options.verbose);
  say_options(log, parse.options);
  if (auto code = plugins_settled(*plugins, parse, log, kWrongOption)) return *code;
  components.front() = parse.options;  // with what plugins made of it
  Result<Submission> request =
      make_submission(std::move(components), std::move(*script), scan.last().scan.operands, session.conf(), arguments, own_environment());
  if (!request) {
    report(log, request.error());
    bool option = request.error().code == Errc::kUserIdMissing || request.error().code == Errc::kGroupIdMissing ||
                  request.error().code == Errc::kInvalidNodeName;  // --uid, --gid, --nodefile
    return parse.options.exit_error.value_or(option ? kWrongOption : 1);
  }
  say_inherited(log, request->job.request);
  return submit(session, parse.options, *request, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
