// One job of squeue --json and scontrol show job --json: `job_info` of the description.
#include <algorithm>

#include "fields/job_values.h"
#include "fields/json.h"
#include "fields/json_parts.h"
#include "fields/values.h"
#include "model/mail.h"

namespace muster::fields {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};
constexpr FlagName kStateFlags[] = {
    {kJobLaunchFailed, "LAUNCH_FAILED"}, {kJobRequeued, "REQUEUED"},  {kJobRequeueHold, "REQUEUE_HOLD"},
    {kJobSpecialExit, "SPECIAL_EXIT"},   {kJobResizing, "RESIZING"},  {kJobConfiguring, "CONFIGURING"},
    {kJobCompleting, "COMPLETING"},      {kJobStopped, "STOPPED"},    {kJobReconfigFail, "RECONFIG_FAIL"},
    {kJobPowerUpNode, "POWER_UP_NODE"},  {kJobRevoked, "REVOKED"},    {kJobResvDelHold, "RESV_DEL_HOLD"},
    {kJobSignaling, "SIGNALING"},        {kJobStageOut, "STAGE_OUT"}, {kJobExpediting, "EXPEDITING"},
};
constexpr FlagName kMailNames[] = {
    {kMailBegin, "BEGIN"},
    {kMailEnd, "END"},
    {kMailFail, "FAIL"},
    {kMailRequeue, "REQUEUE"},
    {kMailTimeLimit, "TIME=100%"},
    {kMailTimeLimit90, "TIME=90%"},
    {kMailTimeLimit80, "TIME=80%"},
    {kMailTimeLimit50, "TIME=50%"},
    {kMailStageOut, "STAGE_OUT"},
    {kMailArrayTasks, "ARRAY_TASKS"},
    {kMailInvalidDepend, "INVALID_DEPENDENCY"},
};

void array_and_identity(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  std::string text;
  m.text("account", q.account).time("accrue_time", r.eligible).text("admin_comment", q.admin_comment);
  m.text("allocating_node", q.alloc_node).maybe("array_job_id", true, r.array_job_id.value);
  m.maybe("array_task_id", r.array_task != kNoArrayTask, r.array_task).maybe("array_max_tasks", true, r.array_max_running);
  m.text("array_task_string", r.array_task == kNoArrayTask ? array_tasks_text(r, 0) : text);
  m.number("association_id", 0).text("batch_features", q.batch_features.text()).flag("batch_flag", q.kind == JobKind::kBatch);
  m.text("batch_host", r.batch_host);
  m.sink().key("flags");
  m.sink().begin_list();
  if (q.kill_on_invalid_dependency_set)
    m.sink().text(q.kill_on_invalid_dependency ? "KILL_INVALID_DEPENDENCY" : "NO_KILL_INVALID_DEPENDENCY");
  if (q.spread_job) m.sink().text("SPREAD_JOB");
  if (q.use_min_nodes) m.sink().text("PREFER_MINIMUM_NODE_COUNT");
  if (!r.dependency.empty()) m.sink().text("DEPENDENT");
  if (q.stepmgr) m.sink().text("STEPMGR_ENABLED");
  if (q.spread_segments) m.sink().text("SPREAD_SEGMENTS");
  if (q.consolidate_segments) m.sink().text("CONSOLIDATE_SEGMENTS");
  m.sink().end_list();
  m.text("burst_buffer", q.burst_buffer).text("burst_buffer_state", "").text("cluster", v.env.cluster);
  m.text("cluster_features", q.cluster_features).text("command", command_text(q)).text("comment", q.comment);
  m.text("container", q.container).text("container_id", q.container_id).flag("contiguous", q.contiguous);
}

