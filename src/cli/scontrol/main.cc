// scontrol: looks at and changes the cluster. One command line, or a prompt. scontrol(1).
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

void carry_out(Context& c, const KeywordRow& row, const std::string& typed, Words words) {
  using rpc::JobAction;
  switch (row.keyword) {
    case Keyword::kCompleting:
      return show_completing(c);
    case Keyword::kCreate:
      return create(c, words);
    case Keyword::kDelete:
      return remove(c, words);
    case Keyword::kErrnumstr:
      return print_errnumstr(c, words);
    case Keyword::kExit:
    case Keyword::kQuit:
      c.done = true;
      return;
    case Keyword::kHelp:
      return print_help();
    case Keyword::kHold:
      return control_jobs(c, JobAction::kHold, words);
    case Keyword::kUhold:
      return control_jobs(c, JobAction::kUserHold, words);
    case Keyword::kRelease:
      return control_jobs(c, JobAction::kRelease, words);
    case Keyword::kRequeue:
      return control_jobs(c, JobAction::kRequeue, words);
    case Keyword::kRequeueHold:
      return control_jobs(c, JobAction::kRequeueHold, words);
    case Keyword::kSuspend:
      return control_jobs(c, JobAction::kSuspend, words);
    case Keyword::kResume:
      return control_jobs(c, JobAction::kResume, words);
    case Keyword::kTop:
      return control_jobs(c, JobAction::kTop, words);
    case Keyword::kPing:
      return ping(c);
    case Keyword::kReconfigure:
      return reconfigure(c);
    case Keyword::kShow:
      return show(c, words);
    case Keyword::kShutdown:
      return shutdown(c, words);
    case Keyword::kUpdate:
      return update(c, words);
    case Keyword::kVersion: {
      Out out;
      return out.line(kVersionText);
    }
    case Keyword::kWaitJob:
      return wait_job(c, words);
    case Keyword::kWrite:
      return write_script(c, words);
    case Keyword::kAll:
      c.options.visibility = Visibility::kAll;
      return;
    case Keyword::kHide:
      c.options.visibility = Visibility::kHide;
      return;
    case Keyword::kDetails:
      c.options.details = true;
      return;
    case Keyword::kOneliner:
      c.options.oneliner = true;
      return;
    case Keyword::kQuiet:
      c.options.quiet = true;
      return;
    case Keyword::kVerbose:
      ++c.options.verbose;
      return;
    case Keyword::kUnavailable:
      return c.unavailable(typed);
  }
}

void run_line(Context& c, Words line) {
  const std::string& typed = line[0];
  const KeywordRow* row = find_keyword(typed);
  if (!row) return c.complain("invalid keyword: " + typed);
  Words words = line.subspan(1);
  if (words.size() < row->min_words)
    return c.complain(row->keyword == Keyword::kUpdate ? "too few arguments for update keyword"
                                                       : "too few arguments for keyword:" + typed);
  if (words.size() > row->max_words) return c.complain("too many arguments for keyword:" + typed);
  carry_out(c, *row, typed, words);
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<ScontrolOptions> parse = parse_scontrol(arguments, process_environment());
  if (parse.outcome == Outcome::kHelp) {
    print_help();
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kScontrol, parse.messages, 1)) return *code;
  Context c(std::move(parse.options));
  if (!c.options.uid_text.empty()) {
    c.unavailable("--uid");
    return c.exit_code;
  }
  if (!parse.operands.empty())
    run_line(c, parse.operands);
  else
    interact(c, [&](Words line) { run_line(c, line); });
  return c.exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
