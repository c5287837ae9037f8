// A job of sacct --json with its steps, in the shape of the description's slurmdb `job`.
#include <algorithm>

#include "base/tres_mem.h"
#include "fields/json.h"
#include "fields/json_parts.h"
#include "fields/record_values.h"
#include "fields/values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

int64_t at(Time t) { return t == kTimeUnset ? 0 : unix_seconds(t); }

uint32_t running_limit(const JobRecord& j) {
  const size_t percent = j.array_tasks.find('%');
  return percent == j.array_tasks.npos ? 0 : parse_number<uint32_t>(std::string_view(j.array_tasks).substr(percent + 1)).value_or(0);
}

std::string user_name(Uid uid, std::string_view known, const Environment& env) {
  std::string out;
  put_user(out, uid, known, env);
  return out;
}

void cpu_times(Members& m, const RecordView& v) {
  const CpuTimes used = record_cpu_times(v);
  json_cpu_time(m, "system", used.system);
  m.limit("limit", v.job.time_limit_min);
  json_cpu_time(m, "total", used.user + used.system);
  json_cpu_time(m, "user", used.user);
}

void job_identity(Members& m, const JobRecord& j) {
  m.text("account", j.account);
  m.begin("comment").text("administrator", j.admin_comment).text("job", j.comment).text("system", j.system_comment).end();
  m.number("allocation_nodes", j.nodes);
  m.begin("array").number("job_id", j.array_job_id.value);
  m.begin("limits").begin("max").begin("running").number("tasks", running_limit(j)).end().end().end();
  const bool task = j.array_task != kNoArrayTask;
  m.maybe("task_id", task, task ? j.array_task : 0).text("task", j.array_tasks.substr(0, j.array_tasks.find('%'))).end();
  m.begin("association")
      .text("account", j.account)
      .text("cluster", j.cluster)
      .text("partition", "")
      .text("user", j.user)
      .number("id", 0)
      .end();
  m.text("block", "").text("cluster", j.cluster).text("constraints", j.features).text("container", j.container);
}

void job_times(Members& m, const RecordView& v) {
  const JobRecord& j = v.job;
  m.begin("time").number("elapsed", to_seconds(record_elapsed(v))).number("eligible", at(j.eligible)).number("end", at(j.ended));
  std::optional<Duration> planned = record_planned(v);
  m.maybe("planned", planned.has_value(), planned ? static_cast<uint64_t>(to_seconds(*planned)) : 0);
  m.number("start", at(j.started)).number("submission", at(j.key.submitted)).number("suspended", to_seconds(record_suspended(v)));
  cpu_times(m, v);
  m.end();
}

void job_place(Members& m, const RecordView& v) {
  const JobRecord& j = v.job;
  m.text("extra", j.extra).text("failed_node", j.failed_node).words("flags", "").text("group", j.group);
  m.begin("het").number("job_id", j.het.leader.value).maybe("job_offset", bool(j.het), j.het.offset).end();
  m.number("job_id", j.key.id.value).text("name", j.name).text("licenses", j.licenses);
  m.begin("mcs").text("label", j.mcs_label).end();
  m.text("nodes", j.node_list.empty() ? "None assigned" : std::string_view(j.node_list)).text("partition", j.partition);
  m.flag("hold", j.state == JobState::kPending && j.priority == 0)
      .maybe("priority", true, j.priority)
      .text("qos", j.qos)
      .text("qosreq", j.qos);
  m.begin("required").number("CPUs", j.requested_cpus).maybe("memory_per_cpu", false, 0);
  const uint64_t mem = parse_tres_mem_mb(j.requested_mem);
  m.maybe("memory_per_node", mem != 0, mem).end();
  m.text("kill_request_user", j.state == JobState::kCancelled ? user_name(j.cancelled_by, "", v.env) : "");
  m.number("restart_cnt", j.key.restarts);
  m.begin("reservation").number("id", 0).text("name", j.reservation).text("requested", j.reservation).end();
  m.text("script", "").number("segment_size", 0);
}

void streams(Members& m, const RecordView& v) {
  Environment expanding = v.env;
  expanding.expand_patterns = true;
  const RecordView expanded{v.job, v.step, expanding, v.style};
  auto text = [&](const RecordView& of, RecordStream stream) {
    std::string out;
    put_record_stream(of, stream, out);
    return out;
  };
  m.text("stdin_expanded", text(expanded, RecordStream::kIn)).text("stdout_expanded", text(expanded, RecordStream::kOut));
  m.text("stderr_expanded", text(expanded, RecordStream::kErr));
  m.text("stdout", text(v, RecordStream::kOut)).text("stderr", text(v, RecordStream::kErr)).text("stdin", text(v, RecordStream::kIn));
}

