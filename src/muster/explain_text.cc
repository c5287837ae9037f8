#include "muster/explain_text.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/plain_text.h"
#include "base/text.h"
#include "model/job_request.h"

namespace muster::front {
namespace {

std::string id_of(const JobBrief& b) {
  if (b.array_task != kNoArrayTask && b.array_job) return std::to_string(b.array_job.value) + "_" + std::to_string(b.array_task);
  return std::to_string(b.id.value);
}

std::string count(uint64_t n, std::string_view what) { return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s"); }

std::string right(uint64_t n, size_t width) {
  const std::string s = std::to_string(n);
  return std::string(s.size() < width ? width - s.size() : 0, ' ') + s;
}

std::string left(std::string s, size_t width) {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}

// "14:05:00 today" is no help in a log, so this is always the full time, and how far away it is.
std::string when(Time t, Time now) {
  if (t == kTimeInfinite) return "not within sight";
  if (t <= now) return "now";
  return format_time(t) + " (in " + format_span(t - now) + ")";
}

std::string ago(Time t, Time now) { return format_time(t) + " (" + format_span(std::max(now - t, Duration{})) + " ago)"; }

// The names of common signals; others are shown by number.
std::string signal_text(int signal) {
  constexpr std::pair<int, std::string_view> kKnown[] = {{2, "SIGINT"},   {6, "SIGABRT"},  {7, "SIGBUS"},   {8, "SIGFPE"},
                                                         {9, "SIGKILL"},  {11, "SIGSEGV"}, {13, "SIGPIPE"}, {15, "SIGTERM"},
                                                         {10, "SIGUSR1"}, {12, "SIGUSR2"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}};
  for (const auto& [number, name] : kKnown)
    if (number == signal) return "signal " + std::to_string(signal) + " (" + std::string(name) + ")";
  return "signal " + std::to_string(signal);
}

std::string exit_text(int32_t status) {
  if (WIFSIGNALED(status)) return "ended by " + signal_text(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (code > 128 && code < 128 + 65) return "exit code " + std::to_string(code) + ", which shells give for " + signal_text(code - 128);
  return "exit code " + std::to_string(code);
}

struct ReasonText {
  Reason reason;
  std::string_view text;
};
constexpr ReasonText kReasons[] = {
    {Reason::kNone, "The scheduler has not looked at it yet."},
    {Reason::kResources, "It is the next of its kind; what it needs is in use."},
    {Reason::kPriority, "Jobs ahead of it wait for the same nodes."},
    {Reason::kDependency, "It waits for other jobs (--dependency)."},
    {Reason::kDependencyNeverSatisfied, "The jobs it waits for ended otherwise than it asks: it will never start."},
    {Reason::kBeginTime, "It asked not to start before a time (--begin)."},
    {Reason::kJobHeldUser, "It is held by its user."},
    {Reason::kJobHeldAdmin, "It is held by an administrator, or its priority is 0."},
    {Reason::kJobHoldMaxRequeue, "It was requeued too often and is held (MaxBatchRequeue)."},
    {Reason::kCleaning, "Its last run is still being cleaned up on its nodes."},
    {Reason::kPartitionDown, "Its partition is down."},
    {Reason::kPartitionInactive, "Its partition is inactive."},
    {Reason::kPartitionNodeLimit, "It asks for more or fewer nodes than its partition gives a job."},
    {Reason::kPartitionTimeLimit, "Its time limit is beyond what its partition allows (MaxTime)."},
    {Reason::kReqNodeNotAvail, "A node it names is not available."},
    {Reason::kBadConstraints, "No node of its partitions could ever serve it."},
    {Reason::kQOSMaxCpuPerUserLimit, "Its user holds as many CPUs as one user may have there."},
    {Reason::kJobArrayTaskLimit, "As many tasks of the array run as may run at once."},
    {Reason::kDeadLine, "It can no longer end before its --deadline."},
    {Reason::kProlog, "A prolog that the site runs before a job has not ended, or it failed."},
    {Reason::kJobLaunchFailure, "It could not be started on its node."},
};

class JobText {
 public:
  JobText(const JobExplanation& e, const UserNames& users) : e_(e), users_(users) {}

  std::string run() {
    const std::string title = "Job " + id_of(e_.job) + (e_.job.name.empty() ? "" : " \"" + e_.job.name + "\"") + " of " + e_.job.user;
    if (e_.job.state == JobState::kPending) waiting(title);
    else if (is_finished(e_.job.state)) ended(title);
    else running(title);
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    append_plain(out_, text);
    out_ += '\n';
  }
  void gap() { out_ += "\n"; }

  void waiting(const std::string& title) {
    line(title + " waits: " + std::string(reason_name(e_.reason)));
    if (std::string_view s = sentence_of(e_.reason); !s.empty()) line("  " + std::string(s));
    if (!e_.detail.empty()) line("  " + e_.detail);
    line("  It asks for " + e_.asks + "; it has waited since " + ago(e_.submitted, e_.now) + ".");
    came_back();
    victims();
    for (const DependencyView& d : e_.dependencies) line("  " + d.text + ": " + d.state + (d.failed ? " (failed)" : ""));
    for (const PartitionView& p : e_.partitions) partition(p);
    limits();
    queue();
    start();
    alternatives();
  }

  void partition(const PartitionView& view) {
    gap();
    line("Partition " + view.name + ": " + count(view.nodes, "node") + ", " + std::to_string(view.needed) + " needed" +
         (view.tasks_needed ? " for " + count(view.tasks_needed, "task") : ""));
    if (view.barred != Reason::kNone) line("  " + std::string(reason_name(view.barred)) + ": " + std::string(sentence_of(view.barred)));
    if (!view.never.empty()) line("  never: " + view.never);
    for (const NodesLeftOut& n : view.causes) {
      std::string text = "  " + right(n.count, 6) + "  " + std::string(node_cause_text(n.cause));
      if (n.cause == NodeCause::kFree && view.tasks_needed && n.count) text += ", with room for " + count(view.tasks_free, "task");
      if (n.first != Time{}) text += until(n);
      if (!n.detail.empty()) text += ": " + n.detail;
      if (!n.nodes.empty()) text += "  " + shortened(n.nodes);
      line(text);
    }
    if (!view.together.empty()) line("          but " + view.together);
  }

  std::string until(const NodesLeftOut& n) const {
    if (n.first == kTimeInfinite) return " by jobs without a time limit";
    if (n.count == 1 || n.first == n.last) return " until " + when(n.first, e_.now);
    const std::string first = ", the first until " + when(n.first, e_.now);
    return n.last == kTimeInfinite ? first : first + ", the last until " + format_time(n.last);
  }

  static std::string shortened(const std::string& nodes) {
    constexpr size_t kWidth = 60;
    return nodes.size() <= kWidth ? nodes : nodes.substr(0, kWidth - 1) + "…";
  }

  void limits() {
    for (const LimitView& l : e_.limits) {
      gap();
      line(l.name + ": " + std::to_string(l.limit) + "; in use " + std::to_string(l.used) + ", it wants " + std::to_string(l.wanted) +
           " more");
      jobs(l.holders, 0);
    }
  }

  void jobs(const std::vector<JobBrief>& list, uint64_t total) {
    for (const JobBrief& b : list) {
      std::string text =
          "  " + left(id_of(b), 8) + " " + left(b.user, 10) + " " + left(b.name.substr(0, 16), 16) + " " + left(count(b.nodes, "node"), 9);
      if (b.cpus) text += " " + count(b.cpus, "CPU");
      if (!b.gres.empty()) text += " " + b.gres;
      if (b.state == JobState::kPending) text += b.start == Time{} ? "" : "  expected " + format_time(b.start);
      else text += b.end == Time{} || b.end == kTimeInfinite ? "  without a time limit" : "  until " + when(b.end, e_.now);
      line(text);
    }
    if (total > list.size()) line("  and " + std::to_string(total - list.size()) + " more");
  }

  void queue() {
    if (e_.holder_count) {
      gap();
      line("What it waits for is held by " + count(e_.holder_count, "job") + ", the first to end first:");
      jobs(e_.holders, e_.holder_count);
    }
    if (e_.ahead_count) {
      gap();
      line(count(e_.ahead_count, "job") + " ahead of it on the same nodes:");
      jobs(e_.ahead, e_.ahead_count);
    }
  }

  void start() {
    if (!e_.forecast && e_.expected_start == Time{}) {
      if (e_.reason == Reason::kJobHeldUser) hint("scontrol release " + id_of(e_.job) + " lets it go");
      if (e_.reason == Reason::kJobHeldAdmin) hint("an administrator lets it go with scontrol release " + id_of(e_.job));
      if (e_.reason == Reason::kDependencyNeverSatisfied)
        hint("scontrol update JobId=" + id_of(e_.job) + " Dependency= takes the dependency away; scancel " + id_of(e_.job) +
             " gives the job up");
      return;
    }
    gap();
    if (e_.expected_start == Time{}) line("Expected start: not within sight, with the nodes that are up.");
    else
      line("Expected start: " + when(e_.expected_start, e_.now) + (e_.expected_nodes.empty() ? "" : " on " + shortened(e_.expected_nodes)));
  }
  void hint(const std::string& text) {
    gap();
    line(text + ".");
  }

  void alternatives() {
    if (e_.alternatives.empty()) {
      if (e_.alternatives_tried) line("Nothing of " + count(e_.alternatives_tried, "change") + " tried would start it clearly sooner.");
      return;
    }
    gap();
    line("What would start it sooner:");
    for (const Alternative& a : e_.alternatives) {
      line("  " + left(a.change, 44) + " " + (a.at_once ? "at once" : when(a.start, e_.now)));
      if (!a.command.empty()) line("      " + a.command);
    }
  }

  // Where the job is placed, what that costs, and which of its wishes were met.
  void placement() {
    const PlacementView& placement = e_.placement;
    if (!placement.kind.empty()) {
      gap();
      line("Placed by topology " + placement.topology + " (" + placement.kind + "): " + units(placement.units.size(), placement.unit_name) +
           (placement.within.empty() ? "" : ", all within " + placement.within));
      for (const UnitNodes& u : placement.units)
        line("  " + left(u.unit.empty() ? "elsewhere" : u.unit, 12) + " " + left(count(u.count, "node"), 9) + " " + shortened(u.nodes));
    }
    if (placement.switches_asked)
      line("  --switches=" + std::to_string(placement.switches_asked) +
           (placement.units.size() <= placement.switches_asked ? ": kept" : ": not kept, the time to wait for it was over"));
    if (placement.segments)
      line("  --segment=" + std::to_string(placement.segment_size) + ": " + count(placement.segments, "segment") +
           (placement.segments_whole ? ", each inside one block" : ", not each inside one block"));
    if (!placement.why.empty()) {
      gap();
      line("Why these nodes:");
      for (const std::string& reason : placement.why) line("  " + reason);
    }
  }

  static std::string units(size_t n, const std::string& name) {
    return std::to_string(n) + " " + name + (n == 1 ? "" : name.ends_with("ch") ? "es" : "s");
  }

  void running(const std::string& title) {
    const bool stopped = e_.job.state == JobState::kSuspended;
    const std::string state = title + " is " + std::string(job_state_shown(e_.job.state, e_.flags));
    if (!stopped) line(state + " since " + ago(e_.job.start, e_.now));
    else line(state + (e_.detail.empty() ? "" : ": " + e_.detail) + "; it began " + ago(e_.job.start, e_.now));
    line("  It has " + count(e_.job.nodes, "node") + " (" + shortened(e_.node_list) + "), " + count(e_.job.cpus, "CPU") + ", " +
         format_mem_mb(e_.job.mem_mb) + (e_.job.gres.empty() ? "" : ", " + e_.job.gres) + " in partition " + e_.job.partition + ".");
    if (e_.job.end == Time{} || e_.job.end == kTimeInfinite) line("  It has no time limit.");
    else line("  Its time limit of " + format_span(minutes(e_.time_limit_min)) + " ends it at " + when(e_.job.end, e_.now) + ".");
    if (e_.flags & kJobConfiguring) line("  Its nodes are being made ready (power up, prolog).");
    if (e_.preempted_by)
      line("  It makes room for job " + std::to_string(e_.preempted_by) + " since " + ago(e_.preempted, e_.now) + " (" + e_.preempt_how +
           ").");
    came_back();
    if (!e_.detail.empty() && !stopped) line("  " + e_.detail);
    placement();
  }

  void ended(const std::string& title) {
    line(title + " ended: " + std::string(job_state_shown(e_.job.state, e_.flags)) + ", " + ago(e_.job.end, e_.now));
    line("  " + why_ended());
    if (!e_.detail.empty() && e_.job.state != JobState::kCancelled) line("  " + e_.detail);
    if (e_.derived_exit_status && e_.derived_exit_status != e_.exit_status)
      line("  The worst of its steps: " + exit_text(e_.derived_exit_status) + ".");
    if (e_.job.start != Time{} && e_.job.nodes)
      line("  It ran for " + format_span(e_.job.end - e_.job.start) + " on " + shortened(e_.node_list) + "; its limit was " +
           (e_.time_limit_min == kUnlimited32 ? "none" : format_span(minutes(e_.time_limit_min))) + ".");
    else line("  It never started.");
    if (e_.flags & kJobCompleting) line("  Something of it is still being cleaned up on its nodes.");
    if (e_.flags & kJobRequeued) line("  It goes back into the queue when its nodes are free of it.");
    came_back();
  }

  // How often the job was put back into the queue, and why the last time.
  void came_back() {
    if (e_.restarts)
      line("  It was requeued " + count(e_.restarts, "time") + (e_.restart.empty() ? "." : "; the last time: " + e_.restart + "."));
  }

  // Who makes room for the waiting job, or would.
  void victims() {
    if (e_.victim_count == 0) return;
    const std::string who = count(e_.victim_count, "job");
    if (e_.claims) line("  " + who + " " + (e_.victim_count == 1 ? "ends" : "end") + " to make room for it:");
    else if (e_.exempt_until != Time{})
      line("  It may take the place of " + who + " at " + when(e_.exempt_until, e_.now) + " (PreemptExemptTime):");
    else line("  It may take the place of " + who + ":");
    jobs(e_.victims, e_.victim_count);
  }

  std::string why_ended() const {
    switch (e_.job.state) {
      case JobState::kCompleted: return "Its script ended well (exit code 0).";
      case JobState::kCancelled: return "It was cancelled" + cancelled_by() + ".";
      case JobState::kTimeout: return "It reached its time limit of " + format_span(minutes(e_.time_limit_min)) + ".";
      case JobState::kNodeFail: return "One of its nodes failed.";
      case JobState::kPreempted:
        return e_.preempted_by ? "It made room for job " + std::to_string(e_.preempted_by) + "."
                               : "It was preempted by a job that goes before it.";
      case JobState::kBootFail: return "One of its nodes could not be booted.";
      case JobState::kDeadline: return "It could not end before its --deadline.";
      case JobState::kOutOfMemory: return "It used more memory than it asked for (" + exit_text(e_.exit_status) + ").";
      default:
        if (e_.reason == Reason::kJobLaunchFailure) return "It could not be started on its node.";
        return "Its script: " + exit_text(e_.exit_status) + ".";
    }
  }

  // Names the user who asked for it, or says what the system said.
  std::string cancelled_by() const {
    if (e_.cancelled_by) return " by " + users_(Uid(*e_.cancelled_by));
    return e_.detail.empty() ? std::string() : " " + e_.detail;
  }

  const JobExplanation& e_;
  const UserNames& users_;
  std::string out_;
};

// What comes next for a node in quarantine; "" for one that is in none.
std::string quarantine_text(const NodeExplanation& node) {
  const std::string since = "In quarantine since " + ago(node.quarantine_since, node.now) + ": ";
  const std::string manual = "It stays out of service until somebody returns it.";
  switch (node.quarantine) {
    case QuarantinePhase::kEmptying: return since + "it is tested when its jobs are over, and returns by itself if it passes.";
    case QuarantinePhase::kTesting: return since + "its test is under way, and it returns by itself if it passes.";
    case QuarantinePhase::kFailed: return since + "its test failed. " + manual;
    case QuarantinePhase::kAgain:
      return since + "jobs failed here again after it had passed a test " + ago(node.quarantine_returned, node.now) + ". " + manual;
    case QuarantinePhase::kReturned: return "It returned from quarantine " + ago(node.quarantine_returned, node.now) + ".";
    case QuarantinePhase::kNone:
    case QuarantinePhase::kLifted: break;
  }
  return {};
}

// What brings the node back into service; "" for a usable node.
std::string advice_of(const NodeExplanation& e) {
  if (e.usable) return {};
  if (e.state.find("DRAIN") != std::string::npos || (e.state.starts_with("DOWN") && e.registered))
    return "scontrol update NodeName=" + e.name + " State=RESUME brings it back into service.";
  if (!e.registered) return "slurmd has not registered from there: is it running, and can it reach the controller?";
  return {};
}

}  // namespace

std::string_view sentence_of(Reason reason) {
  for (const ReasonText& r : kReasons)
    if (r.reason == reason) return r.text;
  return {};
}

std::string to_text(const JobExplanation& e, const UserNames& users) { return JobText(e, users).run(); }

std::string to_text(const NodeExplanation& explanation, const UserNames& users) {
  std::string out = "Node " + explanation.name + " is " + explanation.state +
                    (explanation.usable ? ": jobs may start there.\n" : ": no job starts there.\n");
  if (!explanation.reason.empty())
    out += "  Reason: " + explanation.reason + ", set by " + users(explanation.reason_uid) +
           (explanation.reason_time == Time{} ? "" : " " + ago(explanation.reason_time, explanation.now)) + "\n";
  if (explanation.last_response != Time{}) out += "  Last heard of: " + ago(explanation.last_response, explanation.now) + "\n";
  if (const std::string quarantine = quarantine_text(explanation); !quarantine.empty()) out += "  " + quarantine + "\n";
  if (!explanation.maintenance.empty()) out += "  Part of " + explanation.maintenance + ".\n";
  else if (std::string advice = advice_of(explanation); !advice.empty()) out += "  " + advice + "\n";
  out += "  Partitions: " + (explanation.partitions.empty() ? "none" : explanation.partitions) + "\n";
  out += "  Free: " + std::to_string(explanation.cpus_free) + " of " + count(explanation.cpus, "CPU") + ", " +
         format_mem_mb(explanation.mem_free_mb) + " of " + format_mem_mb(explanation.mem_mb) +
         (explanation.gres.empty() ? "" : ", " + explanation.gres_free + " of " + explanation.gres) + "\n";
  // A job that waits is not there: the node is kept for it.
  std::vector<JobBrief> there = explanation.jobs;
  std::erase_if(there, [](const JobBrief& b) { return b.state == JobState::kPending; });
  for (const JobBrief& b : explanation.jobs)
    if (b.state == JobState::kPending)
      out += "  Planned for job " + id_of(b) + " of " + b.user + ", which is expected to start " + when(b.start, explanation.now) + ".\n";
  if (!explanation.job_count) return out + "  No job is there.\n";
  out += count(explanation.job_count, "job") + " there, the first to end first:\n";
  for (const JobBrief& b : there)
    out += "  " + left(id_of(b), 8) + " " + left(b.user, 10) + " " + left(b.name.substr(0, 16), 16) + " " +
           (is_finished(b.state)                        ? "being cleaned up"
            : b.end == Time{} || b.end == kTimeInfinite ? "without a time limit"
                                                        : "until " + when(b.end, explanation.now)) +
           "\n";
  if (explanation.job_count > there.size()) out += "  and " + std::to_string(explanation.job_count - there.size()) + " more\n";
  if (explanation.idle_at != Time{} && explanation.idle_at != kTimeInfinite)
    out += "Idle by " + when(explanation.idle_at, explanation.now) + " at the latest.\n";
  return out;
}

}  // namespace muster::front
