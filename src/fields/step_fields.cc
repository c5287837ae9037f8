// Fields of steps: squeue -s. A name that the manual page has for both jobs and steps means the step's value here.
#include "fields/field_table.h"
#include "fields/step_values.h"
#include "fields/values.h"

namespace muster::fields {

void put_step_id(std::string& out, const StepRow& row) {
  if (row.array_job_id) put_number(out, row.array_job_id.value);
  else out += component_name(row.job, row.het);
  if (row.array_job_id && row.array_task != kNoArrayTask) {
    out += '_';
    put_number(out, row.array_task);
  }
  out += '.';
  if (row.id == kBatchStep) out += "batch";
  else if (row.id == kExternStep) out += "extern";
  else if (row.id == kInteractiveStep) out += "interactive";
  else put_number(out, row.id.value);
}

std::string_view step_state_name(StepState s) {
  switch (s) {
    case StepState::kPending: return "PENDING";
    case StepState::kRunning: return "RUNNING";
    case StepState::kCompleting: return "COMPLETING";
  }
  return "?";
}

namespace {

using V = const StepView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

// Job ids have at most 26 bits, array indexes 22. For array tasks 15 bits remain for the step, so steps above 32,767 are ordered by their
// low 12 bits.
int64_t id_order(V v) {
  uint64_t step = v.row.id.value;
  if (!v.row.array_job_id) return static_cast<int64_t>(uint64_t{v.row.job.value} << 37 | step);
  if (step > 0x7fffu) step = 0x7000u + (step & 0xfff);
  return static_cast<int64_t>(uint64_t{v.row.array_job_id.value} << 37 | uint64_t{v.row.array_task & 0x3fffffu} << 15 | step);
}
int64_t start_order(V v) { return v.row.start == kTimeUnset ? INT64_MAX : unix_seconds(v.row.start); }
void elapsed(V v, S o) { put_span(o, v.row.start == kTimeUnset ? Duration::zero() : v.env.now - v.row.start); }
void null(V, S o) { o += "(null)"; }
constexpr StepField text(std::string_view name, std::string_view header, std::string_view doc, void (*put)(V, S)) {
  return {0, name, "", header, 0, kWorks, doc, put};
}
uint32_t array_id(V v) { return v.row.array_job_id.value; }

constexpr StepField kFields[] = {
    {'i', "StepID", "", "STEPID", 0, kWorks, "Step id", [](V v, S o) { put_step_id(o, v.row); }, id_order},
    {0, "JobID", "", "JOB_ID", 0, kWorks, "Id of its job", [](V v, S o) { put_number(o, v.row.job.value); },
     [](V v) { return int64_t{v.row.job.value}; }},
    {0, "ArrayJobID", "", "ARRAY_JOB_ID", 0, kWorks, "Id of the array, 0 outside arrays", [](V v, S o) { put_number(o, array_id(v)); },
     [](V v) { return int64_t{array_id(v)}; }},
    {0, "ArrayTaskID", "", "ARRAY_TASK_ID", 0, kWorks, "Index in the array",
     [](V v, S o) {
       if (v.row.array_task == kNoArrayTask) o += "N/A";
       else put_number(o, v.row.array_task);
     }},
    {'j', "StepName", "Name", "NAME", 0, kWorks, "Step name", [](V v, S o) { put(o, v.row.name); }},
    {0, "StepState", "", "STATE", 0, kWorks, "State", [](V v, S o) { put(o, step_state_name(v.row.state)); }},
    {'P', "Partition", "", "PARTITION", 0, kWorks, "Partition of its job", [](V v, S o) { put(o, v.row.partition); }},
    {'u', "UserName", "", "USER", 0, kWorks, "Name of the owner", [](V v, S o) { put_user(o, v.row.uid, v.row.user_name, v.env); }},
    {'U', "UserID", "", "UID", 0, kWorks, "Uid of the owner", [](V v, S o) { put_number(o, v.row.uid.value); },
     [](V v) { return int64_t{v.row.uid.value}; }},
    {'A', "NumTasks", "", "TASKS", 0, kWorks, "Tasks", [](V v, S o) { put_number(o, v.row.tasks); },
     [](V v) { return int64_t{v.row.tasks}; }},
    {0, "NumCPUs", "", "NUM_CPUS", 0, kWorks, "CPUs", [](V v, S o) { put_number(o, v.row.cpus); }, [](V v) { return int64_t{v.row.cpus}; }},
    {'N', "Nodes", "NodeList", "NODELIST", kWideValue | kWideHeader, kWorks, "Its nodes", [](V v, S o) { put(o, v.row.node_list); }},
    {'S', "StartTime", "", "START_TIME", 0, kWorks, "Start", [](V v, S o) { put_time(o, v.row.start, v.env); }, start_order},
    {'l', "TimeLimit", "", "TIME_LIMIT", 0, kWorks, "Time limit", [](V v, S o) { put_minutes(o, v.row.time_limit_min, "UNLIMITED"); },
     [](V v) { return int64_t{v.row.time_limit_min}; }},
    {'M', "TimeUsed", "", "TIME", kWideValue, kWorks, "Time since it began", elapsed,
     [](V v) { return v.row.start == kTimeUnset ? int64_t{0} : to_seconds(v.env.now - v.row.start); }},
    {'b', "tres-per-node", "", "TRES_PER_NODE", 0, kWorks, "TRES on every node", [](V v, S o) { put_or(o, v.row.gres); }},
    {0, "tres-alloc", "", "TRES_ALLOC", 0, kWorks, "TRES it holds", [](V v, S o) { put_or(o, tres_text(v.row.tres)); }},
    {0, "Cluster", "", "CLUSTER", 0, kWorks, "Cluster that has the step", [](V v, S o) { put(o, v.env.cluster); }},
    {0, "CPUFreq", "", "CPU_FREQ", 0, kWorks, "CPU frequency asked for", [](V v, S o) { put_or(o, v.row.cpu_freq, "Default"); }},
    text("cpus-per-tres", "CPUS_PER_TRES", "CPUs for each GPU", [](V v, S o) { put_or(o, v.row.cpus_per_tres); }),
    text("mem-per-tres", "MEM_PER_TRES", "Memory for each GPU", [](V v, S o) { put_or(o, v.row.mem_per_tres); }),
    text("Network", "NETWORK", "Network asked for", [](V v, S o) { put_or(o, v.row.network); }),
    text("ResvPort", "RESV_PORTS", "Ports reserved for MPI", [](V v, S o) { put_or(o, v.row.resv_ports); }),
    text("STDIN", "STDIN", "File of standard input as asked for", [](V v, S o) { put_or(o, v.row.std_in); }),
    text("STDOUT", "STDOUT", "File of standard output as asked for", [](V v, S o) { put_or(o, v.row.std_out); }),
    text("STDERR", "STDERR", "File of standard error as asked for", [](V v, S o) { put_or(o, v.row.std_err); }),
    text("tres-bind", "TRES_BIND", "Binding of tasks to devices", [](V v, S o) { put_or(o, v.row.tres_bind); }),
    text("tres-freq", "TRES_FREQ", "Frequencies of devices", [](V v, S o) { put_or(o, v.row.tres_freq); }),
    text("tres-per-step", "TRES_PER_STEP", "TRES for the whole step", [](V v, S o) { put_or(o, v.row.tres_per_step); }),
    text("tres-per-socket", "TRES_PER_SOCKET", "TRES on every socket", [](V v, S o) { put_or(o, v.row.tres_per_socket); }),
    text("tres-per-task", "TRES_PER_TASK", "TRES for every task", [](V v, S o) { put_or(o, v.row.tres_per_task); }),
    absent<StepView>(0, "tres-per-job", "TRES_PER_JOB", "", "TRES of the whole job; a step has none, squeue shows a job's", null),
    absent<StepView>(0, "Container", "CONTAINER", "OCI containers", "OCI bundle", null),
    absent<StepView>(0, "ContainerID", "CONTAINER_ID", "OCI containers", "OCI container id", null),
};

}  // namespace

std::span<const StepField> step_fields() { return kFields; }

}  // namespace muster::fields