void cpus_and_times(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  m.number("core_spec", q.core_spec_is_threads ? 0 : q.core_spec).number("thread_spec", q.core_spec_is_threads ? q.core_spec : 0);
  m.maybe("cores_per_socket", q.cores_per_socket, q.cores_per_socket);
  m.begin("billable_tres").flag("set", !r.tres->allocated.empty()).flag("infinite", false);
  m.sink().key("number");
  m.sink().real(static_cast<double>(r.tres->allocated.billing.value_or(0)));
  m.end();
  m.maybe("cpus_per_task", true, std::max(1u, q.cpus_per_task));
  m.maybe("cpu_frequency_minimum", false, 0).maybe("cpu_frequency_maximum", false, 0).maybe("cpu_frequency_governor", false, 0);
  m.text("cpus_per_tres", q.cpus_per_gpu ? "gres/gpu:" + std::to_string(q.cpus_per_gpu) : "").text("cron", "");
  m.time("deadline", q.deadline).maybe("delay_boot", true, static_cast<uint64_t>(to_seconds(q.delay_boot)));
  m.text("dependency", r.dependency);
  json_exit_code(m, "derived_exit_code", r.derived_exit_status, r.state);
  m.time("eligible_time", r.eligible).time("end_time", end_time(v)).text("excluded_nodes", q.excluded_nodes.text());
  json_exit_code(m, "exit_code", r.exit_status, r.state);
  m.text("extra", q.extra).text("failed_node", "").text("features", q.features.text());
  m.text("federation_origin", "").text("federation_siblings_active", "").text("federation_siblings_viable", "");
}

void resources(Members& m, const JobView& v) {
  const JobRow& r = v.row;
  TreeSink& s = m.sink();
  m.begin("job_resources").words("select_type", r.shares.empty() ? "" : "CORE,MEMORY").begin("nodes");
  bool held = r.state != JobState::kPending;
  m.number("count", held ? r.nodes : 0).words("select_type", held ? "AVAILABLE" : "").text("list", r.node_list);
  m.flag("whole", v.request.exclusive == Exclusive::kNode);
  s.key("allocation");
  s.begin_list();
  int64_t index = 0;
  for (const NodeShareRow& share : r.shares) {
    s.begin_object();
    m.number("index", index++).text("name", share.node);
    m.begin("cpus").number("count", share.cpus).number("used", share.cpus).end();
    m.begin("memory").number("used", static_cast<int64_t>(share.mem_mb)).number("allocated", static_cast<int64_t>(share.mem_mb)).end();
    s.key("sockets");
    s.begin_list();  // only the node's CPU numbers are known, not its cores by socket
    s.end_list();
    s.end_object();
  }
  s.end_list();
  m.end().number("cpus", held ? r.cpus : 0);
  m.maybe("threads_per_core", v.request.threads_per_core, v.request.threads_per_core).end();
}

void state_names(Members& m, const JobRow& r) {
  m.sink().key("job_state");
  m.sink().begin_list();
  m.sink().text(job_state_name(r.state));
  for (const FlagName& f : kStateFlags)
    if (r.flags & f.flag) m.sink().text(f.name);
  m.sink().end_list();
}

void owner_and_state(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  TreeSink& s = m.sink();
  s.key("gres_detail");
  s.begin_list();
  for (const NodeShareRow& share : r.shares)
    if (!share.gres.empty()) s.text(share.gres);
  s.end_list();
  std::string group;
  put_group(group, q.gid, v.env);
  m.number("group_id", q.gid.value).text("group_name", group);
  m.maybe("het_job_id", true, 0).text("het_job_id_set", "").maybe("het_job_offset", true, 0).number("job_id", r.id.value);
  resources(m, v);
  m.words("job_size_str", q.node_sizes);
  state_names(m, r);
  m.time("last_sched_evaluation", v.row.last_sched_eval).text("licenses", licenses_text(q, r.tasks));
  m.text("licenses_allocated", r.state == JobState::kPending ? std::string() : licenses_text(q, r.tasks));
  s.key("mail_type");
  s.begin_list();
  for (const FlagName& f : kMailNames)
    if (q.mail_type & f.flag) s.text(f.name);
  s.end_list();
  m.text("mail_user", q.mail_user).maybe("max_cpus", true, r.max_cpus).maybe("max_nodes", true, r.max_nodes);
  m.text("mcs_label", q.mcs_label);
  m.text("memory_per_tres", q.mem_per_gpu_mb ? "gres/gpu:" + std::to_string(*q.mem_per_gpu_mb) : "");
  m.text("name", q.name).text("network", q.network).text("nodes", r.node_list).number("nice", q.nice);
}

