#include "fields/show_job.h"

#include <algorithm>

#include "base/text.h"
#include "fields/job_values.h"
#include "hostlist/hostlist.h"
#include "model/mail.h"

namespace muster::fields {
namespace {

void star(std::string& out, uint32_t n) { put_number_or(out, n, "*"); }

void show_identity(const JobView& v, Record& r) {
  r.pair("JobId", v.row.id.value);
  if (v.row.array_job_id) {
    r.pair("ArrayJobId", v.row.array_job_id.value);
    r.pair("ArrayTaskId", array_tasks_text(v.row, v.env.array_text_length));
    if (v.row.array_max_running) r.pair("ArrayTaskThrottle", v.row.array_max_running);
  }
  r.pair("JobName", v.request.name);
  r.line();
  put_user(r.key("UserId"), v.request.uid, v.request.user_name, v.env);
  r.out() += '(';
  put_number(r.out(), v.request.uid.value);
  r.out() += ')';
  put_group(r.key("GroupId"), v.request.gid, v.env);
  r.out() += '(';
  put_number(r.out(), v.request.gid.value);
  r.out() += ')';
  r.pair("MCS_label", v.request.mcs_label.empty() ? "N/A" : std::string_view(v.request.mcs_label));
  r.line();
  r.pair("Priority", v.row.priority).pair("Nice", v.request.nice);
  r.or_null("Account", v.request.account).or_null("QOS", v.request.qos);
  if (!v.request.wckey.empty()) r.pair("WCKey", v.request.wckey);
}

void show_state(const JobView& v, bool details, Record& r) {
  r.line();
  r.pair("JobState", job_state_shown(v.row.state, v.row.flags));
  std::string reason(reason_text(v.row));
  std::ranges::replace(reason, ' ', '_');
  r.pair("Reason", reason).or_null("Dependency", v.row.dependency);
  r.line();
  r.pair("Requeue", v.request.requeue == TriState::kNo ? 0 : 1).pair("Restarts", v.row.restarts);
  r.pair("BatchFlag", v.request.kind == JobKind::kBatch ? 1 : 0).pair("Reboot", v.request.reboot ? 1 : 0);
  put_exit_status(r.key("ExitCode"), v.row.exit_status);
  if (!details) return;
  r.line();
  put_exit_status(r.key("DerivedExitCode"), v.row.derived_exit_status);
}

void show_times(const JobView& v, Record& r) {
  r.line();
  put_span_full(r.key("RunTime"), run_time(v));
  r.key("TimeLimit");
  if (v.row.time_limit_min == kUnlimited32) r.out() += "UNLIMITED";
  else put_span_full(r.out(), minutes(v.row.time_limit_min));
  r.key("TimeMin");
  if (v.request.time_min_min) put_span_full(r.out(), minutes(v.request.time_min_min));
  else r.out() += "N/A";
  r.line();
  put_time(r.key("SubmitTime"), v.row.submitted, v.env, "Unknown");
  put_time(r.key("EligibleTime"), v.row.eligible, v.env, "Unknown");
  r.line();
  put_time(r.key("AccrueTime"), accrues_since(v), v.env, "Unknown");
  r.line();
  put_time(r.key("StartTime"), start_time(v), v.env, "Unknown");
  put_time(r.key("EndTime"), end_time(v), v.env, "Unknown");
  put_time(r.key("Deadline"), v.request.deadline, v.env, "N/A");
  r.line();
  put_time(r.key("SuspendTime"), v.row.suspended, v.env, "None");
  int64_t before = v.row.suspended == kTimeUnset ? 0 : to_seconds(v.row.suspended - v.row.started - v.row.suspended_total);
  r.pair("SecsPreSuspend", std::max<int64_t>(0, before));
  put_time(r.key("LastSchedEval"), v.row.last_sched_eval, v.env, "Unknown");
}

void show_places(const JobView& v, Record& r) {
  r.line();
  r.pair("Partition", v.row.partition);
  r.pair("AllocNode:Sid", v.request.alloc_node.empty() ? "(null)" : v.request.alloc_node);
  r.out() += ':';
  put_number(r.out(), v.request.alloc_sid);
  r.line();
  r.or_null("ReqNodeList", hosts_text(v.request.required_nodes.text())).or_null("ExcNodeList", hosts_text(v.request.excluded_nodes.text()));
  r.line();
  r.pair("NodeList", v.row.node_list);
  if (v.row.state == JobState::kPending && !v.row.expected_nodes.empty()) r.pair("SchedNodeList", v.row.expected_nodes);
  if (v.row.batch_host.empty()) return;
  r.line();
  r.pair("BatchHost", v.row.batch_host);
}

void show_amounts(const JobView& v, Record& r) {
  const ShownRequest& q = v.request;
  r.line();
  r.pair("NumNodes", v.row.nodes);
  // A range is printed where the job asked for one, and for a held job, for which nobody has worked out yet how many nodes it will get.
  if (v.row.state == JobState::kPending && (v.row.max_nodes || v.row.priority == 0)) {
    r.out() += '-';
    put_number(r.out(), most_nodes(v));
  }
  r.pair("NumCPUs", v.row.cpus).pair("NumTasks", v.row.tasks).pair("CPUs/Task", std::max(1u, q.cpus_per_task));
  r.key("ReqB:S:C:T") += "0:0:";
  star(r.out(), q.cores_per_socket);
  r.out() += ':';
  star(r.out(), q.threads_per_core);
  r.line();
  r.or_null("ReqTRES", tres_text(v.row.tres->requested));
  r.line();
  r.or_null("AllocTRES", tres_text(v.row.tres->allocated));
  r.line();
  star(r.key("Socks/Node"), q.sockets_per_node);
  put_number(r.key("NtasksPerN:B:S:C"), q.ntasks_per_node);
  r.out() += ":0:";
  star(r.out(), q.ntasks_per_socket);
  r.out() += ':';
  star(r.out(), q.ntasks_per_core);
  star(r.key(q.core_spec_is_threads ? "ThreadSpec" : "CoreSpec"), q.core_spec);
}

// For -d: what the job has on each node. Neighbours in the list with equal shares are printed together. Placement is a key that Slurm
// lacks: it is printed where a topology has a say, as one word without blanks, which parsers of key=value need.
void show_shares(const JobView& v, Record& r) {
  if (v.row.shares.empty()) return;
  r.line();
  r.or_null("JOB_GRES", v.row.gres_allocated);
  auto same = [](const NodeShareRow& a, const NodeShareRow& b) {
    return a.cpu_ids == b.cpu_ids && a.mem_mb == b.mem_mb && a.gres == b.gres;
  };
  for (auto s = v.row.shares.begin(); s != v.row.shares.end();) {
    auto end = std::find_if(s, v.row.shares.end(), [&](const NodeShareRow& next) { return !same(*s, next); });
    std::vector<std::string> nodes;
    for (auto one = s; one != end; ++one) nodes.push_back(one->node);
    r.line();
    r.out() += "  ";  // on one line, too
    r.pair("Nodes", compress_hosts(nodes)).pair("CPU_IDs", s->cpu_ids).pair("Mem", s->mem_mb).pair("GRES", s->gres);
    s = end;
  }
  if (v.row.placement.empty()) return;
  r.line();
  r.pair("Placement", v.row.placement);
}

void show_wishes(const JobView& v, Record& r) {
  const ShownRequest& q = v.request;
  MinMemory mem = min_memory(q);
  r.line();
  r.pair("MinCPUsNode", min_cpus_per_node(q));
  std::string_view per = mem.per == MinMemory::kCpu ? "MinMemoryCPU" : "MinMemoryNode";
  put_mem(r.key(per), mem.per == MinMemory::kGpu ? 0 : mem.mb, v.env.noconvert);
  put_mem(r.key("MinTmpDiskNode"), q.tmp_disk_mb, v.env.noconvert);
  r.line();
  r.or_null("Features", q.features.text());
  if (!q.prefer.empty()) r.pair("Prefer", q.prefer.text());
  if (!q.batch_features.empty()) r.pair("BatchFeatures", q.batch_features.text());
  put_span_full(r.key("DelayBoot"), q.delay_boot);
  if (!q.cluster_features.empty()) r.pair("ClusterFeatures", q.cluster_features);
  if (!q.reservation.empty()) r.pair("Reservation", q.reservation);
  r.line();
  r.pair("OverSubscribe", oversubscribe_text(v)).pair("Exclusive", exclusive_text(v)).pair("Contiguous", q.contiguous ? 1 : 0);
  const std::string licenses = licenses_text(q, v.row.tasks);
  r.or_null("Licenses", licenses).or_null("LicensesAlloc", v.row.state == JobState::kPending ? std::string_view() : licenses);
  r.or_null("Network", q.network);
}

void optional(Record& r, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  r.line();
  r.pair(name, value);
}

void show_files(const JobView& v, Record& r) {
  const ShownRequest& q = v.request;
  r.line();
  r.or_null("Command", command_text(q));
  optional(r, "SubmitLine", q.submit_line);
  r.line();
  r.pair("WorkDir", q.work_dir);
  optional(r, "AdminComment", q.admin_comment);
  optional(r, "Comment", q.comment);
  // A detail that is more than the longer form of the reason is what the system has to say.
  if (reason_text(v.row) != v.row.reason_detail) optional(r, "SystemComment", v.row.reason_detail);
  optional(r, "Extra", q.extra);
  optional(r, "Container", q.container);
  optional(r, "ContainerID", q.container_id);
  if (q.kind == JobKind::kBatch) {
    for (auto [name, stream] : {std::pair("StdErr", Stream::kErr), {"StdIn", Stream::kIn}, {"StdOut", Stream::kOut}}) {
      r.line();
      r.pair(name, stream_path(v, stream));
    }
  }
}

void show_policies(const JobView& v, Record& r) {
  const ShownRequest& q = v.request;
  if (q.switches) {
    r.line();
    r.pair("Switches", q.switches);
    r.out() += '@';
    put_span_full(r.out(), q.switches_wait);
  }
  if (q.segment) {
    r.line();
    r.pair("SegmentSize", q.segment);
  }
  if (q.cpus_per_gpu) {
    r.line();
    r.key("CpusPerTres") += "gres/gpu:";
    put_number(r.out(), q.cpus_per_gpu);
  }
  if (q.mem_per_gpu_mb) {
    r.line();
    r.key("MemPerTres") += "gres/gpu:";
    put_number(r.out(), *q.mem_per_gpu_mb);
  }
  optional(r, "TresBind", q.tres_bind);
  optional(r, "TresFreq", q.tres_freq);
  optional(r, "TresPerJob", q.tres_per_job.text());
  optional(r, "TresPerNode", q.tres_per_node.text());
  optional(r, "TresPerSocket", q.tres_per_socket.text());
  optional(r, "TresPerTask", tres_per_task_text(q));
  if (q.stepmgr) optional(r, "StepMgrEnabled", "Yes");
  if (q.mail_type) {
    r.line();
    r.pair("MailUser", q.mail_user.empty() ? q.user_name : q.mail_user);
    r.pair("MailType", format_mail_type(q.mail_type));
  }
}

}  // namespace

void show_job(const JobView& v, const ShowOptions& options, std::string& out) {
  Record r(out, options.oneliner);
  show_identity(v, r);
  show_state(v, options.details, r);
  show_times(v, r);
  show_places(v, r);
  show_amounts(v, r);
  if (options.details) show_shares(v, r);
  show_wishes(v, r);
  show_files(v, r);
  show_policies(v, r);
  r.end();
}

}  // namespace muster::fields
