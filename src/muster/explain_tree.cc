// Explanations as JSON: the members of model/explanation.h by their names. Times are seconds since 1970, 0 where unset, null without an
// end.
#include "fields/json_values.h"
#include "muster/explain_text.h"

namespace muster::front {
namespace {

using fields::Members;
using fields::TreeSink;

void time_of(TreeSink& s, std::string_view key, Time t) {
  s.key(key);
  if (t == kTimeInfinite) s.null();
  else s.number(unix_seconds(t));
}

template <class List, class Each>
void list_of(TreeSink& s, std::string_view key, const List& list, Each&& each) {
  s.key(key);
  s.begin_list();
  for (const auto& entry : list) {
    s.begin_object();
    each(entry);
    s.end_object();
  }
  s.end_list();
}

void brief(TreeSink& s, const JobBrief& b) {
  Members m(s);
  m.number("job_id", b.id.value).number("array_job_id", b.array_job.value);
  s.key("array_task_id");
  if (b.array_task == kNoArrayTask) s.null();
  else s.number(b.array_task);
  m.text("user", b.user).text("name", b.name).text("partition", b.partition).text("state", job_state_name(b.state));
  m.number("nodes", b.nodes).number("cpus", b.cpus).number("memory_mb", static_cast<int64_t>(b.mem_mb)).text("gres", b.gres);
  m.number("priority", b.priority);
  time_of(s, "start", b.start);
  time_of(s, "end", b.end);
}

std::string_view quarantine_word(QuarantinePhase phase) {
  switch (phase) {
    case QuarantinePhase::kNone: return "";
    case QuarantinePhase::kEmptying: return "emptying";
    case QuarantinePhase::kTesting: return "testing";
    case QuarantinePhase::kReturned: return "returned";
    case QuarantinePhase::kFailed: return "failed";
    case QuarantinePhase::kAgain: return "again";
    case QuarantinePhase::kLifted: return "lifted";
  }
  return "";
}

void partition(TreeSink& s, const PartitionView& p) {
  Members m(s);
  m.text("name", p.name).number("nodes", p.nodes).number("needed", p.needed);
  m.number("tasks_needed", p.tasks_needed).number("tasks_free", p.tasks_free);
  m.text("barred", p.barred == Reason::kNone ? "" : reason_name(p.barred)).text("never", p.never);
  m.text("together", p.together);
  list_of(s, "causes", p.causes, [&](const NodesLeftOut& n) {
    m.text("cause", node_cause_name(n.cause)).number("count", n.count).text("nodes", n.nodes).text("detail", n.detail);
    time_of(s, "first", n.first);
    time_of(s, "last", n.last);
  });
}

void placement(TreeSink& sink, const PlacementView& placement) {
  Members members(sink);
  sink.key("placement");
  sink.begin_object();
  members.text("topology", placement.topology)
      .text("kind", placement.kind)
      .number("fewest", placement.fewest)
      .text("within", placement.within);
  list_of(sink, "units", placement.units,
          [&](const UnitNodes& u) { members.text("unit", u.unit).number("count", u.count).text("nodes", u.nodes); });
  members.number("switches_asked", placement.switches_asked).number("segments", placement.segments);
  members.number("segment_size", placement.segment_size).flag("segments_whole", placement.segments_whole);
  sink.key("why");
  sink.begin_list();
  for (const std::string& line : placement.why) sink.text(line);
  sink.end_list();
  sink.end_object();
}

}  // namespace

void to_tree(const JobExplanation& explanation, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  brief(sink, explanation.job);
  members.text("state_shown", job_state_shown(explanation.job.state, explanation.flags)).text("asks", explanation.asks);
  time_of(sink, "now", explanation.now);
  time_of(sink, "submitted", explanation.submitted);
  time_of(sink, "eligible", explanation.eligible);
  members.text("reason", reason_name(explanation.reason))
      .text("sentence", explanation.job.state == JobState::kPending ? sentence_of(explanation.reason) : "")
      .text("detail", explanation.detail);
  list_of(sink, "partitions", explanation.partitions, [&](const PartitionView& p) { partition(sink, p); });
  members.number("ahead_count", explanation.ahead_count);
  list_of(sink, "ahead", explanation.ahead, [&](const JobBrief& b) { brief(sink, b); });
  members.number("holder_count", explanation.holder_count);
  list_of(sink, "holders", explanation.holders, [&](const JobBrief& b) { brief(sink, b); });
  list_of(sink, "limits", explanation.limits, [&](const LimitView& l) {
    members.text("name", l.name).number("limit", static_cast<int64_t>(l.limit)).number("used", static_cast<int64_t>(l.used));
    members.number("wanted", static_cast<int64_t>(l.wanted));
    list_of(sink, "holders", l.holders, [&](const JobBrief& b) { brief(sink, b); });
  });
  list_of(sink, "dependencies", explanation.dependencies,
          [&](const DependencyView& d) { members.text("dependency", d.text).text("state", d.state).flag("failed", d.failed); });
  members.flag("forecast", explanation.forecast);
  time_of(sink, "expected_start", explanation.expected_start);
  members.text("expected_nodes", explanation.expected_nodes);
  list_of(sink, "alternatives", explanation.alternatives, [&](const Alternative& a) {
    members.text("change", a.change).text("command", a.command).flag("at_once", a.at_once);
    time_of(sink, "start", a.start);
  });
  members.number("alternatives_tried", explanation.alternatives_tried).text("node_list", explanation.node_list);
  members.limit("time_limit_minutes", explanation.time_limit_min).number("exit_status", explanation.exit_status);
  members.number("derived_exit_status", explanation.derived_exit_status).number("restarts", explanation.restarts);
  placement(sink, explanation.placement);
  sink.end_object();
}

void to_tree(const NodeExplanation& explanation, const UserNames& users, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  members.text("name", explanation.name)
      .text("state", explanation.state)
      .flag("usable", explanation.usable)
      .text("reason", explanation.reason);
  members.text("reason_set_by", explanation.reason.empty() ? "" : users(explanation.reason_uid));
  time_of(sink, "now", explanation.now);
  time_of(sink, "reason_time", explanation.reason_time);
  members.text("quarantine", quarantine_word(explanation.quarantine));
  time_of(sink, "quarantine_since", explanation.quarantine_since);
  members.flag("registered", explanation.registered);
  time_of(sink, "last_response", explanation.last_response);
  members.words("partitions", explanation.partitions).number("cpus", explanation.cpus).number("cpus_free", explanation.cpus_free);
  members.number("memory_mb", static_cast<int64_t>(explanation.mem_mb))
      .number("memory_free_mb", static_cast<int64_t>(explanation.mem_free_mb));
  members.text("gres", explanation.gres).text("gres_free", explanation.gres_free).number("job_count", explanation.job_count);
  std::vector<JobBrief> there, planned_for;  // a job that waits is not there: the node is kept for it
  for (const JobBrief& b : explanation.jobs) (b.state == JobState::kPending ? planned_for : there).push_back(b);
  list_of(sink, "jobs", there, [&](const JobBrief& b) { brief(sink, b); });
  list_of(sink, "planned_for", planned_for, [&](const JobBrief& b) { brief(sink, b); });
  time_of(sink, "idle_at", explanation.idle_at);
  if (!explanation.maintenance.empty()) members.text("maintenance", explanation.maintenance);
  sink.end_object();
}

}  // namespace muster::front
