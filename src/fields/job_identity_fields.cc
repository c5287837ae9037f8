// Fields that say which job it is: ids, names, owner, command, files.
#include "fields/field_table.h"
#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

int64_t id_order(V v) {
  uint32_t base = v.row.array_job_id ? v.row.array_job_id.value : v.row.id.value;
  return static_cast<int64_t>(base) << 32 | (v.row.array_job_id ? v.row.array_task : 0u);
}
uint32_t base_id(V v) { return v.row.array_job_id ? v.row.array_job_id.value : v.row.id.value; }
void put_stream(V v, Stream stream, S o) { put_or(o, v.env.expand_patterns ? stream_path(v, stream) : stream_pattern(v, stream)); }
void job_id(V v, S o) { put_job_id(o, v.row, v.env); }

constexpr JobField kFields[] = {
    {'i', "JobArrayID", "", "JOBID", 0, kWorks, "Job id as users write it: 12, 12_3, 12_[4-7]", job_id, id_order},
    {'A', "JobID", "", "JOBID", 0, kWorks, "Job id, a number of its own for every array task",
     [](V v, S o) { put_number(o, v.row.id.value); }, [](V v) { return int64_t{v.row.id.value}; }},
    {'s', "Sluid", "", "SLUID", 0, kWorks, "Sortable unique id of this run of the job",
     [](V v, S o) { put(o, sluid_text(sluid_of(v.row.id, v.row.submitted, v.row.restarts))); }},
    {'F', "ArrayJobID", "", "ARRAY_JOB_ID", 0, kWorks, "Id of the array; the job's own id outside arrays",
     [](V v, S o) { put_number(o, base_id(v)); }, [](V v) { return int64_t{base_id(v)}; }},
    {'K', "ArrayTaskID", "", "ARRAY_TASK_ID", 0, kWorks, "Index in the array, or the pending indexes",
     [](V v, S o) { put_or(o, array_tasks_text(v.row, v.env.array_text_length), "N/A"); }, [](V v) { return int64_t{v.row.array_task}; }},
    {'j', "Name", "", "NAME", 0, kWorks, "Job name", [](V v, S o) { put(o, v.request.name); }},
    {'u', "UserName", "", "USER", 0, kWorks, "Name of the owner", [](V v, S o) { put_user(o, v.request.uid, v.request.user_name, v.env); }},
    {'U', "UserID", "", "UID", 0, kWorks, "Uid of the owner", [](V v, S o) { put_number(o, v.request.uid.value); },
     [](V v) { return int64_t{v.request.uid.value}; }},
    {'g', "GroupName", "", "GROUP", 0, kWorks, "Name of the group", [](V v, S o) { put_group(o, v.request.gid, v.env); }},
    {'G', "GroupID", "", "GROUP", 0, kWorks, "Gid of the group", [](V v, S o) { put_number(o, v.request.gid.value); },
     [](V v) { return int64_t{v.request.gid.value}; }},
    {'a', "Account", "", "ACCOUNT", 0, kWorks, "Account that is charged", [](V v, S o) { put_or(o, v.request.account); }},
    {'q', "QOS", "", "QOS", 0, kWorks, "Quality of service", [](V v, S o) { put_or(o, v.request.qos); }},
    {'w', "WCKey", "", "WCKEY", 0, kWorks, "Workload characterization key", [](V v, S o) { put_or(o, v.request.wckey); }},
    {'k', "Comment", "", "COMMENT", 0, kWorks, "Comment of the user", [](V v, S o) { put_or(o, v.request.comment); }},
    {0, "admin_comment", "", "ADMIN_COMMENT", 0, kWorks, "Comment of the administrator",
     [](V v, S o) { put_or(o, v.request.admin_comment); }},
    {'o', "Command", "", "COMMAND", 0, kWorks, "The script", [](V v, S o) { put_or(o, command_text(v.request)); }},
    {'Z', "WorkDir", "", "WORK_DIR", 0, kWorks, "Working directory", [](V v, S o) { put(o, v.request.work_dir); }},
    {0, "STDIN", "", "STDIN", 0, kWorks, "File of standard input", [](V v, S o) { put_stream(v, Stream::kIn, o); }},
    {0, "STDOUT", "", "STDOUT", 0, kWorks, "File of standard output", [](V v, S o) { put_stream(v, Stream::kOut, o); }},
    {0, "STDERR", "", "STDERR", 0, kWorks, "File of standard error", [](V v, S o) { put_stream(v, Stream::kErr, o); }},
    {0, "AllocNodes", "", "ALLOC_NODES", 0, kWorks, "Host the job was submitted from", [](V v, S o) { put_or(o, v.request.alloc_node); }},
    {0, "AllocSID", "", "ALLOC_SID", 0, kWorks, "Session id of the submitting process",
     [](V v, S o) { put_number(o, v.request.alloc_sid); }, [](V v) { return int64_t{v.request.alloc_sid}; }},
    {0, "BatchFlag", "", "BATCH_FLAG", 0, kWorks, "1 for a batch job",
     [](V v, S o) { put_number(o, v.request.kind == JobKind::kBatch ? 1 : 0); }},
    {0, "Cluster", "", "CLUSTER", 0, kWorks, "Cluster that has the job", [](V v, S o) { put(o, v.env.cluster); }},
    {0, "Container", "", "CONTAINER", 0, kWorks, "OCI bundle", [](V v, S o) { put_or(o, v.request.container); }},
    {0, "ContainerID", "", "CONTAINER_ID", 0, kWorks, "OCI container id", [](V v, S o) { put_or(o, v.request.container_id); }},
};

}  // namespace

std::span<const JobField> job_identity_fields() { return kFields; }

}  // namespace muster::fields
