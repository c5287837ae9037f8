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

void placement(TreeSink& s, const PlacementView& p) {
  Members m(s);
  s.key("placement");
  s.begin_object();
  m.text("topology", p.topology).text("kind", p.kind).number("fewest", p.fewest).text("within", p.within);
  list_of(s, "units", p.units, [&](const UnitNodes& u) { m.text("unit", u.unit).number("count", u.count).text("nodes", u.nodes); });
  m.number("switches_asked", p.switches_asked).number("segments", p.segments);
  m.number("segment_size", p.segment_size).flag("segments_whole", p.segments_whole);
  s.key("why");
  s.begin_list();
  for (const std::string& line : p.why) s.text(line);
  s.end_list();
  s.end_object();
}

}  // namespace

void to_tree(const JobExplanation& e, TreeSink& s) {
  Members m(s);
  s.begin_object();
  brief(s, e.job);
  m.text("state_shown", job_state_shown(e.job.state, e.flags)).text("asks", e.asks);
  time_of(s, "now", e.now);
  time_of(s, "submitted", e.submitted);
  time_of(s, "eligible", e.eligible);
  m.text("reason", reason_name(e.reason))
      .text("sentence", e.job.state == JobState::kPending ? sentence_of(e.reason) : "")
      .text("detail", e.detail);
  list_of(s, "partitions", e.partitions, [&](const PartitionView& p) { partition(s, p); });
  m.number("ahead_count", e.ahead_count);
  list_of(s, "ahead", e.ahead, [&](const JobBrief& b) { brief(s, b); });
  m.number("holder_count", e.holder_count);
  list_of(s, "holders", e.holders, [&](const JobBrief& b) { brief(s, b); });
  list_of(s, "limits", e.limits, [&](const LimitView& l) {
    m.text("name", l.name).number("limit", static_cast<int64_t>(l.limit)).number("used", static_cast<int64_t>(l.used));
    m.number("wanted", static_cast<int64_t>(l.wanted));
    list_of(s, "holders", l.holders, [&](const JobBrief& b) { brief(s, b); });
  });
  list_of(s, "dependencies", e.dependencies,
          [&](const DependencyView& d) { m.text("dependency", d.text).text("state", d.state).flag("failed", d.failed); });
  m.flag("forecast", e.forecast);
  time_of(s, "expected_start", e.expected_start);
  m.text("expected_nodes", e.expected_nodes);
  list_of(s, "alternatives", e.alternatives, [&](const Alternative& a) {
    m.text("change", a.change).text("command", a.command).flag("at_once", a.at_once);
    time_of(s, "start", a.start);
  });
  m.number("alternatives_tried", e.alternatives_tried).text("node_list", e.node_list);
  m.limit("time_limit_minutes", e.time_limit_min).number("exit_status", e.exit_status);
  m.number("derived_exit_status", e.derived_exit_status).number("restarts", e.restarts);
  placement(s, e.placement);
  s.end_object();
}

void to_tree(const NodeExplanation& e, const UserNames& users, TreeSink& s) {
  Members m(s);
  s.begin_object();
  m.text("name", e.name).text("state", e.state).flag("usable", e.usable).text("reason", e.reason);
  m.text("reason_set_by", e.reason.empty() ? "" : users(e.reason_uid));
  time_of(s, "now", e.now);
  time_of(s, "reason_time", e.reason_time);
  m.flag("registered", e.registered);
  time_of(s, "last_response", e.last_response);
  m.words("partitions", e.partitions).number("cpus", e.cpus).number("cpus_free", e.cpus_free);
  m.number("memory_mb", static_cast<int64_t>(e.mem_mb)).number("memory_free_mb", static_cast<int64_t>(e.mem_free_mb));
  m.text("gres", e.gres).text("gres_free", e.gres_free).number("job_count", e.job_count);
  list_of(s, "jobs", e.jobs, [&](const JobBrief& b) { brief(s, b); });
  time_of(s, "idle_at", e.idle_at);
  s.end_object();
}

}  // namespace muster::front
