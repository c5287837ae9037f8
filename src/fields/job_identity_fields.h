// Facts that say which job it is: ids, names, owner, command, files. Included by job_fields.cc alone.
#pragma once

#include "fields/job_composites.h"
#include "fields/job_fact.h"
#include "fields/job_values.h"

namespace muster::fields::identity {

inline bool in_array(const JobView& v) { return bool(v.row.array_job_id); }
inline bool in_throttled_array(const JobView& v) { return in_array(v) && v.row.array_max_running; }
inline uint32_t base_id(const JobRow& r) { return r.array_job_id ? r.array_job_id.value : r.id.value; }
inline int64_t id_order(const JobView& v) {
  return static_cast<int64_t>(base_id(v.row)) << 32 | (v.row.array_job_id ? v.row.array_task : 0u);
}
inline std::string tasks(const JobView& v) { return array_tasks_text(v.row, v.env.array_text_length); }
inline int64_t task_order(const JobView& v) { return v.row.array_task; }
inline std::optional<uint32_t> task(const JobRow& r) { return r.array_task == kNoArrayTask ? std::nullopt : std::optional(r.array_task); }
inline std::string pending_tasks(const JobRow& r) { return r.array_task == kNoArrayTask ? array_tasks_text(r, 0) : std::string(); }
inline std::string sluid(const JobRow& r) { return sluid_text(sluid_of(r.id, r.submitted, r.restarts)); }
inline UserNamed owner(const ShownRequest& q) { return {q.uid, q.user_name}; }
inline bool is_component(const JobView& v) { return bool(v.row.het); }
inline uint32_t het_leader(const JobRow& r) { return r.het.leader.value; }
inline uint32_t het_offset(const JobRow& r) { return r.het.offset; }
inline std::string het_leader_text(const JobRow& r) { return r.het ? std::to_string(r.het.leader.value) : std::string(); }
inline std::string het_offset_text(const JobRow& r) { return r.het ? std::to_string(r.het.offset) : std::string(); }
inline int64_t het_leader_order(const JobView& v) { return v.row.het.leader.value; }
inline int64_t het_offset_order(const JobView& v) { return v.row.het.offset; }
inline std::string het_ids(const JobRow& r) { return component_ids(r.het); }
inline bool is_batch(const ShownRequest& q) { return q.kind == JobKind::kBatch; }
inline bool has_files(const JobView& v) { return is_batch(v.request); }
inline const std::string& cluster(const JobView& v) { return v.env.cluster; }

template <Stream kStream>
std::string pattern(const JobView& v) {
  return stream_pattern(v, kStream);
}
template <Stream kStream>
std::string path(const JobView& v) {
  return stream_path(v, kStream);
}
template <Stream kStream>
std::string pattern_or_path(const JobView& v) {
  return v.env.expand_patterns ? stream_path(v, kStream) : stream_pattern(v, kStream);
}

constexpr JobFact kFacts[] = {
    composite("Job id as users write it: 12, 12_3, 12_[4-7]", column('i', "JobArrayID", "JOBID").written(job_id).order(id_order)),
    field<Number, &JobRow::id>("Job id, a number of its own for every array task", column('A', "JobID", "JOBID"),
                               shown("JobId", at(10, 10)), member("job_id", 530)),
    field<Text, sluid>("Sortable unique id of this run of the job", column('s', "Sluid", "SLUID").none("")),
    composite("The job, as a step names it", member("step_id", 1040).written(Shape::kObject, json_step_id)),
    field<Number, base_id>("Id of the array; the job's own id outside arrays", column('F', "ArrayJobID", "ARRAY_JOB_ID"),
                           shown("ArrayJobId", at(10, 20)).when(in_array), member<Quantity, &JobRow::array_job_id>("array_job_id", 50)),
    field<Text, tasks>("Index in the array, or the pending indexes",
                       column('K', "ArrayTaskID", "ARRAY_TASK_ID").none("N/A").order(task_order),
                       shown("ArrayTaskId", at(10, 30)).none("").when(in_array), member<Quantity, task>("array_task_id", 60)),
    field<Text, pending_tasks>("The pending indexes of the array, all of them", member("array_task_string", 80)),
    field<Quantity, &JobRow::array_max_running>("How many tasks of the array may run at a time",
                                                shown("ArrayTaskThrottle", at(10, 40)).when(in_throttled_array),
                                                member("array_max_tasks", 70)),
    field<Text, &ShownRequest::name>("Job name", column('j', "Name", "NAME").none(""), shown("JobName", at(10, 50)).none(""),
                                     member("name", 660)),
    field<Owner, owner>("Name of the owner", column('u', "UserName", "USER"), shown("UserId", at(20, 10)), member("user_name", 1320)),
    field<Number, &ShownRequest::uid>("Uid of the owner", column('U', "UserID", "UID"), member("user_id", 1310)),
    field<Group, &ShownRequest::gid>("Name of the group", column('g', "GroupName", "GROUP"), shown("GroupId", at(20, 20)),
                                     member("group_name", 490)),
    field<Number, &ShownRequest::gid>("Gid of the group", column('G', "GroupID", "GROUP"), member("group_id", 480)),
    field<Text, &ShownRequest::account>("Account that is charged", column('a', "Account", "ACCOUNT"), shown("Account", at(30, 30)),
                                        member("account", 10)),
    field<Text, &ShownRequest::qos>("Quality of service", column('q', "QOS", "QOS"), shown("QOS", at(30, 40)), member("qos", 920)),
    field<Text, wckey_text>("Workload characterization key", column('w', "WCKey", "WCKEY"), shown("WCKey", at(30, 50)).if_any(),
                            member("wckey", 1340)),
    field<Text, &ShownRequest::comment>("Comment of the user", column('k', "Comment", "COMMENT"), shown("Comment", at(300, 10)).if_any(),
                                        member("comment", 190)),
    field<Text, &ShownRequest::admin_comment>("Comment of the administrator", column(0, "admin_comment", "ADMIN_COMMENT"),
                                              shown("AdminComment", at(290, 10)).if_any(), member("admin_comment", 30)),
    field<Text, &ShownRequest::extra>("Text for programs of the site", shown("Extra", at(320, 10)).if_any(), member("extra", 410)),
    field<Text, command_text>("The script", column('o', "Command", "COMMAND"), shown("Command", at(260, 10)), member("command", 180)),
    field<Text, &ShownRequest::submit_line>("The command that submitted it", shown("SubmitLine", at(270, 10)).if_any(),
                                            member("submit_line", 1170)),
    field<Text, &ShownRequest::work_dir>("Working directory", column('Z', "WorkDir", "WORK_DIR").none(""),
                                         shown("WorkDir", at(280, 10)).none(""), member("current_working_directory", 1350)),
    field<Text, pattern<Stream::kIn>>("File of standard input", column<Text, pattern_or_path<Stream::kIn>>(0, "STDIN", "STDIN"),
                                      member("standard_input", 1100)),
    field<Text, pattern<Stream::kOut>>("File of standard output", column<Text, pattern_or_path<Stream::kOut>>(0, "STDOUT", "STDOUT"),
                                       member("standard_output", 1110)),
    field<Text, pattern<Stream::kErr>>("File of standard error", column<Text, pattern_or_path<Stream::kErr>>(0, "STDERR", "STDERR"),
                                       member("standard_error", 1120)),
    field<Text, path<Stream::kIn>>("Path of standard input", shown("StdIn", at(360, 10)).none("").when(has_files),
                                   member("stdin_expanded", 1130)),
    field<Text, path<Stream::kOut>>("Path of standard output", shown("StdOut", at(370, 10)).none("").when(has_files),
                                    member("stdout_expanded", 1140)),
    field<Text, path<Stream::kErr>>("Path of standard error", shown("StdErr", at(350, 10)).none("").when(has_files),
                                    member("stderr_expanded", 1150)),
    field<Text, &ShownRequest::alloc_node>("Host the job was submitted from", column(0, "AllocNodes", "ALLOC_NODES"),
                                           shown("AllocNode:Sid", at(120, 20)).written(show_submit_host), member("allocating_node", 40)),
    field<Number, &ShownRequest::alloc_sid>("Session id of the submitting process", column(0, "AllocSID", "ALLOC_SID")),
    field<Flag, is_batch>("1 for a batch job", column(0, "BatchFlag", "BATCH_FLAG"), shown("BatchFlag", at(50, 30)),
                          member("batch_flag", 110)),
    field<Text, cluster>("Cluster that has the job", column(0, "Cluster", "CLUSTER").none(""), member("cluster", 160)),
    field<Text, &ShownRequest::container>("OCI bundle", column(0, "Container", "CONTAINER"), shown("Container", at(330, 10)).if_any(),
                                          member("container", 200)),
    field<Text, &ShownRequest::container_id>("OCI container id", column(0, "ContainerID", "CONTAINER_ID"),
                                             shown("ContainerID", at(340, 10)).if_any(), member("container_id", 210)),
    field<Number, het_leader>("First component of the heterogeneous job",
                              column<Text, het_leader_text>(0, "HetJobID", "HET_JOB_ID").none("N/A").order(het_leader_order),
                              shown("HetJobId", at(10, 42)).when(is_component), member<Quantity>("het_job_id", 500)),
    field<Text, het_ids>("Ids of its components", column(0, "HetJobIDSet", "HET_JOB_ID_SET").none("N/A"),
                         shown("HetJobIdSet", at(15, 10)).when(is_component), member("het_job_id_set", 510)),
    field<Number, het_offset>("Which component it is, from 0",
                              column<Text, het_offset_text>(0, "HetJobOffset", "HET_JOB_OFFSET").none("N/A").order(het_offset_order),
                              shown("HetJobOffset", at(10, 44)).when(is_component), member<Quantity>("het_job_offset", 520)),
};

}  // namespace muster::fields::identity
