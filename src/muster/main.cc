// muster: a cluster on this machine with one command.
#include <stdio.h>

#include "cli/common/command.h"
#include "cli/common/version.h"
#include "muster/down.h"
#include "muster/up.h"

namespace muster::front {
namespace {

int complain(const Error& e) {
  fprintf(stderr, "muster: %s\n", std::string(e.message()).c_str());
  if (!e.hint.empty()) fprintf(stderr, "muster: %s\n", e.hint.c_str());
  return 1;
}

int run(std::span<const std::string> arguments) {
  Result<Plan> plan = parse_plan(arguments);
  if (!plan) return complain(plan.error());
  if (plan->action == Action::kHelp) {
    fputs(help().c_str(), stdout);
    return 0;
  }
  if (plan->action == Action::kVersion) {
    printf("%s (Muster)\n", std::string(cli::kVersionText).c_str());
    return 0;
  }
  Result<Place> place = find_place(plan->state);
  if (!place) return complain(place.error());
  switch (plan->action) {
    case Action::kUp:
      return up(*place, *plan);
    case Action::kDown:
      return down(*place);
    case Action::kStatus:
      return status(*place);
    default:
      return logs(*place, plan->log_name, 50);
  }
}

}  // namespace
}  // namespace muster::front

int main(int argc, char** argv) { return muster::front::run(muster::cli::arguments_of(argc, argv)); }
