#include "cli/scrontab/entries.h"

#include <unistd.h>

#include <algorithm>

#include "cli/sbatch/submit.h"
#include "options/crontab_file.h"

namespace muster::cli {
namespace {

// Options that say something of one run or of the command itself have no meaning for a job that comes again.
constexpr std::string_view kMeaningless[] = {"array", "begin", "deadline", "wait", "test-only", "immediate", "clusters", "uid", "gid"};

std::string at(uint32_t line, std::string_view text) { return "line " + std::to_string(line) + ": " + std::string(text); }

// What is wrong with an option is told in several lines, not each of which is an error by itself: where they cannot be used, all are.
void tell_all(const CrontabEntry& entry, const JobParse& parse, CrontabRequest& out) {
  for (const Message& m : parse.messages) {
    const bool wrong = parse.outcome == Outcome::kFailed || m.level == Message::Level::kError || m.level == Message::Level::kFatal;
    (wrong ? out.faults : out.warnings).push_back(at(entry.last_line, m.text));
  }
}

// nullopt: the faults say why not.
std::optional<rpc::CronEntry> make_entry(const CrontabEntry& entry, const os::User& user, const ClientConf& conf, Time now,
                                         CrontabRequest& out) {
  const std::string directives = crontab_directives(entry);
  JobScanResult scan = scan_job_command(Command::kSbatch, {});
  JobInputs in;
  in.script = &directives;
  in.script_name = "the options of line " + std::to_string(entry.last_line);
  in.now = now;
  JobParse parse = parse_job_command(scan.line, in);
  tell_all(entry, parse, out);
  if (parse.outcome != Outcome::kRun) {
    if (parse.outcome != Outcome::kFailed)
      out.faults.push_back(at(entry.last_line, "#SCRON: options of sbatch that only print are none of a job"));
    return std::nullopt;
  }
  for (std::string_view name : kMeaningless)
    if (parse.options.given(name)) {
      out.faults.push_back(at(entry.last_line, "--" + std::string(name) + " has no meaning for a job that comes again and again"));
      return std::nullopt;
    }
  if (parse.options.chdir.empty()) parse.options.chdir = user.home;
  if (user.uid.value != ::getuid()) parse.options.user_text = std::to_string(user.uid.value);
  if (!parse.options.umask) parse.options.umask = 022;
  Script script;
  script.text = crontab_script(entry);
  script.name = "scrontab";
  script.default_job_name = crontab_job_name(entry);
  auto made = make_submission(std::move(parse.options), std::move(script), {}, conf, {}, {});
  if (!made) {
    out.faults.push_back(at(entry.last_line, made.error().message()));
    return std::nullopt;
  }
  rpc::CronEntry e;
  e.times = entry.times;
  e.first_line = entry.first_line;
  e.last_line = entry.last_line;
  e.request = std::move(made->request);
  e.request.submit_line = "scrontab";
  e.script = std::move(made->script);
  e.environment = std::move(made->environment);
  return e;
}

}  // namespace

CrontabRequest make_request(const std::string& text, const os::User& user, const ClientConf& conf, Time now) {
  CrontabRequest out;
  out.request.user = user.uid;
  out.request.crontab = text;
  if (text.size() > Crontab::kMostBytes)
    out.faults.push_back("the crontab has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(Crontab::kMostBytes) +
                         " are kept");
  CrontabFile file = read_crontab(text);
  for (const CrontabFault& f : file.faults)
    out.faults.push_back(at(f.line, f.error.message()) + (f.error.hint.empty() ? "" : " (" + f.error.hint + ")"));
  for (uint32_t line : file.options_without_job) out.warnings.push_back(at(line, "#SCRON without an entry after it"));
  if (!out.faults.empty()) return out;
  for (const CrontabEntry& entry : file.entries)
    if (auto made = make_entry(entry, user, conf, now, out)) out.request.entries.push_back(std::move(*made));
  return out;
}

}  // namespace muster::cli
