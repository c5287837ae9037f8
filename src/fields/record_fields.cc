// The columns of sacct. sacct(1) Job Accounting Fields. Widths and headers are those that Debian's Slurm 22.05 prints; newer columns are
// wide enough for their headers.
#include <array>

#include "fields/job_values.h"
#include "fields/record_values.h"
#include "fields/record_view.h"
#include "fields/usage_columns.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const RecordView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks, kConstant = FieldStatus::kConstant;
constexpr std::string_view kEnergy = "energy accounting (AcctGatherEnergyType)", kClock = "sampling of clock rates";

// Prints what Slurm prints where there is nothing to say.
void nothing(V, S) {}
void sluid(V v, S o) { o += sluid_text(sluid_of(v.job.key.id, v.job.key.submitted, v.job.key.restarts)); }
void zero(V, S o) { o += '0'; }
void zero_of_steps(V v, S o) {
  if (v.step) o += '0';
}
void user_cpu(V v, S o) { put_cpu_time_exact(record_cpu_times(v).user, o); }
void system_cpu(V v, S o) { put_cpu_time_exact(record_cpu_times(v).system, o); }
void total_cpu(V v, S o) { put_cpu_time_exact(record_cpu_times(v).user + record_cpu_times(v).system, o); }

void put_group_of(V v, S o) {
  if (v.job.group.empty()) put_group(o, v.job.gid, v.env);
  else o += v.job.group;
}

void put_limit(V v, bool raw, S o) {
  if (v.step) return;
  if (v.job.time_limit_min == kUnlimited32) o += "UNLIMITED";
  else if (raw) put_number(o, v.job.time_limit_min);
  else put_span_full(o, minutes(v.job.time_limit_min));
}