void amounts(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  MinMemory mem = min_memory(q);
  m.maybe("tasks_per_core", q.ntasks_per_core, q.ntasks_per_core).maybe("tasks_per_tres", q.ntasks_per_gpu, q.ntasks_per_gpu);
  m.maybe("tasks_per_node", true, q.ntasks_per_node).maybe("tasks_per_socket", q.ntasks_per_socket, q.ntasks_per_socket);
  m.maybe("tasks_per_board", true, 0).maybe("cpus", true, r.cpus).maybe("node_count", true, r.nodes).maybe("tasks", true, r.tasks);
  m.text("partition", r.partition).text("prefer", q.prefer.text());
  m.maybe("memory_per_cpu", mem.per == MinMemory::kCpu, mem.mb).maybe("memory_per_node", mem.per == MinMemory::kNode, mem.mb);
  m.maybe("minimum_cpus_per_node", true, min_cpus_per_node(q)).maybe("minimum_tmp_disk_per_node", true, q.tmp_disk_mb);
  m.begin("power").list("flags", {}).end();
  m.time("preempt_time", kTimeUnset).time("preemptable_time", kTimeUnset);
  uint64_t before =
      r.suspended == kTimeUnset ? 0 : static_cast<uint64_t>(std::max<int64_t>(0, to_seconds(r.suspended - r.started - r.suspended_total)));
  m.maybe("pre_sus_time", true, before).flag("hold", r.priority == 0 && r.state == JobState::kPending);
  m.maybe("priority", true, r.priority);
  m.sink().key("priority_by_partition");
  m.sink().begin_list();
  m.sink().end_list();
}

void policies(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  m.words("profile", q.profile.empty() ? "NOT_SET" : std::string_view(q.profile)).text("qos", q.qos).flag("reboot", q.reboot);
  m.text("required_nodes", q.required_nodes.text()).number("required_switches", q.switches).flag("requeue", q.requeue != TriState::kNo);
  m.time("resize_time", r.resized).number("restart_cnt", r.restarts).text("resv_name", q.reservation);
  m.text("scheduled_nodes", r.expected_nodes).number("segment_size", q.segment).text("selinux_context", "");
  std::string_view shared = q.exclusive == Exclusive::kOversubscribe ? "oversubscribe"
                            : q.exclusive == Exclusive::kUser        ? "user"
                            : q.exclusive == Exclusive::kMcs         ? "mcs"
                            : q.exclusive == Exclusive::kTopo        ? "topo"
                            : q.exclusive == Exclusive::kNode        ? "none"
                                                                     : "";
  m.words("shared", shared);
  m.begin("step_id").text("sluid", "").maybe("job_id", true, r.id.value).maybe("step_het_component", false, 0).text("step_id", "").end();
  m.number("sockets_per_board", 0).maybe("sockets_per_node", q.sockets_per_node, q.sockets_per_node);
  m.time("start_time", start_time(v)).text("state_description", r.reason_detail).text("state_reason", reason_name(r.reason));
}

void files_and_tres(Members& m, const JobView& v) {
  const ShownRequest& q = v.request;
  const JobRow& r = v.row;
  for (auto [key, stream] : {std::pair("standard_input", Stream::kIn), {"standard_output", Stream::kOut}, {"standard_error", Stream::kErr}})
    m.text(key, stream_pattern(v, stream));
  for (auto [key, stream] :
       {std::pair("stdin_expanded", Stream::kIn), {"stdout_expanded", Stream::kOut}, {"stderr_expanded", Stream::kErr}})
    m.text(key, stream_path(v, stream));
  m.time("submit_time", r.submitted).text("submit_line", q.submit_line).time("suspend_time", r.suspended);
  m.text("system_comment", r.reason_detail).limit("time_limit", r.time_limit_min).maybe("time_minimum", true, q.time_min_min);
  m.maybe("threads_per_core", q.threads_per_core, q.threads_per_core).text("tres_bind", q.tres_bind).text("tres_freq", q.tres_freq);
  m.text("tres_per_job", q.tres_per_job.text())
      .text("tres_per_node", q.tres_per_node.text())
      .text("tres_per_socket", q.tres_per_socket.text());
  m.text("tres_per_task", tres_per_task_text(q));
  m.text("tres_req_str", tres_text(r.tres->requested)).text("tres_alloc_str", tres_text(r.tres->allocated));
  std::string user;
  put_user(user, q.uid, q.user_name, v.env);
  m.number("user_id", q.uid.value).text("user_name", user).number("maximum_switch_wait_time", to_seconds(q.switches_wait));
  m.text("wckey", q.wckey).text("current_working_directory", q.work_dir);
}

}  // namespace

void json_job(const JobView& v, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  array_and_identity(m, v);
  cpus_and_times(m, v);
  owner_and_state(m, v);
  amounts(m, v);
  policies(m, v);
  files_and_tres(m, v);
  sink.end_object();
}

}  // namespace muster::fields
