// The facts of a step (fact.h): squeue -s, scontrol show step, --json. A name that the manual page has for both jobs and steps means the
// step's value here. Only steps that are not over are shown, so what is known at a step's end (exit code, usage, who killed it) is empty.
#include "fields/step_fields.h"

#include <algorithm>

#include "fields/step_composites.h"
#include "fields/step_values.h"

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

using StepFact = Fact<StepView>;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto column(char letter, std::string_view name, std::string_view header) {
  return column_of<StepFact, K, Get>(letter, name, header);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto shown(std::string_view key, At place) {
  return shown_of<StepFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<StepFact, K, Get>(key, place);
}

// Job ids have at most 26 bits, array indexes 22. For array tasks 15 bits remain for the step, so steps above 32,767 are ordered by their
// low 12 bits.
int64_t id_order(const StepView& view) {
  const StepRow& row = view.row;
  uint64_t step = row.id.value;
  if (!row.array_job_id) return static_cast<int64_t>(uint64_t{row.job.value} << 37 | step);
  if (step > 0x7fffu) step = 0x7000u + (step & 0xfff);
  return static_cast<int64_t>(uint64_t{row.array_job_id.value} << 37 | uint64_t{row.array_task & 0x3fffffu} << 15 | step);
}
void id_column(const StepView& view, std::string& out) { put_step_id(out, view.row); }
std::string id_text(const StepRow& row) {
  std::string out;
  put_step_id(out, row);
  return out;
}
void array_task(const StepView& view, std::string& out) {
  if (view.row.array_task == kNoArrayTask) out += "N/A";
  else put_number(out, view.row.array_task);
}
std::string_view state(const StepRow& row) { return step_state_name(row.state); }
UserNamed owner(const StepRow& row) { return {row.uid, row.user_name}; }
Duration used(const StepView& view) { return view.row.start == kTimeUnset ? Duration::zero() : view.env.now - view.row.start; }
int64_t used_seconds(const StepView& view) { return std::max<int64_t>(0, to_seconds(used(view))); }
std::string_view cluster(const StepView& view) { return view.env.cluster; }
std::string srun(const StepRow& row) { return row.srun_pid ? row.srun_host + ":" + std::to_string(row.srun_pid) : ""; }

// What a step that runs does not have.
constexpr std::string_view no_text(const StepRow&) { return {}; }
constexpr int64_t zero(const StepRow&) { return 0; }
constexpr Time never(const StepRow&) { return kTimeUnset; }

using Row = StepRow;
constexpr StepFact kFacts[] = {
    field<Text, id_text>("Step id", column('i', "StepID", "STEPID").written(id_column).order(id_order), shown("StepId", at(10, 10)),
                         member("step.id", 190)),
    field<Number, &Row::job>("Id of its job", column(0, "JobID", "JOB_ID")),
    field<Number, &Row::array_job_id>("Id of the array, 0 outside arrays", column(0, "ArrayJobID", "ARRAY_JOB_ID")),
    composite("Index in the array", column(0, "ArrayTaskID", "ARRAY_TASK_ID").written(array_task)),
    field<Text, &Row::name>("Step name", column('j', "StepName", "NAME").alias("Name").none(""), shown("Name", at(30, 40)).none(""),
                            member("step.name", 200)),
    field<Text, state>("State", column(0, "StepState", "STATE"), shown("State", at(20, 10)), member<Words>("state", 170)),
    field<Text, &Row::partition>("Partition of its job", column('P', "Partition", "PARTITION").none(""),
                                 shown("Partition", at(20, 20)).none("")),
    field<Owner, owner>("Name of the owner", column('u', "UserName", "USER")),
    field<Number, &Row::uid>("Uid of the owner", column('U', "UserID", "UID"), shown("UserId", at(10, 20))),
    field<Number, &Row::tasks>("Tasks", column('A', "NumTasks", "TASKS"), shown("Tasks", at(30, 30)), member("tasks.count", 130)),
    field<Number, &Row::cpus>("CPUs", column(0, "NumCPUs", "NUM_CPUS"), shown("CPUs", at(30, 20))),
    field<Text, &Row::node_list>("Its nodes", column('N', "Nodes", "NODELIST").alias("NodeList").cut(kWideValue | kWideHeader).none(""),
                                 shown("NodeList", at(20, 30)).none(""), member("nodes.range", 110)),
    field<Moment, &Row::start>("Start", column('S', "StartTime", "START_TIME"), shown("StartTime", at(10, 30)), member("time.start", 30)),
    field<Limit, &Row::time_limit_min>("Time limit", column('l', "TimeLimit", "TIME_LIMIT"), shown("TimeLimit", at(10, 40)),
                                       member("time.limit", 60)),
    field<Span, used>("Time since it began", column('M', "TimeUsed", "TIME").cut(kWideValue),
                      member<Number, used_seconds>("time.elapsed", 10)),
    field<Text, &Row::gres>("TRES on every node", column('b', "tres-per-node", "TRES_PER_NODE"), shown("TresPerNode", at(80, 10)).if_any()),
    field<Amounts, &Row::tres>("TRES it holds", column(0, "tres-alloc", "TRES_ALLOC").none("(null)"), shown("TRES", at(40, 10)),
                               member("tres", 280).written(Shape::kObject, json_step_tres)),
    field<Text, cluster>("Cluster that has the step", column(0, "Cluster", "CLUSTER").none("")),
    field<Text, &Row::cpu_freq>("CPU frequency asked for", column(0, "CPUFreq", "CPU_FREQ").none("Default"),
                                shown("CPUFreqReq", at(60, 10)).none("Default")),
    field<Text, &Row::cpus_per_tres>("CPUs for each GPU", column(0, "cpus-per-tres", "CPUS_PER_TRES")),
    field<Text, &Row::mem_per_tres>("Memory for each GPU", column(0, "mem-per-tres", "MEM_PER_TRES")),
    field<Text, &Row::network>("Network asked for", column(0, "Network", "NETWORK"), shown("Network", at(30, 50))),
    field<Text, &Row::resv_ports>("Ports reserved for MPI", column(0, "ResvPort", "RESV_PORTS"), shown("ResvPorts", at(50, 10))),
    field<Text, &Row::std_in>("File of standard input as asked for", column(0, "STDIN", "STDIN"), member("step.stdin", 220)),
    field<Text, &Row::std_out>("File of standard output as asked for", column(0, "STDOUT", "STDOUT"), member("step.stdout", 230)),
    field<Text, &Row::std_err>("File of standard error as asked for", column(0, "STDERR", "STDERR"), member("step.stderr", 210)),
    field<Text, &Row::tres_bind>("Binding of tasks to devices", column(0, "tres-bind", "TRES_BIND")),
    field<Text, &Row::tres_freq>("Frequencies of devices", column(0, "tres-freq", "TRES_FREQ")),
    field<Text, &Row::tres_per_step>("TRES for the whole step", column(0, "tres-per-step", "TRES_PER_STEP")),
    field<Text, &Row::tres_per_socket>("TRES on every socket", column(0, "tres-per-socket", "TRES_PER_SOCKET")),
    field<Text, &Row::tres_per_task>("TRES for every task", column(0, "tres-per-task", "TRES_PER_TASK")),
    absent_field<Text, no_text>("", "TRES of the whole job; a step has none, squeue shows a job's",
                                column(0, "tres-per-job", "TRES_PER_JOB")),
    absent_field<Text, no_text>("OCI containers", "OCI bundle", column(0, "Container", "CONTAINER")),
    absent_field<Text, no_text>("OCI containers", "OCI container id", column(0, "ContainerID", "CONTAINER_ID")),
    // without a column
    field<Number, &Row::nodes>("How many nodes it has", shown("Nodes", at(30, 10)), member("nodes.count", 100)),
    field<Text, &Row::node_list>("Its nodes one by one", member("nodes.list", 120).written(Shape::kTexts, json_step_hosts)),
    field<Text, &Row::distribution>("Distribution of its tasks", shown("Dist", at(60, 20)).if_any(), member("task.distribution", 270)),
    field<Text, srun>("Where srun runs, and its process", shown("SrunHost:Pid", at(70, 10)).written(show_srun), member("pid", 140)),
    field<Text, &Row::submit_line>("The command line that made it", shown("SubmitLine", at(90, 10)).details().if_any()),
    // of its end, and what was measured: nothing yet
    field<Moment, never>("Its end", member("time.end", 20)),
    field<Number, zero>("How long it was suspended", member("time.suspended", 40)),
    composite("CPU time of the system", member("time.system", 50).written(Shape::kObject, json_no_cpu_time)),
    composite("CPU time", member("time.total", 70).written(Shape::kObject, json_no_cpu_time)),
    composite("CPU time of its programs", member("time.user", 80).written(Shape::kObject, json_no_cpu_time)),
    composite("How it ended", member("exit_code", 90).written(Shape::kObject, json_no_exit_code)),
    composite("Frequencies asked for, as numbers", member("CPU", 150).written(Shape::kObject, json_no_frequencies)),
    field<Text, no_text>("Who ended it", member("kill_request_user", 160)),
    composite("What was measured", member("statistics", 180).written(Shape::kObject, json_no_statistics)),
    field<Text, no_text>("File of standard error", member("step.stderr_expanded", 240)),
    field<Text, no_text>("File of standard input", member("step.stdin_expanded", 250)),
    field<Text, no_text>("File of standard output", member("step.stdout_expanded", 260)),
};

constexpr std::array<std::span<const StepFact>, 1> kSubjects = {kFacts};
constexpr auto kColumns = columns_of<kSubjects>();
constexpr auto kRecord = in_order<kSubjects, &StepFact::shown>();
constexpr auto kObject = in_order<kSubjects, &StepFact::member>();

}  // namespace

std::span<const StepField> step_fields() { return kColumns; }
ShownRecord<StepView> step_record() { return record_of<StepView, kRecord>(); }
DocumentObject<StepView> step_object() { return object_of<StepView, kObject>(); }

}  // namespace muster::fields