constexpr RecordField kFields[] = {
    {"Account", "Account", 10, Fit::kMarked, kWorks, "The account of the job", [](V v, S o) { put(o, v.job.account); }},
    {"AdminComment", "AdminComment", 15, Fit::kMarked, kWorks, "A comment that an administrator set",
     [](V v, S o) { if (!v.step) put(o, v.job.admin_comment); }},
    {"AllocCPUS", "AllocCPUS", 10, Fit::kWhole, kWorks, "CPUs allocated; before its start those asked for",
     [](V v, S o) { put_number(o, record_cpus(v)); }},
    {"AllocNodes", "AllocNodes", 10, Fit::kMarked, kWorks, "Nodes allocated, 0 before its start",
     [](V v, S o) { put_number(o, v.step ? v.step->nodes : v.job.nodes); }},
    {"AllocTRES", "AllocTRES", 10, Fit::kMarked, kWorks, "Trackable resources allocated",
     [](V v, S o) { put_record_tres(v.step ? v.step->tres_allocated : v.job.tres_allocated, v, o); }},
    {"AssocID", "AssocID", 7, Fit::kMarked, kConstant, "The number of the association", nothing},
    {"AveCPU", "AveCPU", 10, Fit::kMarked, kWorks, "CPU time of the tasks, on average", average_used<RecordView, &StepUsage::cpu>},
    {"AveCPUFreq", "AveCPUFreq", 10, Fit::kMarked, kConstant, "Clock rate of the tasks, on average", zero_of_steps, "", kClock},
    {"AveDiskRead", "AveDiskRead", 14, Fit::kMarked, kWorks, "Bytes read by the tasks, on average", average_used<RecordView, &StepUsage::disk_read>},
    {"AveDiskWrite", "AveDiskWrite", 14, Fit::kMarked, kWorks, "Bytes written by the tasks, on average", average_used<RecordView, &StepUsage::disk_write>},
    {"AvePages", "AvePages", 10, Fit::kMarked, kWorks, "Page faults of the tasks, on average", average_used<RecordView, &StepUsage::pages>},
    {"AveRSS", "AveRSS", 10, Fit::kMarked, kWorks, "Resident memory of the tasks, on average", average_used<RecordView, &StepUsage::rss>},
    {"AveVMSize", "AveVMSize", 10, Fit::kMarked, kWorks, "Virtual memory of the tasks, on average", average_used<RecordView, &StepUsage::vm>},
    {"BlockID", "BlockID", 16, Fit::kMarked, kConstant, "A Blue Gene block", nothing},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster it ran on", [](V v, S o) { put(o, v.job.cluster); }},
    {"Comment", "Comment", 14, Fit::kMarked, kWorks, "The comment of the job",
     [](V v, S o) { if (!v.step) put(o, v.job.comment); }},
    {"Constraints", "Constraints", 19, Fit::kMarked, kWorks, "Features the job asked for",
     [](V v, S o) { if (!v.step) put(o, v.job.features); }},
    {"ConsumedEnergy", "ConsumedEnergy", 14, Fit::kMarked, kConstant, "Energy used, in joules", zero, "", kEnergy},
    {"ConsumedEnergyRaw", "ConsumedEnergyRaw", 17, Fit::kMarked, kConstant, "Energy used, in joules, without a unit", zero, "", kEnergy},
    {"Container", "Container", 19, Fit::kMarked, kWorks, "Path of the OCI bundle",
     [](V v, S o) { put(o, v.step ? v.step->container : v.job.container); }},
    {"CPUTime", "CPUTime", 10, Fit::kWhole, kWorks, "Elapsed time times CPUs",
     [](V v, S o) { put_span_full(o, record_elapsed(v) * record_cpus(v)); }},
    {"CPUTimeRAW", "CPUTimeRAW", 10, Fit::kWhole, kWorks, "Elapsed time times CPUs, in seconds",
     [](V v, S o) { put_number(o, to_seconds(record_elapsed(v)) * record_cpus(v)); }},
    {"DBIndex", "DBIndex", -10, Fit::kMarked, kWorks, "The number of the row in the database",
     [](V v, S o) { if (v.job.db_index) put_number(o, v.job.db_index); }},
    {"DerivedExitCode", "DerivedExitCode", 15, Fit::kMarked, kWorks, "The highest exit code of its steps",
     [](V v, S o) { if (!v.step) put_exit_status(o, v.job.derived_exit_status); }},
    {"Elapsed", "Elapsed", 10, Fit::kWhole, kWorks, "How long it has run",
     [](V v, S o) { put_span_full(o, record_elapsed(v)); }},
    {"ElapsedRaw", "ElapsedRaw", 10, Fit::kWhole, kWorks, "How long it has run, in seconds",
     [](V v, S o) { put_number(o, to_seconds(record_elapsed(v))); }},
    {"Eligible", "Eligible", 19, Fit::kCut, kWorks, "When it could start at the earliest",
     [](V v, S o) { put_time(o, v.step ? v.step->started : v.job.eligible, v.env, "Unknown"); }},
    {"End", "End", 19, Fit::kCut, kWorks, "When it ended", [](V v, S o) { put_time(o, record_end(v), v.env, "Unknown"); }},
    {"Exclusive", "Exclusive", 10, Fit::kMarked, kConstant, "Whether it had its nodes for itself", nothing},
    {"ExitCode", "ExitCode", 8, Fit::kMarked, kWorks, "Exit code and signal",
     [](V v, S o) { put_exit_status(o, v.step ? v.step->exit_status : v.job.exit_status); }},
    {"Extra", "Extra", 20, Fit::kMarked, kWorks, "The extra text of the job",
     [](V v, S o) { if (!v.step) put(o, v.job.extra); }},
    {"FailedNode", "FailedNode", 20, Fit::kMarked, kWorks, "The node whose failure ended the job",
     [](V v, S o) { if (!v.step) put(o, v.job.failed_node); }},
    {"Flags", "Flags", 19, Fit::kMarked, kConstant, "Which part of the scheduler started it", nothing},
    {"GID", "GID", 6, Fit::kWhole, kWorks, "The number of its group",
     [](V v, S o) { if (!v.step) put_number(o, v.job.gid.value); }},
    {"Group", "Group", 9, Fit::kMarked, kWorks, "Its group", [](V v, S o) { if (!v.step) put_group_of(v, o); }},
    {"JobID", "JobID", -12, Fit::kMarked, kWorks, "Its number; tasks of arrays as 12_3, steps as 12.0",
     [](V v, S o) { put_record_id(v, o); }},
    {"JobIDRaw", "JobIDRaw", -12, Fit::kMarked, kWorks, "Its number, also of an array task",
     [](V v, S o) { put_record_id_raw(v, o); }},
    {"JobName", "JobName", 10, Fit::kMarked, kWorks, "Name of the job or step",
     [](V v, S o) { put(o, v.step ? v.step->name : v.job.name); }},
    {"Layout", "Layout", 9, Fit::kMarked, kWorks, "How the tasks of a step lay on its nodes",
     [](V v, S o) { if (v.step) put_or(o, v.step->layout, "Unknown"); }},
    {"Licenses", "Licenses", 20, Fit::kMarked, kWorks, "Licences it asked for",
     [](V v, S o) { if (!v.step) put(o, v.job.licenses); }},
    {"MaxDiskRead", "MaxDiskRead", 12, Fit::kMarked, kWorks, "Most bytes read by a task", most_used<RecordView, &StepUsage::disk_read>},
    {"MaxDiskReadNode", "MaxDiskReadNode", 15, Fit::kMarked, kWorks, "The node of that task", most_used_node<RecordView, &StepUsage::disk_read>},
    {"MaxDiskReadTask", "MaxDiskReadTask", 15, Fit::kMarked, kWorks, "The number of that task", most_used_task<RecordView, &StepUsage::disk_read>},
    {"MaxDiskWrite", "MaxDiskWrite", 12, Fit::kMarked, kWorks, "Most bytes written by a task", most_used<RecordView, &StepUsage::disk_write>},
    {"MaxDiskWriteNode", "MaxDiskWriteNode", 16, Fit::kMarked, kWorks, "The node of that task", most_used_node<RecordView, &StepUsage::disk_write>},
    {"MaxDiskWriteTask", "MaxDiskWriteTask", 16, Fit::kMarked, kWorks, "The number of that task", most_used_task<RecordView, &StepUsage::disk_write>},
    {"MaxPages", "MaxPages", 8, Fit::kMarked, kWorks, "Most page faults of a task", most_used<RecordView, &StepUsage::pages>},
    {"MaxPagesNode", "MaxPagesNode", 12, Fit::kMarked, kWorks, "The node of that task", most_used_node<RecordView, &StepUsage::pages>},
    {"MaxPagesTask", "MaxPagesTask", 14, Fit::kMarked, kWorks, "The number of that task", most_used_task<RecordView, &StepUsage::pages>},
    {"MaxRSS", "MaxRSS", 10, Fit::kMarked, kWorks, "Most resident memory of a task", most_used<RecordView, &StepUsage::rss>},
    {"MaxRSSNode", "MaxRSSNode", 10, Fit::kMarked, kWorks, "The node of that task", most_used_node<RecordView, &StepUsage::rss>},
    {"MaxRSSTask", "MaxRSSTask", 10, Fit::kMarked, kWorks, "The number of that task", most_used_task<RecordView, &StepUsage::rss>},
    {"MaxVMSize", "MaxVMSize", 10, Fit::kMarked, kWorks, "Most virtual memory of a task", most_used<RecordView, &StepUsage::vm>},
    {"MaxVMSizeNode", "MaxVMSizeNode", 14, Fit::kMarked, kWorks, "The node of that task", most_used_node<RecordView, &StepUsage::vm>},
    {"MaxVMSizeTask", "MaxVMSizeTask", 14, Fit::kMarked, kWorks, "The number of that task", most_used_task<RecordView, &StepUsage::vm>},
    {"McsLabel", "McsLabel", 12, Fit::kMarked, kWorks, "Its multi-category security label",
     [](V v, S o) { if (!v.step) put(o, v.job.mcs_label); }},
    {"MinCPU", "MinCPU", 10, Fit::kMarked, kWorks, "Least CPU time of a task", least_cpu<RecordView>},
    {"MinCPUNode", "MinCPUNode", 10, Fit::kMarked, kWorks, "The node of that task", least_cpu_node<RecordView>},
    {"MinCPUTask", "MinCPUTask", 10, Fit::kMarked, kWorks, "The number of that task", least_cpu_task<RecordView>},
    {"NCPUS", "NCPUS", 10, Fit::kWhole, kWorks, "The same as AllocCPUS", [](V v, S o) { put_number(o, record_cpus(v)); }},
    {"NNodes", "NNodes", 8, Fit::kMarked, kWorks, "Nodes allocated; before its start those asked for",
     [](V v, S o) { put_number(o, record_nodes(v)); }},
    {"NodeList", "NodeList", 15, Fit::kMarked, kWorks, "Its nodes",
     [](V v, S o) { put_or(o, v.step ? v.step->node_list : v.job.node_list, "None assigned"); }},
    {"NTasks", "NTasks", 8, Fit::kWhole, kWorks, "Tasks of a step",
     [](V v, S o) { if (v.step) put_number(o, v.step->tasks); }},
    {"OriginalSLUID", "OriginalSLUID", 20, Fit::kMarked, kWorks, "The same as SLUID: a job that is resized keeps its record", sluid},
    {"OverSubscribe", "OverSubscribe", 13, Fit::kMarked, kConstant, "Whether it could share its resources", nothing},
    {"Partition", "Partition", 10, Fit::kMarked, kWorks, "The partition it ran in",
     [](V v, S o) { if (!v.step) put(o, v.job.partition); }},
    {"Planned", "Planned", 10, Fit::kWhole, kWorks, "How long it waited once it could run",
     [](V v, S o) { if (auto p = record_planned(v)) put_span_full(o, *p); }, "Reserved"},
    {"PlannedCPU", "PlannedCPU", 10, Fit::kWhole, kWorks, "That time times the CPUs asked for",
     [](V v, S o) { if (auto p = record_planned(v)) put_span_full(o, *p * v.job.requested_cpus); }, "ResvCPU"},
    {"PlannedCPURAW", "PlannedCPURAW", 13, Fit::kWhole, kWorks, "The same in seconds",
     [](V v, S o) { if (auto p = record_planned(v)) put_number(o, to_seconds(*p) * v.job.requested_cpus); }, "ResvCPURAW"},
    {"Priority", "Priority", 10, Fit::kWhole, kWorks, "Its priority",
     [](V v, S o) { if (!v.step) put_number(o, v.job.priority); }},
    {"QOS", "QOS", 10, Fit::kMarked, kWorks, "Its quality of service", [](V v, S o) { if (!v.step) put(o, v.job.qos); }},
    {"QOSRAW", "QOSRAW", 6, Fit::kMarked, kWorks, "The number of its quality of service",
     [](V v, S o) {
       auto known = v.style.qos_numbers.find(v.job.qos);
       if (!v.step && known != v.style.qos_numbers.end()) put_number(o, known->second);
     }},
    {"QOSREQ", "QOSREQ", 10, Fit::kMarked, kWorks, "The qualities of service it asked for",
     [](V v, S o) { if (!v.step) put(o, v.job.qos); }},
    {"Reason", "Reason", 22, Fit::kMarked, kWorks, "What it waited for last",
     [](V v, S o) { if (!v.step) put(o, reason_name(v.job.reason)); }},
    {"ReqCPUFreq", "ReqCPUFreq", 10, Fit::kMarked, kWorks, "CPU clock rate a step asked for",
     [](V v, S o) { put_frequency(v.step ? v.step->cpu_freq : "", FrequencyPart::kMax, o); }},
    {"ReqCPUFreqGov", "ReqCPUFreqGov", 13, Fit::kMarked, kWorks, "CPU governor a step asked for",
     [](V v, S o) { put_frequency(v.step ? v.step->cpu_freq : "", FrequencyPart::kGovernor, o); }},
    {"ReqCPUFreqMax", "ReqCPUFreqMax", 13, Fit::kMarked, kWorks, "Highest CPU clock rate a step asked for",
     [](V v, S o) { put_frequency(v.step ? v.step->cpu_freq : "", FrequencyPart::kMax, o); }},
    {"ReqCPUFreqMin", "ReqCPUFreqMin", 13, Fit::kMarked, kWorks, "Lowest CPU clock rate a step asked for",
     [](V v, S o) { put_frequency(v.step ? v.step->cpu_freq : "", FrequencyPart::kMin, o); }},
    {"ReqCPUS", "ReqCPUS", 8, Fit::kWhole, kWorks, "CPUs it asked for",
     [](V v, S o) { put_number(o, v.step ? v.step->cpus : v.job.requested_cpus); }},
    {"ReqMem", "ReqMem", 10, Fit::kMarked, kWorks, "Memory it asked for",
     [](V v, S o) { if (!v.step) put_record_mem(v.job.requested_mem, v, o); }},
    {"ReqNodes", "ReqNodes", 8, Fit::kMarked, kWorks, "Nodes it asked for",
     [](V v, S o) { put_number(o, v.step ? v.step->nodes : v.job.requested_nodes); }},
    {"ReqReservation", "ReqReservation", 20, Fit::kMarked, kWorks, "Reservations it asked for",
     [](V v, S o) { if (!v.step) put(o, v.job.reservation); }},
    {"ReqTRES", "ReqTRES", 10, Fit::kMarked, kWorks, "Trackable resources it asked for",
     [](V v, S o) { if (!v.step) put_record_tres(v.job.tres_requested, v, o); }},
    {"Reservation", "Reservation", 20, Fit::kMarked, kWorks, "The reservation it ran in",
     [](V v, S o) { if (!v.step) put(o, v.job.reservation); }},
    {"ReservationId", "ReservationId", 8, Fit::kMarked, kConstant, "The number of that reservation", nothing},
    {"Restarts", "Restarts", 8, Fit::kWhole, kWorks, "How often it was requeued before this run",
     [](V v, S o) { if (!v.step) put_number(o, v.job.key.restarts); }},
    {"SegmentSize", "SegmentSize", 11, Fit::kMarked, kConstant, "Size of its segments of a block topology", nothing},
    {"SLUID", "SLUID", 20, Fit::kMarked, kWorks, "The sortable unique id of this run", sluid},
    {"Start", "Start", 19, Fit::kCut, kWorks, "When it started", [](V v, S o) { put_time(o, record_start(v), v.env, "Unknown"); }},
    {"State", "State", 10, Fit::kMarked, kWorks, "Its state", [](V v, S o) { put_record_state(v, o); }},
    {"StdErr", "StdErr", 20, Fit::kMarked, kWorks, "Where standard error went",
     [](V v, S o) { put_record_stream(v, RecordStream::kErr, o); }},
    {"StdIn", "StdIn", 20, Fit::kMarked, kWorks, "Where standard input came from",
     [](V v, S o) { put_record_stream(v, RecordStream::kIn, o); }},
    {"StdOut", "StdOut", 20, Fit::kMarked, kWorks, "Where standard output went",
     [](V v, S o) { put_record_stream(v, RecordStream::kOut, o); }},
    {"Submit", "Submit", 19, Fit::kCut, kWorks, "When it was submitted",
     [](V v, S o) { put_time(o, v.step ? v.step->started : v.job.key.submitted, v.env, "Unknown"); }},
    {"SubmitLine", "SubmitLine", 20, Fit::kMarked, kWorks, "The command that submitted it",
     [](V v, S o) { put(o, v.step ? v.step->submit_line : v.job.submit_line); }},
    {"Suspended", "Suspended", 10, Fit::kWhole, kWorks, "How long it was suspended",
     [](V v, S o) { put_span_full(o, record_suspended(v)); }},
    {"SystemComment", "SystemComment", 15, Fit::kMarked, kWorks, "A comment that a plugin set",
     [](V v, S o) { if (!v.step) put(o, v.job.system_comment); }},
    {"SystemCPU", "SystemCPU", 10, Fit::kMarked, kWorks, "CPU time spent in the system", system_cpu},
    {"Timelimit", "Timelimit", 10, Fit::kMarked, kWorks, "Its time limit", [](V v, S o) { put_limit(v, false, o); }},
    {"TimelimitRaw", "TimelimitRaw", 10, Fit::kMarked, kWorks, "Its time limit, in minutes",
     [](V v, S o) { put_limit(v, true, o); }},
    {"TotalCPU", "TotalCPU", 10, Fit::kMarked, kWorks, "CPU time of it and of the system for it", total_cpu},
    {"TRESUsageInAve", "TRESUsageInAve", 14, Fit::kMarked, kWorks, "Resources that came into the tasks, on average", tres_used<RecordView, UsageDirection::kIn, UsageKind::kAverage>},
    {"TRESUsageInMax", "TRESUsageInMax", 14, Fit::kMarked, kWorks, "Resources that came into a task, at most", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMax>},
    {"TRESUsageInMaxNode", "TRESUsageInMaxNode", 18, Fit::kMarked, kWorks, "The nodes of those tasks", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMaxNode>},
    {"TRESUsageInMaxTask", "TRESUsageInMaxTask", 18, Fit::kMarked, kWorks, "The numbers of those tasks", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMaxTask>},
    {"TRESUsageInMin", "TRESUsageInMin", 14, Fit::kMarked, kWorks, "Resources that came into a task, at least", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMin>},
    {"TRESUsageInMinNode", "TRESUsageInMinNode", 18, Fit::kMarked, kWorks, "The nodes of those tasks", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMinNode>},
    {"TRESUsageInMinTask", "TRESUsageInMinTask", 18, Fit::kMarked, kWorks, "The numbers of those tasks", tres_used<RecordView, UsageDirection::kIn, UsageKind::kMinTask>},
    {"TRESUsageInTot", "TRESUsageInTot", 14, Fit::kMarked, kWorks, "Resources that came into all tasks", tres_used<RecordView, UsageDirection::kIn, UsageKind::kTotal>},
    {"TRESUsageOutAve", "TRESUsageOutAve", 15, Fit::kMarked, kWorks, "Resources that came out of the tasks, on average", tres_used<RecordView, UsageDirection::kOut, UsageKind::kAverage>},
    {"TRESUsageOutMax", "TRESUsageOutMax", 15, Fit::kMarked, kWorks, "Resources that came out of a task, at most", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMax>},
    {"TRESUsageOutMaxNode", "TRESUsageOutMaxNode", 19, Fit::kMarked, kWorks, "The nodes of those tasks", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMaxNode>},
    {"TRESUsageOutMaxTask", "TRESUsageOutMaxTask", 19, Fit::kMarked, kWorks, "The numbers of those tasks", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMaxTask>},
    {"TRESUsageOutMin", "TRESUsageOutMin", 15, Fit::kMarked, kWorks, "Resources that came out of a task, at least", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMin>},
    {"TRESUsageOutMinNode", "TRESUsageOutMinNode", 19, Fit::kMarked, kWorks, "The nodes of those tasks", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMinNode>},
    {"TRESUsageOutMinTask", "TRESUsageOutMinTask", 19, Fit::kMarked, kWorks, "The numbers of those tasks", tres_used<RecordView, UsageDirection::kOut, UsageKind::kMinTask>},
    {"TRESUsageOutTot", "TRESUsageOutTot", 15, Fit::kMarked, kWorks, "Resources that came out of all tasks", tres_used<RecordView, UsageDirection::kOut, UsageKind::kTotal>},
    {"UID", "UID", 6, Fit::kWhole, kWorks, "The number of its user",
     [](V v, S o) { if (!v.step) put_number(o, v.job.uid.value); }},
    {"User", "User", 9, Fit::kMarked, kWorks, "Its user",
     [](V v, S o) { if (!v.step) put_user(o, v.job.uid, v.job.user, v.env); }},
    {"UserCPU", "UserCPU", 10, Fit::kMarked, kWorks, "CPU time of its own", user_cpu},
    {"WCKey", "WCKey", 10, Fit::kMarked, kWorks, "Its workload characterization key",
     [](V v, S o) { if (!v.step) put(o, v.job.wckey); }},
    {"WCKeyID", "WCKeyID", 10, Fit::kMarked, kConstant, "The number of that key", nothing},
    {"WorkDir", "WorkDir", 20, Fit::kMarked, kWorks, "The directory it ran in",
     [](V v, S o) { put(o, v.step ? v.step->work_dir : v.job.work_dir); }},
    // Slurm has removed these columns, but scripts written for it still name them.
    {"AllocGRES", "AllocGRES", 12, Fit::kWhole, kWorks, "Generic resources allocated, as gpu:a100:2",
     [](V v, S o) { put(o, v.step ? v.step->gres_allocated : v.job.gres_allocated); }},
    {"ReqGRES", "ReqGRES", 12, Fit::kWhole, kWorks, "Generic resources it asked for, as gpu:2",
     [](V v, S o) { if (!v.step) put_gres_of_tres(v.job.tres_requested, o); }},
};
constexpr size_t kUnlisted = 2;

}  // namespace

const std::string_view kRecordLong =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,"
    "maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,"
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,"
    "avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax,"
    "tresusageinmaxnode,tresusageinmaxtask,tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutave,tresusageouttot";

std::span<const RecordField> record_fields() { return kFields; }

std::string record_help() {
  std::vector<std::string_view> names;
  for (const RecordField& f : std::span(kFields).first(std::size(kFields) - kUnlisted)) names.push_back(f.name);
  return column_help(names);
}

}  // namespace muster::fields
