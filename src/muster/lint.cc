#include "muster/lint.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/spank.h"
#include "cli/sbatch/submit.h"
#include "muster/verbs.h"
#include "muster/words.h"
#include "os/clock.h"
#include "os/files.h"

namespace muster::front {
namespace {

constexpr size_t kMaxScripts = 1000;
constexpr size_t kMaxFindings = 1000;  // in one script

// Slurm breaks its sentences into lines; a finding has one line.
std::string one_line(std::string_view text) {
  std::string out;
  for (std::string_view word : split(text, '\n')) out += (out.empty() ? "" : " ") + std::string(trim(word));
  for (size_t at = out.find("  "); at != out.npos; at = out.find("  ")) out.erase(at, 1);
  return out;
}

// The options that a refusal of the controller is about; the finding gets the line of the first that is given.
struct Blamed {
  Errc code;
  std::string_view options[4];
};
constexpr Blamed kBlamed[] = {
    {Errc::kInvalidPartition, {"partition"}}, {Errc::kInvalidTimeLimit, {"time"}},
    {Errc::kInvalidNodeCount, {"nodes"}},     {Errc::kInvalidNodeName, {"nodelist", "exclude"}},
    {Errc::kInvalidFeature, {"constraint"}},  {Errc::kInvalidGres, {"gres", "gpus-per-node", "gpus", "gpus-per-task"}},
    {Errc::kInvalidAccount, {"account"}},     {Errc::kInvalidQos, {"qos"}},
    {Errc::kInvalidArray, {"array"}},         {Errc::kDependency, {"dependency"}},
};

const DirectiveOption* blamed(const Look& look, Errc code) {
  for (const Blamed& b : kBlamed)
    if (b.code == code)
      for (std::string_view name : b.options)
        if (const DirectiveOption* o = name.empty() ? nullptr : look.option(name)) return o;
  return nullptr;
}

Finding refusal(const Look& look, const Error& e) {
  const DirectiveOption* o = blamed(look, e.code);
  const std::string usual(errc_text(e.code));
  Finding f{Level::kError, look.name, 0, "", "the cluster would refuse it: " + one_line(e.message()), e.hint};
  if (!e.text.empty() && e.text != usual) f.message += " (" + usual + ")";
  if (o) {
    f.line = static_cast<uint32_t>(o->line);
    f.subject = "--" + o->name;
  }
  return f;
}

// Reports what the cluster answers to --test-only; nothing when there is no cluster, or it does not answer.
void ask_cluster(const Look& look, std::string_view script, std::vector<Finding>& out) {
  Result<cli::Session> session = cli::Session::find(cli::Patience::kNone);
  if (!session || !session->connect()) return;
  cli::Script job_script;
  job_script.text = script;
  job_script.name = job_script.default_job_name = look.name;
  std::vector<std::string> arguments = {look.name};
  auto request = cli::make_submission(look.check.options, std::move(job_script), arguments, session->conf(), arguments, {});
  if (!request) {
    out.push_back({Level::kError, look.name, 0, "", one_line(request.error().message()), request.error().hint});
    return;
  }
  rpc::WillRun ask;
  ask.request = std::move(request->request);
  ask.request.test_only = true;
  auto answer = session->call(ask);
  if (answer)
    out.push_back({Level::kNote, look.name, 0, "",
                   "would start at " + format_time(answer->start) + " on " + answer->node_list + " in partition " + answer->partition, ""});
  else if (!cli::Session::is_connection_error(answer.error())) out.push_back(refusal(look, answer.error()));
}

std::vector<Finding> lint(const Look& look, std::string_view script) {
  std::vector<Finding> out;
  for (const auto& [fault, line] : script_faults(script, kDefaultMaxScript))
    out.push_back({Level::kError, look.name, line, "", one_line(fault.message()), fault.hint});
  for (const DirectiveFinding& f : look.check.findings)
    out.push_back({f.error ? Level::kError : Level::kWarning, look.name, static_cast<uint32_t>(f.line), f.option, f.text, f.hint});
  run_text_rules(look, out);
  run_option_rules(look, out);
  if (out.size() > kMaxFindings) out.resize(kMaxFindings);
  return out;
}

Result<std::string> read_standard_input() { return os::read_file("/dev/stdin", kDefaultMaxScript + 1); }

LintWorld world_here() {
  LintWorld w;
  w.work_dir = cli::current_directory();
  w.is_directory = [](const std::string& path) {
    struct stat s {};
    return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
  };
  w.now = os::wall_now();
  return w;
}

}  // namespace

std::vector<Finding> lint_script(std::string_view script, const std::string& name, const LintWorld& world) {
  return lint(look_at(script, name, world), script);
}

int lint_verb(std::span<const std::string> arguments) {
  Result<Words> words = read_words(arguments, {"--json", "--offline"}, kMaxScripts);
  if (!words) return complain(words.error());
  std::vector<std::string> names = words->rest;
  if (names.empty()) names = {"-"};
  const os::CliLog log("muster");
  Result<cli::ClientConf> conf = cli::find_client_conf();
  Result<cli::SpankHost> plugins = conf ? cli::SpankHost::load(Command::kSbatch, *conf, log) : cli::SpankHost();
  if (!plugins) return complain(plugins.error());
  LintWorld world = world_here();
  world.plugins = plugins->options();
  std::vector<Finding> all;
  for (std::string& name : names) {
    Result<std::string> script = name == "-" ? read_standard_input() : os::read_file(name, kDefaultMaxScript + 1);
    if (!script) return complain(Error(Errc::kNotFound, "Unable to open file " + name, std::string(script.error().message())));
    if (name == "-") name = "standard input";
    const Look look = look_at(*script, name, world);
    std::vector<Finding> findings = lint(look, *script);
    if (!words->has("--offline") && !any_error(findings)) ask_cluster(look, *script, findings);
    all.insert(all.end(), findings.begin(), findings.end());
  }
  return show(std::move(all), names, words->has("--json"));
}

}  // namespace muster::front
