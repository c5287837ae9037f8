// sacctmgr: looks at and changes accounts, users, QOS and their limits. One command line, or a prompt. sacctmgr(1).
#include "base/text.h"
#include "cli/common/version.h"
#include "cli/sacctmgr/context.h"
#include "cli/sacctmgr/listing.h"

namespace muster::cli {
namespace {

void print_help(Context&, Words);

struct Verb {
  std::string_view name;
  size_t least;  // how many letters make it unambiguous
  void (*run)(Context&, Words);
  std::string_view help;  // "" : an older or shorter spelling
  std::string_view summary;
  bool as_text_alone = false;  // it refuses --json and --yaml
};
constexpr Verb kVerbs[] = {
    {"add", 3, add, "add ENTITY SPECS", "add accounts, users, QOS, clusters, coordinators", true},
    {"archive", 2, archive, "archive dump [SPECS]|load File=FILE", "purge old records into files; bring them back", true},
    {"clear", 2, clear, "clear stats", "slurmdbd counts its requests anew", true},
    {"create", 1, add, "", "", true},
    {"delete", 3, remove, "delete ENTITY [where] SPECS", "delete what the conditions meet", true},
    {"remove", 3, remove, "", "", true},
    {"dump", 2, dump, "dump CLUSTER [file=FILE]", "write accounts, users, QOS and limits of a cluster to a file", true},
    {"exit", 1, [](Context& c, Words) { c.done = true; }, "exit", "end the prompt"},
    {"help", 1, print_help, "help", "this list"},
    {"list", 1, show, "list ENTITY [SPECS] [format=...]", "show accounts, associations, clusters, QOS, users …"},
    {"show", 2, show, "", ""},
    {"load", 2, load, "load FILE [cluster=NAME] [clean[=account,qos,user]]", "make the database say what such a file says", true},
    {"modify", 1, modify, "modify ENTITY [where] SPECS set SPECS", "change what the conditions meet", true},
    {"update", 2, modify, "", "", true},
    {"ping", 1, ping, "ping", "ask whether slurmdbd is there"},
    {"quiet", 4, [](Context& c, Words) { c.options.quiet = true; }, "quiet", "print errors only"},
    {"quit", 4, [](Context& c, Words) { c.done = true; }, "", ""},
    {"readonly", 4, [](Context& c, Words) { c.options.readonly = true; }, "readonly", "change nothing from now on"},
    {"associations", 3, [](Context& c, Words) { c.options.associations = true; }, "associations", "show associations too from now on"},
    {"reconfigure", 3, reconfigure, "reconfigure", "slurmdbd reads its configuration again", true},
    {"shutdown", 3, shutdown, "shutdown", "slurmdbd ends", true},
    {"verbose", 4, [](Context& c, Words) { c.log.set_level(os::LogLevel::kVerbose); }, "verbose", "say more"},
    {"version", 4, [](Context&, Words) { Out().line(kVersionText); }, "version", "print the version"},
};

void print_help(Context&, Words) {
  Out out;
  out.put(help_text(Command::kSacctmgr));
  out.put("\nCommands:\n");
  for (const Verb& v : kVerbs)
    if (!v.help.empty()) out.put(verb_help(v.help, v.summary, 42));
}

void run_line(Context& context, Words line) {
  const std::string& typed = line[0];
  for (const Verb& verb : kVerbs)
    if (typed.size() >= std::min(verb.least, verb.name.size()) && istarts_with(verb.name, typed)) {
      if (verb.as_text_alone && as_data(context))
        return context.complain("sacctmgr: error: " + std::string(verb.name) + ": --json and --yaml are of list, show and ping");
      return verb.run(context, line.subspan(1));
    }
  context.complain("invalid keyword: " + typed);
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  std::string_view meant = did_you_mean(to_lower(typed), names);
  if (!meant.empty()) context.log.info("did you mean {}?", meant);
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SacctmgrOptions> parse = parse_sacctmgr(arguments, process_environment());
  Context c(std::move(parse.options));
  if (parse.outcome == Outcome::kHelp) {
    print_help(c, {});
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kSacctmgr, parse.messages, 1)) return *code;
  set_verbosity(c.log, c.options.verbose);
  if (auto code = data_parser_asked(c.options.data, c.log)) return *code;
  if (!parse.operands.empty()) run_line(c, parse.operands);
  else c.interact([&](Words line) { run_line(c, line); });
  return c.exit_code;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
