// scontrol: looks at and changes the cluster. One command line, or a prompt. scontrol(1).
#include <algorithm>
#include <functional>

#include "cli/common/version.h"
#include "cli/scontrol/context.h"
#include "cli/scontrol/keywords.h"

namespace muster::cli {
namespace {

void print_help() {
  Out out;
  out.put(help_text(Command::kScontrol));
  out.put("\nCommands:\n");
  append_keyword_help(out.buffer());
}

template <rpc::JobAction Action>
void on_jobs(Context& c, Words words) {
  control_jobs(c, Action, words);
}

struct Verb {
  Keyword keyword;
  void (*run)(Context&, Words);
};
using rpc::JobAction;
constexpr Verb kVerbs[] = {
    {Keyword::kAbort, shutdown},  // in older Slurm it left a core file; today the daemons just end
    {Keyword::kAll, [](Context& c, Words) { c.options.visibility = Visibility::kAll; }},
    {Keyword::kCancelReboot, cancel_reboot},
    {Keyword::kCluster, [](Context& c, Words w) { c.use_cluster(w.empty() ? "" : w[0]); }},
    {Keyword::kCompleting, [](Context& c, Words) { show_completing(c); }},
    {Keyword::kCreate, create},
    {Keyword::kDelete, remove},
    {Keyword::kDetails, [](Context& c, Words) { c.options.details = true; }},
    {Keyword::kErrnumstr, print_errnumstr},
    {Keyword::kExit, [](Context& c, Words) { c.done = true; }},
    {Keyword::kFsDampeningFactor, set_dampening},
    {Keyword::kGetAddrs, get_addresses},
    {Keyword::kGetent, get_entities},
    {Keyword::kHelp, [](Context&, Words) { print_help(); }},
    {Keyword::kHide, [](Context& c, Words) { c.options.visibility = Visibility::kHide; }},
    {Keyword::kHold, on_jobs<JobAction::kHold>},
    {Keyword::kListJobs, list_jobs},
    {Keyword::kListPids, list_pids},
    {Keyword::kListSteps, list_steps},
    {Keyword::kNotify, notify},
    {Keyword::kOneliner, [](Context& c, Words) { c.options.oneliner = true; }},
    {Keyword::kPidInfo, pid_info},
    {Keyword::kPing, [](Context& c, Words) { ping(c); }},
    {Keyword::kPower, power_nodes},
    {Keyword::kQuiet, [](Context& c, Words) { c.options.quiet = true; }},
    {Keyword::kQuit, [](Context& c, Words) { c.done = true; }},
    {Keyword::kReboot, reboot_nodes},
    {Keyword::kReconfigure, [](Context& c, Words) { reconfigure(c); }},
    {Keyword::kRelease, on_jobs<JobAction::kRelease>},
    {Keyword::kRequeue, on_jobs<JobAction::kRequeue>},
    {Keyword::kRequeueHold, on_jobs<JobAction::kRequeueHold>},
    {Keyword::kResume, on_jobs<JobAction::kResume>},
    {Keyword::kSchedLogLevel, set_schedloglevel},
    {Keyword::kSetDebug, set_debug},
    {Keyword::kSetDebugFlags, set_debug_flags},
    {Keyword::kShow, show},
    {Keyword::kShutdown, shutdown},
    {Keyword::kSuspend, on_jobs<JobAction::kSuspend>},
    {Keyword::kTakeover, takeover},
    {Keyword::kToken, token},
    {Keyword::kTop, on_jobs<JobAction::kTop>},
    {Keyword::kUhold, on_jobs<JobAction::kUserHold>},
    {Keyword::kUpdate, update},
    {Keyword::kVerbose, [](Context& c, Words) { ++c.options.verbose; }},
    {Keyword::kVersion, [](Context&, Words) { Out().line(kVersionText); }},
    {Keyword::kWaitJob, wait_job},
    {Keyword::kWrite, write},
};

std::string too_few(const KeywordRow& row, const std::string& typed) {
  bool specification = row.keyword == Keyword::kUpdate || row.keyword == Keyword::kCreate || row.keyword == Keyword::kDelete;
  if (specification) return "too few arguments for " + std::string(row.name) + " keyword";
  if (row.keyword == Keyword::kPidInfo) return "missing argument for keyword:" + typed;
  return "too few arguments for keyword:" + typed;
}

void run_line(Context& c, Words line) {
  const std::string& typed = line[0];
  const KeywordRow* row = find_keyword(typed);
  if (!row) return c.complain("invalid keyword: " + typed);
  Words words = line.subspan(1);
  if (words.size() < row->min_words) return c.complain(too_few(*row, typed));
  if (words.size() > row->max_words) return c.complain("too many arguments for keyword:" + typed);
  for (const Verb& v : kVerbs)
    if (v.keyword == row->keyword) return v.run(c, words);
}

// Takes off words such as those of "setdebugflags -Backfill": after this verb they begin with a sign and are no options.
std::vector<std::string> take_signed_words(std::vector<std::string>& arguments) {
  auto at = std::ranges::find_if(arguments, [](const std::string& a) {
    const KeywordRow* row = find_keyword(a);
    return row && row->keyword == Keyword::kSetDebugFlags;
  });
  std::vector<std::string> words(at, arguments.end());
  arguments.erase(at, arguments.end());
  return words;
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments = arguments_of(argc, argv);
  std::vector<std::string> words = take_signed_words(arguments);
  QueryParse<ScontrolOptions> parse = parse_scontrol(arguments, process_environment());
  if (parse.outcome == Outcome::kHelp) {
    print_help();
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kScontrol, parse.messages, 1)) return *code;
  Context c(std::move(parse.options));
  parse.operands.insert(parse.operands.end(), words.begin(), words.end());
  if (!parse.operands.empty()) run_line(c, parse.operands);
  else c.interact([&](Words line) { run_line(c, line); });
  return c.exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