void step_usage(Members& members, const StepRecord& step) {
  members.begin("statistics").begin("CPU").number("actual_frequency", 0).end();
  members.begin("energy").maybe("consumed", false, 0).end().end();
  members.begin("tres");
  for (auto [what, direction] : {std::pair("requested", UsageDirection::kIn), std::pair("consumed", UsageDirection::kOut)}) {
    members.begin(what);
    for (auto [key, kind] : {std::pair("max", UsageKind::kMax), std::pair("min", UsageKind::kMin),
                             std::pair("average", UsageKind::kAverage), std::pair("total", UsageKind::kTotal)}) {
      members.sink().key(key);
      members.sink().begin_list();
      if (step.usage)
        each_tres_used(*step.usage, direction, kind,
                       [&](std::string_view type, std::string_view name, uint64_t count) { json_tres(members, type, name, count); });
      members.sink().end_list();
    }
    members.end();
  }
  json_tres_list(members, "allocated", step.tres_allocated);
  members.end();
}

void frequency(Members& m, const StepRecord& s) {
  auto part = [&](FrequencyPart which) {
    std::string out;
    put_frequency(s.cpu_freq, which, out);
    return out == "Unknown" ? std::string() : out;
  };
  m.begin("CPU").begin("requested_frequency");
  for (auto [key, which] : {std::pair("min", FrequencyPart::kMin), std::pair("max", FrequencyPart::kMax)}) {
    std::optional<uint32_t> khz = parse_number<uint32_t>(part(which));
    m.maybe(key, khz.has_value(), khz.value_or(0));
  }
  m.end().text("governor", part(FrequencyPart::kGovernor)).end();
}

void json_step(const RecordView& v, TreeSink& sink) {
  const StepRecord& s = *v.step;
  Members m(sink);
  sink.begin_object();
  m.begin("time").number("elapsed", to_seconds(record_elapsed(v))).time("end", s.ended).time("start", s.started).number("suspended", 0);
  cpu_times(m, v);
  m.end();
  json_exit_code(m, "exit_code", s.exit_status, s.state);
  m.begin("nodes").number("count", s.nodes).text("range", s.node_list);
  sink.key("list");
  sink.begin_list();
  if (Result<std::vector<std::string>> hosts = expand_hosts(s.node_list))
    for (const std::string& host : *hosts) sink.text(host);
  sink.end_list();
  m.end().begin("tasks").number("count", s.tasks).end().text("pid", "");
  frequency(m, s);
  m.text("kill_request_user", s.state == JobState::kCancelled ? user_name(s.cancelled_by, "", v.env) : "");
  m.words("state", job_state_name(s.state));
  std::string id;
  put_record_id(v, id);
  m.begin("step").text("id", id).text("name", s.name);
  streams(m, v);
  m.end().begin("task").text("distribution", s.layout).end();
  step_usage(m, s);
  sink.end_object();
}

}  // namespace

void json_record(const RecordView& v, std::span<const StepRecord> steps, TreeSink& sink) {
  const JobRecord& j = v.job;
  Members m(sink);
  sink.begin_object();
  job_identity(m, j);
  json_exit_code(m, "derived_exit_code", j.derived_exit_status, j.state);
  job_times(m, v);
  json_exit_code(m, "exit_code", j.exit_status, j.state);
  job_place(m, v);
  streams(m, v);
  m.begin("state").words("current", job_state_name(j.state)).text("reason", reason_name(j.reason)).end();
  sink.key("steps");
  sink.begin_list();
  for (const StepRecord& s : steps) json_step({j, &s, v.env, v.style}, sink);
  sink.end_list();
  m.text("submit_line", j.submit_line);
  m.begin("tres");
  json_tres_list(m, "allocated", j.tres_allocated);
  json_tres_list(m, "requested", j.tres_requested);
  m.end().text("used_gres", j.gres_allocated).text("user", j.user);
  m.begin("wckey").text("wckey", j.wckey).words("flags", "").end();
  m.text("working_directory", j.work_dir);
  sink.end_object();
}

}  // namespace muster::fields
