#include "model/preemption.h"

#include <sys/wait.h>

#include "base/same.h"
#include "base/text.h"

namespace muster {

std::string_view preempt_how_name(PreemptHow how) {
  switch (how) {
    case PreemptHow::kOff: return "OFF";
    case PreemptHow::kCancel: return "CANCEL";
    case PreemptHow::kRequeue: return "REQUEUE";
    case PreemptHow::kSuspend: return "SUSPEND";
  }
  return "";
}

Result<PreemptModes> PreemptModes::parse(std::string_view text) {
  PreemptModes m;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    if (iequals(word, "CANCEL")) m.how = PreemptHow::kCancel;
    else if (iequals(word, "REQUEUE")) m.how = PreemptHow::kRequeue;
    else if (iequals(word, "SUSPEND")) m.how = PreemptHow::kSuspend;
    else if (iequals(word, "GANG")) m.gang = true;
    else if (iequals(word, "PRIORITY")) m.priority = true;
    else if (iequals(word, "WITHIN")) m.within = true;
  }
  return m;
}

std::string_view restart_cause_name(RestartCause cause) {
  switch (cause) {
    case RestartCause::kNone: return "none";
    case RestartCause::kUser: return "user";
    case RestartCause::kPreempted: return "preempted";
    case RestartCause::kNodeFailed: return "node_failed";
    case RestartCause::kExitCode: return "exit_code";
    case RestartCause::kLaunchFailed: return "launch_failed";
    case RestartCause::kPrologFailed: return "prolog_failed";
  }
  return "";
}

std::string restart_text(const Restart& restart, std::string_view node) {
  const std::string at = restart.has_node ? "node " + std::string(node) : "a node";
  switch (restart.cause) {
    case RestartCause::kNone: return "";
    case RestartCause::kUser: return "requeued by uid " + std::to_string(restart.user.value);
    case RestartCause::kPreempted: return "preempted by job " + std::to_string(restart.by.value);
    case RestartCause::kNodeFailed: return at + " failed";
    case RestartCause::kExitCode: return "exit code " + std::to_string(WEXITSTATUS(restart.exit_status));
    case RestartCause::kLaunchFailed: return "could not be launched on " + at;
    case RestartCause::kPrologFailed: return "PrologSlurmctld failed";
  }
  return "";
}

bool ClaimPart::operator==(const ClaimPart& o) const { return job == o.job && partition == o.partition && same(allocation, o.allocation); }

bool Claim::operator==(const Claim& o) const {
  return since == o.since && position == o.position && partition == o.partition && same(allocation, o.allocation) && victims == o.victims &&
         parts == o.parts;
}

bool JobTurns::operator==(const JobTurns& o) const { return same(claim, o.claim) && restart == o.restart; }

}  // namespace muster
