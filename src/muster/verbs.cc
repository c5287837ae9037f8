#include "muster/verbs.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/common/version.h"
#include "muster/check_config.h"
#include "muster/down.h"
#include "muster/explain.h"
#include "muster/lint.h"
#include "muster/maintenance.h"
#include "muster/report.h"
#include "muster/token.h"
#include "muster/topology.h"
#include "muster/up.h"

namespace muster::front {
namespace {

template <Action action>
int cluster(std::span<const std::string> arguments) {
  Result<Plan> plan = parse_plan(action, arguments);
  if (!plan) return complain(plan.error());
  Result<Place> place = find_place(plan->state);
  if (!place) return complain(place.error());
  switch (action) {
    case Action::kUp: return up(*place, *plan);
    case Action::kDown: return down(*place);
    case Action::kStatus: return status(*place);
    case Action::kLogs: return logs(*place, plan->log_name, 50);
  }
}

constexpr Verb kVerbs[] = {
    {"explain", "JOB|NODE...", "why a job waits or ended, what would start it sooner; what is the matter with a node", explain_verb},
    {"lint", "[SCRIPT...]", "what is wrong or odd about a batch script, before it waits in the queue", lint_verb},
    {"check-config", "[DIR|FILE]", "what is wrong with slurm.conf and the files beside it, and what was meant", check_config_verb},
    {"report", "NAME", "gpu-hours: ready to bill; efficiency: what jobs used of what they held, what to ask for next time", report_verb},
    {"token", "create|list|revoke", "lets hosts join without the cluster key, shows who did, shuts them out again", token_verb},
    {"maintenance", "start|show|...", "drains nodes, reboots them and returns them to service, a few at a time; stops when some fail",
     maintenance_verb},
    {"topology", "[--check]", "blocks as the NVLink fabrics of nodes have them, for topology.yaml; where the present ones contradict",
     topology_verb},
    {"up", "", "makes a cluster on this machine and starts it; prints how to use it", cluster<Action::kUp>},
    {"status", "", "whether it is up, its nodes and jobs", cluster<Action::kStatus>},
    {"logs", "[NAME]", "the last lines of the daemons' logs; NAME is slurmctld, slurmdbd or a node", cluster<Action::kLogs>},
    {"down", "", "cancels what runs and ends it; its jobs and settings stay on disk", cluster<Action::kDown>},
};

struct OptionText {
  std::string_view option, text;
};
constexpr OptionText kClusterOptions[] = {
    {"--nodes=N", "nodes, 4 (at most 64)"},
    {"--gpus-per-node=N", "GPUs of a node, 8; counted, not real"},
    {"--gpu-type=NAME", "their type, h100"},
    {"--cpus=N", "CPUs of a node, 16, whatever this machine has"},
    {"--memory=SIZE", "memory of a node, 64G"},
    {"--no-accounting", "without slurmdbd: sacct and sacctmgr have nothing to ask"},
    {"--state=DIR", "where it lives, ~/.local/state/muster (also for status, logs and down)"},
};
constexpr OptionText kOtherOptions[] = {
    {"--json", "explain, lint, check-config, report, maintenance show, topology --check: for programs instead of people"},
    {"--by WHAT", "report: account, user, partition or qos; efficiency: user, account or job"},
    {"--month YYYY-MM", "report: a month; this one if not given"},
    {"--start, --end TIME", "report efficiency: jobs that ended between them"},
    {"--csv, --svg, --html", "report: a table, a picture, a page; the last two of gpu-hours"},
    {"--nodes, --logins LIST", "token create: who may join by it; --expires 1h, --uses 1"},
    {"--node, --login NAME", "token revoke: in place of the ID of a token"},
    {"--nodes LIST", "maintenance start NAME: which; --at-once 1, --stop-after 1, --reason TEXT"},
    {"--reboot, --run NAME", "maintenance start NAME: by RebootProgram, or by that PowerAction"},
    {"--check, --conf", "topology: what contradicts; or topology.conf in place of topology.yaml"},
    {"--strict", "check-config: exit status 1 with a warning, too"},
    {"--offline", "lint: does not ask the cluster"},
};

std::string padded(std::string_view s, size_t width) { return std::string(s) + std::string(s.size() < width ? width - s.size() : 1, ' '); }

void add_options(std::string& out, std::string_view title, std::span<const OptionText> options) {
  out += "\n" + std::string(title) + ":\n";
  for (const OptionText& o : options) out += "      " + padded(o.option, 21) + std::string(o.text) + "\n";
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

std::string help() {
  std::string out = "Usage: muster COMMAND [OPTIONS]\n"
                    "\n"
                    "A cluster on this machine, as the user who calls; and help where a cluster does not do what one expects.\n"
                    "\n";
  for (const Verb& v : kVerbs)
    out += "  muster " + padded(std::string(v.name) + " " + std::string(v.synopsis), 25) + std::string(v.summary) + "\n";
  add_options(out, "Options of up", kClusterOptions);
  add_options(out, "Other options", kOtherOptions);
  out += "  -h, --help               prints this\n"
         "  -V, --version            prints the version\n";
  return out;
}

int complain(const Error& e) {
  fprintf(stderr, "muster: %s\n", std::string(e.message()).c_str());
  if (!e.hint.empty()) fprintf(stderr, "muster: %s\n", e.hint.c_str());
  return 1;
}

int run_verb(std::span<const std::string> arguments) {
  for (const std::string& a : arguments)
    if (a == "-h" || a == "--help") {
      fputs(help().c_str(), stdout);
      return 0;
    }
  if (arguments.empty() || arguments[0] == "help") {
    fputs(help().c_str(), stdout);
    return 0;
  }
  if (arguments[0] == "-V" || arguments[0] == "--version") {
    printf("%s (Muster)\n", std::string(cli::kVersionText).c_str());
    return 0;
  }
  std::vector<std::string_view> names;
  for (const Verb& v : kVerbs) {
    if (v.name == arguments[0]) return v.run(arguments.subspan(1));
    names.push_back(v.name);
  }
  std::string_view near = did_you_mean(arguments[0], names);
  return complain(Error(Errc::kBadOption, "unknown command '" + arguments[0] + "'",
                        near.empty() ? "muster --help lists the commands" : "did you mean " + std::string(near) + "?"));
}

}  // namespace muster::front
